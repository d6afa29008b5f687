// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The delta encodings.

// TestWideDeltas reads deltas of 64 bits, whose sums wrap around in the type of the column.
func TestWideDeltas(t *testing.T) {
	want := []int64{math.MinInt32, math.MaxInt32, -1, 0, math.MinInt32, 7}
	b := encodedColumn(physicalInt32, format.DeltaPacked, len(want), wideDeltas(want))
	s := scanOf(t, openBytes(t, b), Options{})
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		for i, v := range valuesOf[int32](&b.Columns[0]) {
			require.Equal(t, want[i], int64(v))
		}
	}
}

// wideDeltas encodes less than 34 integers as DELTA_BINARY_PACKED, in one block of deltas of 64 bits.
func wideDeltas(values []int64) []byte {
	b := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(values)))
	b = append(binary.AppendVarint(b, values[0]), 0, 64, 0, 0, 0)
	for i := range 32 {
		d := int64(0)
		if i+1 < len(values) {
			d = values[i+1] - values[i]
		}
		b = binary.LittleEndian.AppendUint64(b, uint64(d))
	}
	return b
}

// encodedColumn returns a file of one column with n values in one page.
func encodedColumn(physical int64, encoding format.Encoding, n int, data []byte) []byte {
	return oneColumn(int64(n), handColumn{name: "d", physical: physical, converted: convertedNever, pages: [][]byte{
		rawPage(rawHeader{n: int64(n), encoding: encoding, uncompressed: -1}, data),
	}})
}

// TestHostileDeltas reads deltas that would expand beyond memory.
func TestHostileDeltas(t *testing.T) {
	varints := func(v ...uint64) (b []byte) {
		for _, x := range v {
			b = binary.AppendUvarint(b, x)
		}
		return b
	}
	block := append(varints(1<<32-128, 1, 100, 0, 0), 0, 0, 0) // one miniblock of 4 billion
	same := func(n, v int) []byte { return deltas(slices.Repeat([]int{v}, n)...) }
	// The first string has 500,000 bytes, and all others repeat it.
	once := make([]int, 1000)
	once[0] = 500_000
	others := slices.Repeat([]int{500_000}, 1000)
	others[0] = 0
	repeat := slices.Concat(deltas(others...), deltas(once...), make([]byte, 500_000))
	for name, c := range map[string]struct {
		b  []byte
		is []error
	}{
		"block of int32":    {encodedColumn(physicalInt32, format.DeltaPacked, 100, block), []error{ErrUnsupported}},
		"block of int64":    {encodedColumn(physicalInt64, format.DeltaPacked, 100, block), []error{ErrUnsupported}},
		"block of lengths":  {encodedColumn(physicalText, format.DeltaLength, 100, block), []error{ErrUnsupported}},
		"block of prefixes": {encodedColumn(physicalText, format.DeltaBytes, 100, block), []error{ErrUnsupported}},
		"block of suffixes": {encodedColumn(physicalText, format.DeltaBytes, 100, append(same(100, 0), block...)), []error{ErrUnsupported}},
		"negative lengths": {
			encodedColumn(physicalText, format.DeltaLength, 2, append(varints(128, 4, 2, 1), 0, 0, 0, 0, 0)),
			[]error{ErrCorrupt},
		},
		"lengths beyond":    {encodedColumn(physicalText, format.DeltaLength, 100, same(100, 7)), []error{ErrCorrupt}},
		"prefix of nothing": {encodedColumn(physicalText, format.DeltaBytes, 100, append(same(100, 1), same(100, 0)...)), []error{ErrCorrupt}},
		"too few":           {encodedColumn(physicalInt64, format.DeltaPacked, 100, same(99, 1)), []error{ErrCorrupt}},
		"too many":          {encodedColumn(physicalInt64, format.DeltaPacked, 100, same(101, 1)), []error{ErrCorrupt}},
		"none":              {encodedColumn(physicalInt64, format.DeltaPacked, 100, nil), []error{ErrCorrupt}},
		"cut":               {encodedColumn(physicalInt64, format.DeltaPacked, 100, varints(128, 4, 100, 1, 0)), []error{ErrCorrupt}},
		"65 bits": {
			encodedColumn(physicalInt64, format.DeltaPacked, 100, append(varints(128, 4, 100, 1, 0), 65, 0, 0, 0)),
			[]error{ErrCorrupt},
		},
		"of booleans":            {encodedColumn(physicalBool, format.DeltaPacked, 100, same(100, 1)), []error{ErrCorrupt}},
		"repeated":               {encodedColumn(physicalText, format.DeltaBytes, 1000, repeat), []error{ErrTooLarge}},
		"many of no bits":        {encodedColumn(physicalInt64, format.DeltaPacked, 1<<31-1, same(1000, 1)), []error{ErrTooLarge}},
		"many lengths":           {encodedColumn(physicalText, format.DeltaLength, 1<<31-1, same(1000, 0)), []error{ErrTooLarge}},
		"streams of other width": {encodedColumn(physicalInt64, format.ByteStreamSplit, 3, int64s(0, 2)), []error{ErrCorrupt}},
		"unknown encoding":       {encodedColumn(physicalInt64, 77, 3, int64s(0, 3)), []error{ErrCorrupt, ErrUnsupported}},
	} {
		allocated, err := readError(t, c.b, Config{}, Options{MaxBatchBytes: 8 << 20})
		is := false
		for _, want := range c.is {
			is = is || errors.Is(err, want)
		}
		require.True(t, is, "%s: %v", name, err)
		requireTyped(t, err)
		require.Less(t, allocated, uint64(64<<20), name)
	}
	// A valid page.
	good := encodedColumn(physicalText, format.DeltaBytes, 200, slices.Concat(same(200, 0), same(200, 2), bytes.Repeat([]byte("ab"), 200)))
	requireEqual(t, openBytes(t, good), Options{})
	fixed := func(suffixes ...int) []byte {
		return encodedColumn(physicalFixed, format.DeltaBytes, 3, slices.Concat(deltas(0, 3, 1), deltas(suffixes...), []byte("abcdexyz")))
	}
	s := scanOf(t, openSources(t, Config{}, fixed(4, 1, 3)), Options{})
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		require.Equal(t, "abcdabceaxyz", string(valuesOf[uint8](&b.Columns[0])))
	}
	requireCorrupt(t, fixed(4, 2, 3), "value of 5 bytes instead of 4")
}

// deltas encodes integers as DELTA_BINARY_PACKED, in blocks of 128, 32 bits each.
func deltas(values ...int) []byte {
	b := binary.AppendUvarint([]byte{0x80, 1, 4}, uint64(len(values)))
	b = binary.AppendVarint(b, int64(values[0]))
	for at := 1; at < len(values); at += 128 {
		least := 0
		end := min(at+128, len(values))
		for i := at; i < end; i++ {
			least = min(least, values[i]-values[i-1])
		}
		b = append(binary.AppendVarint(b, int64(least)), 32, 32, 32, 32)
		for i := at; i < at+(end-at+31)/32*32; i++ { // padded to 32
			d := 0
			if i < end {
				d = values[i] - values[i-1] - least
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(d))
		}
	}
	return b
}
