// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

var (
	typeInt, typeVarchar = cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeVarchar)

	typeAddress = cql.UDTTypeInfo{Keyspace: "shop", Name: "address", Elements: []cql.UDTField{
		{Name: "street", Type: typeVarchar}, {Name: "no", Type: typeInt},
	}}
)

func TestTypesHaveTheNamesOfTheAPI(t *testing.T) {
	for typ, want := range map[Type]string{
		0: "custom", 0x0A: "text", 0x0D: "varchar", 0x15: "duration", 0x16: "unknown_type_22", 0x1F: "unknown_type_31", 0x20: "list",
		0x22: "set", 0x23: "unknown_type_35", 0x30: "unknown_type_48", 0x31: "tuple", 0x32: "unknown_type_50", -1: "unknown_type_-1",
	} {
		require.Equal(t, want, typ.String())
	}
}

func TestClassesOfTypesAreThoseOfTheServer(t *testing.T) {
	for _, test := range []struct {
		info cql.TypeInfo
		want string
	}{
		{typeInt, "Int32Type"},
		{typeVarchar, "UTF8Type"},
		{cql.NewListType(typeInt), "ListType(MP.Int32Type)"},
		{cql.NewSetType(typeInt), "SetType(MP.Int32Type)"},
		{cql.NewMapType(typeInt, typeVarchar), "MapType(MP.Int32Type,MP.UTF8Type)"},
		{cql.TupleTypeInfo{Elems: []cql.TypeInfo{typeInt, typeVarchar}}, "TupleType(MP.Int32Type,MP.UTF8Type)"},
		{typeAddress, "UserType(shop,61646472657373,737472656574:MP.UTF8Type,6e6f:MP.Int32Type)"},
		{cql.VectorType{SubType: typeInt, Dimensions: 3}, "VectorType(MP.Int32Type, 3)"},
	} {
		info, err := cql.ParseClassName(ClassName(test.info))
		require.NoError(t, err)
		require.Equal(t, test.info, info)
		require.Equal(t, strings.ReplaceAll("MP."+test.want, "MP.", MarshalPackage), ClassName(test.info))
	}
	require.Equal(t, "com.example.Type", ClassName(cql.CustomType{Class: "com.example.Type"}))
	for typ := range classes {
		if typ >= cql.TypeList {
			continue
		}
		info, err := cql.ParseClassName(ClassName(cql.NativeType(typ)))
		require.NoError(t, err)
		if typ == cql.TypeText {
			typ = cql.TypeVarchar
		}
		require.Equal(t, typ, info.Type())
	}
}

func TestTextsOfTypes(t *testing.T) {
	native := func(typ cql.Type) Native { return NewNative(4, Type(typ), "") }
	n := NewNative(4, Type(cql.TypeInt), "")
	require.Equal(t, Type(cql.TypeInt), n.Type())
	require.EqualValues(t, 4, n.Version())
	require.Equal(t, "int", n.String())
	custom := NewNative(4, 0, "com.example.Type")
	require.Equal(t, "com.example.Type", custom.Custom())
	require.Equal(t, "custom(com.example.Type)", custom.String())
	require.Equal(t, "map(int, varchar)", CollectionText(native(cql.TypeMap), "int", "varchar"))
	require.Equal(t, "list(int)", CollectionText(native(cql.TypeList), nil, "int"))
	require.Equal(t, "set(int)", CollectionText(native(cql.TypeSet), nil, "int"))
	require.Equal(t, "int", CollectionText(n, nil, nil), "no collection")
	require.Equal(t, "tuple(int, varchar)", TupleText(native(cql.TypeTuple), []string{"int", "varchar"}))
	require.Equal(t, "shop.address{street=1,no=2}", UDTText("shop", "address", []string{"street", "no"}, func(name string) (string, int) {
		return name, map[string]int{"street": 1, "no": 2}[name]
	}))
	column := ColumnInfo[string]{"shop", "items", "id", "int"}
	require.Equal(t, "[column keyspace=shop table=items name=id type=int]", column.String())
}

// texts makes the TypeInfos of a module that are texts.
var texts = Types[string]{
	Native:     func(n Native) string { return fmt.Sprintf("%v/%d", n, n.Version()) },
	Collection: func(n Native, key, elem string) string { return fmt.Sprintf("%v<%s,%s>/%d", n, key, elem, n.Version()) },
	Tuple:      func(n Native, elems []string) string { return fmt.Sprintf("%v%v/%d", n, elems, n.Version()) },
	UDT: func(n Native, t cql.UDTTypeInfo, fields []string) string {
		return fmt.Sprintf("%v%v/%d", t.Name, fields, n.Version())
	},
}

func TestTypesOfAModuleAreMadeAtAllDepths(t *testing.T) {
	vectors := texts
	vectors.Vector = func(n Native, elem string, dimensions int) string { return fmt.Sprint(n.Custom(), elem, dimensions) }
	list, vector := cql.NewListType(typeInt), cql.VectorType{SubType: typeInt, Dimensions: 3}
	class := MarshalPackage + "VectorType(" + MarshalPackage + "Int32Type, 3)"
	for _, test := range []struct {
		types *Types[string]
		info  cql.TypeInfo
		want  string
	}{
		{&texts, nil, ""},
		{&texts, typeInt, "int/4"},
		{&texts, list, "list<,int/4>/4"},
		{&texts, cql.NewMapType(typeVarchar, list), "map<varchar/4,list<,int/4>/4>/4"},
		{&texts, cql.TupleTypeInfo{Elems: []cql.TypeInfo{typeInt, list}}, "tuple[int/4 list<,int/4>/4]/4"},
		{&texts, typeAddress, "address[varchar/4 int/4]/4"},
		{&texts, cql.CustomType{Class: "com.example.Type"}, "custom(com.example.Type)/4"},
		{&texts, vector, "custom(" + class + ")/4"},
		{&vectors, vector, class + "int/43"},
	} {
		require.Equal(t, test.want, test.types.Of(test.info, 4))
	}
	require.Nil(t, texts.All(nil, 4))
	require.Equal(t, []string{}, Each([]int{}, func(int) string { return "" }))
}

// info is a TypeInfo of a module.
type info interface {
	Type() Type
	Version() byte
	Custom() string
}

// TestPlainTypeOfAPointerIsThatOfItsValue.
func TestPlainTypeOfAPointerIsThatOfItsValue(t *testing.T) {
	toCQL := func(info) cql.TypeInfo { return typeVarchar }
	n := NewNative(4, Type(cql.TypeInt), "")
	require.Equal(t, typeVarchar, PlainType[info](&n, toCQL))
	require.Equal(t, typeInt, PlainType[info](n, toCQL))
	vector := NewNative(4, 0, MarshalPackage+"VectorType("+MarshalPackage+"Int32Type, 3)")
	require.Equal(t, cql.VectorType{SubType: typeInt, Dimensions: 3}, PlainType[info](vector, toCQL))
}

func TestNewValueIsAPointerToTheGoTypeOfMapScan(t *testing.T) {
	v, err := NewValue(compat.V1, cql.NewListType(typeInt))
	require.NoError(t, err)
	require.IsType(t, new([]int), v)
	_, err = NewValue(compat.V1, cql.NewMapType(cql.NewListType(typeInt), typeInt))
	require.ErrorContains(t, err, "no Go type stands for the CQL type map<list<int>, int>")
}

func TestMustPanicsOnAnError(t *testing.T) {
	require.Equal(t, 7, Must(7, nil))
	require.PanicsWithError(t, "bad", func() { Must(7, errors.New("bad")) })
}
