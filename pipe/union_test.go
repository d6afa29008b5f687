// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Sources of several batches, files and pipes: their columns, and their errors.

// TestUnionsHaveTheColumnsOfTheFirst has members with the columns in another order, and with further ones.
func TestUnionsHaveTheColumnsOfTheFirst(t *testing.T) {
	b := numbers(4)
	p := pipe.Batches(b)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b))
	for _, second := range []pipe.Pipe{p, file, p.Select("w", "v"), p.With("x", "v").Select("x", "w", "v"), file.Select("w", "v")} {
		for _, first := range []pipe.Pipe{p, file} {
			union := pipe.Union(first, second)
			schema, err := union.Schema(t.Context())
			require.NoError(t, err)
			require.Equal(t, []string{"v", "w"}, schema.Names())
			got, err := union.Where("v > 1 and v <> w + 1").Batch(t.Context())
			require.NoError(t, err)
			require.Equal(t, []int64{2, 3, 2, 3}, values64(t, got, "v"))
			require.Equal(t, []string{"v", "w"}, got.Schema().Names())
		}
	}
	_, err := pipe.Union(p, p.Select("v")).Batch(t.Context())
	require.ErrorContains(t, err, `pipe: Union(1): column: no such column: "w"`)
	_, err = pipe.Union(p, file).Where("1 / w > 0").Batch(t.Context())
	require.ErrorContains(t, err, `pipe: Where("1 / w > 0"): `)
	require.ErrorIs(t, err, expr.ErrDivision)
}

// TestUnionsOfUnorderedRows orders rows that are equal in the order: by all columns if the rows of one member come in
// any order, also if that member is within another union.
func TestUnionsOfUnorderedRows(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{9, 3, 7}), column.Of("k", []int64{1, 0, 1}))
	p := pipe.Batches(b)
	groups := pipe.Batches(column.NewBatch(column.Of("v", []int64{8, 2}), column.Of("k", []int64{1, 0}))).GroupBy("v", "k").Aggregate()
	for name, c := range map[string]struct {
		p    pipe.Pipe
		want []int64
	}{
		"ordered":     {pipe.Union(p, p), []int64{3, 3, 9, 7, 9, 7}},
		"first":       {pipe.Union(groups, p), []int64{2, 3, 7, 8, 9}},
		"last":        {pipe.Union(p, groups), []int64{2, 3, 7, 8, 9}},
		"within":      {pipe.Union(p, pipe.Union(groups)), []int64{2, 3, 7, 8, 9}},
		"one of them": {pipe.Union(p, groups.OrderBy(pipe.Ascending("v"))), []int64{3, 2, 9, 7, 8}},
	} {
		got, err := c.p.OrderBy(pipe.Ascending("k")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, c.want, values64(t, got, "v"), name)
	}
}

// vectors returns a column v of vectors of a dimension; row 0 is NULL; dimension 0 means that all rows are.
func vectors(t *testing.T, dim int, rows int) *column.Batch {
	t.Helper()
	c := column.Column{Name: "v", Type: column.VectorOf(column.Float32, dim), Len: rows}
	values := make([]float32, dim*rows)
	for i := range values {
		values[i] = float32(i + 1)
	}
	c.Values = column.Of("", values).Values
	null := make([]bool, rows)
	for i := range null {
		null[i] = dim == 0 || i == 0
	}
	b := column.NewBatch(c.WithNulls(null))
	require.NoError(t, b.Check())
	return b
}

// TestVectorsOfUnknownDimension has members whose vectors are all NULL, beside others, in batches and unions.
func TestVectorsOfUnknownDimension(t *testing.T) {
	two, none, three := vectors(t, 2, 3), vectors(t, 0, 2), vectors(t, 3, 3)
	for _, p := range []pipe.Pipe{
		pipe.Batches(two, none), pipe.Union(pipe.Batches(two), pipe.Batches(none)), pipe.Union(pipe.Batches(two, none)),
	} {
		for text, want := range map[string]int{"v is null": 3, "v is not null": 2, "norm(v) > 0": 2, "element(v, 2) > 4": 1, "element(v, 2) is null": 3} {
			b, err := p.Where(text).Batch(t.Context())
			require.NoError(t, err, text)
			require.Equal(t, want, b.Rows, text)
		}
	}
	third := func(b *column.Batch) *column.Batch {
		c := *vectors(t, 3, b.Rows).Column("v")
		return column.NewBatch(b.Columns[0], c.As("w"))
	}
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, third(two)))
	for _, second := range []pipe.Pipe{pipe.Batches(third(two)), file} {
		_, err := pipe.Union(pipe.Batches(third(none)), second).Where("dot(v, w) > 0").Batch(t.Context())
		require.ErrorContains(t, err, `pipe: Where("dot(v, w) > 0")`)
	}
	got, err := pipe.Union(pipe.Batches(third(none)), pipe.Batches(third(two)).Where("norm(v) > 1e9")).Where("dot(v, w) > 0").Batch(t.Context())
	require.NoError(t, err, "no row has vectors of both dimensions")
	require.Zero(t, got.Rows)
	var wrong *column.TypeError
	for _, p := range []pipe.Pipe{
		pipe.Batches(two, three), pipe.Union(pipe.Batches(two), pipe.Batches(three)),
		pipe.Batches(two, column.NewBatch(column.Column{Name: "v", Type: column.VectorOf(column.Float64, 0), Len: 0})),
	} {
		_, err := p.Batch(t.Context())
		require.ErrorAs(t, err, &wrong)
		require.ErrorContains(t, err, "(1): ")
		require.ErrorContains(t, err, "vector<float32, 2> as in the first")
	}
}

// TestDistinctOfAllColumns requires that Distinct without columns has the distinct rows of all columns.
func TestDistinctOfAllColumns(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{1, 2, 1, 1}), column.Of("w", []int64{1, 1, 1, 2}))
	got, err := pipe.Batches(b).Distinct().OrderBy(pipe.Ascending("v"), pipe.Ascending("w")).Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, column.NewBatch(column.Of("v", []int64{1, 1, 2}), column.Of("w", []int64{1, 2, 1}))))
	got, err = pipe.Batches(b).Distinct("w").Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"w"}, got.Schema().Names())
}

// TestFilesOfOtherColumns has files that lack a column of the first, or have it with another type.
func TestFilesOfOtherColumns(t *testing.T) {
	files := openFiles(t, parquetscan.WriterOptions{}, []*column.Batch{numbers(3)},
		[]*column.Batch{column.NewBatch(column.Of("v", []int64{1}), column.Of("w", []float64{1}))})
	_, err := pipe.Dataset(files).Batch(t.Context())
	require.ErrorContains(t, err, `pipe: Parquet("rows.parquet", "rows1.parquet"): parquetscan: rows1.parquet`)
	var e *pipe.Error
	require.ErrorAs(t, err, &e)
}

// TestNameOfRowNumbersInAFile has a column with the name of the numbers of rows: it may be read late, but not early.
func TestNameOfRowNumbersInAFile(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{2, 1}), column.Of("row\x00", []int64{3, 4}))
	p := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b))
	got, err := p.OrderBy(pipe.Ascending("v")).Limit(1).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{4}, values64(t, got, "row\x00"))
	_, err = p.OrderBy(pipe.Ascending("row\x00")).Limit(1).Batch(t.Context())
	require.ErrorContains(t, err, `pipe: Parquet("rows.parquet"): parquetscan: RowNumbers: there is a column`)
}

// TestWindowsNumberTheirRows requires that an error behind an Offset has the number of the first of its rows.
func TestWindowsNumberTheirRows(t *testing.T) {
	b := numbers(30)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 20}, b)).Configure(pipe.Config{Workers: 1})
	for _, c := range []struct {
		p    pipe.Pipe
		from int64
	}{
		{file.Offset(5).With("x", "1 / (v - 10)"), 5},
		{file.Offset(5).Limit(10).With("x", "1 / (v - 10)"), 5},
		{file.Offset(25).With("x", "1 / (v - 28)"), 25},
		{file.With("x", "1 / (v - 28)"), 20},
		{pipe.Batches(b).Offset(7).With("x", "1 / (v - 10)"), 7},
		{pipe.Batches(b.Slice(0, 20), b.Slice(20, 30)).With("x", "1 / (v - 28)"), 20},
		{pipe.Union(pipe.Batches(b), file).With("x", "1 / (v - 25)"), 0},
		{pipe.Union(pipe.Batches(b).Where("v < 9"), file).With("x", "1 / (v - 9)"), 30},
	} {
		_, err := c.p.Batch(t.Context())
		var e *pipe.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, c.from, e.Source.FirstRow, err)
	}
}

// TestGroupsBehindALimitAreFew requires that groups pass on no more rows than an order and a limit need.
func TestGroupsBehindALimitAreFew(t *testing.T) {
	var stats pipe.Stats
	p := pipe.Batches(numbers(500)).GroupBy("v").Aggregate(groupby.Max("w")).OrderBy(pipe.Descending("v")).Limit(3)
	b, err := p.Configure(pipe.Config{Stats: &stats}).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{499, 498, 497}, values64(t, b, "v"))
	require.EqualValues(t, 3, stats.Steps[1].Rows)
	for _, p := range []pipe.Pipe{p.Offset(math.MaxInt64), p.OrderBy(pipe.Ascending("v"), pipe.Descending("max(w)")).Limit(2)} {
		_, err := p.Batch(t.Context())
		require.NoError(t, err)
	}
}
