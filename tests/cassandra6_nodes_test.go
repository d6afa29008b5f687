// SPDX-License-Identifier: Apache-2.0

package tests

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
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
