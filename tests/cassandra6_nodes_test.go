// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cassandra"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/search"
	"github.com/vecql/vecql/vector"
)

// Three nodes of Cassandra 6, whose metadata is a log that one of them keeps (CEP-21).

// connectTo opens a session that uses one node.
func connectTo(t *testing.T, k kind, addr netip.Addr) *vecql.Session {
	t.Helper()
	cfg := config(t, k)
	cfg.Hosts = []string{addr.String()}
	cfg.Nodes.HostFilter = func(h *cql.Host) bool { return h.Address.Addr() == addr }
	return connect(t, cfg)
}

// TestSixCreateIndex creates vector indexes by each node, and drops them, while the node that keeps the log of the
// metadata is busier with each than the others wait for it.
func TestSixCreateIndex(t *testing.T) {
	soak.Only(t)
	const dim = 384
	s := connect(t, config(t, threeOfSix))
	ks := keyspace(t, s, 3)
	query := vectorOf(7, make([]float32, dim))
	for i, h := range s.GetHosts() {
		table := fmt.Sprintf("%s.t%d", ks, i)
		one := connectTo(t, threeOfSix, h.Address.Addr())
		exec(t, one, fmt.Sprintf("CREATE TABLE %s (k int PRIMARY KEY, v vector<float, %d>)", table, dim))
		require.NoError(t, s.AwaitSchemaAgreement(t.Context())) // one asks only the node that it uses
		insertVectors(t, one, table, 1000, dim)
		began := time.Now()
		require.NoError(t, search.CreateIndex(t.Context(), one, table, vector.Cosine, search.IndexOptions{}))
		t.Logf("index of %s created by %v in %v", table, h, time.Since(began).Round(time.Millisecond))
		require.NoError(t, search.WaitReady(t.Context(), s, table, nil))
		rows, err := search.Open[int32](t.Context(), s, table)
		require.NoError(t, err)
		result, err := rows.Consistency(cql.One).All(t.Context(), query, 3)
		require.NoError(t, err)
		require.Equal(t, int32(7), result.Hits[0].Row)
		began = time.Now()
		require.NoError(t, search.DropIndex(t.Context(), one, table+"(v)"))
		t.Logf("dropped in %v", time.Since(began).Round(time.Millisecond))
	}
}

// TestSixMetadata changes the schema by each of three nodes, and uses each change at once by the other nodes. Then it
// kills a node, changes the schema, and starts the node again.
func TestSixMetadata(t *testing.T) {
	soak.Only(t)
	s := connect(t, config(t, threeOfSix))
	ks := keyspace(t, s, 3)
	use := func(hosts []*cql.Host, table string) {
		for i, h := range hosts {
			q := s.Query("INSERT INTO "+ks+"."+table+" (k, v) VALUES (?, ?)", i, i).HostID(h.ID)
			require.NoError(t, q.Exec(t.Context()), "%s by %v", table, h)
		}
	}
	hosts := s.GetHosts()
	require.Len(t, hosts, 3)
	for i, h := range hosts {
		require.Equal(t, "6.0", h.Version[:3])
		require.Len(t, h.Tokens, 1)
		require.Equal(t, hosts[0].ClusterName, h.ClusterName)
		table := fmt.Sprintf("t%d", i)
		require.NoError(t, s.Query("CREATE TABLE "+ks+"."+table+" (k int PRIMARY KEY)").HostID(h.ID).Exec(t.Context()))
		require.NoError(t, s.Query("ALTER TABLE "+ks+"."+table+" ADD v int").HostID(h.ID).Exec(t.Context()))
		use(hosts, table)
		m, err := s.TableMetadata(t.Context(), ks, table)
		require.NoError(t, err)
		require.Contains(t, m.Columns, "v")
	}
	require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
	if external() != nil {
		return
	}
	victim := hosts[2]
	if victim.ID[15] == 1 { // the first node that registered keeps the log of the metadata
		victim = hosts[1]
	}
	others := slices.DeleteFunc(slices.Clone(hosts), func(h *cql.Host) bool { return h == victim })
	nodes := start(t, threeOfSix).Nodes
	node := nodes[slices.IndexFunc(nodes, func(n *cassandra.Node) bool { return n.Addr() == victim.Address.String() })]
	up := func() (open int) {
		for _, n := range s.Stats().Nodes {
			if n.Connections > 0 {
				open++
			}
		}
		return open
	}
	require.NoError(t, node.Kill())
	require.Eventually(t, func() bool { return up() == 2 }, time.Minute, 100*time.Millisecond)
	require.NoError(t, s.Query("CREATE TABLE "+ks+".without (k int PRIMARY KEY, v int)").HostID(others[0].ID).Exec(t.Context()))
	use(others, "without")
	require.NoError(t, node.Start(t.Context()))
	require.Eventually(t, func() bool { return up() == 3 }, time.Minute, 100*time.Millisecond)
	require.NoError(t, s.AwaitSchemaAgreement(t.Context()))
	use(hosts, "without")
}
