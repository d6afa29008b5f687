// SPDX-License-Identifier: Apache-2.0

package sqlvecql_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// What the public suite of drivers (github.com/bradfitz/go-sql-test) checks, in CQL: blobs, many QueryRow, queries in a
// transaction, prepared statements under concurrent use. The suite itself is a program for three databases, in SQL.

func TestSuiteBlobs(t *testing.T) {
	_, db := start(t, "CREATE TABLE shop.foo (id int PRIMARY KEY, bar blob)")
	blob := make([]byte, 16)
	for i := range blob {
		blob[i] = byte(i)
	}
	exec(t, db, "INSERT INTO foo (id, bar) VALUES (?, ?)", 0, blob)
	var bytesOf []byte
	var text string
	var raw sql.RawBytes
	rows, err := db.Query("SELECT bar FROM foo WHERE id = ?", 0)
	require.NoError(t, err)
	require.True(t, rows.Next())
	for _, dest := range []any{&bytesOf, &text} { // a row may be scanned several times
		require.NoError(t, rows.Scan(dest))
	}
	require.Equal(t, blob, bytesOf)
	require.Equal(t, string(blob), text)
	bytesOf[0] = 99
	require.NoError(t, rows.Scan(&raw))
	require.True(t, bytes.Equal(blob, raw), "a value belongs to the program")
	require.NoError(t, rows.Close())
}

func TestSuiteManyQueryRow(t *testing.T) {
	_, db := start(t, items)
	exec(t, db, "INSERT INTO items (id, name) VALUES (?, ?)", 1, "bob")
	for range 300 {
		var name string
		require.NoError(t, db.QueryRow("SELECT name FROM items WHERE id = ?", 1).Scan(&name))
		require.Equal(t, "bob", name)
	}
}

func TestSuitePreparedStmt(t *testing.T) {
	_, db := start(t, "CREATE TABLE shop.t (count int PRIMARY KEY)")
	sel, err := db.Prepare("SELECT count FROM t")
	require.NoError(t, err)
	ins, err := db.Prepare("INSERT INTO t (count) VALUES (?)")
	require.NoError(t, err)
	for n := 1; n <= 3; n++ {
		_, err := ins.Exec(n)
		require.NoError(t, err)
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for i := range 10 {
				rows, err := sel.Query()
				if err != nil {
					t.Error(err)
					return
				}
				var count int
				for rows.Next() {
					err = errors.Join(err, rows.Scan(&count))
				}
				if err := errors.Join(err, rows.Err(), rows.Close()); err != nil {
					t.Error(err)
				}
				if _, err := ins.Exec(i); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.NoError(t, sel.Close())
	require.NoError(t, ins.Close())
}

// Two queries of one connection may be read in turn: a connection has no state.
func TestRowsOfOneConnection(t *testing.T) {
	_, db := start(t, items)
	exec(t, db, "INSERT INTO items (id) VALUES (1)")
	c, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer func() { _ = c.Close() }()
	first, err := c.QueryContext(t.Context(), "SELECT id FROM items")
	require.NoError(t, err)
	second, err := c.QueryContext(t.Context(), "SELECT id FROM items")
	require.NoError(t, err)
	for _, rows := range []*sql.Rows{second, first} {
		require.True(t, rows.Next())
		require.False(t, rows.Next())
		require.False(t, rows.NextResultSet())
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
}

// A sql.DB that is limited to one connection, and rows that are closed while they are read.
func TestLimitsOfThePool(t *testing.T) {
	_, db := start(t, items)
	for id := range 50 {
		exec(t, db, "INSERT INTO items (id, name) VALUES (?, ?)", id, fmt.Sprint(id))
	}
	db.SetMaxOpenConns(1)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			for range 5 {
				ctx, cancel := context.WithCancel(context.Background())
				rows, err := db.QueryContext(ctx, "SELECT id, name FROM items")
				if err != nil {
					t.Error(err)
					cancel()
					return
				}
				for n := 0; rows.Next(); n++ {
					if n == 10 {
						cancel()
					}
				}
				if err := rows.Err(); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				_ = rows.Close()
				cancel()
			}
		})
	}
	all.Wait()
	require.Equal(t, 1, db.Stats().OpenConnections)
	db.SetMaxOpenConns(0)
	require.NoError(t, db.Ping())
}
