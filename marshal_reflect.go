// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"time"

	"gopkg.in/inf.v0"

	"github.com/vecql/vecql/internal/wire"
)

// This file is the reference encoder: every CQL type from every Go type that has a conversion, by reflection, one obvious step at a time.
// It is slow and complete. The faster ways must give the same bytes, and leave to it what they do not know.

// maxPointers bounds a chain of pointers: a pointer may point to itself.
const maxPointers = 16

// reflectEncode is an encodeFunc for every pair of types.
func reflectEncode(dst []byte, info TypeInfo, v any) ([]byte, error) {
	if _, unset := v.(unsetColumn); unset {
		return wire.AppendInt(dst, wire.Unset), nil
	}
	b, err := encodeReflect(info, reflect.ValueOf(v), 0)
	if err != nil {
		return dst, err
	}
	return appendContent(dst, b)
}

// encodeReflect returns the content of v's cell, nil for NULL. depth counts the pointers that were followed.
func encodeReflect(info TypeInfo, v reflect.Value, depth int) ([]byte, error) {
	if !v.IsValid() {
		return nil, nil
	}
	t := v.Type()
	if t == reflect.TypeFor[unsetColumn]() {
		return nil, fmt.Errorf("%w inside another value", ErrUnset)
	}
	if m, ok := methods[Marshaler](v); ok {
		if isNilPointer(v) {
			return nil, nil
		}
		return callMarshaler(m, info)
	}
	if udt, ok := info.(UDTTypeInfo); ok {
		if m, ok := methods[UDTMarshaler](v); ok {
			if isNilPointer(v) {
				return nil, nil
			}
			return encodeUDTMarshaler(udt, m)
		}
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil, nil
		}
		if depth == maxPointers {
			return nil, fmt.Errorf("%w: a chain of more than %d pointers", ErrConversion, maxPointers)
		}
		return encodeReflect(info, v.Elem(), depth+1)
	}
	if value, valid, ok := nullableParts(v); ok {
		if !valid {
			return nil, nil
		}
		return encodeReflect(info, value, depth+1)
	}
	switch info := info.(type) {
	case NativeType:
		return encodeNative(Type(info), v)
	case CustomType:
		return encodeText(v)
	case CollectionType:
		if info.typ == TypeMap {
			return encodeMap(info, v)
		}
		return encodeList(info, v)
	case TupleTypeInfo:
		return encodeTuple(info, v)
	case UDTTypeInfo:
		return encodeUDT(info, v)
	case VectorType:
		return encodeVector(info, v)
	}
	return nil, fmt.Errorf("%w: unknown CQL type", ErrConversion)
}

// methods returns v, or a pointer to a copy of it, as an I.
func methods[I any](v reflect.Value) (m I, ok bool) {
	want := reflect.TypeFor[I]()
	switch t := v.Type(); {
	case !v.CanInterface() || t.Kind() == reflect.Interface:
		return m, false
	case t.Implements(want):
		return v.Interface().(I), true
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(want):
		p := reflect.New(t)
		p.Elem().Set(v)
		return p.Interface().(I), true
	}
	return m, false
}

func isNilPointer(v reflect.Value) bool { return v.Kind() == reflect.Pointer && v.IsNil() }

// callMarshaler calls the user's code: a panic in it is an error of this value only.
func callMarshaler(m Marshaler, info TypeInfo) (b []byte, err error) {
	defer recovered(&err)
	return m.MarshalCQL(info)
}

func callUDTMarshaler(m UDTMarshaler, f UDTField) (b []byte, err error) {
	defer recovered(&err)
	return m.MarshalUDT(f.Name, f.Type)
}

// recovered turns a panic of user code into an error.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("panic: %v", v)
	}
}

// nullableParts takes a Null[T], or a Null type of database/sql, apart.
func nullableParts(v reflect.Value) (value reflect.Value, valid, ok bool) {
	t := v.Type()
	if t.Kind() != reflect.Struct || t.NumField() != 2 || !t.Implements(reflect.TypeFor[interface{ nullValue() (any, bool) }]()) && t.PkgPath() != "database/sql" {
		return value, false, false
	}
	if f := t.Field(1); f.Name != "Valid" || f.Type.Kind() != reflect.Bool {
		return value, false, false
	}
	return v.Field(0), v.Field(1).Bool(), true
}

func noConversion(t reflect.Type) error { return fmt.Errorf("%w: Go type %v", ErrConversion, t) }

func encodeNative(typ Type, v reflect.Value) ([]byte, error) {
	t := v.Type()
	switch typ {
	case TypeAscii, TypeText, TypeVarchar, TypeBlob, TypeCustom:
		return encodeText(v)
	case TypeBoolean:
		if t.Kind() == reflect.Bool {
			if v.Bool() {
				return []byte{1}, nil
			}
			return []byte{0}, nil
		}
	case TypeTinyInt, TypeSmallInt, TypeInt, TypeBigInt, TypeCounter, TypeVarint:
		n, err := integerValue(v)
		if err != nil {
			return nil, err
		}
		return encodeInteger(typ, n)
	case TypeFloat:
		if t.Kind() == reflect.Float32 {
			// Through memory, not through a conversion to float64, which may change the bits of a NaN.
			p := reflect.New(t)
			p.Elem().Set(v)
			return binary.BigEndian.AppendUint32(nil, *(*uint32)(p.UnsafePointer())), nil
		}
	case TypeDouble:
		if t.Kind() == reflect.Float64 {
			return binary.BigEndian.AppendUint64(nil, math.Float64bits(v.Float())), nil
		}
	case TypeDecimal:
		if t == reflect.TypeFor[inf.Dec]() {
			d := v.Interface().(inf.Dec)
			return append(binary.BigEndian.AppendUint32(nil, uint32(d.Scale())), twosComplement(d.UnscaledBig())...), nil
		}
	case TypeUUID, TypeTimeUUID:
		return encodeUUIDReflect(v)
	case TypeInet:
		return encodeInet(v)
	case TypeDate, TypeTime, TypeTimestamp:
		return encodeClock(typ, v)
	case TypeDuration:
		return encodeDurationReflect(v)
	}
	return nil, noConversion(t)
}

// isBytes reports whether t is a slice of bytes of whatever name.
func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// isID reports whether t is an array of 16 bytes of whatever name.
func isID(t reflect.Type) bool {
	return t.Kind() == reflect.Array && t.Len() == 16 && t.Elem().Kind() == reflect.Uint8
}

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

// integerValue returns the integer that v holds, or whose decimal digits it is.
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
			return nil, fmt.Errorf("%w: %q is not a decimal number", ErrConversion, v.String())
		}
		return n, nil
	case t == reflect.TypeFor[big.Int]():
		n := v.Interface().(big.Int)
		return &n, nil
	default:
		return nil, noConversion(t)
	}
}

// integerSize returns the bytes of an integer type; 0 for varint, which has as many as it needs.
func integerSize(typ Type) int {
	return map[Type]int{TypeTinyInt: 1, TypeSmallInt: 2, TypeInt: 4, TypeBigInt: 8, TypeCounter: 8}[typ]
}

func encodeInteger(typ Type, n *big.Int) ([]byte, error) {
	b := twosComplement(n)
	size := integerSize(typ)
	if size == 0 {
		return b, nil
	}
	if len(b) > size {
		return nil, fmt.Errorf("%w: %v in %v", ErrRange, n, typ)
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

// twosComplement returns n in as few bytes as its sign and value need, at least one.
func twosComplement(n *big.Int) []byte {
	if n.Sign() >= 0 {
		b := n.Bytes()
		if len(b) == 0 || b[0]&0x80 != 0 {
			b = append([]byte{0}, b...)
		}
		return b
	}
	// -n in k bytes is 256^k - n: the smallest k for which the sign bit comes out set.
	k := (new(big.Int).Not(n).BitLen() + 8) / 8
	return new(big.Int).Add(n, new(big.Int).Lsh(big.NewInt(1), uint(8*k))).FillBytes(make([]byte, k))
}

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
			return nil, fmt.Errorf("%w: %d bytes are not a UUID", ErrConversion, v.Len())
		}
		return append([]byte{}, v.Bytes()...), nil
	case t.Kind() == reflect.String:
		u, err := ParseUUID(v.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConversion, err)
		}
		return u[:], nil
	default:
		return nil, noConversion(t)
	}
}

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
			return nil, fmt.Errorf("%w: %d bytes are not an IP address", ErrConversion, len(ip))
		}
		return append([]byte{}, ip...), nil
	case t == reflect.TypeFor[netip.Addr]():
		return encodeAddress(v.Interface().(netip.Addr))
	case t.Kind() == reflect.String:
		addr, err := netip.ParseAddr(v.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConversion, err)
		}
		return encodeAddress(addr)
	default:
		return nil, noConversion(t)
	}
}

// encodeAddress refuses a zone: CQL has none, and it would be lost.
func encodeAddress(addr netip.Addr) ([]byte, error) {
	if !addr.IsValid() || addr.Zone() != "" {
		return nil, fmt.Errorf("%w: %q is not a plain IP address", ErrConversion, addr)
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

// isPlainInt64 reports whether t is an int64 that does not stand for a length of time.
func isPlainInt64(t reflect.Type) bool {
	return t.Kind() == reflect.Int64 && t != reflect.TypeFor[time.Duration]()
}

func encodeClock(typ Type, v reflect.Value) ([]byte, error) {
	t := v.Type()
	at, isTime := v.Interface().(time.Time)
	switch {
	case typ == TypeTimestamp && isTime:
		ms := at.UnixMilli()
		if time.UnixMilli(ms).Unix() != at.Unix() { // it went over the end of an int64
			return nil, fmt.Errorf("%w: year %d", ErrRange, at.Year())
		}
		return binary.BigEndian.AppendUint64(nil, uint64(ms)), nil
	case typ == TypeTimestamp && isPlainInt64(t):
		return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
	case typ == TypeTime && t.Kind() == reflect.Int64:
		if v.Int() < 0 || v.Int() >= secondsOfDay*1e9 {
			return nil, fmt.Errorf("%w: %d ns is not a time of day", ErrRange, v.Int())
		}
		return binary.BigEndian.AppendUint64(nil, uint64(v.Int())), nil
	case typ == TypeDate && isTime:
		return encodeDay(floorDiv(at.Unix(), secondsOfDay))
	case typ == TypeDate && isPlainInt64(t):
		return encodeDay(floorDiv(v.Int(), secondsOfDay*1000))
	case typ == TypeDate && t.Kind() == reflect.String:
		at, err := time.Parse(time.DateOnly, v.String())
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrConversion, err)
		}
		return encodeDay(floorDiv(at.Unix(), secondsOfDay))
	}
	return nil, noConversion(t)
}

func encodeDay(day int64) ([]byte, error) {
	if day < -epochDay || day >= epochDay {
		return nil, fmt.Errorf("%w: day %d", ErrRange, day)
	}
	return binary.BigEndian.AppendUint32(nil, uint32(day+epochDay)), nil
}

func encodeDurationReflect(v reflect.Value) ([]byte, error) {
	var d Duration
	switch t := v.Type(); {
	case t == reflect.TypeFor[Duration]():
		d = v.Interface().(Duration)
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
		return nil, fmt.Errorf("%w: a duration of mixed signs", ErrRange)
	}
	b := wire.AppendVint(nil, int64(d.Months))
	b = wire.AppendVint(b, int64(d.Days))
	return wire.AppendVint(b, d.Nanoseconds), nil
}

// parseDurationText reads a duration as Go writes it, "1h30m0.5s", or as CQL does, "1y2mo3w4d5h6m7s8ms9us10ns" with a sign in front. What
// is both means the same in both.
func parseDurationText(s string) (Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return Duration{Nanoseconds: int64(d)}, nil
	}
	fault := func() (Duration, error) { return Duration{}, fmt.Errorf("%w: %q is not a duration", ErrConversion, s) }
	rest, negative := strings.CutPrefix(s, "-")
	if rest == "" {
		return fault()
	}
	var months, days, nanos big.Int
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		n, err := strconv.ParseInt(rest[:digits], 10, 64)
		if err != nil {
			return fault()
		}
		rest = rest[digits:]
		letters := len(rest) - len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyzµ"))
		unit := rest[:letters]
		rest = rest[letters:]
		into, factor := &nanos, int64(0)
		switch unit {
		case "y":
			into, factor = &months, 12
		case "mo":
			into, factor = &months, 1
		case "w":
			into, factor = &days, 7
		case "d":
			into, factor = &days, 1
		case "h":
			factor = 3600e9
		case "m":
			factor = 60e9
		case "s":
			factor = 1e9
		case "ms":
			factor = 1e6
		case "us", "µs":
			factor = 1e3
		case "ns":
			factor = 1
		default:
			return fault()
		}
		into.Add(into, new(big.Int).Mul(big.NewInt(n), big.NewInt(factor)))
	}
	if negative {
		months.Neg(&months)
		days.Neg(&days)
		nanos.Neg(&nanos)
	}
	if !months.IsInt64() || !days.IsInt64() || !nanos.IsInt64() || int64(int32(months.Int64())) != months.Int64() || int64(int32(days.Int64())) != days.Int64() {
		return Duration{}, fmt.Errorf("%w: duration %q", ErrRange, s)
	}
	return Duration{Months: int32(months.Int64()), Days: int32(days.Int64()), Nanoseconds: nanos.Int64()}, nil
}
