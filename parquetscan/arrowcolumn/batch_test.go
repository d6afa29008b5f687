// SPDX-License-Identifier: Apache-2.0

package arrowcolumn_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/parquetscan/arrowcolumn"
)

// Arrays that Record never makes, and errors.

// TestMain removes the extension type of UUIDs, which the import registers: most programs do not register it.
func TestMain(m *testing.M) {
	if err := arrow.UnregisterExtensionType(extensions.NewUUIDType().ExtensionName()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestRegisteredUUID reads records whose mark became an extension type.
func TestRegisteredUUID(t *testing.T) {
	require.NoError(t, arrow.RegisterExtensionType(extensions.NewUUIDType()))
	defer func() { require.NoError(t, arrow.UnregisterExtensionType("arrow.uuid")) }()
	ids := column.Of("c", []cql.UUID{{1}, {2}})
	b := column.NewBatch(ids, column.Matrix("v", []cql.UUID{{1}, {2}}, 1), column.Maps("m", []int32{0, 1, 2}, ids, ids))
	rec, err := arrowcolumn.Record(b)
	require.NoError(t, err)
	rec = throughIPC(t, rec)[0]
	require.Equal(t, arrow.EXTENSION, rec.Column(0).DataType().ID())
	back, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	require.Empty(t, column.Diff(back, b))
	again, err := arrowcolumn.RecordAs(back, rec.Schema())
	require.NoError(t, err)
	require.True(t, array.RecordEqual(rec, again))
}

// build returns an array of a type from JSON.
func build(t *testing.T, dt arrow.DataType, json string) arrow.Array {
	t.Helper()
	arr, _, err := array.FromJSON(memory.DefaultAllocator, dt, bytes.NewReader([]byte(json)))
	require.NoError(t, err)
	return arr
}

func recordOf(arr arrow.Array) arrow.RecordBatch { return markedRecord(arr, "") }

func markedRecord(arr arrow.Array, mark string) arrow.RecordBatch {
	f := arrow.Field{Name: "c", Type: arr.DataType(), Nullable: true}
	if mark != "" {
		f.Metadata = arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{mark})
	}
	return array.NewRecordBatch(arrow.NewSchema([]arrow.Field{f}, nil), []arrow.Array{arr}, int64(arr.Len()))
}

func values(c *column.Column) []string {
	out := make([]string, c.Len)
	for i := range out {
		out[i] = fmt.Sprint(c.Value(i))
	}
	return out
}

func dictionaryOf(index, value arrow.DataType) *arrow.DictionaryType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

// runs returns a run-end encoded array from run ends and values in JSON.
func runs(t *testing.T, dt arrow.DataType, ends, values string, rows int) arrow.Array {
	t.Helper()
	return array.NewRunEndEncodedArray(build(t, arrow.PrimitiveTypes.Int16, ends), build(t, dt, values), rows, 0)
}

func int32Buffer(v ...int32) *memory.Buffer {
	return memory.NewBufferBytes(arrow.Int32Traits.CastToBytes(v))
}

func int64Buffer(v ...int64) *memory.Buffer {
	return memory.NewBufferBytes(arrow.Int64Traits.CastToBytes(v))
}

// TestBatchOtherLayouts reads types that Record never makes: whole, sliced, and through IPC.
func TestBatchOtherLayouts(t *testing.T) {
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	millis := column.Type{Kind: column.Time, Unit: column.Millis}
	stamp := column.Type{Kind: column.Timestamp, Unit: column.Millis}
	zoned := column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true}
	decimal := column.Type{Kind: column.Decimal64, Precision: 5, Scale: 2}
	text, texts := `["a", null, "", "long enough to lie apart", "b"]`, []string{"a", "<nil>", "", "long enough to lie apart", "b"}
	codes, coded := `["x", null, "y", "x"]`, []string{"x", "<nil>", "y", "x"}
	ints := arrow.PrimitiveTypes.Int8
	listViews := func(dt arrow.DataType, offsets, sizes *memory.Buffer, validity byte, child arrow.Array) arrow.Array {
		bits := memory.NewBufferBytes([]byte{validity})
		return array.MakeFromData(array.NewData(dt, 3, []*memory.Buffer{bits, offsets, sizes}, []arrow.ArrayData{child.Data()}, -1, 0))
	}
	for i, c := range []struct {
		arr  arrow.Array
		mark string
		want column.Type
		vals []string
	}{
		{build(t, arrow.BinaryTypes.LargeString, text), "", kind(column.String), texts},
		{build(t, arrow.BinaryTypes.StringView, text), "", kind(column.String), texts},
		{build(t, arrow.BinaryTypes.LargeBinary, `["YQ==", null]`), "", kind(column.Binary), []string{"[97]", "<nil>"}},
		{build(t, arrow.BinaryTypes.BinaryView, `["YQ==", null]`), "", kind(column.Binary), []string{"[97]", "<nil>"}},
		{build(t, dictionaryOf(ints, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Uint8, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Int16, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Uint16, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(arrow.PrimitiveTypes.Uint64, arrow.BinaryTypes.String), codes), "", kind(column.String), coded},
		{build(t, dictionaryOf(ints, arrow.PrimitiveTypes.Int64), `[7, null, 8, 7]`), "", kind(column.Int64), []string{"7", "<nil>", "8", "7"}},
		{
			array.NewDictionaryArray(dictionaryOf(ints, arrow.BinaryTypes.String), build(t, ints, `[1, 0, null, 2]`),
				build(t, arrow.BinaryTypes.String, `["a", null, "b"]`)),
			"", kind(column.String),
			[]string{"<nil>", "a", "<nil>", "b"},
		},
		{build(t, arrow.FixedWidthTypes.Date64, `["1970-01-03", null]`), "", kind(column.Date), []string{"1970-01-03 00:00:00 +0000 UTC", "<nil>"}},
		{build(t, arrow.FixedWidthTypes.Time32s, `["00:00:07", null]`), "", millis, []string{"7s", "<nil>"}},
		{build(t, arrow.FixedWidthTypes.Timestamp_s, `["1970-01-01 00:00:07Z", null]`), "", zoned, []string{"1970-01-01 00:00:07 +0000 UTC", "<nil>"}},
		{build(t, &arrow.TimestampType{Unit: arrow.Millisecond}, `["1970-01-01 00:00:07"]`), "", stamp, []string{"1970-01-01 00:00:07 +0000 UTC"}},
		{
			build(t, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Vienna"}, `["1970-01-01 00:00:07Z"]`), "", zoned,
			[]string{"1970-01-01 00:00:07 +0000 UTC"},
		},
		{build(t, &arrow.Decimal32Type{Precision: 5, Scale: 2}, `["1.25", null, "-3"]`), "", decimal, []string{"1.25", "<nil>", "-3.00"}},
		{build(t, &arrow.Decimal64Type{Precision: 5, Scale: 2}, `["1.25", null, "-3"]`), "", decimal, []string{"1.25", "<nil>", "-3.00"}},
		{build(t, arrow.FixedWidthTypes.Duration_ms, `["7ms", null]`), "", kind(column.Duration), []string{"7ms", "<nil>"}},
		{build(t, arrow.FixedWidthTypes.MonthInterval, `[{"months": 14}, null]`), "", kind(column.Duration), []string{"1y2mo", "<nil>"}},
		{build(t, arrow.FixedWidthTypes.DayTimeInterval, `[{"days": 2, "milliseconds": 3}, null]`), "", kind(column.Duration), []string{"2d3ms", "<nil>"}},
		{array.NewNull(3), "", kind(column.String), []string{"<nil>", "<nil>", "<nil>"}},
		{build(t, arrow.LargeListOf(ints), `[[1, null], null, [], [2]]`), "", kind(column.List), []string{"[1 <nil>]", "<nil>", "[]", "[2]"}},
		{build(t, arrow.FixedSizeListOf(2, ints), `[[1, null], [2, 3]]`), "", kind(column.List), []string{"[1 <nil>]", "[2 3]"}},
		{build(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[[1, 2], null]`), "", column.VectorOf(column.Float32, 2), []string{"[1 2]", "<nil>"}},
		{build(t, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int32), `[[1, 2], [null, 3]]`), "", kind(column.List), []string{"[1 2]", "[<nil> 3]"}},
		{build(t, arrow.FixedSizeListOf(1, arrow.BinaryTypes.String), `[["a"], null]`), "", kind(column.List), []string{"[a]", "<nil>"}},
		{build(t, arrow.ListViewOf(ints), `[[1, null], null, [], [2]]`), "", kind(column.List), []string{"[1 <nil>]", "<nil>", "[]", "[2]"}},
		{
			listViews(arrow.ListViewOf(arrow.BinaryTypes.String), int32Buffer(2, 9, 0), int32Buffer(1, 9, 3), 5,
				build(t, arrow.BinaryTypes.String, `["a", "b", null]`)),
			"", kind(column.List),
			[]string{"[<nil>]", "<nil>", "[a b <nil>]"},
		},
		{
			listViews(arrow.LargeListViewOf(arrow.ListOf(ints)), int64Buffer(1, 0, 0), int64Buffer(1, 1, 2), 7, build(t, arrow.ListOf(ints), `[[1, 2], [3]]`)),
			"", kind(column.List),
			[]string{"[[3]]", "[[1 2]]", "[[1 2] [3]]"},
		},
		{runs(t, arrow.PrimitiveTypes.Int64, `[2, 3, 5]`, `[7, null, 9]`, 5), "", kind(column.Int64), []string{"7", "7", "<nil>", "9", "9"}},
		{runs(t, arrow.BinaryTypes.String, `[2, 3, 5]`, `["a", null, ""]`, 4), "", kind(column.String), []string{"a", "a", "<nil>", ""}},
		{runs(t, arrow.BinaryTypes.String, `[1, 3]`, `["10.0.0.1", "::1"]`, 3), "vecql.inet", kind(column.Inet), []string{"10.0.0.1", "::1", "::1"}},
		{
			runs(t, arrow.StructOf(arrow.Field{Name: "a", Type: arrow.FixedWidthTypes.Boolean, Nullable: true}), `[2, 3]`, `[{"a": true}, {"a": null}]`, 3),
			"", kind(column.Struct),
			[]string{"map[a:true]", "map[a:true]", "map[a:<nil>]"},
		},
		{
			build(t, extensions.NewUUIDType(), `["01000000-0000-0000-0000-000000000000", null]`), "", kind(column.UUID),
			[]string{"01000000-0000-0000-0000-000000000000", "<nil>"},
		},
		{build(t, arrow.BinaryTypes.String, `["1mo2d3ns", null]`), "vecql.duration", kind(column.Duration), []string{"1mo2d3ns", "<nil>"}},
		{build(t, dictionaryOf(ints, arrow.BinaryTypes.String), `["-5", null, "-5"]`), "vecql.varint", kind(column.Varint), []string{"-5", "<nil>", "-5"}},
		{array.NewNull(1), "vecql.duration", kind(column.Duration), []string{"<nil>"}},
		{build(t, arrow.PrimitiveTypes.Int32, `[5]`), "vecql.inet", kind(column.Int32), []string{"5"}},
		{build(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, 2], null, [3, 4]]`), "vecql.vector", column.VectorOf(column.Int32, 2), []string{"[1 2]", "<nil>", "[3 4]"}},
		{build(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, 2], [3]]`), "vecql.vector", kind(column.List), []string{"[1 2]", "[3]"}},
		{build(t, arrow.ListOf(arrow.PrimitiveTypes.Int32), `[[1, 2], [3, null]]`), "vecql.vector", kind(column.List), []string{"[1 2]", "[3 <nil>]"}},
	} {
		t.Run(fmt.Sprintf("%d %v %s", i, c.arr.DataType(), c.mark), func(t *testing.T) {
			rec := markedRecord(c.arr, c.mark)
			for _, rec := range []arrow.RecordBatch{rec, throughIPC(t, rec)[0]} {
				b, err := arrowcolumn.Batch(rec)
				require.NoError(t, err)
				require.NoError(t, b.Check())
				require.Equal(t, c.want, b.Columns[0].Type)
				require.Equal(t, c.vals, values(&b.Columns[0]))
				for from := range c.vals {
					for to := from; to <= len(c.vals); to++ {
						b, err = arrowcolumn.Batch(rec.NewSlice(int64(from), int64(to)))
						require.NoError(t, err)
						require.NoError(t, b.Check())
						require.Equal(t, c.vals[from:to], values(&b.Columns[0]))
					}
				}
				again, err := arrowcolumn.Record(b)
				require.NoError(t, err)
				require.NoError(t, array.ValidateFull(again.Column(0)))
			}
		})
	}
}

func TestFieldsErrors(t *testing.T) {
	for _, dt := range []arrow.DataType{
		arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0}),
		arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int8}}, []arrow.UnionTypeCode{0}),
		arrow.ListOf(arrow.StructOf()), arrow.StructOf(),
		&arrow.Decimal128Type{Precision: 5, Scale: -1}, &arrow.Decimal128Type{Precision: 5, Scale: 6}, &arrow.FixedSizeBinaryType{},
	} {
		_, err := arrowcolumn.Fields(arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt}}, nil))
		require.ErrorContains(t, err, "arrowcolumn: column c", dt)
		require.ErrorIs(t, err, arrowcolumn.ErrUnsupported)
	}
	_, err := arrowcolumn.Fields(arrow.NewSchema([]arrow.Field{{Name: "c", Type: arrow.DenseUnionOf(nil, nil)}}, nil))
	require.ErrorContains(t, err, "dense_union")
	for _, f := range []column.Field{
		{Name: "c"},
		{Name: "c", Type: column.Type{Kind: column.Timestamp}},
		{Name: "c", Type: column.Type{Kind: column.List}},
		{Name: "c", Type: column.Type{Kind: column.Struct}},
	} {
		_, err := arrowcolumn.Schema(column.Schema{f})
		require.ErrorContains(t, err, "arrowcolumn: column c")
		require.ErrorIs(t, err, arrowcolumn.ErrUnsupported)
	}
}

func TestBatchErrors(t *testing.T) {
	is := func(arr arrow.Array, want error) {
		t.Helper()
		_, err := arrowcolumn.Batch(recordOf(arr))
		require.ErrorIs(t, err, want)
	}
	seconds := &arrow.TimestampType{Unit: arrow.Second}
	is(build(t, seconds, `[9223372036854775]`), nil)
	is(build(t, seconds, `[9223372036854776]`), arrowcolumn.ErrRange)
	is(build(t, seconds, `[-9223372036854776]`), arrowcolumn.ErrRange)
	is(build(t, arrow.FixedWidthTypes.Date64, `[86400001]`), arrowcolumn.ErrRange)
	is(array.NewNull(1<<26+1), column.ErrTooLarge)
	dt := dictionaryOf(arrow.PrimitiveTypes.Int8, arrow.BinaryTypes.String)
	dictionary := func(indices, values string) arrow.Array {
		return array.NewDictionaryArray(dt, build(t, dt.IndexType, indices), build(t, dt.ValueType, values))
	}
	is(dictionary(`[0, 1]`, `["a"]`), arrowcolumn.ErrMalformed)
	is(dictionary(`[-1]`, `["a"]`), arrowcolumn.ErrMalformed)
	is(dictionary(`[0, null]`, `["a"]`), nil)
	lists := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	elements := build(t, arrow.PrimitiveTypes.Int8, `[1, 2]`).Data()
	data := array.NewData(lists, 2, []*memory.Buffer{nil, int32Buffer(0, 2, 1)}, []arrow.ArrayData{elements}, 0, 0)
	is(array.NewListData(data), arrowcolumn.ErrMalformed)
	wide := column.Of("c", []column.Int128{{Lo: 1, Hi: 1}})
	wide.Type = column.Type{Kind: column.Decimal128, Precision: 18}
	rec, err := arrowcolumn.Record(column.NewBatch(wide))
	require.NoError(t, err)
	_, err = arrowcolumn.Batch(markedRecord(rec.Column(0), "vecql.decimal64"))
	require.ErrorIs(t, err, arrowcolumn.ErrRange)
	_, err = arrowcolumn.Batch(markedRecord(build(t, arrow.BinaryTypes.String, `["ten"]`), "vecql.varint"))
	require.ErrorContains(t, err, `arrowcolumn: column c: `)
}

// TestSharedValues reads small arrays whose rows claim much memory.
func TestSharedValues(t *testing.T) {
	const many = 1 << 15
	zeros := build(t, arrow.PrimitiveTypes.Int8, "["+strings.Repeat("0,", many-1)+"0]")
	offsets, sizes := make([]int32, many), make([]int32, many)
	for i := range sizes {
		sizes[i] = many
	}
	view := arrow.ListViewOf(arrow.PrimitiveTypes.Int8)
	data := array.NewData(view, many, []*memory.Buffer{nil, int32Buffer(offsets...), int32Buffer(sizes...)}, []arrow.ArrayData{zeros.Data()}, 0, 0)
	_, err := arrowcolumn.Batch(recordOf(array.MakeFromData(data)))
	require.ErrorIs(t, err, column.ErrTooLarge)
	list := arrow.ListOf(arrow.PrimitiveTypes.Int8)
	one := array.MakeFromData(array.NewData(list, 1, []*memory.Buffer{nil, int32Buffer(0, many)}, []arrow.ArrayData{zeros.Data()}, 0, 0))
	_, err = arrowcolumn.Batch(recordOf(array.NewRunEndEncodedArray(build(t, arrow.PrimitiveTypes.Int32, `[32768]`), one, many, 0)))
	require.ErrorIs(t, err, column.ErrTooLarge)
	_, err = arrowcolumn.Batch(recordOf(array.NewRunEndEncodedArray(build(t, arrow.PrimitiveTypes.Int32, `[67108865]`), one, 1<<26+1, 0)))
	require.ErrorIs(t, err, column.ErrTooLarge)
}

// TestNoRows converts columns without rows and without buffers.
func TestNoRows(t *testing.T) {
	empty := column.Column{Name: "c", Type: column.Type{Kind: column.String}}
	b := column.NewBatch(empty, column.Column{Name: "l", Type: column.Type{Kind: column.List}, Children: []column.Column{empty.As(column.ElementName)}})
	rec, err := arrowcolumn.Record(b)
	require.NoError(t, err)
	back, err := arrowcolumn.Batch(throughIPC(t, rec)[0])
	require.NoError(t, err)
	require.Empty(t, column.Diff(back, b))
	none, err := arrowcolumn.Record(&column.Batch{Rows: 7})
	require.NoError(t, err)
	require.EqualValues(t, 7, none.NumRows())
	back, err = arrowcolumn.Batch(none)
	require.NoError(t, err)
	require.Equal(t, 7, back.Rows)
}

func TestRecordErrors(t *testing.T) {
	ints := column.Of("c", []int64{1, 2})
	field := func(dt arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "c", Type: dt, Nullable: true}}, nil)
	}
	required := func(name string) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.PrimitiveTypes.Int64}}, nil)
	}
	coded := dictionaryOf(arrow.PrimitiveTypes.Uint32, arrow.BinaryTypes.String)
	other := arrow.StructOf(arrow.Field{Name: "d", Type: arrow.PrimitiveTypes.Int64})
	matrix := column.Matrix("c", make([]float32, 4), 2)
	codes := column.Codes("c", []uint32{0, 2}, column.NewDictionary([]byte("ab"), []int32{0, 1, 2}))
	millis, err := column.Of("c", []int64{1, 1 << 31}).WithType(column.Type{Kind: column.Time, Unit: column.Millis})
	require.NoError(t, err)
	broken := column.Column{Name: "c", Type: column.Type{Kind: column.String}, Len: 2, Values: []byte("ab"), Offsets: []int32{0, 2, 1}}
	keys := column.Maps("c", []int32{0, 1, 2}, ints, ints)
	keys.Children[0] = keys.Children[0].WithNulls([]bool{false, true})
	for name, c := range map[string]struct {
		column column.Column
		schema *arrow.Schema
		rows   int // 2 if 0
		is     error
	}{
		"fields":        {ints, arrow.NewSchema(nil, nil), 0, arrowcolumn.ErrSchema},
		"name":          {ints, required("d"), 0, arrowcolumn.ErrSchema},
		"type":          {ints, field(arrow.PrimitiveTypes.Uint64), 0, arrowcolumn.ErrSchema},
		"rows":          {ints, nil, 3, nil},
		"NULL":          {ints.WithValidity([]byte{1}), required("c"), 0, arrowcolumn.ErrSchema},
		"dimension":     {matrix, field(arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Float32)), 0, arrowcolumn.ErrSchema},
		"element":       {matrix, field(arrow.FixedSizeListOfNonNullable(2, arrow.PrimitiveTypes.Float64)), 0, arrowcolumn.ErrSchema},
		"large list":    {matrix, field(arrow.LargeListOf(arrow.PrimitiveTypes.Float32)), 0, arrowcolumn.ErrSchema},
		"list":          {matrix, field(arrow.PrimitiveTypes.Float32), 0, arrowcolumn.ErrSchema},
		"code":          {codes, nil, 0, nil},
		"code as text":  {codes, field(arrow.BinaryTypes.String), 0, nil},
		"no dictionary": {column.Strings("c", []string{"a", "b"}), field(coded), 0, arrowcolumn.ErrSchema},
		"milliseconds":  {millis, nil, 0, arrowcolumn.ErrRange},
		"struct":        {column.Structs("c", ints), field(other), 0, arrowcolumn.ErrSchema},
		"map":           {column.Maps("c", []int32{0, 1, 2}, ints, ints), field(other), 0, arrowcolumn.ErrSchema},
		"key":           {keys, nil, 0, arrowcolumn.ErrSchema},
		"empty struct":  {column.Column{Name: "c", Type: column.Type{Kind: column.Struct}, Len: 2}, nil, 0, arrowcolumn.ErrUnsupported},
		"offsets":       {broken, nil, 0, nil},
		"no kind":       {column.Column{Name: "c", Len: 2}, nil, 0, nil},
	} {
		b := &column.Batch{Rows: 2, Columns: []column.Column{c.column}}
		if c.rows != 0 {
			b.Rows = c.rows
		}
		if c.schema == nil {
			_, err = arrowcolumn.Record(b)
		} else {
			_, err = arrowcolumn.RecordAs(b, c.schema)
		}
		require.ErrorContains(t, err, "arrowcolumn: ", name)
		if c.is != nil {
			require.ErrorIs(t, err, c.is, name)
		}
	}
	// Vectors that are all NULL fit any dimension.
	b := column.NewBatch(matrix.WithValidity([]byte{0}))
	rec, err := arrowcolumn.RecordAs(b, field(arrow.FixedSizeListOfNonNullable(3, arrow.PrimitiveTypes.Float32)))
	require.NoError(t, err)
	require.Equal(t, 2, rec.Column(0).NullN())
	require.Equal(t, 6, rec.Column(0).(*array.FixedSizeList).ListValues().Len())
}

// TestRecordAsOtherTypes converts to types that Record does not use.
func TestRecordAsOtherTypes(t *testing.T) {
	decimals, err := column.Of("c", []int64{125, -3}).WithType(column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2})
	require.NoError(t, err)
	stamps, err := column.Of("c", []int64{0, 1}).WithType(column.Type{Kind: column.Timestamp, Unit: column.Millis, UTC: true})
	require.NoError(t, err)
	codes := column.Codes("c", []uint32{1, 0}, column.NewDictionary([]byte("ab"), []int32{0, 1, 2}))
	item := arrow.ListOf(arrow.PrimitiveTypes.Int64) // its element is called "item"
	for _, c := range []struct {
		column column.Column
		dt     arrow.DataType
	}{
		{decimals, &arrow.Decimal64Type{Precision: 9, Scale: 2}},
		{stamps, &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Europe/Vienna"}},
		{codes, arrow.BinaryTypes.String},
		{column.Of("c", []cql.UUID{{1}, {2}}), extensions.NewUUIDType()},
		{column.Matrix("c", []cql.UUID{{1}, {2}}, 1), arrow.FixedSizeListOfNonNullable(1, extensions.NewUUIDType())},
		{column.Lists("c", []int32{0, 1, 2}, column.Of("", []int64{1, 2})), item},
	} {
		b := column.NewBatch(c.column)
		rec, err := arrowcolumn.RecordAs(b, arrow.NewSchema([]arrow.Field{{Name: "c", Type: c.dt, Nullable: true}}, nil))
		require.NoError(t, err)
		require.NoError(t, array.ValidateFull(rec.Column(0)))
		back, err := arrowcolumn.Batch(throughIPC(t, rec)[0])
		require.NoError(t, err)
		require.Empty(t, column.Diff(back, b))
	}
}

// at returns the address of the first byte of a buffer.
func at(arr arrow.Array, buffer int) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(arr.Data().Buffers()[buffer].Bytes()))
}

// TestNothingIsCopied checks that the record shares the batch's memory, and the batch the record's.
func TestNothingIsCopied(t *testing.T) {
	numbers, ids, floats, doubles := []int64{1, 2}, []cql.UUID{{1}, {2}}, []float32{1, 2, 3, 4}, []float64{1, 2}
	decimals, text, codes := make([]column.Int128, 2), []byte("ab"), []uint32{0, 1}
	offsets, validity := []int32{0, 1, 2}, []byte{0b01}
	dict := column.NewDictionary(text, offsets)
	in := column.NewBatch(
		column.Of("n", numbers).WithValidity(validity), column.Of("id", ids), column.Matrix("v", floats, 2),
		column.Of("d", decimals), column.StringBuffers("t", text, offsets), column.Codes("c", codes, dict),
		column.Lists("l", offsets, column.Of("", numbers)), column.Of("f", doubles),
		column.Structs("s", column.Of("a", numbers)),
	)
	rec, err := arrowcolumn.Record(in)
	require.NoError(t, err)
	require.Equal(t, unsafe.Pointer(&numbers[0]), at(rec.Column(0), 1))
	require.Equal(t, unsafe.Pointer(&validity[0]), at(rec.Column(0), 0))
	require.Equal(t, unsafe.Pointer(&ids[0]), at(rec.Column(1), 1))
	require.Equal(t, unsafe.Pointer(&floats[0]), at(rec.Column(2).(*array.FixedSizeList).ListValues(), 1))
	require.Equal(t, unsafe.Pointer(&decimals[0]), at(rec.Column(3), 1))
	require.Equal(t, unsafe.Pointer(&text[0]), at(rec.Column(4), 2))
	require.Equal(t, unsafe.Pointer(&offsets[0]), at(rec.Column(4), 1))
	require.Equal(t, unsafe.Pointer(&codes[0]), at(rec.Column(5), 1))
	require.Equal(t, unsafe.Pointer(&text[0]), at(rec.Column(5).(*array.Dictionary).Dictionary(), 2))
	require.Equal(t, unsafe.Pointer(&numbers[0]), at(rec.Column(6).(*array.List).ListValues(), 1))
	require.Equal(t, unsafe.Pointer(&offsets[0]), at(rec.Column(6), 1))
	require.Equal(t, unsafe.Pointer(&doubles[0]), at(rec.Column(7), 1))
	require.Equal(t, unsafe.Pointer(&numbers[0]), at(rec.Column(8).(*array.Struct).Field(0), 1))

	out, err := arrowcolumn.Batch(rec)
	require.NoError(t, err)
	for i := range in.Columns {
		got, want := &out.Columns[i], &in.Columns[i]
		require.Same(t, unsafe.SliceData(want.Values), unsafe.SliceData(got.Values), want.Name)
		require.Same(t, unsafe.SliceData(want.Offsets), unsafe.SliceData(got.Offsets), want.Name)
		require.Same(t, unsafe.SliceData(want.Validity), unsafe.SliceData(got.Validity), want.Name)
		for k := range want.Children {
			require.Same(t, unsafe.SliceData(want.Children[k].Values), unsafe.SliceData(got.Children[k].Values), want.Name)
		}
	}
	gotText, _ := out.Columns[5].Dict.Buffers()
	require.Same(t, &text[0], &gotText[0])
	slice, err := arrowcolumn.Batch(rec.NewSlice(1, 2))
	require.NoError(t, err)
	require.Same(t, &in.Columns[7].Values[8], &slice.Columns[7].Values[0])
}

// TestAllocationsDoNotGrow checks that many rows allocate no more bytes than few.
func TestAllocationsDoNotGrow(t *testing.T) {
	allocated := func(rows int) float64 {
		offsets := make([]int32, rows+1)
		for i := range offsets {
			offsets[i] = int32(i)
		}
		b := column.NewBatch(column.Of("n", make([]int64, rows)), column.Of("f", make([]float64, rows)),
			column.Matrix("v", make([]float32, 16*rows), 16), column.StringBuffers("s", make([]byte, rows), offsets))
		return bytesAllocated(func() {
			rec, err := arrowcolumn.Record(b)
			require.NoError(t, err)
			_, err = arrowcolumn.Batch(rec)
			require.NoError(t, err)
		})
	}
	require.Less(t, math.Abs(allocated(1000_000)-allocated(8)), 10_000.0)
}

func bytesAllocated(f func()) float64 {
	const runs = 5
	f()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.TotalAlloc-before.TotalAlloc) / runs
}
