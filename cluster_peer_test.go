// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Details of the verification of peers. The tests of fault 37 in package faults use whole clusters.

// TestPeersRefuse: a server is new at an address once, again after another server, and again after an accepted one.
func TestPeersRefuse(t *testing.T) {
	var p peers
	one := &PeerError{Address: "10.0.0.1:9042", Got: Peer{ClusterName: "one"}}
	two := &PeerError{Address: one.Address, Got: Peer{ClusterName: "two"}}
	require.True(t, p.refuse(one))
	require.False(t, p.refuse(one))
	require.True(t, p.refuse(two))
	require.True(t, p.refuse(one))
	p.accept(one.Address)
	require.True(t, p.refuse(one))
	for i := range 10 * maxRefused {
		require.True(t, p.refuse(&PeerError{Address: fmt.Sprint(i), Got: one.Got}))
		require.LessOrEqual(t, len(p.refused), maxRefused)
	}
}

// TestPeersExpect: the first name stays.
func TestPeersExpect(t *testing.T) {
	var p peers
	for _, name := range []string{"", "one", "two", ""} {
		p.expect(name)
	}
	require.Equal(t, "one", p.expected())
}

// TestRefusedTwice: a node returns between two appearances of another cluster at its address. Each appearance is
// logged.
func TestRefusedTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := newFakeCluster(t, frame.V5, 2), newFakeCluster(t, frame.V5, 1)
		other.Name = "other"
		logged, logger := fakecql.NewLogCounter()
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Logger = logger })
		n := c.Nodes[1]
		for i := range 2 {
			for _, answering := range []*fakecql.Node{other.Nodes[0], n} {
				n.HangUp()
				c.Mu.Lock()
				c.Hosts[n.IP] = answering
				c.Mu.Unlock()
				time.Sleep(time.Minute)
			}
			require.Equal(t, i+1, logged.Of("peer refused"))
			require.True(t, poolOf(s, n).isUp())
		}
	})
}

// TestWrongPeerLacksKeyspace: the error of a refused connection is the wrong cluster, not the keyspace that it lacks.
func TestWrongPeerLacksKeyspace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, other := newFakeCluster(t, frame.V5, 2), newFakeCluster(t, frame.V5, 1)
		other.Name = "other"
		other.On(func(r *fakecql.Request) bool {
			if strings.HasPrefix(r.Stmt, "USE ") {
				r.Fail(0x2200)
				return true
			}
			return false
		})
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Keyspace = "ks" })
		n := c.Nodes[1]
		n.Stop()
		c.Mu.Lock()
		c.Hosts[n.IP] = other.Nodes[0]
		c.Mu.Unlock()
		time.Sleep(time.Minute)
		var wrong *PeerError
		require.ErrorAs(t, poolOf(s, n).lastError(), &wrong)
		require.True(t, wrong.WrongCluster())
	})
}

// TestWrongPeerKeepsShardPort: a wrong peer behind a shard-aware port is no reason to use the plain port.
func TestWrongPeerKeepsShardPort(t *testing.T) {
	logged, logger := fakecql.NewLogCounter()
	p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{log: logger})
	defer p.forceClose()
	to := dialTarget{addr: p.addr, port: 19042}
	wrong := &PeerError{Address: p.addr}
	require.False(t, p.settle(to, wrong, 1))
	require.Equal(t, wrong, p.lastError())
	require.Zero(t, logged.Of("node not reached"), "the dial has logged the wrong peer")
	require.Zero(t, p.shards.coolDown)
}

// TestEndedBeforeOpened: a connection that ends as its dial succeeds counts as failed, not as opened or lost.
func TestEndedBeforeOpened(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		before := s.Stats()
		broken := errors.New("broken")
		ended := make(chan struct{})
		cfg := s.connConfig(dialTarget{addr: c.Nodes[0].Addr()}, nil)
		cfg.OnClose = func(*conn.Conn, error) { close(ended) }
		cfg.Prepare = func(_ context.Context, c *conn.Conn) error {
			c.Close(broken)
			<-ended
			return nil
		}
		_, err := s.dialObserved(t.Context(), cfg, c.Nodes[0].Addr())
		require.ErrorIs(t, err, conn.ErrClosed)
		require.ErrorIs(t, err, broken)
		st := s.Stats()
		require.Equal(t, before.ConnectionsFailed+1, st.ConnectionsFailed)
		require.Equal(t, before.ConnectionsOpened, st.ConnectionsOpened)
		require.Equal(t, before.ConnectionsLost, st.ConnectionsLost)
	})
}

// TestLeaveShared: a node leaves the address of a load balancer for the address that it announces, and for no other
// reason.
func TestLeaveShared(t *testing.T) {
	at := netip.MustParseAddrPort("10.0.0.99:9042")
	for name, c := range map[string]struct {
		refused   Peer
		announced string
		translate string // the result for any address; empty means no translation
		want      string
	}{
		"another node":               {Peer{"c", hostID(2)}, "10.0.0.1", "", "10.0.0.1:9042"},
		"another node, translated":   {Peer{"c", hostID(2)}, "10.0.0.1", "192.0.2.1:9142", "192.0.2.1:9142"},
		"translated to none":         {Peer{"c", hostID(2)}, "10.0.0.1", "0.0.0.0:0", at.String()},
		"nothing announced":          {Peer{"c", hostID(2)}, "0.0.0.0", "", at.String()},
		"the node itself":            {Peer{"c", hostID(1)}, "10.0.0.1", "", at.String()},
		"another cluster":            {Peer{"d", hostID(2)}, "10.0.0.1", "", at.String()},
		"a server without a host id": {Peer{"c", cql.UUID{}}, "10.0.0.1", "", at.String()},
	} {
		k := &cluster{peers: peers{cluster: "c"}}
		k.peers.refuse(&PeerError{Address: at.String(), Got: c.refused})
		if c.translate != "" {
			k.reach = translator(func(netip.AddrPort) netip.AddrPort { return netip.MustParseAddrPort(c.translate) })
		}
		self := &cql.Host{ID: hostID(1), Address: at, RPCAddress: netip.MustParseAddr(c.announced)}
		require.NoError(t, k.leaveShared(self), name)
		require.Equal(t, c.want, self.Address.String(), name)
	}
	k := &cluster{peers: peers{cluster: "c"}, reach: translator(func(netip.AddrPort) netip.AddrPort { panic("oops") })}
	k.peers.refuse(&PeerError{Address: at.String(), Got: Peer{"c", hostID(2)}})
	self := &cql.Host{ID: hostID(1), Address: at, RPCAddress: netip.MustParseAddr("10.0.0.1")}
	require.ErrorContains(t, k.leaveShared(self), "oops")
}
