// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"database/sql"
	"encoding"
	"encoding/hex"
	"math"
	"math/big"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Fields of structs, scan plans, destinations of this package, and columns that are bound.

type innerFields struct {
	Street string
	Zip    int
}

// TestColumnsOfStructFields names the columns of the fields of a struct, or the reason why there are none.
func TestColumnsOfStructFields(t *testing.T) {
	type embedded struct {
		ID int
		innerFields
		Note string `cql:"note_text"`
	}
	type tagged struct {
		innerFields `cql:"inner"` // unexported: no column
		At          time.Time
	}
	type Exported struct{ A int }
	type asColumn struct {
		Exported `cql:"whole"`
		B        int
	}
	type hiding struct {
		innerFields
		Zip  string
		Last int
	}
	type pointer struct {
		ID int
		*Exported
	}
	type nothing struct{ hidden int }
	type Nothing struct{ nothing }
	type emptyPointer struct {
		ID int
		*Nothing
		Last int
	}
	type leftOut struct {
		*Exported `cql:"-"`
		Skipped   int `cql:"-"`
		ID        int
	}
	type twice struct {
		Name  string
		Other string `cql:"name"`
		Last  int
	}
	for want, v := range map[string]any{
		"street zip": innerFields{}, "id street zip note_text": embedded{}, "at": tagged{}, "whole b": asColumn{}, "street zip last": hiding{}, "id": leftOut{}, "id last": emptyPointer{},
		"!cannot be reached": pointer{}, `!the fields Name and Other of codec.twice have one column, "name"`: twice{},
	} {
		fields, err := RowFields(reflect.TypeOf(v))
		if part, fails := strings.CutPrefix(want, "!"); fails {
			require.ErrorContains(t, err, part, "%T", v)
			require.ErrorIs(t, err, cql.ErrConversion)
			continue
		}
		require.NoError(t, err, "%T", v)
		var names []string
		for _, f := range fields {
			names = append(names, f.Column())
			require.Equal(t, f.Type, reflect.TypeOf(v).FieldByIndex(f.Index).Type)
		}
		require.Equal(t, want, strings.Join(names, " "), "%T", v)
	}
	for _, c := range []struct {
		v    any
		want bool
	}{{nothing{}, false}, {Nothing{}, false}, {innerFields{}, true}, {leftOut{}, true}, {struct{ *nothing }{}, true}, {struct{ innerFields }{}, true}, {struct {
		A int `cql:"-"`
	}{}, false}, {struct{ time time.Time }{}, false}} {
		require.Equal(t, c.want, hasColumns(reflect.TypeOf(c.v)), "%T", c.v)
	}
}

// TestFieldsOfATypeAreRemembered looks up the fields of a type again, which allocates nothing.
func TestFieldsOfATypeAreRemembered(t *testing.T) {
	type row struct {
		ID int
		innerFields
	}
	first, err := RowFields(reflect.TypeFor[row]())
	require.NoError(t, err)
	require.Len(t, first, 3)
	allocs(t, 0, func() { _, _ = RowFields(reflect.TypeFor[row]()) })
}

// TestStructsThatAreOneValue distinguishes structs that hold a row from those that hold the value of one column.
func TestStructsThatAreOneValue(t *testing.T) {
	for _, v := range []any{
		time.Time{},
		cql.Duration{},
		cql.Decimal{},
		big.Int{},
		inf.Dec{},
		cql.Null[int]{},
		cql.Null[innerFields]{},
		sql.NullInt64{},
		sql.NullTime{},
		sql.Null[string]{},
		sql.RawBytes{},
		selfCoded{},
		fieldCoded{},
		url.URL{},
		5, "",
		[]innerFields{},
		&innerFields{},
	} {
		_, text := reflect.New(reflect.TypeOf(v)).Interface().(encoding.TextUnmarshaler)
		_, isURL := v.(url.URL)
		require.Equal(t, isURL && !text, IsRowStruct(reflect.TypeOf(v)), "%T", v)
	}
	for _, v := range []any{innerFields{}, struct{}{}, struct{ At time.Time }{}} {
		require.True(t, IsRowStruct(reflect.TypeOf(v)), "%T", v)
	}
}

// TestLenientStructMayEmbedAPointer leaves out fields that cannot be reached, where a struct is lenient.
func TestLenientStructMayEmbedAPointer(t *testing.T) {
	type Extra struct{ Nick string }
	type strict struct {
		Name string
		*Extra
	}
	type lenient struct {
		_    struct{} `cql:"lenient"`
		Name string
		*Extra
	}
	_, err := Marshal(personType, strict{Name: "a"})
	require.ErrorContains(t, err, "cannot be reached")
	content, err := Marshal(personType, lenient{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, "0000000161"+"ffffffff"+"ffffffff", hex.EncodeToString(content))
	type untagged struct{ Name, Nick string }
	_, err = Marshal(personType, untagged{})
	require.ErrorContains(t, err, "the field codec.untagged.Nick holds no field of ks.person")
	type withTag struct {
		Name string
		Nick string `cql:"nick"`
	}
	_, err = Marshal(personType, withTag{})
	require.ErrorContains(t, err, "the field codec.withTag.Nick with the tag `cql:\"nick\"` holds no field of ks.person")
}

// TestScanPlansEqualUnmarshal stores cells, NULL and empty ones too, in destinations of several types.
func TestScanPlansEqualUnmarshal(t *testing.T) {
	for _, info := range append(nativesOf(cql.TypeInt, cql.TypeText, cql.TypeTimestamp, cql.TypeBlob), intList, personType, vectorOf(cqlFloat, 2)) {
		for _, dst := range []any{new(int), new(string), new([]byte), new(any), new(*int), new([]int), new(time.Time), new(cql.Null[int]), new([]float32), new(shout), (*int)(nil), 5, AppendTo(new([]byte))} {
			plan := NewScanPlan(info, dst)
			for _, cell := range [][]byte{nil, {}, {0, 0, 0, 7}, {0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7}, make([]byte, 8), []byte("text!")} {
				fresh := func() any {
					if v := reflect.ValueOf(dst); v.Kind() == reflect.Pointer && !v.IsNil() && v.Type() != reflect.TypeOf(AppendTo(new([]byte))) {
						p := reflect.New(v.Type().Elem())
						if v.Type().Elem().Kind() == reflect.Int {
							p.Elem().SetInt(9)
						}
						return p.Interface()
					}
					return dst
				}
				got, want := fresh(), fresh()
				err, wantErr := plan.Store(info, cell, got, &Shared{size: 100}), Unmarshal(info, cell, want)
				require.Equal(t, wantErr == nil, err == nil, "%v %x into %T: %v, %v", info, cell, dst, err, wantErr)
				if err == nil {
					require.True(t, same(want, got), "%v %x into %T: %v, %v", info, cell, dst, want, got)
				}
			}
		}
	}
	plan := NewScanPlan(cqlInt, new(int))
	require.Equal(t, TypeWord(new(int)), plan.Typ, "of another value")
	require.NotEqual(t, TypeWord(new(string)), plan.Typ)
	require.NotNil(t, plan.Value, "numbers need no reflection")
	require.Equal(t, EmptyAsNull, EmptyOf(cqlInt))
	require.Equal(t, EmptyByValue, EmptyOf(cqlText))
	require.Equal(t, EmptyByValue, EmptyOf(intList))
}

// TestScanPlanDecodesEmptyCellsAsItSays has a plan of each way.
func TestScanPlanDecodesEmptyCellsAsItSays(t *testing.T) {
	for _, c := range []struct {
		empty             Empty
		forEmpty, forNull string
	}{{EmptyByValue, "value", "null"}, {EmptyAsNull, "null", "null"}, {EmptyByDecode, "decode", "null"}, {NullByDecode, "decode", "decode"}} {
		dst := new(string)
		p := NewScanPlan(cqlText, dst)
		p.Empty = c.empty
		p.Value = planTextDecode(reflect.TypeFor[string]())
		p.Decode = func(_ cql.TypeInfo, _ []byte, dst any) error { *dst.(*string) = "decode"; return nil }
		for cell, want := range map[string]string{"": c.forEmpty, "null": c.forNull, "text": "text"} {
			*dst = "old"
			bytes := []byte(cell)
			if cell == "null" {
				bytes = nil
			}
			require.NoError(t, p.Store(cqlText, bytes, dst, nil))
			if want == "value" || want == "null" {
				want = ""
			}
			require.Equal(t, want, *dst, "%d: %q", c.empty, cell)
		}
		require.NoError(t, p.Store(cqlText, nil, ptr("x"), nil))
	}
}

// TestBorrowedCellIsTheCell stores the cell itself.
func TestBorrowedCellIsTheCell(t *testing.T) {
	var got []byte
	cell := []byte("abc")
	require.NoError(t, Unmarshal(intList, cell, Borrow(&got)))
	require.Equal(t, &cell[0], &got[0])
	require.NoError(t, Borrow(&got).UnmarshalCQL(cqlInt, nil))
	require.Nil(t, got)
	require.ErrorIs(t, RefuseBorrow([]any{new(int), Borrow(&got)}), cql.ErrConversion)
	require.NoError(t, RefuseBorrow([]any{new(int), nil, AppendTo(&got)}))
	require.NoError(t, RefuseBorrow(nil))
}

// TestRolesOfTypes has types with methods of their own, and pointers to them.
func TestRolesOfTypes(t *testing.T) {
	for _, c := range []struct {
		t    reflect.Type
		role Role
		want bool
	}{
		{reflect.TypeFor[selfCoded](), RoleMarshaler, true},
		{reflect.TypeFor[selfCoded](), RoleUnmarshaler, false},
		{reflect.TypeFor[*selfCoded](), RoleUnmarshaler, true},
		{reflect.TypeFor[fieldCoded](), RoleUDTMarshaler, true},
		{reflect.TypeFor[*fieldCoded](), RoleUDTUnmarshaler, true},
		{reflect.TypeFor[fieldCoded](), RoleMarshaler, false},
		{reflect.TypeFor[int](), RoleMarshaler, false},
		{reflect.TypeFor[foreignText](), RoleMarshaler, true},
		{reflect.TypeFor[foreignHolder](), RoleUnmarshaler, true},
	} {
		require.Equal(t, c.want, HasRole(c.t, c.role), "%v %d", c.t, c.role)
	}
	api := &Foreign{}
	values, got := ValuesOf([]any{&ForeignValues{Values: []any{1, 2}, API: api}})
	require.Equal(t, []any{1, 2}, values)
	require.Same(t, api, got)
	for _, values := range [][]any{nil, {1}, {1, 2}, {&ForeignValues{}, 2}} {
		same, got := ValuesOf(values)
		require.Equal(t, values, same)
		require.Nil(t, got)
	}
}

// counting counts the calls of its method, which has a pointer receiver.
type counting struct{ calls int }

func (c *counting) MarshalCQL(cql.TypeInfo) ([]byte, error) {
	c.calls++
	return []byte{1}, nil
}

// TestMarshalerIsNotCopied calls the method of the value that a pointer leads to.
func TestMarshalerIsNotCopied(t *testing.T) {
	c := new(counting)
	for i, encode := range []Encoder{AppendCell, EncoderOf(native(cql.TypeBlob), reflect.TypeOf(c)), ReferenceEncode} {
		_, err := encode(nil, native(cql.TypeBlob), c)
		require.NoError(t, err)
		require.Equal(t, i+1, c.calls)
	}
	_, err := Marshal(cql.NewListType(native(cql.TypeBlob)), []*counting{c})
	require.NoError(t, err)
	require.Equal(t, 4, c.calls)
}

// A coordinate encodes itself.
type coordinate float64

func (c coordinate) MarshalCQL(cql.TypeInfo) ([]byte, error) { return []byte{1, 2, 3, byte(c)}, nil }

// coordinate32 encodes itself, too.
type coordinate32 float32

func (c coordinate32) MarshalCQL(cql.TypeInfo) ([]byte, error) {
	return []byte{1, 2, 3, 4, 5, 6, 7, byte(c)}, nil
}

// TestCoordinatesMayEncodeThemselves has elements of a vector whose method decides their bytes.
func TestCoordinatesMayEncodeThemselves(t *testing.T) {
	for _, c := range []struct {
		typ  cql.Type
		v    any
		want string
	}{
		{cql.TypeFloat, []coordinate{4, 5}, "0102030401020305"},
		{cql.TypeFloat, []any{coordinate(4), ptr(coordinate(5))}, "0102030401020305"},
		{cql.TypeFloat, []*coordinate{ptr(coordinate(4)), ptr(coordinate(5))}, "0102030401020305"},
		{cql.TypeDouble, []coordinate32{4, 5}, "01020304050607040102030405060705"},
		{cql.TypeDouble, []any{coordinate32(4), coordinate32(5)}, "01020304050607040102030405060705"},
		{cql.TypeFloat, []cql.Null[float64]{cql.NullOf(1.0), cql.NullOf(2.0)}, "3f80000040000000"},
		{cql.TypeFloat, []any{1.0, float32(2)}, "3f80000040000000"},
	} {
		info := vectorOf(native(c.typ), 2)
		for _, encode := range []Encoder{AppendCell, EncoderOf(info, reflect.TypeOf(c.v)), ReferenceEncode} {
			got, err := encode(nil, info, c.v)
			require.NoError(t, err, "%T", c.v)
			require.Equal(t, c.want, hex.EncodeToString(got[4:]), "%T", c.v)
		}
	}
	for _, v := range []any{[]cql.Null[float64]{{}, {}}, []*float64{nil, nil}, []any{nil, nil}} {
		_, err := Marshal(vectorOf(cqlFloat, 2), v)
		require.ErrorIs(t, err, cql.ErrNull, "%T", v)
	}
}

// TestBoundRows has rows of columns that change their form on the way to a value.
func TestBoundRows(t *testing.T) {
	micros := func(v ...int64) column.Column {
		c, err := column.Of("v", v).WithType(column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true})
		require.NoError(t, err)
		return c
	}
	nanos, err := column.Of("v", []int64{5_000_000, -1_000_000, 1}).WithType(column.Type{Kind: column.Timestamp, Unit: column.Nanos, UTC: true})
	require.NoError(t, err)
	typed := func(kind column.Kind, cells ...string) column.Column {
		var values [][]byte
		for _, cell := range cells {
			values = append(values, hexBytes(t, cell))
		}
		c, err := column.Binaries("v", values).WithType(column.Type{Kind: kind})
		require.NoError(t, err)
		return c
	}
	setOfInt := cql.NewSetType(cqlInt)
	unsorted := column.Lists("s", []int32{0, 2}, column.Of("", []int32{2, 1}))
	const sortedSet = "00000014" + "00000002" + "0000000400000001" + "0000000400000002"
	raw := column.Column{Name: "v", Type: CellType, Offsets: []int32{0}}
	require.NoError(t, AppendCellRow(&raw, []byte{1, 2}))
	require.NoError(t, AppendCellRow(&raw, []byte{}))
	require.NoError(t, AppendCellRow(&raw, nil))
	for name, c := range map[string]struct {
		info   cql.TypeInfo
		column column.Column
		want   []string // of the rows, with their lengths, or part of the error
	}{
		"microseconds":        {native(cql.TypeTimestamp), micros(5000, -1000, 1500), []string{"00000008" + "0000000000000005", "00000008" + "ffffffffffffffff", "!a part below the millisecond"}},
		"nanoseconds":         {native(cql.TypeTimestamp), nanos, []string{"00000008" + "0000000000000005", "00000008" + "ffffffffffffffff", "!a part below the millisecond"}},
		"unsigned as bigint":  {native(cql.TypeBigInt), column.Of("v", []uint64{0, math.MaxInt64, math.MaxInt64 + 1}), []string{"00000008" + "0000000000000000", "00000008" + "7fffffffffffffff", "!9223372036854775808 does not fit bigint"}},
		"unsigned as varint":  {native(cql.TypeVarint), column.Of("v", []uint64{0, math.MaxInt64, math.MaxInt64 + 1}), []string{"0000000100", "00000008" + "7fffffffffffffff", "00000009" + "008000000000000000"}},
		"unsigned as decimal": {native(cql.TypeDecimal), column.Of("v", []uint64{7, math.MaxInt64, math.MaxInt64 + 1}), []string{"000000050000000007", "0000000c" + "00000000" + "7fffffffffffffff", "0000000d" + "00000000" + "008000000000000000"}},
		"short decimals":      {native(cql.TypeDecimal), typed(column.Decimal, "", "00000000", "0000000001"), []string{"!a decimal of 0 bytes", "!a decimal of 4 bytes", "000000050000000001"}},
		"short varints":       {native(cql.TypeVarint), typed(column.Varint, "", "0001", "ff"), []string{"!a varint of 0 bytes", "0000000101", "00000001ff"}},
		"addresses":           {native(cql.TypeInet), typed(column.Inet, "01020304", "010203", "0102030405060708090a0b0c0d0e0f1011"), []string{"0000000401020304", "!3 bytes, want 16", "!17 bytes, want 16"}},
		"cells":               {native(cql.TypeInt), raw, []string{"000000020102", "00000000", "ffffffff"}},
		"sets of a tuple":     {cql.TupleTypeInfo{Elems: []cql.TypeInfo{setOfInt}}, column.Tuples("v", unsorted), []string{"00000018" + sortedSet}},
		"sets of a type":      {cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "s", Type: setOfInt}}}, column.Structs("v", unsorted), []string{"00000018" + sortedSet}},
		"sets of a vector":    {vectorOf(setOfInt, 1), column.Lists("v", []int32{0, 1}, unsorted), []string{"00000015" + "14" + sortedSet[8:]}},
		"sets of a list":      {cql.NewListType(setOfInt), column.Lists("v", []int32{0, 1}, unsorted), []string{"0000001c" + "00000001" + sortedSet}},
		"sets of a map": {
			cql.NewMapType(setOfInt, setOfInt), column.Maps("v", []int32{0, 1}, unsorted, unsorted),
			[]string{"00000034" + "00000001" + sortedSet + sortedSet},
		},
		"matrix as list":   {cql.NewListType(native(cql.TypeBigInt)), column.Matrix("v", []int32{1, 2, 3, 4}, 2), []string{"0000001c" + "00000002" + "000000080000000000000001" + "000000080000000000000002", "0000001c" + "00000002" + "000000080000000000000003" + "000000080000000000000004"}},
		"matrix as vector": {vectorOf(native(cql.TypeSmallInt), 2), column.Matrix("v", []int32{1, 2, 3, 70000}, 2), []string{"00000006" + "020001" + "020002", "!element 1: value out of range"}},
	} {
		requireRows(t, name, c.info, c.column, c.want)
	}
}

// requireRows binds the rows of a column. want has the bytes of each value with their length, in hexadecimal, or part
// of its error after an exclamation mark.
func requireRows(t *testing.T, name string, info cql.TypeInfo, c column.Column, want []string) {
	t.Helper()
	b := column.NewBatch(c.As("v"))
	plan, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}}, b.Schema())
	require.NoError(t, err, name)
	require.NoError(t, plan.Check(b))
	require.Len(t, want, b.Rows)
	for row, want := range want {
		got, err := plan.Append([]byte{9}, b, row, 0, wire.Null)
		if part, fails := strings.CutPrefix(want, "!"); fails {
			require.ErrorContains(t, err, part, name)
			require.Equal(t, []byte{9}, got, name)
			continue
		}
		require.NoError(t, err, name)
		require.Equal(t, "09"+want, hex.EncodeToString(got), name)
	}
}

// TestColumnsWithoutAConversionAreNamed has the error of a pair of types.
func TestColumnsWithoutAConversionAreNamed(t *testing.T) {
	for _, c := range []struct {
		info   cql.TypeInfo
		column column.Column
		want   string
	}{
		{cqlFloat, column.Of("v", []float64{1}), "a float64 may have more digits than a float: convert it to float32"},
		{cqlFloat, column.Of("v", []int32{1}), "float and a column of int32"},
		{cqlInt, column.Of("v", []float64{1}), "int and a column of float64"},
		{cql.NewListType(cqlFloat), column.Matrix("v", []float64{1}, 1), "element: no conversion between these types: a float64 may have more digits"},
		{personType, column.Structs("v", column.Strings("name", []string{"a"}), column.Of("age", []int32{1}), column.Of("nick", []int32{1})), `has no field "nick"`},
		{personType, column.Structs("v", column.Of("age", []int32{1}), column.Of("age", []int32{1})), "duplicate field name"},
		{personType, column.Structs("v", column.Of("age", []float64{1})), `field "age"`},
		{pairTuple, column.Tuples("v", column.Of("0", []int32{1})), "1 fields for a tuple of 2"},
		{vectorOf(cqlFloat, 3), column.Matrix("v", []float32{1, 2}, 2), "2, want 3"},
	} {
		_, err := NewRowPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: c.info}}, column.NewBatch(c.column).Schema())
		require.ErrorContains(t, err, c.want)
	}
	require.Equal(t, column.List, ColumnField("v", vectorOf(cqlFloat, 0)).Type.Kind)
	require.Equal(t, column.VectorOf(column.Float32, 1), ColumnField("v", vectorOf(cqlFloat, 1)).Type)
	require.Equal(t, column.List, ColumnField("v", vectorOf(cqlText, 1)).Type.Kind)
}
