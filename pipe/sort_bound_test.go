// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/pipe/internal/order"
)

// bounds records the values of Narrow.
type bounds []any

func (b *bounds) NarrowBy([]string)      {}
func (b *bounds) BeginWith(string, bool) {}
func (b *bounds) Narrow(all [][]expr.Bound) error {
	*b = append(*b, all[0][0].Values[0])
	return nil
}

// TestBoundOfAllGoroutines has two sorters: the last of the first rows of both is the bound, and it only becomes less.
func TestBoundOfAllGoroutines(t *testing.T) {
	for _, limit := range []int{3, mostShared + 1} {
		var got bounds
		d := &bound{source: &got, kept: make([][]boundRow, 2)}
		lower := func(worker int, first, last int64) { // first, first+1, and so on, but the last one
			n := make([]int64, limit)
			for i := range n {
				n[i] = first + int64(i)
			}
			n[limit-1] = last
			require.NoError(t, d.lower(worker, order.Key{Name: "n"}, column.NewBatch(column.Of("n", n)), limit-1))
		}
		lower(0, 1000, 2000)
		lower(1, 3000, 4000) // after all rows of the first sorter
		lower(1, 800, 3000)
		lower(0, 100, 1900)
		want := bounds{int64(2000), int64(1000), int64(800)}
		if limit > mostShared { // the bound of one sorter
			want = bounds{int64(2000), int64(1900)}
		}
		require.Equal(t, want, got)
	}
}
