// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3/database"
	"github.com/shopspring/decimal"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/sqlvecql"
)

func insert(version int64) database.InsertRequest { return database.InsertRequest{Version: version} }

type address struct {
	Street string
	Number *int `cql:"no"`
}

// item has types of the program, of other packages and of vecql.
type item struct {
	ID        uuid.UUID `db:"id"`
	Owner     cql.UUID
	Name      string
	Price     decimal.Decimal
	Note      *string
	Added     time.Time
	Embedding []float32
	Tags      sqlvecql.Of[map[string]struct{}]
	Home      sqlvecql.Of[*address]
	Counts    map[string]int
}

const createItems = `CREATE TABLE items (id uuid PRIMARY KEY, owner uuid, name text, price decimal, note text,
	added timestamp, embedding vector<float, 3>, tags set<text>, home frozen<address>, counts map<text, int>)`

const insertItem = `INSERT INTO items (id, owner, name, price, note, added, embedding, tags, home, counts)
	VALUES (:id, :owner, :name, :price, :note, :added, :embedding, :tags, :home, :counts)`

func TestSqlx(t *testing.T) {
	opened, _ := open(t)
	db, ctx := sqlx.NewDb(opened, sqlvecql.Name), t.Context()
	db.MustExecContext(ctx, "CREATE TYPE address (street text, no int)")
	create := createItems
	if !hasVectors() {
		create = strings.ReplaceAll(create, "vector<float, 3>", "list<float>")
	}
	db.MustExecContext(ctx, create)
	note, number := "fragile", 5
	items := []item{
		{
			ID: uuid.New(), Owner: cql.MustRandomUUID(), Name: "lamp", Price: decimal.RequireFromString("12.25"), Note: &note,
			Added: time.UnixMilli(1_700_000_000_123).UTC(), Embedding: []float32{1, 2, 3},
			Tags: sqlvecql.Of[map[string]struct{}]{V: map[string]struct{}{"a": {}, "b": {}}},
			Home: sqlvecql.Of[*address]{V: &address{"main", &number}}, Counts: map[string]int{"x": 1},
		},
		{ID: uuid.New(), Owner: cql.MustRandomUUID(), Name: "vase", Embedding: []float32{0, 0, 1}, Counts: map[string]int{"y": 2}},
	}
	items[1].Added = items[0].Added
	for _, it := range items {
		_, err := db.NamedExecContext(ctx, insertItem, it)
		require.NoError(t, err)
	}

	var one item
	require.NoError(t, db.GetContext(ctx, &one, "SELECT * FROM items WHERE id = ?", items[0].ID))
	requireItem(t, items[0], one)
	var all []item
	require.NoError(t, db.SelectContext(ctx, &all, "SELECT * FROM items"))
	require.Len(t, all, 2)
	for _, it := range all {
		want := items[0]
		if it.Name == "vase" {
			want = items[1]
		}
		requireItem(t, want, it)
	}

	text, args, err := sqlx.In("SELECT name FROM items WHERE id IN (?)", []uuid.UUID{items[0].ID, items[1].ID})
	require.NoError(t, err)
	var names []string
	require.NoError(t, db.SelectContext(ctx, &names, db.Rebind(text), args...))
	require.ElementsMatch(t, []string{"lamp", "vase"}, names)

	rows, err := db.NamedQueryContext(ctx, "SELECT name, price, embedding FROM items WHERE id = :id", map[string]any{"id": items[0].ID})
	require.NoError(t, err)
	require.True(t, rows.Next())
	got := map[string]any{}
	require.NoError(t, rows.MapScan(got))
	require.Equal(t, map[string]any{"name": "lamp", "price": "12.25", "embedding": []float32{1, 2, 3}}, got)
	require.NoError(t, rows.Close())

	prepared, err := db.PrepareNamedContext(ctx, "UPDATE items SET price = :price WHERE id = :id IF EXISTS")
	require.NoError(t, err)
	res := prepared.MustExecContext(ctx, map[string]any{"id": items[0].ID, "price": decimal.New(1, 3)})
	n, err := res.RowsAffected()
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	require.NoError(t, prepared.Close())
	require.NoError(t, db.GetContext(ctx, &one.Price, "SELECT price FROM items WHERE id = ?", items[0].ID))
	require.True(t, one.Price.Equal(decimal.NewFromInt(1000)), one.Price)

	_, err = db.BeginTxx(ctx, nil)
	require.ErrorIs(t, err, sqlvecql.ErrNoTransactions)
}

// requireItem compares items; equal decimals may differ in memory.
func requireItem(t *testing.T, want, got item) {
	t.Helper()
	require.True(t, want.Price.Equal(got.Price), "%v, %v", want.Price, got.Price)
	got.Price = want.Price
	require.Equal(t, want, got)
}
