// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan"
)

// Tests of the pipeline and the progress file without a server: rows are written to a map.

const (
	testRows     = 1000
	testRowGroup = 100
	testDim      = 3
)

// writeFile writes rows 0 to testRows-1: an id, NULL in some rows; a vector that begins with the id; a text, sometimes
// NULL and sometimes empty.
func writeFile(t *testing.T, path string, withoutID ...int) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "embedding", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range testRows {
		if slices.Contains(withoutID, i) {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.Int64Builder).Append(int64(i))
		}
		list := b.Field(1).(*array.ListBuilder)
		if i%100 == 99 {
			list.AppendNull()
		} else {
			list.Append(true)
			list.ValueBuilder().(*array.Float32Builder).AppendValues([]float32{float32(i), .5, -1}, nil)
		}
		if text := textOfRow(i); text == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append(*text)
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(schema, []arrow.RecordBatch{rec})
	defer table.Release()
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, pqarrow.WriteTable(table, f, testRowGroup, parquet.NewWriterProperties(), pqarrow.DefaultWriterProps()))
}

func textOfRow(i int) *string {
	text := fmt.Sprint("name ", i%20)
	switch i % 10 {
	case 3:
		return nil
	case 4:
		text = ""
	}
	return &text
}

// A table stands in for the table on the server.
type table struct {
	sync.Mutex
	rows    map[int64]string
	writes  map[int64]int
	failAt  int64 // the id of a row that cannot be written, -1 for none
	running atomic.Int64
	most    atomic.Int64 // number of concurrent inserts
}

func newTable() *table { return &table{rows: map[int64]string{}, writes: map[int64]int{}, failAt: -1} }

func (tb *table) insert(ctx context.Context, values []any) error {
	for n, most := tb.running.Add(1), tb.most.Load(); n > most && !tb.most.CompareAndSwap(most, n); most = tb.most.Load() {
	}
	defer tb.running.Add(-1)
	time.Sleep(10 * time.Microsecond)
	tb.Lock()
	defer tb.Unlock()
	id := values[0].(int64)
	if id == tb.failAt {
		return errors.New("no such luck")
	}
	tb.writes[id]++
	tb.rows[id] = describe(values[1:])
	return ctx.Err()
}

func describe(values []any) string {
	if b, ok := values[1].([]byte); ok {
		return fmt.Sprintf("%v %q", values[0], b)
	}
	return fmt.Sprintf("%v %v", values[0], values[1])
}

// newLoader opens the file and the progress, as job.run does. A bucket is a row group.
func newLoader(t *testing.T, tb *table, file, path string) *loader {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), file)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, ds.Close()) })
	j := &job{table: "t", id: "id", vector: "embedding", texts: []string{"name"}}
	scan, err := ds.Scan(parquetscan.Options{Columns: j.columns(), BatchRows: 30})
	require.NoError(t, err)
	readers, err := j.readers(scan.Schema())
	require.NoError(t, err)
	p, err := openProgress(t.Context(), path, j.statement(), ds, scan, 1)
	require.NoError(t, err)
	return &loader{scan: scan, readers: readers, progress: p, inFlight: 8, insert: tb.insert, out: io.Discard}
}

// requireAll fails unless the table has exactly the rows of the file.
func requireAll(t *testing.T, tb *table) {
	t.Helper()
	require.Len(t, tb.rows, testRows)
	for i := range testRows {
		values := []any{nil, nil}
		if i%100 != 99 {
			values[0] = []float32{float32(i), .5, -1}
		}
		if text := textOfRow(i); text != nil {
			values[1] = []byte(*text)
		}
		require.Equal(t, describe(values), tb.rows[int64(i)], "row %d", i)
	}
}

func TestLoadAll(t *testing.T) {
	file, path := filepath.Join(t.TempDir(), "rows.parquet"), filepath.Join(t.TempDir(), "progress.json")
	writeFile(t, file)
	tb := newTable()
	l := newLoader(t, tb, file, path)
	require.Len(t, l.progress.Buckets, testRows/testRowGroup)
	rows, err := l.run(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, testRows, rows)
	requireAll(t, tb)
	require.LessOrEqual(t, tb.most.Load(), int64(8))
	require.Greater(t, tb.most.Load(), int64(1))

	l = newLoader(t, tb, file, path)
	require.Len(t, l.progress.Done, testRows/testRowGroup)
	rows, err = l.run(t.Context())
	require.NoError(t, err)
	require.Zero(t, rows)
}

// TestLoadResumes fails one row, and then resumes.
func TestLoadResumes(t *testing.T) {
	file, path := filepath.Join(t.TempDir(), "rows.parquet"), filepath.Join(t.TempDir(), "progress.json")
	writeFile(t, file)
	tb := newTable()
	tb.failAt = 555
	l := newLoader(t, tb, file, path)
	_, err := l.run(t.Context())
	require.ErrorContains(t, err, "no such luck")
	require.ErrorContains(t, err, "row group 5, row 555 of all files")
	require.NotContains(t, l.progress.Done, 5)
	require.NotEmpty(t, l.progress.Done)

	after := newTable()
	l = newLoader(t, after, file, path)
	done := map[int]bool{}
	for _, n := range l.progress.Done {
		done[n] = true
		for i := range testRowGroup { // rows of buckets that are marked done are written
			require.Contains(t, tb.rows, int64(n*testRowGroup+i))
		}
	}
	rows, err := l.run(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, testRows-len(done)*testRowGroup, rows)
	for i := range testRows { // all other rows are written once
		want := 1
		if done[i/testRowGroup] {
			want = 0
		}
		require.Equal(t, want, after.writes[int64(i)], "row %d", i)
	}
	for id, row := range after.rows {
		tb.rows[id] = row
	}
	requireAll(t, tb)
}

// TestLoadInterrupted cancels the context during the load.
func TestLoadInterrupted(t *testing.T) {
	file, path := filepath.Join(t.TempDir(), "rows.parquet"), filepath.Join(t.TempDir(), "progress.json")
	writeFile(t, file)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tb := newTable()
	l := newLoader(t, tb, file, path)
	l.insert = func(ctx context.Context, values []any) error {
		if values[0].(int64) == 432 {
			cancel()
		}
		return tb.insert(ctx, values)
	}
	_, err := l.run(ctx)
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, l.progress.Done, 4)
	_, err = newLoader(t, tb, file, path).run(t.Context())
	require.NoError(t, err)
	requireAll(t, tb)
}

func TestNoID(t *testing.T) {
	file, path := filepath.Join(t.TempDir(), "rows.parquet"), filepath.Join(t.TempDir(), "progress.json")
	writeFile(t, file, 123)
	l := newLoader(t, newTable(), file, path)
	_, err := l.run(t.Context())
	require.ErrorContains(t, err, "row group 1, row 123 of all files: the id is NULL")
	require.NotContains(t, l.progress.Done, 1)
}

func TestProgressFile(t *testing.T) {
	dir := t.TempDir()
	file, path := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "progress.json")
	writeFile(t, file)
	l := newLoader(t, newTable(), file, path)
	_, err := l.progress.markDone(3)
	require.NoError(t, err)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	good := string(text)
	open := func(statement string, files ...string) error {
		ds, err := parquetscan.Open(t.Context(), files...)
		require.NoError(t, err)
		defer ds.Close()
		scan, err := ds.Scan(parquetscan.Options{})
		require.NoError(t, err)
		_, err = openProgress(t.Context(), path, statement, ds, scan, 1)
		return err
	}
	statement := l.progress.Statement
	require.NoError(t, open(statement, file))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 2, "no temporary file is left")

	require.ErrorContains(t, open("INSERT INTO other", file), "it belongs to another job")
	second := filepath.Join(dir, "more.parquet")
	writeFile(t, second)
	require.ErrorContains(t, open(statement, file, second), "its buckets have 1000 rows, the files 2000")
	require.ErrorContains(t, open(statement, second), "rows.parquet is not open")

	for _, m := range []struct{ from, to, want string }{
		{"}\n", "", "unexpected end"},
		{`"done":[3]`, `"done":[3,3]`, "invalid number 3 of a done bucket"},
		{`"done":[3]`, `"done":[10]`, "invalid number 10 of a done bucket"},
		{`"done":[3]`, `"done":[-1]`, "invalid number -1 of a done bucket"},
		{`"number":4`, `"number":5`, "bucket 4 has number 5"},
		{`"buckets"`, `"x"`, "invalid number 3 of a done bucket"},
		{good[strings.Index(good, `"buckets"`):], `"done":[]}`, "its buckets have 0 rows"},
		{`"end":3`, `"end":300`, "row groups 2 to 300, the file has 10"},
	} {
		bad := strings.Replace(good, m.from, m.to, 1)
		require.NotEqual(t, good, bad, m.from)
		require.NoError(t, os.WriteFile(path, []byte(bad), 0o600))
		require.ErrorContains(t, open(statement, file), m.want)
	}
	require.NoError(t, os.WriteFile(path, []byte(good), 0o600))
	require.NoError(t, open(statement, file))
	require.NoError(t, os.Chtimes(file, time.Time{}, time.Now().Add(time.Hour)))
	require.ErrorIs(t, open(statement, file), parquetscan.ErrChanged)
}

func TestRun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "rows.parquet")
	writeFile(t, file)
	progress := filepath.Join(dir, "progress.json")
	for _, m := range []struct {
		args string
		code int
		want string // part of the only line on stderr, or of stdout when the code is 0
	}{
		{"-help", 0, "-progress"},
		{"-progress p " + file, 2, "-table is required"},
		{"-table t " + file, 2, "-progress is required"},
		{"-table t -progress p", 2, "no files"},
		{"-table t -progress p -in-flight 0 " + file, 2, "-in-flight"},
		{"-table t -progress p -colour " + file, 2, "not defined: -colour"},
		{"-table t -progress p no-such-file.parquet", 1, "no-such-file.parquet"},
		{"-table t -progress p -vector vector " + file, 1, "no such column"},
		{"-table t -progress p -vector name " + file, 1, "column name is string, not lists of numbers or UUIDs"},
		{"-table t -progress p -id embedding " + file, 1, "column embedding is vector<float32, 0>, not an id"},
		{"-table t -progress p -text id " + file, 1, "column id is int64, not a text"},
		{"-table t -progress " + progress + " -hosts 127.0.0.1:1 " + file, 1, "refused"},
		{"-table u -progress " + progress + " -hosts 127.0.0.1:1 " + file, 1, "belongs to another job"},
	} {
		t.Run(m.want, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, m.code, run(t.Context(), strings.Fields(m.args), &stdout, &stderr), stderr.String())
			if m.code == 0 {
				require.Contains(t, stdout.String(), m.want)
				require.Empty(t, stderr.String())
				return
			}
			require.Contains(t, stderr.String(), m.want)
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", stderr.String())
		})
	}
	require.NoFileExists(t, "p", "no progress file is written before all arguments are checked")
}

func TestStatement(t *testing.T) {
	j := &job{table: "shop.items", id: "id", vector: `a "vector"`, texts: []string{"Name", "kind"}}
	require.Equal(t, `INSERT INTO shop.items ("id", "a ""vector""", "Name", "kind") VALUES (?, ?, ?, ?)`, j.statement())
}
