// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
	"github.com/vecql/vecql/internal/token"
)

// Tests of connections to shards.

// poolOf returns the session's pool of a node.
func poolOf(s *Session, n *fakecql.Node) *pool { return s.topo.Load().nodeByID(cql.UUID(n.ID)).pool }

// shardCounts returns the number of a pool's connections to each shard.
func (p *pool) shardCounts() []int {
	v := p.open.Load()
	count := make([]int, len(v.byShard))
	for i, conns := range v.byShard {
		count[i] = len(conns)
	}
	return count
}

// repeat returns n values v.
func repeat(n, v int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func TestPoolShardAwarePort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(8))
		var asked [8]atomic.Int32
		m.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				asked[r.Conn.End.(*fakecql.End).Shard].Add(1)
			}
			return false
		})
		s := sessionOn(m)
		p := poolOf(s, m.Nodes[0])
		synctest.Wait()
		require.Equal(t, repeat(8, 1), p.shardCounts())
		require.Len(t, m.DialsSince(time.Time{}, ""), 2+8, "the control connection, once with v5, and one dial for each shard")
		for _, d := range m.DialsSince(time.Time{}, "127.0.0.1:19042") {
			require.True(t, d.LocalPort >= 49152 && d.LocalPort <= 65535)
		}
		for shard := range int32(8) {
			require.EqualValues(t, shard, p.pickShard(shard).Features.Shard)
		}
		for _, shard := range []int32{-1, 8, 1 << 20, -1 << 31} {
			require.NotNil(t, p.pickShard(shard), "%d", shard)
		}
		for range 100 {
			tok := int64(rand.Uint64())
			require.Equal(t, token.ShardOf(tok, 8, 12), p.shardOf(tok))
		}
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		require.True(t, p.isUp())
	})
}

func TestPoolConnectionsPerShard(t *testing.T) {
	for _, m := range []struct{ size, shards, want int }{{1, 8, 1}, {8, 8, 1}, {9, 8, 2}, {2, 1, 2}, {16, 3, 6}, {3, 0, 3}} {
		t.Run(fmt.Sprintf("%d over %d", m.size, m.shards), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(m.shards))
				s := sessionOn(net, func(cfg *ClusterConfig) { cfg.Pool.NumConns = m.size })
				synctest.Wait()
				p := poolOf(s, net.Nodes[0])
				require.Equal(t, repeat(m.shards, m.want), p.shardCounts())
				require.Len(t, p.open.Load().conns, m.want*max(m.shards, 1))
			})
		})
	}
}

// TestPoolPlainPort reaches all shards when the node selects the shard.
func TestPoolPlainPort(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	for _, m := range []struct {
		name   string
		change func(cfg *ClusterConfig, n *fakecql.Node)
	}{
		{"port is disabled", func(cfg *ClusterConfig, _ *fakecql.Node) { cfg.Pool.DisableShardAwarePort = true }},
		{"port refuses", func(_ *ClusterConfig, n *fakecql.Node) { n.NoPort = true }},
		{"port is not announced", func(_ *ClusterConfig, n *fakecql.Node) { n.Extra = map[string][]string{conn.KeyShardAwarePort: nil} }},
		{"dialer cannot choose ports", func(cfg *ClusterConfig, n *fakecql.Node) {
			cfg.Pool.Dialer = dialerFunc(n.Cluster.DialContext)
		}},
		{"translated ports", func(_ *ClusterConfig, n *fakecql.Node) { n.PortShift = 3 }},
		{"no local port is free", func(_ *ClusterConfig, n *fakecql.Node) { n.Cluster.Taken = func(int) bool { return true } }},
		{"node chooses at random", func(cfg *ClusterConfig, n *fakecql.Node) {
			cfg.Pool.DisableShardAwarePort = true
			n.Assign = func() int { return random.IntN(8) }
		}},
	} {
		t.Run(m.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(8))
				s := sessionOn(net, func(cfg *ClusterConfig) { m.change(cfg, net.Nodes[0]) })
				time.Sleep(time.Minute)
				p := poolOf(s, net.Nodes[0])
				require.Equal(t, repeat(8, 1), p.shardCounts())
				synctest.Wait()
				require.Equal(t, 1+8, net.Nodes[0].Connections(), "surplus connections are closed")
			})
		})
	}
}

type dialerFunc func(ctx context.Context, network, addr string) (net.Conn, error)

func (f dialerFunc) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return f(ctx, network, addr)
}

// TestPoolPlainPortBoundedRate has a node that never selects some shards.
func TestPoolPlainPortBoundedRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(8))
		m.Nodes[0].Assign = func() int { return 5 }
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Pool.DisableShardAwarePort = true })
		began := time.Now()
		time.Sleep(10 * time.Minute)
		dials := m.DialsSince(began, "")
		require.Less(t, len(dials), 17*(6+12*2), "16 dials a round, a pause of up to a minute")
		require.Greater(t, len(dials), 17*6, "dialing continues")
		require.LessOrEqual(t, m.Nodes[0].Connections(), 2+16)
		require.EqualValues(t, 5, poolOf(s, m.Nodes[0]).pickShard(2).Features.Shard, "another shard serves its requests")
	})
}

// TestFault24Resharding restarts a node with another number of shards, under requests.
func TestFault24Resharding(t *testing.T) {
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("plain port %v", plain), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newFakeCluster(t, frame.V4, 2, fakecql.Sharded(8))
				s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Pool.DisableShardAwarePort = plain })
				time.Sleep(time.Second)
				n := m.Nodes[1]
				p := poolOf(s, n)
				for _, shards := range []int{4, 8, 1, 16, 3} {
					n.Stop()
					synctest.Wait()
					require.Nil(t, p.pickShard(int32(shards)))
					require.EqualValues(t, -1, p.shardOf(1))
					n.Change(func(n *fakecql.Node) { n.Shards = shards })
					require.NoError(t, s.Query("INSERT").Exec(t.Context()), "the other node serves")
					n.Start()
					for range 50 {
						p.pickShard(rand.Int32N(20) - 2)
						time.Sleep(time.Second)
					}
					require.Equal(t, repeat(shards, 1), p.shardCounts())
					require.Equal(t, shards, n.Connections(), "no earlier connection is left")
					require.Less(t, p.shardOf(1<<62), int32(shards))
				}
			})
		})
	}
}

// TestFault25SurplusCloses has more connections to a shard than are needed; the one in use must stay.
func TestFault25SurplusCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(4))
		n := m.Nodes[0]
		next := 0
		order := []int{0 /* control */, 2, 2, 2, 0, 2, 1, 2, 3}
		n.Assign = func() int { next++; return order[min(next, len(order))-1] }
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Pool.DisableShardAwarePort = true })
		p := poolOf(s, n)
		first := p.pickShard(2)
		time.Sleep(10 * time.Second)
		require.Equal(t, repeat(4, 1), p.shardCounts())
		require.Same(t, first, p.pickShard(2))
		require.False(t, first.Closed())
		require.Equal(t, 1+4, n.Connections())
		p.remove(&conn.Conn{Features: conn.Features{Shards: 4, Shard: 2}}, errors.New("never listed"))
		require.Same(t, first, p.pickShard(2), "another connection to the shard has ended")
	})
}

// TestFault25SurplusServes loses the connection in use while there is a surplus one to its shard.
func TestFault25SurplusServes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeCluster(t, frame.V4, 1, fakecql.Sharded(4))
		n := m.Nodes[0]
		n.Assign = func() int { return 2 }
		n.Delay = 10 * time.Millisecond
		s := sessionOn(m, func(cfg *ClusterConfig) { cfg.Pool.DisableShardAwarePort = true })
		p := poolOf(s, n)
		require.Equal(t, []int{0, 0, 1, 0}, p.shardCounts())
		p.mu.Lock()
		for len(p.shards.surplus) == 0 { // between two rounds there are none
			p.mu.Unlock()
			time.Sleep(5 * time.Millisecond)
			p.mu.Lock()
		}
		spare := p.shards.surplus[0]
		p.mu.Unlock()
		p.pickShard(2).Close(errors.New("breaks"))
		synctest.Wait()
		require.Equal(t, []int{0, 0, 1, 0}, p.shardCounts())
		require.Same(t, spare, p.pickShard(2))
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	})
}

func TestDialShardPorts(t *testing.T) {
	taken := &net.OpError{Op: "dial", Err: syscall.EADDRNOTAVAIL}
	for _, m := range []struct {
		name          string
		ports         portRange
		shard, shards int32
		free          func(port int) bool
		want          []int // possible ports; none means an error
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
			require.Len(t, used, len(m.want), "each is used at least once")
		})
	}
	refused := errors.New("refused")
	tries := 0
	_, err := dialShard(context.Background(), portRange{100, 200}, 0, 2, func(context.Context, int) (net.Conn, error) {
		tries++
		return nil, refused
	})
	require.ErrorIs(t, err, refused)
	require.Equal(t, 1, tries, "only a taken port leads to another attempt")
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

// TestShardPortPauses requires the pauses of the shard-aware port: they double up to a limit, start over once the port
// has worked, and end with an outage of the node unless the port led to other shards.
func TestShardPortPauses(t *testing.T) {
	cfg := poolConfig{size: 1, log: slog.New(slog.DiscardHandler)}
	connOn := func(shard int32) *conn.Conn {
		c := &conn.Conn{}
		c.Features.Shards, c.Features.Shard = 4, shard
		return c
	}
	now := time.Now()
	pauses := func(p *pool, n int) (all []time.Duration) {
		for range n {
			p.portFailed(now, io.EOF)
			require.Equal(t, now.Add(p.shards.coolDown), p.shards.portAfter)
			all = append(all, p.shards.coolDown)
		}
		return all
	}
	minutes := func(n ...time.Duration) (all []time.Duration) {
		for _, v := range n {
			all = append(all, v*time.Minute)
		}
		return all
	}
	p := newPool(t.Context(), "127.0.0.1:9042", cfg)
	byPort := dialTarget{port: 19042, shard: 2, shards: 4}
	require.Equal(t, minutes(5, 10, 20, 40, 60, 60), pauses(p, 6))
	require.True(t, p.wanted(connOn(2), byPort, nil))
	require.Equal(t, minutes(5, 10), pauses(p, 2), "the port has worked")

	require.True(t, p.wanted(connOn(1), dialTarget{}, []*conn.Conn{connOn(2)}))
	require.False(t, p.shards.portAfter.IsZero(), "the node was connected")
	require.True(t, p.wanted(connOn(1), dialTarget{}, nil))
	require.True(t, p.shards.portAfter.IsZero(), "the outage of the node may have caused the failure")

	p.wanted(connOn(1), byPort, nil)
	require.True(t, p.shards.portWrong)
	after := p.shards.portAfter
	require.True(t, after.After(now))
	require.True(t, p.wanted(connOn(1), dialTarget{}, nil))
	require.Equal(t, after, p.shards.portAfter, "a port that leads to other shards is not used after an outage either")
	p.wanted(connOn(2), byPort, nil)
	require.False(t, p.shards.portWrong)

	resharded := connOn(1)
	resharded.Features.Shards = 8
	p.wanted(resharded, byPort, nil)
	require.False(t, p.shards.portWrong, "the node has another number of shards: the port may be right")

	p.shards = shardAccess{surplus: []*conn.Conn{connOn(1)}, portWrong: true, coolDown: time.Hour, portAfter: after, pause: time.Minute}
	p.resetPorts()
	require.Equal(t, shardAccess{surplus: p.shards.surplus}, p.shards)
	require.Len(t, p.shards.surplus, 1)
}

// TestSurplusRounds requires the pauses between rounds of connections over the plain port, and the number of surplus
// connections that ends a round.
func TestSurplusRounds(t *testing.T) {
	for _, m := range []struct{ shards, most int }{{2, surplusLeast}, {4, surplusLeast}, {5, 10}, {16, 32}, {32, surplusMost}, {100, surplusMost}} {
		p := newPool(t.Context(), "127.0.0.1:9042", poolConfig{size: 1, log: slog.New(slog.DiscardHandler)})
		v := &poolView{byShard: make([][]*conn.Conn, m.shards)}
		now, to := time.Now(), dialTarget{}
		for round, pause := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
			for len(p.shards.surplus) < m.most {
				end, wait := p.stepShard(&to, v, now)
				require.False(t, end)
				require.Zero(t, wait, "%d shards, round %d: %d surplus", m.shards, round, len(p.shards.surplus))
				client, server := net.Pipe()
				_ = server.Close()
				p.shards.surplus = append(p.shards.surplus, conn.New(&conn.Config{}, "", client))
			}
			end, wait := p.stepShard(&to, v, now)
			require.False(t, end)
			require.Equal(t, pause*time.Second, p.shards.pause)
			require.GreaterOrEqual(t, wait, pause*time.Second/2)
			require.LessOrEqual(t, wait, pause*time.Second)
			now = now.Add(pause * time.Second)
		}
		p.draining.Wait()
		f := &conn.Conn{}
		f.Features.Shards = int32(m.shards)
		require.True(t, p.wanted(f, to, nil))
		require.Zero(t, p.shards.pause, "a new shard was reached")
	}
}

// TestCodesOfSystems requires the errors that mean a reset connection, and a local port that cannot be used, of the
// systems that the driver runs on.
func TestCodesOfTakenPorts(t *testing.T) {
	for _, goos := range []string{"linux", "darwin"} {
		require.Equal(t, []syscall.Errno{syscall.EADDRINUSE, syscall.EADDRNOTAVAIL}, takenCodes(goos))
	}
	require.Equal(t, []syscall.Errno{10048, 10049}, takenCodes("windows"))
	for _, code := range takenCodes(runtime.GOOS) {
		require.True(t, portTaken(errtext.Errorf("dial: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("bind", code)})))
	}
	require.False(t, portTaken(errtext.Errorf("dial: %w", syscall.ECONNREFUSED)))
	require.False(t, portTaken(io.EOF))
}
