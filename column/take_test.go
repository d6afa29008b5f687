// SPDX-License-Identifier: Apache-2.0

package column_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
)

// TestTake compares rows of every kind with slices one after the other, also in memory that is used again.
func TestTake(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 18))
	var dst column.Batch
	for _, nulls := range []float64{0, 0.3, 1} {
		b := columntest.Batch(r, columntest.Fields(), 50, nulls)
		b.Columns = append(b.Columns, columntest.WithDictionary(columntest.Column(r, column.Field{Name: "coded", Type: column.Type{Kind: column.String}, Nullable: true}, 50, nulls)))
		for _, rows := range [][]int32{{}, {49}, {3, 3, 0, 17, 48, 5}, {1, 2, 3, 10, 11, 40, 41, 42, 43, 44}} {
			slices := []*column.Batch{b.Slice(0, 0)}
			for _, row := range rows {
				slices = append(slices, b.Slice(int(row), int(row)+1))
			}
			want, err := column.Concat(slices...)
			require.NoError(t, err)
			got, err := b.Take(rows)
			require.NoError(t, err)
			require.NoError(t, got.Check())
			require.Empty(t, column.Diff(got, want))
			require.NoError(t, b.TakeInto(&dst, rows))
			require.NoError(t, dst.Check())
			require.Empty(t, column.Diff(&dst, want))
		}
	}
	coded := column.NewBatch(columntest.WithDictionary(column.Strings("s", []string{"a", "b"})))
	got, err := coded.Take([]int32{1})
	require.NoError(t, err)
	require.Same(t, coded.Columns[0].Dict, got.Columns[0].Dict)
}
