// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnpack compares unpack with unpackGeneric for all widths, at all bits of a byte, up to the end of the bytes.
func TestUnpack(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	src := make([]byte, 200)
	for i := range src {
		src[i] = byte(random.Uint32())
	}
	for width := range uint(33) {
		for bit := range 8 {
			n := (8*len(src) - bit) / int(max(width, 1))
			got, want := make([]uint32, n), make([]uint32, n)
			unpackGeneric(want, src, bit, width)
			for _, part := range []int{n, n / 2, 1, 0} { // from the start, and up to the end
				unpack(got[:part], src, bit, width)
				require.Equal(t, want[:part], got[:part], "width %d, bit %d", width, bit)
				at := n - part
				unpack(got[at:], src, bit+at*int(width), width)
				require.Equal(t, want[at:], got[at:], "width %d, bit %d", width, bit)
			}
		}
	}
}
