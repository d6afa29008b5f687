// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/stats"
)

// Faults 54 to 62, which users of other drivers met.

// TestFault54ShortError: the error of a lightweight transaction lacks the number of contentions, which v5 has only if
// there were some. It must keep its class, so that policies see a write with an unknown outcome.
func TestFault54ShortError(t *testing.T) {
	for _, contentions := range [][]byte{nil, {0, 3}} {
		bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
			c.On(func(r *fakecql.Request) bool {
				if r.Op == fakecql.OpExecute {
					fields := fakecql.AppendString(message([]byte{0, byte(cql.Serial)}, ints(1, 2)), "CAS")
					r.Fail(int32(cql.CodeWriteTimeout), append(fields, contentions...)...)
				}
				return r.Op == fakecql.OpExecute
			})
			err := sessionOn(c).Query("UPDATE ks.t SET v = 1 WHERE id = 1 IF v = 0").Exec(t.Context())
			var timeout *cql.WriteTimeoutError
			require.ErrorAs(t, err, &timeout)
			require.Equal(t, "CAS", timeout.WriteType)
			require.Equal(t, 3*len(contentions)/2, timeout.Contentions)
			require.Equal(t, stats.ClassWriteTimeout, vecql.ErrorClassOf(err))
			require.True(t, vecql.MayHaveApplied(err))
		})
	}
}

// TestFault55SwappedAddresses: two nodes restart with the addresses of each other. Requests for a node must reach it.
func TestFault55SwappedAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 3)
		var got string
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == "INSERT" && r.Op == fakecql.OpExecute {
				got = r.Node.ID.String()
			}
			return false
		})
		s := sessionOn(c)
		a, b := c.Nodes[1], c.Nodes[2]
		first, second := a.IP, b.IP
		a.Stop()
		b.Stop()
		a.MoveTo("10.0.9.9")
		b.MoveTo(first)
		a.MoveTo(second)
		a.Start()
		b.Start()
		time.Sleep(2 * time.Minute)
		for _, n := range c.Nodes {
			require.NoError(t, s.Query("INSERT").HostID(cql.UUID(n.ID)).Exec(t.Context()))
			require.Equal(t, n.ID.String(), got)
			require.Equal(t, 1, n.Connections()-fakeControls(c, n))
		}
	})
}

// fakeControls returns the number of control connections to n.
func fakeControls(c *fakecql.Cluster, n *fakecql.Node) int {
	if c.Control().Server == n.Server {
		return 1
	}
	return 0
}

// TestFault56KeyspaceDropped: the session's keyspace is dropped, nodes restart, and the keyspace is created again. No
// request may run without the keyspace, and the session must recover.
func TestFault56KeyspaceDropped(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) {
		cfg.Keyspace = "ks"
		cfg.Pool.ReconnectionPolicy = &vecql.ConstantReconnectionPolicy{MaxRetries: 1000, Interval: time.Millisecond}
	})
	const insert = "INSERT INTO t (id, v) VALUES (?, ?)"
	require.NoError(t, s.Query(insert, 1, 1).Exec(t.Context()))
	require.NoError(t, c.Exec("DROP KEYSPACE ks"))
	c.Node(0).CloseConns()
	eventually(t, func() error { // before the session has connected again, it reports that it has no connection
		err := s.Query(insert, 1, 1).Exec(context.Background())
		require.Error(t, err, "a row was written")
		if !errors.Is(err, vecql.ErrKeyspaceDoesNotExist) {
			return err
		}
		return nil
	})
	require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}"))
	require.NoError(t, c.Exec("CREATE TABLE ks.t (id int PRIMARY KEY, v int)"))
	eventually(t, func() error { return s.Query(insert, 1, 1).Exec(context.Background()) })
}

// TestFault57NoFurtherNode: a speculative execution finds no node, because the slow execution uses the only one that is
// up. The request must have the answer of the slow one.
func TestFault57NoFurtherNode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t, fakecql.V5, 2)
		c.On(func(r *fakecql.Request) bool {
			if r.Op == fakecql.OpExecute {
				time.Sleep(200 * time.Millisecond)
			}
			return false
		})
		s := sessionOn(c)
		c.Nodes[1].Stop()
		time.Sleep(time.Second)
		speculation := &vecql.SimpleSpeculativeExecution{NumAttempts: 3, TimeoutDelay: 20 * time.Millisecond}
		for range 5 {
			require.NoError(t, s.Query("INSERT x").Idempotent(true).SpeculativeExecutionPolicy(speculation).Exec(t.Context()))
		}
	})
}

// TestFault58OtherColumns: rows have other columns than the prepared statement announced: none, as for statements of
// plugins, or others. They must be decoded with the metadata that came with them.
func TestFault58OtherColumns(t *testing.T) {
	for _, version := range []byte{fakecql.V4, fakecql.V5} {
		for name, announced := range map[string][]fakecql.Column{
			"none": nil, "three": fakecql.Columns("id bigint", "name text", "v vector<float, 3>"),
		} {
			t.Run(name, func(t *testing.T) {
				c := newCluster(t, version, 1)
				c.Prepare(selectRows, fakecql.Prepared{Result: announced, ResultID: "m1"})
				c.On(func(r *fakecql.Request) bool {
					if r.Op == fakecql.OpExecute {
						require.False(t, r.SkipMetadata && announced == nil, "rows without metadata could not be decoded")
						r.SkipMetadata = false
						r.Rows(fakecql.Rows{Columns: fakecql.Columns("facets text"), Cells: [][]byte{[]byte("{}"), nil}})
					}
					return r.Op == fakecql.OpExecute
				})
				s := sessionOn(c)
				for range 2 {
					rows, err := s.Query(selectRows).Iter(t.Context()).SliceMap()
					require.NoError(t, err)
					require.Equal(t, []map[string]any{{"facets": "{}"}, {"facets": nil}}, rows)
				}
			})
		}
	}
}

// TestFault59GhostNode: the system tables keep the row of a replaced node, with an old schema version, and the row of a
// node that joins, without one. A schema change must not wait for them.
func TestFault59GhostNode(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 2})
	ghost := c.Node(1)
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Schema.MaxWaitAgreement = 10 * time.Second })
	ghost.SetSchemaVersion(&[16]byte{1})
	ghost.Kill()
	c.EditSystem(func(_ *cqltest.Node, table string, rows []cqltest.Row) []cqltest.Row {
		if table == "peers" || table == "peers_v2" {
			rows = append(rows, cqltest.Row{"peer": ghost.Addr().Addr().Next(), "peer_port": 7000, "host_id": [16]byte{7}})
		}
		return rows
	})
	eventually(t, func() error {
		if h := s.GetHosts(); s.IsUp(h[0]) == s.IsUp(h[1]) {
			return fmt.Errorf("the session has not noticed that a node is down")
		}
		return nil
	})
	began := time.Now()
	for i, change := range []func(stmt string) error{
		func(stmt string) error { return s.Query(stmt).Exec(context.Background()) },
		func(stmt string) error { return s.Query(stmt).Iter(context.Background()).Close() },
	} {
		require.NoError(t, change(fmt.Sprintf("CREATE TABLE ks.t%d (id int PRIMARY KEY)", i)))
	}
	require.Less(t, time.Since(began), 5*time.Second)
}

// TestFault60AgreementOfIter: nodes disagree on the schema after a statement that was executed by Iter. It must wait as
// Exec does.
func TestFault60AgreementOfIter(t *testing.T) {
	c := cqlCluster(t, cqltest.Config{Nodes: 2})
	s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) { cfg.Schema.MaxWaitAgreement = 30 * time.Millisecond })
	c.Node(1).SetSchemaVersion(&[16]byte{1})
	for i, change := range []func(stmt string) error{
		func(stmt string) error { return s.Query(stmt).Exec(context.Background()) },
		func(stmt string) error { return s.Query(stmt).Iter(context.Background()).Close() },
		func(stmt string) error {
			_, err := s.Query(stmt).MapScanCAS(context.Background(), map[string]any{})
			return err
		},
	} {
		err := change(fmt.Sprintf("CREATE TABLE ks.t%d (id int PRIMARY KEY)", i))
		require.ErrorIs(t, err, vecql.ErrSchemaAgreement, "%d", i)
		require.True(t, vecql.MayHaveApplied(err))
	}
}

// TestFault61OptionsAnswered: heartbeats are answered by messages other than SUPPORTED. They are signs of life: the
// connection stays open, and nothing panics.
func TestFault61OptionsAnswered(t *testing.T) {
	for _, op := range []fakecql.Opcode{fakecql.OpReady, fakecql.OpError, fakecql.OpResult, fakecql.OpAuthenticate} {
		c := cqlCluster(t, cqltest.Config{Nodes: 1}, "CREATE TABLE ks.t (id int PRIMARY KEY, v int)")
		s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) {
			cfg.Pool.HeartbeatInterval, cfg.Pool.HeartbeatTimeout = 5*time.Millisecond, 5*time.Second
		})
		rule := c.Inject(cqltest.Fault{Op: cqltest.OpOptions, Answer: &cqltest.Answer{Op: cqltest.Opcode(op)}})
		eventually(t, func() error {
			if rule.Hits() < 3 {
				return fmt.Errorf("%d heartbeats", rule.Hits())
			}
			return nil
		})
		require.NoError(t, s.Query(insertV, 1, 1).Exec(t.Context()))
		require.Zero(t, s.Stats().ConnectionsLost)
	}
}

// TestFault62OldRow: the system tables keep the row of the address that a node had before. The session must reach the
// node at its new address, whatever the order of the rows, and must not leave that address again.
func TestFault62OldRow(t *testing.T) {
	for _, oldFirst := range []bool{true, false} {
		c := cqlCluster(t, cqltest.Config{Nodes: 2, Protocol: 4})
		old := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.77"), 9)
		c.EditSystem(func(_ *cqltest.Node, table string, rows []cqltest.Row) []cqltest.Row {
			if table != "peers_v2" || len(rows) != 1 {
				return rows
			}
			row := maps.Clone(rows[0])
			row["native_address"], row["native_port"], row["peer_port"] = old.Addr(), int(old.Port()), 65535
			if oldFirst { // rows are in the order of peer_port
				row["peer_port"] = 1
			}
			return append(rows, row)
		})
		s := cqlSession(t, c, func(cfg *vecql.ClusterConfig) {
			cfg.Hosts, cfg.Nodes.ReconnectInterval = cfg.Hosts[:1], 10*time.Millisecond
		})
		host := cql.UUID(c.Node(1).HostID())
		eventually(t, func() error { return s.Query("SELECT key FROM system.local").HostID(host).Exec(context.Background()) })
		reads := func(n int, check func()) {
			for last := s.Stats().Control.LastRead; n > 0; check() {
				if now := s.Stats().Control.LastRead; now != last {
					last, n = now, n-1
				}
				time.Sleep(time.Millisecond)
			}
		}
		reads(3, func() {}) // the first may have begun before the node was reached, and the last may not be in use yet
		lost := s.Stats().ConnectionsLost
		reads(3, func() {
			for _, h := range s.GetHosts() {
				require.NotEqual(t, old.String(), h.Address.String())
			}
		})
		require.NoError(t, s.Query("SELECT key FROM system.local").HostID(host).Exec(t.Context()))
		require.Equal(t, lost, s.Stats().ConnectionsLost)
	}
}
