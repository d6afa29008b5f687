// SPDX-License-Identifier: Apache-2.0

package order

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestSortOfTooManyRows has more rows than an int32 counts.
func TestSortOfTooManyRows(t *testing.T) {
	half := &column.Batch{Rows: 1 << 30}
	_, err := (&Sorter{batches: []*column.Batch{half, half}}).gather()
	require.ErrorIs(t, err, column.ErrTooLarge)
	require.ErrorContains(t, err, "2147483648 rows")
	b, err := (&Sorter{batches: []*column.Batch{half}, rows: []sortRow{{row: 5}}}).gather()
	require.NoError(t, err)
	require.Equal(t, 1, b.Rows)
}
