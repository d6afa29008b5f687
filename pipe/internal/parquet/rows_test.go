// SPDX-License-Identifier: Apache-2.0

package parquet

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/parquetscan"
)

// open returns the rows of a file with the columns n (1 to 6), nul (NULL twice), text, and again text, as text_1.
func open(t *testing.T, lists ...string) *Rows {
	t.Helper()
	path := filepath.Join(t.TempDir(), "rows.parquet")
	n := []int64{1, 2, 3, 4, 5, 6}
	b := column.NewBatch(column.Of("n", n), column.Of("nul", n).WithNulls([]bool{true, false, false, false, false, true}),
		column.Strings("text", []string{"a", "bb", "ccc", "a", "bb", "ccc"}), column.Strings("text", []string{"", "", "", "x", "x", "x"}))
	require.NoError(t, parquetscan.WriteFile(t.Context(), path, b))
	files, err := parquetscan.Open(t.Context(), path)
	require.NoError(t, err)
	r, err := New(files, lists, files.Close)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.Close()) })
	return r
}

// read runs a scan of n and returns its values.
func read(t *testing.T, r *Rows) (n []int64) {
	t.Helper()
	_, goroutines, err := r.Scan([]string{"n"}, 1)
	require.NoError(t, err)
	require.Equal(t, 1, goroutines)
	require.NoError(t, r.Run(t.Context(), func(_ int, b *column.Batch) error {
		values, err := column.Slice[int64](b.Column("n"))
		n = append(n, values...)
		return err
	}))
	return n
}

// TestFiltersAreAcceptedOrRefused has comparisons that a file can make, and one with a value of another type, which has
// no effect on the scan.
func TestFiltersAreAcceptedOrRefused(t *testing.T) {
	r := open(t)
	require.False(t, r.Filter(expr.Bound{Column: "n", Op: expr.OpLt, Values: []any{"text"}}))
	require.True(t, r.Filter(expr.Bound{Column: "nul", Op: expr.OpGe, Values: []any{int64(4)}}))
	require.True(t, r.Filter(expr.Bound{Column: "text_1", Op: expr.OpEq, Values: []any{"x"}}))
	require.True(t, r.Filter(expr.Bound{Column: "n", Op: expr.OpNe, Values: []any{int64(4)}}))
	require.Equal(t, []int64{5}, read(t, r))
}

// TestNarrowHasAlternatives keeps the rows for which each list has a condition that is true.
func TestNarrowHasAlternatives(t *testing.T) {
	one := expr.Bound{Column: "n", Op: expr.OpLe, Values: []any{int64(4)}}
	null := expr.Bound{Column: "nul", Op: expr.OpIsNull}
	some := expr.Bound{Column: "nul", Op: expr.OpIn, Values: []any{int64(3), int64(5)}}
	for _, test := range []struct {
		all  [][]expr.Bound
		want []int64
	}{
		{[][]expr.Bound{{one}}, []int64{1, 2, 3, 4}},
		{[][]expr.Bound{{null, some}}, []int64{1, 3, 5, 6}},
		{[][]expr.Bound{{null, some}, {one}}, []int64{1, 3}},
		{[][]expr.Bound{{one}, {some}}, []int64{3}},
	} {
		r := open(t)
		r.NarrowBy([]string{"n", "nul"})
		_, _, err := r.Scan([]string{"n"}, 1)
		require.NoError(t, err)
		require.NoError(t, r.Narrow(test.all))
		var got []int64
		require.NoError(t, r.Run(t.Context(), func(_ int, b *column.Batch) error {
			values, err := column.Slice[int64](b.Column("n"))
			got = append(got, values...)
			return err
		}))
		require.Equal(t, test.want, got)
	}
}

// TestStatisticsOfFooters has columns with and without NULLs, and one that no file has.
func TestStatisticsOfFooters(t *testing.T) {
	r := open(t)
	require.EqualValues(t, 6, r.NumRows())
	for name, nulls := range map[string]int64{"n": 0, "nul": 2, "text": 0} {
		n, ok := r.Nulls(name)
		require.True(t, ok, name)
		require.Equal(t, nulls, n, name)
	}
	least, greatest, ok := r.Range("nul")
	require.True(t, ok)
	require.Equal(t, []any{int64(2), int64(5)}, []any{least, greatest})
	_, ok = r.Nulls("missing")
	require.False(t, ok)
	_, _, ok = r.Range("missing")
	require.False(t, ok)
}

// TestRowsByNumbers reads columns of few rows, and counts their bytes.
func TestRowsByNumbers(t *testing.T) {
	r := open(t, "missing") // a name that the files lack is no list of theirs
	b, err := r.ReadRows(t.Context(), []string{"text"}, []int64{1, 5})
	require.NoError(t, err)
	require.Empty(t, column.Diff(b, column.NewBatch(column.Strings("text", []string{"bb", "ccc"}))))
	require.Positive(t, r.Bytes())
	_, err = r.ReadRows(t.Context(), []string{"missing"}, []int64{1})
	require.ErrorIs(t, err, parquetscan.ErrNoColumn)
}

// TestLinesOfExplain has no columns, and lengths in place of a column.
func TestLinesOfExplain(t *testing.T) {
	r := open(t)
	r.ReadLengths([]string{"text"})
	line, _, err := r.Scan([]string{"n", "text"}, 2)
	require.NoError(t, err)
	require.Regexp(t, `^parquet .*rows\.parquet: 6 rows in 1 row group, columns n, length of text$`, line)
	line, _, err = open(t).Scan(nil, 0)
	require.NoError(t, err)
	require.Regexp(t, "columns none$", line)
}

// TestVectorsWithinColumnsBecomeLists too.
func TestVectorsWithinColumnsBecomeLists(t *testing.T) {
	vector, list := column.VectorOf(column.Float32, 2), column.Type{Kind: column.List}
	within := func(types ...column.Type) (f column.Field) {
		f.Type.Kind = column.Struct
		for _, t := range types {
			f.Fields = append(f.Fields, column.Field{Type: t})
		}
		return f
	}
	require.True(t, becameList(column.Field{Type: vector}, column.Field{Type: list}))
	require.False(t, becameList(column.Field{Type: vector}, column.Field{Type: vector}))
	require.False(t, becameList(column.Field{Type: list}, column.Field{Type: list}))
	require.True(t, becameList(within(vector, vector), within(vector, list)))
	require.True(t, becameList(within(vector, vector), within(list, vector)))
	require.False(t, becameList(within(vector, list), within(vector, list)))
}
