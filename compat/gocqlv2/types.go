// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	"github.com/vecql/vecql/cql"
)

// CQL types in the API's shape, and their conversion from and to the types of package cql.

// A Type is the option id of a CQL type.
type Type int

// A TypeInfo is a CQL type with its codec.
type TypeInfo interface {
	// Type returns the option id; TypeCustom for a vector and a class of the server.
	Type() Type
	// Zero returns the value of NULL in a dynamic read, such as Iter.MapScan.
	Zero() any
	// Marshal encodes a value; nil bytes mean NULL.
	Marshal(value any) ([]byte, error)
	// Unmarshal decodes a cell into the pointer value; nil bytes mean NULL.
	Unmarshal(data []byte, value any) error
}

// A CollectionType is a list, set or map.
type CollectionType struct {
	typ  Type
	Key  TypeInfo // maps only
	Elem TypeInfo
}

// A TupleTypeInfo is a tuple.
type TupleTypeInfo struct{ Elems []TypeInfo }

// A UDTField is one field of a user-defined type.
type UDTField struct {
	Name string
	Type TypeInfo
}

// A UDTTypeInfo is a user-defined type.
type UDTTypeInfo struct {
	Keyspace string
	Name     string
	Elements []UDTField
}

// A VectorType is a vector of a fixed dimension.
type VectorType struct {
	SubType    TypeInfo
	Dimensions int
}

// A nativeType is a type without parameters.
type nativeType struct{ typ Type }

// A customType is a class of the server that is not registered.
type customType struct{ class string }

// Type returns TypeList, TypeSet or TypeMap.
func (c CollectionType) Type() Type { return c.typ }

// Type returns TypeTuple.
func (TupleTypeInfo) Type() Type { return TypeTuple }

// Type returns TypeUDT.
func (u UDTTypeInfo) Type() Type { return TypeUDT }

// Type returns TypeCustom.
func (VectorType) Type() Type { return TypeCustom }

func (t nativeType) Type() Type { return t.typ }
func (customType) Type() Type   { return TypeCustom }

// Zero returns a nil slice or map.
func (c CollectionType) Zero() any { return zeroOf(c) }

// Zero returns the zero values of the elements, a []any.
func (t TupleTypeInfo) Zero() any { return zeroOf(t) }

// Zero returns a nil map[string]any.
func (UDTTypeInfo) Zero() any { return map[string]any(nil) }

// Zero returns a nil slice.
func (v VectorType) Zero() any { return zeroOf(v) }

func (t nativeType) Zero() any { return zeroOf(t) }
func (customType) Zero() any   { return nil }

// Marshal encodes a value.
func (c CollectionType) Marshal(value any) ([]byte, error) { return marshalAs(c, value) }

// Marshal encodes a value.
func (t TupleTypeInfo) Marshal(value any) ([]byte, error) { return marshalAs(t, value) }

// Marshal encodes a value.
func (u UDTTypeInfo) Marshal(value any) ([]byte, error) { return marshalAs(u, value) }

// Marshal encodes a value.
func (v VectorType) Marshal(value any) ([]byte, error) { return marshalAs(v, value) }

func (t nativeType) Marshal(value any) ([]byte, error) { return marshalAs(t, value) }
func (t customType) Marshal(value any) ([]byte, error) { return marshalAs(t, value) }

// Unmarshal decodes a cell.
func (c CollectionType) Unmarshal(data []byte, value any) error { return unmarshalAs(c, data, value) }

// Unmarshal decodes a cell. A value of []any holds one destination for each element.
func (t TupleTypeInfo) Unmarshal(data []byte, value any) error { return unmarshalAs(t, data, value) }

// Unmarshal decodes a cell.
func (u UDTTypeInfo) Unmarshal(data []byte, value any) error { return unmarshalAs(u, data, value) }

// Unmarshal decodes a cell.
func (v VectorType) Unmarshal(data []byte, value any) error { return unmarshalAs(v, data, value) }

func (t nativeType) Unmarshal(data []byte, value any) error { return unmarshalAs(t, data, value) }
func (t customType) Unmarshal(data []byte, value any) error { return unmarshalAs(t, data, value) }

// String returns the type, e.g. "map(text, int)".
func (c CollectionType) String() string {
	if c.typ == TypeMap {
		return fmt.Sprintf("map(%s, %s)", c.Key, c.Elem)
	}
	return fmt.Sprintf("%v(%s)", cql.Type(c.typ), c.Elem)
}

// String returns the type, e.g. "vector(float, 3)".
func (v VectorType) String() string { return fmt.Sprintf("vector(%s, %d)", v.SubType, v.Dimensions) }

func (t nativeType) String() string { return cql.Type(t.typ).String() }
func (t customType) String() string { return t.class }

// natives are the TypeInfos of types without parameters, by option id.
var natives = func() (t [TypeList]TypeInfo) {
	for i := range t {
		t[i] = nativeType{Type(i)}
	}
	return t
}()

// fromCQL returns a type of package cql in the API's shape.
func fromCQL(info cql.TypeInfo) TypeInfo { return (*RegisteredTypes)(nil).fromCQL(info) }

// fromCQL returns a type of package cql in the API's shape. A class of the server has its registered type.
func (r *RegisteredTypes) fromCQL(info cql.TypeInfo) TypeInfo {
	switch t := info.(type) {
	case cql.NativeType:
		if 0 < t && int(t) < len(natives) {
			return natives[t]
		}
		return nativeType{Type(t)}
	case cql.CollectionType:
		c := CollectionType{typ: Type(t.Type()), Elem: fromCQL(t.Elem)}
		if t.Key != nil {
			c.Key = fromCQL(t.Key)
		}
		return c
	case cql.TupleTypeInfo:
		return TupleTypeInfo{Elems: fromCQLs(t.Elems)}
	case cql.UDTTypeInfo:
		udt := UDTTypeInfo{Keyspace: t.Keyspace, Name: t.Name, Elements: make([]UDTField, len(t.Elements))}
		for i, f := range t.Elements {
			udt.Elements[i] = UDTField{Name: f.Name, Type: fromCQL(f.Type)}
		}
		return udt
	case cql.VectorType:
		return VectorType{SubType: fromCQL(t.SubType), Dimensions: t.Dimensions}
	case cql.CustomType:
		if registered := r.class(t.Class); registered != nil {
			return registered
		}
		return customType{t.Class}
	}
	return customType{}
}

func fromCQLs(infos []cql.TypeInfo) []TypeInfo {
	types := make([]TypeInfo, len(infos))
	for i, info := range infos {
		types[i] = fromCQL(info)
	}
	return types
}

// toCQL returns a type of the API as a type of package cql. ok is false for a program's own TypeInfo, and for a type
// that contains one.
func toCQL(info TypeInfo) (out cql.TypeInfo, ok bool) {
	switch t := info.(type) {
	case nativeType:
		return cql.NativeType(t.typ), true
	case CollectionType:
		return collectionToCQL(t)
	case TupleTypeInfo:
		elems := make([]cql.TypeInfo, len(t.Elems))
		for i, e := range t.Elems {
			if elems[i], ok = toCQL(e); !ok {
				return nil, false
			}
		}
		return cql.TupleTypeInfo{Elems: elems}, true
	case UDTTypeInfo:
		udt := cql.UDTTypeInfo{Keyspace: t.Keyspace, Name: t.Name, Elements: make([]cql.UDTField, len(t.Elements))}
		for i, f := range t.Elements {
			udt.Elements[i].Name = f.Name
			if udt.Elements[i].Type, ok = toCQL(f.Type); !ok {
				return nil, false
			}
		}
		return udt, true
	case VectorType:
		sub, ok := toCQL(t.SubType)
		return cql.VectorType{SubType: sub, Dimensions: t.Dimensions}, ok
	case customType:
		return cql.CustomType{Class: t.class}, true
	}
	return nil, false
}

func collectionToCQL(c CollectionType) (cql.TypeInfo, bool) {
	elem, ok := toCQL(c.Elem)
	if !ok {
		return nil, false
	}
	switch c.typ {
	case TypeList:
		return cql.NewListType(elem), true
	case TypeSet:
		return cql.NewSetType(elem), true
	}
	key, ok := toCQL(c.Key)
	return cql.NewMapType(key, elem), ok
}
