// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// DESCRIBE of ScyllaDB.

// scyllaSchema has what ScyllaDB of 2025 and 2026 adds to keyspaces and tables.
const scyllaSchema = `CREATE KEYSPACE racks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': ['r2', 'r1']} AND tablets = {'initial': 8};
	CREATE KEYSPACE vnodes WITH replication = {'replication_factor': 1} AND durable_writes = false AND tablets = {'enabled': false};
	CREATE KEYSPACE strong WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1} AND consistency = 'global';
	CREATE KEYSPACE empty WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': []};
	CREATE TABLE racks.t (p int, c int, s int STATIC, "E" timestamp TTL, v vector<float, 2>, PRIMARY KEY (p, c)) WITH CLUSTERING ORDER BY (c DESC)
		AND cdc = {'enabled': true, 'preimage': 'full'} AND per_partition_rate_limit = {'max_reads_per_second': 100}
		AND tablets = {'min_tablet_count': 64, 'expected_data_size_in_gb': 10} AND tombstone_gc = {'mode': 'repair'} AND paxos_grace_seconds = 1234;
	CREATE CUSTOM INDEX i ON racks.t (v) USING 'vector_index' WITH OPTIONS = {'similarity_function': 'DOT_PRODUCT', 'search_beam_width': '100'};
	CREATE TABLE racks.u (p int PRIMARY KEY, e bigint TTL)`

func describeAll(t *testing.T, e *Engine, statement string) []string {
	t.Helper()
	var out []string
	for _, row := range mustRun(t, e, statement).Rows {
		out = append(out, string(row[len(row)-1]))
	}
	return out
}

// TestDescribeScylla requires that the schema that DESCRIBE returns creates an equal one.
func TestDescribeScylla(t *testing.T) {
	e, _ := newVectorStore(t, Options{Streams: oneStream{}})
	for s := range strings.SplitSeq(scyllaSchema, ";") {
		mustRun(t, e, s)
	}
	all := describeAll(t, e, "DESCRIBE SCHEMA")
	other, _ := newVectorStore(t, Options{Streams: oneStream{}})
	mustRun(t, other, "DROP KEYSPACE ks")
	for _, s := range all {
		mustRun(t, other, s)
	}
	require.Equal(t, all, describeAll(t, other, "DESCRIBE SCHEMA"))
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"CREATE KEYSPACE racks WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'datacenter1': ['r2', 'r1']} " +
			"AND durable_writes = true AND tablets = {'enabled': true, 'initial': 8};",
		"CREATE KEYSPACE vnodes WITH replication = {'class': 'org.apache.cassandra.locator.NetworkTopologyStrategy', 'datacenter1': '1'} " +
			"AND durable_writes = false AND tablets = {'enabled': false};",
		"AND tablets = {'enabled': true} AND consistency = 'global';",
		"'datacenter1': []}",
		"    \"E\" timestamp TTL,\n",
		"    e bigint TTL\n",
		"AND tablets = {'expected_data_size_in_gb': '10', 'min_tablet_count': '64'}",
		"AND cdc = {'delta': 'full', 'enabled': 'true', 'postimage': 'false', 'preimage': 'full', 'ttl': '86400'}",
		"AND per_partition_rate_limit = {'max_reads_per_second': '100'}",
		"AND tombstone_gc = {'mode': 'repair'}",
		"AND paxos_grace_seconds = 1234",
		"ALTER TABLE racks.t_scylla_cdc_log WITH bloom_filter_fp_chance = ",
		"WITH OPTIONS = {'search_beam_width': '100', 'similarity_function': 'DOT_PRODUCT'};",
	} {
		require.Contains(t, text, want)
	}
	require.NotContains(t, text, "memtable = ", "an option of Cassandra")
	require.Equal(t, 2, strings.Count(text, "AND cdc = ")+strings.Count(text, "t_scylla_cdc_log"), text)
	log := describeAll(t, e, "DESCRIBE TABLE racks.t_scylla_cdc_log")
	require.Len(t, log, 1)
	require.True(t, strings.HasPrefix(log[0], "/* Do NOT execute"), log[0])
}

// oneStream has one stream for all tables.
type oneStream struct{}

func (oneStream) Open(Name)                             {}
func (oneStream) Drop(Name)                             {}
func (oneStream) Of(Name, int64, int64) ([]byte, error) { return []byte{1}, nil }
