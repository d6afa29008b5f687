// SPDX-License-Identifier: Apache-2.0

// Package interop runs the driver against a server with an independent codec, DataStax's go-cassandra-native-protocol.
// That codec decodes the driver's requests, and the driver decodes the responses that it encodes. The package is a
// separate module, so that users do not inherit its dependency.
package interop

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"

	"github.com/datastax/go-cassandra-native-protocol/client"
	"github.com/datastax/go-cassandra-native-protocol/datacodec"
	"github.com/datastax/go-cassandra-native-protocol/datatype"
	"github.com/datastax/go-cassandra-native-protocol/frame"
	"github.com/datastax/go-cassandra-native-protocol/message"
	"github.com/datastax/go-cassandra-native-protocol/primitive"
	"github.com/rs/zerolog"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// upper converts the name of a compressor to the upper case that the server expects.
type upper struct{ cql.Compressor }

func (u upper) Name() string { return strings.ToUpper(u.Compressor.Name()) }

func TestInterop(t *testing.T) {
	zerolog.SetGlobalLevel(zerolog.ErrorLevel)
	for _, m := range []struct {
		version    primitive.ProtocolVersion
		compressor cql.Compressor
	}{ // no v5 with LZ4: the server compresses the content of segments twice
		{3, nil},
		{3, upper{vecql.LZ4Compressor{}}},
		{3, upper{vecql.SnappyCompressor{}}},
		{4, nil},
		{4, upper{vecql.LZ4Compressor{}}},
		{4, upper{vecql.SnappyCompressor{}}},
		{5, nil},
	} {
		name := "none"
		if m.compressor != nil {
			name = m.compressor.Name()
		}
		t.Run(fmt.Sprintf("version=%d/compression=%s", m.version, name), func(t *testing.T) {
			s := start(t, m.version)
			session := s.connect(m.compressor)
			t.Run("execute", func(t *testing.T) { testExecute(t, s, session) })
			t.Run("rows", func(t *testing.T) { testRows(t, s, session) })
			t.Run("batch", func(t *testing.T) { testBatch(t, s, session) })
			t.Run("errors", func(t *testing.T) { testErrors(t, s, session) })
		})
	}
}

// server is the server of go-cassandra-native-protocol with responses to the statements of the tests.
type server struct {
	t       *testing.T
	version primitive.ProtocolVersion
	addr    string

	mu   sync.Mutex
	seen []*frame.Frame
}

func start(t *testing.T, version primitive.ProtocolVersion) *server {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &server{t: t, version: version, addr: ln.Addr().String()}
	require.NoError(t, ln.Close())
	their := client.NewCqlServer(s.addr, &client.AuthCredentials{Username: "u", Password: "p"})
	their.RequestHandlers = []client.RequestHandler{options, client.RegisterHandler, client.HandshakeHandler, s.handle}
	require.NoError(t, their.Start(t.Context()))
	t.Cleanup(func() { _ = their.Close() })
	return s
}

func (s *server) connect(compressor cql.Compressor) *vecql.Session {
	cfg := &vecql.ClusterConfig{Hosts: []string{s.addr}}
	cfg.Protocol.Version, cfg.Compressor, cfg.Pool.NumConns = int(s.version), compressor, 1
	cfg.Authenticator = vecql.PasswordAuthenticator{Username: "u", Password: "p"}
	cfg.Logger = slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(context.Background(), *cfg)
	require.NoError(s.t, err)
	s.t.Cleanup(session.Close)
	s.last()
	return session
}

// last returns the requests since its last call.
func (s *server) last() []*frame.Frame {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.seen
	s.seen = nil
	return seen
}

func options(r *frame.Frame, _ *client.CqlServerConnection, _ client.RequestHandlerContext) *frame.Frame {
	if _, ok := r.Body.Message.(*message.Options); !ok {
		return nil
	}
	return frame.NewFrame(r.Header.Version, r.Header.StreamId, &message.Supported{Options: map[string][]string{"COMPRESSION": {"LZ4", "SNAPPY"}}})
}

var (
	id      = primitive.UUID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
	tracing = primitive.UUID{9}
	vector  = datatype.NewCustom("org.apache.cassandra.db.marshal.VectorType(org.apache.cassandra.db.marshal.FloatType , 2)")
	texts   = datatype.NewList(datatype.Varchar)
	counts  = datatype.NewMap(datatype.Varchar, datatype.Int)
	pair    = datatype.NewTuple(datatype.Int, datatype.Boolean)
	address = mustUDT("address", []string{"street", "numbers"}, datatype.Varchar, datatype.NewList(datatype.Int))
)

func mustUDT(name string, fields []string, types ...datatype.DataType) datatype.DataType {
	t, err := datatype.NewUserDefined("ks", name, fields, types)
	if err != nil {
		panic(err)
	}
	return t
}

func column(name string, t datatype.DataType) *message.ColumnMetadata {
	return &message.ColumnMetadata{Keyspace: "ks", Table: "t", Name: name, Type: t}
}

var bound = []*message.ColumnMetadata{column("id", datatype.Uuid), column("v", vector), column("txt", datatype.Varchar)}

// cells lists the columns of the rows and their values, which the server's codec encodes.
var cells = []struct {
	column *message.ColumnMetadata
	value  any
}{
	{column("id", datatype.Uuid), id},
	{column("v", vector), []byte{0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}},
	{column("n", datatype.Bigint), int64(-5)},
	{column("l", texts), []string{"a", "bc"}},
	{column("m", counts), map[string]int32{"k": -1}},
	{column("tu", pair), []any{int32(7), true}},
	{column("ud", address), map[string]any{"street": "s", "numbers": []int32{1, 2}}},
	{column("d", datatype.Duration), datacodec.CqlDuration{Months: 1, Days: 2, Nanos: 3}},
	{column("ip", datatype.Inet), net.IPv4(10, 0, 0, 1).To4()},
	{column("nul", datatype.Int), nil},
}

func (s *server) encode(t datatype.DataType, v any) []byte {
	if raw, ok := v.([]byte); ok || v == nil {
		return raw
	}
	c, err := datacodec.NewCodec(t)
	if err == nil {
		var b []byte
		if b, err = c.Encode(v, s.version); err == nil {
			return b
		}
	}
	s.t.Error(t, err)
	return nil
}

func (s *server) handle(r *frame.Frame, _ *client.CqlServerConnection, _ client.RequestHandlerContext) *frame.Frame {
	if q, ok := r.Body.Message.(*message.Query); !ok || !strings.Contains(q.Query, "system_schema.columns") { // read on v3
		s.mu.Lock()
		s.seen = append(s.seen, r.DeepCopy())
		s.mu.Unlock()
	}
	var answer message.Message = &message.VoidResult{}
	switch m := r.Body.Message.(type) {
	case *message.Prepare:
		answer = s.prepared(m.Query)
	case *message.Execute:
		if string(m.QueryId) == "SELECT" {
			return s.rows(r, m)
		}
	case *message.Query:
		answer = s.query(m.Query)
	}
	return frame.NewFrame(s.version, r.Header.StreamId, answer)
}

// prepared returns the response to PREPARE. The id of a statement is its first word.
func (s *server) prepared(stmt string) message.Message {
	word, _, _ := strings.Cut(stmt, " ")
	p := &message.PreparedResult{
		PreparedQueryId: []byte(word), ResultMetadataId: []byte("meta"), ResultMetadata: &message.RowsMetadata{},
		VariablesMetadata: &message.VariablesMetadata{PkIndices: []uint16{0}, Columns: bound},
	}
	if word == "SELECT" {
		p.VariablesMetadata.Columns = bound[:1]
		p.ResultMetadata = s.metadata()
	}
	return p
}

func (s *server) metadata() *message.RowsMetadata {
	m := &message.RowsMetadata{ColumnCount: int32(len(cells))}
	for _, c := range cells {
		m.Columns = append(m.Columns, c.column)
	}
	return m
}

// rows responds with three rows. The first page has a paging state.
func (s *server) rows(r *frame.Frame, m *message.Execute) *frame.Frame {
	data := message.RowSet{}
	for range 3 {
		row := message.Row{}
		for _, c := range cells {
			row = append(row, s.encode(c.column.Type, c.value))
		}
		data = append(data, row)
	}
	meta := s.metadata()
	if m.Options.SkipMetadata {
		meta.Columns = nil
	}
	if len(m.Options.PagingState) == 0 {
		meta.PagingState = []byte("more")
	}
	f := frame.NewFrame(s.version, r.Header.StreamId, &message.RowsResult{Metadata: meta, Data: data})
	f.SetTracingId(&tracing)
	// Not both: the server's codec writes the payload before the warnings, Cassandra and the specification the other
	// way round.
	switch s.version { // v3 has neither
	case 4:
		f.SetWarnings([]string{"careful", "really"})
	case 5:
		f.SetCustomPayload(map[string][]byte{"pay": {1, 2}})
	}
	return f
}

// query responds to the queries of the control connection, to DDL, and with the error that a statement names.
func (s *server) query(stmt string) message.Message {
	if m, ok := failures[stmt]; ok {
		return m
	}
	replication := datatype.NewMap(datatype.Varchar, datatype.Varchar)
	local := []*message.ColumnMetadata{
		column("host_id", datatype.Uuid), column("schema_version", datatype.Uuid), column("partitioner", datatype.Varchar),
		column("data_center", datatype.Varchar), column("tokens", datatype.NewSet(datatype.Varchar)),
	}
	meta := &message.RowsMetadata{ColumnCount: int32(len(local)), Columns: local}
	switch {
	case strings.HasPrefix(stmt, "CREATE"):
		return &message.SchemaChangeResult{
			ChangeType: primitive.SchemaChangeTypeCreated, Target: primitive.SchemaChangeTargetTable, Keyspace: "ks", Object: "t",
		}
	case strings.Contains(stmt, "system_schema.keyspaces"):
		columns := []*message.ColumnMetadata{column("keyspace_name", datatype.Varchar), column("replication", replication)}
		return &message.RowsResult{Metadata: &message.RowsMetadata{ColumnCount: 2, Columns: columns}, Data: message.RowSet{}}
	case strings.Contains(stmt, "system.peers"):
		return &message.RowsResult{Metadata: meta, Data: message.RowSet{}}
	}
	row := message.Row{
		id[:], id[:], []byte("org.apache.cassandra.dht.Murmur3Partitioner"), []byte("dc1"), s.encode(local[4].Type, []string{"0"}),
	}
	return &message.RowsResult{Metadata: meta, Data: message.RowSet{row}}
}

func testExecute(t *testing.T, s *server, session *vecql.Session) {
	absent, absentType, payload := any(cql.UnsetValue), primitive.ValueTypeUnset, map[string][]byte{"a": []byte("b")}
	if s.version == 3 { // which has neither
		absent, absentType, payload = nil, primitive.ValueTypeNull, nil
	}
	q := session.Query("INSERT INTO ks.t (id, v, txt) VALUES (?, ?, ?)", cql.UUID(id), []float32{1, -2}, absent).
		Consistency(cql.LocalQuorum).SerialConsistency(cql.LocalSerial).Timestamp(123456).CustomPayload(payload)
	if s.version == 5 {
		q.NowInSeconds(77)
	}
	require.NoError(t, q.Exec(t.Context()))
	seen := s.last()
	require.Len(t, seen, 2, "want PREPARE and EXECUTE")
	require.Equal(t, q.Statement(), seen[0].Body.Message.(*message.Prepare).Query)
	require.Equal(t, payload, seen[1].Body.CustomPayload)
	m := seen[1].Body.Message.(*message.Execute)
	o := m.Options
	require.Equal(t, "INSERT", string(m.QueryId))
	require.Equal(t, primitive.ConsistencyLevelLocalQuorum, o.Consistency)
	require.Equal(t, primitive.ConsistencyLevelLocalSerial, *o.SerialConsistency)
	require.EqualValues(t, 123456, *o.DefaultTimestamp)
	require.EqualValues(t, 5000, o.PageSize)
	require.Equal(t, id[:], o.PositionalValues[0].Contents)
	require.Equal(t, []byte{0x3f, 0x80, 0, 0, 0xc0, 0, 0, 0}, o.PositionalValues[1].Contents)
	require.EqualValues(t, absentType, o.PositionalValues[2].Type)
	if s.version == 5 {
		require.EqualValues(t, 77, *o.NowInSeconds)
		require.Equal(t, []byte("meta"), m.ResultMetadataId)
	}
}

type tracer struct{ id []byte }

func (t *tracer) Trace(id []byte) { t.id = id }

func testRows(t *testing.T, s *server, session *vecql.Session) {
	trace := &tracer{}
	it := session.Query("SELECT everything FROM ks.t WHERE id = ?", cql.UUID(id)).PageSize(3).Trace(trace).Iter(t.Context())
	switch s.version {
	case 4:
		require.Equal(t, []string{"careful", "really"}, it.Warnings())
	case 5:
		require.Equal(t, map[string][]byte{"pay": {1, 2}}, it.GetCustomPayload())
	}
	type row struct {
		ID   cql.UUID
		V    []float32
		N    int64
		L    []string
		M    map[string]int
		Pair struct {
			A int
			B bool
		}
		Address struct {
			Street  string
			Numbers []int
		}
		D    cql.Duration
		IP   string
		Null *int
	}
	want := row{
		ID: cql.UUID(id), V: []float32{1, -2}, N: -5, L: []string{"a", "bc"}, M: map[string]int{"k": -1},
		D: cql.Duration{Months: 1, Days: 2, Nanoseconds: 3}, IP: "10.0.0.1",
	}
	want.Pair.A, want.Pair.B = 7, true
	want.Address.Street, want.Address.Numbers = "s", []int{1, 2}
	n := 0
	for ; ; n++ {
		var r row
		if !it.Scan(&r.ID, &r.V, &r.N, &r.L, &r.M, &r.Pair, &r.Address, &r.D, &r.IP, &r.Null) {
			break
		}
		require.Equal(t, want, r)
	}
	require.NoError(t, it.Close())
	require.Equal(t, 6, n)
	require.Equal(t, tracing[:], trace.id)
	seen := s.last()
	o := seen[len(seen)-1].Body.Message.(*message.Execute).Options
	require.Equal(t, []byte("more"), o.PagingState)
	require.EqualValues(t, 3, o.PageSize)
	require.Equal(t, s.version == 5, o.SkipMetadata)
}

func testBatch(t *testing.T, s *server, session *vecql.Session) {
	require.NoError(t, session.Batch(cql.UnloggedBatch).
		Query("INSERT INTO ks.t (id, v, txt) VALUES (?, ?, ?)", cql.UUID(id), []float32{1, -2}, "x").
		Query("DELETE FROM ks.t WHERE id = 1").
		Consistency(cql.Two).Timestamp(9).Exec(t.Context()))
	seen := s.last()
	m := seen[len(seen)-1].Body.Message.(*message.Batch)
	require.Equal(t, primitive.BatchTypeUnlogged, m.Type)
	require.Len(t, m.Children, 2)
	require.Equal(t, "INSERT", string(m.Children[0].Id))
	require.Equal(t, []byte("x"), m.Children[0].Values[2].Contents)
	require.Equal(t, "DELETE FROM ks.t WHERE id = 1", m.Children[1].Query)
	require.Equal(t, primitive.ConsistencyLevelTwo, m.Consistency)
	require.EqualValues(t, 9, *m.DefaultTimestamp)
}

var reasons = []*primitive.FailureReason{{Endpoint: net.IPv4(10, 0, 0, 1).To4(), Code: 5}}

// failures lists the errors by the statement to which the server responds with them.
var failures = map[string]message.Message{
	"unavailable":   &message.Unavailable{ErrorMessage: "m", Consistency: primitive.ConsistencyLevelQuorum, Required: 3, Alive: 1},
	"writetimeout":  &message.WriteTimeout{ErrorMessage: "m", Received: 1, BlockFor: 2, WriteType: primitive.WriteTypeCas, Contentions: 7},
	"readtimeout":   &message.ReadTimeout{ErrorMessage: "m", Received: 1, BlockFor: 2, DataPresent: true},
	"readfailure":   &message.ReadFailure{ErrorMessage: "m", Received: 1, BlockFor: 2, NumFailures: 1, FailureReasons: reasons, DataPresent: true},
	"writefailure":  &message.WriteFailure{ErrorMessage: "m", Received: 1, BlockFor: 2, NumFailures: 1, FailureReasons: reasons, WriteType: primitive.WriteTypeSimple},
	"function":      &message.FunctionFailure{ErrorMessage: "m", Keyspace: "k", Function: "f", Arguments: []string{"a", "b"}},
	"exists":        &message.AlreadyExists{ErrorMessage: "m", Keyspace: "k", Table: "t"},
	"syntax":        &message.SyntaxError{ErrorMessage: "m"},
	"overloaded":    &message.Overloaded{ErrorMessage: "m"},
	"bootstrapping": &message.IsBootstrapping{ErrorMessage: "m"},
	"truncate":      &message.TruncateError{ErrorMessage: "m"},
	"unauthorized":  &message.Unauthorized{ErrorMessage: "m"},
	"invalid":       &message.Invalid{ErrorMessage: "m"},
	"config":        &message.ConfigError{ErrorMessage: "m"},
	"server":        &message.ServerError{ErrorMessage: "m"},
}

func testErrors(t *testing.T, s *server, session *vecql.Session) {
	get := func(name string) error { return session.Query(name).Exec(t.Context()) }
	require.NoError(t, get("CREATE TABLE ks.t (id uuid)"))
	var unavailable *cql.UnavailableError
	require.ErrorAs(t, get("unavailable"), &unavailable)
	require.Equal(t, cql.Quorum, unavailable.Consistency)
	require.Equal(t, []int{3, 1}, []int{unavailable.Required, unavailable.Alive})
	var writeTimeout *cql.WriteTimeoutError
	require.ErrorAs(t, get("writetimeout"), &writeTimeout)
	require.Equal(t, "CAS", writeTimeout.WriteType)
	if s.version == 5 {
		require.Equal(t, 7, writeTimeout.Contentions)
	}
	var readTimeout *cql.ReadTimeoutError
	require.ErrorAs(t, get("readtimeout"), &readTimeout)
	require.EqualValues(t, 1, readTimeout.DataPresent)
	var readFailure *cql.ReadFailureError
	require.ErrorAs(t, get("readfailure"), &readFailure)
	require.Equal(t, 1, readFailure.NumFailures)
	require.True(t, readFailure.DataPresent)
	var writeFailure *cql.WriteFailureError
	require.ErrorAs(t, get("writefailure"), &writeFailure)
	require.Equal(t, 1, writeFailure.NumFailures)
	require.Equal(t, "SIMPLE", writeFailure.WriteType)
	var function *cql.FunctionFailureError
	require.ErrorAs(t, get("function"), &function)
	require.Equal(t, []string{"a", "b"}, function.ArgTypes)
	var exists *cql.AlreadyExistsError
	require.ErrorAs(t, get("exists"), &exists)
	require.Equal(t, "t", exists.Table)
	for name, code := range map[string]cql.Code{
		"syntax": cql.CodeSyntax, "overloaded": cql.CodeOverloaded, "bootstrapping": cql.CodeBootstrapping,
		"truncate": cql.CodeTruncate, "unauthorized": cql.CodeUnauthorized, "invalid": cql.CodeInvalid,
		"config": cql.CodeConfig, "server": cql.CodeServer,
	} {
		require.ErrorIs(t, get(name), code)
	}
}
