// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Loads into cqltest, with failures, and wrong arguments.

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

// A target is a table in a cluster, and the arguments of a program that loads into it. A bucket is a row group.
type target struct {
	*cqltest.Cluster
	session *vecql.Session
	args    string
}

const insert = `INSERT INTO "shop"."items"`

func newTarget(t *testing.T, files ...string) *target {
	t.Helper()
	c := cqltest.New(t, cqltest.Config{})
	require.NoError(t, c.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id bigint PRIMARY KEY, embedding vector<float, 3>, name text, other int)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: c.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	progress := filepath.Join(t.TempDir(), "progress.json")
	return &target{c, session, fmt.Sprintf("-hosts %s -table shop.items -text name -bucket-bytes 1 -progress %s %s",
		strings.Join(c.Hosts(), ","), progress, strings.Join(files, " "))}
}

// load runs the program and returns what it prints.
func (tg *target) load(t *testing.T, code int) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	require.Equal(t, code, run(t.Context(), strings.Fields(tg.args), &out, &errs), errs.String())
	return out.String(), errs.String()
}

// requireAll fails unless the table has exactly the rows of the file.
func (tg *target) requireAll(t *testing.T) {
	t.Helper()
	type item struct {
		ID        int64
		Embedding []float32
		Name      *string
	}
	rows := map[int64]item{}
	for r, err := range vecql.Rows[item](t.Context(), tg.session.Query("SELECT id, embedding, name FROM shop.items")) {
		require.NoError(t, err)
		rows[r.ID] = r
	}
	require.Len(t, rows, testRows)
	for i := range testRows {
		want := item{ID: int64(i), Name: textOfRow(i)}
		if i%100 != 99 {
			want.Embedding = []float32{float32(i), .5, -1}
		}
		require.Equal(t, want, rows[int64(i)])
	}
}

func TestLoadAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.parquet")
	writeFile(t, file)
	tg := newTarget(t, file)
	out, _ := tg.load(t, 0)
	require.Contains(t, out, "bucket 10 of 10: 100 rows read\nwrote 1000 rows; 0 of 10 buckets were done before\n")
	tg.requireAll(t)
	out, _ = tg.load(t, 0)
	require.Contains(t, out, "wrote 0 rows; 10 of 10 buckets were done before\n")
}

// TestLoadResumes fails one row, and then resumes: every row is written once, and finished buckets are not read.
func TestLoadResumes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.parquet")
	writeFile(t, file)
	tg := newTarget(t, file)
	var mu sync.Mutex
	sent, fails := 0, true                                                    // rows of requests that do not fail
	for _, op := range []cqltest.Opcode{cqltest.OpExecute, cqltest.OpBatch} { // small rows are sent together
		tg.Inject(cqltest.Fault{
			Op: op, Statement: insert, Error: &cqltest.Error{Code: cqltest.CodeInvalid},
			Match: func(r cqltest.Request) bool {
				mu.Lock()
				defer mu.Unlock()
				rows := 0
				for _, v := range r.Values {
					if fails && v.Name == "id" && v.Text() == "555" {
						return true
					}
					if v.Name == "id" {
						rows++
					}
				}
				sent += rows
				return false
			},
		})
	}
	_, errs := tg.load(t, 1)
	require.Contains(t, errs, "row 555 of "+file)
	require.Equal(t, 1, strings.Count(errs, "\n"), "one line: %s", errs)
	mu.Lock()
	fails = false
	mu.Unlock()
	out, _ := tg.load(t, 0)
	require.Regexp(t, "; [4-9] of 10 buckets were done before", out)
	require.Equal(t, testRows, sent)
	tg.requireAll(t)
}

func TestNoID(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.parquet")
	writeFile(t, file, 123)
	_, errs := newTarget(t, file).load(t, 1)
	require.Contains(t, errs, "row 123 of "+file)
}

// TestOtherInput refuses the progress of another table, and of other files.
func TestOtherInput(t *testing.T) {
	dir := t.TempDir()
	file, second := filepath.Join(dir, "rows.parquet"), filepath.Join(dir, "more.parquet")
	writeFile(t, file)
	writeFile(t, second)
	tg := newTarget(t, file)
	tg.load(t, 0)
	args := tg.args
	for _, change := range [][2]string{{"shop.items", "shop.others"}, {file, second}, {file, file + " " + second}} {
		require.NoError(t, tg.Exec("CREATE TABLE IF NOT EXISTS shop.others (id bigint PRIMARY KEY, embedding vector<float, 3>, name text)"))
		require.NoError(t, tg.session.AwaitSchemaAgreement(t.Context()))
		tg.args = strings.Replace(args, change[0], change[1], 1)
		_, errs := tg.load(t, 1)
		require.Contains(t, errs, "belongs to another job")
	}
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
		{"-table t -progress " + progress + " -hosts 127.0.0.1:1 " + file, 1, "refused"},
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

// TestWrongTypes has columns that do not fit the table.
func TestWrongTypes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rows.parquet")
	writeFile(t, file)
	tg := newTarget(t, file)
	require.NoError(t, tg.Exec("CREATE TABLE shop.wrong (id bigint PRIMARY KEY, embedding vector<float, 3>, name int)"))
	tg.args = strings.Replace(tg.args, "shop.items", "shop.wrong", 1)
	_, errs := tg.load(t, 1)
	require.Contains(t, errs, "name")
	require.Contains(t, errs, "int")
}
