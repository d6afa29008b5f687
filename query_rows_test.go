// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

const insertItem = "INSERT INTO shop.items (id, name, embedding) VALUES (?, ?, ?)"

func itemsBatch(rows int) *column.Batch {
	ids, names, vectors, null := make([]int64, rows), make([]string, rows), make([]float32, 2*rows), make([]bool, rows)
	for i := range rows {
		ids[i], names[i], vectors[2*i], vectors[2*i+1], null[i] = int64(i), fmt.Sprint("item ", i), float32(i), .5, i%3 == 1
	}
	return column.NewBatch(column.Strings("name", names).WithNulls(null), column.Of("id", ids), column.Matrix("embedding", vectors, 2))
}

// sorted returns the rows of shop.items ordered by id.
func readItems(t *testing.T, session *vecql.Session) *column.Batch {
	t.Helper()
	var parts []*column.Batch
	for b, err := range session.Query("SELECT name, id, embedding FROM shop.items").PageSize(7).Batches(t.Context()) {
		require.NoError(t, err)
		for i := range b.Rows {
			parts = append(parts, b.Slice(i, i+1))
		}
	}
	ordered := make([]*column.Batch, len(parts))
	for _, p := range parts {
		ordered[p.Column("id").Value(0).(int64)] = p
	}
	all, err := column.Concat(ordered...)
	require.NoError(t, err)
	return all
}

// TestPrepareRows writes batches, row by row and whole, and reads them back.
func TestPrepareRows(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	b := itemsBatch(300)
	insert, err := session.Query(insertItem).PrepareRows(ctx, b.Schema())
	require.NoError(t, err)
	for i := range 100 {
		require.NoError(t, insert.ExecRow(ctx, b, i))
	}
	require.NoError(t, insert.Exec(ctx, b.Slice(100, 300)))
	require.Empty(t, column.Diff(readItems(t, session), b))
	name, err := session.Query("SELECT name FROM shop.items WHERE id = ?").PrepareRows(ctx, column.NewBatch(b.Columns[1]).Schema())
	require.NoError(t, err)
	for i, want := range []any{"item 0", nil, "item 2"} {
		got, err := vecql.OneRow[map[string]any](ctx, name.Query(column.NewBatch(b.Columns[1]), i))
		require.NoError(t, err)
		require.Equal(t, want, got["name"])
	}
}

// TestRowsNullsUnset writes NULLs over values, which are deleted, or kept with NullsUnset.
func TestRowsNullsUnset(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	b := itemsBatch(2).Slice(1, 2)
	write := map[string]func(q *vecql.Query) error{
		"ExecRows": func(q *vecql.Query) error { return q.ExecRows(ctx, b) },
		"ExecRow": func(q *vecql.Query) error {
			insert, err := q.PrepareRows(ctx, b.Schema())
			require.NoError(t, err)
			return insert.ExecRow(ctx, b, 0)
		},
	}
	for verb, f := range write {
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (1, 'kept')").Exec(t.Context()))
		require.NoError(t, f(session.Query(insertItem).NullsUnset(true)), verb)
		got, err := vecql.OneRow[cql.Null[string]](ctx, session.Query("SELECT name FROM shop.items WHERE id = 1"))
		require.NoError(t, err)
		require.Equal(t, cql.NullOf("kept"), got, verb)
		require.NoError(t, f(session.Query(insertItem)), verb)
		got, err = vecql.OneRow[cql.Null[string]](ctx, session.Query("SELECT name FROM shop.items WHERE id = 1"))
		require.NoError(t, err)
		require.False(t, got.Valid, verb)
	}
}

func TestPrepareRowsErrors(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	b := itemsBatch(3)
	_, err := session.Query(insertItem).PrepareRows(ctx, column.NewBatch(b.Columns[0]).Schema())
	require.ErrorIs(t, err, cql.ErrConversion)
	require.ErrorContains(t, err, `"id"`)
	_, err = session.Query(insertItem).PrepareRows(ctx, column.NewBatch(b.Columns[0], column.Of("id", []float64{1, 2, 3}), b.Columns[2]).Schema())
	require.ErrorContains(t, err, `vecql: marshal column "id": column of float64 into bigint`)
	insert, err := session.Query(insertItem).PrepareRows(ctx, b.Schema())
	require.NoError(t, err)
	for row, batch := range map[int]*column.Batch{3: b, -1: b, 0: nil} {
		err := insert.ExecRow(ctx, batch, row)
		var missing *vecql.RowError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, row, missing.Row)
		require.False(t, vecql.MayHaveApplied(err))
	}
	other := column.NewBatch(b.Columns[1], b.Columns[0], b.Columns[2])
	require.ErrorIs(t, insert.ExecRow(ctx, other, 0), cql.ErrConversion)
	wide := column.NewBatch(b.Columns[0], b.Columns[1], column.Matrix("embedding", make([]float32, 9), 3))
	err = insert.Exec(ctx, wide)
	var row *vecql.RowError
	require.ErrorAs(t, err, &row)
	require.ErrorIs(t, err, cql.ErrDimension)
	require.False(t, vecql.MayHaveApplied(err))
}

// TestPrepareRowsExecFails: the server refuses one row of many. Exec returns an error with its number.
func TestPrepareRowsExecFails(t *testing.T) {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id bigint PRIMARY KEY, name text, embedding vector<float, 2>)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	defer session.Close()
	b := itemsBatch(500)
	insert, err := session.Query(insertItem).PrepareRows(t.Context(), b.Schema())
	require.NoError(t, err)
	cluster.Inject(cqltest.Fault{Op: cqltest.OpExecute, Times: 1, Error: &cqltest.Error{Code: cqltest.CodeInvalid, Message: "no"}})
	err = insert.Exec(t.Context(), b)
	var row *vecql.RowError
	require.ErrorAs(t, err, &row)
	require.ErrorIs(t, err, cql.CodeInvalid)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.True(t, errors.Is(insert.Exec(ctx, b), context.Canceled))
}
