// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Bodies of requests (native_protocol_v4.spec and v5.spec, section 4.1).

// Flags of <query_parameters>.
const (
	paramValues       = 0x01
	paramSkipMetadata = 0x02
	paramPageSize     = 0x04
	paramPagingState  = 0x08
	paramSerial       = 0x10
	paramTimestamp    = 0x20
	paramNames        = 0x40
	paramKeyspace     = 0x80  // v5
	paramNowInSeconds = 0x100 // v5
)

// params are the <query_parameters>, or the end of a BATCH.
type params struct {
	engine.Request
	skipMetadata bool
	keyspace     string // v5: overrides the connection's keyspace
	pad          int    // bytes that a fault adds to the paging state
	noMetadata   bool   // set by a fault: leaves out the metadata
}

// readParams reads params; batch means the parameters of a BATCH, which have no values and no paging.
func readParams(r *reader, version byte, batch bool) params {
	var p params
	p.Consistency = r.short()
	var flags int32
	if version >= 5 {
		flags = r.int()
	} else {
		flags = int32(r.byte())
	}
	known := int32(0xFF)
	if version >= 5 {
		known = 0x1FF
	} else {
		known &^= paramKeyspace
	}
	if flags&^known != 0 {
		r.fail("unknown query flags 0x%x", flags&^known)
	}
	if batch && flags&(paramValues|paramSkipMetadata|paramPageSize|paramPagingState|paramNames) != 0 {
		r.fail("query flags 0x%x are not allowed in a BATCH", flags)
	}
	if flags&paramValues != 0 {
		p.Named = flags&paramNames != 0
		p.Values = readValues(r, p.Named)
	}
	p.skipMetadata = flags&paramSkipMetadata != 0
	if flags&paramPageSize != 0 {
		p.PageSize = int(r.int())
	}
	if flags&paramPagingState != 0 {
		if p.PagingState = r.bytes(); p.PagingState == nil {
			p.PagingState = []byte{}
		}
	}
	if flags&paramSerial != 0 {
		p.SerialConsistency = r.short() // conditional statements check the level
	}
	if flags&paramTimestamp != 0 {
		p.Timestamp, p.HasTimestamp = r.long(), true
	}
	if flags&paramKeyspace != 0 {
		p.keyspace = r.string()
	}
	if flags&paramNowInSeconds != 0 {
		p.NowInSeconds, p.HasNowInSeconds = r.int(), true
	}
	for _, level := range []uint16{p.Consistency, p.SerialConsistency} {
		if level > clLocalOne {
			r.fail("unknown consistency level %d", level)
		}
	}
	return p
}

// readValues reads the number n of values as a [short], and n values.
func readValues(r *reader, named bool) []engine.Value {
	size := 4
	if named {
		size += 2
	}
	n := r.count(size)
	values := make([]engine.Value, n)
	for i := range values {
		if named {
			values[i].Name = r.string()
		}
		switch length := r.int(); {
		case length == -1:
			values[i].State = engine.ValueNull
		case length == -2:
			values[i].State = engine.ValueUnset
		case length < 0:
			r.fail("[value] has length %d", length)
		default:
			values[i].Bytes = r.take(int(length), "[value]")
		}
	}
	return values
}

// prepareRequest is the body of PREPARE.
type prepareRequest struct {
	text     string
	keyspace string
}

// readPrepare reads the body of PREPARE (native_protocol_v5.spec, section 4.1.5).
func readPrepare(r *reader, version byte) prepareRequest {
	p := prepareRequest{text: r.longString()}
	if version >= 5 {
		flags := r.int()
		if flags&^1 != 0 {
			r.fail("unknown PREPARE flags 0x%x", flags)
		}
		if flags&1 != 0 {
			p.keyspace = r.string()
		}
	}
	return p
}

// batchEntry is one statement of a BATCH: a text or an id.
type batchEntry struct {
	text   string
	id     []byte // nil means text
	values []engine.Value
}

// batchRequest is the body of BATCH.
type batchRequest struct {
	typ     engine.BatchType
	entries []batchEntry
	params  params

	statements []engine.BatchEntry // the prepared entries, once resolved
}

// readBatch reads the body of BATCH (native_protocol_v5.spec, section 4.1.7). Errors stay in r.
func readBatch(r *reader, version byte) batchRequest {
	var b batchRequest
	if typ := r.byte(); typ > byte(engine.BatchCounter) {
		r.fail("unknown batch type %d", typ)
	} else {
		b.typ = engine.BatchType(typ)
	}
	n := r.count(5)
	b.entries = make([]batchEntry, 0, n)
	for range n {
		var e batchEntry
		switch kind := r.byte(); kind {
		case 0:
			e.text = r.longString()
		case 1:
			e.id = r.shortBytes()
		default:
			r.fail("batch entry of unknown kind %d", kind)
		}
		e.values = readValues(r, false)
		if r.err != nil {
			return b
		}
		b.entries = append(b.entries, e)
	}
	b.params = readParams(r, version, true)
	return b
}
