// SPDX-License-Identifier: Apache-2.0

package vecql_test

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

type base struct{ ID int64 }

type item struct {
	base
	Name      *string
	Embedding []float32 `cql:"embedding"`
	Order     int       // a reserved word
	Odd       string    `cql:"Odd name"`
	Skipped   int       `cql:"-"`
	hidden    int
}

// itemsSession returns a session of a cluster with an empty table shop.items.
func itemsSession(t *testing.T) *vecql.Session {
	t.Helper()
	cluster := cqltest.New(t, cqltest.Config{})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE shop WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1};
		CREATE TABLE shop.items (id bigint PRIMARY KEY, name text, embedding vector<float, 2>, "order" int, "Odd name" text)`))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

func TestStatementText(t *testing.T) {
	require.Equal(t, `INSERT INTO shop.items (id, name, embedding, "order", "Odd name") VALUES (?, ?, ?, ?, ?)`, vecql.InsertInto[item]("shop.items"))
	require.Equal(t, `UPDATE shop.items SET name = ?, embedding = ?, "order" = ?, "Odd name" = ? WHERE id = ?`, vecql.UpdateWhere[item]("shop.items", "id"))
	require.Equal(t, `SELECT id, name, embedding, "order", "Odd name" FROM shop.items`, vecql.SelectFrom[item]("shop.items"))
	require.Panics(t, func() { vecql.InsertInto[int]("t") })
	require.Panics(t, func() { vecql.InsertInto[struct{ hidden int }]("t") })
	require.Panics(t, func() { vecql.UpdateWhere[item]("t", "none") })
	require.Panics(t, func() { vecql.UpdateWhere[base]("t", "id") })
	require.Panics(t, func() { vecql.UpdateWhere[item]("t") })
	require.Equal(t, `DELETE FROM shop.items WHERE id = ? AND "order" = ?`, vecql.DeleteWhere[item]("shop.items", "id", "order"))
	require.Panics(t, func() { vecql.DeleteWhere[item]("t") })
	require.Panics(t, func() { vecql.DeleteWhere[item]("t", "id", "none") })
}

// TestStructRoundTrip writes and reads a struct with statements made from its fields.
func TestStructRoundTrip(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	insert, err := vecql.Prepare[item](ctx, session.Query(vecql.InsertInto[item]("shop.items")))
	require.NoError(t, err)
	update, err := vecql.Prepare[item](ctx, session.Query(vecql.UpdateWhere[item]("shop.items", "id")))
	require.NoError(t, err)
	name := "lamp"
	want := item{base: base{ID: 1}, Name: &name, Embedding: []float32{1, 2}, Order: 3, Odd: "x"}
	require.NoError(t, insert.Exec(ctx, &want))
	want.Order = 4
	require.NoError(t, update.Exec(ctx, &want))
	got, err := vecql.OneRow[item](ctx, session.Query(vecql.SelectFrom[item]("shop.items")+" WHERE id = ?", 1))
	require.NoError(t, err)
	require.Equal(t, want, got)
}

// TestAllRows reads all pages, one page by its token, and no row after an error.
func TestAllRows(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	q := func() *vecql.Query { return session.Query("SELECT id FROM shop.items").PageSize(10) }
	ids, err := vecql.AllRows[int64](ctx, q())
	require.NoError(t, err)
	require.Nil(t, ids)
	for i := range 25 {
		require.NoError(t, session.Query("INSERT INTO shop.items (id) VALUES (?)", i).Exec(ctx))
	}
	ids, err = vecql.AllRows[int64](ctx, q())
	require.NoError(t, err)
	slices.Sort(ids)
	require.Len(t, ids, 25)
	require.Equal(t, []int64{0, 24}, []int64{ids[0], ids[24]})
	ids, err = vecql.AllRows[int64](ctx, q().PageState(cql.PageToken{}))
	require.NoError(t, err)
	require.Len(t, ids, 10)
	rows, err := vecql.AllRows[struct{ Other int }](ctx, q())
	require.ErrorIs(t, err, cql.ErrConversion)
	require.Nil(t, rows)
}

// TestTypedBatchEntries adds typed statements to a batch, beside others. The batch reads the values when it runs.
func TestTypedBatchEntries(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	insert, err := vecql.Prepare[item](ctx, session.Query(vecql.InsertInto[item]("shop.items")).Idempotent(true))
	require.NoError(t, err)
	remove, err := vecql.Prepare[base](ctx, session.Query(vecql.DeleteWhere[base]("shop.items", "id")).Idempotent(true))
	require.NoError(t, err)
	name := "lamp"
	want := item{base: base{ID: 1}, Name: &name, Embedding: []float32{1, 2}, Order: 3, Odd: "x"}
	b := session.Batch(cql.LoggedBatch)
	insert.AddTo(b, &want)
	remove.AddTo(b, &base{ID: 2})
	require.True(t, b.GetIdempotent())
	b.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", 3, "desk")
	require.Equal(t, 3, b.Size())
	require.NoError(t, session.Query("INSERT INTO shop.items (id) VALUES (2)").Exec(ctx))
	want.Order = 4
	route, err := b.Route(ctx)
	require.NoError(t, err)
	require.NotEmpty(t, route.Replicas)
	require.NoError(t, b.Exec(ctx))
	got, err := vecql.OneRow[item](ctx, session.Query(vecql.SelectFrom[item]("shop.items")+" WHERE id = 1"))
	require.NoError(t, err)
	require.Equal(t, want, got)
	ids, err := vecql.AllRows[int64](ctx, session.Query("SELECT id FROM shop.items"))
	require.NoError(t, err)
	require.ElementsMatch(t, []int64{1, 3}, ids)
	b = session.Batch(cql.LoggedBatch)
	insert.AddTo(b, nil)
	require.ErrorIs(t, b.Exec(ctx), cql.ErrNull)
}

func TestOneRow(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	q := session.Query("SELECT id FROM shop.items")
	_, err := vecql.OneRow[int64](ctx, q)
	require.ErrorIs(t, err, vecql.ErrNotFound)
	for i := range 3 {
		require.NoError(t, session.Query("INSERT INTO shop.items (id) VALUES (?)", i).Exec(t.Context()))
	}
	_, err = vecql.OneRow[int64](ctx, q)
	require.ErrorIs(t, err, vecql.ErrTooManyRows)
	id, err := vecql.OneRow[int64](ctx, session.Query("SELECT id FROM shop.items WHERE id = 2"))
	require.NoError(t, err)
	require.EqualValues(t, 2, id)
	_, err = vecql.OneRow[struct{ Other int }](ctx, session.Query("SELECT id FROM shop.items WHERE id = 2"))
	require.ErrorIs(t, err, cql.ErrConversion)
}

// TestTypedPages reads pages in sequence and by token.
func TestTypedPages(t *testing.T) {
	session, ctx := itemsSession(t), t.Context()
	for i := range 25 {
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", i, fmt.Sprint(i)).Exec(t.Context()))
	}
	q := func() *vecql.Query { return session.Query("SELECT id FROM shop.items").PageSize(10) }
	var ids []int64
	var sizes []int
	var tokens []cql.PageToken
	for page, err := range vecql.Pages[int64](ctx, q()) {
		require.NoError(t, err)
		require.True(t, page.Source.Host.IsValid())
		ids, sizes, tokens = append(ids, page.Rows...), append(sizes, len(page.Rows)), append(tokens, page.Source.NextPage)
	}
	require.Equal(t, []int{10, 10, 5}, sizes)
	require.Empty(t, tokens[2])
	var again []int64
	for token := cql.PageToken(nil); again == nil || len(token) > 0; {
		var err error
		token, err = cql.ParsePageToken(token.String()) // as from a client
		require.NoError(t, err)
		for page, err := range vecql.Pages[int64](ctx, q().PageState(token)) {
			require.NoError(t, err)
			again, token = append(again, page.Rows...), page.Source.NextPage
		}
	}
	require.Equal(t, ids, again)
	var batches []int64
	for token := cql.PageToken(nil); batches == nil || len(token) > 0; {
		for b, err := range q().PageState(token).Batches(ctx) {
			require.NoError(t, err)
			v, err := column.Slice[int64](b.Column("id"))
			require.NoError(t, err)
			batches, token = append(batches, v...), b.Source.NextPage
		}
	}
	require.Equal(t, ids, batches)
}

// TestNextBatch mixes Scan and NextBatch.
func TestNextBatch(t *testing.T) {
	session := itemsSession(t)
	for i := range 25 {
		require.NoError(t, session.Query("INSERT INTO shop.items (id, name) VALUES (?, ?)", i, fmt.Sprint(i)).Exec(t.Context()))
	}
	it := session.Query("SELECT id, name FROM shop.items").PageSize(10).Iter(t.Context())
	var id int64
	var name string
	seen := map[int64]bool{}
	for range 3 {
		require.True(t, it.Scan(&id, &name))
		seen[id] = true
	}
	var b column.Batch
	var rows []int
	for it.NextBatch(&b) {
		ids, err := column.Slice[int64](b.Column("id"))
		require.NoError(t, err)
		names, err := b.Column("name").Text()
		require.NoError(t, err)
		for i, id := range ids {
			require.Equal(t, fmt.Sprint(id), names.String(i))
			require.False(t, seen[id])
			seen[id] = true
		}
		require.EqualValues(t, len(seen)-b.Rows, b.Source.FirstRow)
		rows = append(rows, b.Rows)
	}
	require.NoError(t, it.Close())
	require.Equal(t, []int{7, 10, 5}, rows)
	require.Len(t, seen, 25)
	require.False(t, it.NextBatch(&b))
}

// TestBatchesWithoutRows reads an empty table: the one batch has columns, so that its groups or files have them too.
func TestBatchesWithoutRows(t *testing.T) {
	session := itemsSession(t)
	for _, batches := range []iter.Seq2[*column.Batch, error]{
		session.Query("SELECT id, name FROM shop.items").Batches(t.Context()),
		session.Query("SELECT id, name FROM shop.items").BorrowBatches(t.Context()),
		session.Query("SELECT id, name FROM shop.items").PageState(nil).Batches(t.Context()),
	} {
		var got []string
		for b, err := range batches {
			require.NoError(t, err)
			require.True(t, b.Source.Host.IsValid())
			require.Empty(t, b.Source.NextPage)
			got = append(got, fmt.Sprint(b.Rows, " ", b.Schema()))
		}
		require.Equal(t, []string{"0 id int64?, name string?"}, got)
	}
	for _, err := range session.Query("INSERT INTO shop.items (id) VALUES (1)").Batches(t.Context()) {
		t.Fatal("an INSERT has no rows: ", err)
	}
}
