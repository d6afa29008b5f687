// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/soak"
)

// Destinations after an error.

func TestErrorsLeaveDestinationUnchanged(t *testing.T) {
	soak.NoRace(t)
	minusOne := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	for _, dst := range []any{ptr(uint64(7)), ptr(uint(7)), ptr(uint32(7)), ptr(uint16(7)), ptr(uint8(7))} {
		err := Unmarshal(native(cql.TypeBigInt), minusOne, dst)
		require.ErrorIs(t, err, cql.ErrRange)
		require.EqualValues(t, 7, reflect.ValueOf(dst).Elem().Uint(), "%T", dst)
	}
	list := []int8{1, 2}
	require.ErrorIs(t, Unmarshal(intList, []byte{0, 0, 0, 1, 0, 0, 0, 4, 0, 0, 1, 0}, &list), cql.ErrRange)
	require.Equal(t, []int8{1, 2}, list)

	// Each Go type with every CQL type and cell, a quarter of the pairs by default: two values of equal contents and
	// separate memory.
	values, copies := byType(goValues()), byType(goValues())
	failures := 0
	for n, info := range matrixTypes() {
		cells := cellsOf(info, 3)
		for i, group := range values {
			typ := reflect.TypeOf(group[0])
			if typ == nil || typ.Kind() == reflect.Chan || typ.Kind() == reflect.Func || !soak.On() && (i+n)%4 != 0 {
				continue
			}
			k := n % len(group)
			ways := decodeWays(info, typ)
			if inPlaceType(info, typ) {
				clear(ways)
			}
			ways["reference"] = func(cell []byte, dst any) (bool, error) { return true, ReferenceDecode(info, cell, dst) }
			for name, decode := range ways {
				for _, cell := range cells {
					dst := reflect.New(typ)
					dst.Elem().Set(reflect.ValueOf(group[k]))
					if ok, err := decode(cell, dst.Interface()); !ok || err == nil {
						continue
					}
					failures++
					if got := dst.Elem().Interface(); !same(got, copies[i][k]) && !ownCodec.MatchString(typ.String()) {
						t.Fatalf("%s: %x %s into %s: %#v became %#v", name, cell, info, typ, copies[i][k], got)
					}
				}
			}
		}
	}
	t.Logf("%d errors", failures)
	require.Greater(t, failures, 10_000)
}

// inPlaceType reports whether plans decode a value of info in place: into an array or the fields of a struct.
func inPlaceType(info cql.TypeInfo, t reflect.Type) bool {
	if IsNull(t) {
		return inPlaceType(info, t.Field(0).Type)
	}
	_, plain := info.(cql.NativeType)
	return !plain && (t.Kind() == reflect.Array || t.Kind() == reflect.Struct)
}
