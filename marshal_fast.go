// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/vecql/vecql/internal/wire"
)

// This file chooses plans: what to do with every value of one Go type in one column, decided once. A plan works on the address of the
// value, so that pointers, fields of structs and elements of slices need no interface, no allocation and no code of their own.
// A pair without a plan belongs to the reference (marshal_reflect.go), which every plan must equal byte for byte.

// encodeAt appends the value at p as a whole cell. p points to a value of the Go type that the plan was made for, and is not retained.
type encodeAt func(dst []byte, p unsafe.Pointer) ([]byte, error)

// decodeAt decodes a cell into the value at p. What it stores never shares memory with cell, nor with what was at p before; after an
// error what is at p is unspecified.
// A plan made by planDecode takes a nil cell for NULL; the functions below it are never given one.
type decodeAt func(cell []byte, p unsafe.Pointer) error

// fastEncode returns the plan for values of type t in a column of type info; nil when there is none.
func fastEncode(info TypeInfo, t reflect.Type) encodeFunc {
	if t == nil {
		return nil
	}
	if t.Kind() == reflect.Pointer {
		elem := planEncode(info, t.Elem())
		if elem == nil {
			return nil
		}
		return func(dst []byte, info TypeInfo, v any) ([]byte, error) {
			if reflect.TypeOf(v) != t {
				return reflectEncode(dst, info, v)
			}
			p := dataWord(v)
			if p == nil {
				return appendNull(dst), nil
			}
			return elem(dst, p)
		}
	}
	plan := planEncode(info, t)
	if plan == nil {
		return nil
	}
	boxed := isBoxed(t)
	return func(dst []byte, info TypeInfo, v any) ([]byte, error) {
		if reflect.TypeOf(v) != t {
			return reflectEncode(dst, info, v)
		}
		if boxed {
			return plan(dst, dataWord(v))
		}
		c := reflect.New(t)
		c.Elem().Set(reflect.ValueOf(v))
		return plan(dst, c.UnsafePointer())
	}
}

// fastDecode returns the plan for destinations of type t, a pointer type, in a column of type info; nil when there is none.
func fastDecode(info TypeInfo, t reflect.Type) decodeFunc {
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	if t.Implements(reflect.TypeFor[inPlace]()) {
		return func(info TypeInfo, cell []byte, dst any) error {
			if dataWord(dst) == nil {
				return reflectDecode(info, cell, dst)
			}
			return dst.(Unmarshaler).UnmarshalCQL(info, cell)
		}
	}
	plan := planDecode(info, t.Elem())
	if plan == nil {
		return nil
	}
	return func(info TypeInfo, cell []byte, dst any) error {
		p := dataWord(dst)
		if reflect.TypeOf(dst) != t || p == nil {
			return reflectDecode(info, cell, dst)
		}
		return plan(cell, p)
	}
}

// planEncode returns the plan for values of type t, nil when the reference must do it.
func planEncode(info TypeInfo, t reflect.Type) encodeAt {
	if hasOwnCodec(t) {
		return nil
	}
	if valueField, ok := nullableField(t); ok {
		return planNullableEncode(info, t, valueField)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return planPointerEncode(info, t)
	case reflect.Interface:
		return planInterfaceEncode(info, t)
	}
	switch info := info.(type) {
	case NativeType:
		return planNativeEncode(Type(info), t)
	case CustomType:
		return planTextEncode(t)
	case CollectionType:
		if info.typ == TypeMap {
			return planMapEncode(info, t)
		}
		return planListEncode(info, t)
	case TupleTypeInfo:
		return planTupleEncode(info, t)
	case UDTTypeInfo:
		return planUDTEncode(info, t)
	case VectorType:
		return planVectorEncode(info, t)
	}
	return nil
}

// planDecode returns the plan for destinations of type t (not *t), nil when the reference must do it.
func planDecode(info TypeInfo, t reflect.Type) decodeAt {
	plan := planValueDecode(info, t)
	if plan == nil {
		return nil
	}
	return func(cell []byte, p unsafe.Pointer) error {
		if cell == nil {
			decodeNull(t, p)
			return nil
		}
		return plan(cell, p)
	}
}

// decodeNull stores NULL in the value of type t at p: the zero value whatever the type is, 0, "", nil, Null[T]{}.
func decodeNull(t reflect.Type, p unsafe.Pointer) { reflect.NewAt(t, p).Elem().SetZero() }

// planValueDecode is planDecode for cells that are not NULL.
func planValueDecode(info TypeInfo, t reflect.Type) decodeAt {
	if hasOwnCodec(t) {
		return nil
	}
	if valueField, ok := nullableField(t); ok {
		return planNullableDecode(info, t, valueField)
	}
	switch t.Kind() {
	case reflect.Pointer:
		return planPointerDecode(info, t)
	case reflect.Interface:
		return planInterfaceDecode(info, t)
	}
	switch info := info.(type) {
	case NativeType:
		return planNativeDecode(Type(info), t)
	case CustomType:
		return planTextDecode(t)
	case CollectionType:
		if info.typ == TypeMap {
			return planMapDecode(info, t)
		}
		return planListDecode(info, t)
	case TupleTypeInfo:
		return planTupleDecode(info, t)
	case UDTTypeInfo:
		return planUDTDecode(info, t)
	case VectorType:
		return planVectorDecode(info, t)
	}
	return nil
}

// hasOwnCodec reports whether t or *t has a codec of the user's.
func hasOwnCodec(t reflect.Type) bool {
	for _, i := range [...]reflect.Type{
		reflect.TypeFor[Marshaler](), reflect.TypeFor[Unmarshaler](),
		reflect.TypeFor[UDTMarshaler](), reflect.TypeFor[UDTUnmarshaler](),
	} {
		if t.Implements(i) || reflect.PointerTo(t).Implements(i) {
			return true
		}
	}
	return false
}

func planNativeEncode(typ Type, t reflect.Type) encodeAt {
	switch typ {
	case TypeTinyInt, TypeSmallInt, TypeInt, TypeBigInt, TypeCounter, TypeVarint:
		return planIntEncode(typ, t)
	case TypeAscii, TypeText, TypeVarchar, TypeBlob, TypeCustom:
		return planTextEncode(t)
	case TypeBoolean, TypeFloat, TypeDouble, TypeDecimal:
		return planNumberEncode(typ, t)
	case TypeUUID, TypeTimeUUID, TypeInet:
		return planNetEncode(typ, t)
	case TypeDate, TypeTime, TypeTimestamp, TypeDuration:
		return planTimeEncode(typ, t)
	}
	return nil
}

func planNativeDecode(typ Type, t reflect.Type) decodeAt {
	switch typ {
	case TypeTinyInt, TypeSmallInt, TypeInt, TypeBigInt, TypeCounter, TypeVarint:
		return planIntDecode(typ, t)
	case TypeAscii, TypeText, TypeVarchar, TypeBlob, TypeCustom:
		return planTextDecode(t)
	case TypeBoolean, TypeFloat, TypeDouble, TypeDecimal:
		return planNumberDecode(typ, t)
	case TypeUUID, TypeTimeUUID, TypeInet:
		return planNetDecode(typ, t)
	case TypeDate, TypeTime, TypeTimestamp, TypeDuration:
		return planTimeDecode(typ, t)
	}
	return nil
}

func appendNull(dst []byte) []byte { return wire.AppendInt(dst, wire.Null) }

// beginCell leaves room for a cell's length; endCell fills it in. at is where the cell begins.
func beginCell(dst []byte) (out []byte, at int) { return wire.AppendInt(dst, 0), len(dst) }

func endCell(dst []byte, at int) ([]byte, error) {
	n := len(dst) - at - 4
	if n > math.MaxInt32 {
		return dst[:at], errTooLong
	}
	binary.BigEndian.PutUint32(dst[at:], uint32(n))
	return dst, nil
}

// cellSize checks that a cell has exactly n bytes.
func cellSize(cell []byte, n int) error {
	switch {
	case len(cell) < n:
		return fmt.Errorf("%w: %d bytes, want %d", ErrMissing, len(cell), n)
	case len(cell) > n:
		return fmt.Errorf("%w: %d bytes, want %d", ErrTrailing, len(cell), n)
	}
	return nil
}

// typeWord returns the first word of an interface: it is the same for the same type.
func typeWord(v any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[0] }

// dataWord returns the second word of an interface: the pointer itself where v is a pointer, else the address of v's value, which is
// only to be read.
func dataWord(v any) unsafe.Pointer { return (*[2]unsafe.Pointer)(unsafe.Pointer(&v))[1] }

// withDataWord returns template with its value at p, which belongs to the result from now on. Not for pointer-shaped types.
func withDataWord(template any, p unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&template))[1] = p
	return template
}

// isBoxed reports whether an interface holds the address of a value of type t: false for pointer-shaped types, which it holds
// themselves. Whether a struct or array around nothing but a pointer is one is the compiler's choice; false is the safe answer, it costs a copy.
func isBoxed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return false
	case reflect.Array:
		return t.Size() != unsafe.Sizeof(uintptr(0)) || isBoxed(t.Elem())
	case reflect.Struct:
		if t.Size() != unsafe.Sizeof(uintptr(0)) {
			return true
		}
		for i := range t.NumField() {
			if f := t.Field(i).Type; f.Size() > 0 && isBoxed(f) {
				return true
			}
		}
		return false
	}
	return true
}
