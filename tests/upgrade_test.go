// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// Upgrades of a cluster while a session uses it.

// upgrades are the steps from Cassandra 4.1 to 6.0. Cassandra 5 first writes what 4 reads; it must not do so when 6.0
// comes, which refuses to join nodes that do.
var upgrades = []struct {
	version string
	mode    string // storage_compatibility_mode
	initial bool   // the step ends with the initialization of transactional metadata
}{
	{"5.0", "CASSANDRA_4", false},
	{"5.0", "NONE", false},
	{"6.0", "NONE", true},
}

// TestRollingUpgrade upgrades three nodes from 4.1 over 5.0 to 6.0, one at a time and on their data, under load of
// reads and idempotent writes. None may fail, also while the nodes get other host ids at the end; no acknowledged write
// may be lost. The session reads the versions of the nodes, and changes the schema between the steps.
func TestRollingUpgrade(t *testing.T) {
	soak.Only(t)
	if external() != nil {
		t.Skip("VECQL_TEST_HOSTS is set: the test cannot upgrade its nodes")
	}
	cluster, err := cassandra.Start(t.Context(), cassandra.Options{Version: "4.1", Nodes: 3, Log: t.Log})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	cfg := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Timeout = 30 * time.Second
	cfg.Logger = slog.New(slog.NewTextHandler(testWriter{t}, nil))
	s := connect(t, cfg)
	require.Equal(t, 5, s.ProtoVersion())
	require.False(t, hasVectors(s))
	ks := keyspace(t, s, 3)
	table := ks + ".t"
	exec(t, s, "CREATE TABLE "+table+" (k int PRIMARY KEY, v int)")
	l := startIdempotentLoad(s, table, 2, 2)
	require.Eventually(t, func() bool { return l.readCount() >= loadKeys }, 5*time.Minute, 10*time.Millisecond)
	for i, step := range upgrades {
		for _, node := range cluster.Nodes {
			upgradeNode(t, s, node, step.version, step.mode)
		}
		requireNoneFailed(t, l, step.version+" "+step.mode)
		if step.initial {
			initializeMetadata(t, s, cluster)
			requireNoneFailed(t, l, "other host ids")
		}
		exec(t, s, fmt.Sprintf("ALTER TABLE %s ADD step%d int", table, i))
		exec(t, s, fmt.Sprintf("INSERT INTO %s (k, step%d) VALUES (?, ?)", table, i), -1, i)
		var got int
		require.NoError(t, s.Query(fmt.Sprintf("SELECT step%d FROM %s WHERE k = ?", i, table), -1).Scan(t.Context(), &got))
		require.Equal(t, i, got)
		exec(t, s, fmt.Sprintf("CREATE TABLE %s.v%d (k int PRIMARY KEY, v vector<float, 3>)", ks, i))
		testTypes(t, s, keyspace(t, s, 3))
	}
	close(l.stop)
	l.wg.Wait()
	requireNoneFailed(t, l, "the end")
	for k, want := range l.written {
		var got int
		require.NoError(t, s.Query("SELECT v FROM "+table+" WHERE k = ?", k).Scan(t.Context(), &got))
		require.GreaterOrEqual(t, got, want, "key %d", k)
	}
}

// requireNoneFailed fails the test if a request of the load has failed.
func requireNoneFailed(t *testing.T, l *load, when string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Logf("%s: %d reads, %d failed or stale; %d keys written, %d writes failed", when, len(l.reads), len(l.errs), len(l.written), l.refused)
	require.Empty(t, l.errs)
	require.Zero(t, l.refused, "%v", l.refusal)
}

// initializeMetadata starts the transactional metadata of Cassandra 6. It gives the nodes other host ids, which the
// rows of peers have some seconds before the nodes themselves. The session must use the nodes with their new ids, on
// the connections that it has.
func initializeMetadata(t *testing.T, s *vecql.Session, cluster *cassandra.Cluster) {
	t.Helper()
	before, opened := map[string]bool{}, s.Stats().ConnectionsOpened
	for _, h := range s.GetHosts() {
		before[h.ID.String()] = true
	}
	_, err := cluster.Nodes[0].Nodetool(t.Context(), "cms", "initialize")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		for _, h := range s.GetHosts() {
			if before[h.ID.String()] || s.Query("SELECT key FROM system.local").HostID(h.ID).Exec(t.Context()) != nil {
				return false
			}
		}
		return true
	}, 2*time.Minute, 100*time.Millisecond, "the session uses all nodes with their new ids; it reads their rows once a minute")
	time.Sleep(20 * time.Second) // until the nodes answer with these ids as well
	st := s.Stats()
	t.Logf("while the ids of nodes changed: %d connections opened, %d peers refused since the start",
		st.ConnectionsOpened-opened, st.WrongPeers)
	require.Equal(t, opened, st.ConnectionsOpened)
}

// upgradeNode stops a node, starts it with another version, and blocks until the session uses it with that version.
func upgradeNode(t *testing.T, s *vecql.Session, node *cassandra.Node, version, mode string) {
	t.Helper()
	began := time.Now()
	require.NoError(t, node.Stop(t.Context()))
	require.NoError(t, node.Upgrade(t.Context(), version, map[string]any{"storage_compatibility_mode": mode}))
	require.NoError(t, node.Start(t.Context()))
	t.Logf("%s: version %s, mode %s, down for %v", node.Addr(), version, mode, time.Since(began).Round(time.Millisecond))
	require.Eventually(t, func() bool {
		for _, h := range s.GetHosts() {
			if h.Address.String() == node.Addr() {
				return strings.HasPrefix(h.Version, version) &&
					s.Query("SELECT key FROM system.local").HostID(h.ID).Exec(t.Context()) == nil
			}
		}
		return false
	}, time.Minute, 100*time.Millisecond, "the session uses %s with version %s", node.Addr(), version)
}
