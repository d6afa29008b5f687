// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Narrowed scans have the results of scans of batches in memory, which are not narrowed, and pass on fewer rows.

// manyRows returns rows of all kinds that narrow a scan.
func manyRows(n int) *column.Batch {
	r := rand.New(rand.NewPCG(3, 4))
	ints, at := make([]int32, n), make([]int64, n)
	floats, texts, coded := make([]float64, n), make([]string, n), make([]string, n)
	null, other := make([]bool, n), make([]bool, n)
	for i := range n {
		ints[i], at[i] = r.Int32N(500), r.Int64N(1<<40)
		floats[i] = []float64{math.NaN(), 0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), float64(r.IntN(50))}[r.IntN(6)]
		texts[i], coded[i] = fmt.Sprint("text ", r.IntN(400)), fmt.Sprint("word ", r.IntN(30))
		null[i], other[i] = r.IntN(9) == 0, r.IntN(200) == 0
	}
	time, err := column.Of("at", at).WithType(column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true})
	if err != nil {
		panic(err)
	}
	day, err := column.Of("day", ints).WithType(column.Type{Kind: column.Date})
	if err != nil {
		panic(err)
	}
	return column.NewBatch(column.Of("i", ints).WithNulls(null), time.WithNulls(other), day, column.Of("f", floats).WithNulls(null),
		column.Strings("s", texts).WithNulls(other), columntest.WithDictionary(column.Strings("coded", coded).WithNulls(null)),
		columntest.Column(r, column.Field{Name: "id", Type: column.Type{Kind: column.UUID}, Nullable: true}, n, 0.1),
		columntest.Column(r, column.Field{Name: "flag", Type: column.Type{Kind: column.Bool}, Nullable: true}, n, 0.2),
		columntest.Column(r, column.Field{Name: "small", Type: column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2}}, n, 0))
}

// scanned returns the result of a chain on a file, and the number of rows that the scan passed on.
func scanned(t *testing.T, workers int, p pipe.Pipe) (*column.Batch, int64) {
	t.Helper()
	var stats pipe.Stats
	b, err := p.Configure(pipe.Config{Workers: workers, Stats: &stats}).Batch(context.Background())
	require.NoError(t, err)
	return b, stats.Steps[0].Rows
}

func TestOrderNarrowsScan(t *testing.T) {
	rows := manyRows(3000)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100, PageBytes: 200}, rows))
	memory := pipe.Batches(rows)
	for _, name := range []string{"i", "at", "day", "f", "s", "coded", "id", "flag", "small"} {
		for _, order := range []pipe.Order{
			pipe.Ascending(name), pipe.Descending(name), pipe.Ascending(name).NullsFirst(), pipe.Descending(name).NullsFirst(),
		} {
			for _, where := range []string{"true", "coded like '%1%' and i <> 7", "at is null or s like '%0'"} {
				chain := func(p pipe.Pipe) pipe.Pipe {
					return p.Where(where).With("x", "length(s)").OrderBy(order, pipe.Ascending("x")).Offset(2).Limit(5)
				}
				want, err := chain(memory).Batch(context.Background())
				require.NoError(t, err)
				got, passed := scanned(t, 1, chain(file))
				require.Empty(t, column.Diff(got, want), "%v where %s", order, where)
				if (name == "i" || name == "at" || name == "s" || name == "day") && where == "true" {
					require.Less(t, passed, int64(rows.Rows/2), "%v", order)
				}
			}
		}
	}
}

// TestOrderAfterFailingExpression requires that a scan is not narrowed if rows that are left out could fail.
func TestOrderAfterFailingExpression(t *testing.T) {
	values := make([]int32, 3000)
	for i := range values {
		values[i] = int32(i)
	}
	rows := column.NewBatch(column.Of("i", values))
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100}, rows)).Configure(pipe.Config{Workers: 1})
	for _, p := range []pipe.Pipe{ // the row that fails is among the last
		file.With("x", "1000 / (i - 2900)").OrderBy(pipe.Ascending("i")).Limit(2).Select("x"),
		file.Where("1000 / (i - 2900) > -5000").OrderBy(pipe.Ascending("i")).Limit(2),
	} {
		_, err := p.Batch(context.Background())
		require.ErrorContains(t, err, "division")
	}
}

func TestFewGroupsNarrowScan(t *testing.T) {
	rows := manyRows(3000)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100, PageBytes: 200}, rows))
	memory := pipe.Batches(rows)
	for _, keys := range [][]string{
		{"i"}, {"i", "s"}, {"f"}, {"coded", "flag"}, {"at", "small"}, {"id", "day"}, {"length(s)"}, {"f", "i"},
	} {
		aggregates := []groupby.Aggregate{groupby.Count().As("n"), groupby.Min("s")}
		// several goroutines may read on before one of them narrows the scan
		for k, source := range []pipe.Pipe{file, file, memory} {
			groups := source.Where("s is not null").GroupBy(keys...).Aggregate(aggregates...)
			all, err := groups.Batch(context.Background())
			require.NoError(t, err)
			want := map[string]bool{}
			for i := range all.Rows {
				want[row(all, i)] = true
			}
			for _, n := range []int{1, 4, 900} {
				few, passed := scanned(t, 1+k%2, groups.Limit(int64(n)+1).Offset(1))
				require.Equal(t, min(n, all.Rows-1), few.Rows, keys)
				for i := range few.Rows {
					require.True(t, want[row(few, i)], "%v: group %s", keys, row(few, i))
				}
				if keys[0] == "i" && n < 900 && k == 0 {
					require.Less(t, passed, int64(rows.Rows/2), keys)
				}
			}
		}
	}
	few, _ := scanned(t, 1, file.Distinct("i").Limit(3))
	require.Equal(t, 3, few.Rows)
	few, passed := scanned(t, 1, file.GroupBy("i").Aggregate(groupby.Count().As("n")).Having("n > 5").Limit(3))
	require.Equal(t, 3, few.Rows)
	require.EqualValues(t, rows.Rows, passed, "a condition on groups needs them all")
}

// row returns a row as text.
func row(b *column.Batch, i int) string {
	s := ""
	for k := range b.Columns {
		s += fmt.Sprintf("%v|", b.Columns[k].Value(i))
	}
	return s
}

// FuzzFewGroups compares some groups of random rows with all groups.
func FuzzFewGroups(f *testing.F) {
	for i := range 10 {
		f.Add([]byte{byte(i), byte(29 * i), byte(i ^ 0x33)})
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := newChooser(data)
		rows := c.rows(1 + c.IntN(200))
		names := []string{"i", "j", "f", "s", "coded", "at", "flag", "id"}
		c.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		groups := c.source(t, rows).GroupBy(names[:1+c.IntN(3)]...).Aggregate(groupby.Count().As("n"), groupby.CountOf("f"))
		all, err := groups.Batch(context.Background())
		require.NoError(t, err)
		want := map[string]bool{}
		for i := range all.Rows {
			want[row(all, i)] = true
		}
		n := 1 + c.IntN(20)
		few, _ := scanned(t, 1, groups.Limit(int64(n)))
		require.Equal(t, min(n, all.Rows), few.Rows)
		for i := range few.Rows {
			require.True(t, want[row(few, i)], "group %s", row(few, i))
		}
	})
}
