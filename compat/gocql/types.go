// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql/compat"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// CQL types in this API's shape, and their conversion from and to the types of package cql.

// A Type is the option id of a CQL type.
type Type = api.Type

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

// NewWithError implements TypeInfo.
func (t NativeType) NewWithError() (any, error) { return newValue(t) }

// A CollectionType is a list, a set or a map.
type CollectionType struct {
	NativeType
	Key  TypeInfo // of a map
	Elem TypeInfo
}

// NewWithError implements TypeInfo.
func (t CollectionType) NewWithError() (any, error) { return newValue(t) }

// String returns the type with the types of its elements: "map(int, varchar)".
func (t CollectionType) String() string { return api.CollectionText(t.native, t.Key, t.Elem) }

// A TupleTypeInfo is a tuple.
type TupleTypeInfo struct {
	NativeType
	Elems []TypeInfo
}

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

// NewWithError implements TypeInfo.
func (t UDTTypeInfo) NewWithError() (any, error) { return newValue(t) }

// String returns the name and the fields: "ks.address{street=varchar,no=int}".
func (t UDTTypeInfo) String() string {
	return api.UDTText(t.KeySpace, t.Name, t.Elements, func(f UDTField) (string, TypeInfo) { return f.Name, f.Type })
}

// dialect is the meaning of values in this API (package compat).
var dialect = compat.V1

// newValue returns what NewWithError returns for t.
func newValue(t TypeInfo) (any, error) { return api.NewValue(dialect, toCQL(t)) }

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
func toCQL(t TypeInfo) cql.TypeInfo { return compositeToCQL(t) }

// compositeToCQL is toCQL of the types of v1.7.
func compositeToCQL(t TypeInfo) cql.TypeInfo {
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

// Marshal encodes value as a cell of the type info. It returns nil for NULL.
func Marshal(info TypeInfo, value any) ([]byte, error) {
	data, err := dialect.Marshal(toCQL(info), value)
	return data, plain(err)
}

// Unmarshal decodes a cell of the type info into value, a pointer. data is nil for NULL.
func Unmarshal(info TypeInfo, data []byte, value any) error {
	return plain(dialect.Unmarshal(toCQL(info), data, value))
}

// protoVersionOfValues is the version of the protocol that the TypeInfo of a method of the program has. The encoding of
// values is the same in versions 4 and 5.
const protoVersionOfValues = 4

// init registers the interfaces of values, so that those which encode and decode themselves do so at every depth.
func init() {
	api.RegisterCodec(func(info cql.TypeInfo) TypeInfo { return fromCQL(info, protoVersionOfValues) })
}
