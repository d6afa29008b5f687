// SPDX-License-Identifier: Apache-2.0

package cqltest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// captured starts a cluster of ScyllaDB with a table, and returns a function that executes statements and returns the
// rows of the log that they wrote: the sequence number, and columns that are not NULL by name.
func captured(t *testing.T, tablets int, table string) func(statements ...string) []string {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: tablets}})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TYPE ks.pair (a int, b text);
		CREATE TABLE ks.t `+table))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	seen := map[string]bool{}
	return func(statements ...string) []string {
		t.Helper()
		for _, s := range statements {
			require.NoError(t, session.Query(s).Exec(t.Context()), s)
		}
		var rows []string
		for b, err := range session.Query("SELECT * FROM ks.t_scylla_cdc_log").Batches(t.Context()) {
			require.NoError(t, err)
			for i := range b.Rows {
				key := fmt.Sprint(b.Columns[0].Value(i), b.Columns[1].Value(i), b.Columns[2].Value(i))
				if seen[key] {
					continue
				}
				seen[key] = true
				var cells []string
				for c := range b.Columns[3:] {
					if v := b.Columns[3+c].Value(i); v != nil {
						cells = append(cells, fmt.Sprintf("%s=%v", strings.TrimPrefix(b.Columns[3+c].Name, "cdc$"), v))
					}
				}
				rows = append(rows, fmt.Sprint(b.Columns[2].Value(i), " ", strings.Join(cells, " ")))
			}
		}
		return rows
	}
}

// TestCDCOperations compares the rows of the log with those in ScyllaDB's docs/features/cdc: cdc-updates.rst,
// cdc-row-range-deletions.rst, cdc-partition-deletions.rst, cdc-log-table.rst.
func TestCDCOperations(t *testing.T) {
	run := captured(t, 4, "(pk int, ck int, s int static, v1 int, v2 int, PRIMARY KEY (pk, ck)) WITH cdc = {'enabled': true}")
	for _, c := range []struct {
		statements string
		want       []string
	}{
		{"UPDATE ks.t SET v1 = 0 WHERE pk = 0 AND ck = 0", []string{"0 end_of_batch=true operation=1 ck=0 pk=0 v1=0"}},
		{"UPDATE ks.t SET v2 = null WHERE pk = 0 AND ck = 0", []string{"0 deleted_v2=true end_of_batch=true operation=1 ck=0 pk=0"}},
		{"INSERT INTO ks.t (pk, ck, v1) VALUES (0, 1, 1)", []string{"0 end_of_batch=true operation=2 ck=1 pk=0 v1=1"}},
		{"DELETE FROM ks.t WHERE pk = 0 AND ck = 1", []string{"0 end_of_batch=true operation=3 ck=1 pk=0"}},
		{"DELETE FROM ks.t WHERE pk = 0 AND ck <= 2 AND ck > 0", []string{
			"0 operation=6 ck=0 pk=0", "1 end_of_batch=true operation=7 ck=2 pk=0",
		}},
		{"DELETE FROM ks.t WHERE pk = 0 AND ck < 3", []string{"0 operation=5 pk=0", "1 end_of_batch=true operation=8 ck=3 pk=0"}},
		{"DELETE FROM ks.t WHERE pk = 0", []string{"0 end_of_batch=true operation=4 pk=0"}},
		{"UPDATE ks.t SET s = 0, v1 = 0 WHERE pk = 0 AND ck = 0", []string{
			"0 operation=1 pk=0 s=0", "1 end_of_batch=true operation=1 ck=0 pk=0 v1=0",
		}},
		{"UPDATE ks.t USING TTL 5 SET v1 = 0, v2 = 1 WHERE pk = 0 AND ck = 0", []string{
			"0 end_of_batch=true operation=1 ttl=5 ck=0 pk=0 v1=0 v2=1",
		}},
		{"BEGIN UNLOGGED BATCH UPDATE ks.t SET v1 = 0 WHERE pk = 0 AND ck = 0; DELETE FROM ks.t WHERE pk = 0 AND ck = 1; APPLY BATCH", []string{
			"0 operation=1 ck=0 pk=0 v1=0", "1 end_of_batch=true operation=3 ck=1 pk=0",
		}},
	} {
		require.Equal(t, c.want, run(c.statements), c.statements)
	}
	split := run("UPDATE ks.t USING TTL 5 SET v1 = 0, v2 = null WHERE pk = 0 AND ck = 0")
	require.ElementsMatch(t, []string{"deleted_v2=true operation=1", "operation=1 ttl=5"}, []string{
		strings.TrimSuffix(strings.Replace(cutRow(split[0]), "end_of_batch=true ", "", 1), " v1=0"),
		strings.TrimSuffix(strings.Replace(cutRow(split[1]), "end_of_batch=true ", "", 1), " v1=0"),
	})
}

// cutRow returns a row without its number and the key.
func cutRow(row string) string { return strings.Replace(row[2:], " ck=0 pk=0", "", 1) }

// TestCDCCollections follows cdc-advanced-types.rst.
func TestCDCCollections(t *testing.T) {
	run := captured(t, 0, `(pk int PRIMARY KEY, m map<int, text>, s set<int>, l list<text>, u ks.pair, f frozen<list<int>>)
		WITH cdc = {'enabled': true}`)
	for _, c := range []struct{ statement, want string }{
		{"UPDATE ks.t SET m = m + {2: 'b', 1: 'a'} WHERE pk = 0", "m=map[1:a 2:b]"},
		{"UPDATE ks.t SET m = m - {1, 3} WHERE pk = 0", "deleted_elements_m=[1 3]"},
		{"UPDATE ks.t SET m = {} WHERE pk = 0", "deleted_m=true"},
		{"UPDATE ks.t SET m = {1: 'c'} WHERE pk = 0", "deleted_m=true m=map[1:c]"},
		{"UPDATE ks.t SET m[4] = 'd' WHERE pk = 0", "m=map[4:d]"},
		{"DELETE m[4] FROM ks.t WHERE pk = 0", "deleted_elements_m=[4]"},
		{"UPDATE ks.t SET s = s + {7, 5} WHERE pk = 0", "s=[5 7]"},
		{"UPDATE ks.t SET u.b = 'x' WHERE pk = 0", "u=map[a:<nil> b:x]"},
		{"DELETE u.a FROM ks.t WHERE pk = 0", "deleted_elements_u=[0]"},
		{"UPDATE ks.t SET f = [1, 2] WHERE pk = 0", "f=[1 2]"},
	} {
		rows := run(c.statement)
		require.Len(t, rows, 1, c.statement)
		row := strings.NewReplacer("0 ", "", "end_of_batch=true ", "", "operation=1 ", "", "pk=0 ", "", " pk=0", "").Replace(rows[0] + " ")
		require.ElementsMatch(t, strings.Fields(c.want), strings.Fields(row), c.statement)
	}
	rows := run("UPDATE ks.t SET l = l + ['x', 'y'] WHERE pk = 0")
	require.Regexp(t, `l=map\[[-0-9a-f]{36}:x [-0-9a-f]{36}:y\]`, rows[0])
	rows = run("DELETE l[0] FROM ks.t WHERE pk = 0")
	require.Regexp(t, `deleted_elements_l=\[[-0-9a-f]{36}\]`, rows[0])
}

// TestCDCImages follows cdc-preimages.rst.
func TestCDCImages(t *testing.T) {
	const table = "(pk int, ck int, v1 int, v2 map<int, int>, PRIMARY KEY (pk, ck)) WITH cdc = {'enabled': true, %s}"
	statements := []string{
		"UPDATE ks.t SET v1 = 0 WHERE pk = 0 AND ck = 0",
		"UPDATE ks.t SET v2 = v2 + {1:1, 2:2} WHERE pk = 0 AND ck = 0",
		"UPDATE ks.t SET v2 = v2 + {2:3, 3:4} WHERE pk = 0 AND ck = 0",
		"DELETE FROM ks.t WHERE pk = 0",
	}
	require.Equal(t, []string{
		"0 end_of_batch=true operation=1 ck=0 pk=0 v1=0",
		"0 deleted_v2=true operation=0 ck=0 pk=0", "1 end_of_batch=true operation=1 ck=0 pk=0 v2=map[1:1 2:2]",
		"0 operation=0 ck=0 pk=0 v2=map[1:1 2:2]", "1 end_of_batch=true operation=1 ck=0 pk=0 v2=map[2:3 3:4]",
		"0 end_of_batch=true operation=4 pk=0",
	}, captured(t, 4, fmt.Sprintf(table, "'preimage': true"))(statements...))
	require.Equal(t, []string{
		"0 operation=1 ck=0 pk=0 v1=0", "1 deleted_v2=true end_of_batch=true operation=9 ck=0 pk=0 v1=0",
		"0 operation=1 ck=0 pk=0 v2=map[1:1 2:2]", "1 end_of_batch=true operation=9 ck=0 pk=0 v1=0 v2=map[1:1 2:2]",
		"0 operation=1 ck=0 pk=0 v2=map[2:3 3:4]", "1 end_of_batch=true operation=9 ck=0 pk=0 v1=0 v2=map[1:1 2:3 3:4]",
		"0 end_of_batch=true operation=4 pk=0",
	}, captured(t, 4, fmt.Sprintf(table, "'postimage': true"))(statements...))
}

// TestCDCExpiry has the deletions of expired rows, as ScyllaDB's test/cqlpy/test_ttl_row.py: of a row, or of the
// partition in a table without clustering columns.
func TestCDCExpiry(t *testing.T) {
	e := time.Now().Add(-time.Minute).Unix()
	insert := fmt.Sprintf("INSERT INTO ks.t (p, k, x, e) VALUES (1, 2, 3, %d)", e)
	written := fmt.Sprintf("e=%d k=2 p=1 x=3", e)
	const columns = "(p int, k int, x int, e bigint TTL, PRIMARY KEY (%s)) WITH cdc = {'enabled': true, 'preimage': true}"
	require.Equal(t, []string{
		"0 end_of_batch=true operation=2 " + written, "0 operation=0 " + written, "1 end_of_batch=true operation=-3 k=2 p=1",
	}, captured(t, 4, fmt.Sprintf(columns, "p, k"))(insert))
	run := captured(t, 0, fmt.Sprintf(columns, "p"))
	require.Equal(t, []string{
		"0 end_of_batch=true operation=2 " + written, "0 operation=0 " + written, "1 end_of_batch=true operation=-4 p=1",
	}, run(insert))
	require.Equal(t, []string{
		"0 end_of_batch=true operation=2 p=2 x=4", "0 deleted_e=true deleted_k=true operation=0 p=2 x=4",
		"1 end_of_batch=true operation=4 p=2",
	}, run("INSERT INTO ks.t (p, x) VALUES (2, 4)", "DELETE FROM ks.t WHERE p = 2"))
}

// TestCDCTable creates, changes and drops a log by its table.
func TestCDCTable(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: 2}})
	exec := func(text string) string {
		if err := cluster.Exec(text); err != nil {
			return err.Error()
		}
		return ""
	}
	require.Empty(t, exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
		CREATE TABLE ks.t (id int PRIMARY KEY, v int) WITH cdc = {'enabled': true, 'ttl': 60}`))
	require.Contains(t, exec("INSERT INTO ks.t_scylla_cdc_log (\"cdc$stream_id\") VALUES (0x01)"), "it is a CDC log")
	require.Contains(t, exec("DROP TABLE ks.t_scylla_cdc_log"), "whose CDC is enabled")
	require.Contains(t, exec("CREATE TABLE ks.c (id int PRIMARY KEY, n counter) WITH cdc = {'enabled': true}"), "Counter support")
	require.Contains(t, exec("CREATE TABLE ks.c (id int PRIMARY KEY) WITH cdc = {'enabled': true, 'ttl': -1}"), "ttl")
	require.Empty(t, exec("ALTER TABLE ks.t ADD w text; INSERT INTO ks.t (id, w) VALUES (1, 'x')"))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	w, err := vecql.OneRow[string](t.Context(), session.Query("SELECT w FROM ks.t_scylla_cdc_log"))
	require.NoError(t, err)
	require.Equal(t, "x", w)
	meta, err := session.TableMetadata(t.Context(), "ks", "t_scylla_cdc_log")
	require.NoError(t, err)
	require.Equal(t, "com.scylladb.dht.CDCPartitioner", meta.Options.Partitioner)
	cluster.StepClock(61e9)
	_, err = vecql.OneRow[string](t.Context(), session.Query("SELECT w FROM ks.t_scylla_cdc_log"))
	require.ErrorIs(t, err, vecql.ErrNotFound)
	require.Contains(t, exec("INSERT INTO ks.t (id, w) VALUES (1, 'x') USING TIMESTAMP 1"), "earlier generation")
	require.Empty(t, exec("ALTER TABLE ks.t WITH cdc = {'enabled': false}; DROP TABLE ks.t_scylla_cdc_log; INSERT INTO ks.t (id) VALUES (1)"))
	require.Empty(t, exec("ALTER TABLE ks.t WITH cdc = {'enabled': true}; DROP TABLE ks.t"))
	require.Contains(t, exec("SELECT * FROM ks.t_scylla_cdc_log"), "does not exist")
}

// TestCDCStreams compares the streams of rows with the tables that describe the streams.
func TestCDCStreams(t *testing.T) {
	for _, tablets := range []int{0, 4} {
		t.Run(fmt.Sprint(tablets), func(t *testing.T) {
			cluster := cqltest.New(t, cqltest.Config{Nodes: 1, Scylla: &cqltest.Scylla{Tablets: tablets}})
			require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1};
				CREATE TABLE ks.t (id int PRIMARY KEY) WITH cdc = {'enabled': true}`))
			session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
			require.NoError(t, err)
			defer session.Close()
			used := map[string]bool{}
			for range 2 {
				for i := range 100 {
					require.NoError(t, session.Query("INSERT INTO ks.t (id) VALUES (?)", i).Exec(t.Context()))
				}
				cluster.NewGeneration(0)
				cluster.SetTablets(8)
			}
			known := map[string]bool{}
			if tablets > 0 {
				for id, err := range vecql.Rows[[]byte](t.Context(), session.Query("SELECT stream_id FROM system.cdc_streams")) {
					require.NoError(t, err)
					known[string(id)] = true
				}
			} else {
				for ids, err := range vecql.Rows[[][]byte](t.Context(), session.Query("SELECT streams FROM system_distributed.cdc_streams_descriptions_v2")) {
					require.NoError(t, err)
					for _, id := range ids {
						known[string(id)] = true
					}
				}
			}
			for id, err := range vecql.Rows[[]byte](t.Context(), session.Query(`SELECT "cdc$stream_id" FROM ks.t_scylla_cdc_log`)) {
				require.NoError(t, err)
				require.True(t, known[string(id)], "%x", id)
				used[string(id)] = true
			}
			require.GreaterOrEqual(t, len(used), 8, "two generations with at least four streams")
		})
	}
}
