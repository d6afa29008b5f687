// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// This file hands values to arrow-go's column writers, as the physical types of the format. Values of a type of 4 or 8 bytes that the
// format has too are handed on where they lie, as long as none is left out.

// valueBuffers is memory for values that have to be gathered or converted.
type valueBuffers struct {
	bools   []bool
	ints    []int32
	longs   []int64
	floats  []float32
	doubles []float64
	texts   []parquet.ByteArray
	fixed   []parquet.FixedLenByteArray
	bytes   []byte
}

// noBytes is an empty value: arrow-go's statistics take nil for no value.
var noBytes = []byte{}

// writeValues writes count values of a leaf: those at picks, or from first on if picks is nil. def and rep are nil where the schema has no
// such levels at all, or does not need them.
func (w *Writer) writeValues(n *writeNode, c *Column, first, count int, picks []int, def, rep []int16) error {
	out, err := w.group.Column(n.leaf)
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	if n.def == 0 && n.field.Type.Kind != Vector {
		def = nil
	}
	s := valueSource{column: c, first: first, count: count, picks: picks}
	b := &w.buffers.values
	written, entries := int64(0), max(len(def), count)
	switch out := out.(type) {
	case *file.BooleanColumnChunkWriter:
		written, err = out.WriteBatch(takeValues(&s, &b.bools), def, rep)
	case *file.Int32ColumnChunkWriter:
		var v []int32
		if v, err = s.ints(n, b); err == nil {
			written, err = out.WriteBatch(v, def, rep)
		}
	case *file.Int64ColumnChunkWriter:
		v := takeValues(&s, &b.longs)
		if err = s.checkDecimals64(n, v); err == nil {
			written, err = out.WriteBatch(v, def, rep)
		}
	case *file.Float32ColumnChunkWriter:
		written, err = out.WriteBatch(takeValues(&s, &b.floats), def, rep)
	case *file.Float64ColumnChunkWriter:
		written, err = out.WriteBatch(takeValues(&s, &b.doubles), def, rep)
	case *file.ByteArrayColumnChunkWriter:
		if err = s.texts(b); err == nil {
			written, err = out.WriteBatch(b.texts, def, rep)
		}
	case *file.FixedLenByteArrayColumnChunkWriter:
		if err = s.fixed(n, b); err == nil {
			written, err = out.WriteBatch(b.fixed, def, rep)
		}
	default:
		err = fmt.Errorf("no values of %v", out.Type())
	}
	if err == nil && entries > 0 && written != int64(count) {
		err = fmt.Errorf("%d values of %d written", written, count)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	return nil
}

// writeRowsOf writes the elements of these rows of a vector.
func (w *Writer) writeRowsOf(n *writeNode, c *Column, rows []int, def, rep []int16) error {
	b := &w.buffers.values
	packed := Column{Name: c.Name, Type: c.Type, n: len(rows), dim: c.dim}
	if c.Type.Elem == Float32 {
		b.floats = packRows(b.floats[:0], sliceOf[float32](c.values, c.n*c.dim), rows, c.dim)
		packed.values = bytesOfSlice(b.floats)
	} else {
		b.doubles = packRows(b.doubles[:0], sliceOf[float64](c.values, c.n*c.dim), rows, c.dim)
		packed.values = bytesOfSlice(b.doubles)
	}
	return w.writeValues(n, &packed, 0, len(rows)*c.dim, nil, def, rep)
}

func packRows[T any](dst, v []T, rows []int, dim int) []T {
	for _, i := range rows {
		dst = append(dst, v[i*dim:(i+1)*dim]...)
	}
	return dst
}

// A valueSource is the values of a column that are to be written.
type valueSource struct {
	column *Column
	first  int
	count  int
	picks  []int // if not nil, instead of first
}

// index returns where value i of the source lies in the column.
func (s *valueSource) index(i int) int {
	if s.picks != nil {
		return s.picks[i]
	}
	return s.first + i
}

// takeValues returns the values as T, which has their size: the column's own memory, or gathered.
func takeValues[T any](s *valueSource, buffer *[]T) []T {
	if s.count == 0 {
		return nil
	}
	if s.picks == nil {
		return sliceOf[T](s.column.values, s.first+s.count)[s.first:]
	}
	v := sliceOf[T](s.column.values, s.picks[s.count-1]+1)
	dst := (*buffer)[:0]
	for _, at := range s.picks {
		dst = append(dst, v[at])
	}
	*buffer = dst
	return dst
}

// widenValues returns values of fewer than 32 bits as 32.
func widenValues[T int8 | int16 | uint8 | uint16](s *valueSource, b *valueBuffers) []int32 {
	dst := b.ints[:0]
	if s.count > 0 {
		v := sliceOf[T](s.column.values, s.index(s.count-1)+1)
		for i := range s.count {
			dst = append(dst, int32(v[s.index(i)]))
		}
	}
	b.ints = dst
	return dst
}

// ints returns the values of kinds that are stored as INT32.
func (s *valueSource) ints(n *writeNode, b *valueBuffers) ([]int32, error) {
	switch n.field.Type.Kind {
	case Int8:
		return widenValues[int8](s, b), nil
	case Int16:
		return widenValues[int16](s, b), nil
	case Uint8:
		return widenValues[uint8](s, b), nil
	case Uint16:
		return widenValues[uint16](s, b), nil
	case Time, Decimal64:
		v := takeValues(s, &b.longs)
		if err := s.checkDecimals64(n, v); err != nil {
			return nil, err
		}
		dst := b.ints[:0]
		for i, x := range v {
			if x != int64(int32(x)) {
				return nil, s.outOfRange(n, i, x)
			}
			dst = append(dst, int32(x))
		}
		b.ints = dst
		return dst, nil
	}
	return takeValues(s, &b.ints), nil
}

func (s *valueSource) outOfRange(n *writeNode, i int, value any) error {
	return fmt.Errorf("value %d: %w: %v for %v", s.index(i), ErrOutOfRange, value, n.field.Type)
}

// checkDecimals64 returns an error if a decimal has too many digits.
func (s *valueSource) checkDecimals64(n *writeNode, v []int64) error {
	if n.field.Type.Kind != Decimal64 {
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

// texts makes b.texts the values of String and Binary.
func (s *valueSource) texts(b *valueBuffers) error {
	c := s.column
	dst := b.texts[:0]
	if c.dict != nil {
		if s.count > 0 {
			codes := sliceOf[uint32](c.values, s.index(s.count-1)+1)
			limit := uint32(c.dict.Len())
			for i := range s.count {
				code := codes[s.index(i)]
				if code >= limit {
					return fmt.Errorf("value %d: code %d of a dictionary of %d", s.index(i), code, limit)
				}
				dst = appendText(dst, c.dict.Value(code))
			}
		}
	} else {
		for i := range s.count {
			at := s.index(i)
			dst = appendText(dst, c.values[c.offsets[at]:c.offsets[at+1]])
		}
	}
	b.texts = dst
	return nil
}

func appendText(dst []parquet.ByteArray, v []byte) []parquet.ByteArray {
	if len(v) == 0 {
		v = noBytes
	}
	return append(dst, v)
}

// fixed makes b.fixed the values of kinds that are stored as FIXED_LEN_BYTE_ARRAY.
func (s *valueSource) fixed(n *writeNode, b *valueBuffers) error {
	dst := b.fixed[:0]
	switch n.field.Type.Kind {
	case Decimal128, Decimal256:
		if err := s.decimals(n, b); err != nil {
			return err
		}
		for i := range s.count {
			dst = append(dst, b.bytes[i*n.width:(i+1)*n.width])
		}
	default:
		width := s.column.Type.width()
		for i := range s.count {
			at := s.index(i)
			dst = append(dst, s.column.values[at*width:(at+1)*width])
		}
	}
	b.fixed = dst
	return nil
}

// decimals makes b.bytes the values of Decimal128 and Decimal256: two's complement of n.width bytes each, the highest first.
func (s *valueSource) decimals(n *writeNode, b *valueBuffers) error {
	b.bytes = b.bytes[:0]
	if s.count == 0 {
		return nil
	}
	var short []Int128
	var long []Int256
	if end := s.index(s.count-1) + 1; n.field.Type.Kind == Decimal128 {
		short = sliceOf[Int128](s.column.values, end)
	} else {
		long = sliceOf[Int256](s.column.values, end)
	}
	for i := range s.count {
		var x Int256
		if short != nil {
			v := short[s.index(i)]
			sign := uint64(v.Hi >> 63)
			x = Int256{v.Lo, uint64(v.Hi), sign, sign}
		} else {
			x = long[s.index(i)]
		}
		if !x.within(&n.limit) {
			return s.outOfRange(n, i, fmt.Sprintf("%#x", x))
		}
		var raw [32]byte
		for k, word := range x {
			binary.BigEndian.PutUint64(raw[24-8*k:], word)
		}
		b.bytes = append(b.bytes, raw[32-n.width:]...)
	}
	return nil
}

// within tells whether a number's absolute value is less than a limit.
func (v Int256) within(limit *[4]uint64) bool {
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
