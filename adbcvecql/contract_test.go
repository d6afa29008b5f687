// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/adbcvecql"
	"github.com/vecql/vecql/cqltest"
)

// What ADBC requires of the objects of a driver: their states, options, memory and errors.

// TestStatementStates requires that a query and a target of ingest replace each other with what was prepared, and that
// nothing that is closed can be executed.
func TestStatementStates(t *testing.T) {
	_, conn := start(t, items)
	row := record(t, `[{"id": 1}]`, field("id", int32s))
	st := newStatement(t, conn, "SELECT id, name FROM items WHERE id = ?")
	require.NoError(t, st.Prepare(t.Context()))
	require.NoError(t, st.SetSqlQuery("INSERT INTO items (id) VALUES (?)"))
	_, err := st.GetParameterSchema()
	requireStatus(t, err, adbc.StatusInvalidState, "not prepared")
	require.NoError(t, st.Prepare(t.Context()))
	require.NoError(t, st.SetOption(adbc.OptionKeyIngestTargetTable, "items"))
	require.NoError(t, st.SetOption(adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeAppend))
	requireStatus(t, st.Prepare(t.Context()), adbc.StatusInvalidState, "no rows are bound")
	require.NoError(t, st.Bind(t.Context(), row))
	requireStatus(t, st.Prepare(t.Context()), adbc.StatusInvalidState, "needs no Prepare")
	n, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.NoError(t, st.SetSqlQuery("SELECT id FROM items"))
	target, err := st.(adbc.GetSetOptions).GetOption(adbc.OptionKeyIngestTargetTable)
	require.NoError(t, err)
	require.Empty(t, target)
	result, n, err := st.ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, -1, n)
	require.Equal(t, []string{`{"id":1}`}, rowsOf(t, result))

	closed, err := conn.NewStatement()
	require.NoError(t, err)
	require.NoError(t, closed.SetSqlQuery("SELECT id FROM items"))
	require.NoError(t, closed.Close())
	_, _, err = closed.ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "closed")
	_, err = closed.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "closed")
	requireStatus(t, closed.Close(), adbc.StatusInvalidState, "closed already")
}

// TestForeignPartition requires that the id of a partition of another driver is refused.
func TestForeignPartition(t *testing.T) {
	_, conn := start(t, items)
	for _, id := range []string{
		"", "{}", `{"keyspace": "shop", "statement": "TRUNCATE items"}`,
		`{"keyspace": "shop", "statement": "SELECT id FROM items", "scan": 7}`,
	} {
		_, err := conn.ReadPartition(t.Context(), []byte(id))
		requireStatus(t, err, adbc.StatusInvalidArgument, "not a partition")
	}
}

// TestParameterSchema requires a field for each value: a named marker has one, however often it occurs.
func TestParameterSchema(t *testing.T) {
	_, conn := start(t, `CREATE TABLE shop.pairs (a int, b int, c text, PRIMARY KEY (a, b));`)
	for text, want := range map[string]string{
		"SELECT c FROM pairs WHERE a = ? AND b > ? AND b < ?":                                "a int32, b int32, b int32",
		"SELECT c FROM pairs WHERE a = :x AND b > :x AND b < :y":                             "x int32, y int32",
		"UPDATE pairs SET c = :c WHERE a = :a AND b = :a IF c = :c":                          "c utf8, a int32",
		"SELECT c FROM pairs WHERE a = 1 AND b = 2":                                          "",
		"INSERT INTO pairs (a, b, c) VALUES (?, 7, '?') USING TTL ? AND TIMESTAMP ? /* ? */": "a int32, [ttl] int32, [timestamp] int64",
	} {
		st := newStatement(t, conn, text)
		require.NoError(t, st.Prepare(t.Context()), text)
		schema, err := st.GetParameterSchema()
		require.NoError(t, err)
		var got []string
		for _, f := range schema.Fields() {
			got = append(got, f.Name+" "+f.Type.String())
		}
		require.Equal(t, want, strings.Join(got, ", "), text)
	}
	_, err := newStatement(t, conn, "UPDATE pairs SET c = 'x' WHERE a = 1 AND b = 1 IF c = 'y'").(adbc.StatementExecuteSchema).
		ExecuteSchema(t.Context())
	requireStatus(t, err, adbc.StatusNotImplemented, "depend on its result")
}

// TestBoundValues binds values of each kind, NULL among them, and text in every layout for the types that are parsed
// from text.
func TestBoundValues(t *testing.T) {
	_, conn := start(t, `CREATE TABLE shop.bound (id int PRIMARY KEY, f decimal, r varint, h duration, l text, q uuid,
		i inet, c blob, n timestamp, e date, s vector<float, 2>, t list<text>);`)
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: texts}
	insert := "INSERT INTO bound (id, f, r, h, l, q, i) VALUES (?, ?, ?, ?, ?, ?, ?)"
	const values = `[
		{"0": 1, "1": "1.50", "2": "-123456789012345678901234567890", "3": "1mo2d3ns", "4": "x", "5": "00112233-4455-6677-8899-aabbccddeeff", "6": "10.0.0.1"},
		{"0": 2, "1": null, "2": null, "3": null, "4": null, "5": null, "6": null},
		{"0": 3, "1": "1.50", "2": "7", "3": "-5d", "4": "", "5": null, "6": "::1"}]`
	want := []string{
		`{"f":"1.50","h":"1mo2d3ns","i":"10.0.0.1","id":1,"l":"x","q":"00112233-4455-6677-8899-aabbccddeeff","r":"-123456789012345678901234567890"}`,
		`{"f":null,"h":null,"i":null,"id":2,"l":null,"q":null,"r":null}`,
		`{"f":"1.50","h":"-5d","i":"::1","id":3,"l":"","q":null,"r":"7"}`,
	}
	for _, text := range []arrow.DataType{texts, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, dictionary} {
		fields := []arrow.Field{field("0", int64s)}
		for i := 1; i <= 6; i++ {
			fields = append(fields, field(fmt.Sprint(i), text))
		}
		st := newStatement(t, conn, insert)
		require.NoError(t, st.Bind(t.Context(), record(t, values, fields...)))
		n, err := st.ExecuteUpdate(t.Context())
		require.NoError(t, err, "%v", text)
		require.EqualValues(t, 3, n)
		for i, row := range want {
			require.Equal(t, []string{row}, query(t, conn, fmt.Sprint("SELECT f, h, i, id, l, q, r FROM bound WHERE id = ", i+1),
				"vecql.uuid", "string", "vecql.duration", "string"), "%v", text)
		}
		require.Empty(t, query(t, conn, "TRUNCATE bound"))
	}
	for _, c := range []struct {
		column, value, message string
		typ                    arrow.DataType
		status                 adbc.Status
	}{
		{"f", `"1.5x"`, "is not a decimal", texts, adbc.StatusInvalidArgument},
		{"h", `"soon"`, "soon", texts, adbc.StatusInvalidArgument},
		{"s", `[1, 2, 3]`, "dimension", arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), adbc.StatusInvalidData},
		{"l", `1`, "l", int64s, adbc.StatusInvalidArgument},
	} {
		st := newStatement(t, conn, "INSERT INTO bound (id, "+c.column+") VALUES (?, ?)")
		require.NoError(t, st.Bind(t.Context(), record(t, `[{"0": 9, "1": `+c.value+`}]`, field("0", int32s), field("1", c.typ))))
		_, err := st.ExecuteUpdate(t.Context())
		requireStatus(t, err, c.status, c.message)
	}
	many := newStatement(t, conn, "INSERT INTO bound (id) VALUES (?)")
	require.NoError(t, many.Bind(t.Context(), record(t, `[{"0": 9, "1": 9}]`, field("0", int32s), field("1", int32s))))
	_, err := many.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidArgument, "1 parameters, the bound rows have 2 columns")
	require.Empty(t, query(t, conn, "SELECT id FROM bound"))
}

// TestBoundConditions requires a result for each row that is bound to a conditional statement.
func TestBoundConditions(t *testing.T) {
	_, conn := start(t, items)
	st := newStatement(t, conn, "INSERT INTO items (id) VALUES (?) IF NOT EXISTS")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"0": 1}, {"0": 2}]`, field("0", int32s))))
	reader, _, err := st.ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{`{"[applied]":true}`, `{"[applied]":true}`}, rowsOf(t, reader))
}

// TestWhereIsOneRequestPerPage requires that a SELECT with a WHERE clause is not read by token ranges.
func TestWhereIsOneRequestPerPage(t *testing.T) {
	cluster, conn := start(t, `CREATE TABLE shop.events (day int, at int, PRIMARY KEY (day, at));`)
	var rows []string
	for i := range 300 {
		rows = append(rows, fmt.Sprintf(`{"day": 1, "at": %d}`, i))
	}
	st := newStatement(t, conn, "INSERT INTO events (day, at) VALUES (?, ?)")
	require.NoError(t, st.Bind(t.Context(), record(t, "["+strings.Join(rows, ",")+"]", field("day", int32s), field("at", int32s))))
	_, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	ranges := cluster.Observe(cqltest.Fault{Statement: "token("})
	require.Len(t, query(t, conn, "SELECT at FROM events WHERE day = 1", "vecql.page_bytes", "500"), 300)
	require.Zero(t, ranges.Hits())
}

// shared is a stream of records that reuses its memory, as streams of C do.
type shared struct {
	array.RecordReader
	at, end int
	values  []byte // of one int64
}

func (s *shared) Retain()  {}
func (s *shared) Release() { s.at = -1 }
func (s *shared) Schema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "id", Type: int64s}}, nil)
}

func (s *shared) Next() bool {
	s.at++
	s.values[0] = byte(s.at)
	return s.at <= s.end
}
func (s *shared) Err() error { return nil }

func (s *shared) RecordBatch() arrow.RecordBatch {
	data := array.NewData(int64s, 1, []*memory.Buffer{nil, memory.NewBufferBytes(s.values)}, nil, 0, 0)
	return array.NewRecordBatch(s.Schema(), []arrow.Array{array.NewInt64Data(data)}, 1)
}

// TestStreamsReuseMemory requires that every row of a stream is written as it was when it was read, by ingest and by an
// execution, and that one execution ends the stream.
func TestStreamsReuseMemory(t *testing.T) {
	_, conn := start(t, "CREATE TABLE shop.numbers (id bigint PRIMARY KEY);")
	insert := newStatement(t, conn, "INSERT INTO numbers (id) VALUES (?)")
	ingest := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "numbers", adbc.OptionKeyIngestMode,
		adbc.OptionValueIngestModeAppend)
	for _, st := range []adbc.Statement{insert, ingest} {
		stream := &shared{end: 100, values: make([]byte, 8)}
		require.NoError(t, st.BindStream(t.Context(), stream))
		n, err := st.ExecuteUpdate(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 100, n)
		require.Equal(t, -1, stream.at, "it is released")
		require.Len(t, query(t, conn, "SELECT id FROM numbers"), 100)
		require.Empty(t, query(t, conn, "TRUNCATE numbers"))
	}
	_, err := ingest.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "no rows are bound")
	require.NoError(t, insert.SetSqlQuery("SELECT id FROM numbers WHERE id = ?"))
	_, _, err = insert.ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "not bound")
}

// TestBoundRecordsAreReleased requires that a statement holds a record until other rows are bound or it is closed.
func TestBoundRecordsAreReleased(t *testing.T) {
	_, conn := start(t, items)
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	newRecord := func() arrow.RecordBatch {
		b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{field("id", int32s)}, nil))
		defer b.Release()
		b.Field(0).(*array.Int32Builder).Append(7)
		return b.NewRecordBatch()
	}
	st, err := conn.NewStatement()
	require.NoError(t, err)
	require.NoError(t, st.SetSqlQuery("INSERT INTO items (id) VALUES (?)"))
	for range 3 {
		rec := newRecord()
		require.NoError(t, st.Bind(t.Context(), rec))
		rec.Release()
		n, err := st.ExecuteUpdate(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 1, n)
	}
	require.Positive(t, mem.CurrentAlloc(), "the record is bound")
	require.NoError(t, st.Close())
	mem.AssertSize(t, 0)
	require.Equal(t, []string{`{"id":7}`}, query(t, conn, "SELECT id FROM items"))
}

// TestNullsChangeTypes requires that NULL remains NULL in every type that an option chooses.
func TestNullsChangeTypes(t *testing.T) {
	_, conn := start(t, allTypes)
	rows := query(t, conn, "SELECT q, y, z, f, r, h FROM types WHERE id = 2", "vecql.uuid", "string",
		"vecql.decimal", "decimal256(76,3)", "vecql.varint", "decimal256", "vecql.duration", "string")
	require.Equal(t, []string{`{"f":null,"h":null,"q":null,"r":null,"y":null,"z":null}`}, rows)
	require.Empty(t, query(t, conn, "INSERT INTO types (id, f, r) VALUES (3, -7.25, -1)"))
	rows = query(t, conn, "SELECT f, r FROM types WHERE id = 3", "vecql.decimal", "decimal256(76,2)", "vecql.varint", "decimal256")
	require.Equal(t, []string{`{"f":"-7.25","r":"-1"}`}, rows)
}

// TestTargets requires the keyspace of the option of ingest and of GetTableSchema, and the number of a row
// that does not fit.
func TestTargets(t *testing.T) {
	_, conn := start(t, `CREATE KEYSPACE other WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE other.made (id int PRIMARY KEY, n int);`)
	st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "made", adbc.OptionKeyIngestMode,
		adbc.OptionValueIngestModeAppend, adbc.OptionValueIngestTargetDBSchema, "other")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"id": 1}]`, field("id", int64s))))
	_, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{`{"id":1,"n":null}`}, query(t, conn, "SELECT * FROM other.made"))
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"id": 2}, {"id": 4294967296}]`, field("id", int64s))))
	_, err = st.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidData, "row 1")

	other, empty, catalog := "other", "", "catalog"
	_, err = conn.GetTableSchema(t.Context(), nil, &empty, "made")
	requireStatus(t, err, adbc.StatusNotFound, "shop.made")
	schema, err := conn.GetTableSchema(t.Context(), &empty, &other, "made")
	require.NoError(t, err)
	require.Equal(t, 2, schema.NumFields())
	_, err = conn.GetTableSchema(t.Context(), &catalog, &other, "made")
	requireStatus(t, err, adbc.StatusNotFound, "no catalogs")
	reader, err := conn.(adbc.ConnectionGetStatistics).GetStatistics(t.Context(), &catalog, nil, nil, true)
	require.NoError(t, err)
	require.Empty(t, rowsOf(t, reader))
}

// TestOptionValues requires the bounds of options, that passwords are not returned, and that options that were set win
// over the URI.
func TestOptionValues(t *testing.T) {
	cluster, conn := start(t, items)
	st := newStatement(t, conn, "").(adbc.GetSetOptions)
	for _, c := range []struct {
		key, value string
		ok         bool
	}{
		{"vecql.decimal", "decimal256(76,76)", true},
		{"vecql.decimal", "decimal256(76,77)", false},
		{"vecql.decimal", "decimal256(76,-1)", false},
		{"vecql.workers", "-1", false},
		{"vecql.workers", "1", true},
		{"vecql.page_bytes", "1k", false},
		{adbc.OptionKeyIngestMode, "upsert", false},
		{adbc.OptionValueIngestTemporary, "true", false},
	} {
		if err := st.SetOption(c.key, c.value); c.ok {
			require.NoError(t, err, "%s", c.value)
		} else {
			requireStatus(t, err, adbc.StatusInvalidArgument, c.key)
		}
	}
	requireStatus(t, st.SetOptionDouble("vecql.workers", 1.5), adbc.StatusInvalidArgument, "1.5")
	requireStatus(t, st.SetOptionBytes("vecql.workers", nil), adbc.StatusNotImplemented, "")
	_, err := st.GetOptionInt("vecql.uuid")
	requireStatus(t, err, adbc.StatusNotFound, "not an integer")

	uri := uriOf(cluster) + "?page_bytes=77&workers=3"
	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{
		"uri": uri, "vecql.workers": "5", "username": "reader", "password": "secret",
	})
	require.NoError(t, err)
	options := db.(adbc.GetSetOptions)
	for key, want := range map[string]string{"vecql.page_bytes": "77", "vecql.workers": "5", "username": "reader"} {
		got, err := options.GetOption(key)
		require.NoError(t, err)
		require.Equal(t, want, got, key)
	}
	for _, key := range []string{"uri", "password", "nothing"} {
		_, err := options.GetOption(key)
		requireStatus(t, err, adbc.StatusNotFound, "no option")
	}
	require.NoError(t, db.Close())
}

// TestDatabaseLifetime requires that connections share a session, that Close ends it, and that a session logs to
// SetLogger's.
func TestDatabaseLifetime(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};`+items))
	var log output
	db, err := adbcvecql.NewDriver().NewDatabase(map[string]string{"uri": uriOf(cluster)})
	require.NoError(t, err)
	db.(adbc.DatabaseLogging).SetLogger(slog.New(slog.NewTextHandler(&log, nil)))
	var conns []adbc.Connection
	for range 5 {
		conn, err := db.Open(t.Context())
		require.NoError(t, err)
		conns = append(conns, conn)
	}
	require.Empty(t, query(t, conns[0], "SELECT * FROM items"))
	const sockets = 3 // the control connection, and two by default
	require.Eventually(t, func() bool { return len(cluster.Node(0).Conns()) >= sockets }, 10*time.Second, time.Millisecond)
	require.LessOrEqual(t, len(cluster.Node(0).Conns()), sockets)
	cluster.Node(0).CloseConns()
	require.Eventually(t, func() bool { return strings.Contains(log.String(), "control connection lost") }, 10*time.Second,
		time.Millisecond)
	for _, conn := range conns[1:] {
		require.NoError(t, conn.Close())
	}
	require.NoError(t, db.Close())
	requireStatus(t, db.Close(), adbc.StatusInvalidState, "closed already")
	st, err := conns[0].NewStatement()
	require.NoError(t, err)
	require.NoError(t, st.SetSqlQuery("SELECT * FROM items"))
	_, _, err = st.ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "closed")
	_, err = db.Open(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "the database is closed")
}

// TestContextEndsAPage requires that a context that ends before the first record is read ends the result, also if the
// server has answered.
func TestContextEndsAPage(t *testing.T) {
	_, conn := start(t, items)
	ingest(t, conn, 3)
	ctx, cancel := context.WithCancel(t.Context())
	reader, _, err := newStatement(t, conn, "SELECT id FROM items").ExecuteQuery(ctx)
	require.NoError(t, err)
	defer reader.Release()
	cancel()
	require.False(t, reader.Next())
	requireStatus(t, reader.Err(), adbc.StatusCancelled, "")
}
