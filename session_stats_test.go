// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/stats"
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

// TestLatencyOfNodes has a node that answers after 40 ms, also to a request that has timed out.
func TestLatencyOfNodes(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		slow := c.Nodes[1]
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == "SLOW" {
				time.Sleep(40 * time.Millisecond)
			}
			return false
		})
		for range 3 {
			require.NoError(t, s.Query("SLOW").HostID(cql.UUID(slow.ID)).Exec(t.Context()))
		}
		at := func() stats.Histogram { return s.Stats().Nodes[1].Latency }
		require.EqualValues(t, 3, at().Count())
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Error(t, s.Query("SLOW").HostID(cql.UUID(slow.ID)).RequestTimeout(20*time.Millisecond).Exec(t.Context()))
		time.Sleep(time.Second)
		require.EqualValues(t, 4, at().Count(), "an answer counts even if its caller has left")
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Zero(t, s.Stats().Nodes[0].Latency.Count(), "statements of the driver are not counted")
		before := at()
		poolOf(s, slow).pick().Close(conn.ErrClosed)
		time.Sleep(time.Second)
		require.Equal(t, before, at(), "latencies outlive their connections")
	})
}
