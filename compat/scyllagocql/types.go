// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"reflect"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// CQL types as the fork alone has them.

// A TypeInfo describes a CQL type.
type TypeInfo interface {
	Type() Type
	// Version returns the version of the protocol.
	Version() byte
	// Custom returns the class of a TypeCustom.
	Custom() string
	// NewWithError returns a pointer to the zero value of the Go type that stands for the CQL type in MapScan.
	NewWithError() (any, error)
}

// NewNativeType returns a type.
func NewNativeType(proto byte, typ Type) NativeType { return NewCustomType(proto, typ, "") }

// NewCustomType returns a type. custom is the class of a TypeCustom.
func NewCustomType(proto byte, typ Type, custom string) NativeType {
	return NativeType{api.NewNative(proto, typ, custom)}
}

// A CollectionType is a list, a set or a map.
type CollectionType struct {
	Key  TypeInfo // of a map
	Elem TypeInfo
	NativeType
}

// NewCollectionType returns a list, a set or a map: the type of m.
func NewCollectionType(m NativeType, key, elem TypeInfo) CollectionType {
	return CollectionType{NativeType: m, Key: key, Elem: elem}
}

// A TupleTypeInfo is a tuple.
type TupleTypeInfo struct {
	Elems []TypeInfo
	NativeType
}

// NewTupleType returns a tuple.
func NewTupleType(n NativeType, elems ...TypeInfo) TupleTypeInfo {
	return TupleTypeInfo{NativeType: n, Elems: elems}
}

// A UDTField is a field of a user-defined type.
type UDTField struct {
	Type TypeInfo
	Name string
}

// A UDTTypeInfo is a user-defined type.
type UDTTypeInfo struct {
	KeySpace string
	Name     string
	Elements []UDTField
	NativeType
}

// NewUDTType returns a user-defined type.
func NewUDTType(proto byte, name, keySpace string, elems ...UDTField) UDTTypeInfo {
	return UDTTypeInfo{
		NativeType: NewNativeType(proto, TypeUDT), Name: name, KeySpace: keySpace, Elements: elems,
	}
}

// A VectorType is a vector of Dimensions elements.
type VectorType struct {
	SubType TypeInfo
	NativeType
	Dimensions int
}

// Zero returns a nil slice of pointers to the Go type of the elements, nil if there is none.
func (v VectorType) Zero() any {
	elem, err := v.SubType.NewWithError()
	if err != nil {
		return nil
	}
	return reflect.Zero(reflect.SliceOf(reflect.TypeOf(elem))).Interface()
}

// A ColumnInfo describes a result column or a bind marker.
type ColumnInfo struct {
	TypeInfo TypeInfo
	Keyspace string
	Table    string
	Name     string
}

// String returns the fields.
func (c ColumnInfo) String() string { return api.ColumnText(c.Keyspace, c.Table, c.Name, c.TypeInfo) }

func init() {
	infos.Vector = func(n native, elem TypeInfo, dimensions int) TypeInfo {
		return VectorType{NativeType: NativeType{n}, SubType: elem, Dimensions: dimensions}
	}
}

// toCQL returns the type of package cql that t stands for. t may be a type of the program.
func toCQL(t TypeInfo) cql.TypeInfo {
	if v, ok := t.(VectorType); ok {
		return cql.VectorType{SubType: toCQL(v.SubType), Dimensions: v.Dimensions}
	}
	return compositeToCQL(t)
}
