// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"math"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/pipe"
)

// TestAggregatesOfNaNAndNull has all aggregates of floats of a NaN, 1, 2 and NULL; of one NaN; of infinity, NaN and 1;
// of a NULL and of nothing. DuckDB has the same values but for those in theirs, which docs/sql.md lists.
func TestAggregatesOfNaNAndNull(t *testing.T) {
	doc, err := os.ReadFile("../../../../docs/sql.md")
	require.NoError(t, err)
	nan, null := math.NaN(), math.Float64frombits(1) // stands for NULL
	inputs := [][]float64{{nan, 1, 2, null}, {nan}, {math.Inf(1), nan, 1}, {null}, {}}
	for aggregate, c := range map[string]struct {
		ours   [5]string
		theirs [5]string // "" means ours
		row    string    // of the table of differences
	}{
		"count(*)":                 {ours: [5]string{"4", "1", "3", "1", "0"}},
		"count(x)":                 {ours: [5]string{"3", "1", "3", "0", "0"}},
		"count(distinct x)":        {ours: [5]string{"3", "1", "3", "0", "0"}},
		"approx_count_distinct(x)": {ours: [5]string{"3", "1", "3", "0", "0"}},
		"sum(x)":                   {ours: [5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}},
		"avg(x)":                   {ours: [5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}},
		"min(x)":                   {ours: [5]string{"1", "NaN", "1", "NULL", "NULL"}},
		"max(x)":                   {ours: [5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}},
		"stddev(x)":                {ours: [5]string{"NaN", "NULL", "NaN", "NULL", "NULL"}},
		"variance(x)":              {ours: [5]string{"NaN", "NULL", "NaN", "NULL", "NULL"}},
		"stddev_pop(x)": {
			[5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}, [5]string{"", "0"}, "| `stddev_pop`, `variance_pop` of one NaN | NaN | 0 |",
		},
		"variance_pop(x)": {
			[5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}, [5]string{"", "0"}, "| `stddev_pop`, `variance_pop` of one NaN | NaN | 0 |",
		},
		"corr(x, x)": {ours: [5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}},
		"median(x)": {
			[5]string{"1.5", "NULL", "+Inf", "NULL", "NULL"},
			[5]string{"2", "NaN"},
			"| `median`, `quantile` | by a sketch, without NaN | exact; NaN is the greatest value |",
		},
		"quantile(x, 0.9)": {
			[5]string{"1.9", "NULL", "+Inf", "NULL", "NULL"},
			[5]string{"NaN", "NaN", "NaN"},
			"| `median`, `quantile` | by a sketch, without NaN | exact; NaN is the greatest value |",
		},
		"median_exact(x)": {
			[5]string{"1.5", "NULL", "+Inf", "NULL", "NULL"},
			[5]string{"2", "NaN"},
			"| `median_exact`, `quantile_exact` | `median`, `quantile_cont` without NaN | NaN is the greatest value |",
		},
		"quantile_exact(x, 0.9)": {
			[5]string{"1.9", "NULL", "+Inf", "NULL", "NULL"},
			[5]string{"NaN", "NaN", "NaN"},
			"| `median_exact`, `quantile_exact` | `median`, `quantile_cont` without NaN | NaN is the greatest value |",
		},
		"any_value(x)": {ours: [5]string{"NaN", "NaN", "+Inf", "NULL", "NULL"}},
		"first(x)":     {ours: [5]string{"NaN", "NaN", "+Inf", "NULL", "NULL"}},
		"last(x)": {
			[5]string{"2", "NaN", "1", "NULL", "NULL"}, [5]string{"NULL"}, "| `first`, `last` | without NULL | with NULL |",
		},
		"arg_min(x, x)": {ours: [5]string{"1", "NaN", "1", "NULL", "NULL"}},
		"arg_max(x, x)": {ours: [5]string{"NaN", "NaN", "NaN", "NULL", "NULL"}},
	} {
		require.Equal(t, c.theirs != [5]string{}, c.row != "", aggregate)
		require.Contains(t, string(doc), c.row, aggregate)
		s, err := Parse("select " + aggregate + " as v from t")
		require.NoError(t, err)
		for i, values := range inputs {
			nulls := make([]bool, len(values))
			for k, v := range values {
				nulls[k] = v == null
			}
			b := column.NewBatch(column.Of("x", values).WithNulls(nulls))
			p, err := planOn(t.Context(), s, pipe.Batches(b))
			require.NoError(t, err)
			got, err := p.Pipe.Batch(t.Context())
			require.NoError(t, err, aggregate)
			v := "NULL"
			if !got.Columns[0].Null(0) {
				v = got.Columns[0].Format(0, math.MaxInt)
			}
			require.Equal(t, c.ours[i], v, "%s of %v", aggregate, values)
		}
	}
}
