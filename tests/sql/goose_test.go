// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"testing"
	"testing/fstest"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/sqlvecql"
)

// migrations are three migrations, whose statements end in semicolons or are marked.
var migrations = fstest.MapFS{
	"1_items.sql": {Data: []byte(`-- +goose Up
CREATE TABLE IF NOT EXISTS items (id int PRIMARY KEY, name text, embedding vector<float, 3>);
CREATE CUSTOM INDEX IF NOT EXISTS items_embedding ON items (embedding) USING 'StorageAttachedIndex';
-- +goose Down
DROP TABLE IF EXISTS items;
`)},
	"2_tags.sql": {Data: []byte(`-- +goose Up
ALTER TABLE items ADD IF NOT EXISTS tags set<text>;
-- +goose Down
ALTER TABLE items DROP IF EXISTS tags;
`)},
	"3_first.sql": {Data: []byte(`-- +goose Up
-- +goose StatementBegin
BEGIN BATCH
	INSERT INTO items (id, name, tags) VALUES (1, 'lamp; of brass', {'new'});
	INSERT INTO items (id, name, embedding) VALUES (2, 'vase', [1, 2, 3]);
APPLY BATCH;
-- +goose StatementEnd
-- +goose Down
DELETE FROM items WHERE id IN (1, 2);
`)},
}

func TestGoose(t *testing.T) {
	requireVectors(t)
	db, keyspace := open(t)
	ctx := t.Context()
	provider, err := goose.NewProvider(goose.DialectCustom, db, migrations,
		goose.WithStore(Store{keyspace, "goose_versions"}), goose.WithIsolateDDL(true))
	require.NoError(t, err)
	results, err := provider.Up(ctx)
	require.NoError(t, err)
	require.Len(t, results, 3)
	version, err := provider.GetDBVersion(ctx)
	require.NoError(t, err)
	require.EqualValues(t, 3, version)
	var name string
	var tags []string
	require.NoError(t, db.QueryRow("SELECT name, tags FROM items WHERE id = 1").Scan(&name, &tags))
	require.Equal(t, "lamp; of brass", name)
	require.Equal(t, []string{"new"}, tags)
	results, err = provider.Up(ctx)
	require.NoError(t, err)
	require.Empty(t, results, "nothing is pending")

	_, err = provider.DownTo(ctx, 1)
	require.NoError(t, err)
	_, err = db.Exec("SELECT tags FROM items")
	require.Error(t, err, "the column is gone")
	status, err := provider.Status(ctx)
	require.NoError(t, err)
	states := []goose.State{}
	for _, s := range status {
		states = append(states, s.State)
	}
	require.Equal(t, []goose.State{goose.StateApplied, goose.StatePending, goose.StatePending}, states)
	_, err = provider.UpByOne(ctx)
	require.NoError(t, err)
	_, err = provider.DownTo(ctx, 0)
	require.NoError(t, err)
	_, err = db.Exec("SELECT id FROM items")
	require.Error(t, err, "the table is gone")
}

// Without WithIsolateDDL a migration fails with an error that names the reason.
func TestGooseInATransaction(t *testing.T) {
	db, keyspace := open(t)
	ctx, s := t.Context(), Store{keyspace, "goose_versions"}
	require.NoError(t, s.CreateVersionTable(ctx, db))
	require.NoError(t, s.Insert(ctx, db, insert(0)))
	provider, err := goose.NewProvider(goose.DialectCustom, db, migrations, goose.WithStore(s))
	require.NoError(t, err)
	_, err = provider.Up(ctx)
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
}

// Versions that another program has inserted are an error.
func TestStore(t *testing.T) {
	db, keyspace := open(t)
	ctx, s := t.Context(), Store{keyspace, "goose_versions"}
	exists, err := s.TableExists(ctx, db)
	require.NoError(t, err)
	require.False(t, exists)
	require.NoError(t, s.CreateVersionTable(ctx, db))
	exists, err = s.TableExists(ctx, db)
	require.NoError(t, err)
	require.True(t, exists)
	_, err = s.GetLatestVersion(ctx, db)
	require.ErrorContains(t, err, "not found")
	require.NoError(t, s.Insert(ctx, db, insert(7)))
	require.ErrorContains(t, s.Insert(ctx, db, insert(7)), "version 7 is in "+s.Tablename()+" already")
	found, err := s.GetMigration(ctx, db, 7)
	require.NoError(t, err)
	require.False(t, found.Timestamp.IsZero())
	_, err = s.GetMigration(ctx, db, 8)
	require.ErrorContains(t, err, "not found")
}
