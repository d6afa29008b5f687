// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/internal/leak"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

func numbers(n int) *column.Batch {
	v, w := make([]int64, n), make([]int64, n)
	for i := range v {
		v[i], w[i] = int64(i), int64(i%10)
	}
	return column.NewBatch(column.Of("v", v), column.Of("w", w))
}

// explained returns the rows of a pipe and its plan.
func explained(t *testing.T, p pipe.Pipe) (*column.Batch, string) {
	t.Helper()
	b, err := p.Batch(t.Context())
	require.NoError(t, err)
	plan, err := p.Explain(t.Context())
	require.NoError(t, err)
	return b, plan
}

func TestErrorsNameTheirVerb(t *testing.T) {
	p := pipe.Batches(numbers(3))
	for want, p := range map[string]pipe.Pipe{
		`pipe: Where("v >"): expr: at offset 3: `:             p.Where("v >"),
		`pipe: Where("v"): expr: at offset 0: v: a selection`: p.Where("v"),
		`pipe: Where("v = ?"): expr: at offset 4: found 0`:    p.Where("v = ?"),
		`pipe: Having("v = 'a'"): expr: `:                     p.Having("v = 'a'"),
		`pipe: With("v + 'a'"): expr: `:                       p.With("x", "v + 'a'"),
		`pipe: Select("x"): expr: `:                           p.Select("v", "x"),
		`pipe: Select("v"): the column is listed twice`:       p.Select("v", "v"),
		`pipe: GroupBy("x"): expr: `:                          p.GroupBy("x").Aggregate(),
		`pipe: Aggregate("x"): expr: `:                        p.Aggregate(groupby.Sum("x")),
		`pipe: Distinct("v + x"): expr: `:                     p.Distinct("v + x"),
		`pipe: OrderBy("x"): expr: `:                          p.OrderBy(pipe.Ascending("x")),
		`pipe: Where("x = 1"): expr: x: no such column`:       p.Where("?", expr.Col("x").Eq(1)),
		`pipe: Limit(-1): the number of rows is negative`:     p.Limit(-1),
		`pipe: Offset(-1): the number of rows is negative`:    p.Offset(-1),
		`pipe: Union(): there is no source of rows`:           pipe.Union(),
		`pipe: Batches(): there is no source of rows`:         pipe.Batches(),
		`pipe: Pipe(): there is no source of rows`:            pipe.Union(pipe.Pipe{}),
		`pipe: Batches(1): column: no such column: "v"`:       pipe.Batches(numbers(1), &column.Batch{}),
		`pipe: Union(1): column: v is bool, not int64`:        pipe.Union(p, pipe.Batches(numbers(1)).With("v", "true")),
		`pipe: Parquet("none.parquet"): parquetscan: `:        pipe.Parquet("none.parquet"),
		`pipe: With("1 / w"): expr: row 0: 1 / w: `:           p.With("x", "1 / w"),
		`pipe: GroupBy("v"): groupby: column w: `:             p.With("w", "'a'").GroupBy("v").Aggregate(groupby.Sum("w")),
		`pipe: GroupBy("v", "v + 1"): groupby: column w: `:    p.With("w", "'a'").GroupBy("v", "v + 1").Aggregate(groupby.Sum("w")),
		`pipe: Where("v > ?"): expr: x: no such column`:       p.Where("v > ?", expr.Col("x")),
		`pipe: Where("?"): expr: `:                            p.Where("?", 5),
		`pipe: Where("1 / w > 0"): expr: row 0: 1 / w: `:      p.Where("1 / w > 0"),
		`pipe: With("w % w"): expr: row 0: `:                  p.Where("v < 9").With("x", "w % w"),
		`pipe: Having("1 / n > 0"): expr: row 0: `:            p.GroupBy("v").Aggregate(groupby.Count().As("n")).With("n", "n - 1").Having("1 / n > 0"),
		`pipe: Batches(1): column: `:                          pipe.Batches(numbers(1), &column.Batch{Rows: 2, Columns: numbers(1).Columns}),
	} {
		_, err := p.Batch(t.Context())
		require.ErrorContains(t, err, want)
		require.Contains(t, err.Error()[:len(want)], want)
		var e *pipe.Error
		require.ErrorAs(t, err, &e)
	}
	ds := openFile(t, parquetscan.WriterOptions{RowGroupRows: 10}, numbers(30))
	_, err := pipe.Dataset(ds).Where("1 / (v - 25) = 0").Batch(t.Context())
	require.ErrorIs(t, err, expr.ErrDivision)
	require.ErrorContains(t, err, "in rows.parquet, row group 2, rows from 20: ")
}

func TestParquetReadsNoMoreThanNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "n.parquet")
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, numbers(100)))
	var stats pipe.Stats
	b, plan := explained(t, pipe.Parquet(path).Where("v >= 90 and v % 7 = 0").Where("w <> 8").
		With("unused", "1 / 0").Aggregate(groupby.Count()).Configure(pipe.Config{Stats: &stats}))
	require.Equal(t, int64(1), b.Columns[0].Value(0))
	require.Contains(t, plan, "100 rows in 1 row group, columns none\n  pushed: v >= 90 and w <> 8\n  selected: v % 7 = 0\naggregate: count\n")
	require.Len(t, stats.Steps, 2)
	require.Equal(t, []int64{1, 1}, []int64{stats.Steps[0].Rows, stats.Steps[1].Rows})
	require.Positive(t, stats.Bytes)
	require.Contains(t, stats.String(), "aggregate: count")
}

func TestStatisticsAnswer(t *testing.T) {
	nulls := make([]bool, 30)
	nulls[3] = true
	b := numbers(30)
	b.Columns[1] = b.Columns[1].WithNulls(nulls)
	ds := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 7}, b))
	aggregates := []groupby.Aggregate{groupby.Count(), groupby.CountOf("w"), groupby.Min("v"), groupby.Max("w").As("x")}
	got, plan := explained(t, ds.Aggregate(aggregates...))
	require.Equal(t, "statistics of parquet rows.parquet\n", plan)
	want, err := groupby.Config{Aggregates: aggregates}.Aggregate(t.Context(), b)
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, want))
	for _, p := range []pipe.Pipe{
		ds.Where("v > 3").Aggregate(groupby.Count()), ds.Aggregate(groupby.Sum("v")), ds.With("v", "v + 1").Aggregate(groupby.Min("v")),
		ds.Limit(3).Aggregate(groupby.Count()),
	} {
		_, plan := explained(t, p)
		require.NotContains(t, plan, "statistics")
	}
}

// TestStatisticsAnswerNoNaN has a maximum that no footer has.
func TestStatisticsAnswerNoNaN(t *testing.T) {
	b := column.NewBatch(column.Of("f", []float64{1, math.NaN(), 3}))
	got, _ := explained(t, pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b)).Aggregate(groupby.Max("f"), groupby.Min("f")))
	require.True(t, math.IsNaN(got.Columns[0].Value(0).(float64)))
	require.Equal(t, 1.0, got.Columns[1].Value(0))
}

// TestConditionsKeepTheirOrder has conditions that fail in rows that an earlier one leaves out, which depends on a
// computed column.
func TestConditionsKeepTheirOrder(t *testing.T) {
	b := numbers(30)
	for _, p := range []pipe.Pipe{pipe.Batches(b), pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 7}, b))} {
		got, _ := explained(t, p.With("x", "w * 2").Where("x <> 0").Where("8 / w = 2 and v > 3"))
		require.Equal(t, []int64{4, 13, 14, 23, 24}, values64(t, got, "v"))
		got, _ = explained(t, p.With("v", "-v").Where("v > -3"))
		require.Equal(t, []int64{0, -1, -2}, values64(t, got, "v"))
	}
}

// TestWhereNull filters by NULL, which has no type but the context's.
func TestWhereNull(t *testing.T) {
	p := pipe.Batches(numbers(5))
	for _, none := range []pipe.Pipe{p.Where("null"), p.Where("?", nil), p.GroupBy("v").Aggregate().Having("null")} {
		b, err := none.Batch(t.Context())
		require.NoError(t, err)
		require.Zero(t, b.Rows)
	}
}

func TestAggregatesOfNothing(t *testing.T) {
	p := pipe.Batches(numbers(5)).Where("v < 0")
	b, _ := explained(t, p.Aggregate(groupby.Count(), groupby.CountOf("v"), groupby.Sum("v"), groupby.CountDistinct("w"), groupby.Min("cast(v as string)")))
	require.Equal(t, 1, b.Rows)
	for i, want := range []any{int64(0), int64(0), nil, int64(0), nil} {
		require.Equal(t, want, b.Columns[i].Value(0), b.Columns[i].Name)
	}
	b, _ = explained(t, p.GroupBy("w").Aggregate(groupby.Count()))
	require.Zero(t, b.Rows)
	require.Len(t, b.Columns, 2)
	b, _ = explained(t, p.GroupBy("w").Aggregate(groupby.Count()).Aggregate(groupby.Count().As("groups")))
	require.Equal(t, int64(0), b.Column("groups").Value(0))
}

func TestDerivedKeys(t *testing.T) {
	p := pipe.Batches(numbers(40))
	b, plan := explained(t, p.GroupBy("w - 1", "w", "2").Aggregate(groupby.Count()).OrderBy(pipe.Ascending("w")).Limit(1))
	require.Contains(t, plan, "group by w: count\nwith")
	require.Equal(t, "w - 1 int64?, w int64?, 2 int64?, count int64?", b.Schema().String())
	require.Equal(t, int64(-1), b.Column("w - 1").Value(0))
	for _, p := range []pipe.Pipe{
		p.GroupBy("w - 1", "w").Aggregate(groupby.Sum("w - 1")), // the argument is read before
		p.With("f", "cast(w as float64)").GroupBy("f", "1 / f").Aggregate(),
		p.GroupBy("2").Aggregate(groupby.Count()),
		p.With("x", "w - 1").Where("x > 3").GroupBy("x", "w").Aggregate(),
	} {
		_, plan := explained(t, p)
		require.NotContains(t, plan, "\nselect", plan)
	}
}

// TestFloatKeysAreNotDerived has -0 and 0, which are one key, but have other quotients.
func TestFloatKeysAreNotDerived(t *testing.T) {
	b := column.NewBatch(column.Of("f", []float64{0, math.Copysign(0, -1)}))
	got, _ := explained(t, pipe.Batches(b).GroupBy("f", "1 / f").Aggregate(groupby.Count()).OrderBy(pipe.Ascending("1 / f")))
	require.Equal(t, 2, got.Rows)
	require.Equal(t, []any{math.Inf(-1), math.Inf(1)}, []any{got.Column("1 / f").Value(0), got.Column("1 / f").Value(1)})
}

func TestGroupsAreLimitedWhereTheyAreMade(t *testing.T) {
	p := pipe.Batches(numbers(5000))
	b, plan := explained(t, p.GroupBy("v").Aggregate(groupby.Sum("w").As("s")).OrderBy(pipe.Descending("s")).Offset(1).Limit(2))
	require.Contains(t, plan, "(the first 3 groups)")
	require.Equal(t, []any{int64(19), int64(29)}, []any{b.Columns[0].Value(0), b.Columns[0].Value(1)})
}

// TestGroupsAreLimitedBeforeComputedColumns requires a limit of groups unless the sort orders equal groups otherwise,
// needs a computed column, or follows a computation that may fail.
func TestGroupsAreLimitedBeforeComputedColumns(t *testing.T) {
	b := numbers(300)
	small := make([]int32, b.Rows)
	for i := range small {
		small[i] = int32(i*i%29 - 10)
	}
	b.Columns = append(b.Columns, column.Of("i", small))
	p := pipe.Batches(b)
	counted := func(keys ...string) pipe.Pipe { return p.GroupBy(keys...).Aggregate(groupby.Count().As("c")) }
	for i, c := range []struct {
		p       pipe.Pipe
		by      pipe.Order
		limited bool
	}{
		{counted("i", "i - 1"), pipe.Descending("c"), true},
		{counted("2", "i"), pipe.Descending("c"), true},
		{counted("i", "3 - i", "-(i + 1)").Select("c", "i"), pipe.Ascending("c"), true},
		{counted("i").With("x", "c > 2").With("y", "x"), pipe.Descending("i"), true},
		{counted("3 - i", "i"), pipe.Descending("c"), false},
		{counted("w", "w - 1"), pipe.Descending("c"), false},
		{counted("i").With("x", "i % 3"), pipe.Descending("x"), false},
		{counted("i").With("x", "1 / (i - 30)"), pipe.Descending("c"), false},
		{counted("i", "w").With("i", "2"), pipe.Descending("c"), false},
		{counted("i").With("c", "-i"), pipe.Ascending("c"), false},
	} {
		got, plan := explained(t, c.p.OrderBy(c.by).Offset(1).Limit(4))
		require.Equal(t, c.limited, strings.Contains(plan, "(the first 5 groups)"), "%d: %s", i, plan)
		all, err := c.p.OrderBy(c.by).Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, all.Slice(1, 5)), i)
	}
}

func TestLimitStopsTheScan(t *testing.T) {
	leak.Require(t)
	var batches []*column.Batch
	for range 100 {
		batches = append(batches, numbers(100))
	}
	var stats pipe.Stats
	b, err := pipe.Batches(batches...).Offset(150).Limit(10).Configure(pipe.Config{Stats: &stats, Workers: 2}).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, 10, b.Rows)
	require.Less(t, stats.Steps[0].Rows, int64(10000))
	b, err = pipe.Union(pipe.Batches(batches...).Limit(3), pipe.Batches(batches...)).Limit(4).Limit(3).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, 3, b.Rows)
}

// TestWindowsBeyondTheRows has windows whose end is no int64.
func TestWindowsBeyondTheRows(t *testing.T) {
	b := numbers(5000) // more rows than a sort holds without a cut
	file := openFile(t, parquetscan.WriterOptions{RowGroupRows: 700}, b)
	const most = math.MaxInt64
	for _, p := range []pipe.Pipe{pipe.Batches(b), pipe.Dataset(file)} {
		for _, p := range []pipe.Pipe{p, p.OrderBy(pipe.Descending("w")), p.GroupBy("v").Aggregate(groupby.Max("w")).OrderBy(pipe.Ascending("v"))} {
			for i, c := range []struct {
				pipe pipe.Pipe
				want int
			}{
				{p.Limit(most), 5000},
				{p.Limit(most/2 + 1), 5000},
				{p.Limit(most).Offset(1), 4999},
				{p.Offset(1).Limit(most), 4999},
				{p.Offset(most).Offset(1), 0},
				{p.Offset(most).Limit(1), 0},
				{p.Offset(most).Limit(most), 0},
				{p.Limit(0), 0},
				{p.Limit(3).Offset(3), 0},
				{p.Limit(3).Offset(most), 0},
				{p.Offset(4999).Limit(3), 1},
				{p.Offset(most - 1).Offset(most - 1), 0},
			} {
				got, err := c.pipe.Batch(t.Context())
				require.NoError(t, err, i)
				require.Equal(t, c.want, got.Rows, i)
				require.Len(t, got.Columns, 2, i)
			}
		}
	}
}

func TestBatchesEndEarly(t *testing.T) {
	leak.Require(t)
	p := pipe.Batches(numbers(100000)).With("x", "v + 1")
	for b, err := range p.Batches(t.Context()) {
		require.NoError(t, err)
		require.NotZero(t, b.Rows)
		break
	}
	rows := 0
	for b, err := range p.Batches(t.Context()) {
		require.NoError(t, err)
		rows += b.Rows
	}
	require.Equal(t, 100000, rows)
	for b, err := range p.Where("v < 0").Batches(t.Context()) {
		require.NoError(t, err)
		require.Len(t, b.Columns, 3)
	}
	rows = 0
	for b, err := range p.Where("v > 70000 or v = 3").Where("w <> 3 or v = 3").Batches(t.Context()) { // parts have no rows
		require.NoError(t, err)
		require.NotZero(t, b.Rows)
		rows += b.Rows
	}
	require.Equal(t, 27000, rows)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	reason := errors.New("no longer wanted")
	var last error
	for _, err := range p.Batches(ctx) {
		cancel(reason)
		last = err
	}
	require.ErrorIs(t, last, reason)
	_, err := p.Batch(ctx)
	require.ErrorIs(t, err, reason)
}

func TestMemoryLimit(t *testing.T) {
	p := pipe.Batches(numbers(200000)).GroupBy("v").Aggregate(groupby.Count(), groupby.Sum("w")).Aggregate(groupby.Count().As("n"))
	_, err := p.Configure(pipe.Config{MemoryLimit: 1 << 20}).Batch(t.Context())
	require.ErrorIs(t, err, groupby.ErrMemoryLimit)
	b, err := p.Configure(pipe.Config{MemoryLimit: 4 << 20, SpillDir: t.TempDir()}).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(200000), b.Column("n").Value(0))
}

func TestTopRowsOfMany(t *testing.T) {
	n := 40000 // several cuts of each goroutine
	b := numbers(n)
	for _, workers := range []int{1, 3} {
		p := pipe.Batches(b).Configure(pipe.Config{Workers: workers})
		top, err := p.OrderBy(pipe.Descending("w")).Offset(5).Limit(4).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{59, 69, 79, 89}, values64(t, top, "v"))
		top, err = p.OrderBy(pipe.Descending("w"), pipe.Descending("v")).Limit(2).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{int64(n - 1), int64(n - 11)}, values64(t, top, "v"))
		top, err = p.OrderBy(pipe.Descending("v")).Limit(3).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{int64(n - 1), int64(n - 2), int64(n - 3)}, values64(t, top, "v"))
	}
}

// TestTextsWithNULAreOrdered has texts that are starts of others, before another column of the order.
func TestTextsWithNULAreOrdered(t *testing.T) {
	b := column.NewBatch(column.Strings("s", []string{"a\x00b", "a", "a\x00\x00", "a\x00", "a", "", "\x00"}), column.Of("v", []int64{5, 1, 4, 3, 2, -1, 0}))
	up, err := pipe.Batches(b).OrderBy(pipe.Ascending("s"), pipe.Ascending("v")).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{-1, 0, 1, 2, 3, 4, 5}, values64(t, up, "v"))
	down, err := pipe.Batches(b).OrderBy(pipe.Descending("s"), pipe.Ascending("v")).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{5, 4, 3, 1, 2, 0, -1}, values64(t, down, "v"))
}

func values64(t *testing.T, b *column.Batch, name string) []int64 {
	t.Helper()
	v, err := column.Slice[int64](b.Column(name))
	require.NoError(t, err)
	return v
}

func TestLateColumns(t *testing.T) {
	b := numbers(3000)
	texts := make([]string, b.Rows)
	for i := range texts {
		texts[i] = string(rune('a'+i%26)) + strconv.Itoa(i)
	}
	b.Columns = append(b.Columns, column.Strings("s", texts))
	ds := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 700, PageBytes: 500}, b))
	p := ds.Where("w > 4 and s like 'c%'").With("x", "-v").OrderBy(pipe.Descending("w"), pipe.Ascending("x")).Limit(3)
	stats, without := &pipe.Stats{}, &pipe.Stats{}
	_, err := p.Configure(pipe.Config{Stats: stats}).Batch(t.Context())
	require.NoError(t, err)
	_, err = p.Select("v", "w").Configure(pipe.Config{Stats: without}).Batch(t.Context())
	require.NoError(t, err)
	require.Greater(t, stats.Bytes, without.Bytes, "the texts of the rows")
	got, plan := explained(t, p)
	require.Contains(t, plan, "columns v, w\n  pushed: w > 4\n  selected: s like 'c%'\n")
	require.Contains(t, plan, "of these rows, columns s\n")
	want, err := pipe.Batches(b).Where("w > 4 and s like 'c%'").With("x", "-v").OrderBy(pipe.Descending("w"), pipe.Ascending("x")).
		Limit(3).Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, want))
	for _, p := range []pipe.Pipe{ds.OrderBy(pipe.Ascending("v")), ds.OrderBy(pipe.Ascending("v")).Limit(20000), ds.Limit(3)} {
		_, plan := explained(t, p)
		require.NotContains(t, plan, "of these rows")
	}
}

// TestLengthsInPlaceOfTexts requires that files are asked for lengths unless something needs the texts.
func TestLengthsInPlaceOfTexts(t *testing.T) {
	b := numbers(300)
	texts := make([]string, b.Rows)
	for i := range texts {
		texts[i] = strings.Repeat("é", i%7)
	}
	b.Columns = append(b.Columns, column.Strings("s", texts), column.Strings("t", texts))
	ds, rows := pipe.Dataset(openFile(t, parquetscan.WriterOptions{PageBytes: 500}, b)), pipe.Batches(b)
	mean := groupby.Mean("strlen(s)")
	for i, c := range []struct {
		of   func(p pipe.Pipe) pipe.Pipe
		want string // of the plan
	}{
		{func(p pipe.Pipe) pipe.Pipe { return p.Where("s <> ''").GroupBy("w").Aggregate(mean) }, "columns w, length of s\n"},
		{func(p pipe.Pipe) pipe.Pipe {
			return p.With("x", "s").With("s", "strlen(t)").GroupBy("w").Aggregate(groupby.Sum("s"), groupby.Max("x"))
		}, "columns w, s, length of t\n"},
		{func(p pipe.Pipe) pipe.Pipe {
			return p.With("n", "strlen(s)").With("m", "strlen(t)").GroupBy("n").Aggregate(groupby.Max("m"), groupby.Sum("n"))
		}, "columns length of s, length of t\n"},
		{func(p pipe.Pipe) pipe.Pipe { return p.Aggregate(mean, groupby.Min("s"), groupby.Sum("strlen(t)")) }, "columns s, length of t\n"},
		{func(p pipe.Pipe) pipe.Pipe { return p.Aggregate(mean, groupby.Sum("length(s)")) }, "columns s\n"},
		{func(p pipe.Pipe) pipe.Pipe { return p.Where("s like 'é_%'").Aggregate(mean) }, "columns s\n"},
		{func(p pipe.Pipe) pipe.Pipe { return p.Where("strlen(s) > 4").Aggregate(mean) }, "columns s\n"},
		{func(p pipe.Pipe) pipe.Pipe { return p.With("n", "strlen(s)").OrderBy(pipe.Ascending("n")) }, "columns v, w, s, t\n"},
	} {
		got, plan := explained(t, c.of(ds).OrderBy())
		require.Contains(t, plan, c.want, i)
		want, err := c.of(rows).OrderBy().Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), i)
	}
}
