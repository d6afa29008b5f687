// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/wire"
)

// This file holds the cluster of the session's tests: scripted nodes that answer what the driver asks by itself, and leave the statements
// of a test to the test.

// fakeCluster is a set of nodes on loopback addresses with one port.
type fakeCluster struct {
	t       testing.TB
	version byte
	port    int
	nodes   []*fakeNode

	mu       sync.Mutex
	prepared map[string]preparedSpec // by statement
	hook     func(*fakeRequest) bool // first choice for every request; true: it has answered
	peers    []*fakeNode             // what system.peers tells; all but the node asked
	sent     map[string]int          // how often a statement was executed, by any node
	prepares map[string]int
}

// fakeNode is one node.
type fakeNode struct {
	cluster *fakeCluster
	ip      string
	id      UUID
	token   string
	schema  UUID
	server  *testServer
	ln      net.Listener
	change  []func(*testServer)
}

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
	peer   *testPeer
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

// newFakeCluster starts n nodes, after change has seen their servers.
func newFakeCluster(t testing.TB, version byte, n int, change ...func(*testServer)) *fakeCluster {
	t.Helper()
	c := &fakeCluster{t: t, version: version, prepared: map[string]preparedSpec{}, sent: map[string]int{}, prepares: map[string]int{}}
	for i := range n {
		node := &fakeNode{cluster: c, ip: fmt.Sprintf("127.0.0.%d", i+1), id: UUID{0xFA, byte(i + 1)}, token: fmt.Sprint(int64(i) << 60), schema: UUID{1}}
		c.nodes = append(c.nodes, node)
		node.change = change
		node.start()
	}
	c.peers = c.nodes
	t.Cleanup(func() {
		for _, node := range c.nodes {
			node.stop()
		}
	})
	return c
}

// start listens, on the cluster's port once there is one.
func (n *fakeNode) start() {
	var err error
	for range 100 { // a port that was just left may be taken for a moment
		if n.ln, err = net.Listen("tcp", fmt.Sprintf("%s:%d", n.ip, n.cluster.port)); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	require.NoError(n.cluster.t, err)
	n.cluster.port = n.ln.Addr().(*net.TCPAddr).Port
	n.server = &testServer{version: n.cluster.version, handle: n.handle}
	for _, f := range n.change {
		f(n.server)
	}
	s, ln := n.server, n.ln
	s.wg.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			s.wg.Go(func() { s.serve(conn) })
		}
	})
}

// stop ends the node: its port refuses, its connections break.
func (n *fakeNode) stop() {
	_ = n.ln.Close()
	for range 2 { // a connection may have been accepted a moment ago
		n.server.mu.Lock()
		for _, c := range n.server.conns {
			_ = c.Close()
		}
		n.server.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	n.server.stop()
}

func (n *fakeNode) addr() string { return fmt.Sprintf("%s:%d", n.ip, n.cluster.port) }

// config returns a configuration that reaches the first node.
func (c *fakeCluster) config() *ClusterConfig {
	cfg := NewCluster(c.nodes[0].addr())
	cfg.Port = c.port
	cfg.NumConns = 1
	cfg.Timeout = 5 * time.Second
	cfg.Logger = slog.New(slog.DiscardHandler)
	cfg.HeartbeatInterval = -1
	return cfg
}

// session returns a session that is closed when the test ends, after which nothing of it may be left.
func (c *fakeCluster) session(change ...func(*ClusterConfig)) *Session {
	c.t.Helper()
	requireNothingLeft(c.t)
	cfg := c.config()
	for _, f := range change {
		f(cfg)
	}
	s, err := cfg.CreateSession()
	require.NoError(c.t, err)
	c.t.Cleanup(s.Close)
	return s
}

// requireNothingLeft checks, when all that is cleaned up after it is gone, that neither goroutines nor buffers are left.
func requireNothingLeft(t testing.TB) {
	before := outstanding.Load()
	t.Cleanup(func() {
		requireNoGoroutines(t)
		require.Equal(t, before, outstanding.Load(), "buffers not released")
	})
}

// startedBy is the line of a stack that says where a goroutine was started.
var startedBy = regexp.MustCompile(`(?m)^created by .*$`)

// requireNoGoroutines fails when a goroutine of the driver is left, after a moment of grace for those that are just ending. Those of the
// fake servers are the tests' own.
func requireNoGoroutines(t testing.TB) {
	t.Helper()
	var stacks string
	for range 400 {
		buf := make([]byte, 4<<20)
		stacks = string(buf[:runtime.Stack(buf, true)])
		left := false
		stacks := startedBy.ReplaceAllString(stacks, "")
		for _, name := range []string{"(*conn).", "(*pool).", "(*control).", "(*Session).", "(*statements).", "(*Iter).", "(*schemaCache).", "(*notifier)."} {
			left = left || strings.Contains(stacks, "vecql."+name)
		}
		if !left {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("goroutines of the driver are left:\n%s", stacks)
}

// on sets what answers the tests' requests before the script does.
func (c *fakeCluster) on(hook func(r *fakeRequest) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hook = hook
}

func (c *fakeCluster) prepare(stmt string, spec preparedSpec) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.prepared[stmt] = spec
}

func (c *fakeCluster) count(stmt string) (sent, prepares int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sent[stmt], c.prepares[stmt]
}

func (n *fakeNode) handle(p *testPeer, h wire.Header, body []byte) {
	r := &fakeRequest{peer: p, node: n, op: opcode(h.Opcode), stream: h.Stream, body: body}
	if h.Flags&wire.FlagCustomPayload != 0 {
		in := wire.NewReader(body)
		in.BytesMap()
		r.body = in.Ahead()
	}
	c := n.cluster
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
func (p *testPeer) hasMetadataID() bool { _, ok := p.startup[keyMetadataID]; return ok }

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
