// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Cells to Go values: native types.

var byteType = reflect.TypeFor[byte]()

// errNotPointer means that a destination is not a pointer and has no methods of its own.
var errNotPointer = fmt.Errorf("%w: the destination must be a non-nil pointer", cql.ErrConversion)

// decodeInto stores cell in dest, which is a pointer, the elements of a tuple, or a value that decodes itself.
func (d *Dialect) decodeInto(info cql.TypeInfo, cell []byte, dest any) error {
	v := reflect.ValueOf(dest)
	if !v.IsValid() {
		return errNotPointer
	}
	if ok, err := decodeByMethod(info, cell, v); ok {
		return err
	}
	if elements, ok := dest.([]any); ok && info.Type() == cql.TypeTuple {
		return d.decodeElements(info.(cql.TupleTypeInfo), cell, elements)
	}
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errNotPointer
	}
	return d.decode(info, cell, v.Elem(), 0)
}

// decodeByMethod decodes cell by the methods of dest, a pointer or a value. ok is false if it has none.
func decodeByMethod(info cql.TypeInfo, cell []byte, dest reflect.Value) (ok bool, err error) {
	t := dest.Type()
	if codec.HasRole(t, codec.RoleUnmarshaler) {
		return true, codec.Unmarshal(info, cell, dest.Interface())
	}
	if info.Type() == cql.TypeUDT && codec.HasRole(t, codec.RoleUDTUnmarshaler) {
		if len(cell) == 0 { // no field, so no call
			return true, nil
		}
		return true, codec.Unmarshal(info, cell, dest.Interface())
	}
	return false, nil
}

// decode stores cell in v, which is settable. depth is the number of pointers followed.
func (d *Dialect) decode(info cql.TypeInfo, cell []byte, v reflect.Value, depth int) error {
	t := v.Type()
	if t.Kind() != reflect.Interface && depth > 0 {
		if ok, err := decodeByMethod(info, cell, v.Addr()); ok {
			return err
		}
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return d.decodePointer(info, cell, v, depth)
	case t.Kind() == reflect.Interface:
		return d.decodeAny(info, cell, v)
	case d.decodesAlike(info, t):
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	switch info := info.(type) {
	case cql.NativeType:
		return d.decodeNative(cql.Type(info), cell, v)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return d.decodeMap(info, cell, v)
		}
		return d.decodeList(info, cell, v)
	case cql.TupleTypeInfo:
		return d.decodeTuple(info, cell, v)
	case cql.UDTTypeInfo:
		return d.decodeUDT(info, cell, v)
	case cql.VectorType:
		return d.decodeVector(info, cell, v)
	}
	return codec.Unmarshal(info, cell, v.Addr().Interface())
}

// decodePointer sets v to nil for NULL, else to a new value. A cell without bytes is a value.
func (d *Dialect) decodePointer(info cql.TypeInfo, cell []byte, v reflect.Value, depth int) error {
	if cell == nil {
		v.SetZero()
		return nil
	}
	if depth == maxPointers {
		return fmt.Errorf("%w: a chain of more than %d pointers", cql.ErrConversion, maxPointers)
	}
	p := reflect.New(v.Type().Elem()) // never the old target of v: the program may have kept it
	if err := d.decode(info, cell, p.Elem(), depth+1); err != nil {
		return err
	}
	v.Set(p)
	return nil
}

// decodeAny stores a value of GoType(info) in an interface without methods. NULL is the zero value of the type that the
// interface holds, nil if it holds none. A pointer in the interface is the destination.
func (d *Dialect) decodeAny(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	held := v.Elem()
	switch {
	case v.NumMethod() > 0:
		return fmt.Errorf("%w: Go type %v", cql.ErrConversion, v.Type())
	case d.fork && ignoresHeld(info):
		return d.decodeForkAny(info, cell, v)
	case cell == nil && held.IsValid():
		v.Set(reflect.Zero(held.Type()))
		return nil
	case cell == nil:
		v.SetZero()
		return nil
	case held.IsValid() && held.Kind() == reflect.Pointer && !held.IsNil() && !isNumber(held.Type()):
		return d.decodeInto(info, cell, held.Interface())
	}
	return d.decodeNew(info, cell, v)
}

// decodeNew stores a new value of GoType(info) in an interface.
func (d *Dialect) decodeNew(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	t := d.GoType(info)
	if t == nil {
		return fmt.Errorf("%w: %v has no default Go type", cql.ErrConversion, info)
	}
	p := reflect.New(t).Elem()
	if err := d.decode(info, cell, p, 0); err != nil {
		return err
	}
	if t == reflect.TypeFor[[]byte]() && p.IsNil() {
		p.SetBytes([]byte{}) // not NULL
	}
	v.Set(p)
	return nil
}

// decodesAlike reports whether the driver decodes each cell of type info into values of type t as gocql does, at every
// depth.
func (d *Dialect) decodesAlike(info cql.TypeInfo, t reflect.Type) bool {
	switch info := info.(type) {
	case cql.NativeType:
		if t.Kind() == reflect.String && isInteger(cql.Type(info)) {
			return false // NULL is "0"
		}
		return d.nativeAlike(cql.Type(info), t) || t == timeType && cql.Type(info) == cql.TypeTimestamp
	case cql.VectorType:
		return t.Kind() == reflect.Slice && d.decodesAlike(info.SubType, t.Elem())
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return t.Kind() == reflect.Map && d.decodesAlike(info.Key, t.Key()) && d.decodesAlike(info.Elem, t.Elem())
		}
		return t.Kind() == reflect.Slice && d.decodesAlike(info.Elem, t.Elem())
	}
	return false
}

// decodeNative decodes the cells that gocql decodes in another way than the driver; the driver decodes the others. NULL
// and a cell without bytes are the zero value.
func (d *Dialect) decodeNative(typ cql.Type, cell []byte, v reflect.Value) error {
	t, text := v.Type(), isTextType(typ)
	if d.fork {
		if ok, err := decodeFork(typ, cell, v); ok {
			return err
		}
	}
	switch {
	case text && d.strictText && (t.Kind() == reflect.Map || t.Kind() == reflect.Slice && t.Elem() != byteType):
		return fmt.Errorf("%w: Go type %v", cql.ErrConversion, t)
	case text && len(cell) == 0 && t == reflect.TypeFor[[]byte]() && cell != nil && v.IsNil():
		return nil // an empty blob in a nil slice is nil
	case len(cell) == 0 && t.Kind() == reflect.String && isInteger(typ):
		v.SetString("0")
		return nil
	case len(cell) == 0 && !text:
		v.SetZero()
		return nil
	}
	switch typ {
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		if v.CanUint() && t.Kind() != reflect.Uintptr {
			return decodeUnsigned(typ, cell, v)
		}
	case cql.TypeTime, cql.TypeTimestamp:
		if t.Kind() == reflect.Int64 { // any number of a time; a timestamp in a time.Duration
			if len(cell) != 8 {
				return fmt.Errorf("%w: %d bytes, want 8", cql.ErrMissing, len(cell))
			}
			v.SetInt(int64(binary.BigEndian.Uint64(cell)))
			return nil
		}
	case cql.TypeDate:
		if t.Kind() == reflect.String && len(cell) == 4 {
			days := int64(binary.BigEndian.Uint32(cell)) - math.MaxInt32 - 1
			v.SetString(time.UnixMilli(days * millisecondsOfDay).UTC().Format(time.DateOnly))
			return nil
		}
	case cql.TypeInet:
		return decodeInet(cell, v)
	}
	return codec.Unmarshal(cql.NativeType(typ), cell, v.Addr().Interface())
}

func isInteger(typ cql.Type) bool { return sizes[typ] > 0 || typ == cql.TypeVarint }

// decodeInet decodes an address; an IPv4 address in 16 bytes is an IPv4 address.
func decodeInet(cell []byte, v reflect.Value) error {
	return codec.Unmarshal(cql.NativeType(cql.TypeInet), shortAddress(cell), v.Addr().Interface())
}

// shortAddress returns the 4 bytes of an IPv4 address that has 16, else the cell.
func shortAddress(cell []byte) []byte {
	if four := net.IP(cell).To4(); four != nil {
		return four
	}
	return cell
}

// decodeUnsigned stores an integer in an unsigned integer. A negative number wraps around if v is at least as large as
// the type, and for varint if v has 64 bits.
func decodeUnsigned(typ cql.Type, cell []byte, v reflect.Value) error {
	var n int64
	bits := 8 * sizes[typ]
	if typ == cql.TypeVarint {
		if bits = 64; codec.Unmarshal(cql.NativeType(typ), cell, v.Addr().Interface()) == nil {
			return nil // a number that fits, up to the maximum of uint64
		}
	}
	if err := codec.Unmarshal(cql.NativeType(typ), cell, &n); err != nil {
		return err
	}
	wrapped := uint64(n)
	if v.Type().Bits() >= bits {
		wrapped &= 1<<bits - 1
	}
	if v.OverflowUint(wrapped) {
		return fmt.Errorf("%w: %d does not fit %v", cql.ErrRange, n, v.Type())
	}
	v.SetUint(wrapped)
	return nil
}

// isNumber reports whether t is a pointer that is a value itself: of a varint or a decimal.
func isNumber(t reflect.Type) bool {
	return t == reflect.TypeFor[*big.Int]() || t == reflect.TypeFor[*inf.Dec]()
}
