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

	"github.com/vecql/vecql/cql"
)

// The public functions of the codec. Package internal/codec has the tests of the conversions.

// TestNewValue requires, for every type, the Go type that a value has in an any.
func TestNewValue(t *testing.T) {
	big7, dec7 := big.NewInt(7), inf.NewDec(7, 1)
	day := time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC)
	values := map[cql.Type]any{
		cql.TypeAscii: "a", cql.TypeText: "a", cql.TypeVarchar: "a", cql.TypeBlob: []byte{1}, cql.TypeBoolean: true, cql.TypeTinyInt: int8(7),
		cql.TypeSmallInt: int16(7), cql.TypeInt: 7, cql.TypeBigInt: int64(7), cql.TypeCounter: int64(7), cql.TypeVarint: big7, cql.TypeFloat: float32(7),
		cql.TypeDouble: 7.5, cql.TypeDecimal: dec7, cql.TypeUUID: cql.UUID{1}, cql.TypeTimeUUID: cql.UUID{6: 0x10, 8: 0x80}, cql.TypeInet: net.IP{1, 2, 3, 4},
		cql.TypeDate: day, cql.TypeTime: time.Second, cql.TypeTimestamp: day, cql.TypeDuration: cql.Duration{Months: 1},
	}
	type sample struct {
		info  cql.TypeInfo
		value any
	}
	samples := []sample{
		{cql.CustomType{Class: "X"}, []byte{1}},
		{cql.NewListType(cql.NativeType(cql.TypeInt)), []int{7}},
		{cql.NewSetType(cql.NativeType(cql.TypeText)), []string{"a"}},
		{cql.NewMapType(cql.NativeType(cql.TypeText), cql.NativeType(cql.TypeInt)), map[string]int{"a": 7}},
		{cql.NewMapType(cql.NativeType(cql.TypeBlob), cql.NativeType(cql.TypeInt)), map[string]int{"a": 7}},
		{cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 2}, []float32{1, 2}},
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{cql.NativeType(cql.TypeInt)}}, []any{7}},
		{cql.UDTTypeInfo{Elements: []cql.UDTField{{Name: "a", Type: cql.NativeType(cql.TypeInt)}}}, map[string]any{"a": 7}},
	}
	for typ := range cql.Type(0x80) {
		info := cql.NativeType(typ)
		value, ok := values[typ]
		require.Equal(t, ok || typ == cql.TypeCustom, reflect.TypeOf(NewValue(info)) != reflect.TypeFor[*any](), "%v", info)
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
	require.IsType(t, new(any), NewValue(cql.NewMapType(cql.NativeType(cql.TypeDecimal), cql.NativeType(cql.TypeInt))))
	require.IsType(t, new(any), NewValue(nil))
}
