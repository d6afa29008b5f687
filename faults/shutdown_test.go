// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
)

// Nodes that announce their end (CEP-59).

// TestFault50GracefulDisconnect shuts the nodes of a cluster down in turn, under writes that are not idempotent. None
// may fail, each client connection must be closed by the client within the grace period, and each node must serve again
// after its return. Without the announcement some writes fail.
func TestFault50GracefulDisconnect(t *testing.T) {
	for name, announced := range map[string]bool{"announced": true, "not announced": false} {
		t.Run(name, func(t *testing.T) {
			c := cqltest.New(t, cqltest.Config{Nodes: 3, GracefulDisconnect: announced})
			require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"))
			require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, n int)"))
			c.Inject(cqltest.Fault{Op: cqltest.OpExecute, Delay: 5 * time.Millisecond})
			cfg := &vecql.ClusterConfig{Hosts: c.Hosts()}
			cfg.Logger = slog.New(slog.DiscardHandler)
			s := openSession(t, cfg)
			var stop atomic.Bool
			var failed atomic.Int64
			var load sync.WaitGroup
			defer load.Wait()
			defer stop.Store(true) // also if the test fails
			for i := range 16 {
				load.Go(func() {
					for ; !stop.Load(); i += 16 {
						if s.Query("INSERT INTO ks.t (id, n) VALUES (?, ?)", i, i).Consistency(cql.One).Exec(context.Background()) != nil {
							failed.Add(1)
						}
					}
				})
			}
			for _, n := range c.Nodes() {
				require.Eventually(t, func() bool { return upNodes(s) == 3 }, 20*time.Second, 5*time.Millisecond)
				time.Sleep(50 * time.Millisecond)
				require.True(t, n.Shutdown(10*time.Second), "the clients close the connections")
				require.Eventually(t, func() bool { return upNodes(s) == 2 }, 20*time.Second, 5*time.Millisecond)
				require.NoError(t, n.Restart())
			}
			require.Eventually(t, func() bool { return upNodes(s) == 3 }, 20*time.Second, 5*time.Millisecond)
			stop.Store(true)
			load.Wait()
			if announced {
				require.Zero(t, failed.Load())
			} else {
				require.NotZero(t, failed.Load(), "the fault has an effect")
			}
		})
	}
}

// upNodes returns the number of nodes that take requests.
func upNodes(s *vecql.Session) (n int) {
	for _, h := range s.GetHosts() {
		if s.IsUp(h) {
			n++
		}
	}
	return n
}

// TestFault50AnnouncedByEach: a node announces its end on each new connection, refuses the REGISTER, or sends fields of
// a later version. The session must not dial in a loop, and uses the node that only refuses.
func TestFault50AnnouncedByEach(t *testing.T) {
	for name, m := range map[string]struct {
		answer func(r *fakecql.Request)
		served bool
	}{
		"at once": {func(r *fakecql.Request) {
			r.Conn.Reply(r.Stream, fakecql.OpReady, nil)
			r.Conn.Push(fakecql.EventBody("GRACEFUL_DISCONNECT", "later"))
		}, false},
		"refused": {func(r *fakecql.Request) { r.Fail(int32(cql.CodeProtocol)) }, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t, fakecql.V4, 2, func(n *fakecql.Node) { n.Extra = map[string][]string{"GRACEFUL_DISCONNECT": {"true"}} })
				c.On(func(r *fakecql.Request) bool {
					own := r.Op == fakecql.OpRegister && r.Node == c.Nodes[1] && string(r.Body[4:]) == "GRACEFUL_DISCONNECT"
					if own {
						m.answer(r)
					}
					return own
				})
				s := sessionOn(c)
				began := time.Now()
				for range 60 {
					time.Sleep(time.Second)
					require.NoError(t, s.Query("INSERT").Exec(t.Context()))
				}
				if m.served {
					require.NoError(t, s.Query("INSERT").HostID(cql.UUID(c.Nodes[1].ID)).Exec(t.Context()))
				}
				require.LessOrEqual(t, len(c.DialsSince(began, c.Nodes[1].Addr())), 60, "one a second")
			})
		})
	}
}
