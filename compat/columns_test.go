// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cqltest"
)

// Tables that are altered while a result is read.

// pages returns the rows of a table with the columns p, c and a, a page each. After the first row the table is altered.
func pages(t *testing.T, alter string) *Rows {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1, KeepPrepared: true})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE ks.t (p int, c int, a int, PRIMARY KEY (p, c))`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	for c := range 3 {
		require.NoError(t, query(t, session, V1, `INSERT INTO ks.t (p, c, a) VALUES (1, ?, 7)`, c).Close())
	}
	rows := newRows(session.Query(`SELECT * FROM ks.t WHERE p = ?`, 1).PageSize(1).Prefetch(0).Iter(t.Context()), V1)
	m := map[string]any{}
	require.True(t, rows.MapScan(m))
	require.Equal(t, map[string]any{"p": 1, "c": 0, "a": 7}, m)
	require.NoError(t, cluster.Exec(alter))
	return rows
}

// TestRowsOfALaterPageHaveItsColumns, as many as before.
func TestRowsOfALaterPageHaveItsColumns(t *testing.T) {
	rows := pages(t, `ALTER TABLE ks.t DROP a; ALTER TABLE ks.t ADD b text`)
	m := map[string]any{}
	require.True(t, rows.MapScan(m), "%v", rows.err)
	require.Equal(t, map[string]any{"p": 1, "c": 1, "b": ""}, m)
	var p, c int
	b := "old"
	require.True(t, rows.Scan(&p, &c, &b))
	require.Equal(t, 2, c)
	require.Empty(t, b)
	require.NoError(t, rows.Close())
}

func TestAnotherNumberOfColumnsIsAnError(t *testing.T) {
	rows := pages(t, `ALTER TABLE ks.t ADD b text`)
	require.False(t, rows.MapScan(map[string]any{}))
	require.ErrorContains(t, rows.Close(), "the number of columns has changed: 3, then 4")
}
