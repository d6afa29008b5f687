// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/fakecql"
)

// Fault 24: nodes whose number of shards changes, and local ports that a network translates or that are in use.

// ones returns n times 1.
func ones(n int) []int { return slices.Repeat([]int{1}, n) }

// TestFault24ReshardingSeenByOneConnection: a new connection reports another number of shards while older ones still
// work. The older ones must be replaced.
func TestFault24ReshardingSeenByOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 1, fakecql.Sharded(8))
		s := sessionOn(m)
		time.Sleep(time.Second)
		n := m.Nodes[0]
		for _, shards := range []int{4, 8} {
			n.Change(func(n *fakecql.Node) { n.Shards = shards })
			n.HangUpShard(1)
			time.Sleep(10 * time.Second)
			require.Equal(t, ones(shards), n.ShardCounts())
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		}
	})
}

// TestFault24TranslatedPorts: the network translates local ports for a while. The plain port must be used meanwhile,
// and the shard-aware port must be tried again with exponential backoff.
func TestFault24TranslatedPorts(t *testing.T) {
	const portCoolDown = 5 * time.Minute // the time after which the driver retries the shard-aware port
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 1, fakecql.Sharded(8))
		n := m.Nodes[0]
		n.PortShift = 3
		logged, logger := fakecql.NewLogCounter()
		sessionOn(m, func(cfg *vecql.ClusterConfig) { cfg.Logger = logger })
		began := time.Now()
		time.Sleep(10 * time.Second)
		require.Equal(t, ones(8), n.ShardCounts())
		require.Len(t, m.DialsSince(time.Time{}, "127.0.0.1:19042"), 1, "one attempt detects it")
		require.Equal(t, 1, logged.Of("shard-aware port leads to another shard than the local port selects; using the plain port for a while"))
		lose := func() {
			n.HangUpShard(6)
			time.Sleep(10 * time.Second)
			require.Equal(t, ones(8), n.ShardCounts())
		}
		lose()
		require.Len(t, m.DialsSince(began, "127.0.0.1:19042"), 1, "no early retry")
		time.Sleep(portCoolDown)
		lose()
		require.Len(t, m.DialsSince(began, "127.0.0.1:19042"), 2)
		time.Sleep(portCoolDown)
		lose()
		require.Len(t, m.DialsSince(began, "127.0.0.1:19042"), 2, "the wait has doubled")
		n.Change(func(n *fakecql.Node) { n.PortShift = 0 })
		time.Sleep(2 * portCoolDown)
		for range 3 {
			lose()
		}
		require.Len(t, m.DialsSince(began, "127.0.0.1:19042"), 5, "the port works again and is used")
	})
}

// TestFault24PortsTaken: no local port is free for a while. The plain port must be used meanwhile.
func TestFault24PortsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newCluster(t, fakecql.V4, 1, fakecql.Sharded(4))
		n := m.Nodes[0]
		m.Taken = func(port int) bool { return port%3 != 0 } // two thirds of the ports
		sessionOn(m)
		time.Sleep(time.Second)
		require.Equal(t, ones(4), n.ShardCounts())
		chosen := 0
		for _, end := range n.Ends() {
			if end.Port == fakecql.ShardPort {
				chosen++
			}
		}
		require.Equal(t, 3, chosen, "the next ports are tried")
		m.Mu.Lock()
		m.Taken = func(int) bool { return true }
		m.Mu.Unlock()
		n.HangUpShard(2)
		time.Sleep(10 * time.Second)
		require.Equal(t, ones(4), n.ShardCounts(), "over the plain port")
		m.Mu.Lock()
		m.Taken = nil
		m.Mu.Unlock()
		n.Stop()
		synctest.Wait()
		n.Start()
		began := time.Now()
		time.Sleep(10 * time.Second)
		require.Equal(t, ones(4), n.ShardCounts())
		require.NotEmpty(t, m.DialsSince(began, "127.0.0.1:19042"), "after a node returns, the shard-aware port is tried again")
	})
}

// TestFault43LyingShards has nodes that report many shards. More than any machine has are ignored. If all connections
// lead to one shard, the session soon stops to look for the others.
func TestFault43LyingShards(t *testing.T) {
	for _, m := range []struct{ shards, dials, open int }{
		{4096, 1, 2},
		{1000, 6 * 65, 2 + 64 + 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster(t, fakecql.V4, 1, fakecql.Sharded(m.shards))
			c.Nodes[0].Assign = func() int { return 5 }
			c.Nodes[0].NoPort = true
			began := time.Now()
			s := sessionOn(c)
			open := 0
			for range 300 {
				time.Sleep(100 * time.Millisecond)
				require.NoError(t, s.Query("INSERT x").Exec(t.Context()))
				open = max(open, c.Nodes[0].Connections())
			}
			dials := len(c.DialsSince(began, ""))
			evidence(t, fmt.Sprint("a node that reports ", m.shards, " shards"), "%d dials in half a minute, at most %d connections open", dials, open)
			require.LessOrEqual(t, open, m.open)
			require.LessOrEqual(t, dials, m.dials+2)
		})
	}
}
