// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// A block of distinct keys is merged into an empty merger, and then again into one with all its groups. Sums without a
// value stay NULL, also those behind the first chunk.
func TestAdoptedBlock(t *testing.T) {
	const rows, null = 2*chunkRows + 100, chunkRows + 7
	for _, key := range []column.Column{vals(make([]int64, rows)), distinctTextRows(0, rows).Columns[0]} {
		numbers, validity := make([]int64, rows), make([]byte, (rows+7)/8)
		for i := range rows {
			numbers[i] = int64(i) * 1_000_003
			if i != null {
				validity[i>>3] |= 1 << (i & 7)
			}
		}
		if key.Type == typeInt64 {
			key = vals(numbers)
		}
		c, err := Config{Keys: By("k0"), Aggregates: []Aggregate{Sum("v0"), Max("v0")}}.check()
		require.NoError(t, err)
		p, err := newPlan(c, defaultLimits, []column.Type{key.Type, typeInt64})
		require.NoError(t, err)
		maker, from := newKeyMaker(p.keys), newMerger(p)
		values := vals(numbers).WithValidity(validity)
		for i := 0; i < rows; i += chunkRows {
			j := min(i+chunkRows, rows)
			maker.make(cols(key), i, j)
			require.NoError(t, from.add(&chunk{keys: &maker.keys, values: cols(values.Slice(i, j)), start: int64(i)}, false))
		}
		b, err := from.block()
		require.NoError(t, err)
		require.True(t, b.distinct)
		to := newMerger(p)
		for times := int64(1); times < 3; times++ {
			require.NoError(t, to.merge(b))
			require.Equal(t, rows+1, to.groups())
			require.Equal(t, from.numbers, to.numbers)
			sums, err := to.results[0](1, to.groups())
			require.NoError(t, err)
			for i := range sums.Len {
				require.Equal(t, i == null, sums.Null(i), "group %d", i)
				if i != null {
					require.Equal(t, times*numbers[i], view[int64](&sums)[i])
				}
			}
		}
	}
}
