// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/soak"
)

// Whole tables of random schemas on a real server: copy, and unload and load, carry each value with its times.

// TestRandomTablesComeBack makes tables of random schemas with hard data, copies each, and unloads and loads it in one
// of the formats with --times. The rows that come back have the same bytes, the same write times and the same times to
// live, also by element. VECQL_SEED runs one seed; make whole runs 200. One at a
// time: while tables of other seeds were created, the server failed 7 of 200 times to read write times of collections.
//
// Seeds that have failed: 2, a column writetime(a) beside a column a; 5, NaN from a file had other bytes than the
// server's; 36, the server does not add lists with empty elements. Before them, each table with a list: a second copy
// doubled its elements.
func TestRandomTablesComeBack(t *testing.T) {
	w := newWholeTester(t)
	first, n := uint64(1), uint64(soak.Rounds(soak.Size(4, 200)))
	if text := os.Getenv("VECQL_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		first, n = seed, 1
	}
	for seed := first; seed < first+n; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { w.check(t, seed) })
	}
}

// A wholeTester has a keyspace of a real server.
type wholeTester struct {
	x        *tester
	session  *vecql.Session
	keyspace string
}

func newWholeTester(t *testing.T) *wholeTester {
	w := &wholeTester{x: realTester(t), keyspace: fmt.Sprint("vecql_whole_", os.Getpid())}
	cfg := &vecql.ClusterConfig{Hosts: []string{w.x.env["VECQL_HOSTS"]}}
	cfg.Logger, cfg.Timeout = slog.New(slog.DiscardHandler), 30*time.Second
	if user := w.x.env["VECQL_USER"]; user != "" {
		cfg.Authenticator = vecql.PasswordAuthenticator{Username: user, Password: w.x.env["VECQL_PASSWORD"]}
	}
	var err error
	w.session, err = vecql.NewSession(t.Context(), *cfg)
	require.NoError(t, err)
	t.Cleanup(w.session.Close)
	w.exec(t, "CREATE KEYSPACE "+w.keyspace+" WITH replication = {'class': 'SimpleStrategy', 'replication_factor': 1}")
	t.Cleanup(func() { _ = w.session.Query("DROP KEYSPACE " + w.keyspace).Exec(context.Background()) })
	for _, udt := range randomUDTs {
		w.exec(t, "CREATE TYPE "+w.keyspace+"."+udt)
	}
	return w
}

func (w *wholeTester) exec(t *testing.T, stmt string) {
	t.Helper()
	require.NoError(t, w.session.Query(stmt).Exec(t.Context()), stmt)
}

// check makes the table of a seed and carries its rows to two others.
func (w *wholeTester) check(t *testing.T, seed uint64) {
	format := []string{"csv", "jsonl", "parquet", "arrow"}[seed%4]
	portable := seed%3 > 0
	r := newRandomTable(seed, portable)
	var tables []string
	for _, suffix := range []string{"A", "b", "c"}[:2+map[bool]int{true: 1}[portable]] {
		table := fmt.Sprintf(`"%s"."T%d%s"`, w.keyspace, seed, suffix)
		tables = append(tables, table)
		w.exec(t, strings.ReplaceAll(r.create(table), `"Pair"`, w.keyspace+`."Pair"`))
		defer w.exec(t, "DROP TABLE "+table) // the server keeps a megabyte for each
	}
	t.Log(format, r.create("t"))
	metadata, err := w.session.TableMetadata(t.Context(), w.keyspace, fmt.Sprintf("T%dA", seed))
	require.NoError(t, err)
	w.fill(t, r, tables[0], metadata)
	want := w.read(t, tables[0], metadata)
	require.NotEmpty(t, want)

	x := *w.x
	x.t = t
	run := func(args ...string) {
		code, out, stderr := x.run(args...)
		require.Zero(t, code, "%v\n%s%s", args, out, stderr)
		for line := range strings.Lines(stderr) {
			require.True(t, strings.HasPrefix(line, "note: "), stderr)
		}
	}
	run("copy", tables[0], tables[1])
	requireSameRows(t, metadata, want, w.read(t, tables[1], metadata))
	run("copy", tables[0], tables[1]) // once more changes nothing
	requireSameRows(t, metadata, want, w.read(t, tables[1], metadata))
	require.Contains(t, x.requireRun("verify", tables[0], tables[1]), " equal.\n")
	if portable {
		path := filepath.Join(t.TempDir(), "rows."+format)
		run("unload", tables[0], path, "--times")
		run("load", tables[2], path, "--times")
		requireSameRows(t, metadata, want, w.read(t, tables[2], metadata))
		require.Contains(t, x.requireRun("verify", tables[0], tables[2]), " equal.\n")
		path = filepath.Join(t.TempDir(), "plain."+format)
		run("unload", tables[0], path)
		require.Contains(t, x.requireRun("verify", path, tables[0]), " equal.\n")
	}
}

// fill writes rows: with some of their columns, with other times for some columns and elements, partitions with static
// values only, rows with their keys only.
func (w *wholeTester) fill(t *testing.T, r *randomTable, table string, m *cql.TableMetadata) {
	keys := len(m.PartitionKey) + len(m.ClusteringColumns)
	statics := r.of("static")
	for range 12 {
		key := w.keyOf(r, m)
		names := r.of("regular", "static")
		if r.IntN(6) == 0 {
			names = nil // keys only
		}
		w.write(t, r, table, m, key, names, false)
		for range r.IntN(3) {
			w.write(t, r, table, m, key, r.of("regular"), true)
		}
		if len(statics) > 0 && r.IntN(2) == 0 {
			other := w.keyOf(r, m)
			w.write(t, r, table, m, other[:len(m.PartitionKey)], statics, false)
			w.write(t, r, table, m, other[:len(m.PartitionKey)], statics, true)
		}
	}
	require.Positive(t, keys)
}

// keyOf returns the cells of a primary key. A single partition key must not be empty.
func (w *wholeTester) keyOf(r *randomTable, m *cql.TableMetadata) (key [][]byte) {
	for i, c := range slices.Concat(m.PartitionKey, m.ClusteringColumns) {
		cell := r.cell(c.Type)
		for i == 0 && len(cell) == 0 {
			cell = r.cell(c.Type)
		}
		key = append(key, cell)
	}
	return key
}

// write writes some of the columns of a row, with times of their own. elements adds elements to collections and fields
// to user-defined types, in place of whole values.
func (w *wholeTester) write(t *testing.T, r *randomTable, table string, m *cql.TableMetadata, key [][]byte, columns []randomColumn,
	elements bool,
) {
	b := &column.Batch{Rows: 1}
	var names, markers, sets, where []string
	bind := func(name string, cell []byte) string {
		marker := fmt.Sprint("v", len(b.Columns))
		b.Columns = append(b.Columns, column.Column{Name: marker, Type: codec.CellType, Len: 1, Values: cell, Offsets: []int32{0, int32(len(cell))}})
		return ":" + marker
	}
	for i, c := range slices.Concat(m.PartitionKey, m.ClusteringColumns)[:len(key)] {
		name := cqltext.QuoteIdentifier(c.Name)
		marker := bind(name, key[i])
		names, markers, where = append(names, name), append(markers, marker), append(where, name+" = "+marker)
	}
	for _, c := range columns {
		if r.IntN(4) == 0 {
			continue
		}
		name, info := cqltext.QuoteIdentifier(c.name), m.Columns[c.name].Type
		cell := r.cell(info)
		isWhole := strings.HasPrefix(c.typ, "frozen<")
		switch info := info.(type) {
		case cql.UDTTypeInfo:
			if elements && !isWhole {
				f := pick(r.Rand, info.Elements)
				sets = append(sets, name+"."+cqltext.QuoteIdentifier(f.Name)+" = "+bind(name, r.cell(f.Type)))
				continue
			}
		case cql.CollectionType:
			if elements && !isWhole {
				sets = append(sets, name+" = "+name+" + "+bind(name, cell))
				continue
			}
		}
		marker := bind(name, cell)
		names, markers, sets = append(names, name), append(markers, marker), append(sets, name+" = "+marker)
	}
	ttl := pick(r.Rand, []int32{0, 0, 1_000_000, 2_000_000, 3_000_000})
	b.Columns = append(b.Columns, column.Of("times", []int64{1_000_000 + r.Int64N(1000)}), column.Of("lives", []int32{ttl}))
	text := fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s) USING TIMESTAMP :times AND TTL :lives", table, strings.Join(names, ", "), strings.Join(markers, ", "))
	switch {
	case elements && len(sets) == 0, len(key) < len(m.PartitionKey)+len(m.ClusteringColumns) && len(names) == len(key) && !elements:
		return
	case elements:
		text = fmt.Sprintf("UPDATE %s USING TIMESTAMP :times AND TTL :lives SET %s WHERE %s", table, strings.Join(sets, ", "), strings.Join(where, " AND "))
	}
	err := w.session.Query(text).ExecRows(t.Context(), b)
	if !r.portable && errors.Is(err, cql.CodeServer) {
		return // Cassandra 5.0.9 fails to add a list whose element has no bytes, with a NullPointerException
	}
	require.NoError(t, err, text)
}

// A wholeRow is a row of a table: the key, and the cells of each other column with its write times and times to live.
type wholeRow struct {
	key    string
	values [][]byte
	times  []cellLife // by value
}

// A cellLife is the times of a value, of each element if it has several cells.
type cellLife struct {
	writes []int64
	ttls   []int32
}

// read returns the rows of a table in the order of their keys.
func (w *wholeTester) read(t *testing.T, table string, m *cql.TableMetadata) (rows []wholeRow) {
	var selectors []string
	columns := columnsOf(m)
	keys := len(m.PartitionKey) + len(m.ClusteringColumns)
	for i, c := range columns {
		name := cqltext.QuoteIdentifier(c.Name)
		selectors = append(selectors, name)
		if i >= keys {
			selectors = append(selectors, "WRITETIME("+name+")", "TTL("+name+")")
		}
	}
	it := w.session.Query("SELECT " + strings.Join(selectors, ", ") + " FROM " + table).Iter(t.Context())
	cells := make([][]byte, len(selectors))
	for it.NextRaw(cells) {
		var row wholeRow
		for _, cell := range cells[:keys] {
			row.key += fmt.Sprintf("%v %x|", cell == nil, cell)
		}
		for i := keys; i < len(cells); i += 3 {
			row.values = append(row.values, clone(cells[i]))
			row.times = append(row.times, lifeOf(cells[i+1], cells[i+2], it.Columns()[i+1].TypeInfo.Type() == cql.TypeList))
		}
		rows = append(rows, row)
	}
	require.NoError(t, it.Close())
	slices.SortFunc(rows, func(a, b wholeRow) int { return cmp.Compare(a.key, b.key) })
	return rows
}

func clone(cell []byte) []byte {
	if cell == nil {
		return nil
	}
	return append([]byte{}, cell...)
}

// columnsOf returns the columns of a table, the columns of the key first.
func columnsOf(m *cql.TableMetadata) []*cql.ColumnMetadata {
	columns := slices.Concat(m.PartitionKey, m.ClusteringColumns)
	for _, name := range m.OrderedColumns {
		if c := m.Columns[name]; !slices.Contains(columns, c) {
			columns = append(columns, c)
		}
	}
	return columns
}

// lifeOf returns the times of a value. Elements without a time have math.MinInt64, values without an end the life 0.
func lifeOf(write, ttl []byte, isList bool) (life cellLife) {
	if write == nil {
		return life
	}
	if !isList {
		life.writes, life.ttls = []int64{int64(binary.BigEndian.Uint64(write))}, []int32{0}
		if ttl != nil {
			life.ttls[0] = int32(binary.BigEndian.Uint32(ttl))
		}
		return life
	}
	each := func(cell []byte, f func(i int, b []byte)) {
		for i, rest := 0, cell[4:]; len(rest) > 0; i++ {
			n := int32(binary.BigEndian.Uint32(rest))
			rest = rest[4:]
			if n < 0 {
				f(i, nil)
				continue
			}
			f(i, rest[:n])
			rest = rest[n:]
		}
	}
	each(write, func(_ int, b []byte) {
		life.ttls = append(life.ttls, 0)
		if b == nil {
			life.writes = append(life.writes, math.MinInt64)
			return
		}
		life.writes = append(life.writes, int64(binary.BigEndian.Uint64(b)))
	})
	if ttl != nil {
		each(ttl, func(i int, b []byte) {
			if b != nil {
				life.ttls[i] = int32(binary.BigEndian.Uint32(b))
			}
		})
	}
	return life
}

// ofList returns the times that elements of a list get: the latest write time, the longest time to live.
func (l cellLife) ofList() (out cellLife) {
	if len(l.writes) == 0 {
		return l
	}
	longest := slices.Max(l.ttls)
	if slices.Contains(l.ttls, 0) {
		longest = 0
	}
	for range l.writes {
		out.writes, out.ttls = append(out.writes, slices.Max(l.writes)), append(out.ttls, longest)
	}
	return out
}

// requireSameRows requires the same bytes and the same times. The time to live falls while the test runs.
func requireSameRows(t *testing.T, m *cql.TableMetadata, want, got []wholeRow) {
	t.Helper()
	columns := columnsOf(m)[len(m.PartitionKey)+len(m.ClusteringColumns):]
	require.Equal(t, len(want), len(got), "rows")
	for i, row := range want {
		require.Equal(t, row.key, got[i].key)
		for k, c := range columns {
			at := fmt.Sprintf("%s %s %s", row.key, c.Name, c.Validator)
			require.True(t, (row.values[k] == nil) == (got[i].values[k] == nil) && bytes.Equal(row.values[k], got[i].values[k]),
				"%s: %x, want %x", at, got[i].values[k], row.values[k])
			life := row.times[k]
			if strings.HasPrefix(c.Validator, "list<") {
				life = life.ofList()
			}
			require.Equal(t, life.writes, got[i].times[k].writes, "write times of %s", at)
			for e, ttl := range life.ttls {
				require.InDelta(t, ttl, got[i].times[k].ttls[e], 600, "time to live of %s", at)
				require.Equal(t, ttl == 0, got[i].times[k].ttls[e] == 0, at)
			}
		}
	}
}
