// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// startSearch starts a cluster with a table of vectors, and connects a session to it.
func startSearch(t *testing.T, cfg Config) (*Cluster, *vecql.Session) {
	t.Helper()
	cfg.Network = InMemory
	c := New(t, cfg)
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 3};
		CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>); CREATE CUSTOM INDEX i ON ks.t (v) USING 'sai';
		INSERT INTO ks.t (k, v) VALUES (1, [1, 2])`))
	s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return c, s
}

func nearestOf(s *vecql.Session) *vecql.Query {
	return s.Query("SELECT k FROM ks.t ORDER BY v ANN OF [1, 1] LIMIT 3").Idempotent(false)
}

// TestVectorStoreOfACluster steps the clock of a cluster through the states of a new index.
func TestVectorStoreOfACluster(t *testing.T) {
	c, s := startSearch(t, Config{Scylla: &Scylla{VectorStore: &VectorStore{Discovery: time.Hour, Build: time.Hour, Lag: time.Hour}}})
	for _, want := range []string{"404 Not Found", "INDEX_BUILDING", ""} {
		err := nearestOf(s).Exec(t.Context())
		if want != "" {
			require.ErrorIs(t, err, cql.CodeInvalid)
			require.ErrorContains(t, err, "Vector Store error: HTTP status ")
			require.ErrorContains(t, err, want)
		} else {
			require.NoError(t, err)
		}
		c.StepClock(time.Hour)
	}
}

// TestVectorStoreOfAnotherClock takes the time from Config.Now.
func TestVectorStoreOfAnotherClock(t *testing.T) {
	at := time.Now()
	c, s := startSearch(t, Config{Now: func() time.Time { return at }, Scylla: &Scylla{VectorStore: &VectorStore{Build: time.Hour}}})
	require.ErrorContains(t, nearestOf(s).Exec(t.Context()), "progress: 0.000%")
	c.StepClock(15 * time.Minute)
	require.ErrorContains(t, nearestOf(s).Exec(t.Context()), "progress: 25.000%")
}

// TestTransientVectorStore injects an error that a search meets once.
func TestTransientVectorStore(t *testing.T) {
	c, s := startSearch(t, Config{Scylla: &Scylla{VectorStore: &VectorStore{}}})
	c.Inject(Fault{Statement: "SELECT k FROM ks.t", Times: 1, Error: &Error{
		Code: CodeInvalid, Message: "Vector Store error: HTTP status 500 Internal Server Error, message: Index ks.i is not serving, but full scan did finish.",
	}})
	require.ErrorContains(t, nearestOf(s).Exec(t.Context()), "full scan did finish")
	require.NoError(t, nearestOf(s).Exec(t.Context()))
}

// TestScyllaSearchHasTheLevelOfTheUser searches with one node of three: ScyllaDB reads the rows at the user's level.
func TestScyllaSearchHasTheLevelOfTheUser(t *testing.T) {
	c, s := startSearch(t, Config{Scylla: &Scylla{VectorStore: &VectorStore{}}})
	c.Node(1).Kill()
	c.Node(2).Kill()
	require.ErrorIs(t, nearestOf(s).Consistency(cql.Quorum).Exec(t.Context()), cql.CodeUnavailable)
	it := nearestOf(s).Consistency(cql.One).Iter(t.Context())
	require.Empty(t, it.Warnings())
	require.NoError(t, it.Close())
}

// TestIndexNotAvailable searches an index of Cassandra that is built: the failure has the reason of the replica.
func TestIndexNotAvailable(t *testing.T) {
	c, s := startSearch(t, Config{SAI: SAI{Build: time.Hour}})
	err := nearestOf(s).Consistency(cql.One).Exec(t.Context())
	var failed *cql.ReadFailureError
	require.True(t, errors.As(err, &failed), "%v", err)
	require.ErrorContains(t, err, "Operation failed - received 0 responses and 1 failures: INDEX_NOT_AVAILABLE from /")
	require.Len(t, failed.ReasonMap, 1)
	for _, reason := range failed.ReasonMap {
		require.EqualValues(t, 6, reason)
	}
	c.StepClock(time.Hour)
	require.NoError(t, nearestOf(s).Consistency(cql.One).Exec(t.Context()))
}

func TestReleaseOfScylla(t *testing.T) {
	for version, want := range map[string]string{
		"": "2026.2.5-0.20260901.6f3b9d1a2c4e", "2025.4.1": "2025.4.1-0.20260901.6f3b9d1a2c4e", "2026.3.0-rc2": "2026.3.0-rc2",
	} {
		c := New(t, Config{Network: InMemory, Scylla: &Scylla{Version: version}})
		s, err := vecql.NewSession(t.Context(), *clusterConfig(c))
		require.NoError(t, err)
		defer s.Close()
		var got, mode, id, release string
		require.NoError(t, s.Query("SELECT version, build_mode, build_id FROM system.versions WHERE key = 'local'").Scan(t.Context(), &got, &mode, &id))
		require.Equal(t, want, got)
		require.Equal(t, "release", mode)
		require.Len(t, id, 40)
		require.NoError(t, s.Query("SELECT release_version FROM system.local").Scan(t.Context(), &release))
		require.Equal(t, "3.0.8", release)
	}
	c := New(t, Config{Network: InMemory})
	require.ErrorContains(t, c.Exec("SELECT version FROM system.versions"), "table versions does not exist")
}

func TestSearchConfig(t *testing.T) {
	for field, cfg := range map[string]Config{
		"VectorStore.Bootstrap": {Scylla: &Scylla{VectorStore: &VectorStore{Bootstrap: -1}}},
		"VectorStore.Discovery": {Scylla: &Scylla{VectorStore: &VectorStore{Discovery: -1}}},
		"VectorStore.Build":     {Scylla: &Scylla{VectorStore: &VectorStore{Build: -1}}},
		"VectorStore.Settle":    {Scylla: &Scylla{VectorStore: &VectorStore{Settle: -1}}},
		"VectorStore.Lag":       {Scylla: &Scylla{VectorStore: &VectorStore{Lag: -1}}},
		"VectorStore.Recall":    {Scylla: &Scylla{VectorStore: &VectorStore{Recall: 1.5}}},
		"SAI.Build":             {SAI: SAI{Build: -1}},
	} {
		_, err := Start(cfg)
		require.ErrorContains(t, err, "cqltest: Config: "+field+" is ")
	}
	store := &VectorStore{}
	c := New(t, Config{Network: InMemory, Scylla: &Scylla{VectorStore: store}})
	require.Zero(t, *store, "the configuration itself is not changed")
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1};
		CREATE TABLE ks.t (k int PRIMARY KEY)`))
	_, tablets := c.Tablet("ks", "t", 0)
	require.True(t, tablets, "a vector store needs tablets")
	disabled := New(t, Config{Network: InMemory, Scylla: &Scylla{Tablets: 4}})
	require.ErrorContains(t, disabled.Exec(strings.Join([]string{
		"CREATE KEYSPACE ks WITH replication = {'class': 'NetworkTopologyStrategy', 'replication_factor': 1}",
		"CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>)", "CREATE CUSTOM INDEX ON ks.t (v) USING 'vector_index'",
		"SELECT k FROM ks.t ORDER BY v ANN OF [1, 2] LIMIT 1",
	}, ";")), "Vector Store is disabled")
}
