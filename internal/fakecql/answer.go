// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"bytes"
	"cmp"
	"fmt"
	"net"
	"strings"

	"github.com/vecql/vecql/internal/wire"
)

// Requests, and the responses of nodes and tests.

// A Prepared is the response of a node to PREPARE of a statement.
type Prepared struct {
	Bind, Result []Column
	PK           []int  // indexes into Bind of the columns of the partition key
	ID           string // of the statement; empty means StatementID
	ResultID     string // of the result's metadata
	Flags        int32  // of the metadata of Bind
}

// A Request is a request that a node received. Its slices belong to the test, except Body.
type Request struct {
	Conn   *Conn
	Node   *Node
	Op     Opcode
	Stream int16
	Stmt   string // text of the statement, also of an EXECUTE; "BATCH" for a BATCH
	Body   []byte // without the custom payload
	Flags  byte   // of the header

	HasPayload bool // has a custom payload

	// Fields of QUERY and EXECUTE.
	PageSize     int32  // 0 if the request has none
	State        []byte // paging state
	SkipMetadata bool
	MetadataID   string
	Timestamp    int64
	Rest         []byte   // bytes after the last field
	Values       [][]byte // nil is NULL

	Stmts []string // statements of a BATCH

	ids []string // of the prepared statements
}

// Void responds with RESULT void.
func (r *Request) Void() { r.Conn.Reply(r.Stream, OpResult, wire.AppendInt(nil, ResultVoid)) }

// Rows responds with RESULT rows.
func (r *Request) Rows(rows Rows) { r.Conn.Reply(r.Stream, OpResult, rows.Body(r.SkipMetadata)) }

// HangUp breaks the connection of the request.
func (r *Request) HangUp() { _ = r.Conn.Conn.Close() }

// Fail responds with ERROR. fields follow the message.
func (r *Request) Fail(code int32, fields ...byte) {
	r.Conn.Reply(r.Stream, OpError, append(AppendString(wire.AppendInt(nil, code), "scripted"), fields...))
}

// Unprepared responds with the error UNPREPARED for the statement's id.
func (r *Request) Unprepared(id string) { r.Fail(codeUnprepared, AppendString(nil, id)...) }

// StatementID returns the default id of a prepared statement.
func StatementID(stmt string) string { return "id of " + stmt }

// Rows is the content of a RESULT of rows.
type Rows struct {
	Columns    []Column
	Cells      [][]byte // row after row; nil is NULL
	State      string   // paging state of the next page; empty means none
	NewID      string   // sets METADATA_CHANGED; empty means none
	NoMetadata bool     // sets NO_METADATA though the request does not ask for it
}

// Body returns the body of the RESULT. skip is the request's SKIP_METADATA.
func (rows Rows) Body(skip bool) []byte {
	flags := int32(0)
	if rows.State != "" {
		flags |= HasMorePages
	}
	if rows.NewID != "" {
		flags |= MetadataChanged
		skip = false
	}
	if skip || rows.NoMetadata {
		flags |= NoMetadata
	}
	b := wire.AppendInt(nil, ResultRows)
	b = wire.AppendInt(b, flags)
	b = wire.AppendInt(b, int32(len(rows.Columns)))
	if rows.State != "" {
		b = appendBytes(b, []byte(rows.State))
	}
	if rows.NewID != "" {
		b = AppendString(b, rows.NewID)
	}
	if flags&NoMetadata == 0 {
		b = AppendColumns(b, rows.Columns)
	}
	b = wire.AppendInt(b, int32(len(rows.Cells)/max(len(rows.Columns), 1)))
	for _, c := range rows.Cells {
		b = appendBytes(b, c)
	}
	return b
}

// Message returns the concatenation of the parts: []byte, string (its bytes) or int (a [short]).
func Message(parts ...any) (b []byte) {
	for _, p := range parts {
		switch p := p.(type) {
		case []byte:
			b = append(b, p...)
		case string:
			b = append(b, p...)
		case int:
			b = wire.AppendShort(b, uint16(p))
		default:
			panic(fmt.Sprintf("a part of type %T", p))
		}
	}
	return b
}

// Ints returns the numbers as [int].
func Ints(v ...int32) (b []byte) {
	for _, x := range v {
		b = wire.AppendInt(b, x)
	}
	return b
}

// AppendString appends a [string] or, of the same form, a [short bytes].
func AppendString(b []byte, s string) []byte {
	if len(s) > 0xFFFF {
		panic("a [string] of more than 65535 bytes")
	}
	return append(wire.AppendShort(b, uint16(len(s))), s...)
}

// appendBytes appends a [bytes]; nil is NULL.
func appendBytes(b, v []byte) []byte {
	if v == nil {
		return wire.AppendInt(b, -1)
	}
	return append(wire.AppendInt(b, int32(len(v))), v...)
}

// EventBody returns the body of an EVENT. A field is a string, or a net.IP, which becomes an [inet] with port 9042.
func EventBody(kind string, fields ...any) []byte {
	b := AppendString(nil, kind)
	for _, f := range fields {
		switch f := f.(type) {
		case string:
			b = AppendString(b, f)
		case net.IP:
			b = append(b, byte(len(f)))
			b = wire.AppendInt(append(b, f...), Port)
		}
	}
	return b
}

// handle handles a frame received by the server.
func (n *Node) handle(p *Conn, h wire.Header, body []byte) {
	r := &Request{Conn: p, Node: n, Op: Opcode(h.Opcode), Stream: h.Stream, Body: body, Flags: h.Flags}
	if h.Flags&wire.FlagCustomPayload != 0 {
		in := wire.NewReader(body)
		in.BytesMap()
		r.HasPayload = true
		r.Body = in.Ahead()
	}
	c := n.Cluster
	if r.Op == OpRegister {
		c.control.Store(p)
	}
	c.Mu.Lock()
	n.parse(r)
	if id, ok := n.unprepared(r); ok {
		c.Mu.Unlock()
		r.Unprepared(id)
		return
	}
	switch r.Op {
	case OpPrepare:
		c.prepares[r.Stmt]++
	case OpQuery, OpExecute, OpBatch:
		c.sent[r.Stmt]++
	}
	hook := c.hook
	c.Mu.Unlock()
	if hook != nil && hook(r) {
		return
	}
	switch {
	case r.Op == OpRegister:
		p.Reply(h.Stream, OpReady, nil)
	case r.Op == OpPrepare:
		p.Reply(h.Stream, OpResult, n.PreparedBody(r.Stmt, p.hasMetadataID()))
	case r.Op == OpQuery && strings.Contains(r.Stmt, "FROM system"):
		n.system(r)
	default:
		r.Void()
	}
}

// unprepared returns a statement of the request that the node has not prepared. ok is false if there is none.
func (n *Node) unprepared(r *Request) (id string, ok bool) {
	for _, id := range r.ids {
		if _, known := n.Server.prepared.Load(id); !known {
			return id, true
		}
	}
	return "", false
}

// Forget makes the node forget the statements that were prepared.
func (n *Node) Forget() { n.Server.prepared.Clear() }

// parse reads the body of a request. Callers hold Cluster.Mu.
func (n *Node) parse(r *Request) {
	in := wire.NewReader(r.Body)
	switch r.Op {
	case OpPrepare:
		r.Stmt = in.LongString()
	case OpQuery:
		r.Stmt = in.LongString()
		n.parseParams(r, &in)
	case OpExecute:
		id := string(in.ShortBytes())
		r.ids = []string{id}
		if n.Cluster.Version >= V5 || r.Conn.hasMetadataID() {
			r.MetadataID = string(in.ShortBytes())
		}
		r.Stmt = n.statement(id)
		n.parseParams(r, &in)
	case OpBatch:
		r.Stmt = "BATCH"
		in.Byte()
		for range in.Short() {
			if in.Byte() == 0 {
				r.Stmts = append(r.Stmts, in.LongString())
			} else {
				id := string(in.ShortBytes())
				r.ids, r.Stmts = append(r.ids, id), append(r.Stmts, n.statement(id))
			}
			for range in.Short() {
				in.Value()
			}
		}
	}
}

// statement returns the text of the statement with the id.
func (n *Node) statement(id string) string {
	for stmt, p := range n.Cluster.prepared {
		if p.ID != "" && p.ID == id {
			return stmt
		}
	}
	return strings.TrimPrefix(id, StatementID(""))
}

// parseParams reads the parameters of QUERY and EXECUTE.
func (n *Node) parseParams(r *Request, in *wire.Reader) {
	in.Short() // consistency
	flags := int32(0)
	if n.Cluster.Version >= V5 {
		flags = in.Int()
	} else {
		flags = int32(in.Byte())
	}
	r.SkipMetadata = flags&flagSkipMetadata != 0
	if flags&flagValues != 0 {
		for range in.Short() {
			v, _ := in.Value()
			r.Values = append(r.Values, bytes.Clone(v))
		}
	}
	if flags&flagPageSize != 0 {
		r.PageSize = in.Int()
	}
	if flags&flagPagingState != 0 {
		r.State = bytes.Clone(in.Bytes())
	}
	if flags&flagSerialConsistency != 0 {
		in.Short()
	}
	if flags&flagTimestamp != 0 {
		r.Timestamp = in.Long()
	}
	if in.Err() != nil {
		n.Cluster.T.Errorf("malformed %v: %v", r.Op, in.Err())
	}
	r.Rest = in.Rest()
}

// hasMetadataID reports whether the v4 connection negotiated ids of result metadata.
func (c *Conn) hasMetadataID() bool { _, ok := c.Startup["SCYLLA_USE_METADATA_ID"]; return ok }

// PreparedBody returns the body of the RESULT of PREPARE. metadataID adds the id of the result's metadata on v4; v5
// always includes it.
func (n *Node) PreparedBody(stmt string, metadataID bool) []byte {
	n.Cluster.Mu.Lock()
	p := n.Cluster.prepared[stmt]
	n.Cluster.Mu.Unlock()
	if p.ID == "" {
		p.ID = StatementID(stmt)
	}
	b := AppendString(wire.AppendInt(nil, ResultPrepared), p.ID)
	if n.Cluster.Version >= V5 || metadataID {
		b = AppendString(b, p.ResultID)
	}
	b = wire.AppendInt(b, p.Flags)
	b = wire.AppendInt(b, int32(len(p.Bind)))
	if n.Cluster.Version >= V4 {
		b = wire.AppendInt(b, int32(len(p.PK)))
		for _, i := range p.PK {
			b = wire.AppendShort(b, uint16(i))
		}
	}
	b = AppendColumns(b, p.Bind)
	if len(p.Result) == 0 {
		return wire.AppendInt(wire.AppendInt(b, NoMetadata), 0)
	}
	return AppendColumns(wire.AppendInt(wire.AppendInt(b, 0), int32(len(p.Result))), p.Result)
}

// system responds to the statements of control connections.
func (n *Node) system(r *Request) {
	rows := Rows{Columns: Columns("host_id uuid", "data_center text", "rack text", "release_version text",
		"schema_version uuid", "peer inet",
		"native_address inet", "native_port int", "tokens set<text>", "partitioner text", "cluster_name text")}
	describe := func(o *Node) {
		ip := net.ParseIP(o.IP)
		rows.Add(o.ID, cmp.Or(o.DC, "dc1"), "r1", "5.0.0", o.Schema, ip, ip, n.Cluster.Port, []string{o.Token},
			"org.apache.cassandra.dht.Murmur3Partitioner", n.Cluster.Name)
	}
	n.Cluster.Mu.Lock()
	switch {
	case strings.HasPrefix(r.Stmt, "SELECT schema_version FROM system.local"):
		rows = Rows{Columns: Columns("schema_version uuid")}
		rows.Add(n.Schema)
	case strings.Contains(r.Stmt, "system.local"):
		describe(n)
	case strings.Contains(r.Stmt, "system.peers"):
		for _, o := range n.Cluster.Peers {
			if o != n && (!strings.Contains(r.Stmt, "WHERE peer") || strings.Contains(r.Stmt, "'"+o.IP+"'")) {
				describe(o)
			}
		}
	case strings.Contains(r.Stmt, "system_schema.keyspaces"):
		rows = Rows{Columns: Columns("keyspace_name text", "replication map<text, text>")}
		rows.Add("ks", map[string]string{"class": "SimpleStrategy", "replication_factor": "1"})
	}
	n.Cluster.Mu.Unlock()
	r.Rows(rows)
}
