// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/pipe"
)

// Statements of several SELECTs, and decimals, with DuckDB's answers. testdata/statements.py writes them.

// oneRow opens the source of statements without FROM, and the table t of three rows.
func oneRow(_ context.Context, from Source) (pipe.Pipe, column.Schema, error) {
	b := column.NewBatch(column.Of("", []int8{1}))
	if !from.None() {
		b = column.NewBatch(column.Of("a", []int64{3, 1, 2}), column.Strings("s", []string{"x", "y", "x"}))
	}
	return pipe.Batches(b), b.Schema(), nil
}

func planned(t *testing.T, sql string) (*Plan, error) {
	t.Helper()
	s, err := Parse(sql)
	require.NoError(t, err, sql)
	back, err := Parse(s.String())
	require.NoError(t, err, "%s: %s", sql, s)
	require.Equal(t, s.String(), back.String())
	return s.PlanOn(t.Context(), Options{Open: oneRow})
}

func TestDecimalsOfDuckDB(t *testing.T) {
	failed := 0
	for _, c := range readEvaluations(t, "testdata/decimals.json", 600) {
		p, err := planned(t, "select "+c.SQL+" v")
		if !assert.NoError(t, err, c.SQL) {
			continue
		}
		got, err := p.Pipe.Batch(t.Context())
		if c.Value != nil && *c.Value == "error" {
			assert.Error(t, err, c.SQL)
			failed++
			continue
		}
		if assert.NoError(t, err, c.SQL) {
			assert.True(t, sameNumber(&got.Columns[0], 0, c.Value), "%s: %s", c.SQL, got.Columns[0].Format(0, math.MaxInt))
		}
	}
	require.Positive(t, failed)
}

// sameNumber is sameCell with decimals by their text.
func sameNumber(c *column.Column, row int, want *string) bool {
	if want == nil || c.Null(row) {
		return want == nil && c.Null(row)
	}
	if f, err := strconv.ParseFloat(*want, 64); err == nil {
		switch v := c.Value(row).(type) {
		case float64:
			return math.Abs(v-f) <= 1e-12*math.Abs(f)
		case cql.Decimal:
			return v.String() == *want
		}
	}
	return sameCell(c, row, want)
}

func TestStatementsOfDuckDB(t *testing.T) { requireAnswers(t, "testdata/statements.json", 70) }

// requireAnswers runs the statements of a file, and compares the rows with DuckDB's.
func requireAnswers(t *testing.T, file string, least int) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var cases []struct {
		SQL  string
		Rows [][]*string
	}
	require.NoError(t, json.Unmarshal(text, &cases))
	require.Greater(t, len(cases), least)
	for _, c := range cases {
		p, err := planned(t, c.SQL)
		if err != nil {
			t.Errorf("%s: %v", c.SQL, err)
			continue
		}
		got, err := p.Pipe.Batch(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.SQL, err)
			continue
		}
		if got.Rows != len(c.Rows) {
			t.Errorf("%s: %s", c.SQL, got)
			continue
		}
		for i, row := range c.Rows {
			for k, cell := range row {
				if !sameNumber(&got.Columns[k], i, cell) {
					t.Errorf("%s: row %d, column %d:\n%s", c.SQL, i, k, got)
				}
			}
		}
	}
}

// TestErrorsOfSets has errors of operands, and of the statements within others, with their places.
func TestErrorsOfSets(t *testing.T) {
	for sql, want := range map[string]string{
		"select a from t union select a, s from t":             "16: UNION of 1 columns and 2 columns",
		"select a, s from t union select a from t":             "19: UNION of 2 columns and 1 columns",
		"select * from (select a, s from t) x(b, b)":           "-1: x has two columns \"b\"",
		"select a from t union all select s from t":            "16: UNION: column 1 is int64 on the left and string on the right: cast one of them",
		"select a from t except select b from t":               "30: b: no such column: \"b\"",
		"select b from (select a from t) x":                    "7: b: no such column: \"b\"",
		"select a from (select a + s from t) x":                "22: a + s: + requires numbers: s is string",
		"select * from (select a from t) x(b, c)":              "-1: x has 1 columns, and 2 names",
		"with x as (select a / 0 as b from t) select b from x": "18: a / 0: division of an integer by zero",
		"select a from t union all select a / 0 from t":        "33: a / 0: division of an integer by zero",
		"select sum(v) from (select a * 9000000000000000000 / 3 as v from t where a = 1) x group by v having sum(v) > s": "109: s: no such column",
		"values (1), ('a')": "7: column 1 of VALUES: expr: coalesce(1, 'a'): coalesce: 'a' has no common type with int64",
		"select string_agg(s order by a), first(a) from t":                 "33: aggregates with different ORDER BY: not supported",
		"select string_agg(s order by a), first(a order by a desc) from t": "33: aggregates with different ORDER BY: not supported",
		"select string_agg(s order by a), arg_max(a, s) from t":            "33: aggregates with different ORDER BY: not supported",
		"select string_agg(s, a) from t":                                   "21: the separator of string_agg must be a text literal",
		"select string_agg(s order by v) from t":                           "29: v: no such column: \"v\"",
		"select a from t order by all nulls":                               "34: found the end, want first or last",
		"select a from t union select a from t order by a + 'x'":           "47: a + 'x': + requires numbers: 'x'",
	} {
		checkError(t, sql, want)
	}
}

// checkError requires an error of a statement, with its offset.
func checkError(t *testing.T, sql, want string) {
	t.Helper()
	s, err := Parse(sql)
	var p *Plan
	if err == nil {
		if p, err = s.PlanOn(t.Context(), Options{Open: oneRow}); err == nil {
			if _, err = p.Pipe.Batch(t.Context()); err != nil {
				err = p.Locate(err)
			}
		}
	}
	var e *Error
	if assert.ErrorAs(t, err, &e, sql) {
		assert.Contains(t, fmt.Sprintf("%d: %v", e.Offset, e.Err), want, sql)
	}
}

// TestRowsOfSets has the rows of set operations on the table t.
func TestRowsOfSets(t *testing.T) {
	for sql, want := range map[string]string{
		"select a from t union all select a from t order by a":                          "1 1 2 2 3 3",
		"select a from t union all select a from t offset 4":                            "1 2",
		"select a from t union all select a from t limit 2":                             "3 1",
		"select a from t union all select a from t limit 0":                             "",
		"select a, s from t union select a as s, s as a from t order by a, s":           "1 y 2 x 3 x",
		"select a, s from t except select a as s, s as a from t where a = 1 order by 1": "2 x 3 x",
		"select a as b, s from t intersect select a, s from t where a > 1 order by b":   "2 x 3 x",
	} {
		p, err := planned(t, sql)
		require.NoError(t, err, sql)
		b, err := p.Pipe.Batch(t.Context())
		require.NoError(t, err, sql)
		var cells []string
		for row := range b.Rows {
			for k := range b.Columns {
				cells = append(cells, b.Columns[k].Format(row, math.MaxInt))
			}
		}
		require.Equal(t, want, strings.Join(cells, " "), sql)
	}
}

// TestStatementsWithinEachOther refuses statements that are too deep, and too many.
func TestStatementsWithinEachOther(t *testing.T) {
	deep := strings.Repeat("select * from (", 200) + "select 1" + strings.Repeat(")", 200)
	_, err := Parse(deep)
	require.ErrorContains(t, err, "more than 50 statements within each other")
	many := "with a0 as (select 1 as v)"
	for i := range 60 {
		many += fmt.Sprintf(", a%d as (select * from a%d union all select * from a%d)", i+1, i, i)
	}
	_, err = Parse(many + " select count(*) from a60")
	require.ErrorContains(t, err, "more than 500 SELECTs")
	p, err := planned(t, "with a as (select 1 as v), b as (select * from a union all select * from a) select count(*) as n from b")
	require.NoError(t, err)
	b, err := p.Pipe.Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(2), b.Columns[0].Value(0))
}
