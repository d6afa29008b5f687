// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// The verbs sql and agg: flags, plans and errors. Package sql has the tests of statements.

func TestSQL(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	x.requireRun("unload", "shop.items", "items.parquet", "--summary", "json")
	const counted = "count(*)\n2\n"
	require.Equal(t, counted, x.requireRun("sql", "select count(*) from 'items.parquet';", "-o", "csv"))
	require.Equal(t, counted, x.requireRun("sql", "select count(*) from Goods", "-o", "csv", "--source", "goods=*.parquet"))
	require.Equal(t, counted, x.requireRun("sql", "SELECT count(*) FROM shop.items", "-o", "csv"))
	require.Equal(t, "n,name\n1,chair\n", x.requireRun("sql", "select t.ID::int % 2 n, T.name from 'items.parquet' t where t.Name = 'chair'", "-o", "csv"))
	require.Equal(t, "name\ntable\n", x.requireRun("sql", "select items.name from 'items.parquet' where items.\"name\" <> 'chair'", "-o", "csv"))
	require.Equal(t, "two,b\n2,x\n", x.requireRun("sql", "select 1 + 1 two, 'x' as b", "-o", "csv"))
	require.Equal(t, "count\n2\n", x.requireRun("agg", "items.parquet", "-o", "csv"))
	require.Equal(t, "first,n\ntable,1\n", x.requireRun("agg", "items.parquet", "-o", "csv", "--where", "id > 0", "--by",
		"name as first", "--agg", "count(*) as n", "--having", "n = 1", "--order", "first desc nulls first", "--limit", "1"))
	require.Equal(t, "name\n", x.requireRun("sql", "select name from 'items.parquet' limit 0", "-o", "csv"), "the header")

	plan := x.requireRun("sql", "--explain", "select name from 'items.parquet' where id > 1 order by price limit 2")
	require.Contains(t, plan, "items.parquet")
	require.NotContains(t, plan, "?", "expressions")
	code, stdout, stderr := x.run("sql", "--stats", "select name from 'items.parquet' order by 1", "-o", "csv", "--workers", "1")
	require.Zero(t, code, stderr)
	require.Equal(t, "name\nchair\ntable\n", stdout)
	require.Contains(t, stderr, "microseconds")
}

func TestSQLErrors(t *testing.T) {
	x := newTester(t, shop)
	t.Chdir(t.TempDir())
	x.requireRun("unload", "shop.items", "items.parquet", "--summary", "json")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"vecql sql: line 1, column 14: found \"t\", want as, a comma or from\nselect a fro t\n             ^\n", []string{"sql", "select a fro t"}},
		{"vecql sql: line 1, column 17: joins: not supported\nselect * from a join b\n                ^\n", []string{"sql", "select * from a join b"}},
		{
			"vecql sql: line 1, column 8: nosuch: no such column: \"nosuch\"; the columns are: id, name, price, tags, v\nselect nosuch from 'items.parquet'\n       ^\n",
			[]string{"sql", "select nosuch from 'items.parquet'"},
		},
		{"vecql agg: line 1, column 5: found \"c\", want an operator or the end\na b c\n    ^\n", []string{"agg", "items.parquet", "--by", "a b c"}},
		{"vecql agg: line 1, column 5: found \"*\", want a column, a literal or a function\na + *\n    ^\n", []string{"agg", "items.parquet", "--agg", "a + *"}},
		{"vecql agg: line 1, column 1: found *, want an expression\n*\n^\n", []string{"agg", "items.parquet", "--agg", "*"}},
	} {
		code, stdout, stderr := x.run(c.args...)
		require.Equal(t, exitFailed, code)
		require.Empty(t, stdout)
		require.Equal(t, c.want, stderr)
	}
	require.Contains(t, x.requireFailure(exitUsage, "sql", "select a from t", "--source", "t"), "want name=pattern")
	require.Contains(t, x.requireFailure(exitUsage, "sql", "select a from t", "--workers", "-1"), "--workers is -1")
	require.Contains(t, x.requireFailure(exitUsage, "sql", "select a from t", "--spill-dir", os.TempDir()), "without --memory-limit")
	require.Contains(t, x.requireFailure(exitUsage, "agg", "a", "--limit", "-2"), "--limit is -2")
	require.Contains(t, x.requireFailure(exitUsage, "agg", "a", "--offset", "-2"), "--offset is -2")
	require.Contains(t, x.requireFailure(exitFailed, "sql", "select a from 'none.parquet'"), "none.parquet")
	require.Contains(t, x.requireFailure(exitFailed, "sql", "select a from shop.nosuch"), "nosuch")
}
