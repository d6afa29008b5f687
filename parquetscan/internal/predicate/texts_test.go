// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTextsBefore compares texts with ends that share their first bytes.
func TestTextsBefore(t *testing.T) {
	texts := []string{"", "\x00", "a", "a\x00", "abcdefg", "abcdefgh", "abcdefg\x00", "abcdefgh\x00", "abcdefghi", "b", "\xff\xff", "abcdefgi", "x"}
	for _, end := range texts[1:] {
		for _, open := range []bool{false, true} {
			run := textRun{at: []int32{0}, gap: 2}
			var want []byte
			for i, text := range texts {
				run.data = append(append(run.data, 0xee, 0xee), text...)
				run.at = append(run.at, int32(len(run.data)))
				want = append(want, make([]byte, (i+8)/8-len(want))...)
				want[i>>3] |= boolBit(text < end || !open && text == end) << (i & 7)
			}
			got := make([]byte, len(want))
			run.before(end, open, got)
			require.Equal(t, want, got, "%q %v", end, open)
		}
	}
}

// FuzzContain compares a search in a run of texts with one in each text. The bytes of lens are lengths of texts.
func FuzzContain(f *testing.F) {
	f.Add([]byte("aabababb"), []byte{3, 0, 2, 3}, []byte("ab"), uint8(0))
	f.Add([]byte("\x01\x00\x00\x00a\x02\x00\x00\x00\x00a"), []byte{1, 2}, []byte("\x00\x00"), uint8(4))
	f.Fuzz(func(t *testing.T, data, lens, part []byte, gap uint8) {
		run := textRun{data, []int32{0}, int32(gap % 8)}
		for _, n := range lens {
			end := run.at[len(run.at)-1] + run.gap + int32(n)
			if int(end) > len(data) {
				break
			}
			run.at = append(run.at, end)
		}
		if len(part) == 0 || len(run.at) == 1 {
			return
		}
		n := len(run.at) - 1
		got, want, all := make([]byte, (n+7)/8), make([]byte, (n+7)/8), bytes.Repeat([]byte{0xff}, (n+7)/8)
		all[n/8%len(all)] &= 1<<(n%8) - 1 | byte(0xff*boolBit(n%8 == 0))
		run.contain(part, got)
		run.someContain(part, all, want)
		require.Equal(t, want, got)
		run.empty(got)
		for i := range n {
			require.Equal(t, boolBit(len(run.text(i)) == 0), got[i>>3]>>(i&7)&1)
		}
	})
}
