// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestCellsAreAppendedToAColumn keeps NULL and an empty cell apart, in more rows than a byte of validity has.
func TestCellsAreAppendedToAColumn(t *testing.T) {
	c := column.Column{Name: "c", Type: CellType, Offsets: []int32{0}}
	var want [][]byte
	for i := range 20 {
		cell := make([]byte, i%3) // the first one is empty
		if i%5 == 1 {
			cell = nil
		}
		want = append(want, cell)
		require.NoError(t, AppendCellRow(&c, cell))
	}
	require.Equal(t, 20, c.Len)
	require.Equal(t, 4, c.Nulls)
	require.Len(t, c.Validity, 3)
	for i, cell := range want {
		require.Equal(t, cell == nil, c.Null(i), i)
		require.Equal(t, len(cell), int(c.Offsets[i+1]-c.Offsets[i]), i)
	}
}

// TestColumnOfCellsHasTheBytesThatItsOffsetsCount fills a column up to its last byte. Its memory is only reserved: a
// copy of it would crash.
func TestColumnOfCellsHasTheBytesThatItsOffsetsCount(t *testing.T) {
	room, err := syscall.Mmap(-1, 0, math.MaxInt32, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(room)) }()
	c := column.Column{Name: "c", Type: CellType, Len: 1, Values: room, Offsets: []int32{0, math.MaxInt32}, Validity: []byte{1}}
	require.NoError(t, AppendCellRow(&c, []byte{}))
	require.NoError(t, AppendCellRow(&c, nil))
	require.ErrorIs(t, AppendCellRow(&c, []byte{1}), column.ErrTooLarge)
	require.Equal(t, 3, c.Len)
	require.Equal(t, []int32{0, math.MaxInt32, math.MaxInt32, math.MaxInt32}, c.Offsets)
}
