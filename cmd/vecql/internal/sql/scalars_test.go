// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestScalarsOfDuckDB evaluates functions at chosen arguments, in statements without FROM. Arguments that DuckDB
// refuses have an error or NaN.
func TestScalarsOfDuckDB(t *testing.T) {
	for _, c := range readEvaluations(t, "testdata/scalars.json", 500) {
		got, err := evaluate(t, c.SQL)
		if c.Value != nil && *c.Value == "error" {
			if err == nil {
				v := got.Columns[0].Value(0)
				f, ok := v.(float64)
				require.True(t, ok && (f != f || math.IsInf(f, 0)), "%s: %v", c.SQL, v)
			}
			continue
		}
		require.NoError(t, err, c.SQL)
		require.True(t, sameCell(&got.Columns[0], 0, c.Value), "%s: %s", c.SQL, got.Columns[0].Format(0, math.MaxInt))
	}
}
