// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/columntest"
	"github.com/vecql/vecql/internal/soak"
)

// Round trips through a Writer and a Reader.

// writeBatches returns a file of batches.
func writeBatches(t testing.TB, schema column.Schema, o WriterOptions, batches ...*column.Batch) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewWriter(&buf, schema, o)
	require.NoError(t, err)
	for _, b := range batches {
		require.NoError(t, w.Write(b))
	}
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// requireReadsBack fails unless a file has the rows of want.
func requireReadsBack(t testing.TB, file []byte, o Options, want *column.Batch) {
	t.Helper()
	d := openSources(t, Config{}, file)
	s, err := d.Scan(o)
	require.NoError(t, err)
	var got []*column.Batch
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		require.NoError(t, b.Check())
		got = append(got, b)
	}
	if want.Rows == 0 {
		require.Empty(t, got)
		return
	}
	all, err := column.Concat(got...)
	require.NoError(t, err)
	require.Empty(t, column.Diff(all, want))
	schema := s.Schema()
	for i, c := range want.Columns {
		require.Equal(t, c.Type, schema[i].Type, c.Name)
	}
	// The same, with reused memory.
	r, err := s.Reader(everything(s))
	require.NoError(t, err)
	var b column.Batch
	for row := 0; row < want.Rows; row += b.Rows {
		require.NoError(t, r.ReadInto(context.Background(), &b))
		require.Empty(t, column.Diff(&b, want.Slice(row, row+b.Rows)))
	}
}

// wrap returns random nested columns: up to depth levels of lists, maps, structs and tuples around the fields.
func wrap(r *rand.Rand, f column.Field, depth int) column.Field {
	for range r.IntN(depth + 1) {
		inner := f
		f = column.Field{Name: f.Name, Nullable: true}
		child := func(name string) column.Field {
			c := inner
			c.Name = name
			return c
		}
		switch r.IntN(4) {
		case 0:
			f.Type.Kind, f.Fields = column.List, []column.Field{child(column.ElementName)}
		case 1:
			f.Type.Kind, f.Fields = column.Struct, []column.Field{child("a"), {Name: "b", Type: column.Type{Kind: column.Int32}, Nullable: true}}
		case 2:
			f.Type.Kind, f.Fields = column.Tuple, []column.Field{{Name: "0", Type: column.Type{Kind: column.Varint}, Nullable: true}, child("1")}
		case 3:
			f.Type.Kind, f.Fields = column.Map, []column.Field{{Name: column.KeyName, Type: column.Type{Kind: column.UUID}}, child(column.ValueName)}
		}
	}
	return f
}

// randomWritten returns batches of random rows, some of them slices and some with dictionaries, and all of their rows.
func randomWritten(r *rand.Rand, fields []column.Field) (batches []*column.Batch, want *column.Batch) {
	for range 1 + r.IntN(3) {
		n := r.IntN(50)
		b := columntest.Batch(r, fields, n, []float64{0, 0.1, 0.5, 1}[r.IntN(4)])
		for i := range b.Columns {
			if c := &b.Columns[i]; c.Type.Kind.IsText() && r.IntN(2) == 0 {
				*c = columntest.WithDictionary(*c)
			}
		}
		from := r.IntN(n + 1)
		batches = append(batches, b.Slice(from, from+r.IntN(n-from+1)))
	}
	want, err := column.Concat(batches...)
	if err != nil {
		panic(err)
	}
	return batches, want
}

func randomOptions(r *rand.Rand) (WriterOptions, Options) {
	w := WriterOptions{
		Codec: Codec(r.IntN(6)), DataPageV2: r.IntN(2) == 0, NoDictionary: r.IntN(2) == 0, PageBytes: []int{0, 1, 300}[r.IntN(3)],
		RowGroupRows: []int{0, 1, 7, 50}[r.IntN(4)],
	}
	return w, Options{BatchRows: []int{0, 1, 7}[r.IntN(3)], Text: r.IntN(2) == 0}
}

// checkWriteRead writes and reads random rows of random fields.
func checkWriteRead(t testing.TB, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 2))
	all := columntest.Fields()
	var fields []column.Field
	for i := range 1 + r.IntN(4) {
		f := wrap(r, all[r.IntN(len(all))], 3)
		f.Name = fmt.Sprint(f.Name, "_", i)
		fields = append(fields, f)
	}
	batches, want := randomWritten(r, fields)
	wo, o := randomOptions(r)
	requireReadsBack(t, writeBatches(t, fields, wo, batches...), o, want)
}

// TestWriteReadEqualEveryKind writes and reads each kind alone.
func TestWriteReadEqualEveryKind(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 3))
	for _, f := range columntest.Fields() {
		for _, n := range []int{0, 1, 8, 100} {
			for _, nulls := range []float64{0, 0.3, 1} {
				if soak.Reduced && (n != 100 || nulls == 1) {
					continue // see soak.Rounds
				}
				t.Run(fmt.Sprintf("%s/%d/%v", f.Name, n, nulls), func(t *testing.T) {
					b := columntest.Batch(r, []column.Field{f}, n, nulls)
					wo, o := randomOptions(r)
					requireReadsBack(t, writeBatches(t, b.Schema(), wo, b), o, b)
					if n == 100 {
						part := b.Slice(3, 91)
						requireReadsBack(t, writeBatches(t, b.Schema(), wo, part), o, part)
					}
				})
			}
		}
	}
}

func TestWriteReadEqualNested(t *testing.T) {
	for range soak.Rounds(300) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkWriteRead(t, seed) })
	}
}

func FuzzWriteReadEqual(f *testing.F) {
	for seed := range uint64(10) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) { checkWriteRead(t, seed) })
}

// requireNumbered reads columns n, n, a, a.b, m and n by the names that NumberNames gives them.
func requireNumbered(t *testing.T, file []byte, want *column.Batch) {
	t.Helper()
	renamed := &column.Batch{Rows: want.Rows, Columns: slices.Clone(want.Columns)}
	renamed.Columns[1].Name, renamed.Columns[5].Name = "n_1", "n_2"
	o := Options{NumberNames: true}
	requireReadsBack(t, file, o, renamed)
	o.Columns, o.Filter = []string{"n_2", "n"}, And(Ge("n_2", 20), Eq("n_1", "x"))
	requireReadsBack(t, file, o, &column.Batch{Rows: 1, Columns: []column.Column{
		renamed.Columns[5].Slice(2, 3), renamed.Columns[0].Slice(2, 3),
	}})
	s := scanOf(t, openSources(t, Config{}, file), Options{NumberNames: true})
	for name, most := range map[string]int64{"n": 3, "n_2": 30} {
		r, err := s.Range(name)
		require.NoError(t, err)
		require.Equal(t, any(most), r.Max, name)
	}
	_, err := s.Range("n_3")
	require.ErrorIs(t, err, ErrNoColumn)
}

// TestDuplicateNames writes columns that share a name and reads them by position.
func TestDuplicateNames(t *testing.T) {
	inner := column.Structs("a", column.Of("b", []int64{7, 8, 9}))
	want := column.NewBatch(
		column.Of("n", []int64{1, 2, 3}), column.Strings("n", []string{"x", "y", "x"}), inner, column.Of("a.b", []int32{4, 5, 6}),
		column.Of("m", []float64{1, 2, 3}), column.Of("n", []int64{10, 20, 30}),
	)
	for _, o := range []WriterOptions{{}, {BloomFilters: []string{"m", "n"}}, {Plain: []string{"n"}, DataPageV2: true}, {NoPageIndex: true}} {
		file := writeBatches(t, want.Schema(), o, want)
		requireReadsBack(t, file, Options{}, want)
		part := &column.Batch{Rows: 3, Columns: []column.Column{want.Columns[5], want.Columns[1], want.Columns[4]}}
		requireReadsBack(t, file, Options{Positions: []int{5, 1, 4}}, part)
		requireReadsBack(t, file, Options{Columns: []string{"m", "a.b"}}, &column.Batch{Rows: 3, Columns: []column.Column{
			want.Columns[4], want.Columns[3],
		}})
		requireReadsBack(t, file, Options{Positions: []int{5}, Filter: Ge("m", 2)}, &column.Batch{Rows: 2, Columns: []column.Column{
			want.Columns[5].Slice(1, 3),
		}})
		requireNumbered(t, file, want)
		// Two files whose columns differ in order.
		other := column.NewBatch(want.Columns[4], want.Columns[0], want.Columns[1], want.Columns[5])
		d := openSources(t, Config{}, file, writeBatches(t, other.Schema(), o, other))
		var got []*column.Batch
		for b, err := range scanOf(t, d, Options{Positions: []int{5, 1, 0, 4}, Ordered: true}).All(t.Context()) {
			require.NoError(t, err)
			got = append(got, b)
		}
		require.Len(t, got, 2)
		require.Empty(t, column.Diff(got[1], got[0]))

		d = openSources(t, Config{}, file)
		for _, o := range []Options{
			{Columns: []string{"n"}}, {Filter: Eq("n", 1)}, {Positions: []int{6}}, {Positions: []int{-1}},
		} {
			_, err := d.Scan(o)
			require.ErrorIs(t, err, ErrNoColumn)
		}
		_, err := d.Scan(Options{Columns: []string{"n"}})
		require.ErrorContains(t, err, "column n: no such column: 3 columns have this name; Options.Positions selects by position")
		_, err = d.Scan(Options{Columns: []string{"m"}, Positions: []int{0}})
		require.ErrorContains(t, err, "both Columns and Positions")
		_, err = scanOf(t, d, Options{}).Range("n")
		require.ErrorIs(t, err, ErrNoColumn)
	}
}

// TestFixedOfAllWidths reads values of every width with NULLs: plain, of a dictionary, and rows that are selected.
func TestFixedOfAllWidths(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var fields []column.Field
	for width := 1; width <= 20; width++ {
		fields = append(fields, column.Field{Name: fmt.Sprint("f", width), Type: column.Type{Kind: column.Fixed, Width: width}, Nullable: true})
	}
	want := columntest.Batch(r, fields, 150, 0.3)
	for _, o := range []WriterOptions{{}, {NoDictionary: true, DataPageV2: true, PageBytes: 400}} {
		file := writeBatches(t, want.Schema(), o, want)
		requireReadsBack(t, file, Options{}, want)
		requireReadsBack(t, file, Options{BatchRows: 37}, want)
		checkSelections(t, r, openSources(t, Config{}, file), Options{})
	}
}
