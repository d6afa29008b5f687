// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/engine"
)

// Answers: results as messages, and their faults.

// result returns the message of a result.
func (c *conn) result(req *request, res *engine.Result) *Answer {
	a := &Answer{Op: OpResult, Warnings: res.Warnings}
	switch res.Kind {
	case engine.ResultRows:
		m := resultMetadata{columns: res.Columns}
		if res.PagingState != nil {
			m.paging = padState(res.PagingState, req.params.pad)
		}
		switch {
		case req.params.noMetadata:
			m.none = true
		case req.head.op != OpExecute:
		case !c.metadataIDs:
			m.none = req.params.skipMetadata
		case req.statement.Conditional: // its columns vary: always send them, never change the id
		default:
			id := req.known.resultID
			if s := req.statement.Result; len(s) != len(res.Columns) || len(s) > 0 && &s[0] != &res.Columns[0] {
				id = metadataID(res.Columns)
			}
			if string(id) != string(req.resultID) {
				m.newID = id
			} else {
				m.none = req.params.skipMetadata
			}
		}
		a.room = getBuffer()
		a.Body = appendRows((*a.room)[:0], m, res, c.version)
	case engine.ResultSetKeyspace:
		c.keyspace.Store(&res.Keyspace)
		a.Body = appendString(appendInt(nil, int32(res.Kind)), res.Keyspace)
	case engine.ResultSchemaChange:
		c.cluster.announce(res)
		a.Body = appendChange(appendInt(nil, int32(res.Kind)), *res.Change)
	case engine.ResultVoid:
		a.Body = appendInt(nil, int32(engine.ResultVoid))
	}
	if (c.tabletsV1 || c.tabletsV2 && req.head.op == OpExecute) && req.head.op != OpBatch && len(req.touches) == 1 &&
		!req.touches[0].all {
		if a.Payload = c.cluster.tabletHint(c, req.touches[0].table, req.touches[0].token, req.v2); a.Payload != nil {
			c.node.stats.hints.Add(1)
		}
	}
	return a
}

// The paging state of a client is the engine's state, padding, and the length of the padding in two bytes.

func padState(state []byte, pad int) []byte {
	b := append(append([]byte{}, state...), make([]byte, pad)...)
	return binary.BigEndian.AppendUint16(b, uint16(pad))
}

// firstPage begins the paging state of an EmptyPage that precedes the first page.
const firstPage = "first page"

// maxEmptyPadding is the padding of the state of an EmptyPage after which the padding begins at zero again.
const maxEmptyPadding = 64

// emptyState returns another paging state of the page that has the state b: a server that returns a page without rows
// has moved on.
func emptyState(b []byte) []byte {
	if b == nil || bytes.HasPrefix(b, []byte(firstPage)) {
		return append([]byte(firstPage), make([]byte, (max(len(b)-len(firstPage), 0)+1)%maxEmptyPadding)...)
	}
	state, err := unpadState(b)
	if err != nil {
		return b
	}
	return padState(state, (len(b)-len(state)-1)%maxEmptyPadding)
}

func unpadState(b []byte) ([]byte, error) {
	if b == nil || bytes.HasPrefix(b, []byte(firstPage)) {
		return nil, nil
	}
	n := len(b) - 2
	if n < 0 || int(binary.BigEndian.Uint16(b[n:])) > n {
		return nil, protocolError("Invalid value for the paging state")
	}
	return b[:n-int(binary.BigEndian.Uint16(b[n:]))], nil
}

// emptyPage answers with no rows and a paging state of the page that the request asks for.
func (c *conn) emptyPage(req *request) *Answer {
	if req.statement == nil || req.statement.Kind != engine.StatementSelect {
		return c.perform(req)
	}
	m := resultMetadata{columns: req.statement.Result, paging: emptyState(req.params.PagingState)}
	return &Answer{Op: OpResult, Body: appendRows(nil, m, &engine.Result{}, c.version)}
}

// answer applies a fault to the answer and sends it; nil means no fault.
func (c *conn) answer(req *request, a *Answer, fault *Fault) {
	if fault == nil {
		c.send(req.head.stream, a)
		return
	}
	if len(fault.Warnings) > 0 {
		a.Warnings = append(a.Warnings[:len(a.Warnings):len(a.Warnings)], fault.Warnings...)
	}
	for k, v := range fault.Payload {
		if a.Payload == nil {
			a.Payload = map[string][]byte{}
		}
		a.Payload[k] = v
	}
	if fault.Trace && a.Trace == nil {
		id := c.cluster.traces.add(req, 0)
		a.Trace = &id
	}
	a.Stream += req.head.stream + fault.Stream
	if fault.Edit != nil {
		fault.Edit(a)
	}
	if d := fault.wait(); d > 0 || fault.Until != nil {
		c.later(d, fault.Until, func() {
			c.sendFaulty(a, fault)
			c.flushLater()
		})
		return
	}
	c.sendFaulty(a, fault)
}

// appendAnswer appends an answer as a frame.
func (c *conn) appendAnswer(dst []byte, stream int16, a *Answer) []byte {
	h := header{version: c.version, stream: stream, op: a.Op}
	if a.Version != 0 {
		h.version = a.Version
	}
	body := a.Body
	if c.version < 4 { // v4 introduced both
		a.Warnings, a.Payload = nil, nil
	}
	if a.Trace != nil || len(a.Warnings) > 0 || len(a.Payload) > 0 {
		body, h.flags = appendEnvelope(nil, a.Trace, a.Warnings, a.Payload)
		body = append(body, a.Body...)
	}
	h.flags |= a.Flags
	if c.version == betaVersion {
		h.flags |= flagBeta
	}
	if c.version < 5 && c.compression != "" {
		h.flags |= flagCompressed
		body = compressBody(c.compression, body)
	}
	return appendFrame(slices.Grow(dst, headerSize+len(body)), h, body)
}

// send queues an answer and releases it.
func (c *conn) send(stream int16, a *Answer) {
	room := getBuffer()
	frame := c.appendAnswer((*room)[:0], stream, a)
	a.release()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(item{b: frame, room: room, seg: c.framed})
	c.frameFrom(a)
}

// frameFrom starts segments after the answer to STARTUP. Callers hold c.mu.
func (c *conn) frameFrom(a *Answer) {
	if c.framed || c.version < 5 || a.Op != OpReady && a.Op != OpAuthenticate {
		return
	}
	c.framed = true
}

// sendFaulty queues an answer after applying the fault's effects on the wire.
func (c *conn) sendFaulty(a *Answer, fault *Fault) {
	frame := c.appendAnswer(nil, a.Stream, a)
	c.mu.Lock()
	framed := c.framed
	c.mu.Unlock()
	lz4 := c.compression == "lz4"
	wire := frame
	if framed {
		wire = nil
		for _, n := range fault.Segments {
			n = min(max(n, 0), len(frame), maxSegment)
			wire, frame = appendSegment(wire, frame[:n], false, lz4), frame[n:]
		}
		switch {
		case len(fault.Segments) == 0:
			wire = appendSegments(wire, frame, lz4)
		case len(frame) > 0:
			wire = appendSegment(wire, frame[:min(len(frame), maxSegment)], false, lz4)
		}
	}
	wire = corrupt(fault.Corrupt, wire, framed, lz4)
	if fault.Wire != nil {
		wire = fault.Wire(wire)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	it := item{b: wire, fixed: true, split: fault.Split}
	if fault.Close {
		it.b, it.close = it.b[:min(max(fault.CloseAfter, 0), len(it.b))], true
	}
	c.add(it)
	if fault.Twice && !fault.Close {
		c.add(item{b: append([]byte(nil), wire...), fixed: true, split: fault.Split})
	}
	c.frameFrom(a)
}
