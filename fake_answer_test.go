// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"fmt"
	"net"
	"strings"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds what a fakeCluster answers: what the driver asks by itself, from a script; the statements of a test are left to the test.

// preparedSpec is what PREPARE says of a statement.
type preparedSpec struct {
	bind, result []ColumnInfo
	pk           []int
	id           string // of the statement, empty: made from its text
	resultID     string
	flags        int32 // of the bind markers' metadata
}

// fakeRequest is a request that a node received.
type fakeRequest struct {
	peer   *fakePeer
	node   *fakeNode
	op     opcode
	stream int16
	stmt   string // text, also of an EXECUTE
	body   []byte

	// Of QUERY and EXECUTE.
	state        []byte // paging state
	skipMetadata bool
	metadataID   string
	timestamp    int64
	rest         []byte   // behind everything
	values       [][]byte // copies; nil is NULL
	stmts        []string // of a batch
}

func (r *fakeRequest) void() {
	r.peer.reply(r.stream, opResult, wire.AppendInt(nil, int32(resultVoid)))
}

func (r *fakeRequest) rows(res fakeResult) {
	r.peer.reply(r.stream, opResult, res.body(r.skipMetadata))
}
func (r *fakeRequest) hangUp() { _ = r.peer.conn.Close() }
func (r *fakeRequest) fail(code Code, fields ...byte) {
	b := wire.AppendInt(nil, int32(code))
	b = append(mustString(b, "scripted"), fields...)
	r.peer.reply(r.stream, opError, b)
}

func (r *fakeRequest) unprepared(id string) {
	r.fail(CodeUnprepared, append(wire.AppendShort(nil, uint16(len(id))), id...)...)
}

// statementID is the id that nodes give a statement.
func statementID(stmt string) string { return "id of " + stmt }

// fakeResult is a RESULT of rows.
type fakeResult struct {
	columns []ColumnInfo
	cells   [][]byte // row after row; nil is NULL
	state   string   // of the next page
	newID   string   // METADATA_CHANGED
	noMeta  bool     // NO_METADATA although it was not asked for
}

func (res fakeResult) body(skip bool) []byte {
	flags := int32(0)
	if res.state != "" {
		flags |= metadataHasMorePages
	}
	if res.newID != "" {
		flags |= metadataChanged
		skip = false
	}
	if skip || res.noMeta {
		flags |= metadataNoMetadata
	}
	b := wire.AppendInt(nil, int32(resultRows))
	b = wire.AppendInt(b, flags)
	b = wire.AppendInt(b, int32(len(res.columns)))
	if res.state != "" {
		b, _ = wire.AppendBytes(b, []byte(res.state))
	}
	if res.newID != "" {
		b, _ = wire.AppendShortBytes(b, []byte(res.newID))
	}
	if flags&metadataNoMetadata == 0 {
		b = appendColumns(b, res.columns)
	}
	b = wire.AppendInt(b, int32(len(res.cells)/max(len(res.columns), 1)))
	for _, c := range res.cells {
		b, _ = wire.AppendBytes(b, c)
	}
	return b
}

func mustString(b []byte, s string) []byte {
	b, err := wire.AppendString(b, s)
	if err != nil {
		panic(err)
	}
	return b
}

func appendColumns(b []byte, columns []ColumnInfo) []byte {
	for _, c := range columns {
		b = mustString(mustString(mustString(b, c.Keyspace), c.Table), c.Name)
		b = appendOption(b, c.TypeInfo)
	}
	return b
}

// appendOption appends an [option].
func appendOption(b []byte, t TypeInfo) []byte {
	switch t := t.(type) {
	case CollectionType:
		b = wire.AppendShort(b, uint16(t.Type()))
		if t.Key != nil {
			b = appendOption(b, t.Key)
		}
		return appendOption(b, t.Elem)
	case CustomType:
		return mustString(wire.AppendShort(b, 0), t.Class)
	case UDTTypeInfo:
		b = mustString(mustString(wire.AppendShort(b, uint16(TypeUDT)), t.Keyspace), t.Name)
		b = wire.AppendShort(b, uint16(len(t.Elements)))
		for _, f := range t.Elements {
			b = appendOption(mustString(b, f.Name), f.Type)
		}
		return b
	case TupleTypeInfo:
		b = wire.AppendShort(wire.AppendShort(b, uint16(TypeTuple)), uint16(len(t.Elems)))
		for _, e := range t.Elems {
			b = appendOption(b, e)
		}
		return b
	case VectorType:
		elem := map[Type]string{TypeFloat: "FloatType", TypeDouble: "DoubleType", TypeInt: "Int32Type", TypeBigInt: "LongType", TypeUUID: "UUIDType", TypeVarchar: "UTF8Type"}[t.SubType.Type()]
		return mustString(wire.AppendShort(b, 0), fmt.Sprintf(
			"org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.%s , %d)", elem, t.Dimensions))
	}
	return wire.AppendShort(b, uint16(t.Type()))
}

// col returns a column of table ks.t.
func col(name string, t TypeInfo) ColumnInfo { return ColumnInfo{"ks", "t", name, t} }

// cellOf returns v as a cell of type t.
func cellOf(t TypeInfo, v any) []byte {
	b, err := Marshal(t, v)
	if err != nil {
		panic(err)
	}
	return b
}

// answer makes the cluster answer every EXECUTE, BATCH and QUERY of a user's statement with f, which is told how many there were before,
// on a goroutine of its own: it may sleep.
func (c *fakeCluster) answer(f func(r *fakeRequest, nth int)) {
	nth := 0
	c.on(func(r *fakeRequest) bool {
		if r.op != opExecute && r.op != opBatch {
			return false
		}
		c.mu.Lock()
		n := nth
		nth++
		c.mu.Unlock()
		r.node.server.wg.Go(func() { f(r, n) })
		return true
	})
}

// eventBody returns the body of an EVENT.
func eventBody(kind string, fields ...any) []byte {
	b := mustString(nil, kind)
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = mustString(b, f)
		case net.IP: // an [inet] on port 9042
			b = append(b, byte(len(f)))
			b = wire.AppendInt(append(b, f...), 9042)
		}
	}
	return b
}

func (n *fakeNode) handle(p *fakePeer, h wire.Header, body []byte) {
	r := &fakeRequest{peer: p, node: n, op: opcode(h.Opcode), stream: h.Stream, body: body}
	if h.Flags&wire.FlagCustomPayload != 0 {
		in := wire.NewReader(body)
		in.BytesMap()
		r.body = in.Ahead()
	}
	c := n.cluster
	if r.op == opRegister {
		c.control.Store(p)
	}
	c.mu.Lock()
	n.parse(r)
	switch r.op {
	case opPrepare:
		c.prepares[r.stmt]++
	case opQuery, opExecute, opBatch:
		c.sent[r.stmt]++
	}
	hook := c.hook
	c.mu.Unlock()
	if hook != nil && hook(r) {
		return
	}
	switch {
	case r.op == opRegister:
		p.reply(h.Stream, opReady, nil)
	case r.op == opPrepare:
		p.reply(h.Stream, opResult, n.preparedBody(r.stmt, p.hasMetadataID()))
	case r.op == opQuery && strings.Contains(r.stmt, "FROM system"):
		n.system(r)
	default:
		r.void()
	}
}

// parse reads what the tests look at.
func (n *fakeNode) parse(r *fakeRequest) {
	in := wire.NewReader(r.body)
	v5 := n.cluster.version >= protoV5
	switch r.op {
	case opPrepare:
		r.stmt = in.LongString()
		return
	case opQuery:
		r.stmt = in.LongString()
	case opExecute:
		id := string(in.ShortBytes())
		if v5 || r.peer.hasMetadataID() {
			r.metadataID = string(in.ShortBytes())
		}
		for stmt, spec := range n.cluster.prepared {
			if spec.id != "" && spec.id == id {
				r.stmt = stmt
			}
		}
		if r.stmt == "" {
			r.stmt = strings.TrimPrefix(id, "id of ")
		}
	case opBatch:
		r.stmt = "BATCH"
		in.Byte()
		for range in.Short() {
			if in.Byte() == 0 {
				r.stmts = append(r.stmts, in.LongString())
			} else {
				r.stmts = append(r.stmts, strings.TrimPrefix(string(in.ShortBytes()), "id of "))
			}
			for range in.Short() {
				in.Value()
			}
		}
		return
	default:
		return
	}
	in.Short()
	flags := int32(0)
	if v5 {
		flags = in.Int()
	} else {
		flags = int32(in.Byte())
	}
	r.skipMetadata = flags&queryFlagSkipMetadata != 0
	if flags&queryFlagValues != 0 {
		for range in.Short() {
			v, _ := in.Value()
			r.values = append(r.values, bytes.Clone(v))
		}
	}
	if flags&queryFlagPageSize != 0 {
		in.Int()
	}
	if flags&queryFlagPagingState != 0 {
		r.state = bytes.Clone(in.Bytes())
	}
	if flags&queryFlagSerialConsistency != 0 {
		in.Short()
	}
	if flags&queryFlagTimestamp != 0 {
		r.timestamp = in.Long()
	}
	if in.Err() != nil {
		n.cluster.t.Errorf("malformed %v: %v", r.op, in.Err())
	}
	r.rest = in.Rest()
}

// hasMetadataID reports whether a v4 connection has agreed on result metadata ids.
func (p *fakePeer) hasMetadataID() bool { _, ok := p.startup[keyMetadataID]; return ok }

func (n *fakeNode) preparedBody(stmt string, metadataID bool) []byte {
	n.cluster.mu.Lock()
	spec := n.cluster.prepared[stmt]
	n.cluster.mu.Unlock()
	id := spec.id
	if id == "" {
		id = statementID(stmt)
	}
	b := wire.AppendInt(nil, int32(resultPrepared))
	b = mustString(b, id)
	if n.cluster.version >= protoV5 || metadataID {
		b = mustString(b, spec.resultID)
	}
	b = wire.AppendInt(b, spec.flags)
	b = wire.AppendInt(b, int32(len(spec.bind)))
	b = wire.AppendInt(b, int32(len(spec.pk)))
	for _, i := range spec.pk {
		b = wire.AppendShort(b, uint16(i))
	}
	b = appendColumns(b, spec.bind)
	if len(spec.result) == 0 {
		return wire.AppendInt(wire.AppendInt(b, metadataNoMetadata), 0)
	}
	return appendColumns(wire.AppendInt(wire.AppendInt(b, 0), int32(len(spec.result))), spec.result)
}

// system answers the statements of the control connection.
func (n *fakeNode) system(r *fakeRequest) {
	text, uuid, inet := NativeType(TypeVarchar), NativeType(TypeUUID), NativeType(TypeInet)
	tokens, options := NewSetType(text), NewMapType(text, text)
	describe := func(o *fakeNode) [][]byte {
		return [][]byte{
			cellOf(uuid, o.id), cellOf(text, "dc1"), cellOf(text, "r1"), cellOf(text, "5.0.0"), cellOf(uuid, o.schema),
			cellOf(inet, net.ParseIP(o.ip)), cellOf(NativeType(TypeInt), n.cluster.port), cellOf(tokens, []string{o.token}),
			cellOf(text, "org.apache.cassandra.dht.Murmur3Partitioner"),
		}
	}
	n.cluster.mu.Lock()
	res := fakeResult{columns: []ColumnInfo{
		col("host_id", uuid), col("data_center", text), col("rack", text), col("release_version", text), col("schema_version", uuid),
		col("native_address", inet), col("native_port", NativeType(TypeInt)), col("tokens", tokens), col("partitioner", text),
	}}
	switch {
	case strings.HasPrefix(r.stmt, "SELECT schema_version FROM system.local"):
		res = fakeResult{columns: []ColumnInfo{col("schema_version", uuid)}, cells: [][]byte{cellOf(uuid, n.schema)}}
	case strings.Contains(r.stmt, "system.local"):
		res.cells = describe(n)
	case strings.Contains(r.stmt, "system.peers"):
		for _, o := range n.cluster.peers {
			if o != n {
				res.cells = append(res.cells, describe(o)...)
			}
		}
	case strings.Contains(r.stmt, "system_schema.keyspaces"):
		res = fakeResult{columns: []ColumnInfo{col("keyspace_name", text), col("replication", options)}, cells: [][]byte{
			cellOf(text, "ks"), cellOf(options, map[string]string{"class": "SimpleStrategy", "replication_factor": "1"}),
		}}
	}
	n.cluster.mu.Unlock()
	r.rows(res)
}
