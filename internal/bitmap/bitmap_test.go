// SPDX-License-Identifier: Apache-2.0

package bitmap

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRanges compares the functions of several bits with Get and Set, from each bit of a byte on.
func TestRanges(t *testing.T) {
	src := []byte{0x5a, 0xc3, 0x17, 0xf0, 0x81, 0x3c, 0x6e, 0x99}
	each := func(old []byte, to, n int, bit func(i int) byte) []byte {
		want := bytes.Clone(old)
		for i := range n {
			Set(want, to+i, bit(i))
		}
		return want
	}
	for _, old := range [][]byte{make([]byte, 8), bytes.Repeat([]byte{0xff}, 8), {1, 2, 4, 8, 16, 32, 64, 128}} {
		for to := range 17 {
			for n := range 8*len(old) - to + 1 {
				got := bytes.Clone(old)
				Fill(got, to, n)
				require.Equal(t, each(old, to, n, func(int) byte { return 1 }), got, "fill %d from %d", n, to)
				got = bytes.Clone(old)
				Clear(got, to, n)
				require.Equal(t, each(old, to, n, func(int) byte { return 0 }), got, "clear %d from %d", n, to)
				for from := range min(17, 8*len(src)-n+1) {
					got = bytes.Clone(old)
					Copy(got, to, src, from, n)
					bit := func(i int) byte { return Get(src, from+i) }
					require.Equal(t, each(old, to, n, bit), got, "copy %d from %d to %d", n, from, to)
				}
				ones := 0
				for i := range n {
					ones += int(Get(old, to+i))
				}
				require.Equal(t, ones, Count(old, to, n))
			}
		}
	}
}
