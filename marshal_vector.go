// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"time"
	"unsafe"

	"github.com/vecql/vecql/internal/swap"
	"github.com/vecql/vecql/internal/wire"
)

// This file holds the plans of vector<T, n> (native_protocol_v5.spec, section 5.25): n elements, no count, no NULL. Elements of a fixed
// size follow each other; others have an [unsigned vint] length each (what servers do; the text of the section says [bytes]). Where
// Go keeps the elements as the wire does but for the byte order, all of them are moved at once by internal/swap.

// maxDimensions is where the reference takes over: as many elements of 16 bytes still have a size that fits an int32, and so every
// product below fits an int on any machine. It is far above what servers allow.
const maxDimensions = math.MaxInt32 / 16

// bulkElement returns the size in bytes of a vector element that Go values of type t hold as the wire does but for the byte order,
// 0 for all other pairs. 1 is a boolean and nothing else.
func bulkElement(info TypeInfo, t reflect.Type) int {
	typ, ok := info.(NativeType)
	if !ok || hasOwnCodec(t) {
		return 0
	}
	k := t.Kind()
	switch Type(typ) {
	case TypeBoolean:
		return sizeIf(k == reflect.Bool, 1)
	case TypeFloat:
		return sizeIf(k == reflect.Float32, 4)
	case TypeInt:
		return sizeIf(k == reflect.Int32, 4)
	case TypeDouble:
		return sizeIf(k == reflect.Float64, 8)
	case TypeBigInt:
		return sizeIf(k == reflect.Int64 || k == reflect.Int && bits.UintSize == 64, 8)
	case TypeTimestamp: // milliseconds, which a time.Duration is not
		return sizeIf(k == reflect.Int64 && t != reflect.TypeFor[time.Duration](), 8)
	case TypeUUID, TypeTimeUUID:
		return sizeIf(isID(t), 16)
	}
	return 0
}

func sizeIf(ok bool, size int) int {
	if ok {
		return size
	}
	return 0
}

// swapAppend appends the elements of e, of 1, 4, 8 or 16 bytes each.
func swapAppend(dst []byte, e elements) []byte {
	switch e.stride {
	case 1:
		return append(dst, unsafe.Slice((*byte)(e.base), e.n)...)
	case 4:
		return swap.Append32(dst, unsafe.Slice((*uint32)(e.base), e.n))
	case 8:
		return swap.Append64(dst, unsafe.Slice((*uint64)(e.base), e.n))
	}
	return swap.Append128(dst, unsafe.Slice((*[16]byte)(e.base), e.n))
}

// swapDecode fills e from a cell of exactly that many bytes.
func swapDecode(e elements, cell []byte) {
	switch e.stride {
	case 1:
		values := unsafe.Slice((*bool)(e.base), e.n)
		for i, b := range cell {
			values[i] = b != 0
		}
	case 4:
		swap.Decode32(unsafe.Slice((*uint32)(e.base), e.n), cell)
	case 8:
		swap.Decode64(unsafe.Slice((*uint64)(e.base), e.n), cell)
	default:
		swap.Decode128(unsafe.Slice((*[16]byte)(e.base), e.n), cell)
	}
}

// appendBulk appends the vector e, whose elements bulkElement knows.
func appendBulk(dst []byte, e elements, dimensions int) ([]byte, error) {
	if err := checkBulk(e, dimensions); err != nil {
		return dst, err
	}
	return swapAppend(wire.AppendInt(dst, int32(e.n*int(e.stride))), e), nil
}

// checkBulk checks that e has that many elements, and not more bytes than a cell can have.
func checkBulk(e elements, dimensions int) error {
	if err := checkDimensions(e.n, dimensions); err != nil {
		return err
	}
	if size := e.n * int(e.stride); int(int32(size)) != size {
		return errTooLong
	}
	return nil
}

func checkDimensions(n, dimensions int) error {
	if n != dimensions {
		return fmt.Errorf("%w: %d elements, want %d", ErrDimension, n, dimensions)
	}
	return nil
}

func planVectorEncode(info VectorType, t reflect.Type) encodeAt {
	k := t.Kind()
	if k != reflect.Slice && k != reflect.Array {
		return nil
	}
	list := planVectorElements(info, t.Elem())
	if list == nil {
		return nil
	}
	stride := t.Elem().Size()
	if k == reflect.Array {
		n := t.Len()
		return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return list(dst, elements{p, n, stride}) }
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		e, null := sliceAt(p, stride)
		if null {
			return appendNull(dst), nil
		}
		return list(dst, e)
	}
}

// planVectorElements returns the plan for a run of elements of type t.
func planVectorElements(info VectorType, t reflect.Type) func(dst []byte, e elements) ([]byte, error) {
	n := info.Dimensions
	if bulkElement(info.SubType, t) != 0 {
		return func(dst []byte, e elements) ([]byte, error) { return appendBulk(dst, e, n) }
	}
	elem := planEncode(info.SubType, t)
	if elem == nil {
		return nil
	}
	size := fixedSize(info.SubType)
	return func(dst []byte, e elements) ([]byte, error) {
		if err := checkDimensions(e.n, n); err != nil {
			return dst, err
		}
		dst, at := beginCell(dst)
		for i := range e.n {
			start := len(dst)
			var err error
			if dst, err = appendNotNull(dst, e.at(i), elem); err != nil {
				return dst, fmt.Errorf("element %d: %w", i, err)
			}
			if got := len(dst) - start - 4; size >= 0 && got != size { // a Marshaler in an any can do this
				return dst, fmt.Errorf("%w: element %d of %d bytes, want %d", ErrRange, i, got, size)
			}
			dst = shortenLength(dst, start, size >= 0)
		}
		return endCell(dst, at)
	}
}

// shortenLength turns the cell that begins at start and ends dst into an element of a vector: without its length where that is fixed,
// else with the length as [unsigned vint].
func shortenLength(dst []byte, start int, fixed bool) []byte {
	value := dst[start+4:]
	var buf [9]byte
	length := buf[:0]
	if !fixed {
		length = wire.AppendUvint(length, uint64(len(value)))
	}
	n := len(value)
	if len(length) > 4 {
		dst = append(dst, 0) // lengths above 1<<28-1 take five bytes
	}
	copy(dst[start+len(length):], value)
	copy(dst[start:], length)
	return dst[:start+len(length)+n]
}

func planVectorDecode(info VectorType, t reflect.Type) decodeAt {
	k := t.Kind()
	n := info.Dimensions
	if k != reflect.Slice && (k != reflect.Array || t.Len() != n) || n < 0 || n > maxDimensions {
		return nil
	}
	switch bulkElement(info.SubType, t.Elem()) {
	case 1:
		return planBulkDecode[byte](t, n)
	case 4:
		return planBulkDecode[uint32](t, n)
	case 8:
		return planBulkDecode[uint64](t, n)
	case 16:
		return planBulkDecode[[16]byte](t, n)
	}
	elem := planDecode(info.SubType, t.Elem())
	if elem == nil {
		return nil
	}
	size, stride := fixedSize(info.SubType), t.Elem().Size()
	if size == 0 || size > 0 && n > math.MaxInt32/size {
		return nil // of elements without bytes no cell bounds the number; the others can't be in a cell
	}
	return func(cell []byte, p unsafe.Pointer) error {
		if err := checkVectorSize(cell, n, size); err != nil {
			return err
		}
		e, err := makeElements(t, p, n, stride)
		if err != nil {
			return err
		}
		for i := range n {
			var value []byte
			if value, cell, err = cutElement(cell, size); err == nil {
				err = elem(value, e.at(i))
			}
			if err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return cellSize(cell, 0)
	}
}

// checkVectorSize bounds what is allocated for a vector by its cell: an element of no fixed size takes at least its length byte.
func checkVectorSize(cell []byte, n, size int) error {
	if size >= 0 {
		return cellSize(cell, n*size)
	}
	if len(cell) < n {
		return fmt.Errorf("%w: %d elements in %d bytes", ErrMissing, n, len(cell))
	}
	return nil
}

// cutElement returns the first element of b and the rest. Elements have size bytes, or an [unsigned vint] length where size is negative.
func cutElement(b []byte, size int) (value, rest []byte, err error) {
	if size < 0 {
		length, n := wire.Uvint(b)
		if n == 0 {
			return nil, nil, fmt.Errorf("%w: no room for a length", ErrMissing)
		}
		b = b[n:]
		if length > uint64(len(b)) {
			return nil, nil, fmt.Errorf("%w: %d bytes, %d left", ErrMissing, length, len(b))
		}
		size = int(length)
	}
	return b[:size:size], b[size:], nil
}

// planBulkDecode does slices and arrays of elements that are as large as U.
func planBulkDecode[U byte | uint32 | uint64 | [16]byte](t reflect.Type, n int) decodeAt {
	var u U
	stride := unsafe.Sizeof(u)
	if t.Kind() == reflect.Array {
		return func(cell []byte, p unsafe.Pointer) error {
			if err := cellSize(cell, n*int(stride)); err != nil {
				return err
			}
			swapDecode(elements{p, n, stride}, cell)
			return nil
		}
	}
	return func(cell []byte, p unsafe.Pointer) error { return decodeBulk((*[]U)(p), cell, n) }
}

// decodeBulk decodes a vector into a new slice.
func decodeBulk[T any](dst *[]T, cell []byte, n int) error {
	var t T
	if err := cellSize(cell, n*int(unsafe.Sizeof(t))); err != nil {
		return err
	}
	s := make([]T, n)
	swapDecode(sliceOf(s), cell)
	*dst = s
	return nil
}
