// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// This file tests what the counters count.

func TestStatsOfPreparedStatements(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.prepare(insert, preparedSpec{bind: []ColumnInfo{col("id", tBigint)}, pk: []int{0}})
		s := openSession(t, cfg)
		require.NoError(t, s.Query(insert, int64(1)).Exec())
		require.NoError(t, s.Batch(UnloggedBatch).Query(insert, int64(1)).Query(insert, int64(2)).Exec())
		require.NoError(t, s.Query(insert, int64(1)).Exec())
		st := s.Stats()
		require.EqualValues(t, 1, st.PreparedMisses)
		require.EqualValues(t, 3, st.PreparedHits, "statements of batches are counted, too")
	})
}
