// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Go values to cells: collections, tuples, user-defined types and vectors.

// appendCell appends content with its length; nil is NULL.
func appendCell(dst, content []byte) ([]byte, error) {
	if len(content) > math.MaxInt32 {
		return nil, fmt.Errorf("%w: more than %d bytes", cql.ErrRange, math.MaxInt32)
	}
	if content == nil {
		return binary.BigEndian.AppendUint32(dst, math.MaxUint32), nil
	}
	return append(binary.BigEndian.AppendUint32(dst, uint32(len(content))), content...), nil
}

// appendValue appends v as a cell. part names the value in an error.
func (d *Dialect) appendValue(dst []byte, info cql.TypeInfo, v reflect.Value, part any) ([]byte, error) {
	content, err := d.encode(info, v, 0)
	if err == nil {
		dst, err = appendCell(dst, content)
	}
	if err != nil {
		return nil, fmt.Errorf("%v: %w", part, err)
	}
	return dst, nil
}

// encodeList returns the content of a list or set. Elements may be NULL. The Go types are slices, arrays, and maps
// without values, for both.
func (d *Dialect) encodeList(info cql.CollectionType, v reflect.Value) (b []byte, err error) {
	t := v.Type()
	switch {
	case t.Kind() == reflect.Slice && v.IsNil():
		return nil, nil
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Array:
		b = binary.BigEndian.AppendUint32(nil, uint32(v.Len()))
		for i := range v.Len() {
			if b, err = d.appendValue(b, info.Elem, v.Index(i), i); err != nil {
				return nil, err
			}
		}
		return b, nil
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct && t.Elem().NumField() == 0:
		b = binary.BigEndian.AppendUint32(nil, uint32(v.Len())) // a nil map is empty, not NULL
		for _, key := range v.MapKeys() {
			if b, err = d.appendValue(b, info.Elem, key, key); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	return codec.Marshal(info, v.Interface())
}

// encodeMap returns the content of a map. Keys and values may be NULL.
func (d *Dialect) encodeMap(info cql.CollectionType, v reflect.Value) (b []byte, err error) {
	if v.Kind() != reflect.Map || v.IsNil() {
		return codec.Marshal(info, v.Interface())
	}
	b = binary.BigEndian.AppendUint32(nil, uint32(v.Len()))
	for entry := v.MapRange(); entry.Next(); {
		if b, err = d.appendValue(b, info.Key, entry.Key(), entry.Key()); err != nil {
			return nil, err
		}
		if b, err = d.appendValue(b, info.Elem, entry.Value(), entry.Key()); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// encodeTuple returns the content of a tuple in a slice, an array or a struct with as many fields.
func (d *Dialect) encodeTuple(info cql.TupleTypeInfo, v reflect.Value) (b []byte, err error) {
	part, n := v.Index, 0
	switch v.Kind() {
	case reflect.Slice, reflect.Array:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil, nil
		}
		n = v.Len()
	case reflect.Struct:
		part, n = v.Field, v.NumField()
	default:
		return codec.Marshal(info, v.Interface())
	}
	if n != len(info.Elems) {
		return nil, fmt.Errorf("%w: %d values for a tuple of %d", cql.ErrDimension, n, len(info.Elems))
	}
	b = []byte{}
	for i, e := range info.Elems {
		if b, err = d.appendValue(b, e, part(i), i); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// encodeUDT returns the content of a user-defined type in a map[string]any or in any struct. A field is found by its
// tag `cql:"name"`, else by its exact name; missing fields are NULL, other fields are ignored.
func (d *Dialect) encodeUDT(info cql.UDTTypeInfo, v reflect.Value) (b []byte, err error) {
	var field func(name string) reflect.Value
	switch t := v.Type(); {
	case t == reflect.TypeFor[map[string]any]():
		field = func(name string) reflect.Value { return v.MapIndex(reflect.ValueOf(name)) }
	case t.Kind() == reflect.Struct && t != reflect.TypeFor[cql.Unset]():
		fields := fieldsOf(t)
		field = func(name string) reflect.Value {
			if index, ok := fields.index(t, name); ok {
				f, err := v.FieldByIndexErr(index)
				if err == nil && f.CanInterface() {
					return f
				}
			}
			return reflect.Value{}
		}
	default:
		return codec.Marshal(info, v.Interface())
	}
	b = []byte{}
	for _, f := range info.Elements {
		if b, err = d.appendValue(b, f.Type, field(f.Name), f.Name); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// fieldTags maps the tags `cql:"name"` of a struct's own fields to their index.
type fieldTags map[string][]int

func fieldsOf(t reflect.Type) fieldTags {
	tags := fieldTags{}
	for i := range t.NumField() {
		f := t.Field(i)
		if tag := f.Tag.Get("cql"); tag != "" {
			tags[tag] = f.Index
		}
	}
	return tags
}

// index returns the index of the field of t for a field of a user-defined type.
func (tags fieldTags) index(t reflect.Type, name string) (index []int, ok bool) {
	if index, ok = tags[name]; ok {
		return index, true
	}
	f, ok := t.FieldByName(name)
	return f.Index, ok
}

// encodeVector returns the content of a vector. The elements encode themselves in this dialect, except floats, which
// the driver rounds to the vector's elements and gocql refuses.
func (d *Dialect) encodeVector(info cql.VectorType, v reflect.Value) ([]byte, error) {
	k := v.Kind()
	if k != reflect.Slice && k != reflect.Array || k == reflect.Slice && v.IsNil() || areFloats(info, v.Type().Elem()) {
		return codec.Marshal(info, v.Interface())
	}
	elements := make([]any, v.Len())
	for i := range elements {
		elements[i] = bound{d, v.Index(i).Interface()}
	}
	return codec.Marshal(info, elements)
}

// areFloats reports whether the elements of a vector are floats, and also the elements of a Go slice with elements of
// type t.
func areFloats(info cql.VectorType, t reflect.Type) bool {
	typ := info.SubType.Type()
	return (typ == cql.TypeFloat || typ == cql.TypeDouble) &&
		(t.Kind() == reflect.Float32 || t.Kind() == reflect.Float64) && !codec.HasOwnCodec(t)
}
