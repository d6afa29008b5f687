// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/cql"
)

// Plans of wrappers of values: pointers, Null[T], the Null structs of package database/sql, and any.

// planPointerEncode returns the plan of *T and **T; nil is NULL at either level. Longer chains, which may be cyclic,
// take the reference.
func planPointerEncode(info cql.TypeInfo, t reflect.Type) EncodeAt {
	if pointers(t) > 2 {
		return nil
	}
	elem := PlanEncode(info, t.Elem())
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

// planPointerDecode returns the plan for a pointer, which is set to a new value, nil for NULL.
func planPointerDecode(info cql.TypeInfo, t reflect.Type) DecodeAt {
	if pointers(t) > 2 {
		return nil
	}
	elem := planCell(info, t.Elem())
	if elem == nil {
		return nil
	}
	to := t.Elem()
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		v := reflect.New(to).UnsafePointer() // never the old target of *p: the caller may have kept it
		if err := elem(cell, v, s); err != nil {
			return err
		}
		*(*unsafe.Pointer)(p) = v
		return nil
	}
}

// pointers returns the number of leading pointers of t, at most 3.
func pointers(t reflect.Type) (n int) {
	for n < 3 && t.Kind() == reflect.Pointer {
		t = t.Elem()
		n++
	}
	return n
}

// nullPackage is the import path of Null.
var nullPackage = reflect.TypeFor[cql.Null[int]]().PkgPath()

// IsNull reports whether t is a Null[T] or a Null type of database/sql. The first field of such a struct is the value,
// the second Valid.
func IsNull(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() != 2 || t.PkgPath() != nullPackage && t.PkgPath() != "database/sql" {
		return false
	}
	valid := t.Field(1)
	return valid.Name == "Valid" && valid.Type.Kind() == reflect.Bool
}

// IsNullable reports whether t can hold NULL as distinct from every value.
func IsNullable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return true
	}
	return IsNull(t) || t.PkgPath() == "database/sql" ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[cql.Unmarshaler]())
}

// planNullableEncode returns the plan of a type that IsNull accepts: a value, then a bool that is false for NULL.
func planNullableEncode(info cql.TypeInfo, t reflect.Type) EncodeAt {
	value := t.Field(0)
	elem := PlanEncode(info, value.Type)
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

// planNullableDecode returns the plan that decodes the value and sets the bool.
func planNullableDecode(info cql.TypeInfo, t reflect.Type) DecodeAt {
	value := t.Field(0)
	elem := planCell(info, value.Type)
	if elem == nil {
		return nil
	}
	valid := t.Field(1).Offset
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		if err := elem(cell, unsafe.Add(p, value.Offset), s); err != nil {
			return err
		}
		*(*bool)(unsafe.Add(p, valid)) = true
		return nil
	}
}

// planInterfaceEncode returns the plan of values in an any, whose types vary.
func planInterfaceEncode(info cql.TypeInfo, t reflect.Type) EncodeAt {
	if t != reflect.TypeFor[any]() {
		return nil
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		v := *(*any)(p)
		switch v.(type) {
		case nil:
			return appendNull(dst), nil
		case cql.Unset:
			return dst, fmt.Errorf("%w inside another value", cql.ErrUnset)
		}
		if out, ok, err := switchAppend(dst, info, v); ok {
			return out, err
		}
		return ReferenceEncode(dst, info, v)
	}
}

// planInterfaceDecode returns the plan that decodes into the default Go type of info.
func planInterfaceDecode(info cql.TypeInfo, t reflect.Type) DecodeAt {
	to := DefaultGoType(info)
	if t != reflect.TypeFor[any]() || to == nil {
		return nil
	}
	elem := planCell(info, to)
	if elem == nil {
		return nil
	}
	if !isBoxed(to) {
		return func(cell []byte, p unsafe.Pointer, s *Shared) error {
			v := reflect.New(to)
			if err := elem(cell, v.UnsafePointer(), s); err != nil {
				return err
			}
			*(*any)(p) = v.Elem().Interface()
			return nil
		}
	}
	// The interface takes ownership of the decoded value's memory: one allocation instead of two.
	zero := reflect.Zero(to).Interface()
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		v := reflect.New(to).UnsafePointer()
		if err := elem(cell, v, s); err != nil {
			return err
		}
		*(*any)(p) = withDataWord(zero, v)
		return nil
	}
}
