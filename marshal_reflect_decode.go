// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file is the reference decoder: every CQL type into every Go type that has a conversion, by reflection. Cells come from a network:
// every length is checked against the bytes that are there before anything is allocated for it.

// errNotPointer is a mistake of the program.
var errNotPointer = fmt.Errorf("%w: the destination must be a pointer that is not nil", ErrConversion)

// reflectDecode is a decodeFunc for every pair of types.
func reflectDecode(info TypeInfo, cell []byte, dst any) error {
	v := reflect.ValueOf(dst)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errNotPointer
	}
	return decodeReflect(info, cell, v.Elem(), 0)
}

// decodeReflect stores cell in v, which can be set.
func decodeReflect(info TypeInfo, cell []byte, v reflect.Value, depth int) error {
	t := v.Type()
	if u, ok := v.Addr().Interface().(Unmarshaler); ok && t.Kind() != reflect.Interface {
		return callUnmarshaler(u, info, cell)
	}
	if udt, ok := info.(UDTTypeInfo); ok && cell != nil {
		if u, ok := v.Addr().Interface().(UDTUnmarshaler); ok && t.Kind() != reflect.Interface {
			return decodeUDTUnmarshaler(udt, cell, u)
		}
	}
	switch t.Kind() {
	case reflect.Pointer:
		if cell == nil {
			v.SetZero()
			return nil
		}
		if depth == maxPointers {
			return fmt.Errorf("%w: a chain of more than %d pointers", ErrConversion, maxPointers)
		}
		p := reflect.New(t.Elem()) // never what v points to: the caller may have kept it
		if err := decodeReflect(info, cell, p.Elem(), depth+1); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case reflect.Interface:
		return decodeInterface(info, cell, v)
	}
	if n, ok := v.Addr().Interface().(nullable); ok {
		if cell == nil {
			n.setValid(false)
			return nil
		}
		if err := decodeReflect(info, cell, reflect.ValueOf(n.nullTarget()).Elem(), depth+1); err != nil {
			return err
		}
		n.setValid(true)
		return nil
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	if value, _, ok := nullableParts(v); ok {
		if err := decodeReflect(info, cell, value, depth+1); err != nil {
			return err
		}
		v.Field(1).SetBool(true)
		return nil
	}
	switch info := info.(type) {
	case NativeType:
		return decodeNative(Type(info), cell, v)
	case CustomType:
		return decodeText(cell, v)
	case CollectionType:
		if info.typ == TypeMap {
			return decodeMap(info, cell, v)
		}
		return decodeList(info, cell, v)
	case TupleTypeInfo:
		return decodeTuple(info, cell, v)
	case UDTTypeInfo:
		return decodeUDT(info, cell, v)
	case VectorType:
		return decodeVector(info, cell, v)
	}
	return fmt.Errorf("%w: unknown CQL type", ErrConversion)
}

// callUnmarshaler calls the user's code with a copy that it may keep: a panic in it is an error of this value only.
func callUnmarshaler(u Unmarshaler, info TypeInfo, cell []byte) (err error) {
	defer recovered(&err)
	return u.UnmarshalCQL(info, bytes.Clone(cell))
}

func callUDTUnmarshaler(u UDTUnmarshaler, f UDTField, cell []byte) (err error) {
	defer recovered(&err)
	return u.UnmarshalUDT(f.Name, f.Type, bytes.Clone(cell))
}

func decodeInterface(info TypeInfo, cell []byte, v reflect.Value) error {
	if v.NumMethod() > 0 {
		return noConversion(v.Type())
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	t := defaultGoType(info)
	if t == nil {
		return fmt.Errorf("%w: %v has no Go type of its own", ErrConversion, info)
	}
	p := reflect.New(t)
	if err := decodeReflect(info, cell, p.Elem(), 0); err != nil {
		return err
	}
	v.Set(p.Elem())
	return nil
}

// exactly checks the length of a cell.
func exactly(cell []byte, n int) error {
	switch {
	case len(cell) < n:
		return fmt.Errorf("%w: %d bytes, want %d", ErrMissing, len(cell), n)
	case len(cell) > n:
		return fmt.Errorf("%w: %d bytes, want %d", ErrTrailing, len(cell), n)
	}
	return nil
}

func decodeNative(typ Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	switch typ {
	case TypeAscii, TypeText, TypeVarchar, TypeBlob, TypeCustom:
		return decodeText(cell, v)
	case TypeBoolean:
		if t.Kind() == reflect.Bool {
			if err := exactly(cell, 1); err != nil {
				return err
			}
			v.SetBool(cell[0] != 0)
			return nil
		}
	case TypeTinyInt, TypeSmallInt, TypeInt, TypeBigInt, TypeCounter, TypeVarint:
		return decodeIntegerReflect(typ, cell, v)
	case TypeFloat:
		if t.Kind() == reflect.Float32 {
			if err := exactly(cell, 4); err != nil {
				return err
			}
			*(*uint32)(v.Addr().UnsafePointer()) = binary.BigEndian.Uint32(cell) // bits: see the encoder
			return nil
		}
	case TypeDouble:
		if t.Kind() == reflect.Float64 {
			if err := exactly(cell, 8); err != nil {
				return err
			}
			v.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(cell)))
			return nil
		}
	case TypeDecimal:
		if t == reflect.TypeFor[inf.Dec]() {
			if len(cell) < 5 {
				return fmt.Errorf("%w: %d bytes of a decimal", ErrMissing, len(cell))
			}
			d := v.Addr().Interface().(*inf.Dec)
			*d = inf.Dec{}
			d.SetUnscaledBig(fromTwosComplement(cell[4:])).SetScale(inf.Scale(binary.BigEndian.Uint32(cell)))
			return nil
		}
	case TypeUUID, TypeTimeUUID:
		return decodeUUIDReflect(typ, cell, v)
	case TypeInet:
		return decodeInet(cell, v)
	case TypeDate, TypeTime, TypeTimestamp:
		return decodeClock(typ, cell, v)
	case TypeDuration:
		return decodeDurationReflect(cell, v)
	}
	return noConversion(t)
}

func decodeText(cell []byte, v reflect.Value) error {
	switch t := v.Type(); {
	case t.Kind() == reflect.String:
		v.SetString(string(cell))
	case isBytes(t):
		fresh := reflect.MakeSlice(t, len(cell), len(cell))
		copy(fresh.Bytes(), cell)
		v.Set(fresh)
	default:
		return noConversion(t)
	}
	return nil
}

// fromTwosComplement is the inverse of twosComplement; longer forms are accepted.
func fromTwosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

func decodeIntegerReflect(typ Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	if !v.CanInt() && !v.CanUint() && t.Kind() != reflect.String && t != reflect.TypeFor[big.Int]() || t.Kind() == reflect.Uintptr {
		return noConversion(t)
	}
	if size := integerSize(typ); size > 0 {
		if err := exactly(cell, size); err != nil {
			return err
		}
	} else if len(cell) == 0 {
		return fmt.Errorf("%w: an empty varint", ErrMissing)
	}
	n := fromTwosComplement(cell)
	switch {
	case t == reflect.TypeFor[big.Int]():
		v.Set(reflect.ValueOf(n).Elem())
	case t.Kind() == reflect.String:
		v.SetString(n.String())
	case v.CanInt() && n.IsInt64() && !v.OverflowInt(n.Int64()):
		v.SetInt(n.Int64())
	case v.CanUint() && n.IsUint64() && !v.OverflowUint(n.Uint64()):
		v.SetUint(n.Uint64())
	default:
		return fmt.Errorf("%w: %v in %v", ErrRange, n, t)
	}
	return nil
}

func decodeUUIDReflect(typ Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	isTime := typ == TypeTimeUUID && t == reflect.TypeFor[time.Time]()
	if !isID(t) && !isBytes(t) && t.Kind() != reflect.String && !isTime {
		return noConversion(t)
	}
	if err := exactly(cell, 16); err != nil {
		return err
	}
	switch {
	case isID(t):
		for i, c := range cell {
			v.Index(i).SetUint(uint64(c))
		}
		return nil
	case isBytes(t):
		return decodeText(cell, v)
	case isTime:
		u := UUID(cell)
		if u.Version() != 1 {
			return fmt.Errorf("%w: UUID %v has no time", ErrRange, u)
		}
		v.Set(reflect.ValueOf(u.Time()))
		return nil
	}
	v.SetString(UUID(cell).String())
	return nil
}

func decodeInet(cell []byte, v reflect.Value) error {
	t := v.Type()
	if t != reflect.TypeFor[net.IP]() && t != reflect.TypeFor[netip.Addr]() && t.Kind() != reflect.String {
		return noConversion(t)
	}
	addr, ok := netip.AddrFromSlice(cell)
	switch {
	case !ok && len(cell) < 16:
		return fmt.Errorf("%w: %d bytes are not an IP address", ErrMissing, len(cell))
	case !ok:
		return fmt.Errorf("%w: %d bytes are not an IP address", ErrTrailing, len(cell))
	}
	switch {
	case t == reflect.TypeFor[net.IP]():
		v.Set(reflect.ValueOf(net.IP(addr.AsSlice())))
	case t == reflect.TypeFor[netip.Addr]():
		v.Set(reflect.ValueOf(addr))
	default:
		v.SetString(addr.String())
	}
	return nil
}

func decodeClock(typ Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	isTime := t == reflect.TypeFor[time.Time]()
	switch {
	case typ == TypeDate && (isTime || isPlainInt64(t) || t.Kind() == reflect.String):
		if err := exactly(cell, 4); err != nil {
			return err
		}
		day := int64(binary.BigEndian.Uint32(cell)) - epochDay
		at := time.Unix(day*secondsOfDay, 0).UTC()
		switch {
		case isTime:
			v.Set(reflect.ValueOf(at))
		case t.Kind() == reflect.Int64:
			v.SetInt(day * secondsOfDay * 1000)
		case at.Year() < 0 || at.Year() > 9999:
			return fmt.Errorf("%w: the year %d has no text of four digits", ErrRange, at.Year())
		default:
			v.SetString(at.Format(time.DateOnly))
		}
		return nil
	case typ == TypeTime && t.Kind() == reflect.Int64:
		if err := exactly(cell, 8); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint64(cell))
		if n < 0 || n >= secondsOfDay*1e9 {
			return fmt.Errorf("%w: %d ns is not a time of day", ErrRange, n)
		}
		v.SetInt(n)
		return nil
	case typ == TypeTimestamp && (isTime || isPlainInt64(t)):
		if err := exactly(cell, 8); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint64(cell))
		if isTime {
			v.Set(reflect.ValueOf(time.UnixMilli(n).UTC()))
		} else {
			v.SetInt(n)
		}
		return nil
	}
	return noConversion(t)
}

func decodeDurationReflect(cell []byte, v reflect.Value) error {
	t := v.Type()
	if t != reflect.TypeFor[Duration]() && t != reflect.TypeFor[time.Duration]() && t.Kind() != reflect.String {
		return noConversion(t)
	}
	var parts [3]int64
	for i := range parts {
		part, n := wire.Vint(cell)
		if n == 0 {
			return fmt.Errorf("%w: part %d of a duration", ErrMissing, i)
		}
		parts[i], cell = part, cell[n:]
	}
	if len(cell) > 0 {
		return fmt.Errorf("%w: %d bytes after a duration", ErrTrailing, len(cell))
	}
	d := Duration{Months: int32(parts[0]), Days: int32(parts[1]), Nanoseconds: parts[2]}
	if int64(d.Months) != parts[0] || int64(d.Days) != parts[1] {
		return fmt.Errorf("%w: %d months, %d days", ErrRange, parts[0], parts[1])
	}
	if negative, positive := min(parts[0], parts[1], parts[2]) < 0, max(parts[0], parts[1], parts[2]) > 0; negative && positive {
		return fmt.Errorf("%w: a duration of mixed signs", ErrRange)
	}
	switch {
	case t == reflect.TypeFor[Duration]():
		v.Set(reflect.ValueOf(d))
	case t.Kind() == reflect.String:
		v.SetString(d.String())
	case d.Months != 0 || d.Days != 0:
		return fmt.Errorf("%w: %d months and %d days have no fixed length", ErrRange, d.Months, d.Days)
	default:
		v.SetInt(d.Nanoseconds)
	}
	return nil
}
