// SPDX-License-Identifier: Apache-2.0

package codec

import (
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
	"github.com/vecql/vecql/internal/wire"
)

// The reference encoder: every pair of CQL type and Go type with a conversion, by reflection, one obvious step at a
// time. It is slow and complete. The faster implementations produce the same bytes and leave all other pairs to it.

// maxPointers limits a chain of pointers, because a pointer may point to itself.
const maxPointers = 16

// ReferenceEncode is the Encoder for every pair of types, by reflection.
func ReferenceEncode(dst []byte, info cql.TypeInfo, v any) ([]byte, error) {
	if _, unset := v.(cql.Unset); unset {
		return wire.AppendInt(dst, wire.Unset), nil
	}
	b, err := encodeReflect(info, reflect.ValueOf(v), 0)
	if err != nil {
		return dst, err
	}
	return appendContent(dst, b)
}

// encodeReflect returns the content of v's cell, nil for NULL. depth is the number of pointers followed.
func encodeReflect(info cql.TypeInfo, v reflect.Value, depth int) ([]byte, error) {
	if !v.IsValid() {
		return nil, nil
	}
	t := v.Type()
	if t == reflect.TypeFor[cql.Unset]() {
		return nil, fmt.Errorf("%w inside another value", cql.ErrUnset)
	}
	if marshal := marshalerOf(v); marshal != nil {
		if isNilPointer(v) {
			return nil, nil
		}
		return callMarshaler(marshal, info)
	}
	if udt, ok := info.(cql.UDTTypeInfo); ok {
		if marshal := udtMarshalerOf(v); marshal != nil {
			if isNilPointer(v) {
				return nil, nil
			}
			return encodeUDTMarshaler(udt, marshal)
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		if depth == maxPointers {
			return nil, fmt.Errorf("%w: a chain of more than %d pointers", cql.ErrConversion, maxPointers)
		}
		return encodeReflect(info, v.Elem(), depth+1)
	}
	if IsNull(t) {
		if !v.Field(1).Bool() {
			return nil, nil
		}
		return encodeReflect(info, v.Field(0), depth+1)
	}
	switch info := info.(type) {
	case cql.NativeType:
		return encodeNative(cql.Type(info), v)
	case cql.CustomType:
		return encodeText(v)
	case cql.CollectionType:
		if info.Type() == cql.TypeMap {
			return encodeMap(info, v)
		}
		return encodeList(info, v)
	case cql.TupleTypeInfo:
		return encodeTuple(info, v)
	case cql.UDTTypeInfo:
		return encodeUDT(info, v)
	case cql.VectorType:
		return encodeVector(info, v)
	}
	return nil, fmt.Errorf("%w: unknown CQL type", cql.ErrConversion)
}

// implementer returns v if its type implements want; if only *T does, it returns a pointer to a copy. nil means none.
func implementer(v reflect.Value, want reflect.Type) any {
	switch t := v.Type(); {
	case !v.CanInterface() || t.Kind() == reflect.Interface:
		return nil
	case t.Implements(want):
		return v.Interface()
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(want):
		p := reflect.New(t)
		p.Elem().Set(v)
		return p.Interface()
	}
	return nil
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// callMarshaler calls the program's method. A panic becomes an error of the value.
func callMarshaler(marshal marshalFunc, info cql.TypeInfo) (b []byte, err error) {
	defer background.Recover(&err)
	return marshal(info)
}

func callUDTMarshaler(marshal marshalUDTFunc, f cql.UDTField) (b []byte, err error) {
	defer background.Recover(&err)
	return marshal(f.Name, f.Type)
}

func noConversion(t reflect.Type) error { return fmt.Errorf("%w: Go type %v", cql.ErrConversion, t) }

// encodeNative returns the content of a native type's cell, nil for NULL. Each case that does not return has no
// conversion from the Go type.
func encodeNative(typ cql.Type, v reflect.Value) ([]byte, error) {
	t := v.Type()
	switch typ {
	case cql.TypeAscii, cql.TypeText, cql.TypeVarchar, cql.TypeBlob, cql.TypeCustom:
		return encodeText(v)
	case cql.TypeBoolean:
		if t.Kind() == reflect.Bool {
			if v.Bool() {
				return []byte{1}, nil
			}
			return []byte{0}, nil
		}
	case cql.TypeTinyInt, cql.TypeSmallInt, cql.TypeInt, cql.TypeBigInt, cql.TypeCounter, cql.TypeVarint:
		n, err := integerValue(v)
		if err != nil {
			return nil, err
		}
		return encodeInteger(typ, n)
	case cql.TypeFloat:
		if t.Kind() == reflect.Float32 {
			// Copies the memory, because a conversion to float64 may change the bits of a NaN.
			p := reflect.New(t)
			p.Elem().Set(v)
			return binary.BigEndian.AppendUint32(nil, *(*uint32)(p.UnsafePointer())), nil
		}
		if t.Kind() == reflect.Float64 {
			return nil, errNotNarrowed
		}
	case cql.TypeDouble:
		if t.Kind() == reflect.Float64 {
			return binary.BigEndian.AppendUint64(nil, math.Float64bits(v.Float())), nil
		}
	case cql.TypeDecimal:
		if t == reflect.TypeFor[inf.Dec]() {
			d := v.Interface().(inf.Dec)
			return append(binary.BigEndian.AppendUint32(nil, uint32(d.Scale())), twosComplement(d.UnscaledBig())...), nil
		}
		if t == reflect.TypeFor[cql.Decimal]() {
			d := v.Interface().(cql.Decimal)
			if d.Unscaled == nil {
				d.Unscaled = new(big.Int)
			}
			return append(binary.BigEndian.AppendUint32(nil, uint32(d.Scale)), twosComplement(d.Unscaled)...), nil
		}
	case cql.TypeUUID, cql.TypeTimeUUID:
		return encodeUUIDReflect(v)
	case cql.TypeInet:
		return encodeInet(v)
	case cql.TypeDate, cql.TypeTime, cql.TypeTimestamp:
		return encodeClock(typ, v)
	case cql.TypeDuration:
		return encodeDurationReflect(v)
	}
	return nil, noConversion(t)
}

// isBytes reports whether the underlying type of t is a slice of bytes.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// isID reports whether the underlying type of t is an array of 16 bytes.
func isID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

// encodeText returns the bytes of a string or byte slice as they are. A nil slice is NULL, an empty one is empty.
func encodeText(v reflect.Value) ([]byte, error) {
	switch t := v.Type(); {
	case t.Kind() == reflect.String:
		return []byte(v.String()), nil
	case isBytes(t):
		if v.IsNil() {
			return nil, nil
		}
		return append([]byte{}, v.Bytes()...), nil
	default:
		return nil, noConversion(t)
	}
}

// integerValue returns the integer v, or the value of the decimal digits v.
func integerValue(v reflect.Value) (*big.Int, error) {
	switch t := v.Type(); {
	case v.CanInt():
		return big.NewInt(v.Int()), nil
	case t.Kind() == reflect.Uintptr:
		return nil, noConversion(t)
	case v.CanUint():
		return new(big.Int).SetUint64(v.Uint()), nil
	case t.Kind() == reflect.String:
		n, ok := new(big.Int).SetString(v.String(), 10)
		if !ok {
			return nil, fmt.Errorf("%w: %q is not a decimal number", cql.ErrConversion, v.String())
		}
		return n, nil
	case t == reflect.TypeFor[big.Int]():
		n := v.Interface().(big.Int)
		return &n, nil
	default:
		return nil, noConversion(t)
	}
}

// integerSize returns the number of bytes of an integer type, 0 for varint, whose size varies.
func integerSize(typ cql.Type) int {
	return map[cql.Type]int{
		cql.TypeTinyInt: 1, cql.TypeSmallInt: 2, cql.TypeInt: 4, cql.TypeBigInt: 8,
		cql.TypeCounter: 8,
	}[typ]
}

// encodeInteger returns n in as many bytes as the type has, extended by its sign; a varint in as few as possible.
func encodeInteger(typ cql.Type, n *big.Int) ([]byte, error) {
	b := twosComplement(n)
	size := integerSize(typ)
	if size == 0 {
		return b, nil
	}
	if len(b) > size {
		return nil, fmt.Errorf("%w: %v does not fit %v", cql.ErrRange, n, typ)
	}
	fill := byte(0)
	if n.Sign() < 0 {
		fill = 0xFF
	}
	for len(b) < size {
		b = append([]byte{fill}, b...)
	}
	return b, nil
}

// twosComplement returns n in two's complement, in as few bytes as possible and at least one.
func twosComplement(n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0]&0x80 != 0 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	// -n in k bytes is 256^k - n, with the smallest k for which the sign bit is set.
	k := (new(big.Int).Not(n).BitLen() + 8) / 8
	return new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*k))).FillBytes(make([]byte, k))
}

// encodeUUIDReflect accepts 16 bytes as array or slice, or the text of a UUID.
func encodeUUIDReflect(v reflect.Value) ([]byte, error) {
	switch t := v.Type(); {
	case isID(t):
		b := make([]byte, 16)
		for i := range b {
			b[i] = byte(v.Index(i).Uint())
		}
		return b, nil
	case isBytes(t):
		if v.IsNil() {
			return nil, nil
		}
		if v.Len() != 16 {
			return nil, fmt.Errorf("%w: %d bytes are not a UUID", cql.ErrConversion, v.Len())
		}
		return append([]byte{}, v.Bytes()...), nil
	case t.Kind() == reflect.String:
		u, err := cql.ParseUUID(v.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", cql.ErrConversion, err)
		}
		return u[:], nil
	default:
		return nil, noConversion(t)
	}
}

// encodeInet accepts net.IP, netip.Addr and text. IPv4 takes 4 bytes in any form.
func encodeInet(v reflect.Value) ([]byte, error) {
	switch t := v.Type(); {
	case t == reflect.TypeFor[net.IP]():
		ip := v.Interface().(net.IP)
		if ip == nil {
			return nil, nil
		}
		if four := ip.To4(); four != nil {
			return append([]byte{}, four...), nil
		}
		if len(ip) != net.IPv6len {
			return nil, fmt.Errorf("%w: %d bytes are not an IP address", cql.ErrConversion, len(ip))
		}
		return append([]byte{}, ip...), nil
	case t == reflect.TypeFor[netip.Addr]():
		return encodeAddress(v.Interface().(netip.Addr))
	case t.Kind() == reflect.String:
		addr, err := netip.ParseAddr(v.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", cql.ErrConversion, err)
		}
		return encodeAddress(addr)
	default:
		return nil, noConversion(t)
	}
}

// encodeAddress rejects an address with a zone, which CQL cannot represent.
func encodeAddress(addr netip.Addr) ([]byte, error) {
	if !addr.IsValid() || addr.Zone() != "" {
		return nil, fmt.Errorf("%w: %q is not a plain IP address", cql.ErrConversion, addr)
	}
	return addr.Unmap().AsSlice(), nil
}

const (
	secondsOfDay = 24 * 60 * 60
	epochDay     = 1 << 31 // the date 1970-01-01
)

// floorDiv is n/d rounded down.
func floorDiv(n, d int64) int64 {
	q := n / d
	if n%d < 0 {
		q--
	}
	return q
}

// isPlainInt64 reports whether t is an int64 other than time.Duration.
func isPlainInt64(t reflect.Type) bool {
	return t.Kind() == reflect.Int64 && t != reflect.TypeFor[time.Duration]()
}

// encodeClock returns the content of timestamp, date or time. Plain integers are milliseconds since 1970 for timestamp
// and date, and nanoseconds since midnight for time. Times before 1970 round down to their day.
func encodeClock(typ cql.Type, v reflect.Value) ([]byte, error) {
	t := v.Type()
	at, isTime := v.Interface().(time.Time)
	switch {
	case typ == cql.TypeTimestamp && isTime:
		ms := at.UnixMilli()
		if time.UnixMilli(ms).Unix() != at.Unix() { // the milliseconds overflowed int64
			return nil, fmt.Errorf("%w: year %d does not fit a timestamp", cql.ErrRange, at.Year())
		}
		return binary.BigEndian.AppendUint64(nil, uint64(ms)), nil
	case typ == cql.TypeTimestamp && isPlainInt64(t):
		return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
	case typ == cql.TypeTime && t.Kind() == reflect.Int64:
		if v.Int() < 0 || v.Int() >= secondsOfDay*1e9 {
			return nil, fmt.Errorf("%w: %d ns is not a time of day", cql.ErrRange, v.Int())
		}
		return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
	case typ == cql.TypeDate && isTime:
		return encodeDay(floorDiv(at.Unix(), secondsOfDay))
	case typ == cql.TypeDate && isPlainInt64(t) && v.Int()%(secondsOfDay*1000) != 0:
		return nil, notMidnight(v.Int())
	case typ == cql.TypeDate && isPlainInt64(t):
		return encodeDay(floorDiv(v.Int(), secondsOfDay*1000))
	case typ == cql.TypeDate && t.Kind() == reflect.String:
		return encodeDateText(v.String())
	}
	return nil, noConversion(t)
}

func encodeDay(day int64) ([]byte, error) {
	if day < -epochDay || day >= epochDay {
		return nil, fmt.Errorf("%w: day %d does not fit a date", cql.ErrRange, day)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(day+epochDay)), nil
}

// encodeDurationReflect returns the three vints of a duration. A Go integer is nanoseconds.
func encodeDurationReflect(v reflect.Value) ([]byte, error) {
	var d cql.Duration
	switch t := v.Type(); {
	case t == reflect.TypeFor[cql.Duration]():
		d = v.Interface().(cql.Duration)
	case t.Kind() == reflect.Int64:
		d.Nanoseconds = v.Int()
	case t.Kind() == reflect.String:
		var err error
		if d, err = parseDurationText(v.String()); err != nil {
			return nil, err
		}
	default:
		return nil, noConversion(t)
	}
	negative := d.Months < 0 || d.Days < 0 || d.Nanoseconds < 0
	positive := d.Months > 0 || d.Days > 0 || d.Nanoseconds > 0
	if negative && positive {
		return nil, fmt.Errorf("%w: the parts of a duration differ in sign", cql.ErrRange)
	}
	b := wire.AppendVint(nil, int64(d.Months))
	b = wire.AppendVint(b, int64(d.Days))
	return wire.AppendVint(b, d.Nanoseconds), nil
}
