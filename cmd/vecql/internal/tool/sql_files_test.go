// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/column"
)

// Statements on files of all formats, and the tables of files.

// writeItems writes files of text to the current folder.
func writeItems(t *testing.T) {
	t.Helper()
	for name, text := range map[string]string{
		"items.csv": "id,name,price,added,code\n1,chair,45.5,2026-07-01,007\n2,\"desk, oak\",120,2026-07-02,008\n3,,0,2026-07-03,\n",
		"items.jsonl": `{"id": 4, "name": "lamp", "price": 9.5, "v": [0.5, 1.5]}` + "\n" +
			`{"id": 5, "price": 1, "v": [1, 2], "who": {"name": "a"}}` + "\n",
		"items.tsv": "id\tname\n9\tstool\n",
		"wrong.csv": "id\n" + strings.Repeat("1\n", 20) + "x\n",
		"late.json": strings.Repeat(`{"a": 1}`+"\n", 3) + `{"a": 2, "b": 3}` + "\n",
	} {
		require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
	}
}

func TestSQLReadsAllFormats(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	writeItems(t)
	for _, c := range []struct{ statement, want string }{
		{"select name, price * 2 p from 'items.csv' where added > '2026-07-01' order by id", "name,p\n\"desk, oak\",240\n,0\n"},
		{"select code, added + 1 d from \"items.csv\" where code = '007'", "code,d\n007,2026-07-02\n"},
		{"select sum(price), count(name), count(*) from read_csv('items.csv')", "sum(price),count(name),count(*)\n165.5,2,3\n"},
		{"select items.id, l2(v, [0.5, 1.5]) d from 'items.jsonl' order by 1", "id,d\n4,0\n5,0.7071067811865476\n"},
		{"select name, who is null w from 'items.jsonl'", "name,w\nlamp,true\n,false\n"},
		{"describe 'items.csv'", "column_name,column_type,null\nid,int64,YES\nname,string,YES\nprice,float64,YES\nadded,date,YES\ncode,string,YES\n"},
		{"describe select count(*) n from 'items.csv'", "column_name,column_type,null\nn,int64,NO\n"},
		{"describe select v, who from 'items.jsonl'", "column_name,column_type,null\nv,\"vector<float64, 2>\",YES\nwho,struct[name string],YES\n"},
		{"select id, name from 'items.csv' where id = 1 union all select id, name from 'items.tsv'", "id,name\n1,chair\n9,stool\n"},
		{"with x as (select id from 'items.tsv') select id * 2 as d from x", "d\n18\n"},
		{"select sum(cast(price as decimal(9, 2))) as s, string_agg(id, '+' order by id desc) i from 'items.csv' where id < 3", "s,i\n165.50,2+1\n"},
		{"select name from 'items.csv' where id not in (select id - 8 from 'items.tsv') and price < (select max(price) from 'items.csv') order by id", "name\n\n"},
		{"select code, count(*) as n from 'items.csv' group by rollup (code) order by n desc, code limit 2", "code,n\n,3\n007,1\n"},
		{"describe select (select v from 'items.jsonl') as v, array_agg(id) as a from 'items.csv'", "column_name,column_type,null\nv,\"vector<float64, 2>\",NO\na,list[element int64],YES\n"},
		{"from 'items.csv' select * exclude (added, code) where id = 1", "id,name,price\n1,chair,45.5\n"},
		{"select * from 'items.csv' limit 1", "id,name,price,added,code\n1,chair,45.5,2026-07-01,007\n"},
	} {
		require.Equal(t, c.want, x.requireRun("sql", c.statement, "-o", "csv"), c.statement)
	}
	require.Equal(t, "name\nstool\n", x.requireRun("sql", "select name from 'items.tsv'", "-o", "csv"))
	require.Equal(t, "id\tname\n9\tstool\n", x.requireRun("sql", "select * from 'items.tsv'", "-o", "csv", "--delimiter", ","), "one column")
	for _, path := range []string{"all.tsv", "all.tsv.gz"} {
		x.requireRun("unload", "shop.items", path, "--summary", "json")
		require.Equal(t, "column_name,column_type,null\nid,int64,YES\nname,string,YES\n", x.requireRun("sql", "describe select id, name from '"+path+"'", "-o", "csv"))
		require.Equal(t, "count(*)\n2\n", x.requireRun("sql", "select count(*) from '"+path+"'", "-o", "csv"))
	}
	schema := column.Schema{{Name: "id", Type: column.Type{Kind: column.Int64}}, {Name: "n", Type: column.Type{Kind: column.Int32}, Nullable: true}}
	f, err := rowfile.Create("required.parquet", schema, rowfile.WriterOptions{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, "column_name,column_type,null\nid,int64,NO\nn,int32,YES\n", x.requireRun("sql", "describe 'required.parquet'", "-o", "csv"))
	require.Equal(t, "column_name,column_type,null\nnext,int64,NO\ntwice,int64,YES\nn0,int32,NO\nseven,int64,NO\n", x.requireRun("sql",
		"describe select id + 1 as next, n * 2 as twice, coalesce(n, 0) as n0, 7 as seven from 'required.parquet'", "-o", "csv"))
	require.Equal(t, "column_name,column_type,null\nid,int64,NO\ncount(*),int64,NO\nsum(n),int64,YES\nmax(id),int64,NO\n", x.requireRun("sql",
		"describe select id, count(*), sum(n), max(id) from 'required.parquet' group by id", "-o", "csv"))
	require.Equal(t, "column_name,column_type,null\ncount(*),int64,NO\nmax(id),int64,YES\n", x.requireRun("sql",
		"describe select count(*), max(id) from 'required.parquet'", "-o", "csv"))
	require.Equal(t, "count\n3\n", x.requireRun("agg", "items.csv", "-o", "csv"))
	require.Equal(t, "code,price\n7,45.5\n", x.requireRun("sql", "select code, price from 'items.csv' where code < 8", "-o", "csv",
		"--type", "code=int", "--type", "price=text"))
	plan := x.requireRun("sql", "--explain", "select name from 'items.csv' where id > 1")
	require.Contains(t, plan, "items.csv: id, name")

	x.in = "a,b\n1,x\n2,y\n"
	require.Equal(t, "sum(a)\n3\n", x.requireRun("sql", "select sum(a) from '-'", "-o", "csv"))
	x.in = `{"a": 1}` + "\n" + `{"a": 41}` + "\n"
	require.Equal(t, "sum(a)\n42\n", x.requireRun("sql", "select sum(a) from '/dev/stdin'", "-o", "csv", "--format", "json"))

	code, stdout, stderr := x.run("sql", "select sum(b), sum(a) from 'late.json'", "-o", "csv", "--sample-rows", "2")
	require.NotZero(t, code)
	require.Empty(t, stdout)
	require.Contains(t, stderr, `no such column: "b"`)
	code, stdout, stderr = x.run("sql", "select sum(a) from 'late.json'", "-o", "csv", "--sample-rows", "2")
	require.Zero(t, code, stderr)
	require.Equal(t, "sum(a)\n5\n", stdout)
	require.Contains(t, stderr, "note: b: no object of the sample has such a member")
	require.Equal(t, "sum(b)\n3\n", x.requireRun("sql", "select sum(b) from 'late.json'", "-o", "csv", "--sample-rows", "0"))

	for _, c := range []struct {
		want string
		args []string
	}{
		{"wrong.csv, line 22, column id: \"x\" is not a value of type int64", []string{"sql", "select max(id) from 'wrong.csv'", "--sample-rows", "5"}},
		{"--sample-rows 0 reads all of them first", []string{"sql", "select max(id) from 'wrong.csv'", "--sample-rows", "5"}},
		{"--type is \"id\", want NAME=TYPE", []string{"sql", "select 1 from 'items.csv'", "--type", "id"}},
		{"there is no column \"no\"", []string{"sql", "select 1 from 'items.csv'", "--type", "no=int"}},
		{"standard input is the statement", []string{"sql", "-"}},
		{"cannot be one more file", []string{"sql", "select 1 from '-' union select 2 from '-'", "--format", "csv"}},
		{"no such file", []string{"sql", "select 1 from 'none.csv'"}},
		{"no such file", []string{"sql", "select (select 1 from 'none.csv') from 'items.csv'"}},
		{"the subquery has more than one row", []string{"sql", "select (select id from 'items.csv')"}},
		{"standard input, which can be read once", []string{"sql", "select count(*) from (from '-') t group by grouping sets ((), ())", "--format", "csv"}},
	} {
		x.in = "select a from '-'"
		code, _, stderr := x.run(c.args...)
		require.NotZero(t, code)
		require.Contains(t, stderr, c.want)
	}
}

func TestDescribeFiles(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	writeItems(t)
	require.Equal(t, `-- The primary key is a guess: --primary-key sets it.
CREATE TABLE IF NOT EXISTS items (
    id bigint,
    name text,
    price double,
    added date,
    code text,
    PRIMARY KEY (id)
);
`, x.requireRun("describe", "items.csv"))
	require.Equal(t, `CREATE TYPE IF NOT EXISTS items_who (
    name text
);

CREATE TABLE IF NOT EXISTS items (
    id bigint,
    name text,
    price double,
    v vector<float, 2>,
    who items_who,
    PRIMARY KEY ((name), id)
);
`, x.requireRun("describe", "./items.jsonl", "--primary-key", "(name), id"))
	x.requireRun("unload", "shop.items", "more.parquet", "--summary", "json")
	require.Contains(t, x.requireRun("describe", "more.parquet"), "CREATE TABLE IF NOT EXISTS more (\n    id ")
}

// TestLoadCreate creates the tables of files, and loads them.
func TestLoadCreate(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	writeItems(t)
	for range 2 { // the table exists the second time
		x.requireRun("load", "shop.made", "items.csv", "--create", "--primary-key", "id", "--summary", "json")
	}
	require.Equal(t, "id,name,price,added,code\n2,\"desk, oak\",120,2026-07-02,008\n",
		x.requireRun("sql", "select id, name, price, added, code from shop.made where id = 2", "-o", "csv"))
	x.requireRun("load", "shop.people", "items.jsonl", "--create", "--primary-key", "id", "--summary", "json")
	require.Equal(t, "id,v\n4,\"[0.5,1.5]\"\n", x.requireRun("query", "SELECT id, v FROM shop.people WHERE id = 4", "-o", "csv"))
	x.in = "a,b\n1,x\n2,y\n"
	x.requireRun("load", "shop.piped", "-", "--create", "--primary-key", "a", "--type", "a=int", "--summary", "json")
	require.Equal(t, "count(*)\n2\n", x.requireRun("sql", "select count(*) from shop.piped", "-o", "csv"))
	for _, args := range [][]string{
		{"load", "shop.made", "items.csv", "--create"},
		{"load", "shop.made", "items.csv", "--primary-key", "id"},
		{"load", "shop.made", "items.csv", "--create", "--primary-key", "id", "--dry-run"},
		{"load", "--statement", "INSERT INTO shop.made (id) VALUES (:id)", "items.csv", "--create", "--primary-key", "id"},
	} {
		code, _, _ := x.run(args...)
		require.Equal(t, exitUsage, code, "%q", args)
	}
}

// TestLoadAnotherEncoding loads, queries and describes files in windows-1252 and UTF-16.
func TestLoadAnotherEncoding(t *testing.T) {
	x := newTester(t, shop)
	western := file(t, "western.csv", "id,name\n7,caf\xe9\n8,a\x80b\n")
	wide := file(t, "wide.tsv", "\xff\xfei\x00d\x00\t\x00n\x00a\x00m\x00e\x00\n\x009\x00\t\x00\xe9\x00\n\x00")
	x.requireRun("load", "shop.items", western, "--allow-missing", "--encoding", "windows-1252", "--summary", "json")
	x.requireRun("load", "shop.items", wide, "--allow-missing", "--summary", "json")
	require.Equal(t, "name\ncafé\na€b\né\n", x.requireRun("sql", "SELECT name FROM shop.items WHERE id > 6 ORDER BY id", "-o", "csv"))
	require.Equal(t, "name\ncafé\na€b\n", x.requireRun("sql", "SELECT name FROM '"+western+"' ORDER BY id", "-o", "csv", "--encoding", "cp1252"))
	require.Equal(t, "n\né\n", x.requireRun("agg", wide, "--agg", "max(name) as n", "-o", "csv"))
	require.Contains(t, x.requireRun("describe", western, "--encoding", "latin1"), "name text")
	x.requireFailureContains("western.csv, line 2, column name: the text is not UTF-8; --encoding names another encoding",
		"load", "shop.items", western, "--allow-missing")
}
