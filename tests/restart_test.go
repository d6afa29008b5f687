// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/internal/soak"
)

// TestManyNodesRestart restarts all nodes of a large cluster in turn, under reads and idempotent writes. No request may
// fail, and all rows of the system tables are read for new control connections and once a minute only.
func TestManyNodesRestart(t *testing.T) {
	nodes := soak.Size(8, 1000)
	cluster := cqltest.New(t, cqltest.Config{Nodes: nodes, VNodes: 1, Network: cqltest.InMemory})
	embeddedTable(t, cluster, "3")
	rows := func(some bool) *cqltest.Rule {
		return cluster.Observe(cqltest.Fault{Statement: "SELECT * FROM system.peers_v2", Match: func(r cqltest.Request) bool {
			return strings.Contains(r.Statement, "WHERE") == some
		}})
	}
	some, all, controls := rows(true), rows(false), cluster.Observe(cqltest.Fault{Op: cqltest.OpRegister})
	cfg := embeddedConfig(cluster)
	cfg.Hosts, cfg.Pool.Dialer, cfg.Pool.NumConns = cfg.Hosts[:3], cluster.Dialer(), 1
	s := open(t, cfg)
	awaitUse(t, cluster, s)
	l := startLoad(s, "ks.t", 1, 2)
	began := time.Now()
	for _, n := range cluster.Nodes() {
		n.Kill()
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, n.Restart())
		require.Eventually(t, func() bool { return len(n.Conns()) > 0 }, time.Minute, time.Millisecond, "the session connects to node %v again", n)
	}
	time.Sleep(3 * time.Second) // the last events are served
	took := time.Since(began)
	close(l.stop)
	l.wg.Wait()
	require.Empty(t, l.errs)
	require.Zero(t, l.refused, "writes")
	t.Logf("%d nodes in %v: %d reads, %d readings of rows, %d of all rows, %d control connections",
		nodes, took.Round(time.Second), len(l.reads), some.Hits(), all.Hits(), controls.Hits())
	// An event that is older than a control connection may concern its node, whose row is not among the peers.
	require.LessOrEqual(t, all.Hits(), 2*controls.Hits()+int(took/time.Minute)+2)
	if soak.On() {
		require.Greater(t, some.Hits(), all.Hits())
	}
}
