// SPDX-License-Identifier: Apache-2.0

package pipe_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/pipe"
)

// Rewrites of plans have the results of the steps as they are written.

// TestReplacedColumnsDoNotNarrow orders and groups by columns that have the names of columns of the file, and other
// values.
func TestReplacedColumnsDoNotNarrow(t *testing.T) {
	const n = 3000
	v, w := make([]int64, n), make([]int64, n)
	for i := range v {
		v[i], w[i] = int64(i), int64(n-i)
	}
	b := column.NewBatch(column.Of("v", v), column.Of("w", w))
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100}, b)).Configure(pipe.Config{Workers: 1})
	got, err := file.With("v", "w").OrderBy(pipe.Ascending("v")).Limit(3).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, []int64{1, 2, 3}, values64(t, got, "v"))
	got, err = file.With("v", "w").GroupBy("v").Aggregate(groupby.Count().As("n")).Limit(n - 1).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, n-1, got.Rows)
}

// TestNullsFirstNarrowScan has as many NULLs in the first row group as an order with NULLs first keeps: no row of the
// others is passed on.
func TestNullsFirstNarrowScan(t *testing.T) {
	b := numbers(1000)
	null := make([]bool, b.Rows)
	for i := range 10 {
		null[i] = true
	}
	b.Columns[0] = b.Columns[0].WithNulls(null)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100}, b))
	for _, o := range []pipe.Order{pipe.Ascending("v").NullsFirst(), pipe.Descending("v").NullsFirst()} {
		got, passed := scanned(t, 1, file.OrderBy(o).Limit(10))
		require.Equal(t, 10, got.Column("v").Nulls)
		require.EqualValues(t, 100, passed, "%v", o)
	}
	got, passed := scanned(t, 1, file.Where("v is null or v < 0").OrderBy(pipe.Ascending("v")).Limit(5))
	require.Equal(t, 5, got.Column("v").Nulls)
	require.EqualValues(t, 10, passed, "NULL, as the last value, leaves out no row")
}

// TestAnyGroupsAreFew has limits around the number of groups up to which a plan leaves out the rows of others.
func TestAnyGroupsAreFew(t *testing.T) {
	groups := pipe.Batches(numbers(10)).GroupBy("v").Aggregate(groupby.Count().As("n"))
	for _, c := range []struct {
		offset, limit int64
		want          string
	}{{0, 1, "any 1 group)"}, {0, 1000, "any 1000 groups)"}, {400, 600, "any 1000 groups)"}, {0, 1001, ""}, {1, 1000, ""}, {1001, 1, ""}} {
		plan := planOf(t, groups.Offset(c.offset).Limit(c.limit))
		if c.want == "" {
			require.NotContains(t, plan, "(any ", "%+v", c)
		} else {
			require.Contains(t, plan, c.want, "%+v", c)
		}
	}
}

// TestLengthsBesideTexts has lengths of texts of a file, alone and beside uses of the texts themselves.
func TestLengthsBesideTexts(t *testing.T) {
	texts := make([]string, 300)
	for i := range texts {
		texts[i] = strings.Repeat("é", i%7)
	}
	b := column.NewBatch(column.Strings("s", texts), column.Binaries("b", slices.Repeat([][]byte{[]byte("abc"), {}}, 150)))
	file, memory := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 100}, b)), pipe.Batches(b)
	const asked = "length of s"
	sum, most := groupby.Sum("n").As("sum"), groupby.Max("m").As("most")
	for name, c := range map[string]struct {
		chain func(p pipe.Pipe) pipe.Pipe
		asked bool
	}{
		"alone": {func(p pipe.Pipe) pipe.Pipe { return p.With("n", "strlen(s)").Aggregate(sum) }, true},
		"twice": {func(p pipe.Pipe) pipe.Pipe {
			return p.With("n", "strlen(s)").With("m", "strlen(s)").Aggregate(sum, most)
		}, true},
		"of bytes": {func(p pipe.Pipe) pipe.Pipe {
			return p.With("n", "length(b)").With("m", "length(b)").Aggregate(sum, most)
		}, false},
		"of letters":  {func(p pipe.Pipe) pipe.Pipe { return p.With("n", "length(s)").With("m", "n").Aggregate(sum, most) }, false},
		"a key":       {func(p pipe.Pipe) pipe.Pipe { return p.With("n", "strlen(s)").GroupBy("s").Aggregate(sum) }, false},
		"an argument": {func(p pipe.Pipe) pipe.Pipe { return p.With("n", "strlen(s)").Aggregate(sum, groupby.Max("s")) }, false},
		"a condition": {func(p pipe.Pipe) pipe.Pipe { return p.With("n", "strlen(s)").Where("n > length(s)").Aggregate(sum) }, false},
		"another expression": {func(p pipe.Pipe) pipe.Pipe {
			return p.With("n", "strlen(s)").With("m", "length(s)").Aggregate(sum, most)
		}, false},
		"a replaced text": {func(p pipe.Pipe) pipe.Pipe { return p.With("s", "'abc'").With("n", "strlen(s)").Aggregate(sum) }, false},
		"replaced later": {func(p pipe.Pipe) pipe.Pipe {
			return p.With("n", "strlen(s)").With("s", "'abc'").With("m", "strlen(s)").Aggregate(sum, most)
		}, false},
	} {
		got, plan := explained(t, c.chain(file).OrderBy(pipe.Ascending("sum")))
		want, err := c.chain(memory).OrderBy(pipe.Ascending("sum")).Batch(t.Context())
		require.NoError(t, err)
		require.Empty(t, column.Diff(got, want), name)
		require.Equal(t, c.asked, strings.Contains(plan, asked), "%s: %s", name, plan)
	}
}

// TestBatchesHaveTheTypesOfTheFirst has batches with a column of another type, each column in turn.
func TestBatchesHaveTheTypesOfTheFirst(t *testing.T) {
	first := column.NewBatch(column.Of("a", []int64{1}), column.Of("b", []int64{1}), column.Of("c", []int64{1}))
	for i, name := range first.Schema().Names() {
		other := first.Clone()
		other.Columns[i] = column.Of(name, []float64{1})
		for _, p := range []pipe.Pipe{pipe.Batches(first, other), pipe.Union(pipe.Batches(first), pipe.Batches(other))} {
			_, err := p.Batch(t.Context())
			var wrong *column.TypeError
			require.ErrorAs(t, err, &wrong, name)
			require.Equal(t, name, wrong.Column)
		}
	}
	_, err := pipe.Batches(first, column.NewBatch(first.Columns[:2]...)).Batch(t.Context())
	require.ErrorContains(t, err, "c")
}

// TestKeysThatOtherColumnsNeed groups by expressions of a key that another key is computed from: it is needed before
// the groups.
func TestKeysThatOtherColumnsNeed(t *testing.T) {
	p := pipe.Batches(numbers(50)).With("y", "w + 1")
	for i := range 6 {
		p = p.With(fmt.Sprint("z", i), fmt.Sprintf("w * %d", i))
	}
	p = p.With("u", "y % 3")
	for range 8 { // the order of a map
		got, err := p.GroupBy("w", "y", "u").Aggregate(groupby.Count().As("n")).OrderBy(pipe.Ascending("w")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, values64(t, got, "y"))
		require.Equal(t, []int64{1, 2, 0, 1, 2, 0, 1, 2, 0, 1}, values64(t, got, "u"))
	}
}

// TestSumsOfAColumnThatIsComputedTwice sums a column plus constants, and one that the last of two steps has computed.
func TestSumsOfAColumnThatIsComputedTwice(t *testing.T) {
	b := column.NewBatch(column.Of("x", []int32{1, 2, 3}))
	got, err := pipe.Batches(b).With("y", "x + 10").With("y", "x + 1").
		Aggregate(groupby.Sum("y").As("y"), groupby.Sum("x + 2").As("two"), groupby.Sum("x + 3").As("three")).Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, column.NewBatch(column.Of("y", []int64{9}), column.Of("two", []int64{12}), column.Of("three", []int64{15}))))
}

// TestTiesOfReplacedKeys replaces the key of groups by one value: the other columns order the groups that are equal.
func TestTiesOfReplacedKeys(t *testing.T) {
	const n = 400
	k, at := make([]int64, n), make([]int64, n)
	for i := range k {
		k[i], at[i] = int64(i), int64(i*7%n)
	}
	groups := pipe.Batches(column.NewBatch(column.Of("k", k), column.Of("at", at))).GroupBy("k").
		Aggregate(groupby.Count().As("n"), groupby.Min("at").As("least"))
	for range 3 {
		got, err := groups.With("k", "0").OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.True(t, slices.IsSorted(values64(t, got, "least")))
		got, err = groups.OrderBy(pipe.Ascending("n")).Batch(t.Context())
		require.NoError(t, err)
		require.Equal(t, k, values64(t, got, "k"))
	}
}

// TestFirstGroupsByDistinctValues keeps the first groups by the number of their distinct values, of all groups.
func TestFirstGroupsByDistinctValues(t *testing.T) {
	const n = 2000
	k, v := make([]int64, n), make([]int64, n)
	for i := range k {
		k[i], v[i] = int64(i%50), int64(i/50%(1+i%50))
	}
	groups := pipe.Batches(column.NewBatch(column.Of("k", k), column.Of("v", v))).GroupBy("k").Aggregate(groupby.CountDistinct("v").As("u"))
	for _, o := range []pipe.Order{pipe.Ascending("u"), pipe.Descending("u"), pipe.Ascending("k"), pipe.Descending("k")} {
		all, err := groups.OrderBy(o).Batch(t.Context())
		require.NoError(t, err)
		for _, limit := range []int{1, 3, 49} {
			got, err := groups.OrderBy(o).Limit(int64(limit)).Batch(t.Context())
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, all.Slice(0, limit)), "%v", o)
		}
	}
}

// TestCountsNamedAsTheirArgument gives the number of distinct values the name of their column.
func TestCountsNamedAsTheirArgument(t *testing.T) {
	got, err := pipe.Batches(numbers(60)).GroupBy("w").Aggregate(groupby.CountDistinct("v").As("v")).OrderBy(pipe.Ascending("w")).Batch(t.Context())
	require.NoError(t, err)
	require.Equal(t, slices.Repeat([]int64{6}, 10), values64(t, got, "v"))
}

// TestFirstGroupsByComputedColumns keeps the first groups by columns that are computed from their aggregates.
func TestFirstGroupsByComputedColumns(t *testing.T) {
	groups := pipe.Batches(numbers(105)).GroupBy("w").Aggregate(groupby.Count().As("n"), groupby.Max("v").As("most"))
	for _, text := range []string{"most", "n", "n > 10", "w", "most is null"} {
		for _, o := range []pipe.Order{pipe.Ascending("x"), pipe.Descending("x"), pipe.Ascending("x").NullsFirst()} {
			all, err := groups.With("x", text).OrderBy(o).Batch(t.Context())
			require.NoError(t, err)
			got, err := groups.With("x", text).OrderBy(o).Limit(4).Batch(t.Context())
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, all.Slice(0, 4)), "%s %v", text, o)
		}
	}
}

// TestLateColumnsBehindComputedConditions reads columns late of rows that a condition on a computed column has left.
func TestLateColumnsBehindComputedConditions(t *testing.T) {
	b := numbers(2000)
	texts := make([]string, b.Rows)
	for i := range texts {
		texts[i] = fmt.Sprint("text ", i)
	}
	b.Columns = append(b.Columns, column.Strings("s", texts))
	chain := func(p pipe.Pipe) pipe.Pipe {
		return p.With("x", "v % 100").Where("x > 50").With("y", "x + w").Where("y <> 60").OrderBy(pipe.Descending("x")).Limit(7).Select("s", "v")
	}
	got, plan := explained(t, chain(pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 300}, b))))
	require.Contains(t, plan, "of these rows, columns s")
	want, err := chain(pipe.Batches(b)).Batch(t.Context())
	require.NoError(t, err)
	require.Empty(t, column.Diff(got, want))
}

// TestResultsWithoutRowsHaveColumns yields one batch without rows, with all columns.
func TestResultsWithoutRowsHaveColumns(t *testing.T) {
	memory, file := pipe.Batches(numbers(5)), pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, numbers(5)))
	for _, p := range []pipe.Pipe{memory.Where("v < 0"), file.Where("v < 0").With("x", "v + 1"), file.Limit(0), memory.Where("v < 0").GroupBy("w").Aggregate(groupby.Count())} {
		schema, err := p.Schema(t.Context())
		require.NoError(t, err)
		batches := 0
		for b, err := range p.Batches(t.Context()) {
			require.NoError(t, err)
			require.Zero(t, b.Rows)
			require.Equal(t, schema.Names(), b.Schema().Names())
			batches++
		}
		require.Equal(t, 1, batches)
	}
}

// TestWideDecimalsAreOrdered orders decimals that differ in each of their words.
func TestWideDecimalsAreOrdered(t *testing.T) {
	for kind, words := range map[column.Kind]int{column.Decimal128: 2, column.Decimal256: 4} {
		var numbers []*big.Int
		for word := range words {
			for _, shift := range []int{0, 31, 62} {
				n := new(big.Int).Lsh(big.NewInt(1), uint(64*word+shift))
				numbers = append(numbers, n, new(big.Int).Neg(n), new(big.Int).Sub(n, big.NewInt(1)))
			}
		}
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
		c := column.Column{Name: "d", Type: column.Type{Kind: kind, Precision: 19 * words, Scale: 0}, Len: len(numbers)}
		var values []uint64
		for _, n := range numbers {
			for word := range words {
				w := new(big.Int).And(new(big.Int).Rsh(n, uint(64*word)), new(big.Int).SetUint64(1<<64-1))
				values = append(values, w.Uint64())
			}
		}
		c.Values = column.Of("", values).Values
		for desc, o := range map[int]pipe.Order{1: pipe.Ascending("d"), -1: pipe.Descending("d")} {
			got, err := pipe.Batches(column.NewBatch(c)).OrderBy(o).Batch(t.Context())
			require.NoError(t, err)
			texts := make([]string, len(numbers))
			slices.SortFunc(numbers, func(a, b *big.Int) int { return desc * a.Cmp(b) })
			for i := range texts {
				texts[i] = got.Columns[0].Format(i, 100)
				require.Equal(t, numbers[i].String(), texts[i], "%v, row %d", kind, i)
			}
		}
	}
}

// TestLateColumnsAreMeasured requires the rows and the time of the step that reads columns late.
func TestLateColumnsAreMeasured(t *testing.T) {
	b := numbers(2000)
	b.Columns = append(b.Columns, column.Strings("s", slices.Repeat([]string{"text"}, b.Rows)))
	var stats pipe.Stats
	p := pipe.Dataset(openFile(t, parquetscan.WriterOptions{}, b)).OrderBy(pipe.Descending("v")).Offset(2).Limit(5)
	_, err := p.Configure(pipe.Config{Stats: &stats}).Batch(t.Context())
	require.NoError(t, err)
	last := stats.Steps[len(stats.Steps)-1]
	require.Equal(t, "of these rows, columns w, s", last.Step)
	require.EqualValues(t, 5, last.Rows)
	require.Positive(t, last.Time)
}

// TestPathsOfOtherColumns opens files by their paths. The second file lacks a column of the first.
func TestPathsOfOtherColumns(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, parquetscan.WriteFile(t.Context(), filepath.Join(dir, "a.parquet"), numbers(3)))
	require.NoError(t, parquetscan.WriteFile(t.Context(), filepath.Join(dir, "b.parquet"), column.NewBatch(column.Of("v", []int64{1}))))
	for _, patterns := range [][]string{{filepath.Join(dir, "*.parquet")}, {filepath.Join(dir, "a.parquet"), filepath.Join(dir, "b.parquet")}} {
		_, err := pipe.Parquet(patterns...).Batch(t.Context())
		require.ErrorContains(t, err, "b.parquet")
		var e *pipe.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "Parquet", e.Verb)
	}
}

// TestCopiesOfColumns gives a column of each type a second name.
func TestCopiesOfColumns(t *testing.T) {
	b := everyType(rand.New(rand.NewPCG(3, 8)), 40)
	file := pipe.Dataset(openFile(t, parquetscan.WriterOptions{RowGroupRows: 16}, b))
	stored, err := file.Batch(t.Context())
	require.NoError(t, err)
	for _, f := range stored.Schema() {
		for _, p := range []pipe.Pipe{pipe.Batches(stored), file} {
			got, err := p.With("copy", "?", expr.Col(f.Name)).Select("copy").Configure(pipe.Config{Workers: 1}).Batch(t.Context())
			require.NoError(t, err, f.Name)
			require.Empty(t, column.Diff(got, column.NewBatch(stored.Column(f.Name).As("copy"))), f.Name)
		}
	}
}
