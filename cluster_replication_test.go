// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/token"
)

// Routing right after a change of a keyspace by the session.

// keyspaceCluster returns a cluster of three nodes without events, a session whose view nothing refreshes, and a rule
// that counts the views that are read after the first.
func keyspaceCluster(t *testing.T) (*cqltest.Cluster, *Session, *cqltest.Rule) {
	cluster := cqltest.New(t, cqltest.Config{})
	cluster.MuteEvents(true)
	cfg := &ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Nodes.ReconnectInterval, cfg.Logger = time.Hour, slog.New(slog.DiscardHandler)
	s, err := NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return cluster, s, cluster.Observe(cqltest.Fault{Statement: "SELECT keyspace_name, replication"})
}

// requirePlaced requires the replicas of some partitions of ks.t to be the replicas in the cluster.
func requirePlaced(t *testing.T, cluster *cqltest.Cluster, s *Session, count int) {
	t.Helper()
	for id := range int64(20) {
		q := s.Query("INSERT INTO ks.t (id) VALUES (?)", id)
		got, err := q.Route(t.Context())
		require.NoError(t, err)
		require.Equal(t, token.Murmur3(binary.BigEndian.AppendUint64(nil, uint64(id))), got.Token)
		var want []cql.UUID
		for _, n := range cluster.Replicas("ks", "t", got.Token) {
			want = append(want, n.HostID())
		}
		require.Len(t, want, count)
		var ids []cql.UUID
		for _, h := range got.Replicas {
			ids = append(ids, h.ID)
		}
		require.ElementsMatch(t, want, ids)
		iter := q.Iter(t.Context())
		require.NoError(t, iter.Close())
		require.Contains(t, want, iter.Host().ID, "the node that received the request")
	}
}

// TestKeyspaceJustChanged creates, alters and drops a keyspace; the next request finds the replicas, without a view.
func TestKeyspaceJustChanged(t *testing.T) {
	cluster, s, views := keyspaceCluster(t)
	exec := func(stmts ...string) {
		t.Helper()
		for _, stmt := range stmts {
			require.NoError(t, s.Query(stmt).Exec(t.Context()))
		}
	}
	exec("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (id bigint PRIMARY KEY)")
	requirePlaced(t, cluster, s, 1)
	ranges, err := s.TokenRanges(t.Context(), "ks", "t")
	require.NoError(t, err)
	for _, r := range ranges {
		requireReplicas(t, cluster.Replicas("ks", "t", r.End), r)
	}
	exec("ALTER KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 2}")
	requirePlaced(t, cluster, s, 2)
	exec("DROP KEYSPACE ks")
	require.Empty(t, s.topo.Load().replicasOf("ks", 0))
	require.False(t, s.topo.Load().hasKeyspace("ks"))
	exec(`CREATE KEYSPACE "Mixed" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}`)
	require.Len(t, s.topo.Load().replicasOf("Mixed", 0), 2)
	require.Zero(t, views.Hits(), "views")
}

// TestKeyspaceSurvivesOlderView: a view that was begun before the keyspace was changed does not undo the change.
func TestKeyspaceSurvivesOlderView(t *testing.T) {
	_, s, _ := keyspaceCluster(t)
	read := func() clusterView {
		view, err := s.control.read(t.Context(), s.control.current(), &dueEvents{view: true})
		require.NoError(t, err)
		return view
	}
	empty := read()
	require.NoError(t, s.Query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}").Exec(t.Context()))
	full := read()
	s.setView(empty)
	require.Len(t, s.topo.Load().replicasOf("ks", 0), 2, "created after the view")
	require.NoError(t, s.Query("DROP KEYSPACE ks").Exec(t.Context()))
	s.setView(full)
	require.False(t, s.topo.Load().hasKeyspace("ks"), "dropped after the view")
	require.Len(t, s.replication.later, 1)
	s.setView(read())
	require.Empty(t, s.replication.later, "the view has all changes")
	require.False(t, s.topo.Load().hasKeyspace("ks"))
	require.NotPanics(t, func() { s.setView(clusterView{nodes: empty.nodes}) }, "a view without replicas")
}

// TestKeyspaceWithoutItsReplication: the request succeeds although the replication cannot be read; a view follows.
func TestKeyspaceWithoutItsReplication(t *testing.T) {
	cluster, s, views := keyspaceCluster(t)
	cluster.Inject(cqltest.Fault{
		Statement: "SELECT replication FROM", Times: 1, Error: &cqltest.Error{Code: cqltest.CodeServer, Message: "no"},
	})
	require.NoError(t, s.Query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2}").Exec(t.Context()))
	require.Empty(t, s.topo.Load().replicasOf("ks", 0))
	require.NoError(t, views.Wait(t.Context(), 1))
	require.Eventually(t, func() bool { return len(s.topo.Load().replicasOf("ks", 0)) == 2 }, 10*time.Second, time.Millisecond)
}
