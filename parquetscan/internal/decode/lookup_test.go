// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// FuzzLookUp compares hits, kept bits, values and comparisons of codes with the hits and values of decoded codes.
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
		codes, found, scratch := make([]uint32, n), make([]byte, n), []uint32{}
		want := reference.Decode(codes)
		if slices.ContainsFunc(codes, func(c uint32) bool { return int(c) >= len(hits) }) {
			want = errBeyond
		}
		lo, span := uint32(entries)/3, uint32(entries)/2
		between, compared := h, bytes.Repeat([]byte{0xff}, int(n+7)/8)
		err := between.Between(compared, int(n), lo, span, int(entries))
		require.Equal(t, want == nil, err == nil, "%v, want %v", err, want)
		some := bytes.Repeat([]byte{0x21, 0, 0, 0x80, 0, 0x0f, 0, 0, 0, 0, 0}, int(n)/8+1)[:(n+7)/8]
		kept, few := h, bytes.Clone(some)
		keptErr := kept.Keep(few, int(n), hits)
		ones, chosen := bitmap.Count(some, 0, int(n)), h
		decoded := make([]uint32, ones)
		decodedErr := chosen.DecodeOnes(decoded[:bitmap.Count(some, 0, int(n/3))], some, 0, int(n/3))
		if decodedErr == nil {
			rest := decoded[bitmap.Count(some, 0, int(n/3)):]
			decodedErr = chosen.DecodeOnes(rest, some, int(n/3), int(n-n/3))
		}
		again, wide, entry := h, make([]uint64, n), make([]uint64, entries)
		for i := range entry {
			entry[i] = uint64(i) * 0x0123456789abcdef
		}
		err = LookUp(&h, found, hits, &scratch)
		require.Equal(t, want == nil, err == nil, "%v, want %v", err, want)
		if err != nil {
			return
		}
		require.NoError(t, keptErr)
		require.NoError(t, decodedErr)
		require.NoError(t, LookUp(&again, wide, entry, &scratch))
		for i, c := range codes {
			require.Equal(t, hits[c], found[i])
			require.Equal(t, entry[c], wide[i])
			require.Equal(t, c-lo <= span, bitmap.Get(compared, i) == 1)
			require.Equal(t, hits[c]&bitmap.Get(some, i), bitmap.Get(few, i))
			if bitmap.Get(some, i) == 1 {
				require.Equal(t, c, decoded[0])
				decoded = decoded[1:]
			}
		}
		require.Equal(t, [...]int{h.next, h.Left}, [...]int{between.next, between.Left})
		require.Equal(t, [...]int{h.next, h.Left}, [...]int{kept.next, kept.Left})
		require.Zero(t, bitmap.Count(compared, int(n), 8*len(compared)-int(n)))
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
