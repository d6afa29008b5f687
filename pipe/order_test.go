// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Orders of every type, ties, and windows.

// everyType returns n rows with a column of each field of columntest, and the number of the row.
func everyType(r *rand.Rand, n int) *column.Batch {
	b := columntest.Batch(r, columntest.Fields(), n, 0.1)
	halves, numbers := make([]uint16, n), make([]int64, n)
	for i := range n {
		halves[i], numbers[i] = uint16(r.Uint32()), int64(i)
	}
	half, err := column.Of("half", halves).WithType(column.Type{Kind: column.Float16})
	if err != nil {
		panic(err)
	}
	b.Columns = append(b.Columns, half, column.Of("number", numbers))
	return b
}

// typeHasOrder reports whether OrderBy takes a type.
func typeHasOrder(t column.Type) bool {
	switch t.Kind {
	case column.Duration, column.Varint, column.Decimal, column.Vector, column.List, column.Map, column.Struct, column.Tuple:
		return false
	}
	return true
}

// TestTypesWithoutOrder requires an error for an order by a column of a type without one.
func TestTypesWithoutOrder(t *testing.T) {
	b := everyType(rand.New(rand.NewPCG(7, 8)), 2)
	for _, f := range b.Schema() {
		_, err := pipe.Batches(b).OrderBy(pipe.Ascending(f.Name)).Schema(t.Context())
		if typeHasOrder(f.Type) {
			require.NoError(t, err, f.Name)
			continue
		}
		require.ErrorIs(t, err, pipe.ErrNoOrder, f.Name)
		require.ErrorContains(t, err, `pipe: OrderBy("`+f.Name+`"): `)
	}
}

// TestEveryTypeIsOrdered sorts rows by a column of each type, in memory and in a file whose scan the first rows narrow.
func TestEveryTypeIsOrdered(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	memory := everyType(r, 80)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 10, PageBytes: 100}, memory))
	stored, err := file.Batch(t.Context())
	require.NoError(t, err)
	for _, source := range []struct {
		pipe pipe.Pipe
		rows *column.Batch
	}{{pipe.Batches(memory.Slice(0, 30), memory.Slice(30, 80)), memory}, {file, stored}} {
		for _, f := range source.rows.Schema() {
			if f.Name == "number" || !typeHasOrder(f.Type) {
				continue
			}
			p := source.pipe.Select(f.Name, "number").Configure(pipe.Config{Workers: 2})
			for k := range 4 {
				o := order{f.Name, k&1 != 0, k&2 != 0}
				rows, err := source.rows.Select(f.Name, "number")
				require.NoError(t, err)
				ref := tableOf(t, rows)
				ref.orderBy(nil, o)
				ref.require(p.OrderBy(o.pipe()), f.Name)
				ref.limit(9)
				ref.offset(2)
				ref.require(p.OrderBy(o.pipe()).Limit(9).Offset(2), f.Name)
			}
		}
	}
}

// TestEveryTypeMakesFewGroups requires that some groups of a file, whose scan they narrow, are among all groups.
func TestEveryTypeMakesFewGroups(t *testing.T) {
	rows := everyType(rand.New(rand.NewPCG(9, 8)), 150)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 16, PageBytes: 100}, rows))
	for _, f := range rows.Schema() {
		if f.Type.Kind == column.Decimal || f.Type.Kind == column.Vector || f.Type.Kind.IsNested() {
			continue // groupby refuses these as keys
		}
		groups := file.GroupBy(f.Name).Aggregate(groupby.Count().As("n"), groupby.Max("number"))
		all, err := groups.Batch(t.Context())
		require.NoError(t, err, f.Name)
		want := map[string]bool{}
		for i := range all.Rows {
			want[row(all, i)] = true
		}
		few, err := groups.Limit(3).Configure(pipe.Config{Workers: 1}).Batch(t.Context())
		require.NoError(t, err, f.Name)
		require.Equal(t, min(3, all.Rows), few.Rows, f.Name)
		for i := range few.Rows {
			require.True(t, want[row(few, i)], "%s: group %s", f.Name, row(few, i))
		}
	}
}

// TestStatisticsOfEveryType requires the minimum and maximum of a file, of rows and of none, and lists the kinds for
// which footers have them.
func TestStatisticsOfEveryType(t *testing.T) {
	answered := map[column.Kind]bool{}
	for _, n := range []int{100, 0} {
		rows := everyType(rand.New(rand.NewPCG(10, 8)), n)
		source := openFile(t, parquetscan.WriterOptions{RowGroupRows: 16}, rows)
		stored, err := pipe.Dataset(source).Batch(t.Context())
		require.NoError(t, err)
		for _, f := range stored.Schema() {
			aggregates := []groupby.Aggregate{groupby.Min(f.Name).As("min"), groupby.Max(f.Name).As("max"), groupby.CountOf(f.Name).As("count")}
			want, wrong := pipe.Batches(stored).Aggregate(aggregates...).Batch(t.Context())
			p := pipe.Dataset(source).Aggregate(aggregates...)
			got, err := p.Batch(t.Context())
			if wrong != nil {
				require.EqualError(t, err, wrong.Error())
				continue
			}
			require.NoError(t, err, f.Name)
			require.NoError(t, got.Check(), f.Name)
			require.Empty(t, column.Diff(got, want), f.Name)
			plan, err := p.Explain(t.Context())
			require.NoError(t, err)
			if n > 0 && plan == "statistics of parquet rows.parquet\n" {
				answered[f.Type.Kind] = true
			}
		}
	}
	kinds := map[column.Kind]bool{column.Bool: true, column.Date: true, column.Time: true, column.Timestamp: true, column.Decimal64: true}
	kinds[column.String], kinds[column.Binary], kinds[column.UUID] = true, true, true
	for k := column.Int8; k <= column.Uint64; k++ {
		kinds[k] = true
	}
	require.Equal(t, kinds, answered)
}

// TestEqualRowsStayInTheirOrder orders rows, many of them equal: rows of batches, files, unions and earlier orders
// stay in their order, groups are ordered by their keys, also behind a selection that moves or drops columns.
func TestEqualRowsStayInTheirOrder(t *testing.T) {
	const n = 3000
	r := rand.New(rand.NewPCG(1, 2))
	k, v, at := make([]int64, n), make([]int64, n), make([]int64, n)
	for i := range n {
		k[i], v[i], at[i] = r.Int64N(4), r.Int64N(1000), int64(i)
	}
	b := column.NewBatch(column.Of("v", v), column.Of("k", k), column.Of("at", at))
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 300}, b))
	memory := pipe.Batches(b.Slice(0, 1000), b.Slice(1000, n))
	first := slices.SortedStableFunc(slices.Values(at), func(x, y int64) int { return cmp.Compare(k[x], k[y]) })
	byV := slices.SortedStableFunc(slices.Values(at), func(x, y int64) int { return cmp.Compare(v[x], v[y]) })
	slices.SortStableFunc(byV, func(x, y int64) int { return cmp.Compare(k[x], k[y]) })
	for name, c := range map[string]struct {
		p    pipe.Pipe
		want []int64
	}{
		"memory":        {memory, first},
		"file":          {file, first},
		"union":         {pipe.Union(memory.Where("at < 1700"), file.Where("at >= 1700")), first},
		"earlier order": {memory.OrderBy(pipe.Ascending("v")), byV},
	} {
		for _, workers := range []int{1, 4} {
			p := c.p.OrderBy(pipe.Ascending("k")).Configure(pipe.Config{Workers: workers})
			for limit, p := range map[int]pipe.Pipe{n: p, 700: p.Limit(700)} {
				got, err := p.Batch(t.Context())
				require.NoError(t, err)
				require.Equal(t, c.want[:limit], values64(t, got, "at"), name)
			}
		}
	}

	groups := memory.GroupBy("k", "v").Aggregate(groupby.Count().As("n"), groupby.Min("at").As("least"))
	want, err := groups.OrderBy(pipe.Ascending("n"), pipe.Ascending("k"), pipe.Ascending("v")).Batch(t.Context())
	require.NoError(t, err)
	for _, names := range [][]string{{"least", "n", "v", "k"}, {"n", "v", "k"}, {"v", "k", "n"}} {
		want, err := want.Select(names...)
		require.NoError(t, err)
		got, err := groups.Select(names...).OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), names)
	}
}

// TestWindowsKeepTheirPlace has windows before and after verbs that change which rows there are.
func TestWindowsKeepTheirPlace(t *testing.T) {
	p := pipe.Batches(numbers(100)).Configure(pipe.Config{Workers: 1})
	down := p.OrderBy(pipe.Descending("v"))
	for name, c := range map[string]struct {
		p    pipe.Pipe
		want []int64
	}{
		"a condition between an order and a limit":  {down.Where("w = 3").Limit(2), []int64{93, 83}},
		"a limit between an order and a condition":  {down.Limit(20).Where("w = 3"), []int64{93, 83}},
		"a condition between two limits":            {down.Limit(20).Where("w = 3").Limit(1), []int64{93}},
		"a condition between a limit and an offset": {down.Limit(20).Where("w = 3").Offset(1), []int64{83}},
		"a limit of no rows, and a greater one":     {down.Limit(0).Limit(5), []int64{}},
		"a limit, and a greater one":                {down.Limit(2).Limit(5), []int64{99, 98}},
		"a limit, and a smaller one":                {down.Limit(5).Limit(2), []int64{99, 98}},
		"an offset of a limit":                      {down.Limit(5).Offset(3), []int64{96, 95}},
		"a limit of an offset":                      {down.Offset(3).Limit(2), []int64{96, 95}},
		"columns between an order and a limit":      {down.With("x", "v").Select("x", "v").Limit(2), []int64{99, 98}},
		"without an order":                          {p.Offset(3).Limit(4).Offset(1).Limit(2), []int64{4, 5}},
		"without an order, a limit of no rows":      {p.Limit(0).Limit(4), []int64{}},
	} {
		got, err := c.p.Batch(t.Context())
		require.NoError(t, err, name)
		require.Equal(t, c.want, values64(t, got, "v"), name)
	}
}

// TestConditionsKeepTheTypesOfTheirPlace has a column that is replaced by one of another type after a condition, a
// group and an order that need it.
func TestConditionsKeepTheTypesOfTheirPlace(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{1, 2, 3}), column.Strings("s", []string{"a", "bb", "bb"}))
	for _, p := range []pipe.Pipe{pipe.Batches(b), pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b))} {
		got, err := p.Where("s = 'bb' and v > 2").With("s", "v + 1").With("v", "'x'").Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, column.NewBatch(column.Strings("v", []string{"x"}), column.Of("s", []int64{4}))))
		got, err = p.GroupBy("s").Aggregate(groupby.Sum("v").As("v")).OrderBy(pipe.Descending("s")).With("s", "v").Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, column.NewBatch(column.Of("s", []int64{5, 1}), column.Of("v", []int64{5, 1}))))
	}
}

// TestCountDistinctOfManyKeys has as many keys as groups can have, beside the column that is counted.
func TestCountDistinctOfManyKeys(t *testing.T) {
	var columns []column.Column
	var keys []string
	for i := range 32 {
		keys = append(keys, fmt.Sprint("k", i))
		columns = append(columns, column.Of(keys[i], []int64{1, 1, int64(i)}))
	}
	b := column.NewBatch(append(columns, column.Of("v", []int64{5, 6, 7}))...)
	for n := 30; n <= 32; n++ {
		got, err := pipe.Batches(b).GroupBy(keys[:n]...).Aggregate(groupby.CountDistinct("v").As("n")).OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{1, 2}, values64(t, got, "n"))
	}
}

// TestFirstGroupsOfEqualAggregates orders groups by an aggregate that is NULL for some, and by two columns: a limit
// keeps the first groups of all.
func TestFirstGroupsOfEqualAggregates(t *testing.T) {
	const n = 400
	r := rand.New(rand.NewPCG(4, 4))
	v, x, null := make([]int64, n), make([]int64, n), make([]bool, n)
	for i := range v {
		v[i], x[i], null[i] = int64(i/2), r.Int64N(5), i%14 < 2
	}
	groups := pipe.Batches(column.NewBatch(column.Of("v", v), column.Of("x", x).WithNulls(null))).GroupBy("v").Aggregate(groupby.Max("x").As("most"))
	for _, by := range [][]pipe.Order{
		{pipe.Ascending("most").NullsFirst()},
		{pipe.Descending("most").NullsFirst()},
		{pipe.Ascending("most")},
		{pipe.Descending("most")},
		{pipe.Ascending("most"), pipe.Descending("v")},
		{pipe.Descending("most"), pipe.Descending("v")},
	} {
		all, err := groups.OrderBy(by...).Batch(t.Context())
		require.NoError(t, err)
		for _, limit := range []int64{3, 50, 150} {
			got, err := groups.OrderBy(by...).Limit(limit).Batch(t.Context())
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, all.Slice(0, int(limit))), by)
		}
	}
}
