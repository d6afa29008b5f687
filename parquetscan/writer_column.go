// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Passing values to arrow-go's column writers, as physical types of the format. Values whose type of 4 or 8 bytes
// exists in the format are passed without a copy, unless some are skipped.

// valueBuffers is scratch memory for values that are gathered or converted.
type valueBuffers struct {
	bools   []bool
	ints    []int32
	longs   []int64
	floats  []float32
	doubles []float64
	texts   []parquet.ByteArray
	fixed   []parquet.FixedLenByteArray
	bytes   []byte
	rows    []byte // of vectors
}

// noBytes is an empty value: arrow-go's statistics treat nil as no value.
var noBytes = []byte{}

// A leafWriter writes the values of leaves to the current row group.
type leafWriter struct {
	group   file.BufferedRowGroupWriter // nil between row groups
	buffers valueBuffers
}

// writeValues writes count values of a leaf: the values at picks, or from first on if picks is nil. nil def or rep
// means that the leaf has no such levels.
func (w *leafWriter) writeValues(n *writeNode, c *column.Column, first, count int, picks []int,
	def, rep []int16,
) error {
	out, err := w.group.Column(n.leaf)
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	if n.def == 0 && n.field.Type.Kind != column.Vector {
		def = nil
	}
	s := valueSource{column: c, first: first, count: count, picks: picks}
	b := &w.buffers
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
		err = fmt.Errorf("cannot write values of %v", out.Type())
	}
	if err == nil && entries > 0 && written != int64(count) {
		err = fmt.Errorf("arrow-go wrote %d values of %d", written, count)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	return nil
}

// writeRowsOf writes the elements of these rows of a vector.
func (w *leafWriter) writeRowsOf(n *writeNode, c *column.Column, rows []int, def, rep []int16) error {
	b := &w.buffers
	width := c.Type.ValueWidth()
	b.rows = buffer.GrowBytes(b.rows[:0], len(rows)*width)
	for k, i := range rows {
		copy(b.rows[k*width:(k+1)*width], c.Values[i*width:])
	}
	packed := column.Column{Name: c.Name, Type: c.Type, Len: len(rows), Values: b.rows}
	return w.writeValues(n, &packed, 0, len(rows)*c.Type.Dim, nil, def, rep)
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

// takeValues returns the values as T, which has their size: in the column's own memory, or gathered in into.
func takeValues[T any](s *valueSource, into *[]T) []T {
	if s.count == 0 {
		return nil
	}
	if s.picks == nil {
		return buffer.SliceOf[T](s.column.Values, s.first+s.count)[s.first:]
	}
	v := buffer.SliceOf[T](s.column.Values, s.picks[s.count-1]+1)
	dst := (*into)[:0]
	for _, at := range s.picks {
		dst = append(dst, v[at])
	}
	*into = dst
	return dst
}

// widenValues converts values of fewer than 32 bits to int32.
func widenValues[T int8 | int16 | uint8 | uint16](s *valueSource, b *valueBuffers) []int32 {
	dst := b.ints[:0]
	if s.count > 0 {
		v := buffer.SliceOf[T](s.column.Values, s.index(s.count-1)+1)
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
	case column.Int8:
		return widenValues[int8](s, b), nil
	case column.Int16:
		return widenValues[int16](s, b), nil
	case column.Uint8:
		return widenValues[uint8](s, b), nil
	case column.Uint16:
		return widenValues[uint16](s, b), nil
	case column.Time, column.Decimal64:
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

// texts sets b.texts to the values of String and Binary.
func (s *valueSource) texts(b *valueBuffers) error {
	c := s.column
	dst := b.texts[:0]
	if c.Dict != nil {
		if s.count > 0 {
			codes := buffer.SliceOf[uint32](c.Values, s.index(s.count-1)+1)
			limit := uint32(c.Dict.Len())
			for i := range s.count {
				code := codes[s.index(i)]
				if code >= limit {
					return fmt.Errorf("value %d: code %d is not in the dictionary of %d entries", s.index(i), code, limit)
				}
				dst = appendText(dst, c.Dict.Bytes(code))
			}
		}
	} else {
		for i := range s.count {
			at := s.index(i)
			dst = appendText(dst, c.Values[c.Offsets[at]:c.Offsets[at+1]])
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

// fixed sets b.fixed to the values of kinds that are stored as FIXED_LEN_BYTE_ARRAY.
func (s *valueSource) fixed(n *writeNode, b *valueBuffers) error {
	dst := b.fixed[:0]
	switch n.field.Type.Kind {
	case column.Decimal128, column.Decimal256:
		if err := s.decimals(n, b); err != nil {
			return err
		}
		for i := range s.count {
			dst = append(dst, b.bytes[i*n.width:(i+1)*n.width])
		}
	default:
		width := s.column.Type.ValueWidth()
		if n.field.Type.Kind == column.Vector {
			width = 16 // a UUID
		}
		for i := range s.count {
			at := s.index(i)
			dst = append(dst, s.column.Values[at*width:(at+1)*width])
		}
	}
	b.fixed = dst
	return nil
}

// decimals sets b.bytes to the values of Decimal128 and Decimal256: two's complement of n.width bytes each, big-endian.
func (s *valueSource) decimals(n *writeNode, b *valueBuffers) error {
	b.bytes = b.bytes[:0]
	if s.count == 0 {
		return nil
	}
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
		b.bytes = append(b.bytes, raw[32-n.width:]...)
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
