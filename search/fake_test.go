// SPDX-License-Identifier: Apache-2.0

package search_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// newSession starts a cluster, executes CQL, and connects to it. The keyspace is shop.
func newSession(t testing.TB, cfg cqltest.Config, cql string) *vecql.Session {
	t.Helper()
	cluster := cqltest.New(t, cfg)
	require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};"+cql))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts(), Keyspace: "shop"})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

// randomVector returns dim elements between -1 and 1.
func randomVector(r *rand.Rand, dim int) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = 2*r.Float32() - 1
	}
	return v
}
