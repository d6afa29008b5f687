// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/token"
)

// This file tests connections to shards.

// poolOf returns the session's pool of a node.
func poolOf(s *Session, n *fakeNode) *pool { return s.topo.Load().nodeByID(n.id).pool }

// shardCounts returns how many connections a pool has to each shard.
func (p *pool) shardCounts() []int {
	v := p.open.Load()
	count := make([]int, len(v.byShard))
	for i, conns := range v.byShard {
		count[i] = len(conns)
	}
	return count
}

// repeat returns n times v.
func repeat(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func TestPoolShardAwarePort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(8))
		var asked [8]atomic.Int32
		m.on(func(r *fakeRequest) bool {
			if r.op == opExecute {
				asked[r.peer.end.(*fakeEnd).shard].Add(1)
			}
			return false
		})
		s := m.session()
		p := poolOf(s, m.nodes[0])
		synctest.Wait()
		require.Equal(t, repeat(8, 1), p.shardCounts())
		require.Len(t, m.dialsSince(time.Time{}, ""), 2+8, "the control connection, once with v5, and one dial for each shard")
		for _, d := range m.dialsSince(time.Time{}, "127.0.0.1:19042") {
			require.True(t, d.localPort >= 49152 && d.localPort <= 65535)
		}
		for shard := range int32(8) {
			require.EqualValues(t, shard, p.pickShard(shard).features.shard)
		}
		for _, shard := range []int32{-1, 8, 1 << 20, -1 << 31} {
			require.NotNil(t, p.pickShard(shard), "%d", shard)
		}
		for range 100 {
			tok := int64(rand.Uint64())
			require.Equal(t, token.ShardOf(tok, 8, 12), p.shardOf(tok))
		}
		require.NoError(t, s.Query("INSERT").Exec())
		require.True(t, p.isUp())
	})
}

func TestPoolConnectionsPerShard(t *testing.T) {
	for _, m := range []struct{ size, shards, want int }{{1, 8, 1}, {8, 8, 1}, {9, 8, 2}, {2, 1, 2}, {16, 3, 6}, {3, 0, 3}} {
		t.Run(fmt.Sprintf("%d over %d", m.size, m.shards), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, protoV4, 1, sharded(m.shards))
				s := net.session(func(cfg *ClusterConfig) { cfg.NumConns = m.size })
				synctest.Wait()
				p := poolOf(s, net.nodes[0])
				require.Equal(t, repeat(m.shards, m.want), p.shardCounts())
				require.Len(t, p.open.Load().conns, m.want*max(m.shards, 1))
			})
		})
	}
}

// TestPoolPlainPort reaches all shards where the node chooses the shard.
func TestPoolPlainPort(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, m := range []struct {
		name   string
		change func(cfg *ClusterConfig, n *fakeNode)
	}{
		{"port is not wanted", func(cfg *ClusterConfig, _ *fakeNode) { cfg.DisableShardAwarePort = true }},
		{"port refuses", func(_ *ClusterConfig, n *fakeNode) { n.noPort = true }},
		{"port is not told", func(_ *ClusterConfig, n *fakeNode) { n.extra = map[string][]string{keyShardAwarePort: nil} }},
		{"dialer can't choose ports", func(cfg *ClusterConfig, n *fakeNode) {
			cfg.Dialer = dialerFunc(n.cluster.DialContext)
		}},
		{"translated ports", func(_ *ClusterConfig, n *fakeNode) { n.portShift = 3 }},
		{"no local port is free", func(_ *ClusterConfig, n *fakeNode) { n.cluster.taken = func(int) bool { return true } }},
		{"node chooses at random", func(cfg *ClusterConfig, n *fakeNode) {
			cfg.DisableShardAwarePort = true
			n.assign = func() int { return random.IntN(8) }
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, protoV4, 1, sharded(8))
				s := net.session(func(cfg *ClusterConfig) { m.change(cfg, net.nodes[0]) })
				time.Sleep(time.Minute)
				p := poolOf(s, net.nodes[0])
				require.Equal(t, repeat(8, 1), p.shardCounts())
				synctest.Wait()
				require.Equal(t, 1+8, net.nodes[0].connections(), "what was not needed is closed")
			})
		})
	}
}

type dialerFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func (f dialerFunc) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return f(ctx, network, addr)
}

// TestPoolPlainPortBoundedRate has a node that never gives some shards.
func TestPoolPlainPortBoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(8))
		m.nodes[0].assign = func() int { return 5 }
		s := m.session(func(cfg *ClusterConfig) { cfg.DisableShardAwarePort = true })
		began := time.Now()
		time.Sleep(10 * time.Minute)
		dials := m.dialsSince(began, "")
		require.Less(t, len(dials), 17*(6+12*2), "16 dials a round, a pause of up to a minute")
		require.Greater(t, len(dials), 17*6, "it goes on trying")
		require.LessOrEqual(t, m.nodes[0].connections(), 2+16)
		require.EqualValues(t, 5, poolOf(s, m.nodes[0]).pickShard(2).features.shard, "another shard serves meanwhile")
	})
}

// TestFault24Resharding restarts a node with another number of shards, under requests.
func TestFault24Resharding(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain port %v", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newFakeCluster(t, protoV4, 2, sharded(8))
				s := m.session(func(cfg *ClusterConfig) { cfg.DisableShardAwarePort = plain })
				time.Sleep(time.Second)
				n := m.nodes[1]
				p := poolOf(s, n)
				for _, shards := range []int{4, 8, 1, 16, 3} {
					n.stop()
					synctest.Wait()
					require.Nil(t, p.pickShard(int32(shards)))
					require.EqualValues(t, -1, p.shardOf(1))
					n.change(func(n *fakeNode) { n.shards = shards })
					require.NoError(t, s.Query("INSERT").Exec(), "the other node serves")
					n.start()
					for range 50 {
						p.pickShard(rand.Int32N(20) - 2)
						time.Sleep(time.Second)
					}
					require.Equal(t, repeat(shards, 1), p.shardCounts())
					require.Equal(t, shards, n.connections(), "nothing of before is left")
					require.Less(t, p.shardOf(1<<62), int32(shards))
				}
			})
		})
	}
}

// TestFault24ReshardingSeenByOneConnection is a node that has changed although old connections live: those are replaced.
func TestFault24ReshardingSeenByOneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(8))
		s := m.session()
		time.Sleep(time.Second)
		n := m.nodes[0]
		p := poolOf(s, n)
		for _, shards := range []int{4, 8} {
			n.change(func(n *fakeNode) { n.shards = shards })
			c := p.pickShard(1)
			c.close(errors.New("one breaks"))
			time.Sleep(10 * time.Second)
			require.Equal(t, repeat(shards, 1), p.shardCounts())
			require.NoError(t, s.Query("INSERT").Exec())
		}
	})
}

// TestFault24NodeContradictsItself says another number of shards on every connection: it must not be dialled in a loop.
func TestFault24NodeContradictsItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(8))
		n := m.nodes[0]
		var calls atomic.Int32
		n.server.supported = func(p *fakePeer) map[string][]string {
			return scyllaSupported(keyShards, fmt.Sprint(2+calls.Add(1)%7), keyShard, "1", keyHostID, n.id.String())
		}
		s := m.session()
		began := time.Now()
		time.Sleep(10 * time.Minute)
		require.Less(t, len(m.dialsSince(began, "")), 400)
		require.NoError(t, s.Query("INSERT").Exec())
	})
}

// TestFault24TranslatedPorts has a network that changes local ports, and later one that does not.
func TestFault24TranslatedPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(8))
		n := m.nodes[0]
		n.portShift = 3
		logged, logger := newCountedLogger()
		s := m.session(func(cfg *ClusterConfig) { cfg.Logger = logger })
		began := time.Now()
		time.Sleep(10 * time.Second)
		p := poolOf(s, n)
		require.Equal(t, repeat(8, 1), p.shardCounts())
		require.Len(t, m.dialsSince(time.Time{}, "127.0.0.1:19042"), 1, "one was enough to see it")
		require.Equal(t, 1, logged.of("shard-aware port gives another shard than that of the local port; using the plain port for a while"))
		lose := func() {
			p.pickShard(6).close(errors.New("one breaks"))
			time.Sleep(10 * time.Second)
			require.Equal(t, repeat(8, 1), p.shardCounts())
		}
		lose()
		require.Len(t, m.dialsSince(began, "127.0.0.1:19042"), 1, "not so soon again")
		time.Sleep(portCoolDown)
		lose()
		require.Len(t, m.dialsSince(began, "127.0.0.1:19042"), 2)
		time.Sleep(portCoolDown)
		lose()
		require.Len(t, m.dialsSince(began, "127.0.0.1:19042"), 2, "twice as long")
		n.change(func(n *fakeNode) { n.portShift = 0 })
		time.Sleep(2 * portCoolDown)
		for range 3 {
			lose()
		}
		require.Len(t, m.dialsSince(began, "127.0.0.1:19042"), 5, "it works again, and is used")
	})
}

// TestFault24PortsTaken has no free local port for a while.
func TestFault24PortsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(4))
		n := m.nodes[0]
		m.taken = func(port int) bool { return port%3 != 0 } // two thirds
		s := m.session()
		time.Sleep(time.Second)
		p := poolOf(s, n)
		require.Equal(t, repeat(4, 1), p.shardCounts())
		chosen := 0
		for _, end := range n.ends() {
			if end.port == fakeShardPort {
				chosen++
			}
		}
		require.Equal(t, 3, chosen, "the next ports were tried")
		m.mu.Lock()
		m.taken = func(int) bool { return true }
		m.mu.Unlock()
		p.pickShard(2).close(errors.New("one breaks"))
		time.Sleep(10 * time.Second)
		require.Equal(t, repeat(4, 1), p.shardCounts(), "over the plain port")
		m.mu.Lock()
		m.taken = nil
		m.mu.Unlock()
		n.stop()
		synctest.Wait()
		n.start()
		began := time.Now()
		time.Sleep(10 * time.Second)
		require.Equal(t, repeat(4, 1), p.shardCounts())
		require.NotEmpty(t, m.dialsSince(began, "127.0.0.1:19042"), "a node that was gone gets another try")
	})
}

// TestFault25ExcessCloses has more connections to a shard than are needed; the one in use must stay.
func TestFault25ExcessCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(4))
		n := m.nodes[0]
		next := 0
		order := []int{0 /* control */, 2, 2, 2, 0, 2, 1, 2, 3}
		n.assign = func() int { next++; return order[min(next, len(order))-1] }
		s := m.session(func(cfg *ClusterConfig) { cfg.DisableShardAwarePort = true })
		p := poolOf(s, n)
		first := p.pickShard(2)
		time.Sleep(10 * time.Second)
		require.Equal(t, repeat(4, 1), p.shardCounts())
		require.Same(t, first, p.pickShard(2))
		require.False(t, first.closed())
		require.Equal(t, 1+4, n.connections())
		p.remove(&conn{features: features{shards: 4, shard: 2}}, errors.New("never listed"))
		require.Same(t, first, p.pickShard(2), "another connection to the shard has ended")
	})
}

// TestFault25ExcessServes loses the connection in use while there is another one to its shard.
func TestFault25ExcessServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, protoV4, 1, sharded(4))
		n := m.nodes[0]
		n.assign = func() int { return 2 }
		n.delay = 10 * time.Millisecond
		s := m.session(func(cfg *ClusterConfig) { cfg.DisableShardAwarePort = true })
		p := poolOf(s, n)
		require.Equal(t, []int{0, 0, 1, 0}, p.shardCounts())
		p.mu.Lock()
		for len(p.excess) == 0 { // between two rounds there are none
			p.mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			p.mu.Lock()
		}
		spare := p.excess[0]
		p.mu.Unlock()
		p.pickShard(2).close(errors.New("breaks"))
		synctest.Wait()
		require.Equal(t, []int{0, 0, 1, 0}, p.shardCounts())
		require.Same(t, spare, p.pickShard(2))
		require.NoError(t, s.Query("INSERT").Exec())
	})
}

func TestDialShardPorts(t *testing.T) {
	taken := &net.OpError{Op: "dial", Err: syscall.EADDRNOTAVAIL}
	for _, m := range []struct {
		name          string
		ports         portRange
		shard, shards int32
		free          func(port int) bool
		want          []int // ports that may be used; none: an error
	}{
		{"all free", portRange{100, 110}, 2, 4, func(int) bool { return true }, []int{102, 106, 110}},
		{"one free", portRange{100, 110}, 2, 4, func(p int) bool { return p == 106 }, []int{106}},
		{"none free", portRange{100, 110}, 2, 4, func(int) bool { return false }, nil},
		{"none in the range", portRange{100, 101}, 3, 4, func(int) bool { return true }, nil},
		{"first of the range", portRange{100, 100}, 0, 4, func(int) bool { return true }, []int{100}},
		{"last there is", portRange{65533, 65535}, 3, 4, func(int) bool { return true }, []int{65535}},
	} {
		t.Run(m.name, func(t *testing.T) {
			used := map[int]bool{}
			for range 100 {
				tries := 0
				sock, err := dialShard(context.Background(), m.ports, m.shard, m.shards, func(_ context.Context, port int) (net.Conn, error) {
					tries++
					require.EqualValues(t, m.shard, token.ShardOfPort(uint16(port), m.shards))
					require.True(t, port >= int(m.ports.first) && port <= int(m.ports.last))
					if !m.free(port) {
						return nil, taken
					}
					used[port] = true
					return &net.TCPConn{}, nil
				})
				require.Equal(t, m.want != nil, err == nil)
				require.Equal(t, m.want != nil, sock != nil)
				if err != nil {
					require.ErrorIs(t, err, errPortsTaken)
				}
				require.LessOrEqual(t, tries, 3)
			}
			for port := range used {
				require.True(t, slices.Contains(m.want, port), "%d", port)
			}
			require.Len(t, used, len(m.want), "each is used some time")
		})
	}
	refused := errors.New("refused")
	tries := 0
	_, err := dialShard(context.Background(), portRange{100, 200}, 0, 2, func(context.Context, int) (net.Conn, error) {
		tries++
		return nil, refused
	})
	require.ErrorIs(t, err, refused)
	require.Equal(t, 1, tries, "only a taken port is a reason to try another")
}

// TestDialFromPort takes a local port twice, on real sockets.
func TestDialFromPort(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer ln.Close()
	d := &net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}}
	require.True(t, choosesPorts(d))
	require.True(t, choosesPorts(&net.Dialer{}))
	require.False(t, choosesPorts(&net.Dialer{LocalAddr: &net.TCPAddr{Port: 1}}))
	require.False(t, choosesPorts(dialerFunc(nil)))
	sock, err := dialShard(t.Context(), portRange{49152, 65535}, 3, 8, func(ctx context.Context, port int) (net.Conn, error) {
		return dialFromPort(ctx, d, ln.Addr().String(), port)
	})
	require.NoError(t, err)
	defer sock.Close()
	port := sock.LocalAddr().(*net.TCPAddr).Port
	require.EqualValues(t, 3, port%8)
	_, err = dialFromPort(t.Context(), d, ln.Addr().String(), port)
	require.True(t, portTaken(err), "%v", err)
}
