// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/encoder"
)

// Values of columns in the form of the format's physical types. Values of a type that the format has are passed
// without a copy, unless some are skipped.

// valueBuffers is scratch memory for values that are gathered or converted.
type valueBuffers struct {
	bytes, wide []byte
	texts       [][]byte
	codes       []uint32
}

// A valueSource is the values of a column to write.
type valueSource struct {
	column *column.Column
	first  int
	count  int
	picks  []int // nil means from first on
}

// index returns the index in the column of value i of the source.
func (s *valueSource) index(i int) int {
	if s.picks != nil {
		return s.picks[i]
	}
	return s.first + i
}

// writeValues writes the values of a leaf. They are at least one.
func (s *valueSource) writeValues(n *writeNode, out *encoder.Chunk, b *valueBuffers) error {
	switch n.field.Type.Kind {
	case column.Bool:
		out.PutBools(s.take(1, &b.bytes))
	case column.String, column.Binary:
		s.writeTexts(out, b)
	case column.Vector:
		out.PutFixed(s.take(n.column.Width, &b.bytes))
	default:
		values, err := s.fixed(n, b)
		if err != nil {
			return err
		}
		out.PutFixed(values)
	}
	return nil
}

// fixed returns the values of kinds that are stored with a fixed width.
func (s *valueSource) fixed(n *writeNode, b *valueBuffers) ([]byte, error) {
	switch n.field.Type.Kind {
	case column.Int8:
		return widenValues[int8](s, b), nil
	case column.Int16:
		return widenValues[int16](s, b), nil
	case column.Uint8:
		return widenValues[uint8](s, b), nil
	case column.Uint16:
		return widenValues[uint16](s, b), nil
	case column.Time, column.Decimal64:
		values := s.take(8, &b.wide)
		v := buffer.SliceOf[int64](values, s.count)
		if err := s.checkDecimals64(n, v); err != nil || n.column.Width == 8 {
			return values, err
		}
		return s.narrow(n, v, b)
	case column.Decimal128, column.Decimal256:
		err := s.decimals(n, b)
		return b.bytes, err
	}
	return s.take(n.column.Width, &b.bytes), nil
}

// take returns values of a width: in the column's own memory, or gathered in into.
func (s *valueSource) take(width int, into *[]byte) []byte {
	if s.picks == nil {
		return s.column.Values[s.first*width:][:s.count*width]
	}
	*into = buffer.GrowBytes((*into)[:0], s.count*width)
	switch width {
	case 1:
		gather[uint8](*into, s)
	case 4:
		gather[uint32](*into, s)
	case 8:
		gather[uint64](*into, s)
	case 16:
		gather[[2]uint64](*into, s)
	default:
		for i, at := range s.picks {
			copy((*into)[i*width:], s.column.Values[at*width:][:width])
		}
	}
	return *into
}

// gather copies the values at picks.
func gather[T any](into []byte, s *valueSource) {
	v := buffer.SliceOf[T](s.column.Values, s.picks[s.count-1]+1)
	dst := buffer.SliceOf[T](into, s.count)
	for i, at := range s.picks {
		dst[i] = v[at]
	}
}

// widenValues converts values of fewer than 32 bits to INT32.
func widenValues[T int8 | int16 | uint8 | uint16](s *valueSource, b *valueBuffers) []byte {
	b.bytes = buffer.GrowBytes(b.bytes[:0], 4*s.count)
	dst := buffer.SliceOf[int32](b.bytes, s.count)
	v := buffer.SliceOf[T](s.column.Values, s.index(s.count-1)+1)
	for i := range dst {
		dst[i] = int32(v[s.index(i)])
	}
	return b.bytes
}

// narrow converts values to INT32.
func (s *valueSource) narrow(n *writeNode, v []int64, b *valueBuffers) ([]byte, error) {
	b.bytes = buffer.GrowBytes(b.bytes[:0], 4*s.count)
	dst := buffer.SliceOf[int32](b.bytes, s.count)
	for i, x := range v {
		if x != int64(int32(x)) {
			return nil, s.outOfRange(n, i, x)
		}
		dst[i] = int32(x)
	}
	return b.bytes, nil
}

func (s *valueSource) outOfRange(n *writeNode, i int, value any) error {
	return fmt.Errorf("value %d: %w: %v for %v", s.index(i), ErrOutOfRange, value, n.field.Type)
}

// checkDecimals64 returns an error if a decimal has too many digits.
func (s *valueSource) checkDecimals64(n *writeNode, v []int64) error {
	if n.field.Type.Kind != column.Decimal64 {
		return nil
	}
	limit := int64(n.limit[0])
	for i, x := range v {
		if x <= -limit || x >= limit {
			return s.outOfRange(n, i, x)
		}
	}
	return nil
}

// writeTexts writes values of String and Binary.
func (s *valueSource) writeTexts(out *encoder.Chunk, b *valueBuffers) {
	c := s.column
	if c.Dict == nil {
		b.texts = b.texts[:0]
		for i := range s.count {
			at := s.index(i)
			b.texts = append(b.texts, c.Values[c.Offsets[at]:c.Offsets[at+1]])
		}
		out.PutTexts(b.texts)
		return
	}
	all := buffer.SliceOf[uint32](c.Values, s.index(s.count-1)+1)
	if s.picks == nil {
		out.PutCodes(all[s.first:], c.Dict)
		return
	}
	b.codes = b.codes[:0]
	for _, at := range s.picks {
		b.codes = append(b.codes, all[at])
	}
	out.PutCodes(b.codes, c.Dict)
}

// decimals sets b.bytes to the values of Decimal128 and Decimal256: two's complement of the column's width, big-endian.
func (s *valueSource) decimals(n *writeNode, b *valueBuffers) error {
	b.bytes = b.bytes[:0]
	var short []column.Int128
	var long [][4]uint64
	if end := s.index(s.count-1) + 1; n.field.Type.Kind == column.Decimal128 {
		short = buffer.SliceOf[column.Int128](s.column.Values, end)
	} else {
		long = buffer.SliceOf[[4]uint64](s.column.Values, end)
	}
	for i := range s.count {
		var x [4]uint64
		if short != nil {
			v := short[s.index(i)]
			sign := uint64(v.Hi >> 63)
			x = [4]uint64{v.Lo, uint64(v.Hi), sign, sign}
		} else {
			x = long[s.index(i)]
		}
		if !within(x, &n.limit) {
			return s.outOfRange(n, i, fmt.Sprintf("%#x", x))
		}
		var raw [32]byte
		for k, word := range x {
			binary.BigEndian.PutUint64(raw[24-8*k:], word)
		}
		b.bytes = append(b.bytes, raw[32-n.column.Width:]...)
	}
	return nil
}

// within reports whether the absolute value of an integer of 256 bits is less than a limit.
func within(v [4]uint64, limit *[4]uint64) bool {
	if v[3]>>63 != 0 {
		carry := uint64(1)
		for i := range v {
			v[i] = ^v[i] + carry
			if v[i] != 0 {
				carry = 0
			}
		}
	}
	for i := 3; i >= 0; i-- {
		if v[i] != limit[i] {
			return v[i] < limit[i]
		}
	}
	return false
}
