// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/stats"
)

// Snapshots of pools and their connections.

func TestStatsOfConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 2, fakecql.Sharded(2))
		s := sessionOn(c)
		began := time.Now()
		time.Sleep(time.Second)
		n := s.Stats().Nodes[1]
		require.Equal(t, stats.PoolOpen, n.State)
		require.Zero(t, n.NextDial)
		require.NoError(t, n.LastError)
		require.Equal(t, 2, n.Connections)
		require.Len(t, n.Conns, 2)
		for shard, conn := range n.Conns {
			require.Equal(t, shard, conn.Shard)
			require.Equal(t, c.Nodes[1].Addr(), conn.Remote)
			require.NotEmpty(t, conn.Local)
			require.Equal(t, stats.ConnOpen, conn.State)
			require.False(t, conn.Opened.Before(began.Add(-time.Second)) || conn.Opened.After(time.Now()), conn.Opened)
		}
		free := make(chan struct{})
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == "LATE" {
				<-free
			}
			return false
		})
		err := s.Query("LATE").HostID(cql.UUID(c.Nodes[1].ID)).RequestTimeout(100 * time.Millisecond).Exec(t.Context())
		require.ErrorIs(t, err, conn.ErrTimeout)
		n = s.Stats().Nodes[1]
		close(free)
		require.Equal(t, 1, n.Orphans)
		require.Equal(t, 2, n.InFlight, "the orphan, and a probe")
		require.Equal(t, 1, n.Conns[0].Orphans+n.Conns[1].Orphans)
		require.NoError(t, s.Query("SELECT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()))
		n = s.Stats().Nodes[1]
		last := n.Conns[0].LastAnswer
		if n.Conns[1].LastAnswer.After(last) {
			last = n.Conns[1].LastAnswer
		}
		require.WithinDuration(t, time.Now(), last, time.Microsecond)
	})
}

func TestStatsOfPoolStates(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Pool.ReconnectionPolicy = ConstantReconnectionPolicy{Interval: 10 * time.Second, MaxRetries: 1}
		})
		node := func() stats.Node { return s.Stats().Nodes[1] }
		synctest.Wait() // until the pool has noted that its dial ended
		require.Equal(t, stats.PoolOpen, node().State)
		c.Nodes[1].Stop()
		time.Sleep(time.Second)
		n := node()
		require.Equal(t, stats.PoolWaiting, n.State)
		require.ErrorContains(t, n.LastError, "refused")
		require.WithinRange(t, n.NextDial, time.Now(), time.Now().Add(10*time.Second))
		require.Equal(t, stats.EndPeer, n.LastEnd.Cause)
		require.Error(t, n.LastEnd.Err)
		require.WithinDuration(t, time.Now().Add(-time.Second), n.LastEnd.At, time.Millisecond)
		require.Zero(t, n.Connections+len(n.Conns))
		time.Sleep(20 * time.Second)
		n = node()
		require.Equal(t, stats.PoolGaveUp, n.State)
		require.Zero(t, n.NextDial)
		c.Nodes[1].Start()
		poolOf(s, c.Nodes[1]).retryNow()
		time.Sleep(time.Second)
		require.Equal(t, stats.PoolOpen, node().State)
		require.NoError(t, node().LastError)
		s.Close()
		require.Equal(t, stats.PoolClosed, node().State)
	})
}

// TestStateOfPool requires the state of a pool for Stats, by its dialing and its connections.
func TestStateOfPool(t *testing.T) {
	now := time.Now()
	for name, m := range map[string]struct {
		state    poolState
		nextDial time.Time
		conns    int
		want     stats.PoolState
	}{
		"full":                       {poolIdle, time.Time{}, 1, stats.PoolOpen},
		"before the first dial":      {poolIdle, time.Time{}, 0, stats.PoolConnecting},
		"filling":                    {poolFilling, time.Time{}, 1, stats.PoolConnecting},
		"filling, without any":       {poolFilling, time.Time{}, 0, stats.PoolConnecting},
		"waiting":                    {poolFilling, now, 1, stats.PoolWaiting},
		"waiting, without any":       {poolFilling, now, 0, stats.PoolWaiting},
		"gave up":                    {poolGaveUp, time.Time{}, 1, stats.PoolGaveUp},
		"gave up, without any":       {poolGaveUp, time.Time{}, 0, stats.PoolGaveUp},
		"closed":                     {poolStopped, time.Time{}, 0, stats.PoolClosed},
		"closed during a wait":       {poolStopped, now, 0, stats.PoolClosed},
		"closed, still draining one": {poolStopped, time.Time{}, 1, stats.PoolClosed},
	} {
		p := emptyPool()
		p.state, p.nextDial = m.state, m.nextDial
		for range m.conns {
			p.open.Store(newPoolView([]*conn.Conn{idleConn()}))
		}
		require.Equal(t, m.want, p.stats().State, name)
	}
}

// TestStatesOfConnections requires the state of each connection of a pool, and that only open ones which are not silent
// serve the node.
func TestStatesOfConnections(t *testing.T) {
	p := emptyPool()
	open, refusing, surplus, left := idleConn(), idleConn(), idleConn(), idleConn()
	refusing.Draining.Store(true)
	left.Draining.Store(true)
	p.live = []*conn.Conn{open, refusing, surplus, left}
	p.open.Store(newPoolView(p.live[:2]))
	p.shards.surplus = []*conn.Conn{surplus}
	states := func() (all []stats.ConnState) {
		for _, c := range p.stats().Conns {
			all = append(all, c.State)
		}
		return all
	}
	require.Equal(t, []stats.ConnState{stats.ConnOpen, stats.ConnDraining, stats.ConnSurplus, stats.ConnDraining}, states())
	left.Draining.Store(false) // it is in no list, and is about to be drained
	require.Equal(t, stats.ConnDraining, states()[3])
	st := p.stats()
	require.Equal(t, 2, st.Connections)
	require.True(t, st.Serves())
	open.Silent.Store(true)
	st = p.stats()
	require.Equal(t, 1, st.Silent)
	require.False(t, st.Serves(), "the others take no requests")
}

// TestStatsOfEndedConnections requires that each opened connection is open or has a cause of its end.
func TestStatsOfEndedConnections(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		p := poolOf(s, c.Nodes[1])
		p.pick().Close(&cql.ProtocolError{Message: "a test"})
		time.Sleep(time.Second)
		p.pick().Close(errors.New("a test"))
		time.Sleep(time.Second)
		c.Nodes[1].HangUp()
		time.Sleep(10 * time.Second)
		ended := s.Stats().ConnectionsEnded
		require.EqualValues(t, 1, ended[stats.EndProtocol])
		require.EqualValues(t, 1, ended[stats.EndOther])
		require.EqualValues(t, 1, ended[stats.EndPeer])
		s.Close()
		st := s.Stats()
		require.EqualValues(t, 3, st.ConnectionsEnded[stats.EndClosed], "two pools and the control connection")
		sum := uint64(0)
		for _, n := range st.ConnectionsEnded {
			sum += n
		}
		require.Equal(t, st.ConnectionsOpened, sum)
		require.EqualValues(t, 3, st.ConnectionsLost)
	})
}

func TestStatsOfControlConnection(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Nodes.ReconnectInterval = time.Minute })
		st := s.Stats().Control
		require.Equal(t, c.Nodes[0].Addr(), st.Node)
		require.NoError(t, st.Err)
		first := st.LastRead
		require.WithinDuration(t, time.Now(), first, time.Second)
		time.Sleep(61 * time.Second)
		require.True(t, s.Stats().Control.LastRead.After(first))
		for _, n := range c.Nodes {
			n.Stop()
		}
		time.Sleep(time.Second)
		st = s.Stats().Control
		require.Empty(t, st.Node)
		require.ErrorContains(t, st.Err, "refused")
	})
}
