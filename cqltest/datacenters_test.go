// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplicationFactor applies one replication_factor to all data centers, like Cassandra 4 and later.
func TestReplicationFactor(t *testing.T) {
	c := New(t, Config{Network: InMemory, DataCenters: []DataCenter{{Name: "a", Nodes: 3}, {Name: "b", Nodes: 2}}})
	require.NoError(t, c.Exec("CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 3, 'b': 1}"))
	replication, ok := c.db.Replication("ks")
	require.True(t, ok)
	delete(replication, "class")
	require.Equal(t, map[string]string{"a": "3", "b": "1"}, replication)
	require.Len(t, c.Replicas("ks", "t", 0), 4)
	var e *Error
	require.ErrorAs(t, c.Exec("CREATE KEYSPACE other WITH replication = {'class': 'NetworkTopologyStrategy', 'nowhere': 1}"), &e)
	require.Equal(t, CodeConfig, e.Code)
}
