// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
)

const items = "SELECT id, name, price, tags, v FROM shop.items"

func TestQueryOutput(t *testing.T) {
	x := newTester(t, shop)
	for format, want := range map[string]string{
		"table": "" +
			"id  name   price  tags         v\n" +
			"--  -----  -----  -----------  ------------\n" +
			" 1  chair   49.5  [new, wood]  [0.5, 1, -2]\n" +
			" 2  table   NULL  NULL         NULL\n" +
			"2 rows\n",
		"csv": "id,name,price,tags,v\n" +
			"1,chair,49.5,\"[\"\"new\"\",\"\"wood\"\"]\",\"[0.5,1,-2]\"\n" +
			"2,table,,,\n",
		"json": `{"id":1,"name":"chair","price":49.5,"tags":["new","wood"],"v":[0.5,1,-2]}` + "\n" +
			`{"id":2,"name":"table","price":null,"tags":null,"v":null}` + "\n",
	} {
		require.Equal(t, want, x.requireRun("query", "--output", format, items))
		require.Equal(t, want, x.requireRun("query", "--output", format, "--page-size", "1", items), "pages")
	}
	for _, format := range []string{"parquet", "arrow"} {
		file := filepath.Join(t.TempDir(), "items."+format)
		require.NoError(t, os.WriteFile(file, []byte(x.requireRun("query", "--output", format, items)), 0o600))
		in, err := rowfile.Open(rowfile.Options{}, file)
		require.NoError(t, err)
		rows := 0
		for b, err := range in.Batches(t.Context()) {
			require.NoError(t, err)
			ids, err := column.Slice[int32](b.Column("id"))
			require.NoError(t, err)
			require.Equal(t, []int32{1, 2}, ids)
			rows += b.Rows
		}
		require.Equal(t, 2, rows)
		x.out = 80
		require.Contains(t, x.requireFailure(exitUsage, "query", "--output", format, items), "does not go to a terminal")
		x.out = 0
		require.Empty(t, x.requireRun("query", "--output", format, "DELETE FROM shop.items WHERE id = 3"), "no result")
	}
	x.out = 50
	require.Equal(t, ""+
		"id  name   price  tags         v\n"+
		"--  -----  -----  -----------  ------------\n"+
		" 1  chair   49.5  [new, wood]  [0.5, 1, -2]\n"+
		"1 row\n", x.requireRun("query", items+" WHERE id = 1"))
	require.Equal(t, "id\n--\n0 rows\n", x.requireRun("query", "SELECT id FROM shop.items WHERE id = 9"))
	require.Contains(t, x.requireFailure(exitUsage, "query", "-o", "xml", items), `--output is "xml"`)
}

// TestQueryScripts executes statements from arguments, files and standard input.
func TestQueryScripts(t *testing.T) {
	x := newTester(t, shop)
	file := filepath.Join(t.TempDir(), "a.cql")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write(`-- more
		USE shop;
		INSERT INTO items (id, name) VALUES (3, 'a;b');
		BEGIN BATCH INSERT INTO items (id) VALUES (4); INSERT INTO items (id) VALUES (5); APPLY BATCH;
		SELECT name FROM items WHERE id = 3`)
	require.Equal(t, "name\n----\na;b\n1 row\n", x.requireRun("query", "-f", file))
	x.in = "SELECT id FROM shop.items WHERE id = 4; SELECT id FROM shop.items WHERE id = 5;"
	want := "id\n--\n 4\n1 row\nid\n--\n 5\n1 row\n"
	require.Equal(t, want, x.requireRun("query"))
	require.Equal(t, want, x.requireRun("query", "--file", "-"))
	require.Equal(t, want, x.requireRun("query", "SELECT id FROM shop.items WHERE id = 4", "SELECT id FROM shop.items WHERE id = 5"))
	require.Equal(t, "id\n--\n 4\n1 row\n"+want, x.requireRun("query", "-e", "USE shop", "--execute", "SELECT id FROM items WHERE id = 4", "-f", "-"))
	x.in = ""
	require.Empty(t, x.requireRun("query"))

	write("USE shop; SELECT name FROM none; USE shop")
	require.Equal(t, "vecql query: "+file+":1: invalid request: table none does not exist", x.requireFailure(1, "query", "-f", file))
	require.Equal(t, "vecql query: open none.cql: no such file or directory", x.requireFailure(1, "query", "-f", "none.cql"))
	require.Equal(t, `vecql query: syntax error: line 1:0 no viable alternative at input 'SELEC' ([SELEC]...); did you mean SELECT?`, x.requireFailure(1, "query", "SELEC 1"))
	require.Contains(t, x.requireFailure(1, "query", "SELECT id FROM shop.items WHERE id = ?"), "values do not match the bind markers")
	require.Contains(t, x.requireFailure(1, "query", "USE none"), "the keyspace none does not exist; DESCRIBE KEYSPACES lists the keyspaces")
	x.env["VECQL_CONSISTENCY"] = "THREE"
	require.Contains(t, x.requireFailure(1, "query", "SELECT id FROM shop.items WHERE id = 1"), "vecql query: unavailable: ")
}

// TestQueryNotes requires times, traces and warnings on standard error.
func TestQueryNotes(t *testing.T) {
	x := newTester(t, shop)
	x.Inject(cqltest.Fault{Statement: "id = 2", Warnings: []string{"slow\nquery"}})
	code, out, notes := x.run("query", "--timing", "--tracing", "SELECT id FROM shop.items WHERE id = 1", "UPDATE shop.items SET name = 'a' WHERE id = 7")
	require.Zero(t, code)
	require.Equal(t, "id\n--\n 1\n1 row\n", out)
	require.Regexp(t, `(?s)^tracing session .*\n[0-9.]+[mµ]?s, 1 page, node 127.*\ntracing session .*\n[0-9.]+[mµ]?s\n$`, notes)
	_, _, notes = x.run("query", "SELECT id FROM shop.items WHERE id = 2")
	require.Equal(t, "warning: slow query\n", notes)
}

// TestQueryPages requires that a result of many pages is read page by page, and ends at the first error.
func TestQueryPages(t *testing.T) {
	x := newTester(t, shop)
	pages := x.Observe(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items"})
	x.requireRun("query", "--page-size", "1", "SELECT id FROM shop.items")
	require.GreaterOrEqual(t, pages.Hits(), 2)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	x.ctx = ctx
	x.Inject(cqltest.Fault{Op: cqltest.OpExecute, Statement: "FROM shop.items", Skip: 1, Error: &cqltest.Error{Code: 0x2200, Message: "enough"}})
	code, out, text := x.run("query", "--page-size", "1", "SELECT id FROM shop.items")
	require.Equal(t, exitFailed, code)
	require.True(t, strings.HasPrefix(out, "id\n--\n 1\n"), out)
	require.Equal(t, "vecql query: invalid request: enough\n", text)
}
