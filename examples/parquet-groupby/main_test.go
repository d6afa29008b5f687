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

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// The pipeline is compared with a Go map over rows.

// A row is a row of the test's files; nil means NULL.
type row struct {
	name   *string
	day    int64
	amount *float64
}

// makeRows returns n rows. The first names are few and the later ones many, so that a column chunk begins with a
// dictionary and continues without. Amounts are quarters, so that sums are exact in any order.
func makeRows(n int, seed uint64) []row {
	r := rand.New(rand.NewPCG(seed, 7))
	rows := make([]row, n)
	for i := range rows {
		rows[i].day = int64(r.IntN(3))
		if r.IntN(10) > 0 {
			name := fmt.Sprint("name ", r.IntN(20))
			if i > n/2 && r.IntN(2) == 0 {
				name = fmt.Sprintf("a longer name, one of many: %d", r.IntN(5000))
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

// write writes the rows of the builder in row groups of rowGroup rows.
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

// A group is one row of the result.
type group struct {
	name   string
	null   bool // name is NULL
	day    int64
	count  int64
	sum    float64
	amount bool // sum is not NULL
}

// byMap groups rows with a Go map, in the order of the result.
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
		case a.null != b.null: // NULL comes last
			return map[bool]int{true: 1, false: -1}[a.null]
		case a.name != b.name:
			return strings.Compare(a.name, b.name)
		}
		return int(a.day - b.day)
	})
	return all
}

// groupsOf returns the groups of a result.
func groupsOf(t *testing.T, b *column.Batch) []group {
	t.Helper()
	all := make([]group, b.Rows)
	name := b.Column("name")
	names, err := name.Text()
	require.NoError(t, err)
	counts, err := column.Slice[int64](b.Column("count"))
	require.NoError(t, err)
	for i := range all {
		all[i] = group{name: names.String(i), null: name.Null(i), count: counts[i]}
	}
	if b.Index("day") >= 0 {
		days, err := column.Slice[int64](b.Column("day"))
		require.NoError(t, err)
		for i := range all {
			all[i].day = days[i]
		}
	}
	if sum := b.Column("sum(amount)"); sum.Err() == nil {
		sums, err := column.Slice[float64](sum)
		require.NoError(t, err)
		for i := range all {
			if !sum.Null(i) {
				all[i].sum, all[i].amount = sums[i], true
			}
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

// requireBothForms fails unless the names in the files come both as codes of several dictionaries and as text.
func requireBothForms(t *testing.T, files []string) {
	t.Helper()
	ds, err := parquetscan.Open(t.Context(), files...)
	require.NoError(t, err)
	defer ds.Close()
	scan, err := ds.Scan(parquetscan.Options{Columns: []string{"name"}})
	require.NoError(t, err)
	dictionaries, texts := map[*column.Dictionary]bool{}, 0
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

// TestPrint groups by columns of several types and checks the output.
func TestPrint(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "on", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "date", Type: arrow.FixedWidthTypes.Date32},
		{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}},
		{Name: "id", Type: &arrow.FixedSizeBinaryType{ByteWidth: 4}},
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
		b.Field(3).(*array.FixedSizeBinaryBuilder).Append([]byte("0123"))
		b.Field(4).(*array.Decimal128Builder).Append(decimal128.FromI64(-105))
	}
	path := write(t, "types.parquet", b, 2)
	var stdout, stderr bytes.Buffer
	args := []string{"-key", "on", "-key", "date", "-key", "at", "-key", "id", "-key", "price", "-value", "price", path}
	code := run(t.Context(), args, &stdout, &stderr)
	require.Zero(t, code, stderr.String())
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	require.Len(t, lines, 5)
	require.Equal(t, []string{"on", "date", "at", "id", "price", "count", "sum(price)"}, strings.Fields(lines[0]))
	same := []string{"1969-12-31", "2023-11-14T22:13:20.5Z", "0x30313233", "-1.05"}
	require.Equal(t, slices.Concat([]string{"true"}, same, []string{"4", "-4.20"}), strings.Fields(lines[2]))
	require.Equal(t, slices.Concat([]string{"NULL"}, same, []string{"1", "-1.05"}), strings.Fields(lines[3]))
}

func TestRun(t *testing.T) {
	file := writeFile(t, "rows.parquet", makeRows(100, 3))
	for _, m := range []struct {
		args string
		code int
		want string // part of the only line on stderr, or of stdout if the code is 0
	}{
		{"-help", 0, "-key"},
		{"-key name -value amount -limit 2 " + file, 0, "sum(amount)"},
		{"-key day " + file, 0, "day"},
		{file, 2, "-key is required"},
		{"-key name", 2, "no files"},
		{"-key name -limit -1 " + file, 2, "-limit"},
		{"-key name -workers -1 " + file, 2, "-workers"},
		{"-key name -color " + file, 2, "not defined: -color"},
		{"-key name no-such-file.parquet", 1, "no-such-file.parquet"},
		{"-key name main.go", 1, "main.go"},
		{"-key missing " + file, 1, "no such column"},
		{"-key day -value name " + file, 1, "groupby: column name"},
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
