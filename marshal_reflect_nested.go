// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/wire"
)

// This file is the part of the reference encoder for types made of others: list, set, map, tuple, UDT and vector.

// appendContent appends a cell with content b, nil for NULL.
func appendContent(dst, b []byte) ([]byte, error) {
	if len(b) > math.MaxInt32 {
		return dst, errTooLong
	}
	return wire.AppendBytes(dst, b)
}

var errTooLong = fmt.Errorf("%w: more than %d bytes", ErrRange, math.MaxInt32)

// appendElement appends an element that must not be NULL.
func appendElement(dst []byte, info TypeInfo, v reflect.Value) ([]byte, error) {
	b, err := encodeReflect(info, v, 0)
	if err == nil && b == nil {
		err = ErrNull
	}
	if err != nil {
		return dst, err
	}
	return appendContent(dst, b)
}

func encodeList(info CollectionType, v reflect.Value) ([]byte, error) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Slice && v.IsNil(), t.Kind() == reflect.Map && v.IsNil() && isSetMap(info, t):
		return nil, nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		b := wire.AppendInt(nil, int32(v.Len()))
		for i := range v.Len() {
			var err error
			if b, err = appendElement(b, info.Elem, v.Index(i)); err != nil {
				return nil, fmt.Errorf("element %d: %w", i, err)
			}
		}
		return b, nil
	case isSetMap(info, t):
		b := wire.AppendInt(nil, int32(v.Len()))
		for _, key := range v.MapKeys() {
			var err error
			if b, err = appendElement(b, info.Elem, key); err != nil {
				return nil, fmt.Errorf("element %v: %w", key, err)
			}
		}
		return b, nil
	}
	return nil, noConversion(t)
}

// isSetMap reports whether t is a map that stands for a set: one without values.
func isSetMap(info CollectionType, t reflect.Type) bool {
	return info.typ == TypeSet && t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0
}

func encodeMap(info CollectionType, v reflect.Value) ([]byte, error) {
	if v.Kind() != reflect.Map {
		return nil, noConversion(v.Type())
	}
	if v.IsNil() {
		return nil, nil
	}
	b := wire.AppendInt(nil, int32(v.Len()))
	for entry := v.MapRange(); entry.Next(); { // rather than by key: a NaN finds nothing
		var err error
		if b, err = appendElement(b, info.Key, entry.Key()); err != nil {
			return nil, fmt.Errorf("key %v: %w", entry.Key(), err)
		}
		if b, err = appendElement(b, info.Elem, entry.Value()); err != nil {
			return nil, fmt.Errorf("value of key %v: %w", entry.Key(), err)
		}
	}
	return b, nil
}

// encodeTuple takes the elements from a slice or array, or from a struct's exported fields in their order.
func encodeTuple(info TupleTypeInfo, v reflect.Value) ([]byte, error) {
	var values []reflect.Value
	switch t := v.Type(); t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice && v.IsNil() {
			return nil, nil
		}
		for i := range v.Len() {
			values = append(values, v.Index(i))
		}
	case reflect.Struct:
		for _, f := range codedFields(t) {
			values = append(values, v.FieldByIndex(f.Index))
		}
	default:
		return nil, noConversion(t)
	}
	if len(values) != len(info.Elems) {
		return nil, fmt.Errorf("%w: %d values for a tuple of %d", ErrDimension, len(values), len(info.Elems))
	}
	b := []byte{}
	for i, value := range values {
		content, err := encodeReflect(info.Elems[i], value, 0)
		if err == nil {
			b, err = appendContent(b, content)
		}
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", i, err)
		}
	}
	return b, nil
}

// codedFields returns the fields of struct t that stand for the elements of a tuple.
func codedFields(t reflect.Type) []reflect.StructField {
	var fields []reflect.StructField
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && f.Tag.Get("cql") != "-" {
			fields = append(fields, f)
		}
	}
	return fields
}

// fieldFor finds the field of struct t for a UDT's field or a column: by its tag `cql:"name"`, by its name, or by its name in another
// case, in this order. Fields of embedded structs count as t's own.
func fieldFor(t reflect.Type, name string) (found reflect.StructField, ok bool) {
	const byCase, byName, byTag = 1, 2, 3
	rank := 0
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("cql")
		r := 0
		switch {
		case !f.IsExported() || tag == "-" || f.Anonymous && tag == "":
		case tag != "":
			if tag == name {
				r = byTag
			}
		case f.Name == name:
			r = byName
		case strings.EqualFold(f.Name, name):
			r = byCase
		}
		if r > rank && reachable(t, f.Index) {
			found, rank = f, r
		}
	}
	return found, rank > 0
}

// reachable reports whether the field lies within the struct itself, not behind an embedded pointer, which may be nil.
func reachable(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t = t.Field(i).Type; t.Kind() == reflect.Pointer {
			return false
		}
	}
	return true
}

// hasFieldOf reports whether struct t has a field for at least one of info's. One that has none, like time.Time, is no value of a UDT:
// everything in it would be lost.
func hasFieldOf(t reflect.Type, info UDTTypeInfo) bool {
	return len(info.Elements) == 0 || slices.ContainsFunc(info.Elements, func(f UDTField) bool {
		_, ok := fieldFor(t, f.Name)
		return ok
	})
}

// encodeUDT takes the fields from a struct or a map; those that it lacks are NULL. A key of a map that is no field is an error: its value
// would be lost.
func encodeUDT(info UDTTypeInfo, v reflect.Value) ([]byte, error) {
	t := v.Type()
	var value func(name string) reflect.Value
	switch {
	case t.Kind() == reflect.Struct:
		if !hasFieldOf(t, info) {
			return nil, noConversion(t)
		}
		value = func(name string) reflect.Value {
			if f, ok := fieldFor(t, name); ok {
				return v.FieldByIndex(f.Index)
			}
			return reflect.Value{}
		}
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		if v.IsNil() {
			return nil, nil
		}
		for _, key := range v.MapKeys() {
			if !slices.ContainsFunc(info.Elements, func(f UDTField) bool { return f.Name == key.String() }) {
				return nil, fmt.Errorf("%w: %s has no field %q", ErrConversion, info, key)
			}
		}
		value = func(name string) reflect.Value { return v.MapIndex(reflect.ValueOf(name).Convert(t.Key())) }
	default:
		return nil, noConversion(t)
	}
	b := []byte{}
	for _, f := range info.Elements {
		content, err := encodeReflect(f.Type, value(f.Name), 0)
		if err == nil {
			b, err = appendContent(b, content)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return b, nil
}

func encodeUDTMarshaler(info UDTTypeInfo, m UDTMarshaler) ([]byte, error) {
	b := []byte{}
	for _, f := range info.Elements {
		content, err := callUDTMarshaler(m, f)
		if err == nil {
			b, err = appendContent(b, content)
		}
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return b, nil
}

// encodeVector writes the elements one after the other: as they are where fixedSize tells their size, else behind an [unsigned vint]
// with their length. There is no count, and no NULL.
func encodeVector(info VectorType, v reflect.Value) ([]byte, error) {
	t := v.Type()
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return nil, noConversion(t)
	}
	if t.Kind() == reflect.Slice && v.IsNil() {
		return nil, nil
	}
	if v.Len() != info.Dimensions {
		return nil, fmt.Errorf("%w: %d elements for a dimension of %d", ErrDimension, v.Len(), info.Dimensions)
	}
	size := fixedSize(info.SubType)
	b := []byte{}
	for i := range v.Len() {
		element, err := encodeReflect(info.SubType, v.Index(i), 0)
		switch {
		case err != nil:
		case element == nil:
			err = ErrNull
		case size < 0:
			b = wire.AppendUvint(b, uint64(len(element)))
		case len(element) != size: // only a Marshaler can do this
			err = fmt.Errorf("%w: an element of %d bytes, want %d", ErrRange, len(element), size)
		}
		if err != nil {
			return nil, fmt.Errorf("element %d: %w", i, err)
		}
		if b = append(b, element...); len(b) > math.MaxInt32 {
			return nil, errTooLong
		}
	}
	return b, nil
}
