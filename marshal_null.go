// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"unsafe"
)

// This file holds the plans of what wraps a value of any CQL type: pointers, Null[T], the structs of package database/sql, and any.

// planPointerEncode does *T and **T, nil being NULL at either level. Longer chains, endless ones among them, are left to the reference.
func planPointerEncode(info TypeInfo, t reflect.Type) encodeAt {
	if pointers(t) > 2 {
		return nil
	}
	elem := planEncode(info, t.Elem())
	if elem == nil {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		if p = *(*unsafe.Pointer)(p); p == nil {
			return appendNull(dst), nil
		}
		return elem(dst, p)
	}
}

func planPointerDecode(info TypeInfo, t reflect.Type) decodeAt {
	if pointers(t) > 2 {
		return nil
	}
	elem := planDecode(info, t.Elem())
	if elem == nil {
		return nil
	}
	to := t.Elem()
	return func(cell []byte, p unsafe.Pointer) error {
		v := reflect.New(to).UnsafePointer() // never what *p points to: the caller may have kept it
		if err := elem(cell, v); err != nil {
			return err
		}
		*(*unsafe.Pointer)(p) = v
		return nil
	}
}

// pointers returns how many pointers t begins with, 3 for all that are more.
func pointers(t reflect.Type) (n int) {
	for n < 3 && t.Kind() == reflect.Pointer {
		t = t.Elem()
		n++
	}
	return n
}

// nullableField returns the field with the value of a Null[T] or a Null type of database/sql; the other field is Valid.
func nullableField(t reflect.Type) (value reflect.StructField, ok bool) {
	if t.Kind() != reflect.Struct || t.NumField() != 2 {
		return value, false
	}
	if !t.Implements(reflect.TypeFor[interface{ nullValue() (any, bool) }]()) && t.PkgPath() != "database/sql" {
		return value, false
	}
	if t.Field(1).Name != "Valid" || t.Field(1).Type.Kind() != reflect.Bool {
		return value, false
	}
	return t.Field(0), true
}

func planNullableEncode(info TypeInfo, t reflect.Type, value reflect.StructField) encodeAt {
	elem := planEncode(info, value.Type)
	if elem == nil {
		return nil
	}
	valid := t.Field(1).Offset
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		if !*(*bool)(unsafe.Add(p, valid)) {
			return appendNull(dst), nil
		}
		return elem(dst, unsafe.Add(p, value.Offset))
	}
}

func planNullableDecode(info TypeInfo, t reflect.Type, value reflect.StructField) decodeAt {
	elem := planDecode(info, value.Type)
	if elem == nil {
		return nil
	}
	valid := t.Field(1).Offset
	return func(cell []byte, p unsafe.Pointer) error {
		if err := elem(cell, unsafe.Add(p, value.Offset)); err != nil {
			return err
		}
		*(*bool)(unsafe.Add(p, valid)) = true
		return nil
	}
}

// planInterfaceEncode does values held in an any, whose type is only known one by one.
func planInterfaceEncode(info TypeInfo, t reflect.Type) encodeAt {
	if t != reflect.TypeFor[any]() {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		v := *(*any)(p)
		switch v.(type) {
		case nil:
			return appendNull(dst), nil
		case unsetColumn:
			return dst, fmt.Errorf("%w inside another value", ErrUnset)
		}
		if out, ok, err := bulkAppend(dst, info, v); ok {
			return out, err
		}
		return reflectEncode(dst, info, v)
	}
}

// planInterfaceDecode decodes into the default Go type of info.
func planInterfaceDecode(info TypeInfo, t reflect.Type) decodeAt {
	to := defaultGoType(info)
	if t != reflect.TypeFor[any]() || to == nil {
		return nil
	}
	elem := planDecode(info, to)
	if elem == nil {
		return nil
	}
	if !isBoxed(to) {
		return func(cell []byte, p unsafe.Pointer) error {
			v := reflect.New(to)
			if err := elem(cell, v.UnsafePointer()); err != nil {
				return err
			}
			*(*any)(p) = v.Elem().Interface()
			return nil
		}
	}
	// The interface takes over the memory that the value was decoded into: one allocation, not two.
	zero := reflect.Zero(to).Interface()
	return func(cell []byte, p unsafe.Pointer) error {
		v := reflect.New(to).UnsafePointer()
		if err := elem(cell, v); err != nil {
			return err
		}
		*(*any)(p) = withDataWord(zero, v)
		return nil
	}
}
