// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of pools: nodes that move, are down or drop connections; reconnection; the start of a session.

// TestFault20FalseMove announces an address without a listener: the old connections serve requests until there is one
// to the new address.
func TestFault20FalseMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 2, fakecql.Sharded(4))
		s := sessionOn(m)
		time.Sleep(time.Second)
		n := m.Nodes[1]
		p := poolOf(s, n)
		old := p.pick()
		p.move("10.0.9.2:9042")
		time.Sleep(30 * time.Second)
		require.False(t, old.Closed())
		for range 20 {
			require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
		}
		m.Mu.Lock()
		m.Hosts["10.0.9.2"] = n
		m.Mu.Unlock()
		time.Sleep(10 * time.Second)
		require.True(t, old.Closed(), "drained")
		require.Equal(t, "10.0.9.2:9042", p.pick().Addr())
		require.Equal(t, repeat(4, 1), p.shardCounts())
	})
}

// TestMovedNodeHasOtherPorts: the shard-aware port of the old address led to other shards, the port of the new address
// does not. The pool uses it at once, not after portCoolDown.
func TestMovedNodeHasOtherPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(4))
		n := m.Nodes[0]
		n.PortShift = 1
		s := sessionOn(m)
		time.Sleep(time.Second)
		p := poolOf(s, n)
		p.mu.Lock()
		wrong := p.shards.portWrong
		p.mu.Unlock()
		require.True(t, wrong)
		n.Change(func(n *fakecql.Node) { n.PortShift = 0; m.Hosts["10.0.9.2"] = n })
		p.move("10.0.9.2:9042")
		time.Sleep(time.Minute)
		require.Equal(t, repeat(4, 1), p.shardCounts())
		require.Len(t, m.DialsSince(time.Time{}, "10.0.9.2:19042"), 3, "the first connection reports the port")
	})
}

func TestPoolRefusesWrongNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 2, fakecql.Sharded(2))
		one, two := m.Nodes[0], m.Nodes[1]
		two.Extra = map[string][]string{conn.KeyHostID: {one.ID.String()}}
		s := sessionOn(m)
		p := poolOf(s, two)
		time.Sleep(10 * time.Second)
		require.False(t, p.isUp())
		var wrong *PeerError
		require.ErrorAs(t, p.lastError(), &wrong)
		require.ErrorContains(t, s.Query("INSERT").HostID(cql.UUID(two.ID)).Exec(t.Context()), "answers at the address of")
		two.Change(func(n *fakecql.Node) { n.Extra = nil })
		time.Sleep(10 * time.Second)
		require.NoError(t, s.Query("INSERT").HostID(cql.UUID(two.ID)).Exec(t.Context()))
	})
}

// TestPoolLogsWithoutLocks has a log handler that calls the session.
func TestPoolLogsWithoutLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 2, fakecql.Sharded(4))
		logged, logger := fakecql.NewLogCounter()
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Logger, cfg.Nodes.ReconnectInterval = logger, time.Second })
		n := m.Nodes[1]
		p := poolOf(s, n)
		logged.Call(func() {
			_ = p.lastError()
			_ = s.GetHosts()
			s.mu.Lock()
			defer s.mu.Unlock()
		})
		time.Sleep(time.Second)
		n.Change(func(n *fakecql.Node) { n.Shards, n.PortShift = 8, 1 })
		p.pick().Close(errors.New("one breaks"))
		time.Sleep(10 * time.Second)
		n.Stop()
		time.Sleep(10 * time.Second)
		n.MoveTo("10.0.9.2")
		n.Change(func(n *fakecql.Node) { n.NoPort, n.PortShift = true, 0 })
		n.Start()
		time.Sleep(10 * time.Second)
		m.Mu.Lock()
		m.Peers = m.Nodes[:1]
		m.Mu.Unlock()
		time.Sleep(10 * time.Second)
		m.Mu.Lock()
		m.Peers = m.Nodes
		m.Mu.Unlock()
		time.Sleep(10 * time.Second)
		for _, message := range []string{
			"node has other shards", "node lost", "node not reached", "node reached again", "node has another address", "node removed", "node added",
			"shard-aware port leads to another shard than the local port selects; using the plain port for a while",
			"shard-aware port does not work; using the plain port for a while",
		} {
			require.NotZero(t, logged.Of(message), message)
		}
		require.Equal(t, repeat(8, 1), poolOf(s, n).shardCounts())
	})
}

func TestPoolPickAllocates(t *testing.T) {
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{})
	defer p.forceClose()
	var conns []*conn.Conn
	for shard := range int32(8) {
		c := conn.New(&conn.Config{Version: frame.V4}, "127.0.0.1:9042", nil)
		c.Features = conn.Features{Shards: 4, Shard: shard % 4, IgnoreMSB: 12}
		conns = append(conns, c)
	}
	p.open.Store(newPoolView(conns))
	var wrong int
	tok := int64(1)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		tok *= 6364136223846793005
		if shard := p.shardOf(tok); p.pickShard(shard).Features.Shard != shard || p.pickShard(-1) == nil {
			wrong++
		}
	}))
	require.Zero(t, wrong)
	busy, idle := p.open.Load().byShard[2][0], p.open.Load().byShard[2][1]
	_, ok := busy.Streams.Claim()
	require.True(t, ok)
	for range 10 {
		require.Same(t, idle, p.pickShard(2), "the less busy of two")
	}
	idle.Draining.Store(true)
	require.Same(t, busy, p.pickShard(2))
	busy.Draining.Store(true)
	require.NotEqual(t, int32(2), p.pickShard(2).Features.Shard, "another shard, if this one has no connection that takes requests")
}

// TestPoolNodeDropsConnections has a node that accepts and drops connections: it must not be dialed in a loop.
func TestPoolNodeDropsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 2)
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Pool.NumConns = 4 })
		n := m.Nodes[1]
		began := time.Now()
		for range 6000 {
			time.Sleep(10 * time.Millisecond)
			n.HangUp()
		}
		require.Less(t, len(m.DialsSince(began, n.IP)), 150, "in a minute, four at a time")
		time.Sleep(10 * time.Second)
		require.Len(t, poolOf(s, n).open.Load().conns, 4)
	})
}

func TestReconnectionPolicies(t *testing.T) {
	ms := time.Millisecond
	for _, m := range []struct {
		name   string
		policy ReconnectionPolicy
		want   []time.Duration
		again  int // retries; -1 means no limit
	}{
		{
			"default",
			ExponentialReconnectionPolicy{},
			[]time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms, 1600 * ms, 3200 * ms, 5000 * ms, 5000 * ms},
			-1,
		},
		{
			"exponential", &ExponentialReconnectionPolicy{MaxRetries: 3, InitialInterval: time.Second, MaxInterval: 3 * time.Second},
			[]time.Duration{time.Second, 2 * time.Second, 3 * time.Second},
			3,
		},
		{
			"initial above the default maximum",
			ExponentialReconnectionPolicy{InitialInterval: time.Minute},
			[]time.Duration{time.Minute, time.Minute},
			-1,
		},
		{"constant", &ConstantReconnectionPolicy{MaxRetries: 2, Interval: 50 * ms}, []time.Duration{50 * ms, 50 * ms}, 2},
		{"constant, zero value", ConstantReconnectionPolicy{}, []time.Duration{time.Second}, -1},
		{"too short", ConstantReconnectionPolicy{Interval: 1}, []time.Duration{10 * ms}, -1},
		{"none", NoReconnectionPolicy{}, nil, 0},
		{"panics", panickingPolicy{}, []time.Duration{100 * ms, 200 * ms}, -1},
	} {
		t.Run(m.name, func(t *testing.T) {
			for i, want := range m.want {
				got, again := reconnectWait(m.policy, i)
				require.True(t, again)
				require.Equal(t, want, got, "retry %d", i)
			}
			_, again := reconnectWait(m.policy, 1<<30)
			require.Equal(t, m.again < 0, again)
			if m.again >= 0 {
				_, again = reconnectWait(m.policy, m.again)
				require.False(t, again)
			}
		})
	}
	for range 1000 {
		d := background.Jitter(time.Second)
		require.True(t, d > time.Second/2 && d <= time.Second)
	}
	require.EqualValues(t, 1, background.Jitter(1))
}

type panickingPolicy struct{}

func (panickingPolicy) GetInterval(int) time.Duration { panic("mine") }
func (panickingPolicy) GetMaxRetries() int            { return 0 }

func TestPoolGivesUp(t *testing.T) {
	for _, m := range []struct {
		name   string
		policy ReconnectionPolicy
		series int // attempts
	}{
		{"three retries", ConstantReconnectionPolicy{MaxRetries: 3, Interval: 100 * time.Millisecond}, 4},
		{"none", NoReconnectionPolicy{}, 1},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, frame.V4, 2)
				s := sessionOn(net, func(cfg *ClusterConfig) { cfg.Pool.ReconnectionPolicy = m.policy })
				time.Sleep(10 * time.Second)
				n := net.Nodes[1]
				p := poolOf(s, n)
				began := time.Now()
				n.Stop()
				time.Sleep(30 * time.Second)
				require.Len(t, net.DialsSince(began, n.IP), m.series)
				time.Sleep(time.Minute)
				require.Len(t, net.DialsSince(began, n.IP), 2*m.series, "the system tables still list the node")
				n.Start()
				net.Event(frame.EventStatus, "UP", n.Inet())
				time.Sleep(eventDelay)
				synctest.Wait()
				require.True(t, p.isUp())
			})
		})
	}
}

// TestSessionStartGrace has nodes that do not respond: they delay the start only for a moment, unless no node responds.
func TestSessionStartGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 3, fakecql.Sharded(2))
		m.Nodes[2].Silent = true
		began := time.Now()
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.ConnectTimeout = 30 * time.Second })
		require.Equal(t, startGrace, time.Since(began))
		require.True(t, poolOf(s, m.Nodes[1]).isUp())
		require.False(t, poolOf(s, m.Nodes[2]).isUp())
		m.Nodes[2].Change(func(n *fakecql.Node) { n.Silent = false })
		time.Sleep(time.Minute)
		require.True(t, poolOf(s, m.Nodes[2]).isUp())
	})
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 3, fakecql.Sharded(2))
		m.Nodes[2].Down = true
		began := time.Now()
		sessionOn(m)
		require.Zero(t, time.Since(began), "every node was tried")
	})
}

// TestPoolReplacesOneConnection: both connections of a pool have too many orphans. The pool replaces the first; the
// second serves until the successor of the first is open, and is replaced only when it asks again.
func TestPoolReplacesOneConnection(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Pool.NumConns = 2 })
		time.Sleep(time.Second)
		p := s.topo.Load().nodes[0].pool
		worn := func() *conn.Conn {
			p.mu.Lock()
			defer p.mu.Unlock()
			return p.worn
		}
		old := p.open.Load().conns
		require.Len(t, old, 2)
		p.mu.Lock()
		p.state = poolFilling // refill does nothing meanwhile
		p.mu.Unlock()
		p.replace(old[0])
		p.replace(old[1])
		require.Same(t, old[0], worn())
		require.Equal(t, old, p.open.Load().conns, "both serve")
		p.mu.Lock()
		p.state = poolIdle
		p.mu.Unlock()
		p.refill()
		time.Sleep(time.Second)
		require.Nil(t, worn())
		require.True(t, old[0].Closed())
		require.False(t, old[1].Closed())
		require.Len(t, p.open.Load().conns, 2)
		p.replace(old[1])
		time.Sleep(time.Second)
		require.True(t, old[1].Closed())
		require.Len(t, p.open.Load().conns, 2)
	})
}

// TestRegistrationForShutdown requires that a session keeps the connections of a server that refuses the registration
// for its shutdown, and none of a server that answers it in another way.
func TestRegistrationForShutdown(t *testing.T) {
	for name, m := range map[string]struct {
		answer func(r *fakecql.Request)
		up     bool
	}{
		"accepted":     {func(r *fakecql.Request) { r.Conn.Reply(r.Stream, fakecql.OpReady, nil) }, true},
		"refused":      {func(r *fakecql.Request) { r.Fail(int32(cql.CodeProtocol)) }, true},
		"a RESULT":     {func(r *fakecql.Request) { r.Void() }, false},
		"half a frame": {func(r *fakecql.Request) { r.Conn.ReplyFlags(r.Stream, fakecql.OpReady, wire.FlagTracing, []byte{1}) }, false},
		"no error":     {func(r *fakecql.Request) { r.Conn.Reply(r.Stream, fakecql.OpError, nil) }, false},
		"hang up":      {func(r *fakecql.Request) { r.HangUp() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newFakeCluster(t, frame.V5, 2, func(n *fakecql.Node) { n.Extra = map[string][]string{frame.EventGraceful: {"true"}} })
				var registered atomic.Int32
				c.On(func(r *fakecql.Request) bool {
					own := r.Op == fakecql.OpRegister && r.Node == c.Nodes[1]
					if own {
						registered.Add(1)
						m.answer(r)
					}
					return own
				})
				s := sessionOn(c)
				time.Sleep(time.Second)
				require.Positive(t, registered.Load())
				require.Equal(t, m.up, poolOf(s, c.Nodes[1]).isUp())
			})
		})
	}
}
