// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// ascendingNumbers returns columns of each type of numbers with its boundary values in ascending order, all different
// but for -0 and 0.
func ascendingNumbers(t *testing.T) []column.Column {
	t.Helper()
	as := func(c column.Column, typ column.Type) column.Column {
		c, err := c.WithType(typ)
		require.NoError(t, err)
		return c
	}
	longs := []int64{math.MinInt64, math.MinInt64 + 1, -1 << 53, -1, 0, 1, 1 << 32, 1 << 53, 1<<53 + 1, math.MaxInt64 - 1, math.MaxInt64}
	return []column.Column{
		column.Of("int8", []int8{-128, -127, -1, 0, 1, 126, 127}), column.Of("int16", []int16{-32768, -1, 0, 1, 255, 256, 32767}),
		column.Of("int32", []int32{math.MinInt32, -1, 0, 1, 65536, math.MaxInt32}), column.Of("int64", longs),
		column.Of("uint8", []uint8{0, 1, 127, 128, 254, 255}), column.Of("uint16", []uint16{0, 1, 32767, 32768, 65535}),
		column.Of("uint32", []uint32{0, 1, math.MaxInt32, 1 << 31, math.MaxUint32}),
		column.Of("uint64", []uint64{0, 1, 1 << 53, 1<<53 + 1, math.MaxInt64, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64}),
		as(column.Of("float16", []uint16{0xfc00, 0xfbff, 0xb800, 0x8001, 0, 1, 0x3c00, 0x7bff, 0x7c00, 0x7e00}), column.Type{Kind: column.Float16}),
		column.Of("float32", []float32{float32(math.Inf(-1)), -math.MaxFloat32, -0.5, 0, math.SmallestNonzeroFloat32, 1 << 63, float32(math.Inf(1)), float32(math.NaN())}),
		column.Of("float64", []float64{math.Inf(-1), -1 << 63, -0.5, 0, 5e-324, 1 << 53, 1 << 63, 1 << 64, math.Inf(1), math.NaN()}),
		as(column.Of("decimal", []int64{-999_999_999_999_999_999, -1, 0, 1, 100, 999_999_999_999_999_999}), column.Type{Kind: column.Decimal64, Precision: 18, Scale: 2}),
	}
}

// TestNumbersAreOrderedAndGrouped sorts, groups and takes the extremes of numbers at the boundaries of their types.
func TestNumbersAreOrderedAndGrouped(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for _, ascending := range ascendingNumbers(t) {
		n := ascending.Len
		name := ascending.Name
		ascending.Name = "x"
		rows := make([]int32, 0, 4*n+1)
		for range 3 {
			for i := range n {
				rows = append(rows, int32(i))
			}
		}
		r.Shuffle(len(rows), func(i, k int) { rows[i], rows[k] = rows[k], rows[i] })
		b, err := column.NewBatch(ascending).Take(rows)
		require.NoError(t, err)
		positions := make([]int64, len(rows))
		for i, row := range rows {
			positions[i] = int64(row)
		}
		b.Columns = append(b.Columns, column.Of("position", positions))
		file := openFile(t, parquetscan.WriterOptions{RowGroupRows: 7, PageBytes: 20}, b)
		for source, p := range map[string]pipe.Pipe{"memory": pipe.Batches(b.Slice(0, 5), b.Slice(5, b.Rows)), "file": pipe.Dataset(file)} {
			what := fmt.Sprintf("%s of %s", name, source)
			want := slices.Sorted(slices.Values(positions))
			require.Equal(t, want, positionsOf(t, p.OrderBy(pipe.Ascending("x"))), what)
			require.Equal(t, want[:4], positionsOf(t, p.OrderBy(pipe.Ascending("x")).Limit(4)), what)
			slices.Reverse(want)
			require.Equal(t, want, positionsOf(t, p.OrderBy(pipe.Descending("x"))), what)
			require.Equal(t, want[:4], positionsOf(t, p.OrderBy(pipe.Descending("x")).Limit(4)), what)

			groups := p.GroupBy("x").Aggregate(groupby.Count().As("count"), groupby.Min("position").As("position"))
			grouped, err := groups.OrderBy(pipe.Ascending("x")).Batch(t.Context())
			require.NoError(t, err, what)
			require.Equal(t, n, grouped.Rows, what)
			require.Equal(t, slices.Repeat([]int64{3}, n), numbersOf[int64](t, grouped, "count"), what)
			for i, position := range numbersOf[int64](t, grouped, "position") {
				require.EqualValues(t, i, position, what)
				require.Equal(t, ascending.Format(i, 100), grouped.Column("x").Format(i, 100), what)
			}
			distinct, err := p.Distinct("x").Batch(t.Context())
			require.NoError(t, err, what)
			require.Equal(t, n, distinct.Rows, what)
			if ascending.Type.Kind == column.Float16 {
				continue
			}
			extremes, err := p.Aggregate(groupby.Min("x").As("min"), groupby.Max("x").As("max"), groupby.CountDistinct("x").As("distinct")).Batch(t.Context())
			require.NoError(t, err, what)
			require.Equal(t, ascending.Format(0, 100), extremes.Column("min").Format(0, 100), what)
			require.Equal(t, ascending.Format(n-1, 100), extremes.Column("max").Format(0, 100), what)
			require.Equal(t, []int64{int64(n)}, numbersOf[int64](t, extremes, "distinct"), what)
		}
	}
}

func numbersOf[T column.Value](t *testing.T, b *column.Batch, name string) []T {
	t.Helper()
	v, err := column.Slice[T](b.Column(name))
	require.NoError(t, err)
	return v
}

func positionsOf(t *testing.T, p pipe.Pipe) []int64 {
	t.Helper()
	b, err := p.Batch(t.Context())
	require.NoError(t, err)
	return numbersOf[int64](t, b, "position")
}
