// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"database/sql"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Empty cells of types whose values have bytes.

// emptyTypes are the types without a value for an empty cell.
var emptyTypes = []cql.TypeInfo{
	native(cql.TypeBoolean), native(cql.TypeTinyInt), native(cql.TypeSmallInt), native(cql.TypeInt), native(cql.TypeBigInt),
	native(cql.TypeCounter), native(cql.TypeVarint), native(cql.TypeFloat), native(cql.TypeDouble), native(cql.TypeDecimal),
	native(cql.TypeUUID), native(cql.TypeTimeUUID), native(cql.TypeInet), native(cql.TypeDate), native(cql.TypeTime),
	native(cql.TypeTimestamp), native(cql.TypeDuration),
}

func TestUnmarshalEmptyCell(t *testing.T) {
	element := []byte{0, 0, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff} // an empty element and a NULL
	entry := []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
	for _, info := range emptyTypes {
		plain := DefaultGoType(info)
		for _, typ := range []reflect.Type{
			plain, reflect.PointerTo(plain), reflect.TypeFor[any](), reflect.TypeFor[cql.Null[any]](), reflect.TypeFor[sql.Null[*any]](),
		} {
			for _, decode := range []Decoder{Unmarshal, DecoderOf(info, reflect.PointerTo(typ)), ReferenceDecode} {
				dst := reflect.New(typ)
				if typ.Kind() == reflect.Pointer {
					dst.Elem().Set(reflect.New(typ.Elem()))
				}
				require.NoError(t, decode(info, []byte{}, dst.Interface()), "%v into %v", info, typ)
				require.True(t, dst.Elem().IsZero(), "%v into %v: %v", info, typ, dst.Elem())
			}
		}
		decodings(cql.NewListType(info), element, reflect.SliceOf(reflect.PointerTo(plain)), func(got any, err error) {
			require.NoError(t, err, info)
			require.Equal(t, reflect.MakeSlice(reflect.TypeOf(got), 2, 2).Interface(), got)
		})
		decodings(cql.NewListType(info), element, reflect.SliceOf(plain), func(got any, err error) {
			require.NoError(t, err, info)
			require.Equal(t, reflect.MakeSlice(reflect.TypeOf(got), 2, 2).Interface(), got)
		})
		decodings(cql.NewMapType(info, info), entry, reflect.TypeFor[map[selfCodedKey]any](), func(got any, err error) {
			require.NoError(t, err, info)
			require.Equal(t, map[selfCodedKey]any{"0 bytes": nil}, got)
		})
		decodings(cql.TupleTypeInfo{Elems: []cql.TypeInfo{info}}, []byte{0, 0, 0, 0}, reflect.TypeFor[[]any](), func(got any, err error) {
			require.NoError(t, err, info)
			require.Equal(t, []any{nil}, got)
		})
		written, err := Marshal(info, selfCoded{content: []byte{}})
		require.NoError(t, err)
		require.Equal(t, []byte{}, written, "an empty cell is written by a Marshaler")
	}
	at := time.Now()
	require.NoError(t, Unmarshal(native(cql.TypeTimestamp), []byte{}, &at))
	require.True(t, at.IsZero(), "gocql's zero time.Time")
	for _, info := range []cql.TypeInfo{intList, textToInt, vectorOf(cqlFloat, 2), cql.NativeType(0x99)} {
		require.Error(t, Unmarshal(info, []byte{}, new(any)), "%v", info)
	}
}

// selfCodedKey is an Unmarshaler that can be a key.
type selfCodedKey string

func (k *selfCodedKey) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	if *k = "NULL"; data != nil {
		*k = selfCodedKey(string(rune('0'+len(data))) + " bytes")
	}
	return nil
}

func TestColumnEmptyCell(t *testing.T) {
	for _, info := range emptyTypes {
		list := cql.NewListType(info)
		udt := cql.UDTTypeInfo{Keyspace: "k", Name: "u", Elements: []cql.UDTField{{Name: "f", Type: info}}}
		plan := NewColumnPlan([]cql.ColumnInfo{{Name: "v", TypeInfo: info}, {Name: "l", TypeInfo: list}, {Name: "u", TypeInfo: udt}})
		row := []byte{0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0}
		var b column.Batch
		require.NoError(t, plan.Decode(append(row, row...), 2, &b), "%v", info)
		require.NoError(t, b.Check())
		require.Equal(t, 2*3, b.Source.EmptyCells, "%v", info)
		for i := range 2 {
			require.Nil(t, b.Columns[0].Value(i), "%v", info)
			require.Equal(t, []any{nil}, b.Columns[1].Value(i), "%v", info)
			require.Nil(t, b.Columns[2].Children[0].Value(i), "%v", info)
		}
		null := []byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}
		require.NoError(t, plan.Decode(null, 1, &b))
		require.Zero(t, b.Source.EmptyCells, "NULL is not empty")
		keys := NewColumnPlan([]cql.ColumnInfo{{Name: "m", TypeInfo: cql.NewMapType(info, info)}})
		entry := []byte{0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0}
		require.ErrorIs(t, keys.Decode(entry, 1, &b), cql.ErrNull)
	}
}
