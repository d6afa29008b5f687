// SPDX-License-Identifier: Apache-2.0

package tablescan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cqltest"
	"github.com/vecql/vecql/tablescan"
)

// TestCellsAreThoseOfNextRaw reads and writes rows as cells: an empty number, a NULL, an address in other bytes.
func TestCellsAreThoseOfNextRaw(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, cluster.Exec(`
		CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE ks.a (id int PRIMARY KEY, n int, i inet, l list<int>); CREATE TABLE ks.b (id int PRIMARY KEY, n int, i inet, l list<int>);
		INSERT INTO ks.a (id, n) VALUES (1, blobAsInt(0x)); INSERT INTO ks.a (id, l) VALUES (2, [1]);
		INSERT INTO ks.a (id, i) VALUES (3, blobAsInet(0x00000000000000000000ffffc0000207))`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	scan, err := tablescan.New(t.Context(), session, "SELECT id, n, i, l FROM ks.a", tablescan.Config{Cells: true, Workers: 1})
	require.NoError(t, err)
	checkpoint := scan.Checkpoint()
	rows := 0
	require.NoError(t, scan.Run(t.Context(), func(_ int, b *column.Batch) error {
		rows += b.Rows
		require.True(t, b.Source.Host.IsValid(), "the node that responded")
		for i := range b.Columns {
			require.Equal(t, column.Binary, b.Columns[i].Type.Kind)
		}
		q := session.Query("INSERT INTO ks.b (id, n, i, l) VALUES (?, ?, ?, ?)")
		return q.ExecRows(t.Context(), b.Clone())
	}))
	require.Equal(t, 3, rows)
	read := func(table string) (all [][]byte) {
		it := session.Query("SELECT id, n, i, l FROM " + table).Iter(t.Context())
		cells := make([][]byte, 4)
		for it.NextRaw(cells) {
			for _, c := range cells {
				if c != nil {
					c = append([]byte{}, c...)
				}
				all = append(all, c)
			}
		}
		require.NoError(t, it.Close())
		return all
	}
	again, err := tablescan.New(t.Context(), session, "SELECT id, n, i, l FROM ks.a", tablescan.Config{Cells: true, Checkpoint: &checkpoint})
	require.NoError(t, err)
	for b, err := range again.Batches(t.Context()) {
		require.NoError(t, err)
		rows -= b.Rows
		for i := range b.Columns {
			require.Equal(t, column.Binary, b.Columns[i].Type.Kind, "also in a loop")
		}
	}
	require.Zero(t, rows)
	require.Len(t, read("ks.a"), 12)
	require.Equal(t, read("ks.a"), read("ks.b"))
}
