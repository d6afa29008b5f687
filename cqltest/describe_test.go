// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// TestDescribe reads DESCRIBE through the driver: prepared and not, in a keyspace and without one.
func TestDescribe(t *testing.T) {
	c := New(t, Config{Network: InMemory, ClusterName: "shop"})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 2};
		CREATE TABLE ks.t (k int PRIMARY KEY)`))
	for _, version := range []int{4, 5} {
		cfg := clusterConfig(c)
		cfg.Protocol.Version = version
		s, err := vecql.NewSession(t.Context(), *cfg)
		require.NoError(t, err)
		defer s.Close()
		type cluster struct{ Cluster, Partitioner, Snitch string }
		row, err := vecql.OneRow[cluster](t.Context(), s.Query("DESCRIBE CLUSTER"))
		require.NoError(t, err)
		require.Equal(t, cluster{"shop", "Murmur3Partitioner", "DynamicEndpointSnitch"}, row)
		type name struct {
			Keyspace   string `cql:"keyspace_name"`
			Type, Name string
		}
		var names []name
		for n, err := range vecql.Rows[name](t.Context(), s.Query("DESCRIBE KEYSPACES").PageSize(2)) {
			require.NoError(t, err)
			names = append(names, n)
		}
		require.Greater(t, len(names), 3)
		require.Equal(t, name{"ks", "keyspace", "ks"}, names[0])
		require.Equal(t, name{"system", "keyspace", "system"}, names[1])
		require.Error(t, s.Query("DESCRIBE TABLE t").Exec(t.Context()))
	}
}
