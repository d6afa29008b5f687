// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// TestDistinctAndFilter has aggregates of distinct values and of the rows of a condition, with the rows that DuckDB
// returns.
func TestDistinctAndFilter(t *testing.T) {
	table := column.NewBatch(column.Strings("k", []string{"a", "a", "a", "b", "b", "b", "c"}),
		column.Of("x", []int64{1, 1, 2, 0, 3, 3, 0}).WithNulls([]bool{3: true, 6: true}),
		column.Of("y", []float64{2.5, 2.5, 0, .5, .5, -1, 0}).WithNulls([]bool{2: true, 6: true}))
	for text, want := range map[string]string{
		"select k, sum(distinct x), count(*), count(x), count(distinct x) from t group by k order by k": "a 3 3 3 2;b 3 3 2 1;c NULL 1 0 0",
		"select sum(distinct x) + 1, avg(distinct x), max(y), sum(y), min(x) from t":                    "7 2 2.5 5 1",
		"select k, sum(distinct x) s from t group by k having sum(distinct x) > 2 order by k":           "a 3;b 3",
		"select sum(distinct x), count(*), count(y) from t where x > 100":                               "NULL 0 0",
		"select k, avg(distinct y) from t group by k order by 1":                                        "a 2.5;b -0.25;c NULL",
		"select x, sum(distinct x) from t group by x order by 1":                                        "1 1;2 2;3 3;NULL NULL",
		"select count(*) filter (where x > 1), sum(y) filter (where k = 'b' and x > 2), " +
			"count(distinct k) filter (where x is null) from t": "3 -0.5 2",
		"select k, arg_max(y, x) filter (where y < 2), count_if(x = 1), min(distinct x) from t where k < 'c' group by k order by k": "a NULL 2 1;b 0.5 0 3",
		"select sum(distinct x) filter (where k = 'a'), count(y) from t":                                                            "3 5",
		"select sum(distinct x % 2), sum(x) from t":                                                                                 "1 10",
	} {
		s, err := Parse(text)
		require.NoError(t, err, text)
		again, err := Parse(s.String())
		require.NoError(t, err, s.String())
		require.Equal(t, s.String(), again.String())
		p, err := planOn(t.Context(), s, pipe.Batches(table))
		require.NoError(t, err, text)
		got, err := p.Pipe.Batch(t.Context())
		require.NoError(t, err, text)
		var rows []string
		for r := range got.Rows {
			var cells []string
			for i := range got.Columns {
				cell := got.Columns[i].Format(r, math.MaxInt)
				if got.Columns[i].Null(r) {
					cell = "NULL"
				}
				cells = append(cells, cell)
			}
			rows = append(rows, strings.Join(cells, " "))
		}
		require.Equal(t, want, strings.Join(rows, ";"), text)
	}
	for text, reason := range map[string]string{
		"select sum(distinct x), sum(distinct y) from t": "DISTINCT of y beside DISTINCT of x: not supported",
		"select sum(distinct x), avg(y) from t":          "avg beside an aggregate of distinct values: not supported",
		"select corr(distinct x, y) from t":              "not supported",
		"select count(*) filter (x > 1) from t":          `found "x", want where`,
	} {
		s, err := Parse(text)
		if err == nil {
			_, err = planOn(t.Context(), s, pipe.Batches(table))
		}
		require.ErrorContains(t, err, reason, text)
	}
}
