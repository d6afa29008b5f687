// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Builders, keys of rows and slots by themselves; bounds of 2^31 elements without their memory.

// ofElements returns a builder of lists with a number of elements.
func ofElements(n int) builder {
	return builder{elem: &builder{n: n}, offsets: []int32{0}, n: 1}
}

// TestTooManyElementsAreAnError in a builder, in each column of a block, and in each column of a piece.
func TestTooManyElementsAreAnError(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("an int of 32 bits has no such number")
	}
	one := 1 // a variable, because the sum is no constant of an int of 32 bits
	few, many := ofElements(maxText), ofElements(maxText+one)
	within := builder{elem: &many}
	for _, b := range []*builder{&many, &within} {
		require.ErrorIs(t, b.check(), column.ErrTooLarge)
		require.ErrorContains(t, b.check(), "elements in one column")
	}
	require.NoError(t, few.check())
	for _, columns := range [][]builder{{many}, {few, many}, {many, few}, {few, few, many}} {
		require.ErrorIs(t, (&block{cols: columns}).check(), column.ErrTooLarge)
		require.ErrorIs(t, (&piece{keys: columns}).check(), column.ErrTooLarge)
		require.ErrorIs(t, (&piece{keys: []builder{few}, values: columns}).check(), column.ErrTooLarge)
	}
	all := []builder{few, few}
	require.NoError(t, (&block{cols: all}).check())
	require.NoError(t, (&piece{keys: all, values: all}).check())
}

// TestTextBesideOtherTextIsBounded: a chunk fits beside others, or is an error.
func TestTextBesideOtherTextIsBounded(t *testing.T) {
	values := cols(vals([]int64{1, 2}), vals([]string{"ab", "c"}))
	p := &plan{}
	require.NoError(t, p.checkText(values, maxText-3))
	err := p.checkText(values, maxText-2)
	require.ErrorContains(t, err, "3 bytes of text in 2 rows exceed the limit of 2; add smaller batches")
	require.Error(t, p.checkText(values[1:], maxText-2))
	require.NoError(t, p.checkText(values[:1], maxText))
}

// TestZerosAfterValues: columns without memory are zeros in a builder that has values.
func TestZerosAfterValues(t *testing.T) {
	b, five, zeros := newBuilder(typeInt64), vals([]int64{5}), zeroColumn(typeInt64, 3)
	b.gather(&five, []uint32{0})
	b.gather(&zeros, []uint32{0, 2})
	b.gather(&five, []uint32{0})
	c := b.column()
	require.Equal(t, []int64{5, 0, 0, 5}, view[int64](&c))
}

// TestTextBytesOfRows requires that only the text of the rows is counted.
func TestTextBytesOfRows(t *testing.T) {
	r := keyRows{text: make([]byte, 9), ends: []int64{3, 3, 5, 9}}
	for i := range r.ends {
		for j := i; j <= len(r.ends); j++ {
			want := 0
			for k := i; k < j; k++ {
				want += len(r.long(uint32(k)))
			}
			require.Equal(t, want, r.textBytes(i, j), "[%d, %d)", i, j)
		}
	}
	require.Zero(t, (&keyRows{}).textBytes(0, 1))
}

// TestPairsThatDifferInOneBit are other groups, although a slot leads to one of them.
func TestPairsThatDifferInOneBit(t *testing.T) {
	of := &keyRows{w0: []uint64{0, 4}, w1: []uint64{0, 6}}
	w0, w1 := []uint64{4, 5, 4, 6, 4}, []uint64{6, 6, 7, 6, 6}
	ids, miss := make([]uint32, 5), make([]uint32, 5)
	n := matchPairs([]uint32{1}, of, make([]uint64, 5), w0, w1, ids, miss, 100)
	require.Equal(t, []uint32{1, 0, 0, 0, 1}, ids)
	require.Equal(t, []uint32{101, 102, 103}, miss[:n])
}
