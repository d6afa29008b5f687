// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/cqltest"
)

// Rows and bound values, with a cluster within the process.

// newSession returns a session on a new cluster of one node.
func newSession(t testing.TB, schema string) *vecql.Session {
	cluster := cqltest.New(t, cqltest.Config{Nodes: 1})
	require.NoError(t, cluster.Exec(`CREATE KEYSPACE ks WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}`))
	require.NoError(t, cluster.Exec(schema))
	session, err := vecql.NewSession(t.Context(), vecql.ClusterConfig{Hosts: cluster.Hosts()})
	require.NoError(t, err)
	t.Cleanup(session.Close)
	return session
}

const wideSchema = `CREATE TABLE ks.t (id int PRIMARY KEY, s text, n bigint, b blob, v varint, l list<int>, m map<text, int>,
	at timestamp, addr inet, t frozen<tuple<text, int>>, u timeuuid, i int)`

// query returns the rows of a statement whose values are bound in dialect d.
func query(t testing.TB, s *vecql.Session, d *Dialect, stmt string, values ...any) *Rows {
	return newRows(s.Query(stmt, d.Bind(values)...).Iter(t.Context()), d)
}

func insertWide(t testing.TB, s *vecql.Session, d *Dialect) {
	require.NoError(t, query(t, s, d, `INSERT INTO ks.t (id) VALUES (?)`, 1).Close())
	require.NoError(t, query(t, s, d, `INSERT INTO ks.t (id, s, n, b, v, l, m, at, addr, t, i) VALUES (?,?,?,?,?,?,?,?,?,?,?)`,
		2, "x", uint64(1<<63+1), []byte("b"), big.NewInt(5), []any{1, 2}, map[string]int{"k": 1}, time.Time{}, "10.0.0.1",
		[]any{"a", nil}, uint32(1<<31)).Close())
}

const selectWide = `SELECT s, n, b, v, l, m, at, addr, t, u, i FROM ks.t WHERE id = ?`

func TestMapScan(t *testing.T) {
	s := newSession(t, wideSchema)
	insertWide(t, s, V1)
	null := map[string]any{
		"s": "", "n": int64(0), "b": []byte{}, "v": (*big.Int)(nil), "l": []int{}, "m": map[string]int(nil), "at": time.Time{},
		"addr": "", "t[0]": "", "t[1]": 0, "u": cql.UUID{}, "i": 0,
	}
	m := map[string]any{}
	rows := query(t, s, V1, selectWide, 1)
	require.True(t, rows.MapScan(m))
	require.Equal(t, null, m)
	require.False(t, rows.MapScan(m))
	require.NoError(t, rows.Close())

	want := map[string]any{
		"s": "x", "n": int64(-1<<63 + 1), "b": []byte("b"), "v": big.NewInt(5), "l": []int{1, 2}, "m": map[string]int{"k": 1},
		"at": time.Time{}, "addr": "10.0.0.1", "t[0]": "a", "t[1]": 0, "u": cql.UUID{}, "i": -1 << 31,
	}
	maps, err := query(t, s, V1, selectWide, 2).SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{want}, maps)

	maps, err = query(t, s, V2, selectWide, 1).SliceMap()
	require.NoError(t, err)
	null["b"], null["l"], null["addr"] = []byte(nil), []int(nil), cql.Destination(nil)
	require.Nil(t, maps[0]["addr"])
	delete(null, "addr")
	delete(maps[0], "addr")
	require.Equal(t, []map[string]any{null}, maps)

	maps, err = query(t, s, V1, selectWide, 3).SliceMap()
	require.NoError(t, err)
	require.Equal(t, []map[string]any{}, maps)
	maps, err = query(t, s, V2, selectWide, 3).SliceMap()
	require.NoError(t, err)
	require.Nil(t, maps)

	t.Run("pointers in the map", func(t *testing.T) {
		var text string
		var n uint64
		m := map[string]any{"s": &text, "n": &n, "l": 7, "i": nil}
		require.True(t, query(t, s, V1, selectWide, 2).MapScan(m))
		require.Equal(t, "x", text)
		require.Equal(t, uint64(1<<63+1), n)
		require.Equal(t, []any{"x", uint64(1<<63 + 1), []int{1, 2}, -1 << 31}, []any{m["s"], m["n"], m["l"], m["i"]})
	})
	t.Run("an error ends the rows", func(t *testing.T) {
		rows := query(t, s, V1, selectWide, 2)
		require.False(t, rows.MapScan(map[string]any{"s": new(float64)}))
		require.False(t, rows.MapScan(map[string]any{}))
		var e *cql.UnmarshalError
		require.ErrorAs(t, rows.Close(), &e)
		require.Equal(t, "s", e.Column)
		_, err := rows.RowData()
		require.ErrorAs(t, err, &e)
	})
}

func TestScan(t *testing.T) {
	s := newSession(t, wideSchema)
	insertWide(t, s, V2)
	const stmt = `SELECT s, t, at, i FROM ks.t WHERE id = ?`
	var text, first string
	var second, i *int
	var at time.Time
	require.True(t, query(t, s, V2, stmt, 2).Scan(&text, &first, &second, &at, &i))
	require.Equal(t, "x a 0001-01-01 00:00:00 +0000 UTC", text+" "+first+" "+at.String())
	require.Nil(t, second)
	require.Equal(t, -1<<31, *i)
	require.True(t, query(t, s, V2, stmt, 2).Scan(nil, nil, &second, nil, nil))
	require.True(t, query(t, s, V2, stmt, 1).Scan(&text, &first, &second, &at, &i))
	require.Equal(t, "", text+first)
	require.Nil(t, i)

	rows := query(t, s, V2, stmt, 2)
	require.False(t, rows.Scan(&text, &first))
	require.ErrorIs(t, rows.Close(), vecql.ErrColumnCount)
	require.EqualError(t, rows.Close(), "gocql: not enough columns to scan into: have 2 want 5")
	var f float64
	rows = query(t, s, V2, stmt, 2)
	require.False(t, rows.Scan(&text, &f, &second, &at, &i))
	require.ErrorContains(t, rows.Close(), `column "t"`)
	rows = query(t, s, V2, stmt, 2)
	require.False(t, rows.Scan(&f, &first, &second, &at, &i))
	err := rows.Close()
	require.ErrorContains(t, err, `column "s"`)
	require.Equal(t, 1, strings.Count(err.Error(), "from text"), "the types are named once: %v", err)

	t.Run("rows share no memory", func(t *testing.T) {
		require.NoError(t, query(t, s, V2, `INSERT INTO ks.t (id, b) VALUES (?, ?)`, 3, []byte("a")).Close())
		rows := query(t, s, V2, `SELECT b FROM ks.t WHERE id IN (2, 3)`)
		var b []byte
		require.True(t, rows.Scan(&b))
		kept := b
		require.True(t, rows.Scan(&b))
		require.Equal(t, "b a", string(kept)+" "+string(b))
	})
	t.Run("Scanner", func(t *testing.T) {
		scanner := query(t, s, V2, stmt, 2).Scanner()
		require.Error(t, scanner.Scan(&text, &first, &second, &at, &i))
		require.True(t, scanner.Next())
		require.NoError(t, scanner.Scan(&text, &first, &second, &at, &i))
		require.Error(t, scanner.Scan(&text, &first, &second, &at, &i), "once a row")
		require.False(t, scanner.Next())
		require.NoError(t, scanner.Err())
	})
	t.Run("RowData", func(t *testing.T) {
		rows := query(t, s, V2, stmt, 2)
		row, err := rows.RowData()
		require.NoError(t, err)
		require.Equal(t, []string{"s", "t[0]", "t[1]", "at", "i"}, row.Columns)
		require.True(t, rows.Scan(row.Values...))
		require.Equal(t, "a", *row.Values[1].(*string))
		again, err := rows.RowData()
		require.NoError(t, err)
		require.NotSame(t, row.Values[1], again.Values[1])
		_, err = query(t, s, V2, `SELECT nothing FROM ks.t`).RowData()
		require.IsType(t, &cql.ServerError{}, err)
	})
}

func TestScanCAS(t *testing.T) {
	s := newSession(t, wideSchema)
	const insert = `INSERT INTO ks.t (id, i) VALUES (?, ?) IF NOT EXISTS`
	applied, err := query(t, s, V1, insert, 1, 5).ScanCAS()
	require.NoError(t, err)
	require.True(t, applied)
	var id, i int
	var other any
	applied, err = query(t, s, V1, `UPDATE ks.t SET i = 6 WHERE id = 1 IF i = 4`).ScanCAS(&i)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, 5, i)
	m := map[string]any{"i": &id}
	applied, err = query(t, s, V1, `UPDATE ks.t SET i = 6 WHERE id = 1 IF i = 4`).MapScanCAS(m)
	require.NoError(t, err)
	require.False(t, applied)
	require.Equal(t, map[string]any{"i": 5}, m)
	require.Equal(t, 5, id)

	applied, err = query(t, s, V1, `SELECT i FROM ks.t WHERE id = 1`).MapScanCAS(m)
	require.NoError(t, err, "not a conditional statement")
	require.False(t, applied)
	_, err = query(t, s, V1, `SELECT i FROM ks.t WHERE id = 9`).MapScanCAS(m)
	require.Equal(t, vecql.ErrNotFound, err)
	_, err = query(t, s, V1, `SELECT i FROM ks.t WHERE id = 9`).ScanCAS(&other)
	require.Equal(t, vecql.ErrNotFound, err)
	_, err = query(t, s, V1, `SELECT nothing FROM ks.t`).ScanCAS(&other)
	require.IsType(t, &cql.ServerError{}, err)
}

// TestScanAllocations requires that Rows.Scan allocates what the driver's own Scan does.
func TestScanAllocations(t *testing.T) {
	s := newSession(t, `CREATE TABLE ks.n (p int, c int, s text, n bigint, b boolean, at timestamp, u uuid, l list<int>, PRIMARY KEY (p, c))`)
	const rows = 300
	for c := range rows {
		require.NoError(t, query(t, s, V1, `INSERT INTO ks.n (p, c, s, n, b, at, l) VALUES (0, ?, 'text', 1, true, 5, [1])`, c).Close())
	}
	var c int
	var text *string
	var n int64
	var b bool
	var at time.Time
	var u cql.UUID
	var l []int
	measure := func(scan func(...any) bool) float64 {
		return testing.AllocsPerRun(rows/2, func() {
			if !scan(&c, &text, &n, &b, &at, &u, &l) {
				panic("no row")
			}
		})
	}
	const stmt = `SELECT c, s, n, b, at, u, l FROM ks.n WHERE p = 0`
	it := s.Query(stmt).Iter(t.Context())
	own := measure(it.Scan)
	require.NoError(t, it.Close())
	it = s.Query(stmt).Iter(t.Context())
	require.LessOrEqual(t, measure(newRows(it, V1).Scan), own)
	require.NoError(t, it.Close())
}

func BenchmarkScan(b *testing.B) {
	s := newSession(b, `CREATE TABLE ks.n (p int, c int, s text, n bigint, b boolean, at timestamp, u uuid, PRIMARY KEY (p, c))`)
	for c := range 5000 {
		require.NoError(b, query(b, s, V1, `INSERT INTO ks.n (p, c, s, n, b, at) VALUES (0, ?, 'text', 1, true, 5)`, c).Close())
	}
	var c int
	var text string
	var n int64
	var flag bool
	var at time.Time
	var u cql.UUID
	const stmt = `SELECT c, s, n, b, at, u FROM ks.n WHERE p = 0`
	scan := func(b *testing.B, rows func(*vecql.Iter) func(...any) bool) {
		for left := b.N; left > 0; {
			b.StopTimer()
			it := s.Query(stmt).Iter(b.Context())
			next := rows(it)
			b.StartTimer()
			for left > 0 && next(&c, &text, &n, &flag, &at, &u) {
				left--
			}
			b.StopTimer()
			require.NoError(b, it.Close())
			b.StartTimer()
		}
	}
	b.Run("reader=vecql.Iter", func(b *testing.B) { scan(b, func(it *vecql.Iter) func(...any) bool { return it.Scan }) })
	b.Run("reader=compat.Rows", func(b *testing.B) {
		scan(b, func(it *vecql.Iter) func(...any) bool { return newRows(it, V1).Scan })
	})
}

// newRows returns a pointer to NewRows' result, which the methods need.
func newRows(it *vecql.Iter, d *Dialect) *Rows {
	r := NewRows(it, d)
	return &r
}
