// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Checked access to the memory of arrays, so that any array is safe to read.

// A span is n rows of an array. Row i of the span is row from+i of the array's buffers: from includes the array's
// offset. Types come from the schema, never from the array: if the array has another type, the checks of its buffers
// still hold.
type span struct {
	data    arrow.ArrayData
	from, n int
}

// spanOf returns all rows of an array.
func spanOf(d arrow.ArrayData) (span, error) {
	if d == nil {
		return span{}, malformed("an array is missing")
	}
	if d.Len() < 0 || d.Offset() < 0 || d.Len() > math.MaxInt-d.Offset() {
		return span{}, malformed("%d rows at offset %d", d.Len(), d.Offset())
	}
	return span{d, d.Offset(), d.Len()}, nil
}

// child returns all rows of child i.
func (s span) child(i int) (span, error) {
	if i >= len(s.data.Children()) {
		return span{}, malformed("child %d is missing, there are %d", i, len(s.data.Children()))
	}
	return spanOf(s.data.Children()[i])
}

// slice returns n rows of the span, from row i on.
func (s span) slice(i, n int) (span, error) {
	if i < 0 || n < 0 || i > s.n || n > s.n-i {
		return span{}, malformed("rows %d to %d of %d", i, i+n, s.n)
	}
	return span{s.data, s.from + i, n}, nil
}

// buffer returns buffer i of the array, nil if there is none.
func (s span) buffer(i int) []byte {
	if b := s.data.Buffers(); i < len(b) && b[i] != nil {
		return b[i].Bytes()
	}
	return nil
}

// bytes returns the rows in buffer i, of width bytes each, in the array's memory. Without rows the buffer may be
// missing.
func (s span) bytes(i, width int) ([]byte, error) {
	if s.n == 0 {
		return nil, nil
	}
	b := s.buffer(i)
	if rows := len(b) / width; s.from > rows || s.n > rows-s.from {
		return nil, malformed("%d values of %d bytes from %d on in a buffer of %d bytes", s.n, width, s.from, len(b))
	}
	return b[s.from*width : (s.from+s.n)*width : (s.from+s.n)*width], nil
}

// valuesOf returns the rows in buffer i as values of T, in the array's memory if it is aligned.
func valuesOf[T any](s span, i int) ([]T, error) {
	var zero T
	b, err := s.bytes(i, int(unsafe.Sizeof(zero)))
	if len(b) == 0 || err != nil {
		return nil, err
	}
	b = aligned(b, unsafe.Alignof(zero))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), s.n), nil
}

// integersOf returns the rows in buffer i, integers of type id, as int64. An unsigned one above the range is negative.
func integersOf(s span, i int, id arrow.Type) ([]int64, error) {
	switch id {
	case arrow.INT8:
		return widened[int8](s, i)
	case arrow.UINT8:
		return widened[uint8](s, i)
	case arrow.INT16:
		return widened[int16](s, i)
	case arrow.UINT16:
		return widened[uint16](s, i)
	case arrow.INT32:
		return widened[int32](s, i)
	case arrow.UINT32:
		return widened[uint32](s, i)
	case arrow.INT64, arrow.UINT64:
		return valuesOf[int64](s, i)
	}
	return nil, malformed("%v is not an integer type", id)
}

func widened[T int8 | uint8 | int16 | uint16 | int32 | uint32](s span, i int) ([]int64, error) {
	values, err := valuesOf[T](s, i)
	wide := make([]int64, len(values))
	for i, v := range values {
		wide[i] = int64(v)
	}
	return wide, err
}

// aligned returns b, or a copy if b does not begin at a multiple of align.
func aligned(b []byte, align uintptr) []byte {
	if uintptr(unsafe.Pointer(unsafe.SliceData(b)))%align == 0 {
		return b
	}
	return append(make([]byte, 0, len(b)), b...)
}

// bits returns a bit per row of buffer i, from bit 0 on. It shares the array's memory if the first row begins a byte.
func (s span) bits(i int) ([]byte, error) {
	if s.n == 0 {
		return nil, nil
	}
	b := s.buffer(i)
	if size := len(b) * 8; s.from > size || s.n > size-s.from {
		return nil, malformed("%d bits from %d on in a buffer of %d bytes", s.n, s.from, len(b))
	}
	return bitmap.Slice(b, s.from, s.n), nil
}

// validity returns a bit per row, 0 for NULL; nil means that no row is NULL.
func (s span) validity() ([]byte, error) {
	if s.data.NullN() == 0 || s.buffer(0) == nil {
		return nil, nil
	}
	return s.bits(0)
}

// offsetsOf returns the n+1 offsets of rows in buffer 1, in the array's memory. It returns an error if they decrease or
// exceed end.
func offsetsOf[T int32 | int64](s span, end int) ([]T, error) {
	if s.n == 0 {
		return []T{0}, nil
	}
	if s.n == math.MaxInt {
		return nil, malformed("%d rows", s.n)
	}
	s.n++
	offsets, err := valuesOf[T](s, 1)
	if err != nil {
		return nil, err
	}
	last := T(0)
	for i, o := range offsets {
		if o < last {
			return nil, malformed("offset %d is %d, less than %d before it", i, o, last)
		}
		last = o
	}
	if int64(last) > int64(end) {
		return nil, malformed("offset %d is %d, the end is %d", s.n-1, last, end)
	}
	return offsets, nil
}

// rebased returns a copy of offsets, shifted to begin at 0.
func rebased[T int32 | int64](offsets []T) ([]int32, error) {
	first, last := offsets[0], offsets[len(offsets)-1]
	if int64(last-first) > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d", column.ErrTooLarge, last-first)
	}
	out := make([]int32, len(offsets))
	for i, o := range offsets {
		out[i] = int32(o - first)
	}
	return out, nil
}

// bytesOf returns the memory of v.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}
