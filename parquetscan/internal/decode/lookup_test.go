// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// FuzzLookUp compares hits and values of codes with the hits and values of decoded codes.
func FuzzLookUp(f *testing.F) {
	f.Add([]byte{0x03, 0x88, 0xc6, 0xfa, 20, 5, 0x05, 1, 2, 3, 4, 5, 6}, uint8(3), uint8(8), uint16(50))
	f.Add([]byte{200, 1, 3}, uint8(2), uint8(4), uint16(100))
	f.Add([]byte{200, 1, 3}, uint8(2), uint8(2), uint16(100))
	f.Add([]byte{}, uint8(0), uint8(1), uint16(9))
	f.Fuzz(func(t *testing.T, data []byte, width, entries uint8, n uint16) {
		var h, reference Hybrid
		if h.Start(data, uint(width)) != nil {
			return
		}
		reference = h
		hits := make([]byte, entries)
		for i := range hits {
			hits[i] = byte(i*i/3) & 1
		}
		codes, ones, scratch := make([]uint32, n), make([]byte, n), []uint32{}
		want := reference.Decode(codes)
		if slices.ContainsFunc(codes, func(c uint32) bool { return int(c) >= len(hits) }) {
			want = errBeyond
		}
		again, wide, entry := h, make([]uint64, n), make([]uint64, entries)
		for i := range entry {
			entry[i] = uint64(i) * 0x0123456789abcdef
		}
		err := LookUp(&h, ones, hits, &scratch)
		require.Equal(t, want == nil, err == nil, "%v, want %v", err, want)
		if err != nil {
			return
		}
		require.NoError(t, LookUp(&again, wide, entry, &scratch))
		for i, c := range codes {
			require.Equal(t, hits[c], ones[i])
			require.Equal(t, entry[c], wide[i])
		}
	})
}

var errBeyond = failure.Corrupt("a code beyond the dictionary")

// TestFill compares fill with a loop.
func TestFill(t *testing.T) {
	for n := range 100 {
		got, want := make([]uint16, n+1), make([]uint16, n+1)
		for i := range n {
			want[i] = 7
		}
		fill(got[:n], 7)
		require.Equal(t, want, got)
	}
}
