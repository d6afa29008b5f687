// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"context"
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/sqlvecql"
)

// README.md has this function.
func nearest(ctx context.Context, uri string, question []float32) (names []string, err error) {
	db, err := sql.Open("vecql", uri) // cassandra://host1,host2/shop?consistency=one
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SELECT name, embedding, tags FROM items ORDER BY embedding ANN OF ? LIMIT 10", question)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var name string
		var embedding []float32
		var tags map[string]struct{} // a set
		if err := rows.Scan(&name, &embedding, sqlvecql.Scan(&tags)); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

func TestReadme(t *testing.T) {
	cluster, db := start(t, items+"CREATE CUSTOM INDEX e ON shop.items (embedding) USING 'StorageAttachedIndex'")
	exec(t, db, "INSERT INTO items (id, name, embedding, tags) VALUES (?, ?, ?, ?)", 1, "lamp", []float32{1, 0, 0}, []string{"new"})
	exec(t, db, "INSERT INTO items (id, name, embedding) VALUES (?, ?, ?)", 2, "vase", []float32{0, 1, 0})
	names, err := nearest(t.Context(), uriOf(cluster, "?consistency=one"), []float32{0, 1, 0.5})
	require.NoError(t, err)
	require.Equal(t, []string{"vase", "lamp"}, names)
	rows, err := db.Query("SELECT name FROM items WHERE id IN ?", []int{1, 2})
	require.NoError(t, err)
	n := 0
	for rows.Next() {
		n++
	}
	require.NoError(t, rows.Err())
	require.Equal(t, 2, n)
}
