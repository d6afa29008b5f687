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

// TestRackLists places the replicas of tablets on the racks that a keyspace of ScyllaDB names.
func TestRackLists(t *testing.T) {
	c := New(t, Config{
		Network: InMemory, Scylla: &Scylla{Tablets: 8},
		DataCenters: []DataCenter{{Name: "a", Nodes: 6, Racks: []string{"r1", "r2", "r3"}}, {Name: "b", Nodes: 2}},
	})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'a': ['r1', 'r3'], 'b': []};
		CREATE TABLE ks.t (k int PRIMARY KEY)`))
	replication, ok := c.db.Replication("ks")
	require.True(t, ok)
	delete(replication, "class")
	require.Equal(t, map[string]string{"a:0": "r1", "a:1": "r3", "b:-1": ""}, replication)
	used := map[*Node]bool{}
	for tok := int64(-1 << 62); tok < 1<<62; tok += 1 << 60 {
		nodes := c.Replicas("ks", "t", tok)
		require.Len(t, nodes, 2)
		require.ElementsMatch(t, []string{"r1", "r3"}, []string{nodes[0].rack, nodes[1].rack})
		used[nodes[0]], used[nodes[1]] = true, true
	}
	require.Len(t, used, 4)
	var e *Error
	require.ErrorAs(t, c.Exec("CREATE KEYSPACE other WITH replication = {'class': 'NetworkTopologyStrategy', 'c': ['r1']}"), &e)
	require.Equal(t, CodeConfig, e.Code)
}
