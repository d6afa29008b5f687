// SPDX-License-Identifier: Apache-2.0

package sqlvecql

import (
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

type fuzzed struct {
	A *int
	B []string
}

func native(t cql.Type) cql.TypeInfo { return cql.NativeType(t) }

// fuzzPairs are types of columns with Go types that vecql decodes them into.
var fuzzPairs = []struct {
	info cql.TypeInfo
	typ  reflect.Type
}{
	{native(cql.TypeUUID), reflect.TypeFor[cql.UUID]()},
	{native(cql.TypeInet), reflect.TypeFor[netip.Addr]()},
	{native(cql.TypeVarint), reflect.TypeFor[big.Int]()},
	{native(cql.TypeVarint), reflect.TypeFor[int8]()},
	{native(cql.TypeDecimal), reflect.TypeFor[cql.Decimal]()},
	{native(cql.TypeDuration), reflect.TypeFor[cql.Duration]()},
	{native(cql.TypeBigInt), reflect.TypeFor[*uint32]()},
	{native(cql.TypeDouble), reflect.TypeFor[cql.Null[float64]]()},
	{native(cql.TypeTimestamp), reflect.TypeFor[time.Time]()},
	{native(cql.TypeTime), reflect.TypeFor[time.Duration]()},
	{native(cql.TypeBlob), reflect.TypeFor[string]()},
	{cql.NewListType(native(cql.TypeInt)), reflect.TypeFor[[]int8]()},
	{cql.NewSetType(native(cql.TypeText)), reflect.TypeFor[map[string]struct{}]()},
	{cql.NewMapType(native(cql.TypeSmallInt), native(cql.TypeInet)), reflect.TypeFor[map[int]netip.Addr]()},
	{cql.VectorType{SubType: native(cql.TypeFloat), Dimensions: 2}, reflect.TypeFor[[2]float32]()},
	{
		cql.TupleTypeInfo{Elems: []cql.TypeInfo{native(cql.TypeInt), cql.NewListType(native(cql.TypeText))}},
		reflect.TypeFor[fuzzed](),
	},
	{
		cql.UDTTypeInfo{Name: "t", Elements: []cql.UDTField{
			{Name: "a", Type: native(cql.TypeInt)}, {Name: "b", Type: cql.NewListType(native(cql.TypeText))},
		}},
		reflect.TypeFor[fuzzed](),
	},
}

// FuzzScan compares the two ways of a cell to a Go type: by the value of a row and Scan, and by the decoder of vecql.
func FuzzScan(f *testing.F) {
	f.Add(uint8(3), []byte{1, 44})
	f.Add(uint8(4), []byte{0, 0, 0, 2, 4, 226})
	f.Add(uint8(11), []byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 0, 7})
	f.Add(uint8(14), []byte{63, 128, 0, 0, 64, 0, 0, 0})
	f.Add(uint8(16), []byte{255, 255, 255, 255, 0, 0, 0, 4, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, pair uint8, cell []byte) {
		p := fuzzPairs[int(pair)%len(fuzzPairs)]
		dest, value := destination(p.info)
		if err := vecql.Unmarshal(p.info, cell, dest); err != nil {
			return // not a value
		}
		want, got := reflect.New(p.typ), reflect.New(p.typ)
		wantErr := vecql.Unmarshal(p.info, cell, want.Interface())
		gotErr := assign(got.Elem(), value())
		switch {
		case errors.Is(gotErr, cql.ErrNull) || codec.EmptyIsNull(p.info) && len(cell) == 0:
			return // a zero value for the decoder
		case wantErr != nil:
			require.Error(t, gotErr, "%v", wantErr)
		case gotErr != nil || !reflect.DeepEqual(want.Interface(), got.Interface()):
			require.NoError(t, gotErr)
			require.Equal(t, fmt.Sprint(want.Elem()), fmt.Sprint(got.Elem())) // NaN does not equal itself
		}
	})
}
