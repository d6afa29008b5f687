// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// TestVectorSearch searches by a vector at QUORUM with one node of three: Cassandra reads from one replica.
func TestVectorSearch(t *testing.T) {
	c := New(t, Config{Network: InMemory})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>); CREATE CUSTOM INDEX ON ks.t (v) USING 'sai';
		INSERT INTO ks.t (k, v) VALUES (1, [1, 2])`))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	defer s.Close()
	err = s.Query("INSERT INTO ks.t (k, v) VALUES (2, [0, 0])").Consistency(cql.Quorum).Exec(t.Context())
	var failed *cql.WriteFailureError
	require.True(t, errors.As(err, &failed), "%v", err)
	require.Equal(t, cql.Quorum, failed.Consistency)
	require.Len(t, failed.ReasonMap, 1)
	err = s.Query("SELECT k / 0 FROM ks.t").Exec(t.Context())
	var function *cql.FunctionFailureError
	require.True(t, errors.As(err, &function), "%v", err)
	require.Equal(t, []string{"int", "int"}, function.ArgTypes)

	c.Node(1).Kill()
	c.Node(2).Kill()
	it := s.Query("SELECT k FROM ks.t ORDER BY v ANN OF [1, 1] LIMIT 3").Consistency(cql.Quorum).Iter(t.Context())
	var k int
	require.True(t, it.Scan(&k))
	require.Contains(t, it.Warnings()[0], "Downgrading the consistency level to ONE")
	require.NoError(t, it.Close())
	err = s.Query("SELECT k FROM ks.t").Consistency(cql.Quorum).Exec(t.Context())
	require.ErrorIs(t, err, cql.CodeUnavailable)
}

// TestClassesOfVectors reads the names of the classes of vectors, as Cassandra 5.0.9 sends them: elements have
// FrozenType only if they are declared as frozen. Drivers that parse the names depend on it.
func TestClassesOfVectors(t *testing.T) {
	const p = "org.apache.cassandra.db.marshal."
	set := p + "SetType(" + p + "Int32Type)"
	user := p + "UserType(ks,7574,61:" + p + "Int32Type,73:" + set + ")"
	classes := map[string]string{
		"vector<set<int>, 3>":                set,
		"vector<frozen<set<int>>, 3>":        p + "FrozenType(" + set + ")",
		"vector<list<text>, 3>":              p + "ListType(" + p + "UTF8Type)",
		"vector<map<text, int>, 3>":          p + "MapType(" + p + "UTF8Type," + p + "Int32Type)",
		"vector<vector<float, 2>, 3>":        p + "VectorType(" + p + "FloatType , 2)",
		"vector<tuple<int, set<int>>, 3>":    p + "TupleType(" + p + "Int32Type," + set + ")",
		"vector<ks.ut, 3>":                   user,
		"vector<frozen<ks.ut>, 3>":           p + "FrozenType(" + user + ")",
		"vector<timestamp, 3>":               p + "TimestampType",
		"vector<vector<set<int>, 2>, 3>":     p + "VectorType(" + set + " , 2)",
		"vector<map<int, frozen<ks.ut>>, 3>": p + "MapType(" + p + "Int32Type," + p + "FrozenType(" + user + "))",
	}
	c := New(t, Config{Nodes: 1, Network: InMemory})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TYPE ks.ut (a int, s set<int>)`))
	for _, version := range []byte{4, 5} {
		tc := connect(t, c, c.Node(0), version)
		for typ, class := range classes {
			require.NoError(t, c.Exec("CREATE TABLE ks.t (k int PRIMARY KEY, v "+typ+")"))
			body := tc.query("SELECT v FROM ks.t").body
			want := appendString([]byte{0, 0}, p+"VectorType("+class+" , 3)")
			require.True(t, bytes.Contains(body, want), "%s: %q", typ, body)
			require.NoError(t, c.Exec("DROP TABLE ks.t"))
		}
	}
}
