// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestPercentageCountsTheRowsOfAnEarlierRunThatWereWritten, not those that it has rejected.
func TestPercentageCountsTheRowsOfAnEarlierRunThatWereWritten(t *testing.T) {
	for rejected, isError := range map[uint64]bool{2: false, 3: true} {
		w := &Writer{o: Options{MaxRejectedPercent: 50}}
		w.count.rejected.Store(rejected)
		w.count.skipped.Store(4)
		w.count.skippedRejected.Store(2)
		require.Equal(t, isError, w.endRejected() != nil, rejected)
		require.True(t, w.sink.TryLock(), "the lock is free")
	}
}

// TestPercentageIsTestedAtTheEnd rejects four of six rows: fewer than 10 % of 1,000, and more than 10 % of all.
func TestPercentageIsTestedAtTheEnd(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		null := []bool{true, true, false, true, false, true}
		b := column.NewBatch(column.Of("id", []int64{1, 2, 3, 4, 5, 6}).WithNulls(null))
		for percent, isError := range map[float64]bool{10: true, 66: true, 67: false, 100: false} {
			w, err := Insert(t.Context(), s.Session, "shop.items", Options{AllowMissing: true, MaxRejectedPercent: percent})
			require.NoError(t, err)
			require.NoError(t, w.Write(t.Context(), b))
			require.NoError(t, w.Flush(t.Context()))
			err = w.Close(t.Context())
			var rejected *RejectedError
			require.Equal(t, isError, err != nil, percent)
			if isError {
				require.ErrorAs(t, err, &rejected)
				require.EqualValues(t, 4, rejected.Rows)
			}
		}
	})
}
