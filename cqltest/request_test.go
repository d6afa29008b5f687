// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"crypto/md5"
	"testing"

	"github.com/stretchr/testify/require"
)

// Answers that depend on the message, as Cassandra 5.0.9's do.

// errorText returns the message of an ERROR.
func (m message) errorText(t testing.TB) string {
	t.Helper()
	require.Equal(t, OpError, m.op, "%q", m.body)
	r := reader{b: m.body}
	r.int()
	return r.string()
}

func TestMarkersWithoutValues(t *testing.T) {
	c := New(t, Config{Nodes: 1, Network: InMemory})
	tc := connect(t, c, c.Node(0), 5)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	tc.query("CREATE TABLE ks.t (k int PRIMARY KEY)")
	const text = "SELECT k FROM ks.t WHERE k = ?"
	one := "\x00\x00\x00\x01"
	require.Equal(t, "Invalid amount of bind variables", tc.query(text, one, one).errorText(t))
	id, resultID := tc.prepare(text, true)
	execute := func(values ...string) message {
		return tc.call(OpExecute, 0, tc.executeBody(id, resultID, 0, values...))
	}
	require.Equal(t, "there were 1 markers(?) in CQL but 2 bound variables", execute(one, one).errorText(t))
	require.Equal(t, "there were 1 markers(?) in CQL but 0 bound variables", execute().errorText(t))
	id, _ = tc.prepare("INSERT INTO ks.t (k) VALUES (?)", true)
	body := appendShort(append(appendShortBytes([]byte{0, 0, 1, 1}, id), 0, 0), int(clOne))
	require.Equal(t, "There were 1 markers(?) in CQL but 0 bound variables",
		tc.call(OpBatch, 0, appendInt(body, 0)).errorText(t))
}

// TestSerialConsistency sends a level that is not serial: only conditional statements read it.
func TestSerialConsistency(t *testing.T) {
	c := New(t, Config{Nodes: 1, Network: InMemory})
	tc := connect(t, c, c.Node(0), 5)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	tc.query("CREATE TABLE ks.t (k int PRIMARY KEY)")
	query := func(text string) message {
		body := tc.appendParams(append(appendInt(nil, int32(len(text))), text...), clOne, paramSerial)
		return tc.call(OpQuery, 0, appendShort(body, int(clQuorum)))
	}
	require.Equal(t, OpResult, query("INSERT INTO ks.t (k) VALUES (1)").op)
	require.Equal(t, OpResult, query("SELECT k FROM ks.t").op)
	require.Equal(t, "Invalid consistency for conditional update. Must be one of SERIAL or LOCAL_SERIAL",
		query("INSERT INTO ks.t (k) VALUES (1) IF NOT EXISTS").errorText(t))
}

// TestPreparedSchemaStatement prepares statements that are not about rows: they keep the keyspace of the connection.
func TestPreparedSchemaStatement(t *testing.T) {
	c := New(t, Config{Nodes: 1, Network: InMemory})
	tc := connect(t, c, c.Node(0), 4)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	tc.query("USE ks")
	for _, text := range []string{"CREATE TABLE t (k int PRIMARY KEY)", "CREATE TABLE ks.t2 (k int PRIMARY KEY)", "DROP TABLE t"} {
		id, _ := tc.prepare(text, false)
		sum := md5.Sum([]byte("ks" + text))
		require.Equal(t, sum[:], id, text)
		require.Equal(t, OpResult, tc.call(OpExecute, 0, tc.executeBody(id, nil, 0)).op, text)
	}
	id, _ := tc.prepare("TRUNCATE ks.t2", false)
	sum := md5.Sum([]byte("TRUNCATE ks.t2"))
	require.Equal(t, sum[:], id)
}

// TestWarningsOfErrors sends statements whose errors have warnings.
func TestWarningsOfErrors(t *testing.T) {
	c := New(t, Config{Nodes: 1, Network: InMemory})
	tc := connect(t, c, c.Node(0), 5)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	tc.query("CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>, w vector<double, 2>)")
	tc.query("CREATE CUSTOM INDEX ON ks.t (v) USING 'sai'")
	for text, want := range map[string]string{
		"CREATE CUSTOM INDEX ON ks.t (w) USING 'sai'":              "SAI ANN indexes on vector columns are experimental",
		"SELECT k FROM ks.t ORDER BY v ANN OF [1, 0.1] LIMIT 1001": "Top-K queries do not support paging",
		"SELECT k FROM ks.t ORDER BY v ANN OF [0, 0] LIMIT 2":      "Top-K queries do not support paging",
	} {
		body := tc.appendParams(append(appendInt(nil, int32(len(text))), text...), clOne, paramPageSize)
		m := tc.call(OpQuery, 0, appendInt(body, 1))
		r := reader{b: m.body}
		var warnings []string
		if m.flags&flagWarning != 0 {
			warnings = r.stringList()
		}
		require.Equal(t, OpError, m.op, text)
		require.Len(t, warnings, 1, text)
		require.Contains(t, warnings[0], want)
	}
}

// TestFailedBatch writes a vector that an index refuses: the error has the kind of the write.
func TestFailedBatch(t *testing.T) {
	c := New(t, Config{Nodes: 1, Network: InMemory})
	tc := connect(t, c, c.Node(0), 4)
	tc.query("CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	tc.query("CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>)")
	tc.query("CREATE CUSTOM INDEX ON ks.t (v) USING 'sai'")
	const zero, other = "INSERT INTO ks.t (k, v) VALUES (1, [0, 0]) ", "INSERT INTO ks.t (k) VALUES (2) "
	for text, want := range map[string]string{
		zero: "SIMPLE", "BEGIN BATCH " + zero + "APPLY BATCH": "SIMPLE", "BEGIN BATCH " + zero + other + "APPLY BATCH": "BATCH",
		"BEGIN UNLOGGED BATCH " + zero + other + "APPLY BATCH": "UNLOGGED_BATCH",
	} {
		m := tc.query(text)
		require.EqualValues(t, CodeWriteFailure, m.errorCode(t), text)
		require.True(t, bytes.HasSuffix(m.body, appendString(nil, want)), "%s: %q", text, m.body)
	}
}

// TestCommitConsistency executes conditional statements at a level that too few replicas are alive for: Cassandra needs
// them only for what a statement writes.
func TestCommitConsistency(t *testing.T) {
	c := New(t, Config{Network: InMemory})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE ks.t (k int PRIMARY KEY); INSERT INTO ks.t (k) VALUES (1)`))
	tc := connect(t, c, c.Node(0), 5)
	c.Node(2).Kill()
	for text, code := range map[string]int32{
		"INSERT INTO ks.t (k) VALUES (1) IF NOT EXISTS":                         0,
		"INSERT INTO ks.t (k) VALUES (2) IF NOT EXISTS":                         CodeUnavailable,
		"BEGIN BATCH INSERT INTO ks.t (k) VALUES (2) IF NOT EXISTS APPLY BATCH": CodeUnavailable,
		"INSERT INTO ks.t (k) VALUES (1)":                                       CodeUnavailable,
	} {
		m := tc.call(OpQuery, 0, tc.appendParams(append(appendInt(nil, int32(len(text))), text...), clAll, 0))
		if code == 0 {
			require.Equal(t, OpResult, m.op, "%s: %q", text, m.body)
			continue
		}
		require.Equal(t, code, m.errorCode(t), text)
	}
}
