// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"database/sql"
	"encoding/hex"
	"errors"
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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of the rules for all types: NULL, rejected values and their errors, and cells with wrong lengths.

var (
	cqlInt     = native(cql.TypeInt)
	cqlText    = native(cql.TypeVarchar)
	cqlFloat   = native(cql.TypeFloat)
	intList    = cql.NewListType(cqlInt)
	textSet    = cql.NewSetType(cqlText)
	textToInt  = cql.NewMapType(cqlText, cqlInt)
	pairTuple  = cql.TupleTypeInfo{Elems: []cql.TypeInfo{cqlInt, cqlText}}
	personType = cql.UDTTypeInfo{Keyspace: "ks", Name: "person", Elements: []cql.UDTField{{Name: "name", Type: cqlText}, {Name: "age", Type: cqlInt}, {Name: "vec", Type: vectorOf(cqlFloat, 2)}}}
	everyType  = []cql.TypeInfo{
		native(cql.TypeAscii), native(cql.TypeBigInt), native(cql.TypeBlob), native(cql.TypeBoolean), native(cql.TypeCounter), native(cql.TypeDecimal),
		native(cql.TypeDouble), cqlFloat, cqlInt, cqlText, native(cql.TypeTimestamp), native(cql.TypeUUID), native(cql.TypeVarint), native(cql.TypeTimeUUID),
		native(cql.TypeInet), native(cql.TypeDate), native(cql.TypeTime), native(cql.TypeSmallInt), native(cql.TypeTinyInt), native(cql.TypeDuration),
		intList, textSet, textToInt, pairTuple, personType, vectorOf(cqlFloat, 3), vectorOf(cqlText, 3),
		cql.CustomType{Class: "X"},
	}
)

func TestMarshalNull(t *testing.T) {
	var nilMap map[string]int
	for _, info := range everyType {
		for _, v := range []any{
			nil, (*int)(nil), (*string)(nil), (**int)(nil), pointerTo((*int)(nil)), (*[]float32)(nil),
			cql.Null[string]{},
			&cql.Null[int]{}, (*cql.Null[int])(nil),
			cql.Null[any]{Valid: true},
			sql.NullString{String: "x"},
			sql.NullInt64{},
			sql.Null[cql.UUID]{},
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
		info cql.TypeInfo
		v    any
	}{
		{native(cql.TypeBlob), []byte(nil)},
		{cqlText, myBytes(nil)},
		{native(cql.TypeUUID), []byte(nil)},
		{native(cql.TypeInet), net.IP(nil)},
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
			cql.UUID{1},
			time.Now(), time.Second,
			cql.Duration{Months: 1, Days: 1, Nanoseconds: 1},
			*big.NewInt(1), *inf.NewDec(1, 1),
			[]int{1},
			[2]int{1, 2},
			map[string]int{"a": 1},
			net.IP{1, 2, 3, 4},
			netip.MustParseAddr("::1"), pointerTo(1), pointerTo("x"), cql.NullOf(1), cql.NullOf("x"),
			sql.NullString{String: "x", Valid: true},
			sql.Null[int]{V: 1, Valid: true},
			person{FullName: "x"},
			big.NewInt(1),
		} {
			typ := reflect.TypeOf(full)
			for _, decode := range []Decoder{Unmarshal, DecoderOf(info, reflect.PointerTo(typ)), ReferenceDecode} {
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
	var a cql.Null[int]
	var b sql.NullInt32
	var c sql.Null[int64]
	var d **int
	var e cql.Null[*int]
	var f *cql.Null[any]
	for _, dst := range []any{&a, &b, &c, &d, &e, &f} {
		require.NoError(t, Unmarshal(cqlInt, cell, dst))
	}
	require.Equal(t, cql.NullOf(7), a)
	require.Equal(t, sql.NullInt32{Int32: 7, Valid: true}, b)
	require.Equal(t, sql.Null[int64]{V: 7, Valid: true}, c)
	require.Equal(t, 7, **d)
	require.Equal(t, 7, *e.V)
	require.Equal(t, cql.NullOf[any](7), *f)
	held := *d
	require.NoError(t, Unmarshal(cqlInt, []byte{0, 0, 0, 8}, &d))
	require.Equal(t, 7, *held, "a pointer kept by the caller is unchanged")
	require.Equal(t, 8, **d)
	require.Error(t, Unmarshal(cqlInt, []byte{1}, &a))
}

// TestUnmarshalLeavesOldMemory requires that a slice from an earlier row is not overwritten.
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
	cell, err := appendCell(nil, cqlInt, cql.UnsetValue)
	require.NoError(t, err)
	require.Equal(t, "fffffffe", hex.EncodeToString(cell))
	for _, row := range []struct {
		info cql.TypeInfo
		v    any
	}{
		{intList, []any{cql.UnsetValue}},
		{textToInt, map[string]any{"a": cql.UnsetValue}},
		{pairTuple, []any{1, cql.UnsetValue}},
		{personType, map[string]any{"name": cql.UnsetValue}},
		{vectorOf(cqlFloat, 1), []any{cql.UnsetValue}},
		{vectorOf(cqlText, 1), []any{cql.UnsetValue}},
	} {
		_, err := appendCell(nil, row.info, row.v)
		require.ErrorIs(t, err, cql.ErrUnset, "%v", row.info)
	}
	dst := []byte("head")
	out, null, err := AppendMarshal(dst, cqlInt, cql.UnsetValue)
	require.ErrorIs(t, err, cql.ErrUnset)
	require.False(t, null)
	require.Equal(t, dst, out)
}

// TestAppendMarshalNull requires that NULL leaves the buffer unchanged, for every kind of NULL.
func TestAppendMarshalNull(t *testing.T) {
	for _, row := range []struct {
		info cql.TypeInfo
		v    any
	}{
		{cqlInt, nil},
		{cqlInt, (*int)(nil)},
		{cqlInt, cql.Null[int]{}},
		{cqlText, []byte(nil)},
		{cqlText, selfCoded{null: true}},
		{vectorOf(cqlFloat, 2), []float32(nil)},
		{vectorOf(cqlText, 2), []string(nil)},
		{cql.NewListType(cqlInt), []int32(nil)},
		{personType, (*person)(nil)},
	} {
		dst := append(make([]byte, 0, 64), "head"...)
		out, null, err := AppendMarshal(dst, row.info, row.v)
		require.NoError(t, err, "%v, %T", row.info, row.v)
		require.True(t, null, "%v, %T", row.info, row.v)
		require.Equal(t, "head", string(out))
		require.Same(t, &dst[0], &out[0])
		require.Equal(t, cap(dst), cap(out))
		out, null, err = AppendMarshal(nil, row.info, row.v)
		require.NoError(t, err)
		require.True(t, null)
		require.Nil(t, out)
	}
	for info, v := range map[cql.TypeInfo]any{cqlText: "", vectorOf(cqlFloat, 0): []float32{}} { // empty is not NULL
		out, null, err := AppendMarshal(nil, info, v)
		require.NoError(t, err)
		require.False(t, null)
		require.NotNil(t, out)
		require.Empty(t, out)
	}
}

func TestMarshalRefuses(t *testing.T) {
	month := cql.Duration{Months: 1, Days: -1}
	cycle := any(nil)
	cycle = &cycle
	for _, row := range []struct {
		name string
		info cql.TypeInfo
		v    any
		want error
	}{
		{"tinyint above", native(cql.TypeTinyInt), 128, cql.ErrRange},
		{"tinyint below", native(cql.TypeTinyInt), "-129", cql.ErrRange},
		{"tinyint unsigned", native(cql.TypeTinyInt), uint8(128), cql.ErrRange},
		{"smallint above", native(cql.TypeSmallInt), 32768, cql.ErrRange},
		{"int above", cqlInt, uint32(1 << 31), cql.ErrRange},
		{"int below", cqlInt, int64(math.MinInt32 - 1), cql.ErrRange},
		{"bigint above", native(cql.TypeBigInt), uint64(1 << 63), cql.ErrRange},
		{"bigint below", native(cql.TypeBigInt), new(big.Int).Sub(big.NewInt(math.MinInt64), big.NewInt(1)), cql.ErrRange},
		{"int of an empty text", cqlInt, "", cql.ErrConversion},
		{"int of hexadecimal digits", cqlInt, "0x10", cql.ErrConversion},
		{"int of a float", cqlInt, 1.0, cql.ErrConversion},
		{"int of a bool", cqlInt, true, cql.ErrConversion},
		{"float of a float64", cqlFloat, 1.0, cql.ErrConversion},
		{"double of a float32", native(cql.TypeDouble), float32(1), cql.ErrConversion},
		{"boolean of an int", native(cql.TypeBoolean), 1, cql.ErrConversion},
		{"text of an int", cqlText, 1, cql.ErrConversion},
		{"text of a UUID", cqlText, cql.UUID{}, cql.ErrConversion},
		{"uuid of 15 bytes", native(cql.TypeUUID), make([]byte, 15), cql.ErrConversion},
		{"uuid of zero bytes", native(cql.TypeUUID), []byte{}, cql.ErrConversion},
		{"uuid of a wrong text", native(cql.TypeUUID), "x", cql.ErrConversion},
		{"timeuuid of a time", native(cql.TypeTimeUUID), time.Now(), cql.ErrConversion},
		{"inet of 5 bytes", native(cql.TypeInet), net.IP{1, 2, 3, 4, 5}, cql.ErrConversion},
		{"inet of the zero address", native(cql.TypeInet), netip.Addr{}, cql.ErrConversion},
		{"inet with a zone", native(cql.TypeInet), "fe80::1%eth0", cql.ErrConversion},
		{"inet of a name", native(cql.TypeInet), "localhost", cql.ErrConversion},
		{"date above", native(cql.TypeDate), time.Date(5881580, 7, 12, 0, 0, 0, 0, time.UTC), cql.ErrRange},
		{"date below", native(cql.TypeDate), time.Date(-5877641, 6, 22, 23, 0, 0, 0, time.UTC), cql.ErrRange},
		{"date of milliseconds at the end of a day", native(cql.TypeDate), int64(86399999), cql.ErrRange},
		{"date of milliseconds before 1970", native(cql.TypeDate), int64(-1), cql.ErrRange},
		{"date of the greatest milliseconds", native(cql.TypeDate), int64(math.MaxInt64), cql.ErrRange},
		{"date of a pointer to milliseconds", native(cql.TypeDate), pointerTo(int64(1)), cql.ErrRange},
		{"dates of milliseconds", cql.NewListType(native(cql.TypeDate)), []int64{0, 1}, cql.ErrRange},
		{"dates of milliseconds in a vector", cql.VectorType{SubType: native(cql.TypeDate), Dimensions: 1}, []int64{-1}, cql.ErrRange},
		{"date of a time.Duration", native(cql.TypeDate), time.Second, cql.ErrConversion},
		{"date of a wrong text", native(cql.TypeDate), "2024-02-30", cql.ErrConversion},
		{"time negative", native(cql.TypeTime), -time.Nanosecond, cql.ErrRange},
		{"time of a whole day", native(cql.TypeTime), 24 * time.Hour, cql.ErrRange},
		{"timestamp above", native(cql.TypeTimestamp), time.UnixMilli(math.MaxInt64).Add(time.Millisecond), cql.ErrRange},
		{"timestamp far above", native(cql.TypeTimestamp), time.Unix(math.MaxInt64/2, 0), cql.ErrRange},
		{"timestamp below", native(cql.TypeTimestamp), time.UnixMilli(math.MinInt64).Add(-time.Nanosecond), cql.ErrRange},
		{"timestamp of a time.Duration", native(cql.TypeTimestamp), time.Second, cql.ErrConversion},
		{"duration of mixed signs", native(cql.TypeDuration), month, cql.ErrRange},
		{"duration of too many months", native(cql.TypeDuration), "200000000y", cql.ErrRange},
		{"duration without a unit", native(cql.TypeDuration), "1y2", cql.ErrConversion},
		{"duration of an empty text", native(cql.TypeDuration), "", cql.ErrConversion},
		{"list of a map", intList, map[int]struct{}{1: {}}, cql.ErrConversion},
		{"list of an int", intList, 1, cql.ErrConversion},
		{"list with NULL", intList, []*int{nil}, cql.ErrNull},
		{"list with a nil any", intList, []any{1, nil}, cql.ErrNull},
		{"set with NULL", textSet, []cql.Null[string]{{}}, cql.ErrNull},
		{"set of a map with values", textSet, map[string]bool{"a": true}, cql.ErrConversion},
		{"map of a slice", textToInt, []int{1}, cql.ErrConversion},
		{"map with NULL as value", textToInt, map[string]*int{"a": nil}, cql.ErrNull},
		{"map with NULL as key", textToInt, map[any]int{nil: 1}, cql.ErrNull},
		{"map with a wrong value", textToInt, map[string]int64{"a": 1 << 40}, cql.ErrRange},
		{"tuple too short", pairTuple, []any{1}, cql.ErrDimension},
		{"tuple too long", pairTuple, []any{1, "a", 2}, cql.ErrDimension},
		{"tuple of a struct too short", pairTuple, struct{ A int }{1}, cql.ErrDimension},
		{"tuple of a map", pairTuple, map[string]any{}, cql.ErrConversion},
		{"UDT of a struct without its fields", personType, time.Now(), cql.ErrConversion},
		{"UDT of a map with another field", personType, map[string]any{"name": "x", "nam": "x"}, cql.ErrConversion},
		{"UDT of a slice", personType, []any{"x"}, cql.ErrConversion},
		{"UDT with a wrong field", personType, map[string]any{"age": "x"}, cql.ErrConversion},
		{"vector too short", vectorOf(cqlFloat, 3), []float32{1, 2}, cql.ErrDimension},
		{"vector too long", vectorOf(cqlFloat, 3), []float32{1, 2, 3, 4}, cql.ErrDimension},
		{"vector empty", vectorOf(cqlFloat, 3), []float32{}, cql.ErrDimension},
		{"vector of an array too long", vectorOf(cqlFloat, 3), [4]float32{}, cql.ErrDimension},
		{"vector of zero elements from one", vectorOf(cqlFloat, 0), []float32{1}, cql.ErrDimension},
		{"vector of texts too short", vectorOf(cqlText, 3), []string{"a"}, cql.ErrDimension},
		{"vector of negative dimension", vectorOf(cqlFloat, -1), []float32{}, cql.ErrDimension},
		{"vector with NULL", vectorOf(cqlFloat, 1), []*float32{nil}, cql.ErrNull},
		{"vector of texts with NULL", vectorOf(cqlText, 1), []*string{nil}, cql.ErrNull},
		{"vector of lists with NULL", vectorOf(intList, 1), [][]int{nil}, cql.ErrNull},
		{"vector of another kind", vectorOf(cqlFloat, 1), []int32{1}, cql.ErrConversion},
		{"list of a wider kind", cql.NewListType(cqlFloat), []float64{1}, cql.ErrConversion},
		{"coordinate beyond the floats", vectorOf(cqlFloat, 2), []float64{1, 3.4028236e38}, cql.ErrRange},
		{"coordinate below the floats", vectorOf(cqlFloat, 1), [1]float64{-1e39}, cql.ErrRange},
		{"coordinate beyond the floats in an any", vectorOf(cqlFloat, 1), []any{1e39}, cql.ErrRange},
		{"vector of a text", vectorOf(cqlFloat, 1), "a", cql.ErrConversion},
		{"vector too large for a cell", vectorOf(vectorOf(cqlFloat, math.MaxInt32), 1), [1][]float32{{1}}, cql.ErrDimension},
		{"vector of elements of another size", vectorOf(cqlFloat, 1), []selfCoded{{content: []byte{1}}}, cql.ErrRange},
		{"channel", cqlInt, make(chan int), cql.ErrConversion},
		{"uintptr", cqlInt, uintptr(1), cql.ErrConversion},
		{"pointer to itself", cqlInt, cycle, cql.ErrConversion},
		{"unknown type", cql.NativeType(0x99), 1, cql.ErrConversion},
		{"no type", nil, 1, cql.ErrConversion},
	} {
		t.Run(row.name, func(t *testing.T) {
			dst := []byte("head")
			out, null, err := AppendMarshal(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
			require.False(t, null)
			require.Equal(t, dst, out)
			var e *cql.MarshalError
			require.ErrorAs(t, err, &e)
			require.Equal(t, row.info, e.Type)
			require.Equal(t, reflect.TypeOf(row.v).String(), e.GoType)
			require.Contains(t, err.Error(), e.GoType)
			_, err = ReferenceEncode(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
			_, err = EncoderOf(row.info, reflect.TypeOf(row.v))(dst, row.info, row.v)
			require.ErrorIs(t, err, row.want)
		})
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	for _, row := range []struct {
		name, hex string
		info      cql.TypeInfo
		dst       any // a value of the destination's type
		want      error
	}{
		{"int into int8", "00000080", cqlInt, int8(0), cql.ErrRange},
		{"int into uint8", "00000100", cqlInt, uint8(0), cql.ErrRange},
		{"negative into uint", "ffffffff", cqlInt, uint(0), cql.ErrRange},
		{"negative into uint64", "ffffffffffffffff", native(cql.TypeBigInt), uint64(0), cql.ErrRange},
		{"varint into int64", "008000000000000000", native(cql.TypeVarint), int64(0), cql.ErrRange},
		{"int into float64", "00000001", cqlInt, 1.5, cql.ErrConversion},
		{"int into bool", "00000001", cqlInt, true, cql.ErrConversion},
		{"int into []byte", "00000001", cqlInt, []byte{}, cql.ErrConversion},
		{"float into float64", "3f800000", cqlFloat, 1.5, cql.ErrConversion},
		{"double into float32", "3ff0000000000000", native(cql.TypeDouble), float32(1), cql.ErrConversion},
		{"text into int", "31", cqlText, 1, cql.ErrConversion},
		{"decimal of a scale only", "00000000", native(cql.TypeDecimal), inf.Dec{}, cql.ErrMissing},
		{"uuid into time", "c232ab00941411ecb3c89f6bdeced846", native(cql.TypeUUID), time.Time{}, cql.ErrConversion},
		{"timeuuid without a time", "c232ab00941441ecb3c89f6bdeced846", native(cql.TypeTimeUUID), time.Time{}, cql.ErrRange},
		{"inet of 17 bytes", strings.Repeat("00", 17), native(cql.TypeInet), "", cql.ErrTrailing},
		{"time negative", "ffffffffffffffff", native(cql.TypeTime), time.Second, cql.ErrRange},
		{"time of a whole day", "00004e94914f0000", native(cql.TypeTime), int64(0), cql.ErrRange},
		{"duration of days into time.Duration", "000200", native(cql.TypeDuration), time.Second, cql.ErrRange},
		{"duration of too many months", "f100000000" + "0000", native(cql.TypeDuration), cql.Duration{}, cql.ErrRange},
		{"duration of mixed signs", "020300", native(cql.TypeDuration), cql.Duration{}, cql.ErrRange},
		{"list empty cell", "", intList, []int{}, cql.ErrMissing},
		{"list of negative count", "ffffffff", intList, []int{}, cql.ErrMissing},
		{"list with a wrong count", "7fffffff0000000400000001", intList, []int{}, cql.ErrMissing},
		{"list with a wrong element length", "000000017fffffff00000001", intList, []int{}, cql.ErrMissing},
		{"list of a wrong element", "00000001000000020001", intList, []int{}, cql.ErrMissing},
		{"list into a map", "00000000", intList, map[int]struct{}{}, cql.ErrConversion},
		{"list into another array", "00000000", intList, [1]int{}, cql.ErrDimension},
		{"map with a wrong count", "7fffffff", textToInt, map[string]int{}, cql.ErrMissing},
		{"map into a slice", "00000000", textToInt, []int{}, cql.ErrConversion},
		{"map with keys that are not comparable", "000000010000000161" + "0000000400000001", cql.NewMapType(native(cql.TypeBlob), cqlInt), map[any]int{}, cql.ErrConversion},
		{"set with keys that are not comparable", "000000010000000161", cql.NewSetType(native(cql.TypeBlob)), map[any]struct{}{}, cql.ErrConversion},
		{"tuple into another array", "", pairTuple, [3]any{}, cql.ErrDimension},
		{"tuple into another struct", "", pairTuple, struct{ A int }{}, cql.ErrDimension},
		{"tuple with a wrong length", "00000005000000", pairTuple, []any{}, cql.ErrMissing},
		{"tuple of three", "ffffffffffffffffffffffff", pairTuple, []any{}, cql.ErrTrailing},
		{"UDT of four", "ffffffffffffffffffffffffffffffff", personType, map[string]any{}, cql.ErrTrailing},
		{"UDT into a struct without its fields", "ffffffff", personType, time.Time{}, cql.ErrConversion},
		{"UDT into a slice", "", personType, []any{}, cql.ErrConversion},
		{"vector into a longer array", "0000000000000000", vectorOf(cqlFloat, 2), [3]float32{}, cql.ErrDimension},
		{"vector into a shorter array", "0000000000000000", vectorOf(cqlFloat, 2), [1]float32{}, cql.ErrDimension},
		{"vector of texts into another array", "0000", vectorOf(cqlText, 2), [3]string{}, cql.ErrDimension},
		{"vector empty cell", "", vectorOf(cqlFloat, 2), []float32{}, cql.ErrMissing},
		{"vector of one element less", "00000000", vectorOf(cqlFloat, 2), []float32{}, cql.ErrMissing},
		{"vector of one element more", "000000000000000000000000", vectorOf(cqlFloat, 2), []float32{}, cql.ErrTrailing},
		{"vector of zero elements with bytes", "00", vectorOf(cqlFloat, 0), []float32{}, cql.ErrTrailing},
		{"vector of negative dimension", "", vectorOf(cqlFloat, -1), []float32{}, cql.ErrDimension},
		{"vector in a vector of negative dimension", "", vectorOf(vectorOf(cqlFloat, -1), 1), [][]float32{}, cql.ErrDimension},
		{"vector too large for a cell", "00000000", vectorOf(cqlFloat, math.MaxInt32), []float32{}, cql.ErrRange},
		{"vector of texts too large for its cell", "00", vectorOf(cqlText, math.MaxInt32), []string{}, cql.ErrMissing},
		{"vector of too many empty elements", "", vectorOf(vectorOf(cqlFloat, 0), math.MaxInt32), [][]float32{}, cql.ErrRange},
		{"vector of empty elements in two levels", "", vectorOf(vectorOf(vectorOf(cqlFloat, 0), 8), 8), [][][]float32{}, cql.ErrRange},
		{"vector of texts, length 2^63", "ff8000000000000000", vectorOf(cqlText, 1), []string{}, cql.ErrMissing},
		{"vector of texts, length 2^64-1", "ffffffffffffffffff", vectorOf(cqlText, 1), []string{}, cql.ErrMissing},
		{"vector of texts, cut length", "c0", vectorOf(cqlText, 1), []string{}, cql.ErrMissing},
		{"vector of tinyints of two bytes", "020001", vectorOf(native(cql.TypeTinyInt), 1), []int8{}, cql.ErrTrailing},
		{"vector into a text", "00000000", vectorOf(cqlFloat, 1), "", cql.ErrConversion},
		{"vector into another kind", "00000000", vectorOf(cqlFloat, 1), []int32{}, cql.ErrConversion},
		{"vector into a narrower kind", "0000000000000000", vectorOf(native(cql.TypeDouble), 1), []float32{}, cql.ErrConversion},
		{"unknown type", "00", cql.NativeType(0x99), 1, cql.ErrConversion},
	} {
		t.Run(row.name, func(t *testing.T) {
			cell := hexBytes(t, row.hex)
			typ := reflect.TypeOf(row.dst)
			decodings(row.info, cell, typ, func(_ any, err error) { require.ErrorIs(t, err, row.want) })
			err := Unmarshal(row.info, cell, reflect.New(typ).Interface())
			var e *cql.UnmarshalError
			require.ErrorAs(t, err, &e)
			require.Equal(t, row.info, e.Type)
			require.Equal(t, "*"+typ.String(), e.GoType)
			require.Contains(t, err.Error(), e.GoType)
		})
	}
	var nilPointer *int
	for _, dst := range []any{nil, 1, nilPointer, "x", []int{1}, new(error)} {
		require.ErrorIs(t, Unmarshal(cqlInt, []byte{0, 0, 0, 1}, dst), cql.ErrConversion, "%T", dst)
	}
}

func TestErrorsSayWhere(t *testing.T) {
	for _, row := range []struct {
		info cql.TypeInfo
		v    any
		want string
	}{
		{intList, []any{1, "x"}, "element 1: "},
		{vectorOf(vectorOf(cqlFloat, 2), 2), [][]float32{{1, 2}, {1}}, "element 1: "},
		{cql.NewMapType(cqlText, intList), map[string][]any{"k": {nil}}, "key k: element 0: "},
		{personType, map[string]any{"age": "x"}, `field "age": `},
	} {
		_, err := Marshal(row.info, row.v)
		require.ErrorContains(t, err, row.want)
		require.ErrorContains(t, err, row.info.String())
	}
	var rows []struct{ Age int8 }
	cell := hexBytes(t, "00000001"+"0000000c"+"ffffffff"+"00000004"+"00000100")
	err := Unmarshal(cql.NewListType(personType), cell, &rows)
	require.ErrorIs(t, err, cql.ErrRange)
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

// TestAppendMarshalOverlap requires that bytes before dst's end and beyond its capacity are not modified.
func TestAppendMarshalOverlap(t *testing.T) {
	buf := make([]byte, 100)
	for i := range buf {
		buf[i] = 0xEE
	}
	a, _, err := AppendMarshal(buf[:2:50], vectorOf(cqlFloat, 2), []float32{1, 2})
	require.NoError(t, err)
	require.Equal(t, "eeee3f80000040000000", hex.EncodeToString(a))
	require.Equal(t, byte(0xEE), buf[50])
	empty, err := Marshal(cqlText, "")
	require.NoError(t, err)
	require.NotNil(t, empty)
}

// TestGoTypes tests the Go types for *any and MapScan, and the maps without a Go type.
func TestGoTypes(t *testing.T) {
	for _, row := range []struct {
		info cql.TypeInfo
		want reflect.Type
	}{
		{cql.NewMapType(native(cql.TypeInet), cqlInt), reflect.TypeFor[map[string]int]()},
		{cql.NewMapType(native(cql.TypeVarint), cqlInt), reflect.TypeFor[map[string]int]()},
		{cql.NewMapType(cql.CustomType{Class: "X"}, cqlInt), reflect.TypeFor[map[string]int]()},
		{cql.NewMapType(native(cql.TypeUUID), intList), reflect.TypeFor[map[cql.UUID][]int]()},
		{cql.NewMapType(native(cql.TypeDecimal), cqlInt), nil},
		{cql.NewMapType(intList, cqlInt), nil},
		{cql.NewMapType(vectorOf(cqlFloat, 2), cqlInt), nil},
		{cql.NewListType(cql.NewMapType(pairTuple, cqlInt)), nil},
		{cql.NativeType(0x99), nil},
		{vectorOf(vectorOf(cqlFloat, 2), 2), reflect.TypeFor[[][]float32]()},
	} {
		require.Equal(t, row.want, DefaultGoType(row.info), "%v", row.info)
		dest := NewDefault(row.info)
		if row.want == nil {
			require.IsType(t, new(any), dest)
			require.ErrorIs(t, Unmarshal(row.info, []byte{}, dest), cql.ErrConversion)
		}
	}
}

// TestUnmarshalLyingCellsAllocateLittle requires that wrong lengths and counts are detected before memory is allocated
// for them.
func TestUnmarshalLyingCellsAllocateLittle(t *testing.T) {
	count := wire.AppendInt(nil, math.MaxInt32)
	for _, info := range []cql.TypeInfo{
		intList, textSet, textToInt, cql.NewListType(vectorOf(cqlFloat, 0)), vectorOf(cqlFloat, 1<<28), vectorOf(cqlText, math.MaxInt32),
		vectorOf(vectorOf(cqlFloat, 0), math.MaxInt32), vectorOf(vectorOf(cqlText, 0), math.MaxInt32), cql.NewListType(vectorOf(vectorOf(cqlFloat, 0), 1<<16)),
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
	info := cql.NewMapType(cql.NativeType(cql.TypeDouble), cql.NativeType(cql.TypeInt))
	b, err := Marshal(info, m)
	require.NoError(t, err)
	want := append([]byte{0, 0, 0, 1, 0, 0, 0, 8}, 0x7F, 0xF8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7)
	require.Equal(t, want, b)
	ref, err := ReferenceEncode(nil, info, m)
	require.NoError(t, err)
	require.Equal(t, append([]byte{0, 0, 0, 24}, want...), ref)
	var got map[float64]int
	require.NoError(t, Unmarshal(info, b, &got))
	require.Len(t, got, 1)
}

// TestListOfUnevenElements decodes a list with the total size of equal elements, whose elements differ in size.
func TestListOfUnevenElements(t *testing.T) {
	for _, m := range []struct {
		elem cql.Type
		size int
		dst  func() any
	}{
		{cql.TypeInt, 4, func() any { return new([]int32) }},
		{cql.TypeFloat, 4, func() any { return new([]float32) }},
		{cql.TypeBigInt, 8, func() any { return new([]int64) }},
		{cql.TypeDouble, 8, func() any { return new([]float64) }},
		{cql.TypeUUID, 16, func() any { return new([]cql.UUID) }},
	} {
		for _, first := range []int32{0, -1} {
			info := cql.NewListType(cql.NativeType(m.elem))
			cell := wire.AppendInt(wire.AppendInt(nil, 2), first)
			cell = append(wire.AppendInt(cell, int32(2*m.size)), make([]byte, 2*m.size)...)
			want := ReferenceDecode(info, cell, m.dst())
			require.Error(t, want)
			ref := errors.Is(want, cql.ErrMissing)
			for name, err := range map[string]error{
				"Unmarshal": Unmarshal(info, cell, m.dst()),
				"plan":      planDecoder(info, reflect.TypeOf(m.dst()))(info, cell, m.dst()),
			} {
				require.Error(t, err, "%s %v", name, info)
				require.Equal(t, ref, errors.Is(err, cql.ErrMissing), "%s %v: %v, reference: %v", name, info, err, want)
				require.Equal(t, errors.Is(want, cql.ErrTrailing), errors.Is(err, cql.ErrTrailing), "%s %v: %v, reference: %v", name, info, err, want)
			}
			fine := append(wire.AppendInt(wire.AppendInt(nil, 2), -1), wire.AppendInt(nil, int32(m.size))...)
			fine = append(fine, make([]byte, m.size)...)
			got := m.dst()
			require.NoError(t, Unmarshal(info, fine, got), "NULL is zero")
			require.Equal(t, 2, reflect.ValueOf(got).Elem().Len())
		}
	}
}

// TestRememberedPlans uses more pairs than the cache holds, and types that are not comparable.
func TestRememberedPlans(t *testing.T) {
	before := remembered.n.Load()
	t.Cleanup(func() { remembered.n.Store(before) })
	for _, full := range []bool{false, true} {
		if full {
			remembered.n.Store(maxRemembered)
		}
		for n := range 20 {
			info := cql.VectorType{SubType: cql.NewListType(cql.NativeType(cql.TypeInt)), Dimensions: n + 1}
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
	list := cql.NewListType(cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "a", Type: cql.NativeType(cql.TypeInt)}}})
	b, err := Marshal(list, []map[string]int{{"a": 1}})
	require.NoError(t, err)
	var got []struct{ A int }
	require.NoError(t, Unmarshal(list, b, &got))
	require.Equal(t, 1, got[0].A)
}
