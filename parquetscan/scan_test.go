// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Scans: columns, options, and the owner of a batch's memory.

func names(fields []column.Field) []string {
	out := []string{}
	for _, f := range fields {
		out = append(out, f.Name)
	}
	return out
}

// people is a file with structs, lists and strings, whose pages are short.
func people(t testing.TB, seed uint64, rows int) []byte {
	options := []parquet.WriterProperty{parquet.WithDataPageSize(200), parquet.WithBatchSize(50)}
	address := arrow.StructOf(
		arrow.Field{Name: "city", Type: arrow.BinaryTypes.String, Nullable: true},
		arrow.Field{Name: "place", Type: arrow.StructOf(
			arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64},
			arrow.Field{Name: "y", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		), Nullable: true},
	)
	fields := []arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "address", Type: address, Nullable: true},
		{Name: "a.b", Type: arrow.PrimitiveTypes.Int32},
		{Name: "vector", Type: arrow.ListOf(arrow.PrimitiveTypes.Float32), Nullable: true},
	}
	return writeArrow(t, rand.New(rand.NewPCG(5, seed)), fields, rows, 0.2, 20, int64(rows/2+1), options...)
}

func TestProjection(t *testing.T) {
	d := openBytes(t, people(t, 1, 300))
	require.Equal(t, []string{"id", "name", "address", "a.b", "vector"}, names(d.Schema()))
	require.Equal(t, column.List, d.Schema()[4].Type.Kind)
	for _, columns := range [][]string{nil, {}, {"id"}, {"vector", "id"}, {"address"}, {"a.b"}, {"id", "id"}} {
		s := scanOf(t, d, Options{Columns: columns, BatchRows: 37})
		if columns != nil {
			require.Equal(t, columns, names(s.Schema()))
		}
		requireEqual(t, d, Options{Columns: columns, BatchRows: 37})
		rows := 0
		for b, err := range s.Batches(context.Background(), everything(s)) {
			require.NoError(t, err)
			require.Equal(t, s.outputs, len(b.Columns))
			require.Equal(t, "memory", b.Source.File)
			require.EqualValues(t, rows, b.Source.FirstRow)
			require.Equal(t, rows/151, b.Source.RowGroup)
			rows += b.Rows
			require.ErrorIs(t, b.Column("none").Err(), ErrNoColumn)
		}
		require.Equal(t, 300, rows)
	}
	// A field of a struct has the values within the struct, and is NULL if the struct is.
	s := scanOf(t, d, Options{
		Columns:   []string{"address.place.y", "address", "address.city", "address.place", "address.place.x"},
		BatchRows: 37,
	})
	nulls := 0
	for b, err := range s.Batches(context.Background(), everything(s)) {
		require.NoError(t, err)
		whole := b.Column("address").Children
		place := whole[1].Children
		for path, want := range map[string]*column.Column{"address.city": &whole[0], "address.place.x": &place[0], "address.place.y": &place[1]} {
			got := b.Column(path)
			require.Equal(t, want.Type, got.Type)
			requireSound(t, got)
			for i := range b.Rows {
				require.Equal(t, bytesAt(want, i), bytesAt(got, i), "%s, row %d", path, i)
				if b.Column("address").Null(i) {
					require.True(t, got.Null(i))
					nulls++
				}
			}
		}
		got := b.Column("address.place")
		require.Equal(t, whole[1].ValidityBits(), got.ValidityBits())
		require.Equal(t, place[0].Values, got.Children[0].Values)
	}
	require.Positive(t, nulls)
	require.Equal(t, column.VectorOf(column.Float32, 6), scanOf(t, d, Options{}).Schema()[4].Type)
	require.Empty(t, scanOf(t, d, Options{}).Schema()[4].Fields)
	require.Equal(t, column.List, scanOf(t, d, Options{Lists: []string{"vector"}}).Schema()[4].Type.Kind)
	for _, column := range []string{"", "ID", "address.", "address.none", "address.place.x.y", "id.x", "vector.element", "a", "b"} {
		_, err := d.Scan(Options{Columns: []string{"id", column}})
		require.ErrorIs(t, err, ErrNoColumn, column)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "memory", e.File)
		require.Equal(t, column, e.Column)
	}
	_, err := d.Scan(Options{Columns: []string{"id"}, Lists: []string{"vector"}})
	require.ErrorContains(t, err, "vector is not read")
}

func TestOptionsOutOfRange(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 3))
	for _, o := range []Options{{BatchRows: -1}, {BatchBytes: -1}, {MaxBatchBytes: -1}, {MaxBatchBytes: math.MaxInt}, {Workers: -1}} {
		if o.MaxBatchBytes == math.MaxInt32 {
			continue // in range, where an int has 32 bits
		}
		_, err := d.Scan(o)
		require.ErrorContains(t, err, "out of range")
	}
	s := scanOf(t, d, Options{MaxBatchBytes: 1<<31 - 1, BatchRows: math.MaxInt, BatchBytes: math.MaxInt})
	out, err := readBucket(s, everything(s))
	require.NoError(t, err)
	require.Equal(t, []int64{0, 1, 2}, out)
}

// TestFilesOfDifferentSchemas reads files that differ in other columns than the selected ones.
func TestFilesOfDifferentSchemas(t *testing.T) {
	column := func(name string, physical, converted, repetition int64) handColumn {
		c := handColumn{name: name, physical: physical, converted: converted, repetition: repetition}
		values := int64s(7, 2)
		if physical == physicalInt32 {
			values = values[:8]
		}
		if repetition == optional { // two values
			values = append([]byte{2, 0, 0, 0, 2 << 1, 1}, values...)
		}
		c.values, c.pages = 2, [][]byte{plainPage(2, values)}
		return c
	}
	file := func(columns ...handColumn) []byte { return rawFile(rawGroup{2, columns}) }
	n := column("n", physicalInt64, convertedNever, required)
	first := file(n, column("only here", physicalInt32, convertedNever, required))
	for _, other := range [][]byte{
		file(n),
		file(column("before", physicalInt32, convertedNever, required), n),
		file(column("n", physicalInt64, convertedNever, optional)),
	} {
		d := openSources(t, Config{}, first, other)
		s := scanOf(t, d, Options{Columns: []string{"n"}})
		out, err := readBucket(s, everything(s))
		require.NoError(t, err)
		require.Equal(t, []int64{7, 8, 7, 8}, out)
		_, err = d.Scan(Options{})
		require.ErrorIs(t, err, ErrNoColumn)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, "1", e.File)
		require.Equal(t, "only here", e.Column)
	}
	for _, c := range []struct {
		other   handColumn
		message string
	}{
		{column("n", physicalInt32, convertedNever, required), "it is n int32 here and n int64 in 0"},
		{column("n", physicalInt64, 10, required), "timestamp(us"}, // TIMESTAMP_MICROS
		{column("n", physicalInt64, convertedNever, repeated), "it is n list[element int64] here"},
		{column("N", physicalInt64, convertedNever, required), ErrNoColumn.Error()},
	} {
		_, err := openSources(t, Config{}, first, file(c.other)).Scan(Options{Columns: []string{"n"}})
		require.ErrorIs(t, err, ErrNoColumn)
		require.ErrorContains(t, err, c.message)
		require.ErrorContains(t, err, "parquetscan: 1, column n")
	}
}

// TestColumnsOfOneName opens a file with two columns of one name: the name selects neither.
func TestColumnsOfOneName(t *testing.T) {
	c := handColumn{name: "n", physical: physicalInt64, converted: convertedNever, values: 2, pages: [][]byte{plainPage(2, int64s(7, 2))}}
	other := c
	other.name = "m"
	d := openSources(t, Config{}, rawFile(rawGroup{2, []handColumn{c, other, c}}))
	_, err := d.Scan(Options{Columns: []string{"n"}})
	require.ErrorIs(t, err, ErrNoColumn)
	require.ErrorContains(t, err, "column n")
	for _, o := range []Options{{}, {Columns: []string{"m"}}, {Positions: []int{2, 0}}} {
		_, err = d.Scan(o)
		require.NoError(t, err)
	}
}

// mixedPages makes a file of one column of strings in pages that are coded, plain, and coded again.
func mixedPages() []byte {
	codes := func(n int) []byte { return []byte{1, byte(n << 1), 1} } // n times the value 1
	return oneColumn(24, handColumn{name: "s", physical: physicalText, converted: convertedUTF8, dictionary: true, pages: [][]byte{
		rawPage(rawHeader{typ: format.DictionaryPage, n: 2, uncompressed: -1}, plainText("zero", "one")),
		rawPage(rawHeader{n: 5, encoding: format.RLEDictionary, uncompressed: -1}, codes(5)),
		rawPage(rawHeader{n: 5, encoding: format.RLEDictionary, uncompressed: -1}, codes(5)),
		plainPage(3, plainText("a", "", "c")),
		plainPage(4, plainText("d", "e", "f", "g")),
		rawPage(rawHeader{n: 7, encoding: format.RLEDictionary, uncompressed: -1}, codes(7)),
	}})
}

// TestText reads strings as codes where the file has them, and as text with Options.Text.
func TestText(t *testing.T) {
	want := strings.Fields("one one one one one one one one one one a - c d e f g one one one one one one one")
	want[11] = ""
	for _, rows := range []int{1, 2, 3, 7, 100} {
		for _, text := range []bool{false, true} {
			s := scanOf(t, openSources(t, Config{ReadBytes: 10}, mixedPages()), Options{Text: text, BatchRows: rows})
			var got []string
			coded := 0
			var dict *column.Dictionary
			for b, err := range s.Batches(context.Background(), everything(s)) {
				require.NoError(t, err)
				c := b.Column("s")
				got = append(got, stringsOf(c)...)
				codes, d := c.Codes()
				if d == nil {
					require.Nil(t, codes)
					require.Len(t, c.Offsets, b.Rows+1)
					require.Len(t, c.Values, int(c.Offsets[b.Rows]))
					continue
				}
				require.Len(t, codes, b.Rows)
				require.Equal(t, 2, d.Len())
				require.Equal(t, "one", string(d.Bytes(codes[0])))
				require.True(t, dict == nil || dict == d, "batches have different dictionaries")
				dict = d
				coded += b.Rows
			}
			require.Equal(t, want, got)
			if text {
				require.Zero(t, coded)
			} else {
				require.Equal(t, 17, coded)
			}
		}
	}
}

func TestLists(t *testing.T) {
	b := people(t, 2, 200)
	vectors, lists := openBytes(t, b), openBytes(t, b)
	v := scanOf(t, vectors, Options{Columns: []string{"vector"}})
	l := scanOf(t, lists, Options{Columns: []string{"vector"}, Lists: []string{"vector"}})
	var fromVectors, fromLists [][]float32
	for batch, err := range v.Batches(context.Background(), everything(v)) {
		require.NoError(t, err)
		c := &batch.Columns[0]
		require.Equal(t, 6, c.Type.Dim)
		require.Nil(t, c.Offsets)
		m := valuesOf[float32](c)
		for i := range batch.Rows {
			if c.Null(i) {
				fromVectors = append(fromVectors, nil)
			} else {
				fromVectors = append(fromVectors, m[6*i:6*i+6])
			}
		}
	}
	for batch, err := range l.Batches(context.Background(), everything(l)) {
		require.NoError(t, err)
		c := &batch.Columns[0]
		_, err = column.MatrixOf[float32](c)
		require.ErrorAs(t, err, new(*column.TypeError))
		m := valuesOf[float32](&c.Children[0])
		for i := range batch.Rows {
			if c.Null(i) {
				fromLists = append(fromLists, nil)
			} else {
				fromLists = append(fromLists, m[c.Offsets[i]:c.Offsets[i+1]])
			}
		}
	}
	bits := func(v [][]float32) string { return fmt.Sprintf("%x", v) }
	require.Equal(t, bits(fromLists), bits(fromVectors))
	require.Len(t, fromLists, 200)
}

func TestBatchSizes(t *testing.T) {
	d := openSources(t, Config{}, numbers(0, 1000, 7, 0, 500))
	sizes := func(o Options) (out []int) {
		s := scanOf(t, d, o)
		for b, err := range s.Batches(context.Background(), everything(s)) {
			require.NoError(t, err)
			out = append(out, b.Rows)
		}
		return out
	}
	require.Equal(t, []int{1000, 7, 500}, sizes(Options{}))
	require.Equal(t, []int{300, 300, 300, 100, 7, 300, 200}, sizes(Options{BatchRows: 300}))
	total := 0
	for _, n := range sizes(Options{BatchBytes: 800}) { // a value has 8 bytes; headers of pages add a few
		require.InDelta(t, 95, n, 6+95)
		require.LessOrEqual(t, n, 100)
		total += n
	}
	require.Equal(t, 1507, total)
	require.Len(t, sizes(Options{BatchBytes: 1}), 1507)
}

func TestMaxBatchBytes(t *testing.T) {
	long := strings.Repeat("x", 1000)
	read := func(b []byte, o Options) error {
		_, err := readError(t, b, Config{}, o)
		return err
	}
	text := func(dictionary bool) []byte {
		c := handColumn{name: "s", physical: physicalText, converted: convertedUTF8, dictionary: dictionary}
		if dictionary {
			c.pages = [][]byte{
				rawPage(rawHeader{typ: format.DictionaryPage, n: 1, uncompressed: -1}, plainText(long)),
				rawPage(rawHeader{n: 100, encoding: format.RLEDictionary, uncompressed: -1}, []byte{0}),
			}
		} else {
			for range 100 {
				c.pages = append(c.pages, plainPage(1, plainText(long)))
			}
		}
		return oneColumn(100, c)
	}
	require.NoError(t, read(text(false), Options{MaxBatchBytes: 2000}), "rows are few, by their average")
	require.NoError(t, read(text(true), Options{MaxBatchBytes: 2000}))
	require.NoError(t, read(text(true), Options{MaxBatchBytes: 2000, Text: true}), "a value may occur a hundred times")
	err := read(text(false), Options{MaxBatchBytes: 900})
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorContains(t, err, "column s")
	require.ErrorIs(t, read(text(true), Options{MaxBatchBytes: 900}), ErrTooLarge)
	// Few long rows among many short ones.
	mixed := handColumn{name: "s", physical: physicalText, converted: convertedUTF8}
	for i := range 200 {
		s := ""
		if i >= 100 && i < 110 {
			s = long
		}
		mixed.pages = append(mixed.pages, plainPage(1, plainText(s)))
	}
	require.ErrorIs(t, read(oneColumn(200, mixed), Options{MaxBatchBytes: 5000, Text: true}), ErrTooLarge)
	require.NoError(t, read(oneColumn(200, mixed), Options{MaxBatchBytes: 5000, Text: true, BatchRows: 4}))
	require.NoError(t, read(oneColumn(200, mixed), Options{MaxBatchBytes: 20_000, Text: true}))
}

// deepCopy returns a copy of a batch that shares no memory with it.
func deepCopy(b *column.Batch) *column.Batch {
	out := *b
	out.Columns = copyColumns(b.Columns)
	return &out
}

func copyColumns(columns []column.Column) []column.Column {
	out := make([]column.Column, len(columns))
	for i, c := range columns {
		c.Values, c.Offsets, c.Validity = bytes.Clone(c.Values), append([]int32(nil), c.Offsets...), bytes.Clone(c.Validity)
		if c.Dict != nil {
			text, offsets := c.Dict.Buffers()
			c.Dict = column.NewDictionary(bytes.Clone(text), append([]int32(nil), offsets...))
		}
		c.Children = copyColumns(c.Children)
		out[i] = c
	}
	return out
}

// requireUnchanged compares batches with copies of them made before.
func requireUnchanged(t *testing.T, kept, copies []*column.Batch) {
	t.Helper()
	for i := range kept {
		if !reflect.DeepEqual(deepCopy(kept[i]), copies[i]) { //nolint:govet // the columns of these batches have no errors
			t.Fatalf("batch %d of %d has changed", i, len(kept))
		}
	}
}

// TestBatchesAreFresh keeps all batches and compares them again after all are read, and after Close.
func TestBatchesAreFresh(t *testing.T) {
	ctx := context.Background()
	b := writeArrow(t, rand.New(rand.NewPCG(6, 1)), everyType(true), 400, 0.2, 9, 150, parquet.WithDataPageSize(200),
		parquet.WithBatchSize(20),
		parquet.WithDictionaryPageSizeLimit(300))
	path := writeFile(t, t.TempDir(), "a", b)
	for _, cfg := range []Config{{}, {NoMmap: true, ReadBytes: 1000}} {
		d, err := cfg.Open(ctx, path)
		require.NoError(t, err)
		s := scanOf(t, d, Options{BatchRows: 30, Workers: 3})
		var kept, copies []*column.Batch
		keep := func(b *column.Batch, err error) {
			require.NoError(t, err)
			kept, copies = append(kept, b), append(copies, deepCopy(b))
		}
		for b, err := range s.Batches(ctx, everything(s)) {
			keep(b, err)
		}
		for b, err := range s.All(ctx) {
			keep(b, err)
		}
		require.Greater(t, len(kept), 20)
		requireUnchanged(t, kept, copies)
		// Reading other batches does not change them, and writing to one does not change another.
		require.NoError(t, s.Borrow(ctx, nil, func(_ int, b *column.Batch) error {
			for i := range b.Columns {
				clear(b.Columns[i].Values)
			}
			return nil
		}))
		requireUnchanged(t, kept, copies)
		require.NoError(t, d.Close())
		requireUnchanged(t, kept, copies)
	}
}

// TestReadIntoReuses reads into one batch: its memory is reused, and its content is right each time.
func TestReadIntoReuses(t *testing.T) {
	ctx := context.Background()
	s := scanOf(t, openSources(t, Config{}, numbers(0, 100, 100)), Options{BatchRows: 10})
	r, err := s.Reader(everything(s))
	require.NoError(t, err)
	var b column.Batch
	require.NoError(t, r.ReadInto(ctx, &b))
	first := valuesOf[int64](&b.Columns[0])
	for i := 1; i < 20; i++ {
		require.NoError(t, r.ReadInto(ctx, &b))
		next := valuesOf[int64](&b.Columns[0])
		require.EqualValues(t, 10*i, next[0])
		require.Same(t, &first[0], &next[0])
	}
	for range 3 {
		require.Equal(t, io.EOF, r.ReadInto(ctx, &b))
		require.Zero(t, b.Rows)
	}
	require.NoError(t, s.Borrow(ctx, nil, func(_ int, b *column.Batch) error {
		if int64(b.Source.FirstRow) != valuesOf[int64](&b.Columns[0])[0] {
			return errors.New("other rows")
		}
		return nil
	}))
}

// TestBatchOfAnotherScan reads into a batch that had other columns before.
func TestBatchOfAnotherScan(t *testing.T) {
	d := openBytes(t, writeArrow(t, rand.New(rand.NewPCG(7, 1)), everyType(true), 50, 0.3, 5, 50))
	var b column.Batch
	var fields []string
	for _, f := range d.Schema() {
		fields = append(fields, f.Name)
	}
	rng := rand.New(rand.NewPCG(7, 2))
	for range 300 {
		name := fields[rng.IntN(len(fields))]
		s := scanOf(t, d, Options{Columns: []string{name}, Text: rng.IntN(2) == 0})
		r, err := s.Reader(everything(s))
		require.NoError(t, err)
		require.NoError(t, r.ReadInto(context.Background(), &b))
		fresh := new(column.Batch)
		r, err = s.Reader(everything(s))
		require.NoError(t, err)
		require.NoError(t, r.ReadInto(context.Background(), fresh))
		got, want := &b.Columns[0], &fresh.Columns[0]
		requireSound(t, got)
		require.Equal(t, want.ValidityBits(), got.ValidityBits())
		require.Equal(t, len(want.Children), len(got.Children), name)
		require.Empty(t, column.Diff(&column.Batch{Columns: b.Columns[:1], Rows: b.Rows}, fresh))
		require.True(t, bytes.Equal(want.Values, got.Values))
	}
}

// flatFile makes a file of columns of various types: many pages, a few row groups.
func flatFile(t testing.TB, rows int, codec compress.Compression) []byte {
	fields := []arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "i8", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
		{Name: "flag", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "vector", Type: arrow.FixedSizeListOfNonNullable(6, arrow.PrimitiveTypes.Float32)},
		{Name: "s", Type: arrow.StructOf(arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true}), Nullable: true},
	}
	return writeArrow(t, rand.New(rand.NewPCG(8, 1)), fields, rows, 0.1, 50, int64(rows), parquet.WithDataPageSize(2000),
		parquet.WithBatchSize(250),
		parquet.WithCompression(codec))
}

// TestSteadyMemory is a budget of allocations: reading into one batch may allocate per batch, but never per row.
func TestSteadyMemory(t *testing.T) {
	soak.NoRace(t)
	ctx := context.Background()
	for _, c := range []struct {
		codec compress.Compression
		cfg   Config
		most  float64 // allocations of a batch of 100 rows in 7 columns
	}{
		{compress.Codecs.Uncompressed, Config{}, 1},
		{compress.Codecs.Uncompressed, Config{NoMmap: true, ReadBytes: 10_000}, 0},
		{compress.Codecs.Snappy, Config{}, 1},
		{compress.Codecs.Zstd, Config{NoMmap: true, ReadBytes: 10_000}, 1},
	} {
		d, err := c.cfg.Open(ctx, writeFile(t, t.TempDir(), "a", flatFile(t, 40_000, c.codec)))
		require.NoError(t, err)
		for _, text := range []bool{false, true} {
			s := scanOf(t, d, Options{BatchRows: 100, Text: text})
			r, err := s.Reader(everything(s))
			require.NoError(t, err)
			var b column.Batch
			rows := 0
			read := func() {
				if err := r.ReadInto(ctx, &b); err != nil {
					t.Fatal(err)
				}
				rows += b.Rows
			}
			for range 50 { // until all memory has its final size
				read()
			}
			got := testing.AllocsPerRun(300, read)
			require.Less(t, rows, 40_000, "the file is too short")
			require.LessOrEqual(t, got, c.most, "%v, %+v, text %v", c.codec, c.cfg, text)
		}
		require.NoError(t, d.Close())
	}
}

// TestNumberedNamesAreUnique gives numbers to columns that share a name, but not the name of another column.
func TestNumberedNamesAreUnique(t *testing.T) {
	for _, c := range [][2][]string{
		{{"n", "n", "n_1", "n"}, {"n", "n_2", "n_1", "n_3"}},
		{{"n_1", "n", "n"}, {"n_1", "n", "n_2"}},
		{{"n", "n", "n"}, {"n", "n_1", "n_2"}},
		{{"a", "n_1", "n_1", "n", "n"}, {"a", "n_1", "n_1_1", "n", "n_2"}},
	} {
		var nodes []*footer.Node
		for _, name := range c[0] {
			nodes = append(nodes, &footer.Node{Field: column.Field{Name: name}})
		}
		require.Equal(t, c[1], footer.NumberedNames(nodes))
	}
}

// TestSchemaNullable reads a column that one of two files has as nullable.
func TestSchemaNullable(t *testing.T) {
	b := column.NewBatch(column.Of("n", []int64{1, 2}))
	required := column.Schema{{Name: "n", Type: column.TypeOf[int64]()}}
	file := func(schema column.Schema) []byte {
		var out bytes.Buffer
		w, err := NewWriter(&out, schema, WriterOptions{})
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		require.NoError(t, w.Close())
		return out.Bytes()
	}
	for _, c := range []struct {
		first, second column.Schema
		want          bool
	}{
		{required, required, false}, {required, b.Schema(), true}, {b.Schema(), required, true},
	} {
		d := openSources(t, Config{}, file(c.first), file(c.second))
		require.Equal(t, c.want, scanOf(t, d, Options{}).Schema()[0].Nullable)
	}
}
