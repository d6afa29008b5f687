// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"crypto/md5"
	"net/netip"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Bodies of RESULT and EVENT (native_protocol_v4.spec and v5.spec, sections 4.2.5 and 4.2.6).

// Flags of metadata.
const (
	metaGlobalTable = 0x01
	metaMorePages   = 0x02
	metaNone        = 0x04
	metaChanged     = 0x08 // v5 and SCYLLA_USE_METADATA_ID
)

// lwtMark is the bit that the emulation of ScyllaDB sets in the flags of the bind markers of conditional statements.
const lwtMark = 1 << 31

// appendType appends an [option].
func appendType(dst []byte, t *engine.Type, version byte) []byte {
	switch t.Kind {
	case engine.KindList, engine.KindSet, engine.KindMap:
		dst = appendShort(dst, int(t.Kind))
		for _, e := range t.Elems {
			dst = appendType(dst, e, version)
		}
		return dst
	case engine.KindTuple:
		dst = appendShort(appendShort(dst, int(t.Kind)), len(t.Elems))
		for _, e := range t.Elems {
			dst = appendType(dst, e, version)
		}
		return dst
	case engine.KindUDT:
		dst = appendShort(dst, int(t.Kind))
		dst = appendShort(appendString(appendString(dst, t.Keyspace), t.Name), len(t.Elems))
		for i, e := range t.Elems {
			dst = appendType(appendString(dst, t.Fields[i]), e, version)
		}
		return dst
	case engine.KindCustom, engine.KindVector:
		return appendString(appendShort(dst, 0), t.ClassName())
	case engine.KindDuration, engine.KindDate, engine.KindTime, engine.KindSmallInt, engine.KindTinyInt:
		if version < 4 || version < 5 && t.Kind == engine.KindDuration { // later versions introduced their ids
			return appendString(appendShort(dst, 0), t.ClassName())
		}
	}
	return appendShort(dst, int(t.Kind))
}

// oneTable reports whether all columns are of one table, so that its name is sent once.
func oneTable(columns []engine.Column) bool {
	for _, c := range columns {
		if c.Keyspace != columns[0].Keyspace || c.Table != columns[0].Table {
			return false
		}
	}
	return len(columns) > 0
}

// appendColumns appends <global_table_spec>? and the specifications of the columns.
func appendColumns(dst []byte, columns []engine.Column, global bool, version byte) []byte {
	if global {
		dst = appendString(appendString(dst, columns[0].Keyspace), columns[0].Table)
	}
	for _, c := range columns {
		if !global {
			dst = appendString(appendString(dst, c.Keyspace), c.Table)
		}
		dst = appendType(appendString(dst, c.Name), c.Type, version)
	}
	return dst
}

// metadataID returns the id of result columns, a hash of their names and types.
func metadataID(columns []engine.Column) []byte {
	id := md5.Sum(appendColumns(nil, columns, false, 5))
	return id[:]
}

// resultMetadata selects the parts of the metadata of rows.
type resultMetadata struct {
	columns []engine.Column
	paging  []byte // nil means the last page
	newID   []byte // nil means unchanged
	none    bool
}

// append appends <metadata>.
func (m resultMetadata) append(dst []byte, version byte) []byte {
	var flags int32
	global := oneTable(m.columns)
	if global { // Cassandra sets the flag even without the table's name
		flags |= metaGlobalTable
	}
	if m.paging != nil {
		flags |= metaMorePages
	}
	if m.none {
		flags |= metaNone
	}
	if m.newID != nil {
		flags |= metaChanged
	}
	dst = appendInt(appendInt(dst, flags), int32(len(m.columns)))
	if m.paging != nil {
		dst = appendBytes(dst, m.paging)
	}
	if m.newID != nil {
		dst = appendShortBytes(dst, m.newID)
	}
	if m.none {
		return dst
	}
	return appendColumns(dst, m.columns, global, version)
}

// appendRows appends a RESULT of the rows of res.
func appendRows(dst []byte, m resultMetadata, res *engine.Result, version byte) []byte {
	dst = m.append(appendInt(dst, int32(engine.ResultRows)), version)
	dst = appendInt(dst, int32(len(res.Rows)+res.Count))
	size := len(res.Encoded)
	for _, row := range res.Rows {
		for _, cell := range row {
			size += 4 + len(cell)
		}
	}
	dst = append(slices.Grow(dst, size), res.Encoded...)
	for _, row := range res.Rows {
		for _, cell := range row {
			dst = appendBytes(dst, cell)
		}
	}
	return dst
}

// appendPrepared appends a RESULT of PREPARE. mark reports whether the client negotiated lwtMark, ids whether it
// negotiated result metadata ids.
func appendPrepared(dst []byte, p *prepared, version byte, ids, mark bool) []byte {
	s := p.statement
	dst = appendShortBytes(appendInt(dst, 4), p.id)
	if ids {
		dst = appendShortBytes(dst, p.resultID)
	}
	var flags uint32
	global := oneTable(s.Bind)
	if global {
		flags |= metaGlobalTable
	}
	if mark && s.Conditional {
		flags |= lwtMark
	}
	dst = appendInt(appendInt(dst, int32(flags)), int32(len(s.Bind)))
	if version >= 4 {
		dst = appendInt(dst, int32(len(s.PKIndexes)))
		for _, i := range s.PKIndexes {
			dst = appendShort(dst, i)
		}
	}
	dst = appendColumns(dst, s.Bind, global, version)
	return resultMetadata{columns: s.Result, none: len(s.Result) == 0}.append(dst, version)
}

// appendChange appends a <schema_change>, the same in RESULT and EVENT.
func appendChange(dst []byte, c engine.Change) []byte {
	dst = appendString(appendString(appendString(dst, c.Change), c.Target), c.Keyspace)
	if c.Target != "KEYSPACE" {
		dst = appendString(dst, c.Name)
	}
	return dst
}

// An Event is pushed to clients that registered for its Type.
type Event struct {
	Type   string         // TOPOLOGY_CHANGE, STATUS_CHANGE, SCHEMA_CHANGE
	Change string         // NEW_NODE, REMOVED_NODE; UP, DOWN; CREATED, UPDATED, DROPPED
	Node   netip.AddrPort // for TOPOLOGY_CHANGE and STATUS_CHANGE

	Target   string   // for SCHEMA_CHANGE: KEYSPACE, TABLE, TYPE, FUNCTION, AGGREGATE
	Keyspace string   // for SCHEMA_CHANGE
	Name     string   // for SCHEMA_CHANGE, except of a KEYSPACE
	Args     []string // for SCHEMA_CHANGE of FUNCTION and AGGREGATE

	// Body, if not nil, is sent unchanged to the clients that registered for Type.
	Body []byte
}

// body returns the body of the EVENT.
func (e Event) body() []byte {
	if e.Body != nil {
		return e.Body
	}
	b := appendString(nil, e.Type)
	if e.Type != "SCHEMA_CHANGE" {
		return appendInet(appendString(b, e.Change), e.Node)
	}
	b = appendChange(b, engine.Change{Change: e.Change, Target: e.Target, Keyspace: e.Keyspace, Name: e.Name})
	if e.Target == "FUNCTION" || e.Target == "AGGREGATE" {
		b = appendStringList(b, e.Args)
	}
	return b
}

// appendEnvelope appends the parts that precede a response's message, in the order of section 2.4.1.2, and returns
// their flags.
func appendEnvelope(dst []byte, trace *[16]byte, warnings []string, payload map[string][]byte) ([]byte, byte) {
	var flags byte
	if trace != nil {
		flags |= flagTracing
		dst = append(dst, trace[:]...)
	}
	if len(warnings) > 0 {
		flags |= flagWarning
		dst = appendStringList(dst, warnings)
	}
	if len(payload) > 0 {
		flags |= flagPayload
		dst = appendBytesMap(dst, payload)
	}
	return dst, flags
}
