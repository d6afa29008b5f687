// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// narrowData is a file of rows with three columns, in several row groups and pages.
func narrowData(t testing.TB, rows int) (*Dataset, []int64, []string) {
	r := rand.New(rand.NewPCG(1, 2))
	n, s := make([]int64, rows), make([]string, rows)
	for i := range n {
		n[i], s[i] = r.Int64N(1000), fmt.Sprint("text ", r.IntN(50))
	}
	b := column.NewBatch(column.Of("n", n), column.Strings("s", s), column.Of("m", slices.Clone(n)))
	path := t.TempDir() + "/a.parquet"
	w, err := Create(path, b.Schema(), WriterOptions{RowGroupRows: 1000, PageBytes: 1024})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.NoError(t, w.Close())
	d, err := Open(context.Background(), path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d, n, s
}

// TestNarrow narrows a scan while it runs. All rows that pass the last filter are read, and no row that is read before
// fails the filter that was set then.
func TestNarrow(t *testing.T) {
	d, n, _ := narrowData(t, 5000)
	for _, o := range []Options{
		{},
		{Filter: And(Ge("m", 100), Ne("s", "text 7"))},
		{Filter: Ge("n", 100), Selector: &Selector{Columns: []string{"s", "m"}, New: func() func(*column.Batch, []int32) ([]int32, error) {
			return func(b *column.Batch, rows []int32) ([]int32, error) {
				for i := range b.Rows {
					if i%3 > 0 {
						rows = append(rows, int32(i))
					}
				}
				return rows, nil
			}
		}}},
	} {
		o.Columns, o.Narrow, o.RowNumbers, o.BatchRows, o.Workers = []string{"s", "n"}, []string{"n", "s"}, "#", 64, 2
		s, err := d.Scan(o)
		require.NoError(t, err)
		var most, left atomic.Int64
		most.Store(1000)
		found := make([]atomic.Bool, len(n))
		require.NoError(t, s.Borrow(context.Background(), nil, func(_ int, b *column.Batch) error {
			rows, _ := column.Slice[int64](b.Column("#"))
			values, _ := column.Slice[int64](b.Column("n"))
			for i, row := range rows {
				if values[i] != n[row] {
					return fmt.Errorf("row %d is %d, want %d", row, values[i], n[row])
				}
				found[row].Store(true)
			}
			if left.Add(1)%10 == 0 {
				return s.Narrow(Lt("n", most.Add(-100)))
			}
			return nil
		}))
		require.Less(t, most.Load(), int64(1000))
		plain := o
		plain.Narrow, plain.Filter = nil, And(o.Filter, Lt("n", most.Load()))
		if o.Selector != nil {
			continue // its result depends on the rows of a batch
		}
		want, err := d.Scan(plain)
		require.NoError(t, err)
		require.NoError(t, want.Borrow(context.Background(), nil, func(_ int, b *column.Batch) error {
			rows, _ := column.Slice[int64](b.Column("#"))
			for _, row := range rows {
				if !found[row].Load() {
					return fmt.Errorf("row %d was left out", row)
				}
			}
			return nil
		}))
	}
}

// TestNarrowFromTheStart requires that a scan narrowed before it runs reads the rows of a scan with a filter.
func TestNarrowFromTheStart(t *testing.T) {
	d, _, _ := narrowData(t, 3000)
	ctx := context.Background()
	for _, f := range []Filter{
		Lt("n", 20), And(Ge("n", 990), Eq("s", "text 3")), Or(Eq("n", 5), In("s", "text 1", "text 2")), In("n"), NotNull("n"), And(),
	} {
		for _, with := range []Filter{{}, Ne("s", "text 1"), And(Ne("s", "text 1"), Lt("m", 500), Gt("n", 3))} {
			all := func(o Options, narrow bool) *column.Batch {
				o.Ordered, o.RowNumbers, o.BatchRows = true, "#", 100
				s, err := d.Scan(o)
				require.NoError(t, err)
				if narrow {
					require.NoError(t, s.Narrow(f))
				}
				batches := []*column.Batch{}
				for b, err := range s.All(ctx) {
					require.NoError(t, err)
					batches = append(batches, b)
				}
				if len(batches) == 0 {
					return nil
				}
				b, err := column.Concat(batches...)
				require.NoError(t, err)
				return b
			}
			got := all(Options{Columns: []string{"m", "s"}, Filter: with, Narrow: []string{"s", "n"}}, true)
			want := all(Options{Columns: []string{"m", "s"}, Filter: And(f, with)}, false)
			require.Equal(t, want == nil, got == nil, f)
			if want != nil {
				require.Empty(t, column.Diff(got, want), f)
			}
		}
	}
}

func TestNarrowErrors(t *testing.T) {
	d, _, _ := narrowData(t, 100)
	_, err := d.Scan(Options{Narrow: []string{"missing"}})
	require.ErrorIs(t, err, ErrNoColumn)
	s, err := d.Scan(Options{Columns: []string{"s"}, Narrow: []string{"n"}})
	require.NoError(t, err)
	require.ErrorIs(t, s.Narrow(Eq("s", "a")), ErrNoColumn)
	require.ErrorIs(t, s.Narrow(Eq("n", "a")), ErrFilter)
	require.NoError(t, s.Narrow(Filter{}))
	count, err := s.Count(context.Background())
	require.NoError(t, err)
	require.EqualValues(t, 100, count)
}

// TestStagesSpareColumns requires that a later column of a filter is not decoded if no row is left.
func TestStagesSpareColumns(t *testing.T) {
	d, _, _ := narrowData(t, 2000)
	s, err := d.Scan(Options{Columns: []string{}, Filter: And(Ne("s", "text 1"), Eq("m", 500), Eq("n", 501))})
	require.NoError(t, err)
	r, err := s.Reader(s.SplitByCount(1)[0])
	require.NoError(t, err)
	b := new(column.Batch)
	_ = r.ReadInto(context.Background(), b)
	require.Equal(t, []int{1, 2, 0}, []int{
		r.current.eval.P.Stages[0].Columns[0], r.current.eval.P.Stages[1].Columns[0], r.current.eval.P.Stages[2].Columns[0],
	})
	at := s.filter[0]
	require.Equal(t, "s", s.columns[at].Name)
	require.False(t, r.current.got[at], "s was decoded")
}

// TestStagesSearchTextsLast requires that numbers are tested before texts, and that texts are searched in the rows that
// are left.
func TestStagesSearchTextsLast(t *testing.T) {
	text := column.Type{Kind: column.String}
	types := map[string]column.Type{"a": text, "b": text, "c": text, "n": column.TypeOf[int64]()}
	p, err := And(Contains("a", "x"), Or(Eq("n", 1), Contains("b", "y")), Ne("c", ""), Gt("n", 0)).node.Compile(
		func(path string) (column.Type, bool) { return types[path], true })
	require.NoError(t, err)
	var stages [][]string
	for _, s := range p.Stages {
		var names []string
		for _, c := range s.Columns {
			names = append(names, p.Paths[c])
		}
		stages = append(stages, names)
	}
	require.Equal(t, [][]string{{"n"}, {"c"}, {"a"}, {"b"}}, stages)
}

// TestStagesShareColumns filters columns of codes by tests; a later test needs the column of an earlier one.
func TestStagesShareColumns(t *testing.T) {
	const rows = 2000
	n, m, texts := make([]int64, rows), make([]int64, rows), make([]string, rows)
	for i := range rows {
		n[i], m[i], texts[i] = int64(i*7%10), int64(i*3%11), fmt.Sprint("text ", i*5%6)
	}
	b := column.NewBatch(column.Of("n", n), column.Of("m", m), column.Strings("s", texts))
	d := openSources(t, Config{}, writeBatches(t, b.Schema(), WriterOptions{}, b))
	for name, c := range map[string]struct {
		filter Filter
		passes func(i int) bool
	}{
		"a text":   {And(Ge("n", 3), Or(Lt("n", 7), Eq("s", "text 1"))), func(i int) bool { return n[i] >= 3 && (n[i] < 7 || texts[i] == "text 1") }},
		"a number": {And(Ge("n", 3), Or(Lt("n", 7), Eq("m", 5))), func(i int) bool { return n[i] >= 3 && (n[i] < 7 || m[i] == 5) }},
	} {
		var want, got []int64
		for i := range rows {
			if c.passes(i) {
				want = append(want, int64(i))
			}
		}
		s := scanOf(t, d, Options{Filter: c.filter, Columns: []string{}, RowNumbers: "#", BatchRows: 100})
		for b, err := range s.Batches(t.Context(), everything(s)) {
			require.NoError(t, err)
			got = append(got, valuesOf[int64](b.Column("#"))...)
		}
		require.Equal(t, want, got, name)
	}
}
