// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Counters of a session.

func TestStatsOfPreparedStatements(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		const insert = "INSERT INTO ks.t (id) VALUES (?)"
		c.Prepare(insert, fakecql.Prepared{Bind: fakecql.Columns("id bigint"), PK: []int{0}})
		s := openSession(t, cfg)
		require.NoError(t, s.Query(insert, int64(1)).Exec(t.Context()))
		require.NoError(t, s.Batch(cql.UnloggedBatch).Query(insert, int64(1)).Query(insert, int64(2)).Exec(t.Context()))
		require.NoError(t, s.Query(insert, int64(1)).Exec(t.Context()))
		st := s.Stats()
		require.EqualValues(t, 1, st.PreparedMisses)
		require.EqualValues(t, 3, st.PreparedHits, "statements of batches count too")
	})
}
