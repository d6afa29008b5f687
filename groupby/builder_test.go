// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Bounds of 2^31 bytes or elements, in builders that have no memory.

// ofElements returns a builder of lists with a number of elements.
func ofElements(n int) builder {
	return builder{elem: &builder{n: n}, offsets: []int32{0}, n: 1}
}

// TestTooManyElementsAreAnError in a builder, in each column of a block, and in each column of a piece.
func TestTooManyElementsAreAnError(t *testing.T) {
	few, many := ofElements(maxText), ofElements(maxText+1)
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
