// SPDX-License-Identifier: Apache-2.0

package parquetarrow_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/vecql/vecql/parquetscan"
	"github.com/vecql/vecql/parquetscan/internal/columntest"
	"github.com/vecql/vecql/parquetscan/parquetarrow"
)

// This file takes batches to Arrow and back.

func generatorOf(seed uint64) *columntest.Generator {
	r := rand.New(rand.NewPCG(seed, 2))
	return &columntest.Generator{Rand: r, Dim: 1 + r.IntN(5)}
}

// A table is a batch and what is in it.
type table struct {
	fields []parquetscan.Field
	values [][]any
	batch  *parquetscan.Batch
}

func newTable(g *columntest.Generator, fields []parquetscan.Field, rows int) table {
	out := table{fields: fields, batch: &parquetscan.Batch{Rows: rows}}
	for _, f := range fields {
		values := g.Values(f, rows)
		out.values = append(out.values, values)
		out.batch.Columns = append(out.batch.Columns, g.Column(f, values))
	}
	return out
}

func requireColumns(t *testing.T, want [][]any, got func(i int) []any, from, to int, what string) {
	t.Helper()
	for i := range want {
		require.Equal(t, append([]any{}, want[i][from:to]...), got(i), "column %d of %s", i, what)
	}
}

// roundTrip takes a table to a record and back, and slices of the record too.
func roundTrip(t *testing.T, g *columntest.Generator, in table, schema *arrow.Schema) {
	rec, err := parquetarrow.Record(in.batch, schema)
	require.NoError(t, err)
	if schema != nil {
		require.True(t, schema.Equal(rec.Schema()))
	}
	check := func(rec arrow.RecordBatch, from, to int, what string) {
		requireColumns(t, in.values, func(i int) []any { return columntest.OfArray(rec.Column(i)) }, from, to, what)
		b, err := parquetarrow.Batch(rec)
		require.NoError(t, err)
		require.Equal(t, to-from, b.Rows)
		requireColumns(t, in.values, func(i int) []any { return columntest.OfColumn(&b.Columns[i]) }, from, to, what+" and back")
		fields, err := parquetarrow.Fields(rec.Schema())
		require.NoError(t, err)
		for i := range fields {
			require.Equal(t, fields[i].Name, b.Columns[i].Name)
			require.Equal(t, fields[i].Type, b.Columns[i].Type)
		}
		again, err := parquetarrow.Record(b, nil)
		require.NoError(t, err)
		requireColumns(t, in.values, func(i int) []any { return columntest.OfArray(again.Column(i)) }, from, to, what+" there and back")
	}
	check(rec, 0, in.batch.Rows, "the record")
	for range 4 {
		from := g.Rand.IntN(in.batch.Rows + 1)
		to := from + g.Rand.IntN(in.batch.Rows+1-from)
		slice := rec.NewSlice(int64(from), int64(to))
		check(slice, from, to, fmt.Sprintf("slice %d to %d", from, to))
		if to > from {
			from, to := from+1, to
			check(slice.NewSlice(1, slice.NumRows()), from, to, fmt.Sprintf("slice of slice %d to %d", from, to))
		}
	}
	var buf bytes.Buffer // what reads it checks the layout
	w := ipc.NewWriter(&buf, ipc.WithSchema(rec.Schema()))
	require.NoError(t, w.Write(rec))
	require.NoError(t, w.Close())
	r, err := ipc.NewReader(&buf)
	require.NoError(t, err)
	require.True(t, r.Next())
	check(r.RecordBatch(), 0, in.batch.Rows, "IPC")
}

func TestRoundTripEveryKind(t *testing.T) {
	for _, nullable := range []bool{false, true} {
		for _, rows := range []int{0, 1, 8, 100} {
			seed := rand.Uint64()
			t.Run(fmt.Sprintf("nullable=%v/rows=%d/seed=%d", nullable, rows, seed), func(t *testing.T) {
				g := generatorOf(seed)
				in := newTable(g, columntest.Scalars(nullable), rows)
				roundTrip(t, g, in, nil)
				roundTrip(t, g, in, parquetarrow.Schema(in.fields, nil))
				dims := map[string]int{"vector<float32>": g.Dim, "vector<float64>": g.Dim}
				roundTrip(t, g, in, parquetarrow.Schema(in.fields, dims))
			})
		}
	}
}

func TestRoundTripNested(t *testing.T) {
	for range 50 {
		seed := rand.Uint64()
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			g := generatorOf(seed)
			in := newTable(g, g.Fields(4, 3), g.Rand.IntN(60))
			roundTrip(t, g, in, nil)
		})
	}
}

// TestWriteRecords writes what came from Arrow.
func TestWriteRecords(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	g := generatorOf(seed)
	fields := columntest.Scalars(true)
	for i := range fields {
		fields[i].Type.UTC = fields[i].Type.UTC && fields[i].Type.Kind != parquetscan.Time
		if fields[i].Type.Kind == parquetscan.Decimal64 {
			fields[i].Type.Kind = parquetscan.Decimal128
		}
		fields[i].Name = fmt.Sprint("c", i)
	}
	dims := map[string]int{}
	for _, f := range fields {
		if f.Type.Kind == parquetscan.Vector {
			dims[f.Name] = g.Dim
		}
	}
	schema := parquetarrow.Schema(fields, dims)
	got, err := parquetarrow.Fields(schema)
	require.NoError(t, err)
	require.Equal(t, fields, got)
	var buf bytes.Buffer
	w, err := parquetscan.NewWriter(&buf, got, parquetscan.WriterOptions{})
	require.NoError(t, err)
	want := make([][]any, len(fields))
	for range 3 {
		in := newTable(g, fields, 50)
		rec, err := parquetarrow.Record(in.batch, schema)
		require.NoError(t, err)
		b, err := parquetarrow.Batch(rec.NewSlice(3, 47))
		require.NoError(t, err)
		require.NoError(t, w.Write(b))
		for i := range want {
			want[i] = append(want[i], in.values[i][3:47]...)
		}
	}
	require.NoError(t, w.Close())
	read, err := pqarrow.ReadTable(context.Background(), bytes.NewReader(buf.Bytes()), parquet.NewReaderProperties(nil),
		pqarrow.ArrowReadProperties{BatchSize: 1000}, memory.DefaultAllocator)
	require.NoError(t, err)
	for i := range want {
		require.Equal(t, want[i], columntest.OfArray(read.Column(i).Data().Chunk(0)), fields[i])
	}
}

func TestSchema(t *testing.T) {
	fields := columntest.Scalars(true)
	fields = append(fields, parquetscan.Field{Name: "l", Type: parquetscan.Type{Kind: parquetscan.List}, Fields: []parquetscan.Field{{
		Name: "element", Type: parquetscan.Type{Kind: parquetscan.Struct}, Fields: []parquetscan.Field{
			{Name: "v", Type: parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float64}},
			{Name: "m", Type: parquetscan.Type{Kind: parquetscan.Map}, Nullable: true, Fields: []parquetscan.Field{
				{Name: "key", Type: parquetscan.Type{Kind: parquetscan.String}},
				{Name: "value", Type: parquetscan.Type{Kind: parquetscan.Float32}, Nullable: true},
			}},
		},
	}}})
	dims := map[string]int{"vector<float32>": 3, "vector<float64>": 4, "l.element.v": 5}
	schema := parquetarrow.Schema(fields, dims)
	got, err := parquetarrow.Fields(schema)
	require.NoError(t, err)
	for i, want := range fields {
		switch want.Type.Kind {
		case parquetscan.Decimal64:
			want.Type.Kind = parquetscan.Decimal128
		case parquetscan.Time: // Arrow's has no zone
			want.Type.UTC = false
		}
		require.Equal(t, want, got[i])
	}
	last := schema.Field(schema.NumFields() - 1).Type.String()
	require.Contains(t, last, "v: fixed_size_list<element: float64>[5]")
	without := parquetarrow.Schema(fields, nil)
	require.Equal(t, "list<element: float32>", without.Field(len(fields)-3).Type.String())
}

// at returns where the first byte of a buffer lies.
func at(arr arrow.Array, buffer int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(arr.Data().Buffers()[buffer].Bytes()))
}

func TestNothingIsCopied(t *testing.T) {
	numbers, ids, floats := []int64{1, 2}, []uuid.UUID{{1}, {2}}, []float32{1, 2, 3, 4}
	decimals, text, codes := make([]parquetscan.Int128, 2), []byte("ab"), []uint32{0, 1}
	offsets, validity := []int32{0, 1, 2}, []byte{0b01}
	dict := parquetscan.NewDictionary(text, offsets)
	in := &parquetscan.Batch{Rows: 2, Columns: []parquetscan.Column{
		parquetscan.NewColumn("n", numbers).WithValidity(validity), parquetscan.NewColumn("id", ids), parquetscan.NewMatrix("v", floats, 2),
		parquetscan.NewColumn("d", decimals), parquetscan.NewText("t", text, offsets), parquetscan.NewCodes("c", codes, dict),
		parquetscan.NewList("l", offsets, parquetscan.NewColumn("", numbers)),
	}}
	rec, err := parquetarrow.Record(in, nil)
	require.NoError(t, err)
	require.Equal(t, unsafe.Pointer(&numbers[0]), at(rec.Column(0), 1))
	require.Equal(t, unsafe.Pointer(&validity[0]), at(rec.Column(0), 0))
	require.Equal(t, unsafe.Pointer(&ids[0]), at(rec.Column(1), 1))
	require.Equal(t, unsafe.Pointer(&floats[0]), at(rec.Column(2).(*array.FixedSizeList).ListValues(), 1))
	require.Equal(t, unsafe.Pointer(&decimals[0]), at(rec.Column(3), 1))
	require.Equal(t, unsafe.Pointer(&text[0]), at(rec.Column(4), 2))
	require.Equal(t, unsafe.Pointer(&codes[0]), at(rec.Column(5), 1))
	require.Equal(t, unsafe.Pointer(&text[0]), at(rec.Column(5).(*array.Dictionary).Dictionary(), 2))
	require.Equal(t, unsafe.Pointer(&numbers[0]), at(rec.Column(6).(*array.List).ListValues(), 1))

	out, err := parquetarrow.Batch(rec)
	require.NoError(t, err)
	require.Same(t, &numbers[0], &parquetscan.Values[int64](&out.Columns[0])[0])
	require.Same(t, &validity[0], &out.Columns[0].Validity()[0])
	require.Same(t, &ids[0], &parquetscan.Values[uuid.UUID](&out.Columns[1])[0])
	require.Same(t, &floats[0], &parquetscan.Values[float32](&out.Columns[2])[0])
	require.Same(t, &decimals[0], &parquetscan.Values[parquetscan.Int128](&out.Columns[3])[0])
	gotText, _ := out.Columns[4].Text()
	require.Same(t, &text[0], &gotText[0])
	gotCodes, gotDict := out.Columns[5].Codes()
	require.Same(t, &codes[0], &gotCodes[0])
	gotText, _ = gotDict.Text()
	require.Same(t, &text[0], &gotText[0])
	require.Same(t, &numbers[0], &parquetscan.Values[int64](&out.Columns[6].Children()[0])[0])
}

// build makes an array of a data type from JSON.
func build(t *testing.T, dt arrow.DataType, json string) arrow.Array {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, dt, bytes.NewReader([]byte(json)))
	require.NoError(t, err)
	return arr
}

func recordOf(arr arrow.Array) arrow.RecordBatch {
	schema := arrow.NewSchema([]arrow.Field{{Name: "c", Type: arr.DataType(), Nullable: true}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{arr}, int64(arr.Len()))
}

// TestBatchOtherLayouts reads types that Record never makes.
func TestBatchOtherLayouts(t *testing.T) {
	kind := func(k parquetscan.Kind) parquetscan.Type { return parquetscan.Type{Kind: k} }
	millis := parquetscan.Type{Kind: parquetscan.Time, Unit: parquetscan.Millis}
	stamp := parquetscan.Type{Kind: parquetscan.Timestamp, Unit: parquetscan.Millis}
	zoned := stamp
	zoned.UTC = true
	decimal := parquetscan.Type{Kind: parquetscan.Decimal64, Precision: 5, Scale: 2}
	dictionary := func(index arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	}
	text := `["a", null, "", "long enough to lie apart"]`
	texts := []any{"a", nil, "", "long enough to lie apart"}
	for _, c := range []struct {
		dt   arrow.DataType
		json string
		want parquetscan.Type
		vals []any
	}{
		{arrow.BinaryTypes.LargeString, text, kind(parquetscan.String), texts},
		{arrow.BinaryTypes.StringView, text, kind(parquetscan.String), texts},
		{arrow.BinaryTypes.LargeBinary, `["YQ==", null]`, kind(parquetscan.Binary), []any{"a", nil}},
		{arrow.BinaryTypes.BinaryView, `["YQ==", null]`, kind(parquetscan.Binary), []any{"a", nil}},
		{dictionary(arrow.PrimitiveTypes.Int8), `["x", null, "y", "x"]`, kind(parquetscan.String), []any{"x", nil, "y", "x"}},
		{dictionary(arrow.PrimitiveTypes.Uint64), `["x", null, "y", "x"]`, kind(parquetscan.String), []any{"x", nil, "y", "x"}},
		{dictionary(arrow.PrimitiveTypes.Uint32), `["x", null, "y", "x"]`, kind(parquetscan.String), []any{"x", nil, "y", "x"}},
		{arrow.FixedWidthTypes.Date64, `["1970-01-03", null, "1969-12-31"]`, kind(parquetscan.Date), []any{int64(2), nil, int64(-1)}},
		{arrow.FixedWidthTypes.Time32s, `["00:00:07", null]`, millis, []any{int64(7000), nil}},
		{arrow.FixedWidthTypes.Timestamp_s, `["1970-01-01 00:00:07Z", null]`, zoned, []any{int64(7000), nil}},
		{&arrow.TimestampType{Unit: arrow.Millisecond}, `["1970-01-01 00:00:07"]`, stamp, []any{int64(7000)}},
		{&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Vienna"}, `["1970-01-01 00:00:07Z"]`, zoned, []any{int64(7000)}},
		{&arrow.Decimal32Type{Precision: 5, Scale: 2}, `["1.25", null, "-3"]`, decimal, []any{"125", nil, "-300"}},
		{&arrow.Decimal64Type{Precision: 5, Scale: 2}, `["1.25", null, "-3"]`, decimal, []any{"125", nil, "-300"}},
		{
			arrow.LargeListOf(arrow.PrimitiveTypes.Int8), `[[1, null], null, [], [2]]`, kind(parquetscan.List),
			[]any{[]any{int64(1), nil}, nil, []any{}, []any{int64(2)}},
		},
		{
			arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8), `[[1, null], [2, 3]]`, kind(parquetscan.List),
			[]any{[]any{int64(1), nil}, []any{int64(2), int64(3)}},
		},
		{
			extensions.NewUUIDType(), `["01000000-0000-0000-0000-000000000000", null]`, kind(parquetscan.ID),
			[]any{"\x01" + string(make([]byte, 15)), nil},
		},
	} {
		t.Run(c.dt.String(), func(t *testing.T) {
			rec := recordOf(build(t, c.dt, c.json))
			b, err := parquetarrow.Batch(rec)
			require.NoError(t, err)
			require.Equal(t, c.want, b.Columns[0].Type)
			require.Equal(t, c.vals, columntest.OfColumn(&b.Columns[0]))
			b, err = parquetarrow.Batch(rec.NewSlice(1, rec.NumRows()))
			require.NoError(t, err)
			require.Equal(t, c.vals[1:], columntest.OfColumn(&b.Columns[0]))
		})
	}
}

func TestFieldsErrors(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.MonthInterval, arrow.ListViewOf(arrow.PrimitiveTypes.Int8),
		arrow.ListOf(arrow.Null), arrow.StructOf(arrow.Field{Name: "x", Type: arrow.Null}),
		arrow.RunEndEncodedOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.PrimitiveTypes.Int64},
		&arrow.Decimal128Type{Precision: 5, Scale: -1}, &arrow.Decimal128Type{Precision: 5, Scale: 6}, &arrow.FixedSizeBinaryType{},
	} {
		_, err := parquetarrow.Fields(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt}}, nil))
		require.ErrorContains(t, err, "column c", dt)
	}
}

func TestBatchErrors(t *testing.T) {
	is := func(arr arrow.Array, want error) {
		t.Helper()
		_, err := parquetarrow.Batch(recordOf(arr))
		require.ErrorIs(t, err, want)
	}
	is(build(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], [3, null]]`), parquetscan.ErrRagged)
	is(build(t, &arrow.TimestampType{Unit: arrow.Second}, `[9223372036854775]`), nil)
	is(build(t, &arrow.TimestampType{Unit: arrow.Second}, `[9223372036854776]`), parquetscan.ErrOutOfRange)
	is(build(t, arrow.FixedWidthTypes.Date64, `[86400001]`), parquetscan.ErrOutOfRange)
	dt := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	dictionary := func(indices, values string) arrow.Array {
		return array.NewDictionaryArray(dt, build(t, dt.IndexType, indices), build(t, dt.ValueType, values))
	}
	is(dictionary(`[0, 1]`, `["a"]`), parquetscan.ErrCorrupt)
	is(dictionary(`[-1]`, `["a"]`), parquetscan.ErrCorrupt)
	is(dictionary(`[0]`, `[null]`), parquetscan.ErrUnsupported)
	lists := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	elements := build(t, arrow.PrimitiveTypes.Int8, `[1, 2]`).Data()
	offsets := memory.NewBufferBytes(arrow.Int32Traits.CastToBytes([]int32{0, 2, 1}))
	data := array.NewData(lists, 2, []*memory.Buffer{nil, offsets}, []arrow.ArrayData{elements}, 0, 0)
	is(array.NewListData(data), parquetscan.ErrCorrupt)
}

func TestRecordErrors(t *testing.T) {
	ints := parquetscan.NewColumn("c", []int64{1, 2})
	field := func(dt arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
	}
	required := func(name string) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
	}
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}
	other := arrow.StructOf(arrow.Field{Name: "d", Type: arrow.PrimitiveTypes.Int64})
	matrix := parquetscan.NewMatrix("c", make([]float32, 4), 2)
	codes := parquetscan.NewCodes("c", []uint32{0, 2}, parquetscan.NewDictionary([]byte("ab"), []int32{0, 1, 2}))
	millis, err := parquetscan.NewColumn("c", []int64{1, 1 << 31}).As(parquetscan.Type{Kind: parquetscan.Time, Unit: parquetscan.Millis})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		column parquetscan.Column
		schema *arrow.Schema
		rows   int // 2 if 0
		is     error
	}{
		"fields":        {ints, arrow.NewSchema(nil, nil), 0, parquetscan.ErrNoColumn},
		"name":          {ints, required("d"), 0, parquetscan.ErrNoColumn},
		"type":          {ints, field(arrow.PrimitiveTypes.Uint64), 0, parquetscan.ErrNoColumn},
		"rows":          {ints, nil, 3, nil},
		"NULL":          {ints.WithValidity([]byte{1}), required("c"), 0, parquetscan.ErrNoColumn},
		"dimension":     {matrix, field(arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Float32)), 0, parquetscan.ErrRagged},
		"element":       {matrix, field(arrow.FixedSizeListOfNonNullable(2, arrow.PrimitiveTypes.Float64)), 0, parquetscan.ErrNoColumn},
		"code":          {codes, nil, 0, nil},
		"code as text":  {codes, field(arrow.BinaryTypes.String), 0, nil},
		"no dictionary": {parquetscan.NewStrings("c", []string{"a", "b"}), field(dictionary), 0, parquetscan.ErrNoColumn},
		"milliseconds":  {millis, nil, 0, parquetscan.ErrOutOfRange},
		"struct":        {parquetscan.NewStruct("c", ints), field(other), 0, parquetscan.ErrNoColumn},
	} {
		if c.rows == 0 {
			c.rows = 2
		}
		_, err := parquetarrow.Record(&parquetscan.Batch{Rows: c.rows, Columns: []parquetscan.Column{c.column}}, c.schema)
		require.ErrorContains(t, err, "parquetarrow: ", name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
	}
	// Vectors of which all are NULL fit any dimension.
	b := &parquetscan.Batch{Rows: 2, Columns: []parquetscan.Column{matrix.WithValidity([]byte{0})}}
	rec, err := parquetarrow.Record(b, field(arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Float32)))
	require.NoError(t, err)
	require.Equal(t, []any{nil, nil}, columntest.OfArray(rec.Column(0)))
	require.Equal(t, 6, rec.Column(0).(*array.FixedSizeList).ListValues().Len())
}
