// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/soak"
)

// Tests of the rows that are read after events of nodes.

// eventCluster is a cluster in memory, and a session on it, within the bubble of a test.
type eventCluster struct {
	*cqltest.Cluster
	t     *testing.T
	s     *Session
	mu    sync.Mutex
	stmts []string // the statements on tables of nodes
	rows  map[[16]byte]cqltest.Row
}

// startEvents starts a cluster and a session.
func startEvents(t *testing.T, cfg cqltest.Config, change ...func(*ClusterConfig)) *eventCluster {
	t.Helper()
	e := &eventCluster{t: t, rows: map[[16]byte]cqltest.Row{}}
	cfg.Network = cqltest.InMemory
	cfg.OnRequest = e.record
	e.Cluster = cqltest.New(t, cfg)
	e.EditSystem(e.edit)
	require.NoError(t, e.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2}"))
	config := ClusterConfig{Hosts: e.Hosts()[:1], Logger: slog.New(slog.DiscardHandler)}
	config.Pool.Dialer, config.Pool.NumConns = e.Dialer(), 1
	for _, f := range change {
		f(&config)
	}
	s, err := NewSession(t.Context(), config)
	require.NoError(t, err)
	e.s = s
	e.settle()
	return e
}

func (e *eventCluster) record(r cqltest.Request) {
	if strings.Contains(r.Statement, "system.peers") || strings.Contains(r.Statement, "system_schema.keyspaces") {
		e.mu.Lock()
		e.stmts = append(e.stmts, r.Statement)
		e.mu.Unlock()
	}
}

// edit applies the changed columns of each node, by host id. A nil row hides the row of the node.
func (e *eventCluster) edit(_ *cqltest.Node, table string, rows []cqltest.Row) []cqltest.Row {
	if table == "local" {
		return rows
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(rows, func(row cqltest.Row) bool {
		change, edited := e.rows[row["host_id"].([16]byte)]
		for column, v := range change {
			row[column] = v
		}
		return edited && change == nil
	})
}

// set changes columns of the row of a node, on all other nodes. No columns means the true row.
func (e *eventCluster) set(n *cqltest.Node, row cqltest.Row) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rows[n.HostID()] = row
}

// settle waits until the events so far are served.
func (e *eventCluster) settle() {
	time.Sleep(2 * eventDelay)
	synctest.Wait()
}

// taken returns the statements since the last call.
func (e *eventCluster) taken() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	stmts := e.stmts
	e.stmts = nil
	return stmts
}

// send sends an event about a node and returns the statements that follow.
func (e *eventCluster) send(typ, change string, addrs ...netip.AddrPort) []string {
	e.taken()
	for _, addr := range addrs {
		e.Event(cqltest.Event{Type: typ, Change: change, Node: addr})
	}
	e.settle()
	return e.taken()
}

// wantWhole requires the statements of a view of all rows, the last of them.
func wantWhole(t *testing.T, stmts []string, msg ...any) {
	t.Helper()
	require.GreaterOrEqual(t, len(stmts), 2, msg...)
	require.Equal(t, []string{"SELECT * FROM system.peers_v2", "SELECT keyspace_name, replication FROM system_schema.keyspaces"}, stmts[len(stmts)-2:], msg...)
}

// describe returns what a snapshot has: nodes, ranks and replicas.
func describe(topo *topology) string {
	var b strings.Builder
	for _, n := range topo.nodes {
		fmt.Fprintf(&b, "%+v remote=%t tier=%d rank=%d\n", *n.info, n.remote, n.tier, n.rank)
	}
	var lines []string
	for id := range topo.excluded {
		lines = append(lines, "excluded "+id.String())
	}
	for name, r := range topo.keyspaces {
		line := name
		if r != nil {
			line += fmt.Sprint(" ", r.every, r.ranges)
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return b.String() + strings.Join(lines, "\n") + fmt.Sprint("\n", topo.tokens)
}

// reference returns the snapshot of a view of all rows, built from nothing.
func (e *eventCluster) reference() string {
	view, err := e.s.control.readView(e.t.Context(), e.s.control.current())
	require.NoError(e.t, err)
	require.NoError(e.t, e.s.admit(&view))
	nodes := slices.DeleteFunc(slices.Clone(view.nodes), func(n *node) bool { return n.excluded })
	return describe(newTopology(nodes, &view, &e.s.routing))
}

func (e *eventCluster) check(msg ...any) {
	e.t.Helper()
	require.Equal(e.t, e.reference(), describe(e.s.topo.Load()), msg...)
	e.taken()
}

// other returns a node that does not have the control connection.
func (e *eventCluster) other(i int) *cqltest.Node {
	last := e.s.control.lastAddr()
	nodes := slices.DeleteFunc(e.Nodes(), func(n *cqltest.Node) bool { return n.Addr().String() == last })
	return nodes[i%len(nodes)]
}

// TestEventReadsOneNode: an event about a known node reads its row and no other, and installs what changed.
func TestEventReadsOneNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := startEvents(t, cqltest.Config{Nodes: 5, VNodes: 4})
		defer e.s.Close()
		e.check()
		n, ring := e.other(0), e.s.topo.Load()
		row := []string{"SELECT * FROM system.peers_v2 WHERE peer IN ('" + n.Addr().Addr().String() + "')"}
		for _, c := range []struct{ typ, change string }{
			{"STATUS_CHANGE", "UP"}, {"STATUS_CHANGE", "DOWN"}, {"TOPOLOGY_CHANGE", "NEW_NODE"}, {"TOPOLOGY_CHANGE", "MOVED_NODE"}, {"TOPOLOGY_CHANGE", "REMOVED_NODE"},
		} {
			require.Equal(t, row, e.send(c.typ, c.change, n.Addr()), c.change)
			require.Same(t, ring, e.s.topo.Load(), "the ring is not built again")
		}
		require.Equal(t, row, e.send("STATUS_CHANGE", "UP", n.Addr(), n.Addr(), n.Addr()), "a burst is one reading")
		require.Len(t, e.send("STATUS_CHANGE", "UP", n.Addr(), e.other(1).Addr()), 1, "the rows of two nodes are one reading")
		e.set(n, cqltest.Row{"release_version": "6.0.0"})
		require.Equal(t, row, e.send("STATUS_CHANGE", "UP", n.Addr()))
		require.Equal(t, "6.0.0", e.s.topo.Load().nodeByID(n.HostID()).info.Version)
		e.check()

		require.Len(t, e.send("STATUS_CHANGE", "DOWN", n.Addr()), 1)
		first := e.s.Stats().Control.LastRead
		time.Sleep(time.Minute)
		wantWhole(t, e.taken(), "all rows are read every minute")
		require.True(t, e.s.Stats().Control.LastRead.After(first))
	})
}

// TestEventReadsAllNodes: all rows are read where the row of the node does not decide.
func TestEventReadsAllNodes(t *testing.T) {
	unknown := netip.MustParseAddrPort("10.9.9.9:9042")
	other := func(e *eventCluster) netip.AddrPort { return e.other(0).Addr() }
	for name, addr := range map[string]func(e *eventCluster) netip.AddrPort{
		"unknown address": func(*eventCluster) netip.AddrPort { return unknown },
		"the node that is read": func(e *eventCluster) netip.AddrPort {
			return netip.MustParseAddrPort(e.s.control.lastAddr())
		},
		"the row is gone":     func(e *eventCluster) netip.AddrPort { e.set(e.other(0), nil); return other(e) },
		"another row changed": func(e *eventCluster) netip.AddrPort { e.set(e.other(1), nil); return unknown },
		"another id": func(e *eventCluster) netip.AddrPort {
			e.set(e.other(0), cqltest.Row{"host_id": [16]byte{7}})
			return other(e)
		},
		"a column is missing": func(e *eventCluster) netip.AddrPort {
			e.set(e.other(0), cqltest.Row{"data_center": nil})
			return other(e)
		},
		"another rack": func(e *eventCluster) netip.AddrPort {
			e.set(e.other(0), cqltest.Row{"rack": "r9"})
			return other(e)
		},
		"other tokens": func(e *eventCluster) netip.AddrPort {
			e.set(e.other(0), cqltest.Row{"tokens": []string{"1", "2"}})
			return other(e)
		},
		"the schema changed without an event": func(e *eventCluster) netip.AddrPort {
			e.MuteEvents(true)
			require.NoError(e.t, e.Exec("CREATE KEYSPACE more WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
			return other(e)
		},
		"the server refuses the statement": func(e *eventCluster) netip.AddrPort {
			e.Inject(cqltest.Fault{Statement: "SELECT * FROM system.peers_v2 WHERE", Error: &cqltest.Error{Code: cqltest.CodeInvalid}})
			return other(e)
		},
		"the server does not answer": func(e *eventCluster) netip.AddrPort {
			e.Inject(cqltest.Fault{Statement: "SELECT * FROM system.peers_v2 WHERE", Drop: true})
			return other(e)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := startEvents(t, cqltest.Config{Nodes: 4})
				defer e.s.Close()
				e.t = t
				at := addr(e)
				stmts := e.send("STATUS_CHANGE", "UP", at)
				time.Sleep(20 * time.Second) // a connection that does not answer is replaced
				wantWhole(t, append(stmts, e.taken()...))
				e.check()
			})
		})
	}
}

// TestEventsOfManyNodes: more events than rows are read one by one, and lost events, are one reading of all rows.
func TestEventsOfManyNodes(t *testing.T) {
	due := dueEvents{}
	require.False(t, due.reads())
	for i := range maxEventNodes {
		due.addNode(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}))
	}
	due.addNode(netip.MustParseAddr("::ffff:10.0.0.0"))
	require.False(t, due.view)
	require.Len(t, due.nodes, maxEventNodes)
	due.addNode(netip.MustParseAddr("2001:db8::1"))
	require.True(t, due.view)
	require.True(t, due.reads())

	synctest.Test(t, func(t *testing.T) {
		e := startEvents(t, cqltest.Config{Nodes: 3})
		defer e.s.Close()
		e.s.control.event(conn.EventsLost{})
		wantWhole(t, e.send("STATUS_CHANGE", "UP", e.other(0).Addr()))
	})
}

// TestEventTranslatesAgain: an event translates all addresses again, as a reading of all rows does, and calls the
// filter again.
func TestEventTranslatesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		away, excluded := map[netip.AddrPort]bool{}, cql.UUID{}
		e := startEvents(t, cqltest.Config{Nodes: 4}, func(cfg *ClusterConfig) {
			cfg.Nodes.AddressTranslator = func(a netip.AddrPort) netip.AddrPort {
				mu.Lock()
				defer mu.Unlock()
				if away[a] {
					return netip.AddrPortFrom(netip.MustParseAddr("10.77.0.1"), a.Port())
				}
				return a
			}
			cfg.Nodes.HostFilter = func(h *cql.Host) bool {
				mu.Lock()
				defer mu.Unlock()
				return h.ID != excluded
			}
		})
		defer e.s.Close()
		one, two := e.other(0), e.other(1)
		mu.Lock()
		away[two.Addr()] = true
		excluded = one.HostID()
		mu.Unlock()
		require.Len(t, e.send("STATUS_CHANGE", "UP", one.Addr()), 1)
		require.Equal(t, "10.77.0.1:9042", e.s.topo.Load().nodeByID(two.HostID()).info.Address.String())
		require.Nil(t, e.s.topo.Load().nodeByID(one.HostID()))
		e.check()
		mu.Lock()
		clear(away)
		excluded = cql.UUID{}
		mu.Unlock()
		require.Len(t, e.send("STATUS_CHANGE", "UP", one.Addr()), 1)
		require.NotNil(t, e.s.topo.Load().nodeByID(one.HostID()))
		e.check()
	})
}

// TestEventsEqualAllRows: after random events, changes of rows and faults, the session has what a view of all rows has.
func TestEventsEqualAllRows(t *testing.T) {
	soak.NoRace(t)
	single := 0 // readings of single rows
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &eventWalk{rnd: rand.New(rand.NewPCG(seed, 2))}
				scylla := (*cqltest.Scylla)(nil)
				if seed%3 == 2 {
					scylla = &cqltest.Scylla{Shards: 2}
				}
				w.eventCluster = startEvents(t, cqltest.Config{Nodes: 5, VNodes: 3, Scylla: scylla})
				defer func() { w.s.Close() }()
				for step := range 40 {
					what := w.step()
					w.settle()
					if w.stale {
						time.Sleep(time.Minute) // the tables are read without an event
						w.settle()
						w.stale = false
					}
					time.Sleep(5 * time.Second) // pools connect
					for _, stmt := range w.taken() {
						if strings.Contains(stmt, "WHERE peer") {
							single++
						}
					}
					w.check("step %d: %s", step, what)
				}
			})
		})
	}
	require.Greater(t, single, 50)
}

// eventWalk makes random changes of a cluster.
type eventWalk struct {
	*eventCluster
	rnd   *rand.Rand
	stale bool // a change was not announced by an event about its node
}

// step makes a change and returns its name.
func (w *eventWalk) step() string {
	n := w.other(w.rnd.IntN(8))
	quiet := w.rnd.IntN(5) == 0
	w.MuteEvents(quiet)
	w.stale = quiet
	switch w.rnd.IntN(12) {
	case 0:
		n.Kill()
		return "kill"
	case 1:
		require.NoError(w.t, n.Restart())
		return "restart"
	case 2:
		require.NoError(w.t, n.Move(netip.Addr{}))
		return "move"
	case 3:
		if len(w.Nodes()) < 8 {
			_, err := w.AddNode("datacenter1", "rack1")
			require.NoError(w.t, err)
		}
		return "add"
	case 4:
		if len(w.Nodes()) > 3 {
			w.RemoveNode(n)
		}
		return "remove"
	case 5: // the node of the control connection
		for _, n := range w.Nodes() {
			if n.Addr().String() == w.s.control.lastAddr() {
				require.NoError(w.t, n.Restart())
			}
		}
		return "restart of the control connection's node"
	case 6:
		w.stale = true // the session may have read the rows before the change
		w.MuteEvents(false)
		require.NoError(w.t, w.Exec(fmt.Sprintf("ALTER KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': %d}", 1+w.rnd.IntN(3))))
		return "keyspace"
	case 7: // events without a change
		for range w.rnd.IntN(100) {
			w.announce(w.other(w.rnd.IntN(8)))
		}
		return "storm"
	case 8: // the event arrives before the row is changed
		w.announce(n)
		w.settle()
		w.set(n, w.edited(n))
		w.stale = true
		return "early"
	default:
		w.set(n, w.edited(n))
		if !quiet {
			w.announce(n)
		}
		return "row"
	}
}

// announce sends a random event about a node.
func (w *eventWalk) announce(n *cqltest.Node) {
	events := []cqltest.Event{
		{Type: "STATUS_CHANGE", Change: "UP"},
		{Type: "STATUS_CHANGE", Change: "DOWN"},
		{Type: "TOPOLOGY_CHANGE", Change: "NEW_NODE"},
		{Type: "TOPOLOGY_CHANGE", Change: "REMOVED_NODE"},
		{Type: "TOPOLOGY_CHANGE", Change: "MOVED_NODE"},
	}
	event := events[w.rnd.IntN(len(events))]
	event.Node = n.Addr()
	w.Event(event)
}

// edited returns random columns for the row of a node.
func (w *eventWalk) edited(n *cqltest.Node) cqltest.Row {
	rows := []cqltest.Row{
		nil,
		{},
		{"release_version": fmt.Sprint("5.1.", w.rnd.IntN(9))},
		{"release_version": nil},
		{"data_center": nil},
		{"data_center": "datacenter2"},
		{"rack": "rack9"},
		{"tokens": nil},
		{"tokens": []string{fmt.Sprint(w.rnd.Int64())}},
		{"host_id": [16]byte{9, byte(n.Number())}},
		{"host_id": nil},
		{"schema_version": [16]byte{byte(w.rnd.IntN(9))}},
		{"preferred_ip": netip.MustParseAddr("7.7.7.7")},
	}
	return rows[w.rnd.IntN(len(rows))]
}
