// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Nodes of an embedded cluster that restart and move.

// TestFault21RollingRestart kills and restarts each of six nodes in turn, twice, under load, with three replicas and
// LOCAL_QUORUM. No idempotent read may fail, no acknowledged write may be lost, and afterwards reads must be as fast as
// before.
func TestFault21RollingRestart(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 6, VNodes: 32})
	embeddedTable(t, cluster, "3")
	s := open(t, embeddedConfig(cluster))
	l := startLoad(s, "ks.t", 2, 4)
	time.Sleep(time.Second)
	began := time.Now()
	before := l.median(began.Add(-500*time.Millisecond), began)
	for round := range 2 {
		for _, n := range cluster.Nodes() {
			n.Kill()
			time.Sleep(30 * time.Millisecond)
			require.NoError(t, n.Restart())
			back := time.Now()
			n.ResetStats()
			require.Eventually(t, func() bool { return n.Stats().OnReplica > 100 }, 5*time.Second, time.Millisecond, "node %v serves requests again", n)
			t.Logf("round %d, %v: served requests again %v after its restart", round, n, time.Since(back).Round(time.Millisecond))
		}
	}
	restarted := time.Now()
	share := during(cluster, func() { time.Sleep(500 * time.Millisecond) })
	ended := time.Now()
	after := l.median(restarted, ended)
	close(l.stop)
	l.wg.Wait()
	share.log(t, "afterwards")
	t.Logf("%d reads, %d failed, %d keys written; median read %v before, %v during, %v after", len(l.reads), len(l.errs), len(l.written), before,
		l.median(began, restarted), after)
	require.Empty(t, l.errs)
	require.NotZero(t, before)
	require.Less(t, after, 3*before+5*time.Millisecond, "reads are slower than before")
	require.GreaterOrEqual(t, share.percent(share.OnReplica), 99.0)
	require.NotEmpty(t, l.written)
	for k, want := range l.written {
		var got int
		require.NoError(t, s.Query("SELECT v FROM ks.t WHERE k = ?", k).Scan(t.Context(), &got))
		require.GreaterOrEqual(t, got, want, "key %d", k)
	}
}

// awaitUse blocks until all nodes serve requests and none fails. It returns the time that took.
func awaitUse(t *testing.T, c *cqltest.Cluster, s *vecql.Session) time.Duration {
	t.Helper()
	began := time.Now()
	c.ResetStats()
	var last error
	for i := int64(0); time.Since(began) < 2*time.Minute; i++ {
		last = s.Query(insertPair, i, i).Idempotent(true).Exec(t.Context())
		used := !slices.ContainsFunc(c.Nodes(), func(n *cqltest.Node) bool { return n.Stats().OnReplica == 0 })
		if last == nil && used {
			return time.Since(began)
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("not all nodes serve requests again; the last request: %v", last)
	return 0
}

// addresses returns the addresses of the session's hosts, by host id.
func addresses(s *vecql.Session) map[string]string {
	m := map[string]string{}
	for _, h := range s.GetHosts() {
		m[h.ID.String()] = h.Address.String()
	}
	return m
}

func requireAddresses(t *testing.T, c *cqltest.Cluster, s *vecql.Session) {
	t.Helper()
	want := map[string]string{}
	for _, n := range c.Nodes() {
		want[cql.UUID(n.HostID()).String()] = n.Addr().String()
	}
	is := func() bool { return maps.Equal(addresses(s), want) }
	require.Eventually(t, is, 10*time.Second, time.Millisecond, "%v, want %v", addresses(s), want)
}

// TestClusterNodeMoves moves each node in turn to another address under load, with and without events. No idempotent
// request may fail.
func TestClusterNodeMoves(t *testing.T) {
	for _, c := range []struct {
		name string
		cfg  cqltest.Config
		mute bool
	}{
		{"another port", cqltest.Config{}, false},
		{"another port, no event", cqltest.Config{}, true},
		{"another IP address", cqltest.Config{Network: cqltest.Addresses}, false},
		{"another IP address, no event", cqltest.Config{Network: cqltest.Addresses}, true},
		{"shards", cqltest.Config{Scylla: &cqltest.Scylla{Shards: 4, Tablets: 64}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := cqltest.New(t, c.cfg)
			embeddedTable(t, cluster, "3")
			cluster.MuteEvents(c.mute)
			cfg := embeddedConfig(cluster)
			if c.mute {
				cfg.Nodes.ReconnectInterval = 200 * time.Millisecond
			}
			s := open(t, cfg)
			stop := background(4, func(w, i int) error {
				return s.Query(insertPair, w, i).Idempotent(true).Exec(t.Context())
			})
			for _, n := range cluster.Nodes() {
				old := n.Addr()
				require.NoError(t, n.Move(netip.Addr{}))
				t.Logf("from %v to %v: all nodes served requests again after %v", old, n.Addr(), awaitUse(t, cluster, s).Round(time.Millisecond))
				requireAddresses(t, cluster, s)
			}
			calls, errs := stop()
			t.Logf("%d requests, %d failed", calls, len(errs))
			require.Empty(t, errs)
			require.Len(t, s.GetHosts(), 3)
		})
	}
}
