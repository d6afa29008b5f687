// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"math/big"
	"net"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"gopkg.in/inf.v0"
)

// The public functions of the codec. Package internal/codec has the tests of the conversions.

// TestNewValue requires, for every type, the Go type that a value has in an any.
func TestNewValue(t *testing.T) {
	big7, dec7 := big.NewInt(7), inf.NewDec(7, 1)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	values := map[Type]any{
		TypeAscii: "a", TypeText: "a", TypeVarchar: "a", TypeBlob: []byte{1}, TypeBoolean: true, TypeTinyInt: int8(7),
		TypeSmallInt: int16(7), TypeInt: 7, TypeBigInt: int64(7), TypeCounter: int64(7), TypeVarint: big7, TypeFloat: float32(7),
		TypeDouble: 7.5, TypeDecimal: dec7, TypeUUID: UUID{1}, TypeTimeUUID: UUID{6: 0x10, 8: 0x80}, TypeInet: net.IP{1, 2, 3, 4},
		TypeDate: day, TypeTime: time.Second, TypeTimestamp: day, TypeDuration: Duration{Months: 1},
	}
	type sample struct {
		info  TypeInfo
		value any
	}
	samples := []sample{
		{CustomType{Class: "X"}, []byte{1}},
		{NewListType(NativeType(TypeInt)), []int{7}},
		{NewSetType(NativeType(TypeText)), []string{"a"}},
		{NewMapType(NativeType(TypeText), NativeType(TypeInt)), map[string]int{"a": 7}},
		{NewMapType(NativeType(TypeBlob), NativeType(TypeInt)), map[string]int{"a": 7}},
		{VectorType{SubType: NativeType(TypeFloat), Dimensions: 2}, []float32{1, 2}},
		{TupleTypeInfo{Elems: []TypeInfo{NativeType(TypeInt)}}, []any{7}},
		{UDTTypeInfo{Elements: []UDTField{{Name: "a", Type: NativeType(TypeInt)}}}, map[string]any{"a": 7}},
	}
	for typ := range Type(0x80) {
		info := NativeType(typ)
		value, ok := values[typ]
		require.Equal(t, ok || typ == TypeCustom, reflect.TypeOf(NewValue(info)) != reflect.TypeFor[*any](), "%v", info)
		if ok {
			samples = append(samples, sample{info, value})
		}
	}
	for _, s := range samples {
		cell, err := Marshal(s.info, s.value)
		require.NoError(t, err, "%v", s.info)
		var dynamic any
		require.NoError(t, Unmarshal(s.info, cell, &dynamic), "%v", s.info)
		require.Equal(t, s.value, dynamic, "%v", s.info)
		dest := reflect.ValueOf(NewValue(s.info))
		require.Equal(t, reflect.TypeOf(s.value), dest.Type().Elem(), "%v", s.info)
		require.True(t, dest.Elem().IsZero(), "%v", s.info)
		require.NoError(t, Unmarshal(s.info, cell, dest.Interface()), "%v", s.info)
		require.Equal(t, s.value, dest.Elem().Interface(), "%v", s.info)
	}
	require.IsType(t, new(any), NewValue(NewMapType(NativeType(TypeDecimal), NativeType(TypeInt))))
	require.IsType(t, new(any), NewValue(nil))
}
