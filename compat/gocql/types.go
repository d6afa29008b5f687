// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// CQL types in this API's shape, and their conversion from and to the types of package cql.

// A Type is the option id of a CQL type.
type Type = api.Type

// The option ids.
const (
	TypeCustom    Type = 0x0000
	TypeAscii     Type = 0x0001
	TypeBigInt    Type = 0x0002
	TypeBlob      Type = 0x0003
	TypeBoolean   Type = 0x0004
	TypeCounter   Type = 0x0005
	TypeDecimal   Type = 0x0006
	TypeDouble    Type = 0x0007
	TypeFloat     Type = 0x0008
	TypeInt       Type = 0x0009
	TypeText      Type = 0x000A
	TypeTimestamp Type = 0x000B
	TypeUUID      Type = 0x000C
	TypeVarchar   Type = 0x000D
	TypeVarint    Type = 0x000E
	TypeTimeUUID  Type = 0x000F
	TypeInet      Type = 0x0010
	TypeDate      Type = 0x0011
	TypeTime      Type = 0x0012
	TypeSmallInt  Type = 0x0013
	TypeTinyInt   Type = 0x0014
	TypeDuration  Type = 0x0015
	TypeList      Type = 0x0020
	TypeMap       Type = 0x0021
	TypeSet       Type = 0x0022
	TypeUDT       Type = 0x0030
	TypeTuple     Type = 0x0031
)

// A TypeInfo describes a CQL type.
type TypeInfo interface {
	Type() Type
	// Version returns the version of the protocol.
	Version() byte
	// Custom returns the class of a TypeCustom.
	Custom() string
	// New is NewWithError, but panics instead of returning an error.
	New() any
	// NewWithError returns a pointer to the zero value of the Go type that stands for the CQL type in MapScan.
	NewWithError() (any, error)
}

// A NativeType is a type without parameters, or a class of the server.
type NativeType struct{ native }

type native = api.Native

// NewNativeType returns a type. custom is the class of a TypeCustom.
func NewNativeType(proto byte, typ Type, custom string) NativeType {
	return NativeType{api.NewNative(proto, typ, custom)}
}

// New implements TypeInfo.
func (t NativeType) New() any { return mustNew(t) }

// NewWithError implements TypeInfo.
func (t NativeType) NewWithError() (any, error) { return newValue(t) }

// A CollectionType is a list, a set or a map.
type CollectionType struct {
	NativeType
	Key  TypeInfo // of a map
	Elem TypeInfo
}

// New implements TypeInfo.
func (t CollectionType) New() any { return mustNew(t) }

// NewWithError implements TypeInfo.
func (t CollectionType) NewWithError() (any, error) { return newValue(t) }

// String returns the type with the types of its elements: "map(int, varchar)".
func (t CollectionType) String() string { return api.CollectionText(t.native, t.Key, t.Elem) }

// A TupleTypeInfo is a tuple.
type TupleTypeInfo struct {
	NativeType
	Elems []TypeInfo
}

// New implements TypeInfo.
func (t TupleTypeInfo) New() any { return mustNew(t) }

// NewWithError implements TypeInfo.
func (t TupleTypeInfo) NewWithError() (any, error) { return newValue(t) }

// String returns the type with the types of its elements: "tuple(int, varchar)".
func (t TupleTypeInfo) String() string { return api.TupleText(t.native, t.Elems) }

// A UDTField is a field of a user-defined type.
type UDTField struct {
	Name string
	Type TypeInfo
}

// A UDTTypeInfo is a user-defined type.
type UDTTypeInfo struct {
	NativeType
	KeySpace string
	Name     string
	Elements []UDTField
}

// New implements TypeInfo.
func (t UDTTypeInfo) New() any { return mustNew(t) }

// NewWithError implements TypeInfo.
func (t UDTTypeInfo) NewWithError() (any, error) { return newValue(t) }

// String returns the name and the fields: "ks.address{street=varchar,no=int}".
func (t UDTTypeInfo) String() string {
	return api.UDTText(t.KeySpace, t.Name, t.Elements, func(f UDTField) (string, TypeInfo) { return f.Name, f.Type })
}

// newValue returns what NewWithError returns for t.
func newValue(t TypeInfo) (any, error) { return api.NewValue(dialect, toCQL(t)) }

func mustNew(t TypeInfo) any {
	v, err := newValue(t)
	if err != nil {
		panic(err.Error())
	}
	return v
}

// infos makes the TypeInfos of this API.
var infos = api.Types[TypeInfo]{
	Native: func(n native) TypeInfo { return NativeType{n} },
	Collection: func(n native, key, elem TypeInfo) TypeInfo {
		return CollectionType{NativeType: NativeType{n}, Key: key, Elem: elem}
	},
	Tuple: func(n native, elems []TypeInfo) TypeInfo {
		return TupleTypeInfo{NativeType: NativeType{n}, Elems: elems}
	},
	UDT: func(n native, t cql.UDTTypeInfo, fields []TypeInfo) TypeInfo {
		u := UDTTypeInfo{NativeType: NativeType{n}, KeySpace: t.Keyspace, Name: t.Name}
		for i, e := range t.Elements {
			u.Elements = append(u.Elements, UDTField{Name: e.Name, Type: fields[i]})
		}
		return u
	},
}

// fromCQL returns the TypeInfo of a type of package cql, as a connection with that version of the protocol has it.
func fromCQL(t cql.TypeInfo, proto byte) TypeInfo { return infos.Of(t, proto) }

// toCQL returns the type of package cql that t stands for. t may be a type of the program.
func toCQL(t TypeInfo) cql.TypeInfo {
	switch t := t.(type) {
	case nil:
		return nil
	case CollectionType:
		switch t.Type() {
		case TypeList:
			return cql.NewListType(toCQL(t.Elem))
		case TypeSet:
			return cql.NewSetType(toCQL(t.Elem))
		case TypeMap:
			return cql.NewMapType(toCQL(t.Key), toCQL(t.Elem))
		}
	case TupleTypeInfo:
		return cql.TupleTypeInfo{Elems: api.Each(t.Elems, toCQL)}
	case UDTTypeInfo:
		fields := api.Each(t.Elements, func(f UDTField) cql.UDTField {
			return cql.UDTField{Name: f.Name, Type: toCQL(f.Type)}
		})
		return cql.UDTTypeInfo{Keyspace: t.KeySpace, Name: t.Name, Elements: fields}
	}
	return api.PlainType(t, toCQL)
}

func fromColumns(columns []cql.ColumnInfo, proto byte) []ColumnInfo {
	return api.Each(columns, func(c cql.ColumnInfo) ColumnInfo {
		return ColumnInfo{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, TypeInfo: fromCQL(c.TypeInfo, proto)}
	})
}
