// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/expr"
)

// Statements and what is refused.

// accepted are statements with their normal text.
var accepted = map[string]string{
	"select * from read('a.parquet')": "SELECT *\nFROM read('a.parquet')",
	"Select a, b + 1 as c From 'x*.parquet' Where a > 1 and b is not null;": "SELECT a, b + 1 AS c\nFROM read('x*.parquet')\n" +
		"WHERE a > 1 and not b is null",
	"select distinct a from read_parquet('a', 'it''s') limit 3": "SELECT DISTINCT a\nFROM read('a', 'it''s')\nLIMIT 3",
	"select count(*), COUNT(DISTINCT a) from Shop.Items":        "SELECT count(*), count(distinct a)\nFROM shop.items",
	`select a from "Shop"."It""ems"`:                            "SELECT a\nFROM \"Shop\".\"It\"\"ems\"",
	`select a from shop."Items"`:                                "SELECT a\nFROM shop.\"Items\"",
	`select a from "a.csv"`:                                     "SELECT a\nFROM read('a.csv')",
	"describe 'a.json.gz'":                                      "DESCRIBE SELECT *\nFROM read('a.json.gz')",
	"desc select a from t":                                      "DESCRIBE SELECT a\nFROM t",
	"select a from read_csv('-') x":                             "SELECT a\nFROM read('-') AS x",
	"select sum(distinct a), count(*) filter (where b) from t":  "SELECT sum(distinct a), count(case when b then 1 else null end)\nFROM t",
	"select sum(x + 1) / count(*) as \"from\", avg(length(s)) from t group by 1, k, lower(s) having sum(x) > 10 and k < 3 " +
		"order by 2 desc, k nulls first, s asc nulls last offset 5 limit 10": "SELECT sum(x + 1) / count(*) AS \"from\", avg(length(s))\nFROM t\n" +
		"GROUP BY 1, k, lower(s)\nHAVING sum(x) > 10 and k < 3\nORDER BY 2 DESC, k NULLS FIRST, s\nLIMIT 10\nOFFSET 5",
	"select extract(minute from at) as m, case when a = 0 and b = 0 then s else '' end as s2 from hits where d >= date '1998-12-01' - interval '90' day": "SELECT " +
		"extract('minute', at) AS m, case when a = 0 and b = 0 then s else '' end AS s2\nFROM hits\nWHERE d >= date '1998-12-01' - interval '90d'",
	"select quantile(x, 0.9), arg_max(a, b), any_value(a), stddev(a), median(a), corr(a, b), approx_count_distinct(a), median_exact(a) from t limit 0": "SELECT " +
		"quantile(x, 0.9), arg_max(a, b), any_value(a), stddev(a), median(a), corr(a, b), approx_count_distinct(a), median_exact(a)\nFROM t\nLIMIT 0",
	"select all a, count(all b) from t":                  "SELECT a, count(b)\nFROM t",
	"select all, sum(all) from t":                        "SELECT \"all\", sum(\"all\")\nFROM t",
	"select all + a, count(all -b), \"all\" + 1 from t":  "SELECT a, count(-b), \"all\" + 1\nFROM t",
	"select all * from t":                                "SELECT *\nFROM t",
	"select distinct on (a, b) * exclude c from t":       "SELECT DISTINCT ON (a, b) * EXCLUDE (c)\nFROM t",
	"select t.* exclude (a) replace (b + 1 as b) from t": "SELECT t.* EXCLUDE (a) REPLACE (b + 1 AS b)\nFROM t",
	"select a b, c \"d e\", t.*, \"T\".* from t limit 1": "SELECT a AS b, c AS \"d e\", t.*, T.*\nFROM t\nLIMIT 1",
	"select * from read('a') as x where x.a = 1":         "SELECT *\nFROM read('a') AS x\nWHERE x.a = 1",
	"select x.* from shop.items \"x\" order by 1":        "SELECT x.*\nFROM shop.items AS x\nORDER BY 1",
	"select items.* from 'data/items.parquet'":           "SELECT items.*\nFROM read('data/items.parquet')",
	"select 1 + 1 two, 'a' where true order by two;":     "SELECT 1 + 1 AS two, 'a'\nWHERE true\nORDER BY two",
	`select "select", first from t order by desc desc`:   "SELECT \"select\", first\nFROM t\nORDER BY desc DESC",

	"select (select max(b) from u where c = 'x''y') + 1 from t where a in (select b from u order by 1 limit 2) and not exists (from u)": "SELECT " +
		"(SELECT max(b) FROM u WHERE c = 'x''y') + 1\nFROM t\nWHERE a in (SELECT b FROM u ORDER BY 1 LIMIT 2) and not exists (SELECT * FROM u)",
	"select a from t where (select 1 union all values (2)) > 1 order by (select 2)": "SELECT a\nFROM t\nWHERE " +
		"(SELECT 1 UNION ALL VALUES (2)) > 1\nORDER BY (SELECT 2)",
	"with x as (select 1 as v) select a from t where a in (select v from x)": "SELECT a\nFROM t\nWHERE a in (SELECT v FROM (SELECT 1 AS v) AS x)",
	"select a, grouping(a, b) from t group by c, rollup(a, (b, d)), e": "SELECT a, grouping(a, b)\nFROM t\n" +
		"GROUP BY GROUPING SETS ((c, a, b, d, e), (c, a, e), (c, e))",
	"select a from t group by cube(a, (b + 1) * 2)": "SELECT a\nFROM t\nGROUP BY GROUPING SETS ((a, (b + 1) * 2), (a), ((b + 1) * 2), ())",
	"select a from t group by grouping sets (a, (), (b), rollup(c), grouping sets ((a, b)))": "SELECT a\nFROM t\n" +
		"GROUP BY GROUPING SETS ((a), (), (b), (c), (), (a, b))",
	"select rollup, cube, grouping from t group by rollup, cube, grouping":     "SELECT rollup, cube, grouping\nFROM t\nGROUP BY rollup, cube, grouping",
	"select * exclude (a, \"b c\") replace (a + 1 as d), t.* exclude e from t": "SELECT * EXCLUDE (a, \"b c\") REPLACE (a + 1 AS d), t.* EXCLUDE (e)\nFROM t",
	"select columns('^a'), columns(*), columns from t":                         "SELECT COLUMNS('^a'), *, columns\nFROM t",
	"from t": "SELECT *\nFROM t",
	"from 'a.csv' x select distinct b where c":                         "SELECT DISTINCT b\nFROM read('a.csv') AS x\nWHERE c",
	"describe from t limit 3":                                          "DESCRIBE SELECT *\nFROM t\nLIMIT 3",
	"select mode(a), list(b order by c), quantile_disc(a, 0.5) from t": "SELECT mode(a), array_agg(b order by c), quantile_disc(a, 0.5)\nFROM t",
}

func TestParse(t *testing.T) {
	for text, want := range accepted {
		s, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, s.String())
		back, err := Parse(want)
		require.NoError(t, err, want)
		require.Equal(t, want, back.String())
	}
}

// refusedStatements are statements with their errors: the offset and the text.
var refusedStatements = map[string]string{
	"select * from a join b on a.x = b.x":                "16: joins: not supported",
	"select * from a left join b using (x)":              "16: joins: not supported",
	"select * from a, b":                                 "15: joins: not supported",
	"select * from a as":                                 "18: found the end, want a name",
	"select x.* from a b":                                "7: x.*: the source is b",
	"select x.* from k.a":                                "7: x.*: the source is a or k.a",
	"select *":                                           "7: * without FROM",
	"select a from t where a > any (select b from u)":    "26: subqueries with ANY, ALL and SOME: not supported",
	"select a from t where a in (select b from u":        "43: found the end, want an operator, a comma, where",
	"select a from t where a in (1, select b)":           "38: found \"b\", want , or )",
	"select a from t where exists (select b c d from u)": "41: found \"d\", want as, a comma or from",
	"select a from t limit (select 1)":                   "22: subqueries in LIMIT and OFFSET: not supported",
	"values (1), ((select 1))":                           "13: subqueries in VALUES: not supported",
	"with recursive x as (select 1) select * from x":     "5: WITH RECURSIVE: not supported",
	"select a from t except all select b from u":         "16: EXCEPT ALL: not supported",
	"select a from t union all by name select b from u":  "26: UNION BY NAME: not supported",
	"select a from t minus select b from u":              "16: set operations: not supported",
	"select sum(a) over (partition by b) from t":         "14: window functions: not supported",
	"select row_number() over () from t":                 "7: window functions: not supported",
	"select corr(distinct a, b) from t":                  "12: DISTINCT but for the whole result and within aggregates: not supported",
	"select a from t; select b from t":                   "17: several statements: not supported",
	"insert into t values (1)":                           "0: a statement INSERT: not supported",
	"DROP TABLE t":                                       "0: a statement DROP: not supported",
	"select top 10 a from t":                             "7: TOP: not supported",
	"select a from t tablesample 10":                     "16: samples: not supported",
	"select a into u from t":                             "9: SELECT ... INTO: not supported",
	"select a from t for update":                         "16: locks: not supported",
	"select a from t where a like 'x!%' escape b":        "35: ESCAPE: not supported",
	"select a from t order by a collate nocase":          "27: COLLATE: not supported",
	"":                                    "0: found the end, want select",
	"select":                              "6: found the end, want a column, a literal or a function",
	"select from t":                       `7: found "from", want an expression`,
	"select a b c from t":                 `11: found "c", want as, a comma or from`,
	"select a, from t":                    `10: found "from", want an expression`,
	"select a fro t":                      `13: found "t", want as, a comma or from`,
	"select a from":                       "13: found the end, want read('file.parquet'), a text, a table or a statement in parentheses",
	"select a from read(x)":               `19: found "x", want the name of a file in single quotes`,
	"select a from range(10)":             `14: found "range", want read('file.parquet'), a text or a table`,
	"select a from a.b.c":                 `14: found "a.b.c", want a table, or a keyspace and a table`,
	"select a from t where":               "21: found the end, want a column, a literal or a function",
	"select a from t where a >":           "25: found the end, want a column, a literal or a function",
	"select a from t where frob(a)":       `22: found "frob", want a function: abs, acos, acosh, `,
	"select a from t group a":             `22: found "a", want by`,
	"select a from t limit a":             `22: found "a", want a number of rows`,
	"select a from t limit -1":            `22: the number of rows is -1, want at least 0`,
	"select a from t limit 1.5":           `-1: column`,
	"values (1), (2, 3)":                  `7: rows of VALUES with 1 and 2 values`,
	"select * from t group by all":        `7: ALL of *: list the columns`,
	"(select a from t":                    `16: found the end, want an operator, a comma, where`,
	"select a from t fetch first 2 rows":  `34: found the end, want only`,
	"select a from t limit 1 limit 2":     `24: found "limit", want an operator, a comma, where`,
	"select a from t order by a nulls":    "32: found the end, want first or last",
	"select 'a from t":                    `7: found "'a from t", want a closing '`,
	"select a /* b from t":                `9: found "/* b from t", want a closing */`,
	"select a # b from t":                 `9: found "#", want an operator, a name or a literal`,
	"select " + strings.Repeat("(", 2000): "want an expression of depth at most 1000",
	"select a from t where a = 1 having b order by c whatever d": `48: found "whatever", want an operator, a comma, where`,
}

func TestRefused(t *testing.T) {
	for text, want := range refusedStatements {
		_, err := Parse(text)
		var e *Error
		require.ErrorAs(t, err, &e, text)
		require.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, text)
		if strings.HasSuffix(want, ErrUnsupported.Error()) {
			require.ErrorIs(t, err, ErrUnsupported, text)
		}
	}
}

func TestCaret(t *testing.T) {
	_, err := Parse("select a,\n\t'é' as b fro t\nwhere a")
	e := err.(*Error)
	require.Equal(t, " 'é' as b fro t\n          ^", e.Caret())
	long := "select " + strings.Repeat("a, ", 50) + "b b c, " + strings.Repeat("d, ", 50) + "e from t"
	_, err = Parse(long)
	line, caret, _ := strings.Cut(err.(*Error).Caret(), "\n")
	require.Less(t, len(line), 85)
	require.Equal(t, byte('c'), line[len(caret)-1])
	require.Empty(t, (&Error{Text: "a", Offset: -1}).Caret())
}

func TestPlace(t *testing.T) {
	_, err := Parse("select a,\n\t'é' as b fro t\nwhere a")
	require.EqualError(t, err, `sql: line 2, column 11: found "fro", want as, a comma or from`)
	line, column := (&Error{Text: "a", Offset: -1}).Place()
	require.Zero(t, line+column)
	_, err = Parse("select a from t where")
	require.ErrorContains(t, err, "sql: line 1, column 22: found the end")
}

func FuzzParse(f *testing.F) {
	for text := range accepted {
		f.Add(text)
	}
	for text := range refusedStatements {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			err.(*Error).Caret()
			return
		}
		back, err := Parse(s.String())
		if err != nil || back.String() != s.String() || same(s) != same(back) {
			t.Fatalf("%q prints as %q, which parses to %v, %v", text, s, back, err)
		}
	})
}

// same returns the parts of a statement that its text could hide.
func same(s *Statement) [4]int {
	return [4]int{len(s.Items), len(s.GroupBy), len(s.OrderBy), len(s.From.Files)}
}

func TestParsedExpressionsHaveTheirPlace(t *testing.T) {
	s, err := Parse("select a from t where lower(a) > 'x'")
	require.NoError(t, err)
	require.Equal(t, expr.Col("a").Lower().Gt("x").String(), s.Where.String())
	require.Equal(t, 22, s.Where.Node().Offset)
}
