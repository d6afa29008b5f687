// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"reflect"
	"strings"

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
	// NewWithError returns a pointer to the zero value of the Go type that stands for the CQL type in MapScan.
	NewWithError() (any, error)
}

// A NativeType is a type without parameters, or a class of the server.
type NativeType struct {
	proto  byte
	typ    Type
	custom string
}

// NewNativeType returns a type.
func NewNativeType(proto byte, typ Type) NativeType { return NativeType{proto: proto, typ: typ} }

// NewCustomType returns a type. custom is the class of a TypeCustom.
func NewCustomType(proto byte, typ Type, custom string) NativeType {
	return NativeType{proto, typ, custom}
}

// Type implements TypeInfo.
func (t NativeType) Type() Type { return t.typ }

// Version implements TypeInfo.
func (t NativeType) Version() byte { return t.proto }

// Custom implements TypeInfo.
func (t NativeType) Custom() string { return t.custom }

// NewWithError implements TypeInfo.
func (t NativeType) NewWithError() (any, error) { return newValue(t) }

// String returns the name of the type.
func (t NativeType) String() string {
	if t.typ == TypeCustom {
		return "custom(" + t.custom + ")"
	}
	return t.typ.String()
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

// NewWithError implements TypeInfo.
func (t CollectionType) NewWithError() (any, error) { return newValue(t) }

// String returns the type with the types of its elements: "map(int, varchar)".
func (t CollectionType) String() string {
	switch t.typ {
	case TypeMap:
		return fmt.Sprintf("%v(%v, %v)", t.typ, t.Key, t.Elem)
	case TypeList, TypeSet:
		return fmt.Sprintf("%v(%v)", t.typ, t.Elem)
	}
	return t.NativeType.String()
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

// NewWithError implements TypeInfo.
func (t TupleTypeInfo) NewWithError() (any, error) { return newValue(t) }

// String returns the type with the types of its elements: "tuple(int, varchar)".
func (t TupleTypeInfo) String() string {
	names := make([]string, len(t.Elems))
	for i, e := range t.Elems {
		names[i] = fmt.Sprint(e)
	}
	return t.typ.String() + "(" + strings.Join(names, ", ") + ")"
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
		NativeType: NativeType{proto: proto, typ: TypeUDT}, Name: name, KeySpace: keySpace, Elements: elems,
	}
}

// NewWithError implements TypeInfo.
func (t UDTTypeInfo) NewWithError() (any, error) { return newValue(t) }

// String returns the name and the fields: "ks.address{street=varchar,no=int}".
func (t UDTTypeInfo) String() string {
	fields := make([]string, len(t.Elements))
	for i, e := range t.Elements {
		fields[i] = fmt.Sprintf("%s=%v", e.Name, e.Type)
	}
	return t.KeySpace + "." + t.Name + "{" + strings.Join(fields, ",") + "}"
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

// newValue returns what NewWithError returns for t.
func newValue(t TypeInfo) (any, error) {
	goType := dialect.GoType(toCQL(t))
	if goType == nil {
		return nil, fmt.Errorf("gocql: no Go type stands for the CQL type %v", t)
	}
	return reflect.New(goType).Interface(), nil
}

// fromCQL returns the TypeInfo of a type of package cql, as a connection with that version of the protocol has it.
func fromCQL(t cql.TypeInfo, proto byte) TypeInfo {
	switch t := t.(type) {
	case nil:
		return nil
	case cql.CollectionType:
		c := CollectionType{NativeType: NativeType{proto: proto, typ: Type(t.Type())}, Elem: fromCQL(t.Elem, proto)}
		if t.Type() == cql.TypeMap {
			c.Key = fromCQL(t.Key, proto)
		}
		return c
	case cql.TupleTypeInfo:
		return TupleTypeInfo{NativeType: NativeType{proto: proto, typ: TypeTuple}, Elems: fromCQLs(t.Elems, proto)}
	case cql.UDTTypeInfo:
		u := UDTTypeInfo{NativeType: NativeType{proto: proto, typ: TypeUDT}, KeySpace: t.Keyspace, Name: t.Name}
		for _, e := range t.Elements {
			u.Elements = append(u.Elements, UDTField{Name: e.Name, Type: fromCQL(e.Type, proto)})
		}
		return u
	case cql.NativeType:
		return NativeType{proto: proto, typ: Type(t.Type())}
	case cql.VectorType:
		return VectorType{
			SubType: fromCQL(t.SubType, proto), Dimensions: t.Dimensions,
			NativeType: NativeType{proto: proto, typ: TypeCustom, custom: api.ClassName(t)},
		}
	}
	return NativeType{proto: proto, typ: TypeCustom, custom: api.ClassName(t)} // a class of the server
}

func fromCQLs(ts []cql.TypeInfo, proto byte) []TypeInfo {
	if ts == nil {
		return nil
	}
	out := make([]TypeInfo, len(ts))
	for i, t := range ts {
		out[i] = fromCQL(t, proto)
	}
	return out
}

// toCQL returns the type of package cql that t stands for. t may be a type of the program.
func toCQL(t TypeInfo) cql.TypeInfo {
	switch t := t.(type) {
	case nil:
		return nil
	case CollectionType:
		switch t.typ {
		case TypeList:
			return cql.NewListType(toCQL(t.Elem))
		case TypeSet:
			return cql.NewSetType(toCQL(t.Elem))
		case TypeMap:
			return cql.NewMapType(toCQL(t.Key), toCQL(t.Elem))
		}
	case VectorType:
		return cql.VectorType{SubType: toCQL(t.SubType), Dimensions: t.Dimensions}
	case TupleTypeInfo:
		out := cql.TupleTypeInfo{Elems: make([]cql.TypeInfo, len(t.Elems))}
		for i, e := range t.Elems {
			out.Elems[i] = toCQL(e)
		}
		return out
	case UDTTypeInfo:
		out := cql.UDTTypeInfo{Keyspace: t.KeySpace, Name: t.Name}
		for _, e := range t.Elements {
			out.Elements = append(out.Elements, cql.UDTField{Name: e.Name, Type: toCQL(e.Type)})
		}
		return out
	}
	if v := reflect.ValueOf(t); v.Kind() == reflect.Pointer && !v.IsNil() {
		if elem, ok := v.Elem().Interface().(TypeInfo); ok { // *CollectionType has the methods too
			return toCQL(elem)
		}
	}
	return cql.NewNativeType(t.Version(), cql.Type(t.Type()), t.Custom())
}

// A ColumnInfo describes a result column or a bind marker.
type ColumnInfo struct {
	TypeInfo TypeInfo
	Keyspace string
	Table    string
	Name     string
}

// String returns the fields.
func (c ColumnInfo) String() string {
	return fmt.Sprintf("[column keyspace=%s table=%s name=%s type=%v]", c.Keyspace, c.Table, c.Name, c.TypeInfo)
}

func fromColumns(columns []cql.ColumnInfo, proto byte) []ColumnInfo {
	if columns == nil {
		return nil
	}
	out := make([]ColumnInfo, len(columns))
	for i, c := range columns {
		out[i] = ColumnInfo{Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, TypeInfo: fromCQL(c.TypeInfo, proto)}
	}
	return out
}
