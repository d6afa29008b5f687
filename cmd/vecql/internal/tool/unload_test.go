// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// manyRows returns a tester with n rows in shop.many: id and a text.
func manyRows(t *testing.T, n int) *tester {
	x := newTester(t, shop, "CREATE TABLE shop.many (id int PRIMARY KEY, name text)")
	var text strings.Builder
	text.WriteString("id,name\n")
	for id := range n {
		fmt.Fprintf(&text, "%d,name %d\n", id, id)
	}
	x.requireRun("load", "shop.many", file(t, "many.csv", text.String()))
	return x
}

// requireIDs requires that files have the rows 0 to n-1, each once.
func requireIDs(t *testing.T, path string, n int) {
	t.Helper()
	in, err := rowfile.Open(rowfile.Options{}, path)
	require.NoError(t, err)
	var ids []int32
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		some, err := column.Slice[int32](b.Column("id"))
		require.NoError(t, err)
		ids = append(ids, some...)
	}
	slices.Sort(ids)
	require.Len(t, ids, n)
	for i, id := range ids {
		require.EqualValues(t, i, id)
	}
}

// TestUnloadParts writes parts with at most so many rows, and nothing else.
func TestUnloadParts(t *testing.T) {
	x := manyRows(t, 1000)
	dir := filepath.Join(t.TempDir(), "out") + "/"
	require.Regexp(t, `^unloaded 1000 rows to .*, \d+ files\n$`, x.requireRun("unload", "shop.many", dir, "--part-rows", "100"))
	requireIDs(t, dir, 1000)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(entries), 10)
	for i, entry := range entries {
		require.Equal(t, fmt.Sprintf("part-%06d.parquet", i), entry.Name())
	}
	x.requireFailureContains("has parts of another unload; remove them, or continue it with --resume", "unload", "shop.many", dir)
	x.requireFailureContains("has parts and no unload to resume", "unload", "shop.many", dir, "--resume")
	require.NoError(t, x.Exec("TRUNCATE shop.many"))
	dir = filepath.Join(t.TempDir(), "empty") + "/"
	x.requireRun("unload", "shop.many", dir, "--format", "csv", "--file-compression", "gzip")
	requireContent(t, filepath.Join(dir, "part-000000.csv.gz"), 0, "id", "name")
}

func requireContent(t *testing.T, path string, rows int, columns ...string) {
	t.Helper()
	in, err := rowfile.Open(rowfile.Options{}, path)
	require.NoError(t, err)
	got := 0
	for b, err := range in.Batches(t.Context()) {
		require.NoError(t, err)
		got += b.Rows
		for i, name := range columns {
			require.Equal(t, name, b.Columns[i].Name)
		}
	}
	require.Equal(t, rows, got)
}

// TestUnloadResume fails and continues until all rows are in parts, each once.
func TestUnloadResume(t *testing.T) {
	x := manyRows(t, 1000)
	dir := filepath.Join(t.TempDir(), "out") + "/"
	args := []string{"unload", "shop.many", dir, "--part-rows", "50", "--page-bytes", "1000", "--workers", "3"}
	runs := 0
	for {
		failing := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token(", Skip: 10, Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
		code, _, stderr := x.run(args...)
		failing.Remove()
		if runs++; code == 0 {
			break
		}
		require.Contains(t, stderr, "; --resume continues the unload")
		require.FileExists(t, filepath.Join(dir, checkpointName))
		// what a killed process leaves
		require.NoError(t, os.WriteFile(filepath.Join(dir, "part-000999.parquet"), nil, 0o666))
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".part-000998.parquet.0.tmp"), nil, 0o666))
		if runs == 1 {
			args = append(args, "--resume")
		}
	}
	require.Greater(t, runs, 2)
	requireIDs(t, dir, 1000)
	require.NoFileExists(t, filepath.Join(dir, checkpointName))
}

// TestUnloadInterrupted ends an unload by its context: a folder can be continued, a file does not exist.
func TestUnloadInterrupted(t *testing.T) {
	x := manyRows(t, 300)
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, "out") + "/", filepath.Join(dir, "x.csv")} {
		ctx, cancel := context.WithCancel(t.Context())
		pages := x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "token(", Skip: 10, Match: func(cqltest.Request) bool { cancel(); return false }})
		x.ctx = ctx
		line := x.requireFailure(exitInterrupted, "unload", "shop.many", path, "--part-rows", "20")
		x.ctx = t.Context()
		pages.Remove()
		if strings.HasSuffix(path, "/") {
			require.Equal(t, "vecql unload: interrupted; --resume continues the unload", line)
			x.requireRun("unload", "shop.many", path, "--resume")
			requireIDs(t, path, 300)
			continue
		}
		require.Equal(t, "vecql unload: interrupted", line)
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Len(t, entries, 1)
	}
}

// TestUnloadCheckpoint stores no checkpoint before the scan has acknowledged all rows that are written: a resumed
// unload would have those rows twice.
func TestUnloadCheckpoint(t *testing.T) {
	b := column.NewBatch(column.Of("id", []int32{1, 2, 3}))
	u := &unload{path: t.TempDir(), schema: b.Schema(), partRows: 3, o: rowfile.WriterOptions{Format: rowfile.CSV}}
	acknowledged := int64(0)
	p := &partsOutput{u: u, checkpoint: func() tablescan.Checkpoint {
		acknowledged++
		return tablescan.Checkpoint{Rows: min(acknowledged-1, 3)}
	}}
	require.NoError(t, p.start())
	require.NoError(t, p.write(t.Context(), rowfile.Block{Batch: b}))
	u.written = 3
	require.NoError(t, p.write(t.Context(), rowfile.Block{Batch: b}))
	var c unloadCheckpoint
	require.NoError(t, json.Unmarshal(must1(os.ReadFile(filepath.Join(u.path, checkpointName))), &c))
	require.Equal(t, unloadCheckpoint{Parts: 1, Scan: tablescan.Checkpoint{Rows: 3}}, c)
	u.written = 6
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.save(ended), context.Canceled)
	require.NoError(t, p.Abort())
}

// TestUnloadStatement reads columns, filters, and statements that are not run by ranges.
func TestUnloadStatement(t *testing.T) {
	x := newTester(t, shop)
	unload := func(stmt string, more ...string) string {
		return x.requireRun(append([]string{"unload", "--statement", stmt, "-", "--format", "csv"}, more...)...)
	}
	require.Equal(t, "n,price\nchair,49.5\n", unload("SELECT name AS n, price FROM shop.items WHERE price > 1 ALLOW FILTERING"))
	require.Equal(t, "count\n2\n", unload("SELECT count(*) FROM shop.items"))
	require.Equal(t, "id;price\n1;49,5\n", unload("SELECT id, price FROM shop.items LIMIT 1", "--delimiter", ";", "--decimal-point", ","))
	times := x.requireRun("unload", "shop.items", "-", "--format", "csv", "--times")
	require.Contains(t, times, `id,name,price,tags,v,writetime(name),ttl(name),writetime(price),ttl(price),writetime(tags),ttl(tags),writetime(v),ttl(v)`)
	for args, want := range map[string]string{
		"":                          "a table or --statement is missing",
		"shop.items":                "want one file or folder",
		"shop.items -":              "standard output needs --format",
		"shop.items x.txt":          `the name "x.txt" does not show a format`,
		"shop.items x.csv --resume": "--resume is for a folder",
		"shop.items x.csv --file-compression lzo": `--file-compression: unknown compression "lzo"`,
		"shop.items no/x.csv":                     "no such file or directory",
		"shop.nothing x.csv":                      "vecql unload: ",
		"shop.items /dev/full --format csv":       "write /dev/full: no space left on device",
		"shop.items x.csv --workers 0":            "a number is too small",
		"--statement DELETE x.csv":                "--statement is not a SELECT",
	} {
		x.requireFailureContains(want, append([]string{"unload"}, strings.Fields(args)...)...)
	}
	x.requireFailureContains("--statement has 0 statements, want one", "unload", "--statement", "/* SELECT */", "x.csv")
	x.requireFailureContains("bind markers", "unload", "--statement", "SELECT * FROM shop.items WHERE id = ?", "x.csv")
	require.NoFileExists(t, "x.csv")
}

// TestUnloadNamesEmptyCells unloads numbers of 0 bytes, which no file has: they are NULL, and the tool says how many.
func TestUnloadNamesEmptyCells(t *testing.T) {
	dir := t.TempDir()
	x := newTester(t, shop, "CREATE TABLE shop.empties (id int PRIMARY KEY, a int, l list<frozen<tuple<int>>>)",
		"INSERT INTO shop.empties (id, a, l) VALUES (1, blobasint(0x), [(2)])", "INSERT INTO shop.empties (id) VALUES (2)")
	code, stdout, stderr := x.run("unload", "shop.empties", filepath.Join(dir, "empties.csv"), "--summary", "json")
	require.Zero(t, code)
	require.Contains(t, stderr, "warning: 1 cell of 0 bytes written as NULL")
	require.Contains(t, stdout, `"empty_cells":1`)
	_, stdout, stderr = x.run("unload", "shop.items", filepath.Join(dir, "items.csv"), "--summary", "json")
	require.NotContains(t, stdout+stderr, "empty")
}

// TestUnloadClosedPipe writes to a pipe that nothing reads.
func TestUnloadClosedPipe(t *testing.T) {
	x := manyRows(t, 100)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	var errOut strings.Builder
	e := newEnv(strings.NewReader(""), w, &errOut)
	e.getenv = func(name string) string { return x.env[name] }
	require.Equal(t, exitPipe, run(t.Context(), e, []string{"unload", "shop.many", "-", "--format", "csv"}))
	require.Empty(t, errOut.String())
	require.ErrorIs(t, must0(w.Write([]byte("x"))), syscall.EPIPE)
}

func must0(_ int, err error) error { return err }
