// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRanges compares intersections and unions of ranges with the ones of bits.
func TestRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const rows = 24
	list := func(mask uint32) (ranges []Range) {
		for i := range int64(rows) {
			if mask>>i&1 != 0 {
				ranges = AddRange(ranges, Range{i, i + 1})
			}
		}
		return ranges
	}
	for range 2000 {
		a, b := uint32(random.IntN(1<<rows)), uint32(random.IntN(1<<rows))
		ra, rb := list(a), list(b)
		require.Equal(t, list(a&b), IntersectRanges(ra, rb))
		require.Equal(t, list(a|b), uniteRanges(ra, rb))
		count := 0
		for i, r := range ra {
			require.True(t, i == 0 || ra[i-1].To < r.From)
			count += int(r.To - r.From)
		}
		require.Equal(t, bits.OnesCount32(a), count)
	}
}
