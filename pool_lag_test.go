// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/stream"
)

// Connections that lag, in pools and plans.

// withLag makes the connection of a node lag.
func withLag(t *testing.T, n *node) {
	t.Helper()
	c := n.pool.open.Load().conns[0]
	for range conn.LagWaiting {
		_, ok := c.Streams.Claim()
		require.True(t, ok)
	}
}

// TestPoolLags requires that a pool lags if a connection that is not silent does: one to the shard, or any of a node
// without that shard.
func TestPoolLags(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	var conns []*conn.Conn
	for i := range int32(4) { // two to each shard
		conns = append(conns, &conn.Conn{Streams: stream.New(100), Features: conn.Features{Shards: 2, Shard: i % 2}})
	}
	p.open.Store(newPoolView(conns))
	now := time.Now()
	lags := func() (all []bool) {
		for _, shard := range []int32{-1, 0, 1, 2} {
			all = append(all, p.lags(shard, now))
		}
		return all
	}
	require.Equal(t, []bool{false, false, false, false}, lags())
	for range conn.LagWaiting {
		_, ok := conns[3].Streams.Claim()
		require.True(t, ok)
	}
	require.Equal(t, []bool{true, false, true, true}, lags())
	conns[3].Silent.Store(true)
	require.Equal(t, []bool{false, false, false, false}, lags())
	require.False(t, emptyPool().lags(0, now))
}

// TestPlanLaggingNodes: a lagging replica comes after the other local replicas, a lagging node of others after the next
// one. Conditional statements stay in the order of the ring.
func TestPlanLaggingNodes(t *testing.T) {
	topo := threeByThree(t, TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "b"}})
	withLoad(t, topo, nil)
	withLag(t, topo.node(4)) // 4 and 5 are the local replicas
	for i := range uint32(20) {
		target := onToken(i * startStep)
		target.now = time.Now()
		got := planNodes(topo.plan(target))
		require.Equal(t, "5 4 6", names(got[:3]))
		require.Len(t, got, 9)
		target.lwt = true
		require.Equal(t, "4 5 6", names(planNodes(topo.plan(target))[:3]))
		target = planTarget{start: i * startStep, now: time.Now()}
		got = planNodes(topo.plan(target))
		require.NotEqual(t, "4", names(got[:1]))
		require.Len(t, got, 9)
	}
}
