// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// codedRows returns columns with few values of several types, in runs and mixed, with and without NULLs.
func codedRows(r *rand.Rand, n int) *column.Batch {
	number := func(run int) []int64 {
		v, last := make([]int64, n), int64(0)
		for i := range v {
			if r.IntN(run) == 0 {
				last = r.Int64N(40)
			}
			v[i] = last
		}
		return v
	}
	text, half, float := make([]string, n), make([]int16, n), make([]float64, n)
	null := make([]bool, n)
	for i, v := range number(3) {
		text[i], half[i], float[i], null[i] = "text "+strconv.Itoa(int(v)), int16(v-20), float64(v)/4, v%9 == 0
	}
	return column.NewBatch(column.Of("a", number(1)), column.Of("b", number(50)), column.Of("c", number(1000)), column.Of("half", half),
		column.Of("float", float), column.Strings("text", text), column.Of("null", number(5)).WithNulls(null),
		column.Of("some", number(2)).WithNulls(make([]bool, n)))
}

// FuzzFilterCodes compares filters of files with and without dictionaries. Each pair of files has several filters,
// because coverage costs more time than a filter.
func FuzzFilterCodes(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		b := codedRows(r, 1+r.IntN(300))
		write := func(w WriterOptions) *Dataset {
			w.RowGroupRows, w.PageBytes = 120, 4<<r.IntN(8)
			return openBytes(t, writeBatches(t, b.Schema(), w, b))
		}
		coded, plain := write(WriterOptions{}), write(WriterOptions{NoDictionary: true})
		for range 16 {
			o := Options{
				Columns: [][]string{{}, {"a"}, {"text", "b", "null"}, nil}[r.IntN(4)], Filter: codedFilter(r), RowNumbers: "#",
				Text: r.IntN(2) == 0, BatchRows: 1 + r.IntN(150), Workers: 1, Ordered: true,
			}
			got, want := allOf(t, coded, o), allOf(t, plain, o)
			require.Equal(t, want == nil, got == nil, "%v", o.Filter)
			if want != nil {
				require.Empty(t, column.Diff(got, want), "%v", o.Filter)
			}
		}
	})
}

// codedFilter returns a random filter of codedRows.
func codedFilter(r *rand.Rand) Filter {
	leaf := func() Filter {
		name := []string{"a", "b", "c", "half", "float", "null", "some"}[r.IntN(7)]
		v := r.IntN(40)
		return []Filter{
			Eq(name, v), Ne(name, v), Lt(name, v), Ge(name, v), In(name, v, v+3, v-9), IsNull(name), NotNull(name),
			Or(Lt(name, v), Gt(name, v+5)), Ne("text", "text "+strconv.Itoa(v)), Lt("text", "text "+strconv.Itoa(v)),
			In("text", "text 1", "text 39"),
		}[r.IntN(11)]
	}
	filter := leaf()
	for range r.IntN(4) {
		if r.IntN(4) == 0 {
			filter = Or(filter, leaf())
		} else {
			filter = And(filter, leaf())
		}
	}
	return filter
}

// allOf returns the rows of a scan as one batch, nil if there are none.
func allOf(t *testing.T, d *Dataset, o Options) *column.Batch {
	t.Helper()
	var batches []*column.Batch
	for b, err := range scanOf(t, d, o).All(context.Background()) {
		require.NoError(t, err)
		batches = append(batches, b)
	}
	if len(batches) == 0 {
		return nil
	}
	all, err := column.Concat(batches...)
	require.NoError(t, err)
	return all
}

// TestFilterCodesSparesColumn requires that a column that only the filter needs is not decoded.
func TestFilterCodesSparesColumn(t *testing.T) {
	b := codedRows(rand.New(rand.NewPCG(1, 1)), 2000)
	path := t.TempDir() + "/a.parquet"
	require.NoError(t, WriteFile(context.Background(), path, b))
	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	for name, want := range map[string]bool{"a": false, "c": false, "half": false, "text": false, "some": false, "null": true} {
		s, err := d.Scan(Options{Columns: []string{}, Filter: And(NotNull(name), Or(IsNull(name), In(name, anyOf(b.Column(name))...)))})
		require.NoError(t, err)
		r, err := s.Reader(s.SplitByCount(1)[0])
		require.NoError(t, err)
		var got column.Batch
		require.NoError(t, r.ReadInto(context.Background(), &got))
		require.Equal(t, want, r.current.got[0], name)
		require.NotZero(t, got.Rows, name)
	}
}

// TestFilterCodesEndsWithPages requires that batches end with the pages of a filtered column, even if its pages are
// little larger than a batch: no batch needs its values. pyarrow writes pages of 20,000 rows.
func TestFilterCodesEndsWithPages(t *testing.T) {
	b := codedRows(rand.New(rand.NewPCG(1, 2)), 100_000)
	d := openBytes(t, writeBatches(t, b.Schema(), WriterOptions{PageBytes: 160_000}, b))
	for _, name := range []string{"a", "text", "some"} {
		s, err := d.Scan(Options{Columns: []string{}, Filter: In(name, anyOf(b.Column(name))...)})
		require.NoError(t, err)
		r, err := s.Reader(s.SplitByCount(1)[0])
		require.NoError(t, err)
		var got column.Batch
		batches := 0
		for err = r.ReadInto(t.Context(), &got); err == nil; err = r.ReadInto(t.Context(), &got) {
			require.False(t, r.current.got[0], "%s: batch %d", name, batches)
			batches++
		}
		require.ErrorIs(t, err, io.EOF)
		require.Greater(t, batches, 100_000/defaultBatchRows+2, "%s: no page ended within a batch", name)
		require.Less(t, batches, 100_000/defaultBatchRows*3/2, name)
	}
}

// anyOf returns some values of a column.
func anyOf(c *column.Column) (values []any) {
	for i := range 20 {
		if v := c.Value(i); v != nil && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// FuzzPackOnes compares bits with the bytes that they are packed from.
func FuzzPackOnes(f *testing.F) {
	f.Add([]byte{1, 0, 1, 1, 0, 0, 0, 1, 1})
	f.Fuzz(func(t *testing.T, ones []byte) {
		n := len(ones)
		ones = append(ones, make([]byte, 8)...)[:n]
		for i := range ones {
			ones[i] &= 1
		}
		sel, both := make([]byte, (n+7)/8), bytes.Repeat([]byte{0x5a}, (n+7)/8)
		packOnes(sel, ones, true)
		packOnes(both, ones, false)
		for i, one := range ones {
			require.Equal(t, one, sel[i>>3]>>(i&7)&1)
		}
		for i := range sel {
			require.Equal(t, sel[i]&0x5a, both[i])
		}
	})
}

// TestBarrenRowGroup looks for a value that no entry of the dictionary of a row group has: after one batch the Reader
// is done with the row group, and no other Reader opens it. Pages without codes are read, and all pages if the filter
// selects NULL.
func TestBarrenRowGroup(t *testing.T) {
	const group = 250_000
	values := func(group func(i int) int64) []int64 {
		v := make([]int64, 250_000)
		for i := range v {
			v[i] = group(i)
		}
		return v
	}
	coded := values(func(i int) int64 { return int64(i % 50 * 2) })
	unique := values(func(i int) int64 { // more than a dictionary has, and 7 after all codes
		switch {
		case i == group-1:
			return 7
		case i < group/4:
			return int64(i % 50 * 2)
		}
		return int64(i * 2)
	})
	null := make([]bool, 2*group)
	null[group/2] = true
	b := column.NewBatch(column.Of("x", append(coded, unique...)), column.Of("null", append(coded, unique...)).WithNulls(null))
	d := openBytes(t, writeBatches(t, b.Schema(), WriterOptions{RowGroupRows: group, PageBytes: 100_000}, b))
	for _, c := range []struct {
		filter Filter
		rows   []int64
		barren bool
	}{
		{Eq("x", 7), []int64{2*group - 1}, true},
		{In("x", 7, 9, 11), []int64{2*group - 1}, true},
		{Eq("null", 7), []int64{2*group - 1}, true},
		{Or(IsNull("null"), Eq("null", 7)), []int64{group / 2, 2*group - 1}, false},
		{And(Eq("x", 7), NotNull("null")), []int64{2*group - 1}, true},
	} {
		s := scanOf(t, d, Options{Columns: []string{"x"}, Filter: c.filter, RowNumbers: "#", Workers: 1, Ordered: true})
		r, err := s.Reader(s.SplitByCount(1)[0])
		require.NoError(t, err)
		var rows []int64
		var got column.Batch
		for err = r.ReadInto(t.Context(), &got); err == nil; err = r.ReadInto(t.Context(), &got) {
			numbers, err := column.Slice[int64](got.Column("#"))
			require.NoError(t, err)
			rows = append(rows, numbers...)
		}
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, c.rows, rows, "%v", c.filter)
		require.Equal(t, c.barren, s.barren[0][0].Load(), "%v", c.filter)
		require.False(t, s.barren[0][1].Load(), "%v", c.filter)
		var next groupReader
		next.start(s)
		require.NoError(t, next.open(0, 0, predicate.Range{From: 0, To: group}))
		require.Equal(t, c.barren, len(next.ranges) == 0, "%v", c.filter)
	}
}
