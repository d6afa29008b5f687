// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-adbc/go/adbc"
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

const items = `CREATE TABLE shop.items (id int PRIMARY KEY, name text, price decimal, embedding vector<float, 2>);`

// ingest writes n rows of items.
func ingest(t *testing.T, conn adbc.Connection, n int) {
	t.Helper()
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"id": %d, "name": "item %d", "embedding": [%d, 0.5]}`, i, i, i))
	}
	st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "items",
		adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeAppend)
	require.NoError(t, st.Bind(t.Context(), record(t, "["+strings.Join(rows, ",")+"]", field("id", arrow.PrimitiveTypes.Int64),
		field("name", arrow.BinaryTypes.String), field("embedding", arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32)))))
	written, err := st.ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, n, written)
}

// expected returns the rows of ingest as query returns them, ordered as text.
func expected(n int) (rows []string) {
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"embedding":[%d,0.5],"id":%d,"name":"item %d"}`, i, i, i))
	}
	slices.Sort(rows)
	return rows
}

// A table of several pages is read by token ranges, one of one page by one request, one with LIMIT page by page.
func TestSelectReadsEveryRowOnce(t *testing.T) {
	cluster, conn := start(t, items)
	ingest(t, conn, 500)
	ranges := cluster.Observe(cqltest.Fault{Op: cqltest.OpExecute, Match: func(r cqltest.Request) bool {
		return strings.Contains(r.Statement, "token(")
	}})
	for _, c := range []struct {
		query   string
		options []string
		scan    bool
	}{
		{"SELECT id, name, embedding FROM items", []string{"vecql.page_bytes", "4000"}, true},
		{"SELECT id, name, embedding FROM items", []string{"vecql.page_bytes", "4000", "vecql.workers", "1"}, false},
		{"SELECT id, name, embedding FROM items", nil, false},
		{"SELECT id, name, embedding FROM items LIMIT 1000", []string{"vecql.page_bytes", "4000"}, false},
	} {
		before := ranges.Hits()
		rows := query(t, conn, c.query, c.options...)
		slices.Sort(rows)
		require.Equal(t, expected(500), rows, c.query)
		require.Equal(t, c.scan, ranges.Hits() > before, "%s %v", c.query, c.options)
	}
}

// All partitions together have every row once, also when another connection without the keyspace reads them.
func TestPartitionsHaveEveryRowOnce(t *testing.T) {
	cluster, conn := start(t, items)
	ingest(t, conn, 300)
	st := newStatement(t, conn, "SELECT id, name, embedding FROM items", "vecql.partitions", "7")
	schema, parts, n, err := st.ExecutePartitions(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 7, parts.NumPartitions)
	require.EqualValues(t, -1, n)
	other := open(t, strings.TrimSuffix(uriOf(cluster), "/shop"), nil)
	var rows []string
	for _, id := range parts.PartitionIDs {
		reader, err := other.ReadPartition(t.Context(), id)
		require.NoError(t, err)
		require.True(t, schema.Equal(reader.Schema()))
		rows = append(rows, rowsOf(t, reader)...)
	}
	slices.Sort(rows)
	require.Equal(t, expected(300), rows)

	limited := newStatement(t, conn, "SELECT id, name, embedding FROM items LIMIT 5")
	_, parts, _, err = limited.ExecutePartitions(t.Context())
	require.NoError(t, err)
	require.Len(t, parts.PartitionIDs, 1)
	reader, err := other.ReadPartition(t.Context(), parts.PartitionIDs[0])
	require.NoError(t, err)
	require.Len(t, rowsOf(t, reader), 5)

	_, _, _, err = newStatement(t, conn, "SELECT id FROM items WHERE id = ?").ExecutePartitions(t.Context())
	requireStatus(t, err, adbc.StatusNotImplemented, "parameters")
	_, err = conn.ReadPartition(t.Context(), []byte(`{"statement": "TRUNCATE items"}`))
	requireStatus(t, err, adbc.StatusInvalidArgument, "not a partition")
}

// Markers take their values by position, named ones by name; text becomes decimal; two markers of one column differ.
func TestParameters(t *testing.T) {
	_, conn := start(t, items+`CREATE TABLE shop.events (day int, at int, what text, PRIMARY KEY (day, at));`)
	insert := newStatement(t, conn, "INSERT INTO items (id, name, price) VALUES (?, ?, ?)")
	require.NoError(t, insert.Prepare(t.Context()))
	schema, err := insert.GetParameterSchema()
	require.NoError(t, err)
	require.Equal(t, "id name price", schema.Field(0).Name+" "+schema.Field(1).Name+" "+schema.Field(2).Name)
	columns := []arrow.Field{
		field("0", arrow.PrimitiveTypes.Int64), field("1", arrow.BinaryTypes.String), field("2", arrow.BinaryTypes.String),
	}
	require.NoError(t, insert.Bind(t.Context(), record(t, `[{"0": 1, "1": "it's ?", "2": "1.50"}, {"0": 2}]`, columns...)))
	for range 2 { // a record stays bound
		n, err := insert.ExecuteUpdate(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, 2, n)
	}
	require.Equal(t, []string{`{"id":1,"name":"it's ?","price":"1.50"}`},
		query(t, conn, "SELECT id, name, price FROM items WHERE id = 1"))

	named := newStatement(t, conn, "INSERT INTO events (day, at, what) VALUES (:day, :at, :what)")
	reader, err := array.NewRecordReader(arrow.NewSchema([]arrow.Field{
		field("what", arrow.BinaryTypes.String), field("at", arrow.PrimitiveTypes.Int32), field("day", arrow.PrimitiveTypes.Int32),
	}, nil), []arrow.RecordBatch{record(t, `[{"what": "a", "at": 1, "day": 7}, {"what": "b", "at": 2, "day": 7},
		{"what": "c", "at": 3, "day": 7}]`, field("what", arrow.BinaryTypes.String), field("at", arrow.PrimitiveTypes.Int32),
		field("day", arrow.PrimitiveTypes.Int32))})
	require.NoError(t, err)
	require.NoError(t, named.BindStream(t.Context(), reader))
	_, n, err := named.ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, n)

	between := newStatement(t, conn, "SELECT what FROM events WHERE day = ? AND at > ? AND at <= ? /* ? */")
	require.NoError(t, between.Bind(t.Context(), record(t, `[{"0": 7, "1": 1, "2": 3}, {"0": 7, "1": 0, "2": 1}]`,
		field("0", arrow.PrimitiveTypes.Int64), field("1", arrow.PrimitiveTypes.Int64), field("2", arrow.PrimitiveTypes.Int64))))
	result, _, err := between.ExecuteQuery(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{`{"what":"b"}`, `{"what":"c"}`, `{"what":"a"}`}, rowsOf(t, result))

	_, _, err = newStatement(t, conn, "SELECT what FROM events WHERE day = ?").ExecuteQuery(t.Context())
	requireStatus(t, err, adbc.StatusInvalidState, "not bound")
	require.NoError(t, between.Bind(t.Context(), record(t, `[{"0": 7}]`, field("0", arrow.PrimitiveTypes.Int64))))
	result, _, err = between.ExecuteQuery(t.Context())
	require.NoError(t, err)
	defer result.Release()
	require.False(t, result.Next())
	requireStatus(t, result.Err(), adbc.StatusInvalidArgument, "3 parameters, the bound rows have 1 columns")
	tooBig := newStatement(t, conn, "INSERT INTO events (day, at) VALUES (?, ?)")
	require.NoError(t, tooBig.Bind(t.Context(), record(t, `[{"0": 1, "1": 4294967296}]`,
		field("0", arrow.PrimitiveTypes.Int64), field("1", arrow.PrimitiveTypes.Int64))))
	_, err = tooBig.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidData, "out of range")
}

// A conditional statement has the columns that the server returns, and DDL none.
func TestOtherStatements(t *testing.T) {
	_, conn := start(t, items)
	insert := "INSERT INTO items (id, name) VALUES (1, 'a') IF NOT EXISTS"
	require.Equal(t, []string{`{"[applied]":true}`}, query(t, conn, insert))
	require.Equal(t, []string{`{"[applied]":false,"embedding":null,"id":1,"name":"a","price":null}`}, query(t, conn, insert))
	require.Empty(t, query(t, conn, "CREATE TABLE more (id int PRIMARY KEY)"))
	n, err := newStatement(t, conn, "DELETE FROM items WHERE id = 1").ExecuteUpdate(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, -1, n)
	require.Empty(t, query(t, conn, "SELECT * FROM items"))
	schema, err := newStatement(t, conn, "SELECT id, embedding FROM items").(adbc.StatementExecuteSchema).
		ExecuteSchema(t.Context())
	require.NoError(t, err)
	require.Equal(t, "int32 fixed_size_list<element: float32>[2]",
		schema.Field(0).Type.String()+" "+schema.Field(1).Type.String())
}

func TestIngestModes(t *testing.T) {
	_, conn := start(t, "")
	run := func(mode, rows string) (int64, error) {
		st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "made", adbc.OptionKeyIngestMode, mode,
			"vecql.ingest.primary_key", "id")
		require.NoError(t, st.Bind(t.Context(), record(t, rows, field("id", arrow.PrimitiveTypes.Int64))))
		return st.ExecuteUpdate(t.Context())
	}
	_, err := run(adbc.OptionValueIngestModeAppend, `[{"id": 1}]`)
	requireStatus(t, err, adbc.StatusNotFound, "made")
	for _, c := range []struct {
		mode, rows string
		want       int
	}{
		{adbc.OptionValueIngestModeCreate, `[{"id": 1}, {"id": 2}]`, 2},
		{adbc.OptionValueIngestModeAppend, `[{"id": 2}, {"id": 3}]`, 3},
		{adbc.OptionValueIngestModeCreateAppend, `[{"id": 4}]`, 4},
		{adbc.OptionValueIngestModeReplace, `[{"id": 5}]`, 1},
	} {
		_, err := run(c.mode, c.rows)
		require.NoError(t, err, c.mode)
		require.Len(t, query(t, conn, "SELECT * FROM made"), c.want, c.mode)
	}
	_, err = run(adbc.OptionValueIngestModeCreate, `[{"id": 1}]`)
	requireStatus(t, err, adbc.StatusAlreadyExists, "made")
	_, err = run(adbc.OptionValueIngestModeAppend, `[{"id": null}]`)
	requireStatus(t, err, adbc.StatusIntegrity, "id")
	st := newStatement(t, conn, "", adbc.OptionKeyIngestTargetTable, "other")
	require.NoError(t, st.Bind(t.Context(), record(t, `[{"x": 1}]`, field("x", arrow.PrimitiveTypes.Int64))))
	_, err = st.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidArgument, "primary key")
	require.NoError(t, st.SetOption(adbc.OptionKeyIngestTargetTable, "made"))
	require.NoError(t, st.SetOption(adbc.OptionKeyIngestMode, adbc.OptionValueIngestModeAppend))
	_, err = st.ExecuteUpdate(t.Context())
	requireStatus(t, err, adbc.StatusInvalidArgument, `no column "x"`)
}

// onThread calls f on a thread that is locked to its goroutine, as callbacks of C are, and that no other call has.
func onThread(f func()) {
	var thread sync.WaitGroup
	thread.Go(func() {
		runtime.LockOSThread() // the goroutine ends with its thread
		f()
	})
	thread.Wait()
}

// A program may execute a statement on one thread, and read and release its result on others.
func TestResultsMoveBetweenThreads(t *testing.T) {
	_, conn := start(t, items)
	ingest(t, conn, 300)
	for _, text := range []string{
		"SELECT id FROM items", "SELECT id FROM items LIMIT 200", "INSERT INTO items (id) VALUES (1) IF NOT EXISTS",
	} {
		st := newStatement(t, conn, text, "vecql.page_bytes", "1000")
		var reader array.RecordReader
		var err error
		onThread(func() { reader, _, err = st.ExecuteQuery(t.Context()) })
		require.NoError(t, err)
		for range 3 {
			onThread(func() { reader.Next() })
			require.NoError(t, reader.Err())
		}
		onThread(reader.Release)
	}
}

// The context of ExecuteQuery also ends the reading of the result.
func TestContextEndsAResult(t *testing.T) {
	cluster, conn := start(t, items)
	ingest(t, conn, 100)
	for _, workers := range []string{"1", "4"} {
		ctx, cancel := context.WithCancel(t.Context())
		reader, _, err := newStatement(t, conn, "SELECT * FROM items", "vecql.page_bytes", "1000", "vecql.workers", workers).
			ExecuteQuery(ctx)
		require.NoError(t, err)
		require.True(t, reader.Next())
		cancel()
		for reader.Next() {
		}
		requireStatus(t, reader.Err(), adbc.StatusCancelled, "")
		reader.Release()
	}
	held := cluster.Inject(cqltest.Fault{Statement: "SELECT * FROM items", Drop: true})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_ = held.Wait(t.Context(), 1)
		cancel()
	}()
	_, _, err := newStatement(t, conn, "SELECT * FROM items").ExecuteQuery(ctx)
	requireStatus(t, err, adbc.StatusCancelled, "")
}
