// SPDX-License-Identifier: Apache-2.0

package gocql_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	gocql "github.com/apache/cassandra-gocql-driver/v2"
	"github.com/vecql/vecql/cqltest"
)

// The verbs of queries as a program calls them.

func TestScanAndExec(t *testing.T) {
	_, s := open(t)
	at := time.UnixMilli(1700000000123).UTC()
	require.NoError(t, s.Query("INSERT INTO items (id, name, price, at, ip, tags, sizes, stock) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		1, "lamp", 9.5, at, "10.0.0.1", []string{"a", "b"}, []int{3, 4}, map[string]int{"x": 2}).Exec())
	var (
		name  string
		price float64
		read  time.Time
		ip    net.IP
		tags  []string
		sizes []int
		stock map[string]int
	)
	q := s.Query("SELECT name, price, at, ip, tags, sizes, stock FROM items WHERE id = ?", 1).Consistency(gocql.One)
	require.NoError(t, q.WithContext(context.Background()).Scan(&name, &price, &read, &ip, &tags, &sizes, &stock))
	require.Equal(t, "lamp", name)
	require.Equal(t, 9.5, price)
	require.True(t, at.Equal(read))
	require.Equal(t, "10.0.0.1", ip.String())
	require.Equal(t, []string{"a", "b"}, tags)
	require.Equal(t, []int{3, 4}, sizes)
	require.Equal(t, map[string]int{"x": 2}, stock)

	err := s.Query("SELECT name FROM items WHERE id = ?", 2).Scan(&name)
	require.True(t, err == gocql.ErrNotFound, "programs compare with ==")
}

// NULL is stored as the zero value of the column's type; a nil interface would panic in m["name"].(string).
func TestNullInMapScanIsTypedZero(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id) VALUES (?)", 1).Exec())
	m := map[string]any{}
	require.NoError(t, s.Query("SELECT name, price, at, big FROM items WHERE id = 1").MapScan(m))
	require.Equal(t, map[string]any{"name": "", "price": 0.0, "at": time.Time{}, "big": int64(0)}, m)
	rows, err := s.Query("SELECT name FROM items").Iter().SliceMap()
	require.NoError(t, err)
	require.Equal(t, "", rows[0]["name"])

	row, err := s.Query("SELECT name, pos FROM items").Iter().RowData()
	require.NoError(t, err)
	require.Equal(t, []string{"name", "pos[0]", "pos[1]"}, row.Columns)
	require.Equal(t, []any{new(string), new(int), new(string)}, row.Values)
}

// An inet value in an interface is a net.IP.
func TestInetInMapScanIsAddress(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, ip) VALUES (1, '10.0.0.1')").Exec())
	m := map[string]any{}
	require.NoError(t, s.Query("SELECT ip FROM items WHERE id = 1").MapScan(m))
	require.Equal(t, "10.0.0.1", m["ip"].(net.IP).String())
}

// A pointer in the map is filled, and replaced by its value.
func TestMapScanFillsPointers(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, name) VALUES (1, 'lamp')").Exec())
	var name string
	m := map[string]any{"name": &name}
	require.NoError(t, s.Query("SELECT name FROM items WHERE id = 1").MapScan(m))
	require.Equal(t, "lamp", name)
	require.Equal(t, "lamp", m["name"])
}

// A tuple takes one destination for each element.
func TestTuplesHaveOneDestinationPerElement(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, pos) VALUES (?, ?)", 1, []any{7, "x"}).Exec())
	var n int
	var text string
	require.NoError(t, s.Query("SELECT pos FROM items WHERE id = 1").Scan(&n, &text))
	require.Equal(t, 7, n)
	require.Equal(t, "x", text)
	m := map[string]any{}
	require.NoError(t, s.Query("SELECT pos FROM items WHERE id = 1").MapScan(m))
	require.Equal(t, map[string]any{"pos[0]": 7, "pos[1]": "x"}, m)
	require.Equal(t, "pos[1]", gocql.TupleColumnName("pos", 1))
}

// The zero time can be written and read back, and a cell without bytes is zero.
func TestZeroTimeAndEmptyCells(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Query("INSERT INTO items (id, at) VALUES (?, ?)", 1, time.Time{}).Exec())
	at := time.Now()
	require.NoError(t, s.Query("SELECT at FROM items WHERE id = 1").Scan(&at))
	require.True(t, at.IsZero(), at)
	info := gocql.NewNativeType(4, gocql.TypeInt, "")
	n := 5
	require.NoError(t, gocql.Unmarshal(info, []byte{}, &n))
	require.Zero(t, n)
}

func TestPaging(t *testing.T) {
	cluster, s := open(t)
	for i := range 10 {
		require.NoError(t, s.Query("INSERT INTO rows (p, c, v) VALUES (1, ?, ?)", i, fmt.Sprint(i)).Exec())
	}
	const text = "SELECT c, v FROM rows WHERE p = 1"
	count := func(q *gocql.Query) (n int, it *gocql.Iter) {
		it = q.Iter()
		for scanner := it.Scanner(); scanner.Next(); n++ {
			var c int
			var v string
			require.NoError(t, scanner.Scan(&c, &v))
			require.Equal(t, n, c%10)
		}
		require.NoError(t, it.Close())
		return n, it
	}
	n, it := count(s.Query(text).PageSize(4))
	require.Equal(t, 10, n, "all pages")
	require.Empty(t, it.PageState())

	n, it = count(s.Query(text).PageSize(4).PageState(nil))
	require.Equal(t, 4, n, "one page, the first")
	rest := s.Query(text).PageSize(100).PageState(it.PageState()).Iter()
	require.Equal(t, 6, rest.NumRows())
	require.NoError(t, rest.Close())

	cluster.ResetStats()
	n, _ = count(s.Query(text).PageSize(0))
	require.Equal(t, 10, n)
	require.Equal(t, 1, cluster.Node(0).Requests(cqltest.OpExecute), "no paging")
}

func TestLightweightTransactions(t *testing.T) {
	_, s := open(t)
	const text = "INSERT INTO items (id, name) VALUES (?, ?) IF NOT EXISTS"
	applied, err := s.Query(text, 1, "lamp").ScanCAS()
	require.NoError(t, err)
	require.True(t, applied)
	m := map[string]any{}
	applied, err = s.Query(text, 1, "desk").MapScanCAS(m)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "lamp", m["name"])
	require.NotContains(t, m, "[applied]")
	var name string
	applied, err = s.Query("UPDATE items SET name = 'x' WHERE id = 1 IF name = 'y'").ScanCAS(&name)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "lamp", name)

	// The result of a SELECT is not applied.
	m = map[string]any{}
	applied, err = s.Query("SELECT id, name FROM items WHERE id = 1").MapScanCAS(m)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, map[string]any{"id": 1, "name": "lamp"}, m)
}

func TestBatches(t *testing.T) {
	_, s := open(t)
	b := s.NewBatch(gocql.LoggedBatch)
	b.Query("INSERT INTO rows (p, c, v) VALUES (?, ?, ?)", 1, 1, "a")
	b.Query("INSERT INTO rows (p, c, v) VALUES (1, 2, 'b')")
	b.Bind("INSERT INTO rows (p, c, v) VALUES (?, ?, ?)", func(q *gocql.QueryInfo) ([]any, error) {
		require.Equal(t, []string{"p", "c", "v"}, names(q.Args))
		require.Equal(t, []int{0}, q.PKeyColumns)
		return []any{1, 3, "c"}, nil
	})
	require.Equal(t, 3, b.Size())
	require.NoError(t, s.ExecuteBatch(b))
	rows, err := s.Query("SELECT v FROM rows WHERE p = ?", 1).Iter().SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{{"v": "a"}, {"v": "b"}, {"v": "c"}}, rows)

	cas := s.Batch(gocql.UnloggedBatch).Query("INSERT INTO rows (p, c, v) VALUES (1, 9, 'x') IF NOT EXISTS")
	applied, it, err := cas.ExecCAS()
	require.NoError(t, err)
	require.True(t, applied)
	require.NoError(t, it.Close())
	m := map[string]any{}
	applied, it, err = s.MapExecuteBatchCAS(cas, m)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, "x", m["v"])
	require.NoError(t, it.Close())
}

func names(columns []gocql.ColumnInfo) (out []string) {
	for _, c := range columns {
		out = append(out, c.Name)
	}
	return out
}

func TestBoundAndNamedValues(t *testing.T) {
	_, s := open(t)
	require.NoError(t, s.Bind("INSERT INTO items (id, name) VALUES (?, ?)", func(q *gocql.QueryInfo) ([]any, error) {
		return []any{1, "lamp"}, nil
	}).Exec())
	require.NoError(t, s.Query("INSERT INTO items (id, name, price) VALUES (:id, :name, :price)", gocql.NamedValue("price", 2.5),
		gocql.NamedValue("id", 1), gocql.NamedValue("name", gocql.UnsetValue)).Exec())
	require.NoError(t, s.Query("INSERT INTO items (id, name) VALUES (?, ?)", 1, gocql.UnsetValue).Exec())
	var name string
	var price float64
	require.NoError(t, s.Query("SELECT name, price FROM items WHERE id = ?").Bind(1).Scan(&name, &price))
	require.Equal(t, "lamp", name)
	require.Equal(t, 2.5, price)
	failed := errors.New("no values")
	err := s.Bind("INSERT INTO items (id) VALUES (?)", func(*gocql.QueryInfo) ([]any, error) { return nil, failed }).Exec()
	require.ErrorIs(t, err, failed)
}

func TestQueryGetters(t *testing.T) {
	_, s := open(t)
	q := s.Query("SELECT name FROM items", 1).Idempotent(true).SetHostID("x").Consistency(gocql.All)
	require.Equal(t, "SELECT name FROM items", q.Statement())
	require.Equal(t, []any{1}, q.Values())
	require.True(t, q.IsIdempotent())
	require.Equal(t, "x", q.GetHostID())
	require.Equal(t, gocql.All, q.GetConsistency())
	require.Equal(t, "shop", q.Keyspace())
	require.Equal(t, "other", q.SetKeyspace("other").Keyspace())
	_, set := q.GetSerialConsistency()
	require.False(t, set)
	require.PanicsWithValue(t, "serial consistency can only be SERIAL or LOCAL_SERIAL got ONE", func() {
		q.SerialConsistency(gocql.One)
	}, "the text of gocql, which its own tests compare")
	serial, set := q.SerialConsistency(gocql.LocalSerial).GetSerialConsistency()
	require.True(t, set)
	require.Equal(t, gocql.LocalSerial, serial)
	require.Contains(t, q.String(), "consistency=ALL")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.Equal(t, ctx, q.WithContext(ctx).Context())
	require.Equal(t, context.Background(), q.Context(), "WithContext copies")
}

func TestIterOfARequest(t *testing.T) {
	cluster, s := open(t)
	cluster.Inject(cqltest.Fault{
		Op: cqltest.OpExecute, Warnings: []string{"careful"},
		Payload: map[string][]byte{"k": {1}},
	})
	it := s.Query("SELECT id, name FROM items WHERE id = ?", 1).Iter()
	require.Equal(t, []string{"id", "name"}, names(it.Columns()))
	require.Equal(t, gocql.TypeInt, it.Columns()[0].TypeInfo.Type())
	require.Equal(t, []string{"careful"}, it.Warnings())
	require.Equal(t, map[string][]byte{"k": {1}}, it.GetCustomPayload())
	require.Equal(t, "shop", it.Keyspace())
	require.Equal(t, "items", it.Table())
	require.Equal(t, 1, it.Attempts())
	require.Positive(t, it.Latency())
	require.Same(t, s.GetHosts()[0], it.Host(), "one HostInfo for each node")
	require.False(t, it.WillSwitchPage())
	require.NoError(t, it.Close())
}
