// SPDX-License-Identifier: Apache-2.0

package column

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"net"
	"reflect"
	"time"

	"github.com/vecql/vecql/cql"
)

// Value: a row as a Go value, for printing, comparing and small results. It is slow; use views to loop over many rows.

// Value returns row i as a Go value that shares no memory with the column, nil if the row is NULL:
//
//	Bool, integers, floats       the Go type of the kind; Float16 is float32
//	Date, Timestamp              time.Time in UTC
//	Time                         time.Duration since midnight
//	Duration, UUID               cql.Duration, cql.UUID
//	decimals                     cql.Decimal
//	String, Binary, Fixed        string, []byte, []byte
//	Inet, Varint                 net.IP, *big.Int
//	Vector, List                 a slice of the values of the elements; []any if an element is NULL
//	Map                          a map of the values of keys and elements; map[any]any if a value is NULL; keys that are
//	                             not comparable become their printed text
//	Struct, Tuple                map[string]any, []any
//
// It panics if the column has no row i.
func (c *Column) Value(i int) any {
	if i < 0 || i >= c.Len {
		panic(fmt.Sprintf("column: %s: row %d is out of range: %d rows", c.Name, i, c.Len))
	}
	if c.Null(i) {
		return nil
	}
	switch kind := c.Type.Kind; {
	case kind == Fixed:
		return append([]byte{}, c.Values[i*c.Type.Width:(i+1)*c.Type.Width]...)
	case kind == Vector:
		elements := Column{Type: Type{Kind: c.Type.Elem}, Len: c.Len * c.Type.Dim, Values: c.Values}
		return elements.values(i*c.Type.Dim, (i+1)*c.Type.Dim)
	case kind == List:
		return c.Children[0].values(c.Elements(i))
	case kind == Map:
		return c.mapValue(i)
	case kind == Struct:
		m := make(map[string]any, len(c.Children))
		for k := range c.Children {
			m[c.Children[k].Name] = c.Children[k].Value(i)
		}
		return m
	case kind == Tuple:
		fields := make([]any, len(c.Children))
		for k := range c.Children {
			fields[k] = c.Children[k].Value(i)
		}
		return fields
	case kind.IsText():
		return textValue(kind, TextView{c, c.codes()}.Bytes(i))
	}
	return c.fixedValue(i)
}

// fixedValue returns row i of a column of a fixed-width kind as the Go type that Value documents.
func (c *Column) fixedValue(i int) any {
	switch c.Type.Kind {
	case Bool:
		return c.Values[i] != 0
	case Int8:
		return int8(c.Values[i])
	case Uint8:
		return c.Values[i]
	case Int16:
		return cast[int16](c.Values, c.Len)[i]
	case Uint16:
		return cast[uint16](c.Values, c.Len)[i]
	case Float16:
		return float16(cast[uint16](c.Values, c.Len)[i])
	case Int32:
		return cast[int32](c.Values, c.Len)[i]
	case Uint32:
		return cast[uint32](c.Values, c.Len)[i]
	case Float32:
		return cast[float32](c.Values, c.Len)[i]
	case Date:
		return time.Unix(int64(cast[int32](c.Values, c.Len)[i])*86400, 0).UTC()
	case Int64, Time, Timestamp, Decimal64:
		return c.int64Value(cast[int64](c.Values, c.Len)[i])
	case Uint64:
		return cast[uint64](c.Values, c.Len)[i]
	case Float64:
		return cast[float64](c.Values, c.Len)[i]
	case Duration:
		return cast[cql.Duration](c.Values, c.Len)[i]
	case UUID:
		return cast[cql.UUID](c.Values, c.Len)[i]
	case Decimal128:
		v := cast[Int128](c.Values, c.Len)[i]
		return cql.Decimal{Unscaled: bigOf(v.Lo, uint64(v.Hi)), Scale: int32(c.Type.Scale)}
	case Decimal256:
		v := cast[Int256](c.Values, c.Len)[i]
		return cql.Decimal{Unscaled: bigOf(v[:]...), Scale: int32(c.Type.Scale)}
	}
	panic(fmt.Sprintf("column: %s: no Go value for type %v", c.Name, c.Type))
}

// int64Value returns an int64 of the column as the Go value of its kind and unit. Timestamps round down, so that the
// nanoseconds of a time before 1970 are not negative.
func (c *Column) int64Value(v int64) any {
	switch c.Type.Kind {
	case Time:
		return time.Duration(v) * time.Duration(1e9/c.Type.Unit.PerSecond())
	case Timestamp:
		per := c.Type.Unit.PerSecond()
		seconds := v / per
		if v%per < 0 {
			seconds--
		}
		return time.Unix(seconds, (v-seconds*per)*(1e9/per)).UTC()
	case Decimal64:
		return cql.Decimal{Unscaled: big.NewInt(v), Scale: int32(c.Type.Scale)}
	}
	return v
}

// textValue returns the bytes of a text kind as a Go value. Bytes that are not valid for the kind are returned as
// []byte.
func textValue(kind Kind, b []byte) any {
	b = append([]byte{}, b...)
	switch {
	case kind == String:
		return string(b)
	case kind == Inet && (len(b) == net.IPv4len || len(b) == net.IPv6len):
		return net.IP(b)
	case kind == Varint && len(b) > 0:
		return varint(b)
	case kind == Decimal && len(b) > 4:
		return cql.Decimal{Unscaled: varint(b[4:]), Scale: int32(binary.BigEndian.Uint32(b))}
	}
	return b
}

// varint returns the integer of bytes in two's complement, the most significant byte first.
func varint(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// bigOf returns the integer of words in two's complement, the least significant word first.
func bigOf(words ...uint64) *big.Int {
	b := make([]byte, 8*len(words))
	for i, w := range words {
		binary.BigEndian.PutUint64(b[len(b)-8*(i+1):], w)
	}
	return varint(b)
}

// float16 returns the number of an IEEE 754 binary16.
func float16(bits uint16) float32 {
	sign, exp, frac := uint32(bits>>15)<<31, uint32(bits>>10)&0x1f, uint32(bits)&0x3ff
	switch exp {
	case 0: // zero, or a subnormal of 2^-24 steps
		v := float32(frac) / (1 << 24)
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity, NaN
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// values returns rows i to j as a slice of their Go type, or []any if one of them is NULL.
func (c *Column) values(i, j int) any {
	t := c.valueType()
	for k := i; k < j && t != anyType; k++ {
		if c.Null(k) {
			t = anyType
		}
	}
	s := reflect.MakeSlice(reflect.SliceOf(t), j-i, j-i)
	for k := i; k < j; k++ {
		setValue(s.Index(k-i), c.Value(k))
	}
	return s.Interface()
}

var anyType = reflect.TypeFor[any]()

// setValue stores v in dst, whose type is the type of v or any. A nil v leaves dst unchanged.
func setValue(dst reflect.Value, v any) {
	if v != nil {
		dst.Set(reflect.ValueOf(v))
	}
}

// valueType returns the Go type of the column's values, or any if it varies between rows.
func (c *Column) valueType() reflect.Type {
	switch c.Type.Kind {
	case Float16:
		return reflect.TypeFor[float32]()
	case Date, Timestamp:
		return reflect.TypeFor[time.Time]()
	case Time:
		return reflect.TypeFor[time.Duration]()
	case Decimal64, Decimal128, Decimal256:
		return reflect.TypeFor[cql.Decimal]()
	case String:
		return reflect.TypeFor[string]()
	case Binary, Fixed:
		return reflect.TypeFor[[]byte]()
	case Vector:
		return reflect.SliceOf(goTypes[c.Type.Elem])
	case Struct:
		return reflect.TypeFor[map[string]any]()
	case Tuple:
		return reflect.TypeFor[[]any]()
	}
	if t := goTypes[c.Type.Kind]; t != nil {
		return t
	}
	// lists and maps, which are []any if they contain a NULL; Inet, Varint and Decimal, whose bytes may be invalid
	return anyType
}

// mapValue returns row i of a Map.
func (c *Column) mapValue(row int) any {
	keys, values := &c.Children[0], &c.Children[1]
	i, j := c.Elements(row)
	kt, vt := keys.valueType(), values.valueType()
	if !kt.Comparable() || kt == anyType {
		kt = anyType
	}
	for k := i; k < j; k++ {
		if values.Null(k) {
			kt, vt = anyType, anyType
		}
	}
	m := reflect.MakeMapWithSize(reflect.MapOf(kt, vt), j-i)
	for k := i; k < j; k++ {
		key := reflect.New(kt).Elem()
		v := keys.Value(k)
		if v != nil && !reflect.TypeOf(v).Comparable() {
			v = fmt.Sprint(v)
		}
		setValue(key, v)
		value := reflect.New(vt).Elem()
		setValue(value, values.Value(k))
		m.SetMapIndex(key, value)
	}
	return m.Interface()
}
