// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// Names of CQL types.

// A Type is the option id of a CQL type.
type Type int

// String returns the name of the type.
func (t Type) String() string {
	id := cql.Type(t)
	switch {
	case id == cql.TypeVarchar:
		return "varchar"
	case t < 0 || id == cql.TypeUDT || id > cql.TypeDuration && id < cql.TypeList ||
		id > cql.TypeSet && id != cql.TypeTuple:
		return fmt.Sprintf("unknown_type_%d", int(t))
	}
	return id.String()
}

// MarshalPackage is the Java package of the server's types.
const MarshalPackage = "org.apache.cassandra.db.marshal."

// classes are the names of the server's classes for types that a vector may have.
var classes = map[cql.Type]string{
	cql.TypeAscii: "AsciiType", cql.TypeBigInt: "LongType", cql.TypeBlob: "BytesType", cql.TypeBoolean: "BooleanType",
	cql.TypeCounter: "CounterColumnType", cql.TypeDecimal: "DecimalType", cql.TypeDouble: "DoubleType",
	cql.TypeFloat: "FloatType", cql.TypeInt: "Int32Type", cql.TypeText: "UTF8Type", cql.TypeTimestamp: "TimestampType",
	cql.TypeUUID: "UUIDType", cql.TypeVarchar: "UTF8Type", cql.TypeVarint: "IntegerType",
	cql.TypeTimeUUID: "TimeUUIDType", cql.TypeInet: "InetAddressType", cql.TypeDate: "SimpleDateType",
	cql.TypeTime: "TimeType", cql.TypeSmallInt: "ShortType", cql.TypeTinyInt: "ByteType",
	cql.TypeDuration: "DurationType", cql.TypeList: "ListType", cql.TypeMap: "MapType", cql.TypeSet: "SetType",
	cql.TypeTuple: "TupleType",
}

// ClassName returns the class of a type as the server writes it in a TypeCustom. Elements of vectors are frozen, which
// the name leaves out: the encoding is the same.
func ClassName(t cql.TypeInfo) string {
	switch t := t.(type) {
	case cql.CustomType:
		return t.Class
	case cql.VectorType:
		return fmt.Sprintf("%sVectorType(%s, %d)", MarshalPackage, ClassName(t.SubType), t.Dimensions)
	case cql.CollectionType:
		elems := ClassName(t.Elem)
		if t.Type() == cql.TypeMap {
			elems = ClassName(t.Key) + "," + elems
		}
		return MarshalPackage + classes[t.Type()] + "(" + elems + ")"
	case cql.TupleTypeInfo:
		elems := Each(t.Elems, ClassName)
		return MarshalPackage + "TupleType(" + strings.Join(elems, ",") + ")"
	case cql.UDTTypeInfo:
		parts := []string{t.Keyspace, fmt.Sprintf("%x", t.Name)}
		for _, e := range t.Elements {
			parts = append(parts, fmt.Sprintf("%x:%s", e.Name, ClassName(e.Type)))
		}
		return MarshalPackage + "UserType(" + strings.Join(parts, ",") + ")"
	}
	return MarshalPackage + classes[t.Type()]
}

// A Native is a type without parameters, or a class of the server. It is embedded in the NativeType of v1.7 and the
// fork.
type Native struct {
	proto  byte
	typ    Type
	custom string
}

// NewNative returns a type of a connection with that version of the protocol. custom is the class of a TypeCustom.
func NewNative(proto byte, typ Type, custom string) Native { return Native{proto, typ, custom} }

// Type implements TypeInfo.
func (t Native) Type() Type { return t.typ }

// Version implements TypeInfo.
func (t Native) Version() byte { return t.proto }

// Custom implements TypeInfo.
func (t Native) Custom() string { return t.custom }

// String returns the name of the type.
func (t Native) String() string {
	if t.typ == 0 {
		return "custom(" + t.custom + ")"
	}
	return t.typ.String()
}

// CollectionText returns the text of a list, a set or a map: "map(int, varchar)".
func CollectionText(t Native, key, elem any) string {
	switch cql.Type(t.typ) {
	case cql.TypeMap:
		return fmt.Sprintf("%v(%v, %v)", t.typ, key, elem)
	case cql.TypeList, cql.TypeSet:
		return fmt.Sprintf("%v(%v)", t.typ, elem)
	}
	return t.String()
}

// TupleText returns the text of a tuple: "tuple(int, varchar)".
func TupleText[T any](t Native, elems []T) string {
	names := make([]string, len(elems))
	for i, e := range elems {
		names[i] = fmt.Sprint(e)
	}
	return t.typ.String() + "(" + strings.Join(names, ", ") + ")"
}

// UDTText returns the text of a user-defined type: "ks.address{street=varchar,no=int}". field returns the name and the
// type of a field.
func UDTText[F, T any](keyspace, name string, fields []F, field func(F) (string, T)) string {
	texts := make([]string, len(fields))
	for i, f := range fields {
		name, typ := field(f)
		texts[i] = fmt.Sprintf("%s=%v", name, typ)
	}
	return keyspace + "." + name + "{" + strings.Join(texts, ",") + "}"
}

// Types makes the TypeInfos of a module, T. Vector may be nil: a vector is then a class of the server.
type Types[T any] struct {
	Native     func(n Native) T
	Collection func(n Native, key, elem T) T
	Tuple      func(n Native, elems []T) T
	UDT        func(n Native, t cql.UDTTypeInfo, fields []T) T
	Vector     func(n Native, elem T, dimensions int) T
}

// Of returns the TypeInfo of a type of package cql, as a connection with that version of the protocol has it.
func (m *Types[T]) Of(t cql.TypeInfo, proto byte) (none T) {
	if t == nil {
		return none
	}
	n := Native{proto: proto, typ: Type(t.Type())}
	switch t := t.(type) {
	case cql.CollectionType:
		if t.Type() == cql.TypeMap {
			return m.Collection(n, m.Of(t.Key, proto), m.Of(t.Elem, proto))
		}
		return m.Collection(n, none, m.Of(t.Elem, proto))
	case cql.TupleTypeInfo:
		return m.Tuple(n, m.All(t.Elems, proto))
	case cql.UDTTypeInfo:
		fields := make([]T, len(t.Elements))
		for i, e := range t.Elements {
			fields[i] = m.Of(e.Type, proto)
		}
		return m.UDT(n, t, fields)
	case cql.NativeType:
		return m.Native(n)
	}
	n = Native{proto: proto, custom: ClassName(t)}
	if v, ok := t.(cql.VectorType); ok && m.Vector != nil {
		return m.Vector(n, m.Of(v.SubType, proto), v.Dimensions)
	}
	return m.Native(n)
}

// All returns the TypeInfos of types, nil for nil.
func (m *Types[T]) All(ts []cql.TypeInfo, proto byte) []T {
	return Each(ts, func(t cql.TypeInfo) T { return m.Of(t, proto) })
}

// Each applies convert to the elements of a slice. It returns nil for nil.
func Each[F, T any](from []F, convert func(F) T) []T {
	if from == nil {
		return nil
	}
	out := make([]T, len(from))
	for i, f := range from {
		out[i] = convert(f)
	}
	return out
}

// NewValue returns a pointer to the zero value of the Go type that stands for a CQL type in MapScan.
func NewValue(d *compat.Dialect, t cql.TypeInfo) (any, error) {
	goType := d.GoType(t)
	if goType == nil {
		return nil, fmt.Errorf("gocql: no Go type stands for the CQL type %v", t)
	}
	return reflect.New(goType).Interface(), nil
}

// PlainType returns the type of package cql that t, a module's TypeInfo, stands for. toCQL returns the CQL value of
// the value that a pointer points to: a *CollectionType has the methods too.
func PlainType[T interface {
	Type() Type
	Version() byte
	Custom() string
}](t T, toCQL func(T) cql.TypeInfo) cql.TypeInfo {
	if v := reflect.ValueOf(t); v.Kind() == reflect.Pointer && !v.IsNil() {
		if elem, ok := v.Elem().Interface().(T); ok {
			return toCQL(elem)
		}
	}
	return cql.NewNativeType(t.Version(), cql.Type(t.Type()), t.Custom())
}

// A ColumnInfo describes a result column or a bind marker, in v1.7 and v2.
type ColumnInfo[T any] struct {
	Keyspace string
	Table    string
	Name     string
	TypeInfo T
}

// String returns the fields.
func (c ColumnInfo[T]) String() string { return ColumnText(c.Keyspace, c.Table, c.Name, c.TypeInfo) }

// ColumnText returns the text of a column.
func ColumnText(keyspace, table, name string, typ any) string {
	return fmt.Sprintf("[column keyspace=%s table=%s name=%s type=%v]", keyspace, table, name, typ)
}

// Must returns v, and panics on an error.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
