// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cqltest"
)

// What ScyllaDB has and Cassandra has not, through the verbs of the tool.

// scyllaCluster has racks, tablets, and a vector store.
func scyllaCluster() cqltest.Config {
	return cqltest.Config{
		DataCenters: []cqltest.DataCenter{{Name: "datacenter1", Nodes: 2, Racks: []string{"r1", "r2"}}},
		Scylla:      &cqltest.Scylla{Tablets: 4, VectorStore: &cqltest.VectorStore{}},
	}
}

// scyllaTables are tables of a keyspace of ScyllaDB 2026, with a column that has the times to live of rows.
const scyllaTables = `
	CREATE KEYSPACE shop WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': ['r1', 'r2']} AND tablets = {'initial': 8};
	CREATE TABLE shop.sessions (id int, part int, note text, "Expires" timestamp TTL, PRIMARY KEY (id, part))
		WITH cdc = {'enabled': true, 'preimage': true} AND per_partition_rate_limit = {'max_writes_per_second': 100}
		AND tablets = {'min_tablet_count': 16} AND tombstone_gc = {'mode': 'repair'};
	CREATE TABLE shop.tokens (id int PRIMARY KEY, expires bigint TTL, v vector<float, 2>);
	CREATE CUSTOM INDEX tokens_v ON shop.tokens (v) USING 'vector_index' WITH OPTIONS = {'similarity_function': 'EUCLIDEAN'};`

// TestDescribePerRowTTL requires that the schema which describe prints creates an equal one on another cluster, where
// rows expire as well.
func TestDescribePerRowTTL(t *testing.T) {
	x := newTesterOf(t, scyllaCluster(), scyllaTables)
	schema := x.requireRun("describe", "shop")
	require.Contains(t, schema, "    \"Expires\" timestamp TTL,\n")
	require.Contains(t, schema, "    expires bigint TTL,\n")
	require.Contains(t, schema, "'datacenter1': ['r1', 'r2']}")
	require.Contains(t, schema, "AND tablets = {'enabled': true, 'initial': 8};")
	require.Contains(t, x.requireRun("describe", "shop.sessions_scylla_cdc_log"), "/* Do NOT execute this statement!")
	other := newTesterOf(t, scyllaCluster())
	other.in = schema
	other.requireRun("query")
	require.Equal(t, schema, other.requireRun("describe", "shop"))
	require.NoError(t, other.Exec(fmt.Sprintf("INSERT INTO shop.tokens (id, expires) VALUES (1, %d)", time.Now().Unix()+60)))
	require.Equal(t, "1\n", other.requireRun("count", "shop.tokens"))
	other.StepClock(time.Minute)
	require.Equal(t, "0\n", other.requireRun("count", "shop.tokens"))
	x.requireRun("query", "ALTER TABLE shop.tokens TTL NULL")
	require.NotContains(t, x.requireRun("describe", "shop.tokens"), "TTL")
}

// TestCopyPerRowTTL copies rows that expire, and unloads and loads them, with their write times: they expire in the
// target when they expire in the source.
func TestCopyPerRowTTL(t *testing.T) {
	x := newTesterOf(t, scyllaCluster(), scyllaTables)
	for _, name := range []string{"copied", "loaded"} {
		x.in = strings.ReplaceAll(x.requireRun("describe", "shop.sessions"), "shop.sessions", "shop."+name)
		x.requireRun("query")
	}
	for id := range 20 {
		expires := time.Now().Add(time.Hour)
		if id%2 == 0 {
			expires = expires.Add(24 * time.Hour)
		}
		require.NoError(t, x.Exec(fmt.Sprintf(`INSERT INTO shop.sessions (id, part, note, "Expires") VALUES (%d, 1, 'x', %d) USING TIMESTAMP %d`,
			id, expires.UnixMilli(), time.Now().UnixMicro()-1000)))
	}
	require.NoError(t, x.Exec("UPDATE shop.sessions USING TTL 1800 SET note = 'y' WHERE id = 1 AND part = 1"))
	require.Contains(t, x.requireRun("copy", "shop.sessions", "shop.copied"), "Copied 20 rows in ")
	file := filepath.Join(t.TempDir(), "sessions.parquet")
	x.requireRun("unload", "shop.sessions", file, "--times")
	x.requireRun("load", "shop.loaded", file, "--times")
	for _, target := range []string{"shop.copied", "shop.loaded"} {
		require.Equal(t, "20 rows are equal.\n", x.requireRun("verify", "shop.sessions", target, "--write-times"))
	}
	x.StepClock(time.Hour)
	for _, target := range []string{"shop.copied", "shop.loaded"} {
		require.Equal(t, "10 rows are equal.\n", x.requireRun("verify", "shop.sessions", target, "--write-times"))
		require.Equal(t, "10\n", x.requireRun("count", target))
	}
}

// TestScyllaStatements passes statements that only ScyllaDB has through the splitting of scripts. The emulation refuses
// those that it does not have by their names.
func TestScyllaStatements(t *testing.T) {
	x := newTesterOf(t, scyllaCluster(), scyllaTables)
	x.in = `-- statements of ScyllaDB
		INSERT INTO shop.tokens (id) VALUES (1) USING TIMEOUT 5s AND TTL 60;
		SELECT id FROM shop.tokens WHERE id = 1 BYPASS CACHE USING TIMEOUT 50ms;
		/* CREATE TABLE shop.log (id int PRIMARY KEY); */
		ALTER TABLE shop.tokens TTL NULL`
	require.Contains(t, x.requireRun("query", "-o", "csv"), "id\n1\n")
	x.in = ""
	for _, statement := range []string{
		"PRUNE MATERIALIZED VIEW shop.v WHERE token(id) > 7 USING CONCURRENCY 10",
		"LIST EFFECTIVE SERVICE LEVEL OF alice",
		"CREATE ROLE alice WITH HASHED PASSWORD = 'a;b' AND LOGIN = true",
		"CREATE SERVICE LEVEL gold WITH timeout = 5ms AND workload_type = 'interactive'",
		"ATTACH SERVICE LEVEL gold TO alice",
	} {
		name, _, _ := strings.Cut(statement, " ")
		require.Contains(t, x.requireFailure(exitFailed, "query", statement), name, statement)
	}
}

// TestCopyIntoCDC writes rows with their old times into a table with change data capture, which ScyllaDB refuses.
func TestCopyIntoCDC(t *testing.T) {
	x := newTesterOf(t, scyllaCluster(), scyllaTables, "CREATE TABLE shop.plain (id int, part int, note text, \"Expires\" timestamp TTL, PRIMARY KEY (id, part))",
		"INSERT INTO shop.plain (id, part, note) VALUES (1, 1, 'x') USING TIMESTAMP 1000")
	require.Contains(t, x.requireFailure(exitFailed, "copy", "shop.plain", "shop.sessions"), adviceCDC)
	require.Contains(t, x.requireRun("copy", "shop.plain", "shop.sessions", "--no-times"), "Copied 1 row in ")
}
