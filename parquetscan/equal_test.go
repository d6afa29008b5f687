// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Comparison of reading with the reference.

// shred calls emit with the entries of a leaf for value i of a column. It is the inverse of reading.
func shred(c *column.Column, nd *footer.Node, l *footer.Leaf, i, rep int, emit func(refValue)) {
	if c.Null(i) {
		emit(refValue{rep: rep, def: nd.Def - 1})
		return
	}
	switch c.Type.Kind {
	case column.Struct:
		for k, child := range nd.Children {
			if under(child, l) {
				shred(&c.Children[k], child, l, i, rep, emit)
			}
		}
	case column.List, column.Map:
		start, end := int(c.Offsets[i]), int(c.Offsets[i+1])
		if start == end {
			emit(refValue{rep: rep, def: nd.Def})
		}
		for e := start; e < end; e++ {
			for k, child := range nd.Children {
				if under(child, l) {
					shred(&c.Children[k], child, l, e, rep, emit)
				}
			}
			rep = nd.Rep + 1
		}
	case column.Vector:
		for e := i * c.Type.Dim; e < (i+1)*c.Type.Dim; e++ {
			flat := column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: c.Len * c.Type.Dim, Values: c.Values}
			emit(refValue{rep, l.MaxDef, valueOf(&flat, e)})
			rep = 1
		}
	default:
		emit(refValue{rep, l.MaxDef, valueOf(c, i)})
	}
}

func under(nd *footer.Node, l *footer.Leaf) bool {
	for _, x := range nd.Leaves(nil) {
		if x == l {
			return true
		}
	}
	return false
}

// valueOf returns value i of a flat column in the form of the reference.
func valueOf(c *column.Column, i int) any {
	switch c.Type.Kind {
	case column.String, column.Binary, column.Fixed:
		return append([]byte{}, bytesAt(c, i)...)
	}
	return typedValue(c, i)
}

// typedValue returns value i of a column of a fixed kind.
func typedValue(c *column.Column, i int) any {
	switch c.Type.Kind {
	case column.Bool:
		return valuesOf[bool](c)[i]
	case column.Int8:
		return valuesOf[int8](c)[i]
	case column.Int16:
		return valuesOf[int16](c)[i]
	case column.Int32, column.Date:
		return valuesOf[int32](c)[i]
	case column.Int64, column.Time, column.Timestamp, column.Decimal64:
		return valuesOf[int64](c)[i]
	case column.Uint8:
		return valuesOf[uint8](c)[i]
	case column.Uint16, column.Float16:
		return valuesOf[uint16](c)[i]
	case column.Uint32:
		return valuesOf[uint32](c)[i]
	case column.Uint64:
		return valuesOf[uint64](c)[i]
	case column.Float32:
		return valuesOf[float32](c)[i]
	case column.Float64:
		return valuesOf[float64](c)[i]
	case column.Decimal128:
		return valuesOf[column.Int128](c)[i]
	case column.Decimal256:
		return valuesOf[column.Int256](c)[i]
	case column.UUID:
		return valuesOf[[16]byte](c)[i]
	}
	panic(c.Type.String())
}

// requireEqual reads every column of a file in several ways and compares it with the reference.
func requireEqual(t *testing.T, d *Dataset, o Options) {
	t.Helper()
	s, err := d.Scan(o)
	require.NoError(t, err)
	for i, f := range d.files {
		arrow := f.arrow(t, d.cfg.Decryption)
		for g := range f.Groups {
			var got []map[*footer.Leaf][]refValue
			for range s.columns {
				got = append(got, map[*footer.Leaf][]refValue{})
			}
			rows := 0
			b := s.bucket(0, []unit{{i, g, f.Groups[g].Rows, 1}})
			r, err := s.Reader(b)
			require.NoError(t, err)
			var batch column.Batch
			for {
				err := r.ReadInto(context.Background(), &batch)
				if err == io.EOF {
					break
				}
				require.NoError(t, err)
				require.Equal(t, f.first+f.Groups[g].First+int64(rows), batch.Source.FirstRow)
				rows += batch.Rows
				for k := range batch.Columns {
					c := &batch.Columns[k]
					require.Equal(t, batch.Rows, c.Len)
					requireSound(t, c)
					nd := s.nodes[i][k]
					for _, l := range nd.Leaves(nil) {
						for row := range batch.Rows {
							shred(c, nd, l, row, 0, func(v refValue) { got[k][l] = append(got[k][l], v) })
						}
					}
				}
			}
			require.EqualValues(t, f.Groups[g].Rows, rows)
			for k, nd := range s.nodes[i] {
				for _, l := range nd.Leaves(nil) {
					want, err := reference(arrow, g, l)
					require.NoError(t, err)
					if !sameValues(want, got[k][l]) {
						t.Fatalf("row group %d, column %s:\ngot  %.1000v\nwant %.1000v", g, l.Path, got[k][l], want)
					}
				}
			}
		}
	}
}

// sameValues compares by bits, so that NaN equals itself and -0 is not 0.
func sameValues(a, b []refValue) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if x.rep != y.rep || x.def != y.def {
			return false
		}
		if f, ok := x.value.(float32); ok {
			x.value, y.value = math.Float32bits(f), math.Float32bits(y.value.(float32))
		}
		if f, ok := x.value.(float64); ok {
			x.value, y.value = math.Float64bits(f), math.Float64bits(y.value.(float64))
		}
		if !reflect.DeepEqual(x.value, y.value) {
			return false
		}
	}
	return true
}

// requireSound checks invariants of columns: lengths agree, NULLs are counted, and their values are zero.
func requireSound(t *testing.T, c *column.Column) {
	t.Helper()
	require.NoError(t, c.Check())
	nulls := 0
	for i := range c.Len {
		if !c.Null(i) {
			continue
		}
		nulls++
		switch {
		case c.Dict != nil || c.Type.Kind == column.Struct:
		case c.Offsets != nil && c.Type.Kind != column.Vector && c.Type.ValueWidth() == 0:
			require.Equal(t, c.Offsets[i], c.Offsets[i+1], "%s: value %d is NULL", c.Name, i)
		default:
			w := (*buffer.Column)(c).Width()
			require.Equal(t, make([]byte, w), c.Values[i*w:(i+1)*w], "%s: value %d is NULL", c.Name, i)
		}
	}
	require.Equal(t, nulls, c.Nulls, c.Name)
	switch c.Type.Kind {
	case column.List, column.Map:
		require.Len(t, c.Offsets, c.Len+1)
		for i := range c.Children {
			require.EqualValues(t, c.Offsets[c.Len], c.Children[i].Len)
			requireSound(t, &c.Children[i])
		}
	case column.Struct:
		for i := range c.Children {
			require.Equal(t, c.Len, c.Children[i].Len)
			requireSound(t, &c.Children[i])
		}
	}
}

// randomArray returns n random values of a type. Few distinct values make a dictionary worthwhile.
func randomArray(rng *rand.Rand, dt arrow.DataType, n int, nulls float64, distinct int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, dt)
	defer b.Release()
	// NULLs are single or in runs, equally often.
	for i := 0; i < n; {
		run := 1
		if rng.IntN(2) == 0 {
			run = 1 + rng.IntN(40)
		}
		null := rng.Float64() < nulls
		for ; run > 0 && i < n; run, i = run-1, i+1 {
			if null {
				b.AppendNull()
			} else {
				appendRandom(rng, b, nulls, distinct)
			}
		}
	}
	return b.NewArray()
}

func appendRandom(rng *rand.Rand, b array.Builder, nulls float64, distinct int) {
	v := rng.Uint64()
	if distinct > 0 {
		v = rng.Uint64N(uint64(distinct)) * 0x9e3779b97f4a7c15
	}
	some := func(b array.Builder, notNull bool) {
		if !notNull && rng.Float64() < nulls {
			b.AppendNull()
		} else {
			appendRandom(rng, b, nulls, distinct)
		}
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v&1 == 1)
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(int64(v))
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Uint64Builder:
		b.Append(v)
	case *array.Float16Builder:
		b.Append(float16.FromBits(uint16(v)))
	case *array.Float32Builder:
		b.Append(math.Float32frombits(uint32(v)))
	case *array.Float64Builder:
		b.Append(math.Float64frombits(v))
	case *array.Date32Builder:
		b.Append(arrow.Date32(int32(v)))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v % 86_400_000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v % 86_400_000_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(int64(v) >> 16))
	case *array.Decimal128Builder:
		b.Append(decimal128.New(int64(v)>>40, v))
	case *array.Decimal256Builder:
		b.Append(decimal256.New(v>>20, v, v, v))
	case *array.StringBuilder:
		b.Append(fmt.Sprintf("%0*d", v%40, v%1000))
	case *array.BinaryBuilder:
		b.Append(binary.LittleEndian.AppendUint64(nil, v)[:v%9])
	case *array.FixedSizeBinaryBuilder:
		w := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		b.Append(bytes.Repeat(binary.LittleEndian.AppendUint64(nil, v), w/8+1)[:w])
	case *array.ListBuilder:
		b.Append(true)
		if b.Type().(*arrow.ListType).Elem().ID() == arrow.FLOAT32 { // a vector
			for range 6 {
				appendRandom(rng, b.ValueBuilder(), 0, distinct)
			}
			return
		}
		for range rng.IntN(5) * rng.IntN(2) {
			some(b.ValueBuilder(), false)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			appendRandom(rng, b.ValueBuilder(), nulls, distinct)
		}
	case *array.MapBuilder:
		b.Append(true)
		for range rng.IntN(4) {
			appendRandom(rng, b.KeyBuilder(), nulls, distinct)
			some(b.ItemBuilder(), false)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			some(b.FieldBuilder(i), !b.Type().(*arrow.StructType).Field(i).Nullable)
		}
	default:
		panic(fmt.Sprintf("no random %v", b.Type()))
	}
}

// everyType is a field of each type that pqarrow writes.
func everyType(nullable bool) []arrow.Field {
	list := func(dt arrow.DataType) arrow.DataType { return arrow.ListOf(dt) }
	inner := arrow.StructOf(
		arrow.Field{Name: "a", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		arrow.Field{Name: "b", Type: list(arrow.BinaryTypes.String), Nullable: true},
		arrow.Field{Name: "c", Type: arrow.PrimitiveTypes.Float64},
	)
	types := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32,
		arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}, &arrow.TimestampType{Unit: arrow.Microsecond},
		&arrow.TimestampType{Unit: arrow.Nanosecond},
		&arrow.Decimal128Type{Precision: 38, Scale: 5}, &arrow.Decimal256Type{Precision: 70, Scale: 2},
		arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 16}, &arrow.FixedSizeBinaryType{ByteWidth: 5},
		list(arrow.PrimitiveTypes.Int64), list(arrow.BinaryTypes.String), list(list(arrow.PrimitiveTypes.Int16)), list(inner),
		list(arrow.PrimitiveTypes.Float32),
		arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64), arrow.MapOf(arrow.PrimitiveTypes.Int32, list(inner)),
		inner, arrow.StructOf(arrow.Field{Name: "deep", Type: inner, Nullable: true}),
	}
	fields := make([]arrow.Field, len(types))
	for i, dt := range types {
		fields[i] = arrow.Field{Name: fmt.Sprintf("%d %s", i, dt.Name()), Type: dt, Nullable: nullable}
	}
	// pqarrow cannot write NULLs in lists of fixed size.
	return append(fields, arrow.Field{Name: "fixed list", Type: arrow.FixedSizeListOfNonNullable(6, arrow.PrimitiveTypes.Float32)})
}

// writeArrow writes random rows of some fields with pqarrow.
func writeArrow(t testing.TB, rng *rand.Rand, fields []arrow.Field, rows int, nulls float64, distinct int, groupRows int64,
	options ...parquet.WriterProperty,
) []byte {
	t.Helper()
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		p := nulls
		if !f.Nullable {
			p = 0
		}
		columns[i] = randomArray(rng, f.Type, rows, p, distinct)
	}
	sc := arrow.NewSchema(fields, nil)
	rec := array.NewRecordBatch(sc, columns, int64(rows))
	defer rec.Release()
	var buf bytes.Buffer
	w, err := pqarrow.NewFileWriter(sc, &buf, parquet.NewWriterProperties(append(options, parquet.WithMaxRowGroupLength(groupRows))...),
		pqarrow.DefaultWriterProps())
	require.NoError(t, err)
	tbl := array.NewTableFromRecords(sc, []arrow.RecordBatch{rec})
	defer tbl.Release()
	require.NoError(t, w.WriteTable(tbl, groupRows))
	require.NoError(t, w.Close())
	return buf.Bytes()
}

// openBytes opens a file in memory.
func openBytes(t testing.TB, b []byte) *Dataset {
	t.Helper()
	d, err := Config{ReadBytes: 1000}.OpenSources(context.Background(), Source{
		Name: "memory", Reader: bytes.NewReader(b), Size: int64(len(b)),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestEveryTypeEqualsReference(t *testing.T) {
	soak.NoRace(t)
	for _, nullable := range []bool{false, true} {
		for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
			for _, distinct := range []int{0, 7, 300} {
				for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Zstd} {
					if soak.Reduced && (distinct == 7 || codec != compress.Codecs.Snappy) {
						continue // see soak.Rounds
					}
					t.Run(fmt.Sprintf("nullable=%v/version=%d/distinct=%d/codec=%v", nullable, version, distinct, codec), func(t *testing.T) {
						rng := rand.New(rand.NewPCG(1, uint64(distinct)))
						file := writeArrow(t, rng, everyType(nullable), 450, 0.3, distinct, 180, parquet.WithDataPageVersion(version),
							parquet.WithCompression(codec), parquet.WithDataPageSize(300), parquet.WithBatchSize(32), parquet.WithDictionaryPageSizeLimit(400),
							parquet.WithDictionaryDefault(distinct > 0))
						d := openBytes(t, file)
						requireEqual(t, d, Options{})
						requireEqual(t, d, Options{Text: true, BatchRows: 77})
						requireEqual(t, d, Options{BatchRows: 1})
					})
				}
			}
		}
	}
}

// TestCodes reads strings as codes if the file has a dictionary, and as text otherwise.
func TestCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fields := []arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}
	file := writeArrow(t, rng, fields, 3000, 0.2, 500, 3000, parquet.WithDataPageSize(200), parquet.WithDictionaryPageSizeLimit(4000))
	for _, text := range []bool{false, true} {
		s, err := openBytes(t, file).Scan(Options{Text: text, BatchRows: 100})
		require.NoError(t, err)
		coded, plain := 0, 0
		var dict *column.Dictionary
		for b, err := range s.All(t.Context()) {
			require.NoError(t, err)
			if codes, d := b.Columns[0].Codes(); d != nil {
				require.Len(t, codes, b.Rows)
				require.True(t, dict == nil || dict == d, "one row group has one dictionary")
				dict = d
				coded += b.Rows
			} else {
				require.Len(t, b.Columns[0].Offsets, b.Rows+1)
				plain += b.Rows
			}
		}
		require.Equal(t, 3000, coded+plain)
		require.Equal(t, text, coded == 0)
		require.NotZero(t, plain, "the dictionary must not hold all values")
	}
}

// TestLongPagesEqualReference reads pages and batches that are longer than a block of decoding.
func TestLongPagesEqualReference(t *testing.T) {
	soak.NoRace(t)
	var fields []arrow.Field
	for i, f := range everyType(true) {
		if i%5 == 1 || f.Name == "29 list" || f.Name == "21 utf8" {
			fields = append(fields, f)
		}
	}
	for _, distinct := range []int{0, 40} {
		file := writeArrow(t, rand.New(rand.NewPCG(3, 3)), fields, 2*chunk.LevelBlock+100, 0.1, distinct, 1<<20,
			parquet.WithDictionaryDefault(distinct > 0))
		d := openBytes(t, file)
		requireEqual(t, d, Options{BatchRows: 5000})
		requireEqual(t, d, Options{Text: true, BatchRows: 4097})
	}
}
