// SPDX-License-Identifier: Apache-2.0

package cqltest

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
)

// TestVectorSearch searches by a vector at QUORUM with one node of three: Cassandra reads from one replica.
func TestVectorSearch(t *testing.T) {
	c := New(t, Config{Network: InMemory})
	require.NoError(t, c.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 3};
		CREATE TABLE ks.t (k int PRIMARY KEY, v vector<float, 2>); CREATE CUSTOM INDEX ON ks.t (v) USING 'sai';
		INSERT INTO ks.t (k, v) VALUES (1, [1, 2])`))
	s, err := clusterConfig(c).CreateSession()
	require.NoError(t, err)
	defer s.Close()
	err = s.Query("INSERT INTO ks.t (k, v) VALUES (2, [0, 0])").Consistency(vecql.Quorum).ExecContext(t.Context())
	var failed *vecql.RequestErrWriteFailure
	require.True(t, errors.As(err, &failed), "%v", err)
	require.Equal(t, vecql.Quorum, failed.Consistency)
	require.Len(t, failed.ErrorMap, 1)
	err = s.Query("SELECT k / 0 FROM ks.t").ExecContext(t.Context())
	var function *vecql.RequestErrFunctionFailure
	require.True(t, errors.As(err, &function), "%v", err)
	require.Equal(t, []string{"int", "int"}, function.ArgTypes)

	c.Node(1).Kill()
	c.Node(2).Kill()
	it := s.Query("SELECT k FROM ks.t ORDER BY v ANN OF [1, 1] LIMIT 3").Consistency(vecql.Quorum).IterContext(t.Context())
	var k int
	require.True(t, it.Scan(&k))
	require.Contains(t, it.Warnings()[0], "Downgrading the consistency level to ONE")
	require.NoError(t, it.Close())
	err = s.Query("SELECT k FROM ks.t").Consistency(vecql.Quorum).ExecContext(t.Context())
	require.ErrorIs(t, err, vecql.CodeUnavailable)
}
