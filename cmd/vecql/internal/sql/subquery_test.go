// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Subqueries. testdata/queries.py writes DuckDB's answers.

func TestQueriesOfDuckDB(t *testing.T) { requireAnswers(t, "testdata/queries.json", 120) }

// batchOf returns the rows of a statement on oneRow.
func batchOf(t *testing.T, sql string) *column.Batch {
	t.Helper()
	p, err := planned(t, sql)
	require.NoError(t, err, sql)
	b, err := p.Pipe.Batch(t.Context())
	require.NoError(t, err, sql)
	return b
}

func TestErrorsOfSubqueries(t *testing.T) {
	for sql, want := range map[string]string{
		"select (select a from t)":                                                       "7: the subquery has more than one row: LIMIT 1 or an aggregate leaves one",
		"select a from t where a = (select a, s from t)":                                 "26: the subquery has 2 columns, want 1",
		"select a in (select a, s from t) from t":                                        "7: the subquery has 2 columns, want 1",
		"select a in (select s from t) from t":                                           "7: a is int64 and the subquery has string: cast one of them",
		"select a from t where exists (select b from t)":                                 "37: b: no such column: \"b\"",
		"select (select a / 0 from t limit 1)":                                           "15: a / 0: division of an integer by zero",
		"select a from t where a in (select a / 0 from t)":                               "35: a / 0: division of an integer by zero",
		"select 1 from t having b in (select 1)":                                         "23: b: no such column: \"b\"",
		"select (select max(s) from t) + 1":                                              "7: 'y' + 1: + requires numbers: 'y' is string",
		"select (select array_agg(a) from t)":                                            "7: the subquery has a value of type list, which cannot stand in an expression",
		"select 1 in (select array_agg(a) from t)":                                       "7: 1 is int64 and the subquery has list: cast one of them",
		"select a as b from t where (select max(a) from t group by a limit 1) > 1 and c": "77: c: no such column",
		"select quantile(a, (select 0.5)) from t":                                        "19: want a quantile from 0 to 1 as a literal",
		"select (select a from t where a > 100) is null, (select s from t)":              "48: the subquery has more than one row",
	} {
		_, err := planned(t, sql)
		if err == nil {
			p, _ := planned(t, sql)
			if _, err = p.Pipe.Batch(t.Context()); err != nil {
				err = p.Locate(err)
			}
		}
		var e *Error
		if assert.ErrorAs(t, err, &e, sql) {
			assert.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, sql)
		}
	}
	_, err := planned(t, "select (select a from t)")
	require.ErrorIs(t, err, ErrManyRows)
}

// TestCorrelatedSubqueriesAreRefused has columns of the statement around a subquery, at any depth.
func TestCorrelatedSubqueriesAreRefused(t *testing.T) {
	open := func(_ context.Context, from Source) (pipe.Pipe, column.Schema, error) {
		b := column.NewBatch(column.Of("id", []int64{1}), column.Of("owner", []int64{1}))
		if from.Table == "u" {
			b = column.NewBatch(column.Of("key", []int64{1}))
		}
		return pipe.Batches(b), b.Schema(), nil
	}
	for sql, want := range map[string]string{
		"select id from t where exists (select 1 from u where key = owner)":                            "59: owner is",
		"select id from t where id in (select key from u where key = t.id)":                            "60: t.id is",
		"select (select max(key + x.Owner) from u) from t x":                                           "25: x.Owner is",
		"select id from t where id in (select key from (select key from u where u.key = t.id) v)":      "79: t.id is",
		"select id from t where id in (select key from u where exists (select 1 from u where id = 1))": "84: id is",
	} {
		s, err := Parse(sql)
		require.NoError(t, err)
		_, err = s.PlanOn(t.Context(), Options{Open: open})
		require.ErrorIs(t, err, ErrUnsupported, sql)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, sql)
		require.ErrorContains(t, err, "a column of the statement around: correlated subqueries: not supported")
	}
}

// TestSubqueriesRunOnce counts the runs of the source of a subquery, which several expressions and groups have.
func TestSubqueriesRunOnce(t *testing.T) {
	opened := map[string]int{}
	open := func(ctx context.Context, from Source) (pipe.Pipe, column.Schema, error) {
		opened[from.Table]++
		return oneRow(ctx, from)
	}
	sql := "select a + (select max(a) from u) as b from t where a in (select a from v) group by b, a having b > (select 1 from w limit 1) order by b"
	s, err := Parse(sql)
	require.NoError(t, err)
	p, err := s.PlanOn(t.Context(), Options{Open: open})
	require.NoError(t, err)
	b, err := p.Pipe.Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, b.Rows)
	require.Equal(t, map[string]int{"t": 1, "u": 1, "v": 1, "w": 1}, opened)
}

// TestSubqueriesOfDryRuns plans with a context that has ended, in which a run fails.
func TestSubqueriesOfDryRuns(t *testing.T) {
	open := func(context.Context, Source) (pipe.Pipe, column.Schema, error) {
		b := column.NewBatch(column.Of("a", []int8{3, 1, 2}), vectors())
		return pipe.Batches(b), b.Schema(), nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	sql := "select (select a from t) as x, a in (select a from t) as i, exists (select 1 from t) as e, l2(v, (select v from t)) as d from t"
	s, err := Parse(sql)
	require.NoError(t, err)
	p, err := s.PlanOn(ctx, Options{Open: open, DryRun: true})
	require.NoError(t, err)
	schema, err := p.Pipe.Schema(ctx)
	require.NoError(t, err)
	require.Equal(t, "x int8, i bool, e bool, d float64", describe(schema))
	describing, err := Parse("describe " + sql)
	require.NoError(t, err)
	_, err = describing.PlanOn(ctx, Options{Open: open})
	require.NoError(t, err)
	_, err = s.PlanOn(ctx, Options{Open: open})
	require.ErrorIs(t, err, context.Canceled)
}

func vectors() column.Column { return column.Matrix("v", []float32{3, 4, 0, 0, 1, 1}, 2) }

func describe(schema column.Schema) string {
	var fields []string
	for _, f := range schema {
		fields = append(fields, fmt.Sprintf("%s %v", f.Name, f.Type))
	}
	return strings.Join(fields, ", ")
}

// TestVectorsOfSubqueries has the distance to a vector of another table.
func TestVectorsOfSubqueries(t *testing.T) {
	open := func(context.Context, Source) (pipe.Pipe, column.Schema, error) {
		b := column.NewBatch(column.Of("a", []int64{1, 2, 3}), vectors())
		return pipe.Batches(b), b.Schema(), nil
	}
	s, err := Parse("select a, l2(v, (select v from t where a = 2)) as d from t order by d limit 1 offset 2")
	require.NoError(t, err)
	p, err := s.PlanOn(t.Context(), Options{Open: open})
	require.NoError(t, err)
	b, err := p.Pipe.Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []any{int64(1), 5.0}, []any{b.Columns[0].Value(0), b.Columns[1].Value(0)})
	s, err = Parse("select l2(v, (select v from t where a = 9)) from t")
	require.NoError(t, err)
	_, err = s.PlanOn(t.Context(), Options{Open: open})
	require.ErrorContains(t, err, "there is no literal for NULL of type vector<float32, 2>")
}

// TestSetsWithinMemoryLimit has sets that are too large, and one that is not.
func TestSetsWithinMemoryLimit(t *testing.T) {
	values := make([]int64, 1<<17)
	for i := range values {
		values[i] = int64(i)
	}
	b := column.NewBatch(column.Of("a", values))
	open := func(context.Context, Source) (pipe.Pipe, column.Schema, error) {
		return pipe.Batches(b), b.Schema(), nil
	}
	for where, fits := range map[string]bool{"a >= 0": false, "a < 100": true, "a % 2 = 0": false} {
		sql := "select count(*) from t where a in (select a from t where " + where + ")"
		s, err := Parse(sql)
		require.NoError(t, err)
		config := pipe.Config{MemoryLimit: 1 << 20, SpillDir: t.TempDir()}
		_, err = s.PlanOn(t.Context(), Options{Open: open, Config: config})
		if fits {
			require.NoError(t, err, sql)
			continue
		}
		require.ErrorIs(t, err, groupby.ErrMemoryLimit, sql)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, 29, e.Offset)
		_, err = s.PlanOn(t.Context(), Options{Open: open, Config: pipe.Config{MemoryLimit: 1 << 20}})
		require.ErrorIs(t, err, groupby.ErrMemoryLimit, sql)
		require.ErrorAs(t, err, &e)
		require.Equal(t, 29, e.Offset, "also of the groups of distinct values")
		p, err := s.PlanOn(t.Context(), Options{Open: open})
		require.NoError(t, err, sql)
		got, err := p.Pipe.Batch(t.Context())
		require.NoError(t, err)
		require.Positive(t, got.Columns[0].Value(0))
	}
}

func TestNamesOfSubqueries(t *testing.T) {
	b := batchOf(t, "select (select max(a) from t), a in (select 1) from t limit 1")
	require.Equal(t, []string{"(SELECT max(a) FROM t)", "a in (SELECT 1)"}, b.Schema().Names())
	b = batchOf(t, "select * exclude (S), columns('^A|a$') from t x limit 1")
	require.Equal(t, []string{"a", "a_1"}, b.Schema().Names())
	b = batchOf(t, "select * replace (a * 2 as A) from t order by a")
	require.Equal(t, []string{"a", "s"}, b.Schema().Names())
	require.Equal(t, []any{int64(2), int64(4), int64(6)}, []any{b.Columns[0].Value(0), b.Columns[0].Value(1), b.Columns[0].Value(2)})
}

// TestSubqueriesReachTheSource has the values of a subquery in the conditions that a source evaluates.
func TestSubqueriesReachTheSource(t *testing.T) {
	d := dataset(t, visits())
	explain := func(sql string) string {
		s, err := Parse(sql)
		require.NoError(t, err)
		p, err := planOn(t.Context(), s, pipe.Dataset(d))
		require.NoError(t, err)
		text, err := p.Pipe.Explain(t.Context())
		require.NoError(t, err)
		return text
	}
	require.Contains(t, explain("select url from t where user = (select max(user) from t)"), "user = 13")
	require.Contains(t, explain("select url from t where user in (select user from t where user > 10)"), "user in (")
	require.Contains(t, explain("select url from t where at > (select max(at) - interval '1 hour' from t)"), "pushed")
}

func TestErrorsOfGroupingSets(t *testing.T) {
	for sql, want := range map[string]string{
		"select s, grouping(a) from t group by rollup(s)":     "19: grouping of a, which is not in GROUP BY",
		"select grouping(s) from t":                           "16: grouping of s, which is not in GROUP BY",
		"select a from t group by rollup(s)":                  "7: column \"a\" is neither in GROUP BY nor within an aggregate",
		"select s from t group by rollup(b)":                  "32: b: no such column: \"b\"",
		"select s from t group by cube(a, s, a, s, a, s, a)":  "50: more than 64 grouping sets",
		"select s from t group by rollup()":                   "32: found \")\", want a column, a literal or a function",
		"select s from t group by rollup(s":                   "33: found the end, want , or )",
		"select s from t group by grouping sets":              "34: found \"sets\"",
		"select s from t group by grouping sets (s":           "41: found the end, want , or )",
		"select s from t group by grouping sets ((s)":         "",
		"select sum(grouping(s)) from t group by rollup(s)":   "11: an aggregate within an aggregate",
		"select * exclude (b) from t":                         "7: EXCLUDE of \"b\": no such column",
		"select * exclude (a, s) from t":                      "7: * EXCLUDE (a, s) has no column of: a, s",
		"select * replace (1 as b) from t":                    "7: REPLACE of \"b\": no such column",
		"select * replace (a) from t":                         "19: found \")\", want as and the name of a column",
		"select * exclude from t":                             "17: found \"from\", want the name of a column",
		"select columns('(') from t":                          "15: error parsing regexp",
		"select columns('z') from t":                          "7: COLUMNS('z') has no column of: a, s",
		"select columns(a) from t":                            "15: found \"a\", want * or a regular expression in single quotes",
		"select array_agg(a) filter (where a > 1) from t":     "7: found \"array_agg\", want an aggregate that leaves out NULL before filter",
		"select quantile_disc(a, 2) from t":                   "24: want a quantile from 0 to 1 as a literal",
		"select a from read('x.csv', '-') group by rollup(a)": "-1: grouping sets of standard input, which can be read once",
		"select array_agg(distinct a) from t":                 "",
	} {
		s, err := Parse(sql)
		if err == nil {
			_, err = s.PlanOn(t.Context(), Options{Open: oneRow})
		}
		var e *Error
		if assert.ErrorAs(t, err, &e, sql) {
			assert.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, sql)
		}
	}
}

// TestGroupingSetsAreUnions compares random sets with the union of their groupings.
func TestGroupingSetsAreUnions(t *testing.T) {
	_, b := readRecorded(t)
	for _, sets := range [][]string{{"s, k", "k", ""}, {"d", "d, s"}, {"t"}, {"", ""}, {"a % 3, k", "b"}} {
		var selects []string
		for _, set := range sets {
			text := "select count(*) as c, sum(b) as x, min(f) as m from t"
			if set != "" {
				text += " group by " + set
			}
			selects = append(selects, text)
		}
		union, err := Parse(strings.Join(selects, " union all "))
		require.NoError(t, err)
		grouped, err := Parse("select count(*) as c, sum(b) as x, min(f) as m from t group by grouping sets ((" + strings.Join(sets, "), (") + "))")
		require.NoError(t, err)
		want, err := answer(union, b)
		require.NoError(t, err)
		got, err := answer(grouped, b)
		require.NoError(t, err)
		require.ElementsMatch(t, want, got, sets)
	}
}
