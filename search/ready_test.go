// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// WaitReady on both servers.

// connect connects to a cluster. The keyspace is shop.
func connect(t testing.TB, cluster *cqltest.Cluster, protocol int) *vecql.Session {
	t.Helper()
	config := vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"}
	config.Protocol.Version = protocol
	session, err := vecql.NewSession(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

// newCluster starts a cluster and executes CQL. The keyspace is shop.
func newCluster(t testing.TB, cfg cqltest.Config, cql string) *cqltest.Cluster {
	t.Helper()
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};"+cql))
	return cluster
}

// TestWaitReadyScylla waits through all states of the vector store. The clock goes on at each change of the state.
func TestWaitReadyScylla(t *testing.T) {
	cluster := newCluster(t, scylla("", cqltest.VectorStore{Discovery: time.Hour, Build: 2 * time.Hour, Settle: time.Hour}), indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{Name: "near"}))
	var states []float64
	require.NoError(t, search.WaitReady(t.Context(), session, "products", func(p search.Progress) {
		require.Equal(t, search.Progress{Index: "shop.near", Built: p.Built}, p)
		states = append(states, p.Built)
		cluster.StepClock(time.Hour)
	}))
	require.Len(t, states, 4)
	require.InDeltaSlice(t, []float64{-1, 0, 0.5, 1}, states, 0.01)
	require.NoError(t, search.WaitReady(t.Context(), session, "products", nil))
}

// TestWaitReadyScyllaStarts waits while the vector store starts, on an empty table with a local index.
func TestWaitReadyScyllaStarts(t *testing.T) {
	cluster := newCluster(t, scylla("", cqltest.VectorStore{Bootstrap: time.Hour}), indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "notes", vector.L2, search.IndexOptions{Local: true}))
	var states []float64
	require.NoError(t, search.WaitReady(t.Context(), session, "notes", func(p search.Progress) {
		states = append(states, p.Built)
		cluster.StepClock(time.Hour)
	}))
	require.Equal(t, []float64{-1, 1}, states)
}

// TestWaitReadyLocalKeys waits for local indexes of partition keys of all types.
func TestWaitReadyLocalKeys(t *testing.T) {
	types := []string{
		"ascii", "bigint", "blob", "boolean", "date", "decimal", "double", "float", "inet", "int", "smallint", "text", "time",
		"timestamp", "timeuuid", "tinyint", "uuid", "varint", "frozen<list<int>>", "frozen<map<int, int>>", "frozen<set<int>>",
		"frozen<tuple<int, text>>",
	}
	session := connect(t, newCluster(t, scylla("", cqltest.VectorStore{}), ""), 0)
	for _, typ := range types {
		t.Run(typ, func(t *testing.T) {
			require.NoError(t, session.Query("CREATE TABLE shop.t (p "+typ+" PRIMARY KEY, v vector<float, 2>)").Exec(t.Context()))
			require.NoError(t, search.CreateIndex(t.Context(), session, "t", vector.L2, search.IndexOptions{Local: true}))
			require.NoError(t, search.WaitReady(t.Context(), session, "t", nil))
			require.NoError(t, session.Query("DROP TABLE shop.t").Exec(t.Context()))
		})
	}
	require.NoError(t, session.Query("CREATE TABLE shop.t (p vector<float, 2> PRIMARY KEY, v vector<float, 2>)").Exec(t.Context()))
	require.NoError(t, search.CreateIndex(t.Context(), session, "t(v)", vector.L2, search.IndexOptions{Local: true}))
	require.ErrorIs(t, search.WaitReady(t.Context(), session, "t(v)", nil), search.ErrTarget)
}

// TestWaitReadyCassandra waits until each node serves, on both versions of the protocol.
func TestWaitReadyCassandra(t *testing.T) {
	for _, protocol := range []int{4, 5} {
		cluster := newCluster(t, cqltest.Config{SAI: cqltest.SAI{Build: time.Hour}}, indexedTable)
		session := connect(t, cluster, protocol)
		require.NoError(t, session.Query("INSERT INTO shop.products (id, embedding) VALUES (1, [1, 2, 3])").Exec(t.Context()))
		require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
		requireConnected(t, session)
		var states []search.Progress
		require.NoError(t, search.WaitReady(t.Context(), session, "products(embedding)", func(p search.Progress) {
			states = append(states, p)
			cluster.StepClock(time.Hour)
		}))
		require.Equal(t, []search.Progress{
			{Index: "shop.products_embedding_idx", Built: -1, Nodes: 3},
			{Index: "shop.products_embedding_idx", Built: 1, Nodes: 3, Ready: 3},
		}, states)
	}
}

// requireConnected waits until all nodes are connected.
func requireConnected(t testing.TB, session *vecql.Session) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, host := range session.GetHosts() {
			if !session.IsUp(host) {
				return false
			}
		}
		return true
	}, 10*time.Second, 10*time.Millisecond)
}

// TestWaitReadyEachNode waits for the last node of Cassandra: a search that reads from another node succeeds before.
func TestWaitReadyEachNode(t *testing.T) {
	cluster := newCluster(t, cqltest.Config{}, indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
	requireConnected(t, session)
	rule := cluster.Inject(cqltest.Fault{
		Node: cluster.Node(2), Statement: "ANN OF",
		Error: &cqltest.Error{
			Code: int32(cql.CodeReadFailure), Required: 1, Failures: map[netip.Addr]uint16{netip.IPv4Unspecified(): 6},
		},
	})
	var states []search.Progress
	require.NoError(t, search.WaitReady(t.Context(), session, "products", func(p search.Progress) {
		states = append(states, search.Progress{Built: p.Built, Nodes: p.Nodes, Ready: p.Ready})
		rule.Remove()
	}))
	require.Equal(t, []search.Progress{{Built: -1, Nodes: 3, Ready: 2}, {Built: 1, Nodes: 3, Ready: 3}}, states)
}

// TestWaitReadyEnds ends with the cause of the context, and with the state of the index.
func TestWaitReadyEnds(t *testing.T) {
	cluster := newCluster(t, scylla("", cqltest.VectorStore{Build: time.Hour}), indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{Name: "near"}))
	cluster.StepClock(30 * time.Minute)
	enough := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := search.WaitReady(ctx, session, "products", func(search.Progress) { cancel(enough) })
	require.ErrorIs(t, err, enough)
	var waiting *search.IndexNotReadyError
	require.ErrorAs(t, err, &waiting)
	require.InDelta(t, 0.5, waiting.Progress, 0.01)
	require.ErrorContains(t, err, "search: wait for index near of shop.products(embedding): enough; the last answer: index shop.near does not serve yet, 50.")
}

// TestWaitReadyDropped returns at once if there is no index, or if it is dropped meanwhile.
func TestWaitReadyDropped(t *testing.T) {
	for name, config := range map[string]cqltest.Config{
		"Cassandra": {SAI: cqltest.SAI{Build: time.Hour}}, "ScyllaDB": scylla("", cqltest.VectorStore{Build: time.Hour}),
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t, config, indexedTable)
			session := connect(t, cluster, 0)
			require.ErrorIs(t, search.WaitReady(t.Context(), session, "products", nil), search.ErrNoIndex)
			require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
			err := search.WaitReady(t.Context(), session, "products", func(search.Progress) {
				require.NoError(t, cluster.Exec("DROP INDEX shop.products_embedding_idx"))
			})
			require.ErrorIs(t, err, search.ErrNoIndex)
			require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
			err = search.WaitReady(t.Context(), session, "products", func(search.Progress) {
				require.NoError(t, cluster.Exec("DROP TABLE shop.products"))
			})
			require.ErrorIs(t, err, vecql.ErrNoTable)
		})
	}
}

// TestWaitReadyUnindexed waits for a node that has not created the index yet, but not for long.
func TestWaitReadyUnindexed(t *testing.T) {
	cluster := newCluster(t, cqltest.Config{}, indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
	requireConnected(t, session)
	fault := cqltest.Fault{
		Node: cluster.Node(1), Statement: "ANN OF", Times: 3,
		Error: &cqltest.Error{Code: int32(cql.CodeInvalid), Message: "ANN ordering by vector requires the column to be indexed"},
	}
	cluster.Inject(fault)
	require.NoError(t, search.WaitReady(t.Context(), session, "products", nil))
	fault.Times = 0
	cluster.Inject(fault)
	err := search.WaitReady(t.Context(), session, "products", nil)
	require.ErrorIs(t, err, search.ErrNoIndex)
	require.ErrorIs(t, err, cql.CodeInvalid)
}

// TestWaitReadyErrors ignores errors that pass, and returns the others.
func TestWaitReadyErrors(t *testing.T) {
	cluster := newCluster(t, scylla("", cqltest.VectorStore{}), indexedTable)
	session := connect(t, cluster, 0)
	require.NoError(t, search.CreateIndex(t.Context(), session, "products", vector.Cosine, search.IndexOptions{}))
	fail := func(code cql.Code, message string, times int) {
		cluster.Inject(cqltest.Fault{
			Statement: "ANN OF", Times: times, Error: &cqltest.Error{Code: int32(code), Message: message},
		})
	}
	fail(cql.CodeOverloaded, "busy", 3)
	fail(cql.CodeInvalid, "Vector Store service is unavailable", 1)
	require.NoError(t, search.WaitReady(t.Context(), session, "products", nil))
	fail(cql.CodeInvalid, "Vector Store is disabled", 1)
	err := search.WaitReady(t.Context(), session, "products", nil)
	require.ErrorIs(t, err, cql.CodeInvalid)
	require.ErrorContains(t, err, "Vector Store is disabled")

	var polls atomic.Int32
	session.Close()
	err = search.WaitReady(t.Context(), session, "products", func(search.Progress) { polls.Add(1) })
	require.ErrorIs(t, err, vecql.ErrSessionClosed)
}
