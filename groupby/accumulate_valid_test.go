// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestValidRows compares the rows that are not NULL with a loop, in columns with few, some, many and all of them, that
// end within a word of the validity and at its end.
func TestValidRows(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 63, 64, 65, 640, 1000} {
		for _, one := range []int{1, 2, 5, 40} { // of so many rows one is not NULL
			null, want := make([]bool, n), []uint32{}
			for i := range null {
				if null[i] = r.IntN(one) != 0; !null[i] {
					want = append(want, uint32(i))
				}
			}
			c := column.Of("c", make([]int64, n)).WithNulls(null)
			require.Equal(t, want, append([]uint32{}, validRows(nil, &c)...), "%d rows", n)
		}
	}
}
