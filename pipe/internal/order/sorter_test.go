// SPDX-License-Identifier: Apache-2.0

package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestFirstRowsEqualASort has several sorters of random rows: all rows of a batch or some of them.
func TestFirstRowsEqualASort(t *testing.T) {
	type row struct{ n, at int64 }
	random := rand.New(rand.NewPCG(3, 4))
	keys := []Key{{Name: "n", Desc: true}}
	for _, limit := range []int64{-1, 0, 1, 7, 500, 5000} {
		for _, offset := range []int64{0, 1, 6, 600} {
			sorters := make([]Sorter, 3)
			least := make([]int64, len(sorters))
			for i := range sorters {
				sorters[i] = Sorter{Keys: keys, Limit: limit, Cut: func(k Key, b *column.Batch, at int) error {
					require.Equal(t, keys[0], k)
					least[i] = b.Column("n").Value(at).(int64)
					return nil
				}}
			}
			var all []row
			added := make([]int64, len(sorters))
			for first := int64(0); first < 2000; first += 100 {
				n, at := make([]int64, 100), make([]int64, 100)
				var some []int32
				for i := range n {
					n[i], at[i] = random.Int64N(50), first+int64(i)
					if first%300 == 0 && i%3 == 0 {
						continue
					}
					if first%300 == 0 {
						some = append(some, int32(i))
					}
					all = append(all, row{n[i], at[i]})
					added[first/100%3]++
				}
				b := column.NewBatch(column.Of("n", n), column.Of("at", at))
				b.Source.FirstRow = first
				require.NoError(t, sorters[first/100%3].Add(b, some))
			}
			slices.SortFunc(all, func(a, b row) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.at, b.at)) })
			for i, s := range sorters {
				require.Equal(t, s.full, limit > 0 && limit <= added[i], "the sorter has cut")
				if s.full {
					require.GreaterOrEqual(t, least[i], int64(0))
					require.LessOrEqual(t, int64(len(s.rows)), 2*limit+sortSlack+100)
				}
			}
			if limit >= 0 {
				all = all[:min(limit, int64(len(all)))]
			}
			all = all[min(offset, int64(len(all))):]
			b, err := Merge(sorters, offset)
			require.NoError(t, err)
			var got []row
			for i := range b.Rows {
				got = append(got, row{b.Column("n").Value(i).(int64), b.Column("at").Value(i).(int64)})
			}
			require.Equal(t, len(all), b.Rows)
			require.Equal(t, append([]row{}, all...), append([]row{}, got...), "limit %d, offset %d", limit, offset)
		}
	}
}

// TestSorterDropsRows has more rows than it keeps: it holds no other rows after a cut.
func TestSorterDropsRows(t *testing.T) {
	s := Sorter{Keys: []Key{{Name: "n"}}, Limit: 2}
	require.NoError(t, s.Add(column.NewBatch(column.Of("n", []int64{5, 3, 4, 1})), nil))
	require.Len(t, s.rows, 2)
	require.Equal(t, 2, s.batches[0].Rows)
	require.NoError(t, s.Add(column.NewBatch(column.Of("n", []int64{9, 2})), nil))
	require.Len(t, s.rows, 3, "9 comes after the first rows")
}

// TestSortOfTooManyRows has more rows than an int32 counts.
func TestSortOfTooManyRows(t *testing.T) {
	half := &column.Batch{Rows: 1 << 30}
	_, err := (&Sorter{batches: []*column.Batch{half, half}}).gather()
	require.ErrorIs(t, err, column.ErrTooLarge)
	require.ErrorContains(t, err, "2147483648 rows")
	b, err := (&Sorter{batches: []*column.Batch{half}, rows: []sortRow{{row: 5}}}).gather()
	require.NoError(t, err)
	require.Equal(t, 1, b.Rows)
}
