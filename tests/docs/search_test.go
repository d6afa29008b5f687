// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// TestSearchStatements executes the blocks of CQL in search.md: the first one on Cassandra, the second one on ScyllaDB.
func TestSearchStatements(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```cql\n(.*?)```").FindAllStringSubmatch(readDocument(t, "search.md"), -1)
	require.Len(t, blocks, 2)
	for i, config := range []cqltest.Config{{}, {Scylla: &cqltest.Scylla{VectorStore: &cqltest.VectorStore{}}}} {
		config.Nodes = 1
		cluster := inMemory(t, config)
		require.NoError(t, cluster.Exec("CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}"))
		require.NoError(t, cluster.Exec(blocks[i][1]))
	}
}
