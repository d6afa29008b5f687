// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"strconv"
	"strings"
)

// CQL types and their parameters (native_protocol_v5.spec, section 4.2.5.2).

// A Type is the option id of a CQL type. A vector has no id of its own: the protocol sends it as TypeCustom with a
// class name.
type Type int

// The option ids of native_protocol_v5.spec, section 4.2.5.2.
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
	TypeText      Type = 0x000A // sent by protocol v2 and older; the same type as TypeVarchar
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

var typeNames = map[Type]string{
	TypeCustom: "custom", TypeAscii: "ascii", TypeBigInt: "bigint", TypeBlob: "blob", TypeBoolean: "boolean",
	TypeCounter: "counter", TypeDecimal: "decimal", TypeDouble: "double", TypeFloat: "float", TypeInt: "int",
	TypeText: "text", TypeTimestamp: "timestamp", TypeUUID: "uuid", TypeVarchar: "text", TypeVarint: "varint",
	TypeTimeUUID: "timeuuid", TypeInet: "inet", TypeDate: "date", TypeTime: "time", TypeSmallInt: "smallint",
	TypeTinyInt: "tinyint", TypeDuration: "duration", TypeList: "list", TypeMap: "map", TypeSet: "set", TypeUDT: "udt",
	TypeTuple: "tuple",
}

// String returns the CQL name of t, or "unknown(0x…)".
func (t Type) String() string {
	if s, ok := typeNames[t]; ok {
		return s
	}
	return "unknown(0x" + strconv.FormatInt(int64(t), 16) + ")"
}

// A TypeInfo is a CQL type with its parameters: a NativeType, CustomType, CollectionType, TupleTypeInfo, UDTTypeInfo or
// VectorType. Values are immutable and may be shared by any number of goroutines.
type TypeInfo interface {
	// Type returns the option id; TypeCustom for a vector.
	Type() Type
	// String returns the type as CQL writes it, e.g. "map<text, vector<float, 384>>".
	String() string
}

// A NativeType is a type without parameters: each Type below TypeList except TypeCustom.
type NativeType Type

// NewNativeType returns typ as a TypeInfo. For TypeCustom it parses class by Cassandra's class grammar, which may name
// a vector; a class that cannot be parsed becomes a CustomType. The signature is gocql's; proto is not used.
func NewNativeType(proto byte, typ Type, class string) TypeInfo {
	if typ != TypeCustom {
		return NativeType(typ)
	}
	info, err := ParseClassName(class)
	if err != nil {
		return CustomType{Class: class}
	}
	return info
}

// Type implements TypeInfo.
func (t NativeType) Type() Type { return Type(t) }

// String implements TypeInfo.
func (t NativeType) String() string { return Type(t).String() }

// A CustomType is a class of the server for which the driver has no codec. Its values are raw bytes.
type CustomType struct{ Class string }

// Type implements TypeInfo.
func (t CustomType) Type() Type { return TypeCustom }

// String implements TypeInfo.
func (t CustomType) String() string { return "'" + t.Class + "'" }

// A CollectionType is a list<Elem>, set<Elem> or map<Key, Elem>.
type CollectionType struct {
	typ  Type
	Key  TypeInfo // maps only
	Elem TypeInfo
}

// NewListType returns list<elem>.
func NewListType(elem TypeInfo) CollectionType { return CollectionType{typ: TypeList, Elem: elem} }

// NewSetType returns set<elem>.
func NewSetType(elem TypeInfo) CollectionType { return CollectionType{typ: TypeSet, Elem: elem} }

// NewMapType returns map<key, elem>.
func NewMapType(key, elem TypeInfo) CollectionType {
	return CollectionType{typ: TypeMap, Key: key, Elem: elem}
}

// Type implements TypeInfo: TypeList, TypeSet or TypeMap.
func (t CollectionType) Type() Type { return t.typ }

// String implements TypeInfo.
func (t CollectionType) String() string {
	if t.typ == TypeMap {
		return "map<" + t.Key.String() + ", " + t.Elem.String() + ">"
	}
	return t.typ.String() + "<" + t.Elem.String() + ">"
}

// A TupleTypeInfo is a tuple<Elems...>.
type TupleTypeInfo struct{ Elems []TypeInfo }

// Type implements TypeInfo.
func (t TupleTypeInfo) Type() Type { return TypeTuple }

// String implements TypeInfo.
func (t TupleTypeInfo) String() string {
	names := make([]string, len(t.Elems))
	for i, e := range t.Elems {
		names[i] = e.String()
	}
	return "tuple<" + strings.Join(names, ", ") + ">"
}

// A UDTField is one field of a user-defined type.
type UDTField struct {
	Name string
	Type TypeInfo
}

// A UDTTypeInfo is a user-defined type. Its fields are in the order of CREATE TYPE and ALTER TYPE ... ADD.
type UDTTypeInfo struct {
	Keyspace string
	Name     string
	Elements []UDTField
}

// Type implements TypeInfo.
func (t UDTTypeInfo) Type() Type { return TypeUDT }

// String implements TypeInfo: the qualified name.
func (t UDTTypeInfo) String() string {
	if t.Keyspace == "" {
		return t.Name
	}
	return t.Keyspace + "." + t.Name
}

// A VectorType is a vector<SubType, Dimensions>: exactly Dimensions elements, none of them null.
type VectorType struct {
	SubType    TypeInfo
	Dimensions int
}

// Type implements TypeInfo: TypeCustom, since the protocol has no option id for vectors.
func (t VectorType) Type() Type { return TypeCustom }

// String implements TypeInfo.
func (t VectorType) String() string {
	return "vector<" + t.SubType.String() + ", " + strconv.Itoa(t.Dimensions) + ">"
}

// A ColumnInfo describes a result column or a bind marker.
type ColumnInfo struct {
	Keyspace string
	Table    string
	Name     string
	TypeInfo TypeInfo
}
