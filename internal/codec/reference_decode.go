// SPDX-License-Identifier: Apache-2.0

package codec

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

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/internal/textform"
	"github.com/vecql/vecql/internal/wire"
)

// The reference decoder: every pair of CQL type and Go type with a conversion, by reflection. Cells come from a
// network, so each length is checked against the available bytes before it is used to allocate.

// errNotPointer means that the destination is not a non-nil pointer.
var errNotPointer = fmt.Errorf("%w: the destination must be a non-nil pointer", cql.ErrConversion)

// ReferenceDecode is the Decoder for every pair of types, by reflection. dst may also be a value, not a pointer, whose
// own methods decode it: it holds the pointer itself.
func ReferenceDecode(info cql.TypeInfo, cell []byte, dst any) error {
	v := reflect.ValueOf(dst)
	if v.IsValid() && v.Kind() != reflect.Pointer {
		if ok, err := decodeByMethod(info, cell, v); ok {
			return err
		}
	}
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return errNotPointer
	}
	return decodeReflect(info, cell, v.Elem(), 0)
}

// decodeByMethod decodes cell by the methods of dst. ok is false, and nothing is decoded, if it has none.
func decodeByMethod(info cql.TypeInfo, cell []byte, dst reflect.Value) (ok bool, err error) {
	if unmarshal := unmarshalerOf(dst); unmarshal != nil {
		return true, callUnmarshaler(unmarshal, info, cell)
	}
	if udt, ok := info.(cql.UDTTypeInfo); ok && cell != nil {
		if unmarshal := udtUnmarshalerOf(dst); unmarshal != nil {
			return true, decodeUDTUnmarshaler(udt, cell, unmarshal)
		}
	}
	return false, nil
}

// decodeReflect stores cell in v, which is settable.
func decodeReflect(info cql.TypeInfo, cell []byte, v reflect.Value, depth int) error {
	t := v.Type()
	if t.Kind() != reflect.Interface {
		if ok, err := decodeByMethod(info, cell, v.Addr()); ok {
			return err
		}
	}
	if len(cell) == 0 && EmptyIsNull(info) {
		cell = nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		if cell == nil {
			v.SetZero()
			return nil
		}
		if depth == maxPointers {
			return fmt.Errorf("%w: a chain of more than %d pointers", cql.ErrConversion, maxPointers)
		}
		p := reflect.New(t.Elem()) // never the old target of v: the caller may have kept it
		if err := decodeReflect(info, cell, p.Elem(), depth+1); err != nil {
			return err
		}
		v.Set(p)
		return nil
	case reflect.Interface:
		return decodeInterface(info, cell, v)
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	if IsNull(t) {
		if err := decodeReflect(info, cell, v.Field(0), depth+1); err != nil {
			return err
		}
		v.Field(1).SetBool(true)
		return nil
	}
	switch info := info.(type) {
	case cql.NativeType:
		return decodeNative(cql.Type(info), cell, v)
	case cql.CustomType:
		return decodeText(cell, v)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return decodeMap(info, cell, v)
		}
		return decodeList(info, cell, v)
	case cql.TupleTypeInfo:
		return decodeTuple(info, cell, v)
	case cql.UDTTypeInfo:
		return decodeUDT(info, cell, v)
	case cql.VectorType:
		return decodeVector(info, cell, v)
	}
	return fmt.Errorf("%w: unknown CQL type", cql.ErrConversion)
}

// callUnmarshaler calls the program's method with a copy of the cell that it may keep. A panic becomes an error of the
// value.
func callUnmarshaler(unmarshal unmarshalFunc, info cql.TypeInfo, cell []byte) (err error) {
	defer background.Recover(&err)
	return unmarshal(info, bytes.Clone(cell))
}

func callUDTUnmarshaler(unmarshal unmarshalUDTFunc, f cql.UDTField, cell []byte) (err error) {
	defer background.Recover(&err)
	return unmarshal(f.Name, f.Type, bytes.Clone(cell))
}

// decodeInterface stores a value of the CQL type's default Go type in an interface without methods, nil for NULL.
func decodeInterface(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	if v.NumMethod() > 0 {
		return noConversion(v.Type())
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	t := DefaultGoType(info)
	if t == nil {
		return fmt.Errorf("%w: %v has no default Go type", cql.ErrConversion, info)
	}
	p := reflect.New(t)
	if err := decodeReflect(info, cell, p.Elem(), 0); err != nil {
		return err
	}
	v.Set(p.Elem())
	return nil
}

// exactly returns an error unless a cell has n bytes.
func exactly(cell []byte, n int) error {
	switch {
	case len(cell) < n:
		return fmt.Errorf("%w: %d bytes, want %d", cql.ErrMissing, len(cell), n)
	case len(cell) > n:
		return fmt.Errorf("%w: %d bytes, want %d", cql.ErrTrailing, len(cell), n)
	}
	return nil
}

// decodeNative decodes a cell of a native type, which is not NULL. Each case that does not return has no conversion to
// the Go type.
func decodeNative(typ cql.Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	switch typ {
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob, cql.TypeCustom:
		return decodeText(cell, v)
	case cql.TypeBoolean:
		if t.Kind() == reflect.Bool {
			if err := exactly(cell, 1); err != nil {
				return err
			}
			v.SetBool(cell[0] != 0)
			return nil
		}
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		return decodeIntegerReflect(typ, cell, v)
	case cql.TypeFloat:
		if t.Kind() == reflect.Float32 {
			if err := exactly(cell, 4); err != nil {
				return err
			}
			*(*uint32)(v.Addr().UnsafePointer()) = binary.BigEndian.Uint32(cell) // copies bits, as in the encoder
			return nil
		}
	case cql.TypeDouble:
		if t.Kind() == reflect.Float64 {
			if err := exactly(cell, 8); err != nil {
				return err
			}
			v.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(cell)))
			return nil
		}
	case cql.TypeDecimal:
		if t == reflect.TypeFor[inf.Dec]() {
			if len(cell) < 5 {
				return fmt.Errorf("%w: a decimal of %d bytes", cql.ErrMissing, len(cell))
			}
			d := v.Addr().Interface().(*inf.Dec)
			*d = inf.Dec{}
			d.SetUnscaledBig(fromTwosComplement(cell[4:])).SetScale(inf.Scale(binary.BigEndian.Uint32(cell)))
			return nil
		}
		if t == reflect.TypeFor[cql.Decimal]() {
			if len(cell) < 5 {
				return fmt.Errorf("%w: a decimal of %d bytes", cql.ErrMissing, len(cell))
			}
			v.Set(reflect.ValueOf(cql.Decimal{
				Unscaled: fromTwosComplement(cell[4:]),
				Scale:    int32(binary.BigEndian.Uint32(cell)),
			}))
			return nil
		}
	case cql.TypeUUID, cql.TypeTimeUUID:
		return decodeUUIDReflect(typ, cell, v)
	case cql.TypeInet:
		return decodeInet(cell, v)
	case cql.TypeDate, cql.TypeTime, cql.TypeTimestamp:
		return decodeClock(typ, cell, v)
	case cql.TypeDuration:
		return decodeDurationReflect(cell, v)
	}
	return noConversion(t)
}

// decodeText stores the cell in a string or in a fresh byte slice, which is empty, not nil, for an empty cell.
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

// fromTwosComplement is the inverse of twosComplement. It accepts forms longer than necessary.
func fromTwosComplement(b []byte) *big.Int {
	n := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return n
}

// decodeIntegerReflect decodes all integer types into integers of Go, big.Int and decimal text.
func decodeIntegerReflect(typ cql.Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	if !v.CanInt() && !v.CanUint() && t.Kind() != reflect.String && t != reflect.TypeFor[big.Int]() ||
		t.Kind() == reflect.Uintptr {
		return noConversion(t)
	}
	if size := integerSize(typ); size > 0 {
		if err := exactly(cell, size); err != nil {
			return err
		}
	} else if len(cell) == 0 {
		return fmt.Errorf("%w: an empty varint", cql.ErrMissing)
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
		return fmt.Errorf("%w: %v does not fit %v", cql.ErrRange, n, t)
	}
	return nil
}

// decodeUUIDReflect decodes into 16 bytes, text, or the time of a version 1 UUID.
func decodeUUIDReflect(typ cql.Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	isTime := typ == cql.TypeTimeUUID && t == reflect.TypeFor[time.Time]()
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
		u := cql.UUID(cell)
		if u.Version() != 1 {
			return fmt.Errorf("%w: UUID %v has no time", cql.ErrRange, u)
		}
		v.Set(reflect.ValueOf(u.Time()))
		return nil
	}
	v.SetString(cql.UUID(cell).String())
	return nil
}

// decodeInet decodes into net.IP, netip.Addr or text. Any length but 4 and 16 is an error.
func decodeInet(cell []byte, v reflect.Value) error {
	t := v.Type()
	if t != reflect.TypeFor[net.IP]() && t != reflect.TypeFor[netip.Addr]() && t.Kind() != reflect.String {
		return noConversion(t)
	}
	addr, ok := netip.AddrFromSlice(cell)
	switch {
	case !ok && len(cell) < 16:
		return fmt.Errorf("%w: %d bytes are not an IP address", cql.ErrMissing, len(cell))
	case !ok:
		return fmt.Errorf("%w: %d bytes are not an IP address", cql.ErrTrailing, len(cell))
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

// decodeClock is the inverse of encodeClock. Times are in UTC.
func decodeClock(typ cql.Type, cell []byte, v reflect.Value) error {
	t := v.Type()
	isTime := t == reflect.TypeFor[time.Time]()
	switch {
	case typ == cql.TypeDate && (isTime || isPlainInt64(t) || t.Kind() == reflect.String):
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
		default:
			v.SetString(string(textform.AppendDate(nil, int32(day))))
		}
		return nil
	case typ == cql.TypeTime && t.Kind() == reflect.Int64:
		if err := exactly(cell, 8); err != nil {
			return err
		}
		n := int64(binary.BigEndian.Uint64(cell))
		if n < 0 || n >= secondsOfDay*1e9 {
			return fmt.Errorf("%w: %d ns is not a time of day", cql.ErrRange, n)
		}
		v.SetInt(n)
		return nil
	case typ == cql.TypeTimestamp && (isTime || isPlainInt64(t)):
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

// decodeDurationReflect decodes three vints. A time.Duration takes only durations without months and days, which have
// no fixed length.
func decodeDurationReflect(cell []byte, v reflect.Value) error {
	t := v.Type()
	if t != reflect.TypeFor[cql.Duration]() && t != reflect.TypeFor[time.Duration]() && t.Kind() != reflect.String {
		return noConversion(t)
	}
	var parts [3]int64
	for i := range parts {
		part, n := wire.Vint(cell)
		if n == 0 {
			return fmt.Errorf("%w: a duration ends in part %d", cql.ErrMissing, i)
		}
		parts[i], cell = part, cell[n:]
	}
	if len(cell) > 0 {
		return fmt.Errorf("%w: %d bytes after a duration", cql.ErrTrailing, len(cell))
	}
	d := cql.Duration{Months: int32(parts[0]), Days: int32(parts[1]), Nanoseconds: parts[2]}
	if int64(d.Months) != parts[0] || int64(d.Days) != parts[1] {
		return fmt.Errorf("%w: a duration of %d months and %d days", cql.ErrRange, parts[0], parts[1])
	}
	if negative, positive := min(parts[0], parts[1], parts[2]) < 0,
		max(parts[0], parts[1], parts[2]) > 0; negative && positive {
		return fmt.Errorf("%w: the parts of a duration differ in sign", cql.ErrRange)
	}
	switch {
	case t == reflect.TypeFor[cql.Duration]():
		v.Set(reflect.ValueOf(d))
	case t.Kind() == reflect.String:
		v.SetString(d.String())
	case d.Months != 0 || d.Days != 0:
		return fmt.Errorf("%w: %d months and %d days have no fixed length", cql.ErrRange, d.Months, d.Days)
	default:
		v.SetInt(d.Nanoseconds)
	}
	return nil
}
