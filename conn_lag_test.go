// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/stream"
)

func TestConnLags(t *testing.T) {
	c := &conn{streams: stream.New(100), born: time.Now()}
	at := func(d time.Duration) time.Time { return c.born.Add(d) }
	start := func(d time.Duration) {
		_, ok := c.streams.Claim()
		require.True(t, ok)
		c.waitBegan(int64(d))
	}
	c.answered.Store(int64(time.Second))
	start(10 * time.Second)
	require.False(t, c.lags(at(20*time.Second)), "a single request may be slow")
	start(20 * time.Second)
	require.True(t, c.lags(at(20*time.Second)), "the first one waits since 10 s")
	c.answered.Store(int64(20 * time.Second))
	require.False(t, c.lags(at(20*time.Second+lagLeast-1)))
	require.True(t, c.lags(at(20*time.Second+lagLeast)))
	require.False(t, c.lags(time.Time{}), "the time is unknown")
	c.usual.Store(int64(lagLeast))
	require.False(t, c.lags(at(20*time.Second+lagLeast)), "the usual latency is as long")
	require.True(t, c.lags(at(20*time.Second+lagFactor*lagLeast)))
	c.orphans.Store(1)
	require.False(t, c.lags(at(30*time.Second)), "an orphan may never be answered")
}

// TestIdleConnDoesNotLag requires that the time without requests does not count: after a pause the first requests have
// their own time, also beside requests that were given up.
func TestIdleConnDoesNotLag(t *testing.T) {
	for _, orphans := range []int{0, 2} {
		c := &conn{streams: stream.New(100), born: time.Now()}
		c.answered.Store(int64(time.Second))
		var ids []int
		start := func(d time.Duration) {
			id, ok := c.streams.Claim()
			require.True(t, ok)
			ids = append(ids, id)
			c.waitBegan(int64(d))
		}
		for range orphans {
			start(time.Second)
		}
		c.orphans.Store(int32(orphans))
		for _, pause := range []time.Duration{time.Minute, time.Hour} {
			for i := range time.Duration(3) {
				start(pause + i)
			}
			require.False(t, c.lags(c.born.Add(pause+lagLeast-1)), "%d orphans, after %v", orphans, pause)
			require.True(t, c.lags(c.born.Add(pause+lagLeast)))
			c.answered.Store(int64(pause + lagLeast))
			for range 3 {
				c.streams.Release(ids[len(ids)-1])
				ids = ids[:len(ids)-1]
			}
		}
	}
}

// TestConnUsualLatency: the usual latency follows the latencies, and one pause changes it little.
func TestConnUsualLatency(t *testing.T) {
	var c conn
	for range 1000 {
		c.smooth(int64(2 * time.Millisecond))
	}
	require.InDelta(t, 2*time.Millisecond, c.usual.Load(), 1e5)
	for range 3 {
		c.smooth(int64(2 * time.Second))
	}
	require.Less(t, time.Duration(c.usual.Load()), 20*time.Millisecond)
	for range 1000 {
		c.smooth(int64(2 * time.Millisecond))
	}
	require.InDelta(t, 2*time.Millisecond, c.usual.Load(), 1e5)
}

// TestUsualLatencyMovesByASixteenth requires the weight of one latency, and the bound of what a pause adds.
func TestUsualLatencyMovesByASixteenth(t *testing.T) {
	var c conn
	c.smooth(1600)
	require.EqualValues(t, 100, c.usual.Load())
	c.smooth(1700)
	require.EqualValues(t, 200, c.usual.Load())
	c.smooth(200)
	require.EqualValues(t, 200, c.usual.Load())
	c.smooth(40)
	require.EqualValues(t, 190, c.usual.Load())
	c.smooth(int64(time.Hour))
	require.EqualValues(t, 190+(16*190+int64(time.Millisecond)-190)/16, c.usual.Load())
}

// withLag makes the connection of a node lag.
func withLag(t *testing.T, n *node) {
	t.Helper()
	c := n.pool.open.Load().conns[0]
	for range lagWaiting {
		_, ok := c.streams.Claim()
		require.True(t, ok)
	}
}

// TestPoolLags requires that a pool lags if a connection that is not silent does: one to the shard, or any of a node
// without that shard.
func TestPoolLags(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	var conns []*conn
	for i := range int32(4) { // two to each shard
		conns = append(conns, &conn{streams: stream.New(100), features: features{shards: 2, shard: i % 2}})
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
	for range lagWaiting {
		_, ok := conns[3].streams.Claim()
		require.True(t, ok)
	}
	require.Equal(t, []bool{true, false, true, true}, lags())
	conns[3].silent.Store(true)
	require.Equal(t, []bool{false, false, false, false}, lags())
	require.False(t, emptyPool().lags(0, now))
}

// TestPlanLaggingNodes: a lagging replica comes after the other local replicas, a lagging node of others after the next
// one. Conditional statements stay in the order of the ring.
func TestPlanLaggingNodes(t *testing.T) {
	topo := threeByThree(t, TokenAwareHostPolicy(DCAwareRoundRobinPolicy("b")))
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
