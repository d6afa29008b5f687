// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql"
)

// TestChaos makes every change to a cluster while a driver uses it: answers are right or errors, and no goroutine is
// left.
func TestChaos(t *testing.T) {
	for _, scylla := range []*Scylla{nil, {Shards: 3, Tablets: 16}} {
		synctest.Test(t, func(t *testing.T) {
			const seed = 7
			c := New(t, Config{Nodes: 4, Network: InMemory, Scylla: scylla})
			require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
				CREATE TABLE ks.t (k int PRIMARY KEY, v text)`))
			cfg := clusterConfig(c)
			cfg.Timeout, cfg.ConnectTimeout, cfg.Pool.HeartbeatInterval = 2*time.Second, 2*time.Second, 5*time.Second
			s, err := vecql.NewSession(t.Context(), *cfg)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			var wg sync.WaitGroup
			var good, bad, wrong atomic.Int64
			for w := range 4 {
				wg.Go(func() {
					for i := 0; ctx.Err() == nil; i++ {
						k, want := w*1000+i%100, fmt.Sprint("value ", w, " ", i%100)
						err := s.Query("INSERT INTO ks.t (k, v) VALUES (?, ?)", k, want).Idempotent(true).Exec(ctx)
						var got string
						if err == nil {
							err = s.Query("SELECT v FROM ks.t WHERE k = ?", k).Idempotent(true).Scan(ctx, &got)
						}
						switch {
						case err != nil:
							bad.Add(1)
						case got != want:
							wrong.Add(1)
						default:
							good.Add(1)
						}
						time.Sleep(200 * time.Millisecond)
					}
				})
			}
			r := rand.New(rand.NewPCG(seed, seed))
			for range 60 {
				n := c.Node(r.IntN(len(c.Nodes())))
				switch r.IntN(12) {
				case 0:
					n.Kill()
				case 1, 2:
					_ = n.Restart()
				case 3:
					_ = n.Move(netip.Addr{})
				case 4:
					n.Pause()
					time.Sleep(time.Duration(r.IntN(5000)) * time.Millisecond)
					n.Resume()
				case 5:
					n.CloseConns()
				case 6:
					n.Forget()
				case 7:
					c.Inject(Fault{Node: n, Times: 5, Delay: time.Second, Jitter: 3 * time.Second})
				case 8:
					c.Inject(Fault{Node: n, Times: 5, Close: true, CloseAfter: r.IntN(20)})
				case 9:
					c.Inject(Fault{Node: n, Times: 5, Drop: true, Op: OpExecute})
					c.InjectConn(ConnFault{Node: n, Times: 1, CloseAfterRead: 1 + r.IntN(500)})
				case 10:
					if added, err := c.AddNode("datacenter1", "rack1"); err == nil && len(c.Nodes()) > 5 {
						c.RemoveNode(added)
					}
					c.MoveTablets()
				case 11:
					n.SetShards(1 + r.IntN(8))
					c.StepClock(time.Duration(r.IntN(2000)-1000) * time.Millisecond)
				}
				time.Sleep(time.Duration(r.IntN(500)) * time.Millisecond)
			}
			c.ClearFaults()
			for _, n := range c.Nodes() {
				n.Resume()
				require.NoError(t, n.Restart())
			}
			time.Sleep(time.Minute) // everything has recovered
			before := bad.Load()
			time.Sleep(10 * time.Second)
			require.Equal(t, before, bad.Load())
			cancel()
			wg.Wait()
			require.Zero(t, wrong.Load())
			require.Greater(t, good.Load(), int64(300))
			require.True(t, slices.ContainsFunc(c.Nodes(), func(n *Node) bool { return len(n.Conns()) > 0 }))
			t.Logf("%d good, %d failed", good.Load(), before)
			s.Close()
			c.Close()
			synctest.Wait()
		})
	}
}
