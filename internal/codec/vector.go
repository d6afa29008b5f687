// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/swap"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of vector<T, n> (native_protocol_v5.spec, section 5.25): n elements, no count, no NULL. Elements of a fixed
// size follow each other; other elements have an [unsigned vint] length each (as servers do; the text of the section
// has [bytes]). If the elements in memory differ from the wire in byte order only, package swap converts all of them
// at once: in bulk.

// maxDimensions is the largest dimension with a plan. That many elements of 16 bytes have a size that fits an int32, so
// every product below fits an int on any machine. Servers allow far less.
const maxDimensions = math.MaxInt32 / 16

// fixedSize returns the length in bytes of every value of t as an element of a vector, or -1 if elements have a vint
// length. The list is Cassandra's valueLengthIfFixed (ScyllaDB's types.cc agrees): tinyint, smallint, date, time and
// counter are variable there although their size never changes.
func fixedSize(t cql.TypeInfo) int {
	switch t := t.(type) {
	case cql.NativeType:
		switch cql.Type(t) {
		case cql.TypeBoolean:
			return 1
		case cql.TypeInt, cql.TypeFloat:
			return 4
		case cql.TypeBigInt, cql.TypeDouble, cql.TypeTimestamp:
			return 8
		case cql.TypeUUID, cql.TypeTimeUUID:
			return 16
		}
	case cql.VectorType:
		n := fixedSize(t.SubType)
		switch {
		case n <= 0:
			return n
		case t.Dimensions > math.MaxInt32/n: // rejected by the parsers; no cell can hold it
			return math.MaxInt32
		}
		return n * max(t.Dimensions, 0)
	}
	return -1
}

// bulkElement returns the size in bytes of a vector element whose Go values of type t differ from the wire in byte
// order only, and 0 for all other pairs. Size 1 is a boolean.
func bulkElement(info cql.TypeInfo, t reflect.Type) int {
	typ, ok := info.(cql.NativeType)
	if !ok || HasOwnCodec(t) {
		return 0
	}
	k := t.Kind()
	switch cql.Type(typ) {
	case cql.TypeBoolean:
		return sizeIf(k == reflect.Bool, 1)
	case cql.TypeFloat:
		return sizeIf(k == reflect.Float32, 4)
	case cql.TypeInt:
		return sizeIf(k == reflect.Int32, 4)
	case cql.TypeDouble:
		return sizeIf(k == reflect.Float64, 8)
	case cql.TypeBigInt:
		return sizeIf(k == reflect.Int64 || k == reflect.Int && bits.UintSize == 64, 8)
	case cql.TypeTimestamp: // milliseconds, unlike time.Duration
		return sizeIf(k == reflect.Int64 && t != reflect.TypeFor[time.Duration](), 8)
	case cql.TypeUUID, cql.TypeTimeUUID:
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

// swapDecode fills e from a cell with exactly the bytes of its elements.
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

// appendBulk appends the vector e, whose elements have a size by bulkElement.
func appendBulk(dst []byte, e elements, dimensions int) ([]byte, error) {
	if err := checkBulk(e, dimensions); err != nil {
		return dst, err
	}
	return swapAppend(wire.AppendInt(dst, int32(e.n*int(e.stride))), e), nil
}

// checkBulk checks the number of elements, and that their bytes fit a cell.
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
		return fmt.Errorf("%w: %d elements, want %d", cql.ErrDimension, n, dimensions)
	}
	return nil
}

// planVectorEncode returns the plan of a vector in a slice or array. A nil slice is NULL.
func planVectorEncode(info cql.VectorType, t reflect.Type) EncodeAt {
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
func planVectorElements(info cql.VectorType, t reflect.Type) func(dst []byte, e elements) ([]byte, error) {
	n := info.Dimensions
	if bulkElement(info.SubType, t) != 0 {
		return func(dst []byte, e elements) ([]byte, error) { return appendBulk(dst, e, n) }
	}
	elem := planCoordinateEncode(info.SubType, t)
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
			if got := len(dst) - start - 4; size >= 0 && got != size { // possible with a Marshaler in an any
				return dst, fmt.Errorf("%w: element %d of %d bytes, want %d", cql.ErrRange, i, got, size)
			}
			dst = shortenLength(dst, start, size >= 0)
		}
		return endCell(dst, at)
	}
}

// shortenLength converts the cell from start to the end of dst to an element of a vector: without its length if the
// size is fixed, otherwise with the length as [unsigned vint].
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

// planVectorDecode returns the plan for a slice, which is allocated, or for an array of the vector's dimension.
// Elements whose memory differs from the wire in byte order only are converted in bulk.
func planVectorDecode(info cql.VectorType, t reflect.Type) DecodeAt {
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
	elem := planCoordinateDecode(info.SubType, t.Elem())
	if elem == nil {
		return nil
	}
	size, stride := fixedSize(info.SubType), t.Elem().Size()
	if size == 0 || size > 0 && n > math.MaxInt32/size {
		return nil // the cell does not limit the number of elements without bytes; other such vectors cannot be in a cell
	}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		if err := checkVectorSize(cell, n, size); err != nil {
			return err
		}
		old := keptSlice(t, p)
		e, err := makeElements(t, p, n, stride)
		if err != nil {
			return err
		}
		if err := decodeVectorElements(cell, e, size, elem, s); err != nil {
			old.restore()
			return err
		}
		return nil
	}
}

// decodeVectorElements decodes the elements of a vector, of size bytes or, if size is negative, each after its length.
func decodeVectorElements(cell []byte, e elements, size int, elem DecodeAt, s *Shared) error {
	for i := range e.n {
		value, rest, err := cutElement(cell, size)
		if err == nil {
			err = elem(value, e.at(i), s)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		cell = rest
	}
	return cellSize(cell, 0)
}

// checkVectorSize limits the allocation for a vector by its cell: an element without a fixed size takes at least one
// byte.
func checkVectorSize(cell []byte, n, size int) error {
	if size >= 0 {
		return cellSize(cell, n*size)
	}
	if len(cell) < n {
		return fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, n, len(cell))
	}
	return nil
}

// cutElement returns the first element of b and the rest. Elements have size bytes, or an [unsigned vint] length if
// size is negative.
func cutElement(b []byte, size int) (value, rest []byte, err error) {
	if size < 0 {
		length, n := wire.Uvint(b)
		if n == 0 {
			return nil, nil, fmt.Errorf("%w: an element without its length", cql.ErrMissing)
		}
		b = b[n:]
		if length > uint64(len(b)) {
			return nil, nil, fmt.Errorf("%w: %d bytes, %d left", cql.ErrMissing, length, len(b))
		}
		size = int(length)
	}
	return b[:size:size], b[size:], nil
}

// planBulkDecode returns the plan of slices and arrays of elements as large as U.
func planBulkDecode[U byte | uint32 | uint64 | [16]byte](t reflect.Type, n int) DecodeAt {
	var u U
	stride := unsafe.Sizeof(u)
	if t.Kind() == reflect.Array {
		return func(cell []byte, p unsafe.Pointer, _ *Shared) error {
			if err := cellSize(cell, n*int(stride)); err != nil {
				return err
			}
			swapDecode(elements{p, n, stride}, cell)
			return nil
		}
	}
	return func(cell []byte, p unsafe.Pointer, _ *Shared) error { return decodeBulk((*[]U)(p), cell, n) }
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
