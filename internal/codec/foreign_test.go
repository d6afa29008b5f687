// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/hex"
	"errors"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// Codec interfaces of another API, and destinations with value receivers.

// otherInfo is the TypeInfo of another API.
type otherInfo struct{ name string }

type (
	otherMarshaler interface {
		MarshalCQL(otherInfo) ([]byte, error)
	}
	otherUnmarshaler  interface{ UnmarshalCQL(otherInfo, []byte) error }
	otherUDTMarshaler interface {
		MarshalUDT(string, otherInfo) ([]byte, error)
	}
	otherUDTUnmarshaler interface {
		UnmarshalUDT(string, otherInfo, []byte) error
	}
)

// rolesBefore are the roles of a type before another API is registered: most programs register none.
var rolesBefore bool

func init() {
	rolesBefore = HasRole(reflect.TypeFor[foreignText](), RoleMarshaler)
	RegisterForeign(ForeignCodec{}) // an API without interfaces
	RegisterForeign(ForeignCodec{
		Marshaler: reflect.TypeFor[otherMarshaler](), Unmarshaler: reflect.TypeFor[otherUnmarshaler](),
		UDTMarshaler: reflect.TypeFor[otherUDTMarshaler](), UDTUnmarshaler: reflect.TypeFor[otherUDTUnmarshaler](),
		Marshal: func(v any, info cql.TypeInfo) ([]byte, error) {
			return v.(otherMarshaler).MarshalCQL(otherInfo{info.String()})
		},
		Unmarshal: func(v any, info cql.TypeInfo, data []byte) error {
			return v.(otherUnmarshaler).UnmarshalCQL(otherInfo{info.String()}, data)
		},
		MarshalUDT: func(v any, name string, info cql.TypeInfo) ([]byte, error) {
			return v.(otherUDTMarshaler).MarshalUDT(name, otherInfo{info.String()})
		},
		UnmarshalUDT: func(v any, name string, info cql.TypeInfo, data []byte) error {
			return v.(otherUDTUnmarshaler).UnmarshalUDT(name, otherInfo{info.String()}, data)
		},
	})
}

// TestRegistrationAddsRoles to types that were asked for their roles before.
func TestRegistrationAddsRoles(t *testing.T) {
	require.False(t, rolesBefore)
	require.True(t, HasRole(reflect.TypeFor[foreignText](), RoleMarshaler))
}

// foreignText encodes itself as the name of its CQL type and itself.
type foreignText string

func (f foreignText) MarshalCQL(info otherInfo) ([]byte, error) {
	switch f {
	case "null":
		return nil, nil
	case "panic":
		panic("boom")
	}
	return []byte(info.name + ":" + string(f)), nil
}

func (f *foreignText) UnmarshalCQL(info otherInfo, data []byte) error {
	if string(data) == "panic" {
		panic("boom")
	}
	*f = foreignText(info.name + "=" + string(data))
	return nil
}

// foreignPointer encodes itself by a pointer receiver.
type foreignPointer struct{ text string }

func (f *foreignPointer) MarshalCQL(info otherInfo) ([]byte, error) { return []byte(f.text), nil }

// foreignHolder decodes by a value receiver into the memory that it holds.
type foreignHolder struct{ to *[]string }

func (f foreignHolder) UnmarshalCQL(info otherInfo, data []byte) error {
	*f.to = append(*f.to, string(data))
	return nil
}

// foreignFields encodes and decodes fields by value receivers.
type foreignFields struct{ to map[string]string }

func (f foreignFields) MarshalUDT(name string, info otherInfo) ([]byte, error) {
	if f.to[name] == "" {
		return nil, nil
	}
	return []byte(f.to[name]), nil
}

func (f foreignFields) UnmarshalUDT(name string, info otherInfo, data []byte) error {
	f.to[name] = info.name + "=" + string(data)
	return nil
}

func TestForeignMarshaler(t *testing.T) {
	type pair struct {
		A foreignText
		B *foreignPointer
	}
	tuple := cql.TupleTypeInfo{Elems: []cql.TypeInfo{cqlText, cqlText}}
	udt := cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "a", Type: cqlText}, {Name: "b", Type: cqlText}}}
	f := foreignText("x")
	for _, row := range []struct {
		info cql.TypeInfo
		v    any
		want string
	}{
		{cqlInt, f, hex.EncodeToString([]byte("int:x"))},
		{cqlInt, &f, hex.EncodeToString([]byte("int:x"))},
		{cqlInt, foreignPointer{"p"}, "70"},
		{intList, []foreignText{f}, "00000001" + "00000005" + hex.EncodeToString([]byte("int:x"))},
		{intList, []any{f}, "00000001" + "00000005" + hex.EncodeToString([]byte("int:x"))},
		{vectorOf(cqlText, 1), []foreignPointer{{"p"}}, "0170"},
		{tuple, pair{"x", &foreignPointer{"p"}}, "00000006" + hex.EncodeToString([]byte("text:x")) + "0000000170"},
		{udt, pair{"null", nil}, "ffffffffffffffff"},
		{udt, foreignFields{map[string]string{"b": "y"}}, "ffffffff" + "0000000179"},
		{cql.NewListType(udt), []foreignFields{{map[string]string{"a": "y"}}}, "00000001" + "00000009" + "0000000179" + "ffffffff"},
	} {
		for _, got := range encodings(t, row.info, row.v) {
			require.Equal(t, row.want, hex.EncodeToString(got), "%T", row.v)
		}
	}
	null, err := Marshal(cqlInt, foreignText("null"))
	require.NoError(t, err)
	require.Nil(t, null)
	null, err = Marshal(cqlInt, (*foreignText)(nil))
	require.NoError(t, err)
	require.Nil(t, null)
	_, err = Marshal(cqlInt, foreignText("panic"))
	require.ErrorContains(t, err, "boom")
	require.True(t, HasOwnCodec(reflect.TypeFor[foreignFields]()))
	require.False(t, HasOwnCodec(reflect.TypeFor[pair]()))
}

func TestForeignUnmarshaler(t *testing.T) {
	var f foreignText
	var p *foreignText
	var list []foreignText
	for _, dst := range []any{&f, &p} {
		require.NoError(t, Unmarshal(cqlInt, []byte("x"), dst))
		require.NoError(t, DecoderOf(cqlInt, reflect.TypeOf(dst))(cqlInt, []byte("x"), dst))
	}
	require.Equal(t, foreignText("int=x"), f)
	require.Equal(t, foreignText("int=x"), *p)
	require.NoError(t, Unmarshal(intList, hexBytes(t, "00000001"+"0000000178"), &list))
	require.Equal(t, []foreignText{"int=x"}, list)
	require.ErrorContains(t, Unmarshal(cqlInt, []byte("panic"), &f), "boom")

	udt := cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "a", Type: cqlText}, {Name: "b", Type: cqlInt}}}
	fields := foreignFields{map[string]string{}}
	require.NoError(t, Unmarshal(udt, hexBytes(t, "0000000178"), &fields))
	require.Equal(t, map[string]string{"a": "text=x", "b": "int="}, fields.to)
}

// valueHolder is foreignHolder with the interfaces of package cql.
type valueHolder struct{ to *[]string }

func (v valueHolder) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	if string(data) == "bad" {
		return errors.New("bad")
	}
	*v.to = append(*v.to, string(data))
	return nil
}

func (v valueHolder) UnmarshalUDT(name string, _ cql.TypeInfo, data []byte) error {
	*v.to = append(*v.to, name+"="+string(data))
	return nil
}

// fieldHolder is a valueHolder of fields only.
type fieldHolder struct{ to *[]string }

func (v fieldHolder) UnmarshalUDT(name string, info cql.TypeInfo, data []byte) error {
	return valueHolder(v).UnmarshalUDT(name, info, data)
}

// TestDestinationsByValue passes destinations with value receivers without a pointer to them.
func TestDestinationsByValue(t *testing.T) {
	var got []string
	udt := cql.UDTTypeInfo{Name: "u", Elements: []cql.UDTField{{Name: "a", Type: cqlText}}}
	cell := hexBytes(t, "0000000178")
	for _, dst := range []any{valueHolder{&got}, &valueHolder{&got}, foreignHolder{&got}} {
		require.NoError(t, Unmarshal(cqlInt, []byte("x"), dst))
		require.NoError(t, DecoderOf(cqlInt, reflect.TypeOf(dst))(cqlInt, []byte("y"), dst))
	}
	require.Equal(t, []string{"x", "y", "x", "y", "x", "y"}, got)
	got = nil
	fields := foreignFields{map[string]string{}}
	require.NoError(t, Unmarshal(udt, cell, fieldHolder{&got}))
	require.NoError(t, Unmarshal(udt, cell, fields))
	require.Equal(t, []string{"a=x"}, got)
	require.Equal(t, "text=x", fields.to["a"])
	require.ErrorContains(t, Unmarshal(cqlInt, []byte("bad"), valueHolder{&got}), "bad")
	for _, dst := range []any{fieldHolder{&got}, 1, nil, "x"} {
		require.ErrorIs(t, Unmarshal(cqlInt, []byte("x"), dst), cql.ErrConversion, "%T", dst)
	}
}
