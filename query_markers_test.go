// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
)

// Bind markers that use one field or column twice.

func TestPrepareTwoMarkersOfOneField(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (1, 'lamp')").Exec(ctx))
	type rename struct {
		ID    int64
		Title string `cql:"name"`
	}
	const unnamed = "UPDATE shop.items SET name = ? WHERE id = ? IF name = ?"
	_, err := vecql.Prepare[rename](ctx, session.Query(unnamed))
	require.ErrorIs(t, err, vecql.ErrValueCount)
	for _, want := range []string{"field Title of vecql_test.rename", ":old", ":new"} {
		require.ErrorContains(t, err, want)
	}
	batch := column.NewBatch(column.Of("id", []int64{1}), column.Strings("name", []string{"lamp"}))
	_, err = session.Query(unnamed).PrepareRows(ctx, batch.Schema())
	require.ErrorIs(t, err, vecql.ErrValueCount)
	require.ErrorContains(t, err, `column "name" of the batch`)

	type change struct {
		ID       int64
		Old, New string
	}
	update, err := vecql.Prepare[change](ctx, session.Query("UPDATE shop.items SET name = :new WHERE id = :id IF name = :old"))
	require.NoError(t, err)
	applied, err := update.Query(&change{1, "lamp", "lantern"}).ScanCAS(ctx, new(string))
	require.NoError(t, err)
	require.True(t, applied)

	const twice = "UPDATE shop.items SET name = :name WHERE id = :id IF name = :name"
	same, err := vecql.Prepare[rename](ctx, session.Query(twice))
	require.NoError(t, err, "two markers of one name take one field")
	applied, err = same.Query(&rename{1, "lantern"}).ScanCAS(ctx, new(string))
	require.NoError(t, err)
	require.True(t, applied)
	_, err = session.Query(twice).PrepareRows(ctx, batch.Schema())
	require.NoError(t, err)
}
