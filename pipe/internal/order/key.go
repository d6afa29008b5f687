// SPDX-License-Identifier: Apache-2.0

// Package order has sort keys and the first rows of an order.
package order

import (
	"encoding/binary"
	"math"

	"github.com/vecql/vecql/column"
)

// Sort keys: values as bytes in the order of the values. A word of their first 8 bytes decides most comparisons.

// A Key is a column of an order.
type Key struct {
	Name             string
	Desc, NullsFirst bool
}

// Has reports whether the values of a kind have an order.
func Has(k column.Kind) bool {
	switch k {
	case column.Duration, column.Varint, column.Decimal, column.Vector:
		return false
	}
	return !k.IsNested()
}

// The first byte of a key: the place of NULL.
const (
	keyNullFirst = iota
	keyValue
	keyNullLast
)

// A Column is the column of a key in a batch.
type Column struct {
	Key
	c     *column.Column
	text  column.TextView
	word  func(i int) uint64 // of kinds of at most 64 bits
	width int                // of other kinds of one width
}

// ColumnOf returns the key of a batch that has its column.
func ColumnOf(k Key, b *column.Batch) (Column, error) {
	c := b.Column(k.Name)
	if err := c.Err(); err != nil {
		return Column{}, err
	}
	kc := Column{Key: k, c: c, word: wordOf(c), width: c.Type.ValueWidth()}
	var err error
	if c.Type.Kind.IsText() {
		kc.text, err = c.Text()
	}
	return kc, err
}

// wordOf returns a function of the order of values of at most 64 bits, nil for other kinds.
func wordOf(c *column.Column) func(i int) uint64 {
	const sign = 1 << 63
	v := c.Values
	switch c.Type.Kind {
	case column.Bool, column.Uint8:
		return func(i int) uint64 { return uint64(v[i]) }
	case column.Int8:
		return func(i int) uint64 { return uint64(int64(int8(v[i]))) ^ sign }
	case column.Int16:
		return func(i int) uint64 { return uint64(int64(int16(native.Uint16(v[2*i:])))) ^ sign }
	case column.Int32, column.Date:
		return func(i int) uint64 { return uint64(int64(int32(native.Uint32(v[4*i:])))) ^ sign }
	case column.Int64, column.Time, column.Timestamp, column.Decimal64:
		return func(i int) uint64 { return native.Uint64(v[8*i:]) ^ sign }
	case column.Uint16:
		return func(i int) uint64 { return uint64(native.Uint16(v[2*i:])) }
	case column.Uint32:
		return func(i int) uint64 { return uint64(native.Uint32(v[4*i:])) }
	case column.Uint64:
		return func(i int) uint64 { return native.Uint64(v[8*i:]) }
	case column.Float16:
		return func(i int) uint64 { return floatWord(halfValue(native.Uint16(v[2*i:]))) }
	case column.Float32:
		return func(i int) uint64 { return floatWord(float64(math.Float32frombits(native.Uint32(v[4*i:])))) }
	case column.Float64:
		return func(i int) uint64 { return floatWord(math.Float64frombits(native.Uint64(v[8*i:]))) }
	}
	return nil
}

var native = binary.NativeEndian

// floatWord returns a word in the order of floats: -0 equals 0, and NaN, which equals NaN, is the greatest.
func floatWord(f float64) uint64 {
	switch {
	case f != f:
		return math.MaxUint64
	case f == 0:
		return 1 << 63
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// halfValue returns the value of a Float16.
func halfValue(h uint16) float64 {
	exponent, fraction := int(h>>10&31), float64(h&1023)
	f := math.Ldexp(1024+fraction, exponent-25)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		f = math.Inf(1)
	case exponent == 0:
		f = math.Ldexp(fraction, -24)
	}
	if h>>15 != 0 {
		return -f
	}
	return f
}

// Value returns the value of row i, nil for NULL.
func (k *Column) Value(i int) any { return k.c.Value(i) }

// prefix returns a word in the order of the keys; rows with equal prefixes may differ.
func (k *Column) prefix(i int) uint64 {
	if k.c.Null(i) {
		if k.NullsFirst {
			return 0
		}
		return math.MaxUint64
	}
	var w uint64
	switch {
	case k.word != nil:
		w = k.word(i)
	case k.c.Type.Kind.IsText():
		w = prefixOf(k.text.Bytes(i))
	default:
		var buf [32]byte
		w = prefixOf(k.appendFixed(buf[:0], i))
	}
	if k.Desc {
		w = ^w
	}
	return w
}

// prefixOf returns the first 8 bytes as a word, filled with zeros.
func prefixOf(b []byte) uint64 {
	if len(b) >= 8 {
		return binary.BigEndian.Uint64(b)
	}
	var w uint64
	for i, x := range b {
		w |= uint64(x) << (56 - 8*i)
	}
	return w
}

// Append appends the key of row i. Keys of one order have the order of their bytes, and no key is the start of another.
func (k *Column) Append(dst []byte, i int) []byte {
	if k.c.Null(i) {
		if k.NullsFirst {
			return append(dst, keyNullFirst)
		}
		return append(dst, keyNullLast)
	}
	dst = append(dst, keyValue)
	from := len(dst)
	switch {
	case k.word != nil:
		dst = binary.BigEndian.AppendUint64(dst, k.word(i))
	case k.c.Type.Kind.IsText():
		for _, b := range k.text.Bytes(i) {
			if dst = append(dst, b); b == 0 {
				dst = append(dst, 0xff)
			}
		}
		dst = append(dst, 0, 0)
	default:
		dst = k.appendFixed(dst, i)
	}
	if k.Desc {
		for j := range dst[from:] {
			dst[from+j] = ^dst[from+j]
		}
	}
	return dst
}

// appendFixed appends a value of more than 64 bits: integers with the most significant word first, other kinds as they
// are.
func (k *Column) appendFixed(dst []byte, i int) []byte {
	v := k.c.Values[i*k.width : (i+1)*k.width]
	if kind := k.c.Type.Kind; kind != column.Decimal128 && kind != column.Decimal256 {
		return append(dst, v...)
	}
	flip := uint64(1 << 63)
	for at := k.width - 8; at >= 0; at -= 8 {
		dst = binary.BigEndian.AppendUint64(dst, native.Uint64(v[at:])^flip)
		flip = 0
	}
	return dst
}
