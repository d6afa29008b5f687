// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/arrowtest"
)

// Random batches, written and read back with pqarrow, which shares with the Writer only the encoding of pages.

// newGenerator returns a Generator and logs its seed.
func newGenerator(t testing.TB) *arrowtest.Generator {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return generatorOf(seed)
}

func generatorOf(seed uint64) *arrowtest.Generator {
	r := rand.New(rand.NewPCG(seed, 1))
	return &arrowtest.Generator{Rand: r, Dim: 1 + r.IntN(9)}
}

// A written file, and its expected values.
type written struct {
	fields []column.Field
	values [][]any // by column
	data   []byte
}

// writeRandom writes batches of random rows; rows are their numbers of rows.
func writeRandom(t testing.TB, g *arrowtest.Generator, fields []column.Field, o parquetscan.WriterOptions, rows ...int) written {
	w := written{fields: fields, values: make([][]any, len(fields))}
	var buf bytes.Buffer
	wr, err := parquetscan.NewWriter(&buf, fields, o)
	require.NoError(t, err)
	for _, n := range rows {
		b := &column.Batch{Rows: n}
		for i, f := range fields {
			values := g.Values(f, n)
			w.values[i] = append(w.values[i], values...)
			c := g.Column(f, values)
			require.Equal(t, values, arrowtest.OfColumn(&c), "the generated column has the values")
			b.Columns = append(b.Columns, c)
		}
		require.NoError(t, wr.Write(b))
	}
	require.NoError(t, wr.Close())
	require.NoError(t, wr.Close())
	w.data = buf.Bytes()
	return w
}

// openFile opens a file until the test ends.
func openFile(t testing.TB, data []byte) *file.Reader {
	f, err := file.NewParquetReader(bytes.NewReader(data))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// check reads the file, compares its values, and returns the open file.
func (w written) check(t testing.TB) *file.Reader {
	t.Helper()
	f := openFile(t, w.data)
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{BatchSize: 1 << 20}, memory.DefaultAllocator)
	require.NoError(t, err)
	table, err := r.ReadTable(context.Background())
	require.NoError(t, err)
	defer table.Release()
	require.EqualValues(t, len(w.fields), table.NumCols())
	for i, f := range w.fields {
		column := table.Column(i)
		require.Equal(t, f.Name, column.Name())
		require.Equal(t, f.Nullable, column.Field().Nullable, f.Name)
		got := []any{}
		for _, chunk := range column.Data().Chunks() {
			got = append(got, arrowtest.OfArray(chunk)...)
		}
		require.Equal(t, len(w.values[i]), len(got), "rows of %v", f)
		for row := range got {
			require.Equal(t, w.values[i][row], got[row], "row %d of %v", row, f)
		}
	}
	return f
}

var allCodecs = []parquetscan.Codec{
	parquetscan.Snappy, parquetscan.Zstd, parquetscan.Gzip, parquetscan.Brotli, parquetscan.LZ4Raw, parquetscan.Uncompressed,
}

func TestWriterEveryKind(t *testing.T) {
	soak.NoRace(t)
	g := newGenerator(t)
	for _, codec := range allCodecs {
		for _, v2 := range []bool{false, true} {
			for _, nullable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/v2=%v/nullable=%v", codec, v2, nullable), func(t *testing.T) {
					o := parquetscan.WriterOptions{Codec: codec, DataPageV2: v2, PageBytes: 512, NoDictionary: g.Rand.IntN(2) == 0}
					w := writeRandom(t, g, arrowtest.Scalars(nullable), o, 100, 0, 1, 200)
					f := w.check(t)
					require.Equal(t, 1, f.NumRowGroups())
					for i := range f.MetaData().Schema.NumColumns() {
						chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
						require.NoError(t, err)
						require.Equal(t, codec.String(), chunk.Compression().String())
					}
				})
			}
		}
	}
}

func TestWriterRandomSchemas(t *testing.T) {
	for range soak.Rounds(60) {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := generatorOf(seed)
			o := parquetscan.WriterOptions{
				Codec: allCodecs[g.Rand.IntN(len(allCodecs))], DataPageV2: g.Rand.IntN(2) == 0, NoDictionary: g.Rand.IntN(2) == 0,
				NoPageIndex: g.Rand.IntN(2) == 0, PageBytes: []int{0, 1, 300}[g.Rand.IntN(3)],
				RowGroupRows:  []int{0, 1, 7, 50}[g.Rand.IntN(4)],
				RowGroupBytes: []int{0, 1, 1000}[g.Rand.IntN(3)],
			}
			rows := make([]int, g.Rand.IntN(4))
			for i := range rows {
				rows[i] = g.Rand.IntN(80)
			}
			writeRandom(t, g, g.Fields(1+g.Rand.IntN(5), 3), o, rows...).check(t)
		})
	}
}

func TestWriterNoRows(t *testing.T) {
	for _, rows := range [][]int{nil, {0}, {0, 0}} {
		f := writeRandom(t, newGenerator(t), arrowtest.Scalars(true), parquetscan.WriterOptions{}, rows...).check(t)
		require.Zero(t, f.NumRowGroups())
	}
}

func TestWriterRowGroups(t *testing.T) {
	fields := []column.Field{
		{Name: "n", Type: column.Type{Kind: column.Int64}},
		{Name: "s", Type: column.Type{Kind: column.String}},
		{Name: "v", Type: column.Type{Kind: column.Vector, Elem: column.Float32}},
	}
	groups := func(o parquetscan.WriterOptions, text int, batches ...int) (rows []int64) {
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, fields, o)
		require.NoError(t, err)
		for _, n := range batches {
			s := make([]string, n)
			for i := range s {
				s[i] = string(make([]byte, text))
			}
			require.NoError(t, w.Write(&column.Batch{Rows: n, Columns: []column.Column{
				column.Of("n", make([]int64, n)), column.Strings("s", s),
				column.Matrix("v", make([]float32, 4*n), 4),
			}}))
		}
		require.NoError(t, w.Close())
		f := openFile(t, buf.Bytes())
		for i := range f.NumRowGroups() {
			rows = append(rows, f.MetaData().RowGroup(i).NumRows())
		}
		return rows
	}
	require.Equal(t, []int64{250}, groups(parquetscan.WriterOptions{}, 10, 50, 200))
	require.Equal(t, []int64{100, 100, 50}, groups(parquetscan.WriterOptions{RowGroupRows: 100}, 10, 50, 200))
	require.Equal(t, []int64{100, 100}, groups(parquetscan.WriterOptions{RowGroupRows: 100}, 10, 100, 50, 50))
	// A row is 8 bytes of n, 4+28 of s and 4+16 of v.
	require.Equal(t, []int64{100, 100, 50}, groups(parquetscan.WriterOptions{RowGroupBytes: 6000}, 28, 50, 200))
	require.Equal(t, []int64{100, 100, 50}, groups(parquetscan.WriterOptions{RowGroupBytes: 6059}, 28, 50, 200))
	require.Equal(t, []int64{1, 1, 1}, groups(parquetscan.WriterOptions{RowGroupBytes: 59}, 28, 3))
}

// TestWriterLargePages writes many pages of the default size.
func TestWriterLargePages(t *testing.T) {
	soak.NoRace(t)
	const rows, dim = 12_000, 100
	for i, nulls := range []bool{false, true} {
		for j, v2 := range []bool{false, true} {
			if i+j == 1 && soak.Rounds(2) == 1 {
				continue
			}
			g := newGenerator(t)
			v, numbers := make([]float32, rows*dim), make([]int64, rows)
			validity := make([]byte, rows/8+1)
			for i := range v {
				v[i] = g.Rand.Float32()
			}
			for i := range numbers {
				numbers[i] = g.Rand.Int64()
				if g.Rand.IntN(10) > 0 {
					validity[i/8] |= 1 << (i % 8)
				}
			}
			if !nulls {
				validity = nil
			}
			fields := []column.Field{
				{Name: "v", Type: column.Type{Kind: column.Vector, Elem: column.Float32}, Nullable: true},
				{Name: "n", Type: column.Type{Kind: column.Int64}, Nullable: true},
			}
			b := &column.Batch{Rows: rows, Columns: []column.Column{
				column.Matrix("v", v, dim).WithValidity(validity), column.Of("n", numbers).WithValidity(validity),
			}}
			w := written{fields: fields}
			for i := range fields {
				w.values = append(w.values, arrowtest.OfColumn(&b.Columns[i]))
			}
			var buf bytes.Buffer
			wr, err := parquetscan.NewWriter(&buf, fields, parquetscan.WriterOptions{DataPageV2: v2, Codec: parquetscan.Uncompressed})
			require.NoError(t, err)
			require.NoError(t, wr.Write(b))
			require.NoError(t, wr.Close())
			w.data = buf.Bytes()
			f := w.check(t)
			index, err := f.GetPageIndexReader().RowGroup(0)
			require.NoError(t, err)
			offsets, err := index.GetOffsetIndex(0)
			require.NoError(t, err)
			pages := offsets.GetPageLocations()
			require.Greater(t, len(pages), 3)
			for i, p := range pages {
				require.Less(t, int(p.CompressedPageSize), 1<<20+1<<18+1<<12)
				if i > 0 {
					require.Greater(t, p.FirstRowIndex, pages[i-1].FirstRowIndex)
				}
			}
		}
	}
}

// TestWriterOwnsNothing overwrites a batch after Write returns.
func TestWriterOwnsNothing(t *testing.T) {
	for _, dictionary := range []bool{false, true} {
		data, offsets := []byte("aabbcc"), []int32{0, 2, 4, 6}
		numbers, ids, floats := []int64{1, 2, 3}, [][16]byte{{1}, {2}, {3}}, []float64{1, 2, 3, 4, 5, 6}
		decimals := []column.Int128{{Lo: 1}, {Lo: 2}, {Lo: 3}}
		w := written{fields: []column.Field{
			{Name: "s", Type: kindOf(column.String)},
			{Name: "n", Type: kindOf(column.Int64)},
			{Name: "id", Type: kindOf(column.UUID)},
			{Name: "v", Type: column.Type{Kind: column.Vector, Elem: column.Float64}},
			{Name: "d", Type: column.Type{Kind: column.Decimal128, Precision: 38}},
		}}
		b := &column.Batch{Rows: 3, Columns: []column.Column{
			column.StringBuffers("s", data, offsets), column.Of("n", numbers), column.Of("id", ids),
			column.Matrix("v", floats, 2), column.Of("d", decimals),
		}}
		for i := range b.Columns {
			w.values = append(w.values, arrowtest.OfColumn(&b.Columns[i]))
		}
		var buf bytes.Buffer
		wr, err := parquetscan.NewWriter(&buf, w.fields, parquetscan.WriterOptions{NoDictionary: !dictionary})
		require.NoError(t, err)
		require.NoError(t, wr.Write(b))
		copy(data, "zzzzzz")
		clear(offsets)
		clear(numbers)
		clear(ids)
		clear(floats)
		clear(decimals)
		require.NoError(t, wr.Close())
		w.data = buf.Bytes()
		f := w.check(t)
		chunk, err := f.MetaData().RowGroup(0).ColumnChunk(0)
		require.NoError(t, err)
		stats, err := chunk.Statistics()
		require.NoError(t, err)
		require.Equal(t, "aa", string(stats.EncodeMin()))
		require.Equal(t, "cc", string(stats.EncodeMax()))
	}
}

func TestWriterArrowSchema(t *testing.T) {
	read := func(col column.Column) arrow.DataType {
		var buf bytes.Buffer
		fields := []column.Field{{Name: "v", Type: col.Type, Nullable: true}}
		w, err := parquetscan.NewWriter(&buf, fields, parquetscan.WriterOptions{
			Metadata: map[string]string{"b": "2", "a": "1"},
		})
		require.NoError(t, err)
		require.NoError(t, w.Write(&column.Batch{Rows: col.Len, Columns: []column.Column{col}}))
		require.NoError(t, w.Close())
		f := openFile(t, buf.Bytes())
		require.Equal(t, []string{"ARROW:schema", "a", "b"}, f.MetaData().KeyValueMetadata().Keys())
		require.Equal(t, "2", *f.MetaData().KeyValueMetadata().FindValue("b"))
		r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
		require.NoError(t, err)
		s, err := r.Schema()
		require.NoError(t, err)
		return s.Field(0).Type
	}
	v := column.Matrix("v", make([]float32, 12), 3)
	require.Equal(t, "fixed_size_list<element: float32>[3]", read(v).String())
	require.Equal(t, "list<element: float32>", read(v.WithValidity([]byte{0b1101})).String())
	require.Equal(t, "list<element: float32>", read(v.WithValidity([]byte{0})).String())
	at, err := column.Of("v", []int64{1}).WithType(column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true})
	require.NoError(t, err)
	require.Equal(t, "timestamp[us, tz=UTC]", read(at).String())
	require.Equal(t, "extension<arrow.uuid>", read(column.Of("v", make([][16]byte, 2))).String())
}

func TestWriterDictionaries(t *testing.T) {
	fields := []column.Field{
		{Name: "a", Type: column.Type{Kind: column.Int64}},
		{Name: "b", Type: column.Type{Kind: column.Int64}},
		{Name: "v", Type: column.Type{Kind: column.Vector, Elem: column.Float32}},
	}
	for _, o := range []parquetscan.WriterOptions{{}, {Plain: []string{"b"}}, {NoDictionary: true}} {
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, fields, o)
		require.NoError(t, err)
		require.NoError(t, w.Write(&column.Batch{Rows: 1000, Columns: []column.Column{
			column.Of("a", make([]int64, 1000)), column.Of("b", make([]int64, 1000)),
			column.Matrix("v", make([]float32, 2000), 2),
		}}))
		require.NoError(t, w.Close())
		f := openFile(t, buf.Bytes())
		for i, want := range []bool{!o.NoDictionary, !o.NoDictionary && o.Plain == nil, false} {
			chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
			require.NoError(t, err)
			require.Equal(t, want, chunk.HasDictionaryPage(), "column %d", i)
			require.Contains(t, chunk.Encodings(), parquet.Encodings.RLE)
		}
	}
}

// A brokenSink accepts left bytes and then fails, or with quiet writes less without an error.
type brokenSink struct {
	left  int
	quiet bool
}

var errBroken = errors.New("broken")

func (s *brokenSink) Write(p []byte) (int, error) {
	if len(p) <= s.left {
		s.left -= len(p)
		return len(p), nil
	}
	n := s.left
	s.left = 0
	if s.quiet {
		return n, nil
	}
	return n, errBroken
}

func TestWriterBrokenSink(t *testing.T) {
	g := newGenerator(t)
	fields := append(arrowtest.Scalars(true)[:14], g.Fields(2, 2)...)
	b := &column.Batch{Rows: 40}
	for _, f := range fields {
		b.Columns = append(b.Columns, g.Column(f, g.Values(f, b.Rows)))
	}
	o := parquetscan.WriterOptions{RowGroupRows: 15, PageBytes: 64, BloomFilters: []string{fields[1].Name}}
	write := func(sink *brokenSink) error {
		w, err := parquetscan.NewWriter(sink, fields, o)
		if err != nil {
			return err
		}
		first := w.Write(b)
		second := w.Close()
		if first != nil {
			require.Equal(t, first, second, "the error stays")
			require.Equal(t, first, w.Write(b))
		}
		require.Equal(t, second, w.Close())
		return second
	}
	for _, o.Workers = range []int{0, 2} {
		whole := &brokenSink{left: 1 << 30}
		require.NoError(t, write(whole))
		size := 1<<30 - whole.left
		for n := 0; n < size; n += 1 + g.Rand.IntN(1+size/(25-10*o.Workers)) {
			require.ErrorIs(t, write(&brokenSink{left: n}), errBroken, "after %d bytes of %d", n, size)
			require.Error(t, write(&brokenSink{left: n, quiet: true}), "after %d bytes of %d", n, size)
		}
		require.Error(t, write(&brokenSink{left: size - 1}))
		require.NoError(t, write(&brokenSink{left: size}))
	}
}
