// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file tests the rules that hold for every type: NULL, what is refused and by which error, and cells that lie.

var (
	cqlInt     = native(TypeInt)
	cqlText    = native(TypeVarchar)
	cqlFloat   = native(TypeFloat)
	intList    = NewListType(cqlInt)
	textSet    = NewSetType(cqlText)
	textToInt  = NewMapType(cqlText, cqlInt)
	pairTuple  = TupleTypeInfo{[]TypeInfo{cqlInt, cqlText}}
	personType = UDTTypeInfo{Keyspace: "ks", Name: "person", Elements: []UDTField{{"name", cqlText}, {"age", cqlInt}, {"vec", vectorOf(cqlFloat, 2)}}}
	everyType  = []TypeInfo{
		native(TypeAscii), native(TypeBigInt), native(TypeBlob), native(TypeBoolean), native(TypeCounter), native(TypeDecimal),
		native(TypeDouble), cqlFloat, cqlInt, cqlText, native(TypeTimestamp), native(TypeUUID), native(TypeVarint), native(TypeTimeUUID),
		native(TypeInet), native(TypeDate), native(TypeTime), native(TypeSmallInt), native(TypeTinyInt), native(TypeDuration),
		intList, textSet, textToInt, pairTuple, personType, vectorOf(cqlFloat, 3), vectorOf(cqlText, 3),
		CustomType{"X"},
	}
)

func TestMarshalNull(t *testing.T) {
	var nilMap map[string]int
	for _, info := range everyType {
		for _, v := range []any{
			nil, (*int)(nil), (*string)(nil), (**int)(nil), pointerTo((*int)(nil)), (*[]float32)(nil),
			Null[string]{},
			&Null[int]{}, (*Null[int])(nil),
			Null[any]{Valid: true},
			sql.NullString{String: "x"},
			sql.NullInt64{},
			sql.Null[UUID]{},
			pointerTo(any(nil)), (*selfCoded)(nil),
			selfCoded{null: true},
			(*big.Int)(nil),
		} {
			for way, got := range encodings(t, info, v) {
				require.Nil(t, got, "%v, %T, way %d", info, v, way)
			}
		}
	}
	for _, row := range []struct {
		info TypeInfo
		v    any
	}{
		{native(TypeBlob), []byte(nil)},
		{cqlText, myBytes(nil)},
		{native(TypeUUID), []byte(nil)},
		{native(TypeInet), net.IP(nil)},
		{intList, []int(nil)},
		{textSet, map[string]struct{}(nil)},
		{textToInt, nilMap},
		{pairTuple, []any(nil)},
		{personType, nilMap},
		{vectorOf(cqlFloat, 3), []float32(nil)},
		{vectorOf(cqlFloat, 3), myVector(nil)},
		{vectorOf(cqlFloat, 0), []float32(nil)},
		{vectorOf(cqlText, 3), []string(nil)},
		{vectorOf(cqlFloat, 3), pointerTo([]float32(nil))},
	} {
		for _, got := range encodings(t, row.info, row.v) {
			require.Nil(t, got, "%v, %T", row.info, row.v)
		}
	}
}

func TestUnmarshalNull(t *testing.T) {
	for _, info := range everyType {
		for _, full := range []any{
			"x", []byte("x"), 7, true, 1.5, float32(1),
			UUID{1},
			time.Now(), time.Second,
			Duration{1, 1, 1},
			*big.NewInt(1), *inf.NewDec(1, 1),
			[]int{1},
			[2]int{1, 2},
			map[string]int{"a": 1},
			net.IP{1, 2, 3, 4},
			netip.MustParseAddr("::1"), pointerTo(1), pointerTo("x"), NullOf(1), NullOf("x"),
			sql.NullString{String: "x", Valid: true},
			sql.Null[int]{V: 1, Valid: true},
			person{FullName: "x"},
			big.NewInt(1),
		} {
			typ := reflect.TypeOf(full)
			for _, decode := range []decodeFunc{Unmarshal, decoderOf(info, reflect.PointerTo(typ)), reflectDecode} {
				dst := reflect.New(typ)
				dst.Elem().Set(reflect.ValueOf(full))
				require.NoError(t, decode(info, nil, dst.Interface()), "%v into %v", info, typ)
				require.True(t, dst.Elem().IsZero(), "%v into %v: %v", info, typ, dst.Elem())
			}
		}
		var v any = 7
		require.NoError(t, Unmarshal(info, nil, &v))
		require.Nil(t, v)
		require.NoError(t, Unmarshal(info, nil, new(selfCoded)))
	}
}

func TestUnmarshalNullables(t *testing.T) {
	cell := []byte{0, 0, 0, 7}
	var a Null[int]
	var b sql.NullInt32
	var c sql.Null[int64]
	var d **int
	var e Null[*int]
	var f *Null[any]
	for _, dst := range []any{&a, &b, &c, &d, &e, &f} {
		require.NoError(t, Unmarshal(cqlInt, cell, dst))
	}
	require.Equal(t, NullOf(7), a)
	require.Equal(t, sql.NullInt32{Int32: 7, Valid: true}, b)
	require.Equal(t, sql.Null[int64]{V: 7, Valid: true}, c)
	require.Equal(t, 7, **d)
	require.Equal(t, 7, *e.V)
	require.Equal(t, NullOf[any](7), *f)
	held := *d
	require.NoError(t, Unmarshal(cqlInt, []byte{0, 0, 0, 8}, &d))
	require.Equal(t, 7, *held, "a pointer that the caller kept")
	require.Equal(t, 8, **d)
	require.Error(t, Unmarshal(cqlInt, []byte{1}, &a))
}

// TestUnmarshalLeavesOldMemory: a slice that was scanned before is not written to.
func TestUnmarshalLeavesOldMemory(t *testing.T) {
	v := []float32{1, 2}
	kept, m := v, map[string]int{"old": 1}
	keptMap := m
	require.NoError(t, Unmarshal(vectorOf(cqlFloat, 2), make([]byte, 8), &v))
	require.NoError(t, Unmarshal(textToInt, make([]byte, 4), &m))
	require.Equal(t, []float32{1, 2}, kept)
	require.Equal(t, map[string]int{"old": 1}, keptMap)
	require.Empty(t, m)
}

func TestMarshalUnset(t *testing.T) {
	cell, err := appendCell(nil, cqlInt, UnsetValue)
	require.NoError(t, err)
	require.Equal(t, "fffffffe", hex.EncodeToString(cell))
	for _, row := range []struct {
		info TypeInfo
		v    any
	}{
		{intList, []any{UnsetValue}},
		{textToInt, map[string]any{"a": UnsetValue}},
		{pairTuple, []any{1, UnsetValue}},
		{personType, map[string]any{"name": UnsetValue}},
		{vectorOf(cqlFloat, 1), []any{UnsetValue}},
		{vectorOf(cqlText, 1), []any{UnsetValue}},
	} {
		_, err := appendCell(nil, row.info, row.v)
		require.ErrorIs(t, err, ErrUnset, "%v", row.info)
	}
	dst := []byte("head")
	out, err := AppendMarshal(dst, cqlInt, UnsetValue)
	require.ErrorIs(t, err, ErrUnset)
	require.Equal(t, dst, out)
}

func TestMarshalRefuses(t *testing.T) {
	month := Duration{Months: 1, Days: -1}
	cycle := any(nil)
	cycle = &cycle
	for _, row := range []struct {
		name string
		info TypeInfo
		v    any
		want error
	}{
		{"tinyint above", native(TypeTinyInt), 128, ErrRange},
		{"tinyint below", native(TypeTinyInt), "-129", ErrRange},
		{"tinyint unsigned", native(TypeTinyInt), uint8(128), ErrRange},
		{"smallint above", native(TypeSmallInt), 32768, ErrRange},
		{"int above", cqlInt, uint32(1 << 31), ErrRange},
		{"int below", cqlInt, int64(math.MinInt32 - 1), ErrRange},
		{"bigint above", native(TypeBigInt), uint64(1 << 63), ErrRange},
		{"bigint below", native(TypeBigInt), new(big.Int).Sub(big.NewInt(math.MinInt64), big.NewInt(1)), ErrRange},
		{"int of no digits", cqlInt, "", ErrConversion},
		{"int of hexadecimal digits", cqlInt, "0x10", ErrConversion},
		{"int of a float", cqlInt, 1.0, ErrConversion},
		{"int of a bool", cqlInt, true, ErrConversion},
		{"float of a float64", cqlFloat, 1.0, ErrConversion},
		{"double of a float32", native(TypeDouble), float32(1), ErrConversion},
		{"boolean of an int", native(TypeBoolean), 1, ErrConversion},
		{"text of an int", cqlText, 1, ErrConversion},
		{"text of a UUID", cqlText, UUID{}, ErrConversion},
		{"uuid of 15 bytes", native(TypeUUID), make([]byte, 15), ErrConversion},
		{"uuid of no bytes", native(TypeUUID), []byte{}, ErrConversion},
		{"uuid of a wrong text", native(TypeUUID), "x", ErrConversion},
		{"timeuuid of a time", native(TypeTimeUUID), time.Now(), ErrConversion},
		{"inet of 5 bytes", native(TypeInet), net.IP{1, 2, 3, 4, 5}, ErrConversion},
		{"inet of no address", native(TypeInet), netip.Addr{}, ErrConversion},
		{"inet with a zone", native(TypeInet), "fe80::1%eth0", ErrConversion},
		{"inet of a name", native(TypeInet), "localhost", ErrConversion},
		{"date above", native(TypeDate), time.Date(5881580, 7, 12, 0, 0, 0, 0, time.UTC), ErrRange},
		{"date below", native(TypeDate), time.Date(-5877641, 6, 22, 23, 0, 0, 0, time.UTC), ErrRange},
		{"date of a length of time", native(TypeDate), time.Second, ErrConversion},
		{"date of a wrong text", native(TypeDate), "2024-02-30", ErrConversion},
		{"time negative", native(TypeTime), -time.Nanosecond, ErrRange},
		{"time of a whole day", native(TypeTime), 24 * time.Hour, ErrRange},
		{"timestamp above", native(TypeTimestamp), time.UnixMilli(math.MaxInt64).Add(time.Millisecond), ErrRange},
		{"timestamp far above", native(TypeTimestamp), time.Unix(math.MaxInt64/2, 0), ErrRange},
		{"timestamp below", native(TypeTimestamp), time.UnixMilli(math.MinInt64).Add(-time.Nanosecond), ErrRange},
		{"timestamp of a length of time", native(TypeTimestamp), time.Second, ErrConversion},
		{"duration of mixed signs", native(TypeDuration), month, ErrRange},
		{"duration of too many months", native(TypeDuration), "200000000y", ErrRange},
		{"duration without a unit", native(TypeDuration), "1y2", ErrConversion},
		{"duration of nothing", native(TypeDuration), "", ErrConversion},
		{"list of a map", intList, map[int]struct{}{1: {}}, ErrConversion},
		{"list of an int", intList, 1, ErrConversion},
		{"list with NULL", intList, []*int{nil}, ErrNull},
		{"list with a nil any", intList, []any{1, nil}, ErrNull},
		{"set with NULL", textSet, []Null[string]{{}}, ErrNull},
		{"set of a map with values", textSet, map[string]bool{"a": true}, ErrConversion},
		{"map of a slice", textToInt, []int{1}, ErrConversion},
		{"map with NULL as value", textToInt, map[string]*int{"a": nil}, ErrNull},
		{"map with NULL as key", textToInt, map[any]int{nil: 1}, ErrNull},
		{"map with a wrong value", textToInt, map[string]int{"a": 1 << 40}, ErrRange},
		{"tuple too short", pairTuple, []any{1}, ErrDimension},
		{"tuple too long", pairTuple, []any{1, "a", 2}, ErrDimension},
		{"tuple of a struct too short", pairTuple, struct{ A int }{1}, ErrDimension},
		{"tuple of a map", pairTuple, map[string]any{}, ErrConversion},
		{"UDT of a struct without its fields", personType, time.Now(), ErrConversion},
		{"UDT of a map with another field", personType, map[string]any{"name": "x", "nam": "x"}, ErrConversion},
		{"UDT of a slice", personType, []any{"x"}, ErrConversion},
		{"UDT with a wrong field", personType, map[string]any{"age": "x"}, ErrConversion},
		{"vector too short", vectorOf(cqlFloat, 3), []float32{1, 2}, ErrDimension},
		{"vector too long", vectorOf(cqlFloat, 3), []float32{1, 2, 3, 4}, ErrDimension},
		{"vector empty", vectorOf(cqlFloat, 3), []float32{}, ErrDimension},
		{"vector of an array too long", vectorOf(cqlFloat, 3), [4]float32{}, ErrDimension},
		{"vector of no elements from one", vectorOf(cqlFloat, 0), []float32{1}, ErrDimension},
		{"vector of texts too short", vectorOf(cqlText, 3), []string{"a"}, ErrDimension},
		{"vector of negative dimension", vectorOf(cqlFloat, -1), []float32{}, ErrDimension},
		{"vector with NULL", vectorOf(cqlFloat, 1), []*float32{nil}, ErrNull},
		{"vector of texts with NULL", vectorOf(cqlText, 1), []*string{nil}, ErrNull},
		{"vector of lists with NULL", vectorOf(intList, 1), [][]int{nil}, ErrNull},
		{"vector of another kind", vectorOf(cqlFloat, 1), []float64{1}, ErrConversion},
		{"vector of a text", vectorOf(cqlFloat, 1), "a", ErrConversion},
		{"vector too large for a cell", vectorOf(vectorOf(cqlFloat, math.MaxInt32), 1), [1][]float32{{1}}, ErrDimension},
		{"vector of elements of another size", vectorOf(cqlFloat, 1), []selfCoded{{content: []byte{1}}}, ErrRange},
		{"channel", cqlInt, make(chan int), ErrConversion},
		{"uintptr", cqlInt, uintptr(1), ErrConversion},
		{"pointer to itself", cqlInt, cycle, ErrConversion},
		{"unknown type", NativeType(0x99), 1, ErrConversion},
		{"no type", nil, 1, ErrConversion},
	} {
		t.Run(row.name, func(t *testing.T) {
			dst := []byte("head")
			out, err := AppendMarshal(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
			require.Equal(t, dst, out)
			var e *MarshalError
			require.ErrorAs(t, err, &e)
			require.Equal(t, row.info, e.Type)
			require.Equal(t, reflect.TypeOf(row.v).String(), e.GoType)
			require.Contains(t, err.Error(), e.GoType)
			_, err = reflectEncode(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
			_, err = encoderOf(row.info, reflect.TypeOf(row.v))(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
		})
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, row := range []struct {
		name, hex string
		info      TypeInfo
		dst       any // a value of the destination's type
		want      error
	}{
		{"int into int8", "00000080", cqlInt, int8(0), ErrRange},
		{"int into uint8", "00000100", cqlInt, uint8(0), ErrRange},
		{"negative into uint", "ffffffff", cqlInt, uint(0), ErrRange},
		{"negative into uint64", "ffffffffffffffff", native(TypeBigInt), uint64(0), ErrRange},
		{"varint into int64", "008000000000000000", native(TypeVarint), int64(0), ErrRange},
		{"int into float64", "00000001", cqlInt, 1.5, ErrConversion},
		{"int into bool", "00000001", cqlInt, true, ErrConversion},
		{"int into []byte", "00000001", cqlInt, []byte{}, ErrConversion},
		{"float into float64", "3f800000", cqlFloat, 1.5, ErrConversion},
		{"double into float32", "3ff0000000000000", native(TypeDouble), float32(1), ErrConversion},
		{"text into int", "31", cqlText, 1, ErrConversion},
		{"int empty", "", cqlInt, 1, ErrMissing},
		{"boolean empty", "", native(TypeBoolean), true, ErrMissing},
		{"varint empty", "", native(TypeVarint), 1, ErrMissing},
		{"decimal of a scale only", "00000000", native(TypeDecimal), inf.Dec{}, ErrMissing},
		{"uuid empty", "", native(TypeUUID), UUID{}, ErrMissing},
		{"uuid into time", "c232ab00941411ecb3c89f6bdeced846", native(TypeUUID), time.Time{}, ErrConversion},
		{"timeuuid without a time", "c232ab00941441ecb3c89f6bdeced846", native(TypeTimeUUID), time.Time{}, ErrRange},
		{"inet empty", "", native(TypeInet), net.IP{}, ErrMissing},
		{"inet of 17 bytes", strings.Repeat("00", 17), native(TypeInet), "", ErrTrailing},
		{"date before the texts", "00000000", native(TypeDate), "", ErrRange},
		{"time negative", "ffffffffffffffff", native(TypeTime), time.Second, ErrRange},
		{"time of a whole day", "00004e94914f0000", native(TypeTime), int64(0), ErrRange},
		{"duration of days into time.Duration", "000200", native(TypeDuration), time.Second, ErrRange},
		{"duration of too many months", "f100000000" + "0000", native(TypeDuration), Duration{}, ErrRange},
		{"duration of mixed signs", "020300", native(TypeDuration), Duration{}, ErrRange},
		{"list empty cell", "", intList, []int{}, ErrMissing},
		{"list of negative count", "ffffffff", intList, []int{}, ErrMissing},
		{"list of a lying count", "7fffffff0000000400000001", intList, []int{}, ErrMissing},
		{"list of a lying length", "000000017fffffff00000001", intList, []int{}, ErrMissing},
		{"list of a wrong element", "00000001000000020001", intList, []int{}, ErrMissing},
		{"list into a map", "00000000", intList, map[int]struct{}{}, ErrConversion},
		{"list into another array", "00000000", intList, [1]int{}, ErrDimension},
		{"map of a lying count", "7fffffff", textToInt, map[string]int{}, ErrMissing},
		{"map into a slice", "00000000", textToInt, []int{}, ErrConversion},
		{"map of keys that Go can't compare", "000000010000000161" + "0000000400000001", NewMapType(native(TypeBlob), cqlInt), map[any]int{}, ErrConversion},
		{"set of keys that Go can't compare", "000000010000000161", NewSetType(native(TypeBlob)), map[any]struct{}{}, ErrConversion},
		{"tuple into another array", "", pairTuple, [3]any{}, ErrDimension},
		{"tuple into another struct", "", pairTuple, struct{ A int }{}, ErrDimension},
		{"tuple of a lying length", "00000005000000", pairTuple, []any{}, ErrMissing},
		{"tuple of three", "ffffffffffffffffffffffff", pairTuple, []any{}, ErrTrailing},
		{"UDT of four", "ffffffffffffffffffffffffffffffff", personType, map[string]any{}, ErrTrailing},
		{"UDT into a struct without its fields", "ffffffff", personType, time.Time{}, ErrConversion},
		{"UDT into a slice", "", personType, []any{}, ErrConversion},
		{"vector into a longer array", "0000000000000000", vectorOf(cqlFloat, 2), [3]float32{}, ErrDimension},
		{"vector into a shorter array", "0000000000000000", vectorOf(cqlFloat, 2), [1]float32{}, ErrDimension},
		{"vector of texts into another array", "0000", vectorOf(cqlText, 2), [3]string{}, ErrDimension},
		{"vector empty cell", "", vectorOf(cqlFloat, 2), []float32{}, ErrMissing},
		{"vector of one element less", "00000000", vectorOf(cqlFloat, 2), []float32{}, ErrMissing},
		{"vector of one element more", "000000000000000000000000", vectorOf(cqlFloat, 2), []float32{}, ErrTrailing},
		{"vector of no elements with bytes", "00", vectorOf(cqlFloat, 0), []float32{}, ErrTrailing},
		{"vector of negative dimension", "", vectorOf(cqlFloat, -1), []float32{}, ErrDimension},
		{"vector in a vector of negative dimension", "", vectorOf(vectorOf(cqlFloat, -1), 1), [][]float32{}, ErrDimension},
		{"vector too large for a cell", "00000000", vectorOf(cqlFloat, math.MaxInt32), []float32{}, ErrRange},
		{"vector of texts too large for its cell", "00", vectorOf(cqlText, math.MaxInt32), []string{}, ErrMissing},
		{"vector of too many nothings", "", vectorOf(vectorOf(cqlFloat, 0), math.MaxInt32), [][]float32{}, ErrRange},
		{"vector of nothings in two levels", "", vectorOf(vectorOf(vectorOf(cqlFloat, 0), 8), 8), [][][]float32{}, ErrRange},
		{"vector of texts, length 2^63", "ff8000000000000000", vectorOf(cqlText, 1), []string{}, ErrMissing},
		{"vector of texts, length 2^64-1", "ffffffffffffffffff", vectorOf(cqlText, 1), []string{}, ErrMissing},
		{"vector of texts, cut length", "c0", vectorOf(cqlText, 1), []string{}, ErrMissing},
		{"vector of tinyints of two bytes", "020001", vectorOf(native(TypeTinyInt), 1), []int8{}, ErrTrailing},
		{"vector into a text", "00000000", vectorOf(cqlFloat, 1), "", ErrConversion},
		{"vector into another kind", "00000000", vectorOf(cqlFloat, 1), []float64{}, ErrConversion},
		{"unknown type", "00", NativeType(0x99), 1, ErrConversion},
	} {
		t.Run(row.name, func(t *testing.T) {
			cell := hexBytes(t, row.hex)
			typ := reflect.TypeOf(row.dst)
			decodings(row.info, cell, typ, func(_ any, err error) { require.ErrorIs(t, err, row.want) })
			err := Unmarshal(row.info, cell, reflect.New(typ).Interface())
			var e *UnmarshalError
			require.ErrorAs(t, err, &e)
			require.Equal(t, row.info, e.Type)
			require.Equal(t, "*"+typ.String(), e.GoType)
			require.Contains(t, err.Error(), e.GoType)
		})
	}
	var nilPointer *int
	for _, dst := range []any{nil, 1, nilPointer, "x", []int{1}, new(error)} {
		require.ErrorIs(t, Unmarshal(cqlInt, []byte{0, 0, 0, 1}, dst), ErrConversion, "%T", dst)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, row := range []struct {
		info TypeInfo
		v    any
		want string
	}{
		{intList, []any{1, "x"}, "element 1: "},
		{vectorOf(vectorOf(cqlFloat, 2), 2), [][]float32{{1, 2}, {1}}, "element 1: "},
		{NewMapType(cqlText, intList), map[string][]any{"k": {nil}}, "key k: element 0: "},
		{personType, map[string]any{"age": "x"}, `field "age": `},
	} {
		_, err := Marshal(row.info, row.v)
		require.ErrorContains(t, err, row.want)
		require.ErrorContains(t, err, row.info.String())
	}
	var rows []struct{ Age int8 }
	cell := hexBytes(t, "00000001"+"0000000c"+"ffffffff"+"00000004"+"00000100")
	err := Unmarshal(NewListType(personType), cell, &rows)
	require.ErrorIs(t, err, ErrRange)
	require.ErrorContains(t, err, `element 0: field "age": `)
}

func TestVectorNonMinimalLength(t *testing.T) {
	for _, length := range []string{"01", "8001", "c00001", "ff0000000000000001"} {
		decodings(vectorOf(cqlText, 1), hexBytes(t, length+"61"), reflect.TypeFor[[]string](), func(got any, err error) {
			require.NoError(t, err)
			require.Equal(t, []string{"a"}, got)
		})
	}
}

func TestVectorOfNothings(t *testing.T) {
	info := vectorOf(vectorOf(cqlFloat, 0), 3)
	for _, got := range encodings(t, info, [][]float32{{}, {}, {}}) {
		require.Equal(t, []byte{}, got)
	}
	decodings(info, []byte{}, reflect.TypeFor[[][]float32](), func(got any, err error) {
		require.NoError(t, err)
		require.Equal(t, [][]float32{{}, {}, {}}, got)
	})
}

// TestAppendMarshalOverlap: what stands before dst's end and behind its capacity is left alone.
func TestAppendMarshalOverlap(t *testing.T) {
	buf := make([]byte, 100)
	for i := range buf {
		buf[i] = 0xEE
	}
	a, err := AppendMarshal(buf[:2:50], vectorOf(cqlFloat, 2), []float32{1, 2})
	require.NoError(t, err)
	require.Equal(t, "eeee3f80000040000000", hex.EncodeToString(a))
	require.Equal(t, byte(0xEE), buf[50])
	out, err := AppendMarshal(buf[:2], cqlInt, nil)
	require.NoError(t, err)
	require.Nil(t, out)
	empty, err := Marshal(cqlText, "")
	require.NoError(t, err)
	require.NotNil(t, empty)
}

// TestGoTypes: what *any and MapScan get, and which maps have no Go type.
func TestGoTypes(t *testing.T) {
	for _, row := range []struct {
		info TypeInfo
		want reflect.Type
	}{
		{NewMapType(native(TypeInet), cqlInt), reflect.TypeFor[map[string]int]()},
		{NewMapType(native(TypeVarint), cqlInt), reflect.TypeFor[map[string]int]()},
		{NewMapType(CustomType{"X"}, cqlInt), reflect.TypeFor[map[string]int]()},
		{NewMapType(native(TypeUUID), intList), reflect.TypeFor[map[UUID][]int]()},
		{NewMapType(native(TypeDecimal), cqlInt), nil},
		{NewMapType(intList, cqlInt), nil},
		{NewMapType(vectorOf(cqlFloat, 2), cqlInt), nil},
		{NewListType(NewMapType(pairTuple, cqlInt)), nil},
		{NativeType(0x99), nil},
		{vectorOf(vectorOf(cqlFloat, 2), 2), reflect.TypeFor[[][]float32]()},
	} {
		require.Equal(t, row.want, defaultGoType(row.info), "%v", row.info)
		dest := zeroDest(row.info)
		if row.want == nil {
			require.IsType(t, new(any), dest)
			require.ErrorIs(t, Unmarshal(row.info, []byte{}, dest), ErrConversion)
		}
	}
}

// TestUnmarshalLyingCellsAllocateLittle: what a cell claims is checked before it is paid for.
func TestUnmarshalLyingCellsAllocateLittle(t *testing.T) {
	count := wire.AppendInt(nil, math.MaxInt32)
	for _, info := range []TypeInfo{
		intList, textSet, textToInt, NewListType(vectorOf(cqlFloat, 0)), vectorOf(cqlFloat, 1<<28), vectorOf(cqlText, math.MaxInt32),
		vectorOf(vectorOf(cqlFloat, 0), math.MaxInt32), vectorOf(vectorOf(cqlText, 0), math.MaxInt32), NewListType(vectorOf(vectorOf(cqlFloat, 0), 1<<16)),
	} {
		for _, cell := range [][]byte{count, {}, {0, 0, 0, 1, 0, 0, 0, 0}} {
			got := allocated(func() {
				var v any
				_ = Unmarshal(info, cell, &v)
			})
			require.Less(t, got, uint64(64<<10), "%v", info)
		}
	}
}

func TestMapWithNaNKey(t *testing.T) {
	m := map[float64]int{math.NaN(): 7}
	info := NewMapType(NativeType(TypeDouble), NativeType(TypeInt))
	b, err := Marshal(info, m)
	require.NoError(t, err)
	want := append([]byte{0, 0, 0, 1, 0, 0, 0, 8}, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7)
	require.Equal(t, want, b)
	ref, err := reflectEncode(nil, info, m)
	require.NoError(t, err)
	require.Equal(t, append([]byte{0, 0, 0, 24}, want...), ref)
	var got map[float64]int
	require.NoError(t, Unmarshal(info, b, &got))
	require.Len(t, got, 1)
}

// TestListOfUnevenElements: as many bytes as elements of the right size would have, but not in elements of that size.
func TestListOfUnevenElements(t *testing.T) {
	for _, m := range []struct {
		elem Type
		size int
		dst  func() any
	}{
		{TypeInt, 4, func() any { return new([]int32) }},
		{TypeFloat, 4, func() any { return new([]float32) }},
		{TypeBigInt, 8, func() any { return new([]int64) }},
		{TypeDouble, 8, func() any { return new([]float64) }},
		{TypeUUID, 16, func() any { return new([]UUID) }},
	} {
		for _, first := range []int32{0, -1} {
			info := NewListType(NativeType(m.elem))
			cell := wire.AppendInt(wire.AppendInt(nil, 2), first)
			cell = append(wire.AppendInt(cell, int32(2*m.size)), make([]byte, 2*m.size)...)
			want := reflectDecode(info, cell, m.dst())
			require.Error(t, want)
			ref := errors.Is(want, ErrMissing)
			for name, err := range map[string]error{
				"Unmarshal": Unmarshal(info, cell, m.dst()),
				"plan":      fastDecode(info, reflect.TypeOf(m.dst()))(info, cell, m.dst()),
			} {
				require.Error(t, err, "%s %v", name, info)
				require.Equal(t, ref, errors.Is(err, ErrMissing), "%s %v: %v, reference: %v", name, info, err, want)
				require.Equal(t, errors.Is(want, ErrTrailing), errors.Is(err, ErrTrailing), "%s %v: %v, reference: %v", name, info, err, want)
			}
			fine := append(wire.AppendInt(wire.AppendInt(nil, 2), -1), wire.AppendInt(nil, int32(m.size))...)
			fine = append(fine, make([]byte, m.size)...)
			got := m.dst()
			require.NoError(t, Unmarshal(info, fine, got), "NULL is zero")
			require.Equal(t, 2, reflect.ValueOf(got).Elem().Len())
		}
	}
}

// TestRememberedPlans: more pairs than are kept, and types that can't be compared.
func TestRememberedPlans(t *testing.T) {
	before := remembered.n.Load()
	t.Cleanup(func() { remembered.n.Store(before) })
	for _, full := range []bool{false, true} {
		if full {
			remembered.n.Store(maxRemembered)
		}
		for n := range 20 {
			info := VectorType{NewListType(NativeType(TypeInt)), n + 1}
			v := make([][]int32, n+1)
			for i := range v {
				v[i] = []int32{int32(i)}
			}
			b, err := Marshal(info, v)
			require.NoError(t, err)
			var got [][]int32
			require.NoError(t, Unmarshal(info, b, &got))
			require.Equal(t, v, got)
		}
	}
	list := NewListType(UDTTypeInfo{Name: "u", Elements: []UDTField{{"a", NativeType(TypeInt)}}})
	b, err := Marshal(list, []map[string]int{{"a": 1}})
	require.NoError(t, err)
	var got []struct{ A int }
	require.NoError(t, Unmarshal(list, b, &got))
	require.Equal(t, 1, got[0].A)
}

func TestIterManyDestinationTypes(t *testing.T) {
	cols, cells := pageOf(t, 40, []TypeInfo{NativeType(TypeBigInt)}, []any{int64(7)})
	plan := newResultPlan(nil, knownColumns{columns: cols})
	it := iterOver(plan, 40, cells)
	for range 4 {
		for _, dest := range []any{new(int), new(int8), new(int16), new(int32), new(int64), new(uint), new(uint8), new(*int), new(any)} {
			require.True(t, it.Scan(dest), "%T %v", dest, it.err)
			v := reflect.ValueOf(dest).Elem()
			for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
				v = v.Elem()
			}
			require.Equal(t, "7", fmt.Sprint(v))
		}
	}
	require.NoError(t, it.Close())
	n := 0
	for p := plan.decoders[0].Load(); p != nil; p = p.next {
		n++
	}
	require.Equal(t, maxDecoders, n)
}
