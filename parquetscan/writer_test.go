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
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/columntest"
)

// This file writes random batches and reads them back with pqarrow, which shares no code with the Writer above the encoding of pages.

// newGenerator returns a Generator whose seed is in the log.
func newGenerator(t testing.TB) *columntest.Generator {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return generatorOf(seed)
}

func generatorOf(seed uint64) *columntest.Generator {
	r := rand.New(rand.NewPCG(seed, 1))
	return &columntest.Generator{Rand: r, Dim: 1 + r.IntN(9)}
}

// forArrow changes options so that arrow-go can read what is written: its reader fails on a page of the second version that is compressed
// with Brotli and has no values, only NULLs.
func forArrow(o parquetscan.WriterOptions) parquetscan.WriterOptions {
	o.DataPageV2 = o.DataPageV2 && o.Codec != parquetscan.Brotli
	return o
}

// A written file, and what should be in it.
type written struct {
	fields []parquetscan.Field
	values [][]any // by column
	data   []byte
}

// writeRandom writes batches of random rows, so many each.
func writeRandom(t testing.TB, g *columntest.Generator, fields []parquetscan.Field, o parquetscan.WriterOptions, rows ...int) written {
	w := written{fields: fields, values: make([][]any, len(fields))}
	var buf bytes.Buffer
	wr, err := parquetscan.NewWriter(&buf, fields, o)
	require.NoError(t, err)
	for _, n := range rows {
		b := &parquetscan.Batch{Rows: n}
		for i, f := range fields {
			values := g.Values(f, n)
			w.values[i] = append(w.values[i], values...)
			c := g.Column(f, values)
			require.Equal(t, values, columntest.OfColumn(&c), "the column made of values")
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

// check reads the file and compares it, and returns it for more.
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
			got = append(got, columntest.OfArray(chunk)...)
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
	g := newGenerator(t)
	for _, codec := range allCodecs {
		for _, v2 := range []bool{false, true} {
			for _, nullable := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v/v2=%v/nullable=%v", codec, v2, nullable), func(t *testing.T) {
					o := parquetscan.WriterOptions{Codec: codec, DataPageV2: v2, PageBytes: 512, NoDictionary: g.Rand.IntN(2) == 0}
					if nullable {
						o = forArrow(o)
					}
					w := writeRandom(t, g, columntest.Scalars(nullable), o, 100, 0, 1, 200)
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
	for range 60 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := generatorOf(seed)
			o := parquetscan.WriterOptions{
				Codec: allCodecs[g.Rand.IntN(len(allCodecs))], DataPageV2: g.Rand.IntN(2) == 0, NoDictionary: g.Rand.IntN(2) == 0,
				NoPageIndex: g.Rand.IntN(2) == 0, PageBytes: []int{0, 1, 300}[g.Rand.IntN(3)],
				RowGroupRows:  []int{0, 1, 7, 50}[g.Rand.IntN(4)],
				RowGroupBytes: []int{0, 1, 1000}[g.Rand.IntN(3)],
			}
			o = forArrow(o)
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
		f := writeRandom(t, newGenerator(t), columntest.Scalars(true), parquetscan.WriterOptions{}, rows...).check(t)
		require.Zero(t, f.NumRowGroups())
	}
}

func TestWriterRowGroups(t *testing.T) {
	fields := []parquetscan.Field{
		{Name: "n", Type: parquetscan.Type{Kind: parquetscan.Int64}},
		{Name: "s", Type: parquetscan.Type{Kind: parquetscan.String}},
		{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}},
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
			require.NoError(t, w.Write(&parquetscan.Batch{Rows: n, Columns: []parquetscan.Column{
				parquetscan.NewColumn("n", make([]int64, n)), parquetscan.NewStrings("s", s),
				parquetscan.NewMatrix("v", make([]float32, 4*n), 4),
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

// TestWriterLargePages writes enough for many pages of the default size, whose pieces are cut at it.
func TestWriterLargePages(t *testing.T) {
	const rows, dim = 12_000, 100
	for _, nulls := range []bool{false, true} {
		for _, v2 := range []bool{false, true} {
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
			fields := []parquetscan.Field{
				{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}, Nullable: true},
				{Name: "n", Type: parquetscan.Type{Kind: parquetscan.Int64}, Nullable: true},
			}
			b := &parquetscan.Batch{Rows: rows, Columns: []parquetscan.Column{
				parquetscan.NewMatrix("v", v, dim).WithValidity(validity), parquetscan.NewColumn("n", numbers).WithValidity(validity),
			}}
			w := written{fields: fields}
			for i := range fields {
				w.values = append(w.values, columntest.OfColumn(&b.Columns[i]))
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

// TestWriterOwnsNothing overwrites a batch as soon as Write has returned.
func TestWriterOwnsNothing(t *testing.T) {
	for _, dictionary := range []bool{false, true} {
		data, offsets := []byte("aabbcc"), []int32{0, 2, 4, 6}
		numbers, ids, floats := []int64{1, 2, 3}, [][16]byte{{1}, {2}, {3}}, []float64{1, 2, 3, 4, 5, 6}
		decimals := []parquetscan.Int128{{Lo: 1}, {Lo: 2}, {Lo: 3}}
		w := written{fields: []parquetscan.Field{
			{Name: "s", Type: kindOf(parquetscan.String)},
			{Name: "n", Type: kindOf(parquetscan.Int64)},
			{Name: "id", Type: kindOf(parquetscan.ID)},
			{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float64}},
			{Name: "d", Type: parquetscan.Type{Kind: parquetscan.Decimal128, Precision: 38}},
		}}
		b := &parquetscan.Batch{Rows: 3, Columns: []parquetscan.Column{
			parquetscan.NewText("s", data, offsets), parquetscan.NewColumn("n", numbers), parquetscan.NewColumn("id", ids),
			parquetscan.NewMatrix("v", floats, 2), parquetscan.NewColumn("d", decimals),
		}}
		for i := range b.Columns {
			w.values = append(w.values, columntest.OfColumn(&b.Columns[i]))
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
	read := func(column parquetscan.Column) arrow.DataType {
		var buf bytes.Buffer
		fields := []parquetscan.Field{{Name: "v", Type: column.Type, Nullable: true}}
		w, err := parquetscan.NewWriter(&buf, fields, parquetscan.WriterOptions{
			Metadata: map[string]string{"b": "2", "a": "1"},
		})
		require.NoError(t, err)
		require.NoError(t, w.Write(&parquetscan.Batch{Rows: column.Len(), Columns: []parquetscan.Column{column}}))
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
	v := parquetscan.NewMatrix("v", make([]float32, 12), 3)
	require.Equal(t, "fixed_size_list<element: float32>[3]", read(v).String())
	require.Equal(t, "list<element: float32>", read(v.WithValidity([]byte{0b1101})).String())
	require.Equal(t, "list<element: float32>", read(v.WithValidity([]byte{0})).String())
	at, err := parquetscan.NewColumn("v", []int64{1}).As(parquetscan.Type{Kind: parquetscan.Timestamp, Unit: parquetscan.Micros, UTC: true})
	require.NoError(t, err)
	require.Equal(t, "timestamp[us, tz=UTC]", read(at).String())
	require.Equal(t, "extension<arrow.uuid>", read(parquetscan.NewColumn("v", make([][16]byte, 2))).String())
}

func TestWriterDictionaries(t *testing.T) {
	fields := []parquetscan.Field{
		{Name: "a", Type: parquetscan.Type{Kind: parquetscan.Int64}},
		{Name: "b", Type: parquetscan.Type{Kind: parquetscan.Int64}},
		{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32}},
	}
	for _, o := range []parquetscan.WriterOptions{{}, {Plain: []string{"b"}}, {NoDictionary: true}} {
		var buf bytes.Buffer
		w, err := parquetscan.NewWriter(&buf, fields, o)
		require.NoError(t, err)
		require.NoError(t, w.Write(&parquetscan.Batch{Rows: 1000, Columns: []parquetscan.Column{
			parquetscan.NewColumn("a", make([]int64, 1000)), parquetscan.NewColumn("b", make([]int64, 1000)),
			parquetscan.NewMatrix("v", make([]float32, 2000), 2),
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

// A brokenSink takes so many bytes and then fails, or stops without saying so.
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
	fields := append(columntest.Scalars(true)[:14], g.Fields(2, 2)...)
	b := &parquetscan.Batch{Rows: 40}
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
	whole := &brokenSink{left: 1 << 30}
	require.NoError(t, write(whole))
	size := 1<<30 - whole.left
	for n := 0; n < size; n += 1 + g.Rand.IntN(1+size/25) {
		require.ErrorIs(t, write(&brokenSink{left: n}), errBroken, "after %d bytes of %d", n, size)
		require.Error(t, write(&brokenSink{left: n, quiet: true}), "after %d bytes of %d", n, size)
	}
	require.Error(t, write(&brokenSink{left: size - 1}))
	require.NoError(t, write(&brokenSink{left: size}))
}
