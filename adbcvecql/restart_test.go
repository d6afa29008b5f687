// SPDX-License-Identifier: Apache-2.0

package adbcvecql_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
)

// startThree starts three Cassandra nodes with the table shop.items, which has three replicas.
func startThree(t *testing.T) (*cassandra.Cluster, *vecql.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	cluster, err := cassandra.Start(ctx, cassandra.Options{Nodes: 3, Log: t.Log})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Close()) })
	cfg := &vecql.ClusterConfig{Hosts: cluster.Hosts()}
	cfg.Timeout, cfg.Logger = 30*time.Second, slog.New(slog.DiscardHandler)
	session, err := vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	for _, text := range []string{
		"CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3}",
		strings.TrimSuffix(items, ";"),
	} {
		require.NoError(t, session.Query(text).Exec(ctx))
	}
	return cluster, session
}

// countOn returns a number from a system table of one node.
func countOn(t *testing.T, session *vecql.Session, node *cassandra.Node, query string) (n int64) {
	t.Helper()
	for _, h := range session.GetHosts() {
		if h.Address.String() == node.Addr() {
			err := session.Query(query).HostID(h.ID).Consistency(cql.One).Scan(t.Context(), &n)
			if err != nil { // not connected again yet
				return 0
			}
		}
	}
	return n
}

// TestProcessesReadEveryRowOnceWhileANodeRestarts on Cassandra. Each process reads a third of its partitions when the
// node is killed, a third while it is down, and the rest when it is up again. Every row is read once.
func TestProcessesReadEveryRowOnceWhileACassandraRestarts(t *testing.T) {
	soak.Only(t)
	const rows, processes, workers, partitions = 24_000, 4, 2, 24
	cluster, session := startThree(t)
	uri := "cassandra://" + strings.Join(cluster.Hosts(), ",") + "/shop"
	const phases = 3
	shares := make([][][]byte, phases*processes)
	for i, id := range partitionsOf(t, uri, rows, partitions) {
		shares[i%len(shares)] = append(shares[i%len(shares)], id)
	}

	node := cluster.Nodes[1]
	var readers []*readerProcess
	for _, share := range shares[:processes] {
		readers = append(readers, startReader(t, uri, workers, share))
	}
	total := func() (n int) {
		for _, p := range readers {
			n += p.written()
		}
		return n
	}
	require.Eventually(t, func() bool {
		return !slices.ContainsFunc(readers, func(p *readerProcess) bool { return p.written() == 0 })
	}, time.Minute, time.Millisecond, "each process reads")
	read := total()
	require.NoError(t, node.Kill())
	t.Logf("killed %s after %d rows", node.Addr(), read)
	require.Less(t, read, rows/phases, "no process was reading any more")
	for i, p := range readers {
		p.read(t, shares[processes+i])
	}
	const most = 2 * time.Minute
	require.Eventually(t, func() bool { return total() > rows/2 }, most, 10*time.Millisecond, "rows while the node is down")

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	require.NoError(t, node.Start(ctx))
	require.Eventually(t, func() bool {
		return countOn(t, session, node, "SELECT count(*) FROM system_views.clients") > processes
	}, most, 100*time.Millisecond, "the processes connect again")
	for i, p := range readers {
		p.read(t, shares[2*processes+i])
	}
	var got []string
	for _, p := range readers {
		got = append(got, p.rows(t)...)
	}
	slices.Sort(got)
	require.Equal(t, expected(rows), got)
	scans := countOn(t, session, node, "SELECT count FROM system_views.coordinator_scan_latency "+
		"WHERE keyspace_name = 'shop' AND table_name = 'items'")
	t.Logf("%d scans by the node that restarted", scans)
	require.Positive(t, scans, "the node that restarted served no page")
}
