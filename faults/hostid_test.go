// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/soak"
)

// Fault 63: the nodes of a cluster get other host ids while they run.

// renaming is a cluster whose nodes get other host ids, in the row of system.local that a node has of itself and in the
// rows that each other node has of it, at different times.
type renaming struct {
	*cqltest.Cluster
	mu   sync.Mutex
	rows map[[2]int]cqltest.Row // changed columns, by the numbers of the node that is asked and of the described one
}

// startRenaming starts a cluster of three nodes. All of them store every row.
func startRenaming(t *testing.T) *renaming {
	t.Helper()
	r := &renaming{rows: map[[2]int]cqltest.Row{}}
	r.Cluster = cqltest.New(t, cqltest.Config{Network: cqltest.InMemory})
	require.NoError(t, r.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3}"))
	require.NoError(t, r.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v int)"))
	numbers := map[[16]byte]int{}
	for _, n := range r.Nodes() {
		numbers[n.HostID()] = n.Number()
	}
	r.EditSystem(func(asked *cqltest.Node, _ string, rows []cqltest.Row) []cqltest.Row {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, row := range rows {
			maps.Copy(row, r.rows[[2]int{asked.Number(), numbers[row["host_id"].([16]byte)]}])
		}
		return rows
	})
	return r
}

// set changes columns of the row that a node has of a node; nil means the true row.
func (r *renaming) set(asked, about int, row cqltest.Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows[[2]int{asked, about}] = row
}

// otherID returns the other host id of a node, as Cassandra 6 makes it.
func otherID(number int) [16]byte {
	return [16]byte{0x6d, 0x19, 0x45, 0x55, 0xf6, 0xeb, 0x41, 0xd0, 0xc0, 15: byte(number + 1)}
}

// rename sets the other host id in the row that a node has of a node.
func (r *renaming) rename(asked, about int) {
	r.set(asked, about, cqltest.Row{"host_id": otherID(about)})
}

// renameRows sets the other host ids in the rows of peers, renameNodes in the rows that nodes have of themselves.
func (r *renaming) renameRows()  { r.renameAll(false) }
func (r *renaming) renameNodes() { r.renameAll(true) }

func (r *renaming) renameAll(itself bool) {
	for asked := range 3 {
		for about := range 3 {
			if itself == (asked == about) {
				r.rename(asked, about)
			}
		}
	}
}

// session opens a session that reads the system tables every second, with the first node as contact point.
func (r *renaming) session(t *testing.T, change ...func(*vecql.ClusterConfig)) *vecql.Session {
	t.Helper()
	s := cqlSession(t, r.Cluster, append([]func(*vecql.ClusterConfig){func(cfg *vecql.ClusterConfig) {
		cfg.Hosts, cfg.Pool.Dialer, cfg.Nodes.ReconnectInterval = cfg.Hosts[:1], r.Dialer(), time.Second
	}}, change...)...)
	time.Sleep(3 * time.Second)
	return s
}

// following is a HostPicker that knows the nodes from reports alone, and is slow to hear them.
type following struct {
	mu    sync.Mutex
	hosts map[cql.UUID]*cql.Host
}

func (*following) Tier(*cql.Host) int { return 0 }

func (f *following) Pick(_ context.Context, _ vecql.RouteInfo, hosts []*cql.Host) vecql.NextHost {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.hosts == nil { // while the session starts
		return vecql.HostsInOrder(hosts...)
	}
	return vecql.HostsInOrder(slices.Collect(maps.Values(f.hosts))...)
}

func (f *following) hear(c vecql.NodeChange) {
	time.Sleep(100 * time.Millisecond)
	f.mu.Lock()
	defer f.mu.Unlock()
	switch c.Kind {
	case vecql.NodeAdded:
		f.hosts[c.Host.ID] = c.Host
	case vecql.NodeRemoved:
		delete(f.hosts, c.Host.ID)
	}
}

// follow opens a session with such a policy.
func (r *renaming) follow(t *testing.T) *vecql.Session {
	t.Helper()
	f := &following{}
	s := r.session(t, func(cfg *vecql.ClusterConfig) { cfg.HostSelectionPolicy, cfg.Nodes.OnChange = f, f.hear })
	f.mu.Lock()
	defer f.mu.Unlock()
	f.hosts = map[cql.UUID]*cql.Host{}
	for _, h := range s.GetHosts() {
		f.hosts[h.ID] = h
	}
	return s
}

// keepLoading starts reads and idempotent writes on sessions. stop ends them and returns their number and errors.
func keepLoading(sessions ...*vecql.Session) (stop func() (requests int, err error)) {
	ended := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex
	var errs []error
	requests := 0
	for _, s := range sessions {
		for _, write := range []bool{true, false} {
			wg.Go(func() {
				for i := 0; ; i++ {
					q := s.Query("SELECT v FROM ks.t WHERE id = ?", i%100)
					if write {
						q = s.Query(insertV, i%100, i)
					}
					err := q.Idempotent(true).Exec(context.Background())
					mu.Lock()
					requests++
					if err != nil {
						errs = append(errs, fmt.Errorf("request %d: %w", i, err))
					}
					mu.Unlock()
					select {
					case <-ended:
						return
					case <-time.After(20 * time.Millisecond):
					}
				}
			})
		}
	}
	return func() (int, error) {
		close(ended)
		wg.Wait()
		return requests, errors.Join(errs...)
	}
}

// requireRenamed requires that a session knows all nodes by their other ids, and uses them.
func requireRenamed(t *testing.T, s *vecql.Session) {
	t.Helper()
	hosts := s.GetHosts()
	require.Len(t, hosts, 3)
	for i, h := range hosts { // in the order of their ids
		require.Equal(t, cql.UUID(otherID(i)), h.ID)
		require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = 1").HostID(h.ID).Exec(t.Context()))
	}
}

// renamingOrders are the orders in which rows of peers and nodes get the other ids, some seconds apart.
var renamingOrders = map[string][]func(*renaming){
	"rows first":  {(*renaming).renameRows, (*renaming).renameNodes},
	"nodes first": {(*renaming).renameNodes, (*renaming).renameRows},
	"at once":     {func(r *renaming) { r.renameRows(); r.renameNodes() }},
}

// TestFault63OtherHostIDs: rows of peers and nodes get the other ids, in each order. No request may fail, no connection
// may be replaced, and requests for a node by its old id still reach it.
func TestFault63OtherHostIDs(t *testing.T) {
	for name, steps := range renamingOrders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRenaming(t)
				logged, logger := fakecql.NewLogCounter()
				s := r.session(t, func(cfg *vecql.ClusterConfig) { cfg.Logger = logger })
				following, old, before := r.follow(t), s.GetHosts(), s.Stats()
				stop := keepLoading(s, following)
				for _, step := range steps {
					step(r)
					time.Sleep(10 * time.Second)
				}
				requests, err := stop()
				require.NoError(t, err)
				evidence(t, "other host ids, "+name, "%d requests, 0 failures", requests)
				requireRenamed(t, s)
				requireRenamed(t, following)
				for _, h := range old {
					require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = 1").HostID(h.ID).Exec(t.Context()))
					require.True(t, s.IsUp(h))
				}
				after := s.Stats()
				require.Equal(t, before.ConnectionsOpened, after.ConnectionsOpened)
				require.Zero(t, after.ConnectionsLost)
				require.Zero(t, after.WrongPeers)
				require.Equal(t, 3, logged.Of("node has another host id"))
				require.Zero(t, logged.Of("node added")+logged.Of("node removed"))
			})
		})
	}
}

// TestFault63ConnectionsBreak: connections to two of three nodes break between the changes of rows and nodes, the
// control connection among them. When the rows are first, new connections are opened at once; when the nodes are first,
// after the rows have changed. No request may fail.
func TestFault63ConnectionsBreak(t *testing.T) {
	for name, steps := range renamingOrders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRenaming(t)
				s, following := r.session(t), r.follow(t)
				stop := keepLoading(s, following)
				for i, step := range steps {
					step(r)
					time.Sleep(3 * time.Second)
					r.Node(1).CloseConns()
					time.Sleep(3 * time.Second)
					r.Node(0).CloseConns()
					time.Sleep(10 * time.Second)
					if i < len(steps)-1 && name == "rows first" {
						require.Zero(t, s.Stats().WrongPeers)
						for _, h := range s.GetHosts() {
							require.True(t, s.IsUp(h))
						}
					}
				}
				_, err := stop()
				require.NoError(t, err)
				requireRenamed(t, s)
				requireRenamed(t, following)
			})
		})
	}
}

// TestFault63OneByOne: each row of each node gets the other id at its own time, while connections to two of three nodes
// break and the control connection moves. No request may fail.
func TestFault63OneByOne(t *testing.T) {
	for seed := range uint64(soak.Size(3, 30)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, rnd := startRenaming(t), rand.New(rand.NewPCG(seed, 63))
				s, following := r.session(t), r.follow(t)
				stop := keepLoading(s, following)
				for _, row := range rnd.Perm(9) {
					r.rename(row/3, row%3)
					time.Sleep(time.Duration(rnd.IntN(2500)) * time.Millisecond)
					if rnd.IntN(2) == 0 {
						r.Node(rnd.IntN(2)).CloseConns()
					}
				}
				time.Sleep(10 * time.Second)
				_, err := stop()
				require.NoError(t, err)
				requireRenamed(t, s)
				requireRenamed(t, following)
			})
		})
	}
}

// TestFault63Strangers: the server at the address of node 1 has another id, or the rows have one, and the rows do not
// confirm that it is the node. Connections to it are refused.
func TestFault63Strangers(t *testing.T) {
	const node = 1
	rows := func(r *renaming, row cqltest.Row) {
		for _, asked := range []int{0, 2} {
			r.set(asked, node, row)
		}
	}
	renamed := func(more cqltest.Row) cqltest.Row {
		row := cqltest.Row{"host_id": otherID(node)}
		maps.Copy(row, more)
		return row
	}
	for name, change := range map[string]func(r *renaming){
		"the rows have the old id": func(r *renaming) { r.rename(node, node) },
		"the rows have other tokens": func(r *renaming) {
			rows(r, renamed(cqltest.Row{"tokens": []string{"1", "2"}}))
		},
		"the rows have another rack": func(r *renaming) { rows(r, renamed(cqltest.Row{"rack": "rack2"})) },
		"the rows have a third id": func(r *renaming) {
			rows(r, renamed(nil))
			r.set(node, node, cqltest.Row{"host_id": [16]byte{7}})
		},
		"another cluster has the old id": func(r *renaming) {
			rows(r, renamed(nil))
			r.set(node, node, cqltest.Row{"cluster_name": "other"})
		},
		"the old id returns": func(r *renaming) {
			rows(r, renamed(nil))
			r.rename(node, node)
			time.Sleep(5 * time.Second)
			r.Node(node).CloseConns() // the next connection is answered with the new id
			time.Sleep(5 * time.Second)
			r.set(node, node, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := startRenaming(t)
				s := r.session(t)
				change(r)
				time.Sleep(5 * time.Second)
				r.Node(node).CloseConns()
				time.Sleep(10 * time.Second)
				require.NotZero(t, s.Stats().WrongPeers)
				at := r.Node(node).Addr()
				hosts := slices.DeleteFunc(s.GetHosts(), func(h *cql.Host) bool { return h.Address != at })
				require.Len(t, hosts, 1)
				require.False(t, s.IsUp(hosts[0]))
				err := s.Query("SELECT v FROM ks.t WHERE id = 1").HostID(hosts[0].ID).Exec(t.Context())
				var wrong *vecql.PeerError
				require.ErrorAs(t, err, &wrong)
				require.Equal(t, name == "another cluster has the old id", wrong.WrongCluster())
				require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = 1").Exec(t.Context()))
			})
		})
	}
}
