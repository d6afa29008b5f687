// SPDX-License-Identifier: Apache-2.0

package codec

import (
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
