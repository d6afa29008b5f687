// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/internal/frame"
)

// Tests of sessions whose nodes are the contact points.

// addrsOf returns the addresses of the session's nodes.
func addrsOf(s *Session) (addrs []string) {
	for _, h := range s.GetHosts() {
		addrs = append(addrs, h.Address.String())
	}
	return addrs
}

// TestContactPointsOnly: a session without lookup uses the contact points and no other node, reads neither peers nor
// keyspaces, and survives events and the loss of its control connection.
func TestContactPointsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newFakeCluster(t, frame.V4, 3, fakecql.Sharded(2))
		var mu sync.Mutex
		var read []string
		withTablets := false
		served := map[*fakecql.Node]int{}
		c.On(func(r *fakecql.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			switch {
			case strings.Contains(r.Stmt, "system.peers") || strings.Contains(r.Stmt, "system_schema"):
				read = append(read, r.Stmt)
				r.Fail(int32(cql.CodeUnauthorized))
				return true
			case r.Op == fakecql.OpExecute:
				served[r.Node]++
				_, tablets := r.Conn.Startup[conn.KeyTabletsV1]
				withTablets = withTablets || tablets
			}
			return false
		})
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Nodes.DisableInitialHostLookup = true
			cfg.Hosts = []string{c.Nodes[0].Addr(), c.Nodes[1].Addr(), c.Nodes[1].Addr()}
		})
		check := func() {
			t.Helper()
			require.NoError(t, s.Ready(t.Context()))
			require.ElementsMatch(t, []string{c.Nodes[0].Addr(), c.Nodes[1].Addr()}, addrsOf(s))
			for range 20 {
				require.NoError(t, s.Query("INSERT").Exec(t.Context()))
			}
			require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
		}
		check()
		ids := []string{s.GetHosts()[0].ID.String(), s.GetHosts()[1].ID.String()}
		h := s.GetHosts()[0]
		require.NoError(t, s.Query("INSERT").HostID(h.ID).Exec(t.Context()))
		require.Empty(t, h.DataCenter+h.Rack+h.Version)
		require.Empty(t, h.Tokens)
		c.Event("TOPOLOGY_CHANGE", "NEW_NODE", c.Nodes[2].Inet(), int32(c.Port))
		c.Event("STATUS_CHANGE", "UP", c.Nodes[2].Inet(), int32(c.Port))
		time.Sleep(2 * time.Minute)
		check()
		for _, n := range c.Nodes {
			n.HangUp()
		}
		time.Sleep(time.Minute)
		check()
		require.Equal(t, ids, []string{s.GetHosts()[0].ID.String(), s.GetHosts()[1].ID.String()})
		mu.Lock()
		defer mu.Unlock()
		require.Empty(t, read)
		require.False(t, withTablets, "tablets name nodes by host id")
		require.NotZero(t, served[c.Nodes[0]])
		require.NotZero(t, served[c.Nodes[1]])
		require.Zero(t, served[c.Nodes[2]])
		require.Zero(t, c.Nodes[2].DialCount())
	})
}

// TestContactPointsOnlyAgreement: the contact points that are connected must agree on the schema, and no others.
func TestContactPointsOnlyAgreement(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Nodes.DisableInitialHostLookup = true
			cfg.Hosts = []string{c.Nodes[0].Addr(), c.Nodes[1].Addr()}
			cfg.Schema.MaxWaitAgreement = time.Second
			cfg.Nodes.ReconnectInterval = time.Hour
		})
		require.NoError(t, s.Ready(t.Context()))
		c.Nodes[2].Change(func(n *fakecql.Node) { n.Schema = [16]byte{9} })
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
		for i := range 2 { // one of them has the control connection
			n := c.Nodes[i]
			n.Change(func(n *fakecql.Node) { n.Schema = [16]byte{2} })
			err := s.AwaitSchemaAgreement(t.Context())
			require.ErrorIs(t, err, ErrSchemaAgreement)
			require.ErrorContains(t, err, cql.UUID{1}.String())
			require.ErrorContains(t, err, cql.UUID{2}.String())
			n.Change(func(n *fakecql.Node) { n.Schema = [16]byte{1} })
			require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
		}
		c.Nodes[1].Change(func(n *fakecql.Node) { n.Schema = [16]byte{2}; n.Down = true })
		for _, n := range s.topo.Load().nodes {
			if n.info.Address.String() == c.Nodes[1].Addr() {
				n.pool.pick().Silent.Store(true)
			}
		}
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()), "a silent node is not asked")
		c.Nodes[1].HangUp()
		synctest.Wait()
		time.Sleep(10 * time.Second)
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()), "a node that is down does not count")
	})
}

// TestContactPointsOnlyBehindProxy: the server at a contact point may change, within the cluster.
func TestContactPointsOnlyBehindProxy(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		other := newFakeCluster(t, frame.V5, 1)
		other.Name = "other"
		s := sessionOn(c, func(cfg *ClusterConfig) { cfg.Nodes.DisableInitialHostLookup = true })
		at := func(n *fakecql.Node) {
			c.Mu.Lock()
			c.Hosts[c.Nodes[0].IP] = n
			c.Mu.Unlock()
			for _, n := range c.Nodes {
				n.HangUp()
			}
			time.Sleep(time.Minute)
		}
		at(c.Nodes[1])
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
		at(other.Nodes[0])
		var wrong *PeerError
		require.ErrorAs(t, s.Query("INSERT").Exec(t.Context()), &wrong)
		require.True(t, wrong.WrongCluster())
		at(c.Nodes[0])
		require.NoError(t, s.Query("INSERT").Exec(t.Context()))
	})
}

// TestContactPointsOnlyFilters: filter and policy see nodes without a data center.
func TestContactPointsOnlyFilters(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Nodes.DisableInitialHostLookup = true
		cfg.Nodes.HostFilter = func(h *cql.Host) bool { return h.DataCenter == "dc1" }
		_, err := NewSession(t.Context(), *cfg)
		require.ErrorIs(t, err, ErrNoHosts)
		cfg.Nodes.HostFilter = nil
		cfg.HostSelectionPolicy = TokenAwarePolicy{Fallback: DCAwarePolicy{DataCenter: "dc1"}}
		require.NoError(t, openSession(t, cfg).Query("INSERT").Exec(t.Context()))
	})
}

// TestContactPointsMove: a node leaves when it is down and no contact point has its address. It stays while one of them
// cannot be resolved.
func TestContactPointsMove(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Nodes.DisableInitialHostLookup, cfg.Nodes.ReconnectInterval = true, time.Hour
			cfg.Hosts = []string{c.Nodes[0].Addr(), c.Nodes[1].Addr()}
		})
		resolve := func(hosts ...string) []string {
			s.cfg.Hosts = hosts // as if the names had got other addresses
			s.control.refreshSoon()
			time.Sleep(10 * time.Second)
			synctest.Wait()
			require.NoError(t, s.Query("INSERT").Exec(t.Context()))
			return addrsOf(s)
		}
		zero, one, two := c.Nodes[0].Addr(), c.Nodes[1].Addr(), c.Nodes[2].Addr()
		require.ElementsMatch(t, []string{zero, one}, resolve(zero, "unknown:x"))
		require.ElementsMatch(t, []string{zero, one}, resolve("unknown:x"))
		require.ElementsMatch(t, []string{zero, one, two}, resolve(two), "connected nodes stay")
		c.Nodes[1].Change(func(n *fakecql.Node) { n.Down = true })
		c.Nodes[1].HangUp()
		time.Sleep(time.Second)
		require.ElementsMatch(t, []string{zero, one, two}, resolve("unknown:x"))
		require.ElementsMatch(t, []string{zero, two}, resolve(two))
		require.Zero(t, c.Nodes[1].Connections())
	})
}

// TestContactPointsOnlyOnData changes the schema and reads it, beside another session that changes it too, on nodes of
// Cassandra and of ScyllaDB.
func TestContactPointsOnlyOnData(t *testing.T) {
	for name, cfg := range map[string]cqltest.Config{
		"cassandra": {}, "scylla": {Scylla: &cqltest.Scylla{Shards: 2, Tablets: 8}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Nodes, cfg.Network = 3, cqltest.InMemory
				c := cqltest.New(t, cfg)
				own := &ClusterConfig{Hosts: c.Hosts()[:2]}
				own.Pool.Dialer, own.Logger, own.Nodes.DisableInitialHostLookup = c.Dialer(), slog.New(slog.DiscardHandler), true
				s := openSession(t, own)
				require.Len(t, s.GetHosts(), 2)
				for _, stmt := range []string{
					"CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 2}",
					"CREATE TABLE ks.t (id int PRIMARY KEY, v text)",
				} {
					require.NoError(t, s.Query(stmt).Exec(t.Context()))
				}
				for id := range 20 {
					require.NoError(t, s.Query("INSERT INTO ks.t (id, v) VALUES (?, ?)", id, "v").Exec(t.Context()))
					var v string
					require.NoError(t, s.Query("SELECT v FROM ks.t WHERE id = ?", id).Scan(t.Context(), &v))
					require.Equal(t, "v", v)
				}
				table, err := s.TableMetadata(t.Context(), "ks", "t")
				require.NoError(t, err)
				require.Len(t, table.Columns, 2)
				require.NoError(t, c.Exec("ALTER TABLE ks.t ADD w int"))
				time.Sleep(time.Minute)
				table, err = s.TableMetadata(t.Context(), "ks", "t")
				require.NoError(t, err)
				require.Len(t, table.Columns, 3, "the schema event arrived")
			})
		})
	}
}

// TestEpochAgreement has nodes of Cassandra 6, whose schema version is a number. Each has its own version in the rows
// of its peers, so that each node has to be asked.
func TestEpochAgreement(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		for _, n := range c.Nodes {
			n.Schema = [16]byte{15: 9}
		}
		c.On(func(r *fakecql.Request) bool {
			if !strings.HasPrefix(r.Stmt, "SELECT host_id, schema_version FROM system.peers") {
				return false
			}
			rows := fakecql.Rows{Columns: fakecql.Columns("host_id uuid", "schema_version uuid")}
			c.Mu.Lock()
			defer c.Mu.Unlock()
			for _, n := range c.Nodes {
				if n != r.Node {
					rows.Add(n.ID, r.Node.Schema)
				}
			}
			r.Rows(rows)
			return true
		})
		s := sessionOn(c, func(cfg *ClusterConfig) {
			cfg.Schema.MaxWaitAgreement = time.Second
			cfg.Nodes.ReconnectInterval = time.Hour
		})
		require.NoError(t, s.Ready(t.Context()))
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
		for _, n := range c.Nodes { // one of them has the control connection
			n.Change(func(n *fakecql.Node) { n.Schema = [16]byte{15: 8} })
			err := s.AwaitSchemaAgreement(t.Context())
			require.ErrorIs(t, err, ErrSchemaAgreement)
			require.ErrorContains(t, err, "versions 00000000-0000-0000-0000-00000000000")
			time.AfterFunc(500*time.Millisecond, func() { n.Change(func(n *fakecql.Node) { n.Schema = [16]byte{15: 9} }) })
			began := time.Now()
			require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
			require.GreaterOrEqual(t, time.Since(began), 500*time.Millisecond)
		}
		down := c.Nodes[1]
		down.Change(func(n *fakecql.Node) { n.Schema = [16]byte{15: 8}; n.Down = true })
		down.HangUp()
		synctest.Wait()
		time.Sleep(10 * time.Second)
		require.NoError(t, s.AwaitSchemaAgreement(t.Context()), "a node that is down does not count")
	})
}
