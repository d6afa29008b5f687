// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/internal/pooled"
	"github.com/vecql/vecql/internal/soak"
)

// All faults that cqltest has, by name, in a random order.

// soaking is the cluster of TestFault51Soak.
type soaking struct {
	*cqltest.Cluster
	t   *testing.T
	tls *tls.Config // of the nodes; nil means plain TCP
}

// inject puts a fault of requests in force and returns its end.
func (c *soaking) inject(f cqltest.Fault) func() {
	if f.Op == 0 {
		f.Op = cqltest.OpExecute
	}
	return c.Inject(f).Remove
}

// reconnect puts a fault of new connections in force, closes those that are open, and returns its end.
func (c *soaking) reconnect(f cqltest.ConnFault) func() {
	rule := c.InjectConn(f)
	f.Node.CloseConns()
	return func() {
		rule.Remove()
		f.Node.CloseConns()
	}
}

// speak makes the nodes expect that TLS on new connections, and closes those to n that are open.
func (c *soaking) speak(n *cqltest.Node, cfg *tls.Config) {
	c.SetTLS(cfg)
	n.CloseConns()
}

func (c *soaking) restart(n *cqltest.Node) func() {
	return func() { require.NoError(c.t, n.Restart()) }
}

// soakFaults are the faults. Each begins at a node and returns its end.
var soakFaults = map[string]func(c *soaking, n *cqltest.Node) func(){
	"connection closed": func(c *soaking, n *cqltest.Node) func() { n.CloseConns(); return func() {} },
	"closed in an answer": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Close: true, CloseAfter: 5, Skip: 20, Times: 5})
	},
	"closed in a request": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, CloseRequestAfter: 7, Skip: 20, Times: 5})
	},
	"single bytes": func(c *soaking, n *cqltest.Node) func() { return c.inject(cqltest.Fault{Node: n, Split: 1}) },
	"small segments": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Segments: []int{3, 1, 5}})
	},
	"flipped bit": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Corrupt: cqltest.SegmentPayload, Skip: 20, Times: 5})
	},
	"lying length": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Corrupt: cqltest.FrameLength, Skip: 20, Times: 5})
	},
	"duplicated answer": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Twice: true, Skip: 20, Times: 5})
	},
	"stray answer": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Stream: 999, Skip: 20, Times: 5})
	},
	"late answers": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Jitter: 2 * time.Second})
	},
	"lost answers": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Execute: true, Drop: true})
	},
	"lost PREPARE": func(c *soaking, n *cqltest.Node) func() {
		n.Forget()
		return c.inject(cqltest.Fault{Node: n, Op: cqltest.OpPrepare, Drop: true})
	},
	"forgotten statements": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Forget: true, Times: 10})
	},
	"overloaded": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Error: &cqltest.Error{Code: cqltest.CodeOverloaded}})
	},
	"server error": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Error: &cqltest.Error{Code: cqltest.CodeServer}})
	},
	"empty pages": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, EmptyPage: true, Statement: "SELECT"})
	},
	"warnings": func(c *soaking, n *cqltest.Node) func() {
		return c.inject(cqltest.Fault{Node: n, Warnings: []string{"a", "b"}, Trace: true})
	},
	"paused":             func(c *soaking, n *cqltest.Node) func() { n.Pause(); return n.Resume },
	"killed":             func(c *soaking, n *cqltest.Node) func() { n.Kill(); return c.restart(n) },
	"announced shutdown": func(c *soaking, n *cqltest.Node) func() { n.Shutdown(time.Second); return c.restart(n) },
	"moved": func(c *soaking, n *cqltest.Node) func() {
		require.NoError(c.t, n.Move(netip.Addr{}))
		return func() {}
	},
	"connections refused": func(c *soaking, n *cqltest.Node) func() { return c.reconnect(cqltest.ConnFault{Node: n, Refuse: true}) },
	"connections silent":  func(c *soaking, n *cqltest.Node) func() { return c.reconnect(cqltest.ConnFault{Node: n, Silent: true}) },
	"connections break": func(c *soaking, n *cqltest.Node) func() {
		return c.reconnect(cqltest.ConnFault{Node: n, CloseAfterRead: 900})
	},
	"trickle": func(c *soaking, n *cqltest.Node) func() {
		return c.reconnect(cqltest.ConnFault{Node: n, Split: 1, Latency: 20 * time.Millisecond})
	},
	"another cluster": func(c *soaking, n *cqltest.Node) func() {
		n.Kill()
		other, err := cqltest.Start(cqltest.Config{ClusterName: "other", Nodes: 1, Addrs: []netip.AddrPort{n.Addr()}})
		require.NoError(c.t, err)
		require.NoError(c.t, other.Exec(soakSchema))
		for id := range soakRows {
			require.NoError(c.t, other.Exec(fmt.Sprintf("INSERT INTO ks.t (id, n) VALUES (%d, -1)", id)))
		}
		return func() { other.Close(); c.restart(n)() }
	},
	"plain or TLS by mistake": func(c *soaking, n *cqltest.Node) func() {
		other, _ := fakecql.TLSPair(c.t, "other")
		if c.tls != nil {
			other = nil
		}
		c.speak(n, other)
		return func() { c.speak(n, c.tls) }
	},
	"another certificate": func(c *soaking, n *cqltest.Node) func() {
		if c.tls == nil {
			return func() {}
		}
		other, _ := fakecql.TLSPair(c.t, "other")
		c.speak(n, other)
		return func() { c.speak(n, c.tls) }
	},
	"HTTP server": func(c *soaking, n *cqltest.Node) func() {
		n.Kill()
		ln, err := net.Listen("tcp", n.Addr().String())
		require.NoError(c.t, err)
		server := &http.Server{Handler: http.NotFoundHandler(), ErrorLog: log.New(io.Discard, "", 0)}
		go func() { _ = server.Serve(ln) }()
		return func() { require.NoError(c.t, server.Close()); c.restart(n)() }
	},
	"lying shards": func(c *soaking, n *cqltest.Node) func() {
		shards := func(n string) []byte { return []byte("SCYLLA_NR_SHARDS\x00\x01\x00\x01" + n) }
		rule := c.Inject(cqltest.Fault{Node: n, Op: cqltest.OpOptions, Edit: func(a *cqltest.Answer) {
			a.Body = bytes.Replace(a.Body, shards("4"), shards("7"), 1)
		}})
		n.CloseConns()
		return func() { rule.Remove(); n.CloseConns() }
	},
	"false events": func(c *soaking, n *cqltest.Node) func() {
		for _, change := range []string{"DOWN", "UP", "DOWN"} {
			c.Event(cqltest.Event{Type: "STATUS_CHANGE", Change: change, Node: n.Addr()})
		}
		return func() {}
	},
	"event storm": func(c *soaking, n *cqltest.Node) func() {
		for range 2000 {
			c.Event(cqltest.Event{Type: "TOPOLOGY_CHANGE", Change: "NEW_NODE", Node: n.Addr()})
		}
		return func() {}
	},
	"altered table": func(c *soaking, _ *cqltest.Node) func() {
		require.NoError(c.t, c.Exec("ALTER TABLE ks.t ADD x int"))
		return func() { require.NoError(c.t, c.Exec("ALTER TABLE ks.t DROP x")) }
	},
}

const (
	soakRows   = 200
	soakSchema = `CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
		CREATE TABLE ks.t (id int PRIMARY KEY, n int)`
)

// TestFault51Soak meets a cluster of Cassandra, and one of ScyllaDB over TLS, with all faults by name, in a random
// order, turn after turn, while eight goroutines write and read. No answer may be wrong. After each fault every node
// must serve again. At the end the heap is as large as after the first turn, and no goroutine, connection or buffer is
// left.
func TestFault51Soak(t *testing.T) {
	server, client := fakecql.TLSPair(t, "db.test")
	client.ServerName = "db.test"
	for _, c := range []struct {
		name   string
		scylla *cqltest.Scylla
		server *tls.Config
		client *tls.Config
	}{
		{name: "Cassandra"},
		{"ScyllaDB over TLS", &cqltest.Scylla{Shards: 4}, server, client},
	} {
		t.Run(c.name, func(t *testing.T) {
			leak.Require(t, pooled.Held.Load)
			cfg := cqltest.Config{Nodes: 3, GracefulDisconnect: true, Scylla: c.scylla, TLS: c.server}
			soakCluster(t, &soaking{cqltest.New(t, cfg), t, c.server}, c.client)
		})
	}
}

// soakCluster runs TestFault51Soak on one cluster.
func soakCluster(t *testing.T, c *soaking, client *tls.Config) {
	names := make([]string, 0, len(soakFaults))
	for name := range soakFaults {
		names = append(names, name)
	}
	slices.Sort(names)
	require.NoError(t, c.Exec(soakSchema))
	cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
	cfg.Logger, cfg.Defaults.Idempotent, cfg.TLS = slog.New(slog.DiscardHandler), true, client
	cfg.Timeout, cfg.ConnectTimeout, cfg.Pool.HeartbeatTimeout = time.Second, time.Second, time.Second
	cfg.Pool.ReconnectionPolicy = &vecql.ConstantReconnectionPolicy{MaxRetries: 1 << 30, Interval: 100 * time.Millisecond}
	s := openSession(t, cfg)
	for id := range soakRows {
		require.NoError(t, s.Query("INSERT INTO ks.t (id, n) VALUES (?, ?)", id, 7*id).Exec(t.Context()))
	}
	var right, failed, wrong atomic.Int64
	ctx, stop := context.WithCancel(t.Context())
	var load sync.WaitGroup
	for range 8 {
		load.Go(func() {
			for ctx.Err() == nil {
				id, n := rand.IntN(soakRows), 0
				err := s.Query("INSERT INTO ks.t (id, n) VALUES (?, ?)", id, 7*id).Exec(ctx)
				if err == nil {
					err = s.Query("SELECT n FROM ks.t WHERE id = ?", id).Scan(ctx, &n)
				}
				switch {
				case err != nil:
					failed.Add(1)
				case n != 7*id:
					wrong.Add(1)
				default:
					right.Add(1)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	defer load.Wait()
	defer stop()

	length := soak.Time(time.Second, 15*time.Second)
	pause := length / time.Duration(3*len(names)) // half of it with the fault
	var first uint64
	goroutines := 0
	for end := time.Now().Add(length); first == 0 || time.Now().Before(end); {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			n := c.Node(rand.IntN(3))
			over := soakFaults[name](c, n)
			time.Sleep(min(pause, 2*time.Second))
			over()
			require.EventuallyWithT(t, func(retry *assert.CollectT) {
				for _, h := range s.GetHosts() {
					assert.NoError(retry, s.Query("SELECT n FROM ks.t WHERE id = 1").HostID(h.ID).Exec(t.Context()))
				}
				assert.Len(retry, s.GetHosts(), 3)
			}, 30*time.Second, 10*time.Millisecond, "after %q", name)
			require.Zero(t, wrong.Load(), "a wrong answer after %q", name)
			if time.Now().After(end) && first != 0 {
				break
			}
		}
		if first == 0 {
			first, goroutines = heap(), runtime.NumGoroutine()
		}
	}
	require.Eventually(t, func() bool {
		for _, n := range s.Stats().Nodes {
			if n.Connections == 0 || n.Silent > 0 {
				return false
			}
		}
		return true
	}, 30*time.Second, 10*time.Millisecond)
	t.Logf("%d right, %d failed, heap %d KiB after a turn, %d KiB at the end", right.Load(), failed.Load(), first>>10, heap()>>10)
	require.Less(t, failed.Load(), right.Load())
	require.Less(t, heap(), first+first/2+(8<<20))
	require.Less(t, runtime.NumGoroutine(), 2*goroutines+50)
	stop()
	load.Wait()
	ended := time.Now()
	s.Close()
	require.Less(t, time.Since(ended), 5*time.Second)
	for i, n := range c.Nodes() {
		require.Eventually(t, func() bool { return len(n.Conns()) == 0 }, 5*time.Second, 5*time.Millisecond, "node %d", i)
	}
}
