// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// This file holds the pipeline equal to a map of rows.

// A row is one of the test's files; nil is NULL.
type row struct {
	name   *string
	day    int64
	amount *float64
}

// makeRows returns n rows. Names come from few texts and then from many, so that a column chunk begins with a dictionary and goes on
// without. Amounts are quarters: their sums are exact in any order.
func makeRows(n int, seed uint64) []row {
	r := rand.New(rand.NewPCG(seed, 7))
	rows := make([]row, n)
	for i := range rows {
		rows[i].day = int64(r.IntN(3))
		if r.IntN(10) > 0 {
			name := fmt.Sprint("name ", r.IntN(20))
			if i > n/2 && r.IntN(2) == 0 {
				name = fmt.Sprintf("a longer name, of which there are many: %d", r.IntN(5000))
			}
			if r.IntN(30) == 0 {
				name = ""
			}
			rows[i].name = &name
		}
		if r.IntN(7) > 0 {
			amount := float64(r.IntN(4000)-2000) / 4
			rows[i].amount = &amount
		}
	}
	return rows
}

// writeFile writes rows as a Parquet file of several row groups.
func writeFile(t *testing.T, name string, rows []row) string {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "day", Type: arrow.PrimitiveTypes.Int64},
		{Name: "amount", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, r := range rows {
		if r.name == nil {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.StringBuilder).Append(*r.name)
		}
		b.Field(1).(*array.Int64Builder).Append(r.day)
		if r.amount == nil {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.Float64Builder).Append(*r.amount)
		}
	}
	return write(t, name, b, 3000)
}

// write writes what the builder has, in row groups of so many rows.
func write(t *testing.T, name string, b *array.RecordBuilder, rowGroup int64) string {
	t.Helper()
	rec := b.NewRecordBatch()
	defer rec.Release()
	table := array.NewTableFromRecords(rec.Schema(), []arrow.RecordBatch{rec})
	defer table.Release()
	path := filepath.Join(t.TempDir(), name)
	f, err := os.Create(path)
	require.NoError(t, err)
	props := parquet.NewWriterProperties(parquet.WithDictionaryDefault(true), parquet.WithDictionaryPageSizeLimit(16<<10),
		parquet.WithDataPageSize(4<<10), parquet.WithBatchSize(256))
	require.NoError(t, pqarrow.WriteTable(table, f, rowGroup, props, pqarrow.DefaultWriterProps()))
	return path
}

// A group is one of the answer.
type group struct {
	name   string
	null   bool // of name
	day    int64
	count  int64
	sum    float64
	amount bool // not NULL
}

// byMap groups rows with a map, in the order of the answer.
func byMap(rows []row, withDay bool) []group {
	groups := map[group]*group{}
	for _, r := range rows {
		key := group{null: r.name == nil}
		if withDay {
			key.day = r.day
		}
		if r.name != nil {
			key.name = *r.name
		}
		g := groups[key]
		if g == nil {
			g = &group{name: key.name, null: key.null, day: key.day}
			groups[key] = g
		}
		g.count++
		if r.amount != nil {
			g.sum, g.amount = g.sum+*r.amount, true
		}
	}
	var all []group
	for _, g := range groups {
		all = append(all, *g)
	}
	slices.SortFunc(all, func(a, b group) int {
		switch {
		case a.count != b.count:
			return int(b.count - a.count)
		case a.null != b.null: // NULL is last
			return map[bool]int{true: 1, false: -1}[a.null]
		case a.name != b.name:
			return strings.Compare(a.name, b.name)
		}
		return int(a.day - b.day)
	})
	return all
}

// groupsOf returns the groups of an answer.
func groupsOf(t *testing.T, a *answer) []group {
	t.Helper()
	all := make([]group, a.groups.Len())
	names := a.groups.Key(0).Strings()
	counts, ok := groupby.SliceOf[int64](a.groups.Aggregate(0))
	require.True(t, ok)
	for i := range all {
		all[i] = group{name: names[i], null: a.groups.Key(0).Null(i), count: counts[i]}
		if a.keys > 1 {
			days, ok := groupby.SliceOf[int64](a.groups.Key(1))
			require.True(t, ok)
			all[i].day = days[i]
		}
		if len(a.fields) > a.keys {
			sums, ok := groupby.SliceOf[float64](a.groups.Aggregate(1))
			require.True(t, ok)
			all[i].sum, all[i].amount = sums[i], !a.groups.Aggregate(1).Null(i)
		}
	}
	return all
}

func TestQueryEqualsMap(t *testing.T) {
	first, second := makeRows(20_000, 1), makeRows(5_000, 2)
	files := []string{writeFile(t, "first.parquet", first), writeFile(t, "second.parquet", second)}
	rows := append(slices.Clone(first), second...)
	requireBothForms(t, files)
	for _, workers := range []int{0, 1, 2, 5} {
		a, err := query{keys: []string{"name"}, value: "amount", workers: workers}.run(t.Context(), files...)
		require.NoError(t, err)
		want := byMap(rows, false)
		require.Greater(t, len(want), 2000)
		require.Equal(t, want, groupsOf(t, a))

		a, err = query{keys: []string{"name", "day"}, value: "amount", limit: 17, workers: workers}.run(t.Context(), files...)
		require.NoError(t, err)
		require.Equal(t, byMap(rows, true)[:17], groupsOf(t, a))

		a, err = query{keys: []string{"name"}, limit: 5, workers: workers}.run(t.Context(), files[1])
		require.NoError(t, err)
		want = byMap(second, false)[:5]
		for i := range want {
			want[i].sum, want[i].amount = 0, false
		}
		require.Equal(t, want, groupsOf(t, a))
	}
}

// requireBothForms fails if the names in files do not come as codes of several dictionaries here and as text there.
func requireBothForms(t *testing.T, files []string) {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), parquetscan.Config{}, files...)
	require.NoError(t, err)
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{Columns: []string{"name"}})
	require.NoError(t, err)
	dictionaries, texts := map[*parquetscan.Dictionary]bool{}, 0
	for b, err := range scan.All(t.Context()) {
		require.NoError(t, err)
		if _, dict := b.Columns[0].Codes(); dict != nil {
			dictionaries[dict] = true
		} else {
			texts++
		}
	}
	require.Greater(t, len(dictionaries), 3)
	require.Positive(t, texts)
}

// TestPrint groups by columns of several types, and compares what is printed.
func TestPrint(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "on", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "date", Type: arrow.FixedWidthTypes.Date32},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 16}},
		{Name: "price", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}},
	}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for i := range 5 {
		if i == 4 {
			b.Field(0).AppendNull()
		} else {
			b.Field(0).(*array.BooleanBuilder).Append(true)
		}
		b.Field(1).(*array.Date32Builder).Append(-1)
		b.Field(2).(*array.TimestampBuilder).Append(1_700_000_000_500_000)
		b.Field(3).(*array.FixedSizeBinaryBuilder).Append([]byte("0123456789abcdef"))
		b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(-105))
	}
	path := write(t, "types.parquet", b, 2)
	var stdout, stderr bytes.Buffer
	args := []string{"-key", "on", "-key", "date", "-key", "at", "-key", "id", "-key", "price", "-value", "price", path}
	code := run(t.Context(), args, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	require.Len(t, lines, 3)
	require.Equal(t, []string{"on", "date", "at", "id", "price", "count", "sum(price)"}, strings.Fields(lines[0]))
	same := []string{"1969-12-31", "2023-11-14T22:13:20.5Z", "30313233-3435-3637-3839-616263646566", "-1.05"}
	require.Equal(t, slices.Concat([]string{"true"}, same, []string{"4", "-4.20"}), strings.Fields(lines[1]))
	require.Equal(t, slices.Concat([]string{"NULL"}, same, []string{"1", "-1.05"}), strings.Fields(lines[2]))
}

func TestRun(t *testing.T) {
	file := writeFile(t, "rows.parquet", makeRows(100, 3))
	for _, m := range []struct {
		args string
		code int
		want string // part of the only line on stderr, or of stdout when the code is 0
	}{
		{"-help", 0, "-key"},
		{"-key name -value amount -limit 2 " + file, 0, "sum(amount)"},
		{"-key day " + file, 0, "day"},
		{file, 2, "-key is needed"},
		{"-key name", 2, "no files"},
		{"-key name -limit -1 " + file, 2, "-limit"},
		{"-key name -workers -1 " + file, 2, "-workers"},
		{"-key name -colour " + file, 2, "not defined: -colour"},
		{"-key name no-such-file.parquet", 1, "no-such-file.parquet"},
		{"-key name main.go", 1, "main.go"},
		{"-key nobody " + file, 1, "no such column"},
		{"-key day -value name " + file, 1, "column name is string, which has no sum"},
	} {
		t.Run(m.want, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			require.Equal(t, m.code, run(t.Context(), strings.Fields(m.args), &stdout, &stderr), stderr.String())
			if m.code == 0 {
				require.Contains(t, stdout.String(), m.want)
				require.Empty(t, stderr.String())
				return
			}
			require.Contains(t, stderr.String(), m.want)
			require.Equal(t, 1, strings.Count(stderr.String(), "\n"), "one line: %s", stderr.String())
		})
	}
}
