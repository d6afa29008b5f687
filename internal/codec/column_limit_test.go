// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/hex"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Limits of rows and cells: the last value that fits, and the first one that does not.

// TestDatesOfTimestampColumns binds timestamps of each unit, and integers in milliseconds, to the whole range of date.
func TestDatesOfTimestampColumns(t *testing.T) {
	const day = 86400
	timestamps := func(u column.Unit, v ...int64) column.Column {
		c, err := column.Of("v", v).WithType(column.Type{Kind: column.Timestamp, Unit: u, UTC: true})
		require.NoError(t, err)
		return c
	}
	millis := []int64{
		0, -day * 1e3, 3 * day * 1e3, math.MinInt32 * day * 1e3, math.MaxInt32 * day * 1e3,
		(math.MinInt32 - 1) * day * 1e3, (math.MaxInt32 + 1) * day * 1e3, 1, -1, day*1e3 - 1,
	}
	const late = "!is not the start of a day"
	want := []string{
		"0000000480000000", "000000047fffffff", "0000000480000003", "0000000400000000", "00000004ffffffff",
		late, late, late, late, late,
	}
	requireRows(t, "integers", native(cql.TypeDate), column.Of("v", millis), want)
	requireRows(t, "milliseconds", native(cql.TypeDate), timestamps(column.Millis, millis...), want)
	few := append(slices.Clone(want[:3]), late)
	requireRows(t, "microseconds", native(cql.TypeDate), timestamps(column.Micros, 0, -day*1e6, 3*day*1e6, day*1e3), few)
	requireRows(t, "nanoseconds", native(cql.TypeDate), timestamps(column.Nanos, 0, -day*1e9, 3*day*1e9, day*1e6), few)
}

// TestRowsThatDoNotFitAreNamed binds rows with a value that does not fit its type.
func TestRowsThatDoNotFitAreNamed(t *testing.T) {
	bytes := func(n int) []byte { return slices.Repeat([]byte{0xab}, n) }
	uuid := hex.EncodeToString(bytes(16))
	tiny, numbers := native(cql.TypeTinyInt), column.Of("n", []int32{7, 300})
	pairs := func(key, value column.Column) column.Column { return column.Maps("v", []int32{0, 2}, key, value) }
	small := column.Of("n", []int32{7, 8})
	durations := column.Column{Name: "v", Type: column.Type{Kind: column.Duration}}
	for _, d := range []cql.Duration{{Months: 1, Days: 2, Nanoseconds: 3}, {Months: -1, Days: -2}, {Months: 1, Days: -1}, {Months: 1, Nanoseconds: -1}} {
		values := column.Of("", []int32{d.Months, d.Days})
		nanos := column.Of("", []int64{d.Nanoseconds})
		durations.Values = append(append(durations.Values, values.Values...), nanos.Values...)
		durations.Len++
	}
	for name, c := range map[string]struct {
		info   cql.TypeInfo
		column column.Column
		want   []string
	}{
		"bytes as uuid": {
			native(cql.TypeUUID), column.Binaries("v", [][]byte{bytes(16), bytes(15), bytes(17)}),
			[]string{"00000010" + uuid, "!15 bytes, want 16", "!17 bytes, want 16"},
		},
		"bytes as custom": {cql.CustomType{Class: "x"}, column.Binaries("v", [][]byte{bytes(2), {}}), []string{"00000002abab", "00000000"}},
		"key":             {cql.NewMapType(tiny, cqlInt), pairs(numbers, small), []string{"!key 1: value out of range"}},
		"value":           {cql.NewMapType(cqlInt, tiny), pairs(small, numbers), []string{"!value 1: value out of range"}},
		"element":         {cql.NewListType(tiny), column.Lists("v", []int32{0, 2}, numbers), []string{"!element 1: value out of range"}},
		"position":        {cql.TupleTypeInfo{Elems: []cql.TypeInfo{tiny}}, column.Tuples("v", numbers), []string{"000000050000000107", `!field "0": value out of range`}},
		"field": {
			cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "n", Type: tiny}}},
			column.Structs("v", numbers),
			[]string{"000000050000000107", `!field "n": value out of range`},
		},
		"duration": {native(cql.TypeDuration), durations, []string{"00000003020406", "00000003010300", "!differ in sign", "!differ in sign"}},
	} {
		requireRows(t, name, c.info, c.column, c.want)
	}
	_, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: cql.CustomType{Class: "x"}}}, column.NewBatch(column.Strings("v", []string{"a"})).Schema())
	require.ErrorIs(t, err, cql.ErrConversion, "a custom type has bytes, not text")
}

// TestListsOfMatrices binds rows of a matrix to lists of its element type, whose elements have 4, 8 and 16 bytes.
func TestListsOfMatrices(t *testing.T) {
	const head4, head8, head16 = "00000014" + "00000002", "0000001c" + "00000002", "0000002c" + "00000002"
	id := func(b byte) string { return "00000010" + hex.EncodeToString(slices.Repeat([]byte{b}, 16)) }
	ids := make([]cql.UUID, 4)
	for i := range ids {
		ids[i] = cql.UUID(slices.Repeat([]byte{byte(i)}, 16))
	}
	for name, c := range map[string]struct {
		info   cql.TypeInfo
		column column.Column
		want   []string
	}{
		"int":    {cql.NewListType(cqlInt), column.Matrix("v", []int32{1, 2, 3, 4}, 2), []string{head4 + "0000000400000001" + "0000000400000002", head4 + "0000000400000003" + "0000000400000004"}},
		"bigint": {cql.NewSetType(native(cql.TypeBigInt)), column.Matrix("v", []int64{1, 2}, 2), []string{head8 + "000000080000000000000001" + "000000080000000000000002"}},
		"uuid":   {cql.NewListType(native(cql.TypeUUID)), column.Matrix("v", ids, 2), []string{head16 + id(0) + id(1), head16 + id(2) + id(3)}},
	} {
		requireRows(t, name, c.info, c.column, c.want)
	}
}

// TestCellsOfAnotherLength decodes cells of columns of a fixed width, alone and as a field: a short cell is ErrMissing,
// a long one ErrTrailing.
func TestCellsOfAnotherLength(t *testing.T) {
	for typ, width := range map[string]int{
		"int": 4, "bigint": 8, "double": 8, "smallint": 2, "tinyint": 1, "boolean": 1, "date": 4, "time": 8, "timestamp": 8, "uuid": 16,
		"inet": 16, "vector<float, 2>": 8, "vector<uuid, 1>": 16, "vector<boolean, 3>": 3,
	} {
		for holder, h := range within(columnType(t, typ)) {
			if holder != "alone" && holder != "tuple" {
				continue
			}
			plan := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: h.info}})
			for n, want := range map[int]error{width: nil, width + 1: cql.ErrTrailing, width - 1: cql.ErrMissing} {
				if n == 0 {
					continue // NULL in some types
				}
				cell := h.cell(make([]byte, n))
				page := append(wire.AppendInt(nil, int32(len(cell))), cell...)
				err := plan.Decode(page, 1, new(column.Batch))
				require.ErrorIs(t, err, want, "%s in %s, %d bytes", typ, holder, n)
			}
		}
	}
}

// TestVectorsOfElementsWithoutBytes decodes vectors whose cells have no bytes in any number of elements.
func TestVectorsOfElementsWithoutBytes(t *testing.T) {
	nothing := vectorOf(cqlFloat, 0)
	for _, cell := range [][]byte{{}, make([]byte, 5)} {
		page := append(wire.AppendInt(nil, int32(len(cell))), cell...)
		err := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: vectorOf(nothing, 5)}}).Decode(page, 1, new(column.Batch))
		require.ErrorIs(t, err, cql.ErrRange)
		require.ErrorContains(t, err, "dimension 5 of elements without bytes")
	}
	b := new(column.Batch)
	require.NoError(t, NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: vectorOf(nothing, 0)}}).Decode(wire.AppendInt(nil, 0), 1, b))
	require.Equal(t, 1, b.Columns[0].Len)
}

// TestFewElementsWithoutBytes decodes such vectors into Go values, whose memory is bounded by their number.
func TestFewElementsWithoutBytes(t *testing.T) {
	info := vectorOf(vectorOf(cqlFloat, 0), 2)
	decodings(info, []byte{}, reflect.TypeFor[[][]float32](), func(got any, err error) {
		require.NoError(t, err)
		require.Equal(t, [][]float32{{}, {}}, got)
	})
	decodings(info, []byte{0}, reflect.TypeFor[[][]float32](), func(_ any, err error) { require.ErrorIs(t, err, cql.ErrTrailing) })
}

// TestColumnsOfASmallPageAreLimited decodes a page of vectors that has no bytes left. Columns of as many bytes as the
// limit get their memory, which is never written, and columns of one vector more are refused before.
func TestColumnsOfASmallPageAreLimited(t *testing.T) {
	const rows = 4
	infos := []cql.ColumnInfo{{Name: "a", TypeInfo: vectorOf(cqlFloat, maxSparse/4/rows-2)}, {Name: "b", TypeInfo: native(cql.TypeBigInt)}}
	err := NewColumnPlan(infos).Decode(nil, rows, new(column.Batch))
	require.ErrorIs(t, err, cql.ErrMissing, "the page ends: its columns have exactly %d bytes", maxSparse)
	infos[0].TypeInfo = vectorOf(cqlFloat, maxSparse/4/rows-1)
	err = NewColumnPlan(infos).Decode(nil, rows, new(column.Batch))
	require.ErrorIs(t, err, cql.ErrRange)
	require.ErrorContains(t, err, `"b"`)
	require.ErrorContains(t, err, "a page of 4 rows of int64: reduce the page size")
}

// TestErrorsHaveTheValueThatDoesNotFit encodes and decodes values out of range, and of other types and lengths.
func TestErrorsHaveTheValueThatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		typ  cql.Type
		v    any
		want string
		err  error
	}{
		{cql.TypeTinyInt, -129, "-129 does not fit ", cql.ErrRange},
		{cql.TypeBigInt, uint64(math.MaxUint64), "18446744073709551615 does not fit ", cql.ErrRange},
		{cql.TypeInet, 5, "Go type int", cql.ErrConversion},
		{cql.TypeInet, "x", "x", cql.ErrConversion},
	} {
		for name, encode := range map[string]Encoder{"cell": AppendCell, "plan": EncoderOf(native(c.typ), reflect.TypeOf(c.v)), "reference": ReferenceEncode} {
			_, err := encode(nil, native(c.typ), c.v)
			require.ErrorIs(t, err, c.err, "%s: %v", name, c.v)
			require.ErrorContains(t, err, c.want, "%s", name)
		}
	}
	for _, c := range []struct {
		typ  cql.Type
		cell string
		dst  any
		want string
		err  error
	}{
		{cql.TypeBigInt, "fffffffffffffffb", new(uint8), "-5", cql.ErrRange},
		{cql.TypeBigInt, "7fffffffffffffff", new(int32), "9223372036854775807", cql.ErrRange},
		{cql.TypeVarint, "00ffffffffffffffff", new(int64), "18446744073709551615", cql.ErrRange},
		{cql.TypeBoolean, "0101", new(bool), "2 bytes, want 1", cql.ErrTrailing},
	} {
		decodings(native(c.typ), hexBytes(t, c.cell), reflect.TypeOf(c.dst).Elem(), func(_ any, err error) {
			require.ErrorIs(t, err, c.err, c.cell)
			require.ErrorContains(t, err, c.want)
		})
	}
	requireRows(t, "addresses", native(cql.TypeInet), column.Strings("v", []string{"::1", "x", "fe80::1%eth0"}),
		[]string{"00000010" + "00000000000000000000000000000001", `!"x" is not an IP address`, `!"fe80::1%eth0" is not an IP address`})
}
