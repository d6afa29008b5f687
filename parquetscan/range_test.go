// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

func TestRange(t *testing.T) {
	var buf bytes.Buffer
	ints, names := column.Of("i", []int16{5, -3, 9, 100, 7}), column.Strings("s", []string{"b", "a", "", "zz", "y"})
	floats, none := column.Of("f", []float64{1, 2, math.NaN(), 4, 5}), column.Of("n", make([]int64, 5)).WithValidity([]byte{0})
	lists := column.Lists("l", []int32{0, 1, 2, 3, 4, 5}, column.Of("element", []int32{1, 2, 3, 4, 5}))
	b := column.Batch{Rows: 5, Columns: []column.Column{ints.WithValidity([]byte{0b10111}), names, floats, none, lists}}
	fields := []column.Field{
		{Name: "i", Type: column.Type{Kind: column.Int16}, Nullable: true},
		{Name: "s", Type: column.Type{Kind: column.String}},
		{Name: "f", Type: column.Type{Kind: column.Float64}},
		{Name: "n", Type: column.Type{Kind: column.Int64}, Nullable: true},
		{Name: "l", Type: column.Type{Kind: column.List}, Fields: []column.Field{{Name: "element", Type: column.Type{Kind: column.Int32}}}},
	}
	w, err := NewWriter(&buf, fields, WriterOptions{RowGroupRows: 2})
	require.NoError(t, err)
	require.NoError(t, w.Write(&b))
	require.NoError(t, w.Close())
	d := openBytes(t, buf.Bytes())
	s, err := d.Scan(Options{})
	require.NoError(t, err)

	for column, want := range map[string]Range{
		"i": {Min: int16(-3), Max: int16(9), Exact: true, Nulls: 1}, // 100 is NULL
		"n": {Exact: true, Nulls: 5},
		"l": {Nulls: -1},
	} {
		got, err := s.Range(column)
		require.NoError(t, err)
		require.Equal(t, want, got, column)
	}
	got, err := s.Range("f")
	require.NoError(t, err)
	require.Equal(t, Range{Min: 1.0, Max: 5.0}, got, "the column contains NaN")
	buckets := s.SplitByCount(3)
	got, err = s.Range("i", buckets[2])
	require.NoError(t, err)
	require.Equal(t, Range{Min: int16(7), Max: int16(7), Exact: true}, got)
	got, err = s.Range("s", buckets[0])
	require.NoError(t, err)
	require.Equal(t, "a", got.Min)
	require.Equal(t, "b", got.Max)
	_, err = s.Range("x")
	require.ErrorIs(t, err, ErrNoColumn)
}

// TestRangeOfEmptyRowGroups reads the range of a file with a row group between others that has no rows: it has no
// values, whether its footer has statistics or not, and an unknown number of NULLs without them.
func TestRangeOfEmptyRowGroups(t *testing.T) {
	for _, counted := range []bool{false, true} {
		w := newCompact()
		w.i32(1, 2)
		w.list(2, thrift.Struct, 2)
		w.element("schema", -1, -1, convertedNever, 1)
		w.element("n", physicalInt64, optional, convertedNever, 0)
		w.i64(3, 8)
		w.list(4, thrift.Struct, 3)
		for _, g := range []struct {
			rows, nulls int64
			low, high   int
		}{{3, 1, 4, 9}, {0, 0, 0, 0}, {5, 2, -2, 5}} {
			w.open()
			w.list(1, thrift.Struct, 1)
			w.open()
			w.begin(3)
			for id, v := range map[int16]int64{5: g.rows, 6: 8, 7: 8, 9: 4} {
				w.i64(id, v)
			}
			w.i32(4, 0)
			w.begin(12)
			if g.rows > 0 {
				w.text(1, string(int64s(g.high, 1)))
				w.text(2, string(int64s(g.low, 1)))
			}
			if g.rows > 0 || counted {
				w.i64(3, g.nulls)
			}
			w.end()
			w.end()
			w.end()
			w.i64(3, g.rows)
			w.end()
		}
		d := openSources(t, Config{}, withFooter(append([]byte(footer.Magic), make([]byte, 8)...), w))
		want := Range{Min: int64(-2), Max: int64(9), Exact: true, Nulls: -1}
		if counted {
			want.Nulls = 3
		}
		got, err := scanOf(t, d, Options{}).Range("n")
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}
