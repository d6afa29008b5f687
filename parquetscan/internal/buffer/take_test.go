// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// onesReference is ones bit by bit.
func onesReference(sel []byte, n int) (runs [][2]int) {
	for i := range n {
		switch on := sel[i>>3]>>(i&7)&1 == 1; {
		case on && len(runs) > 0 && runs[len(runs)-1][1] == i:
			runs[len(runs)-1][1]++
		case on:
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	return runs
}

// TestOnes compares the runs of 1 bits with the runs of the reference, in selections of 0 to 299 rows. Bits after the
// last row may be set.
func TestOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		for range 20 {
			sel := make([]byte, (n+7)/8+r.IntN(10))
			for i := range sel {
				sel[i] = []byte{0, 0xff, byte(r.Uint32()), byte(r.Uint32() & r.Uint32() & r.Uint32())}[r.IntN(4)]
			}
			var got [][2]int
			Ones(sel, n, func(from, to int) { got = append(got, [2]int{from, to}) })
			require.Equal(t, onesReference(sel, n), got, "%x, %d rows", sel, n)
		}
	}
}
