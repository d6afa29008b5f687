// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// The most common collections in one pass: lists and sets of elements of fixed size and of text, and maps with text
// keys. Each function has the same result as the element's plan called for each element.

// fixedRun reports whether list elements of type info, held as Go type t, have 1, 4, 8 or 16 bytes that differ from the
// wire in byte order only.
func fixedRun(info cql.TypeInfo, t reflect.Type) bool { return bulkElement(info, t) != 0 }

// appendFixedRun appends a list of elements accepted by fixedRun.
func appendFixedRun(dst []byte, e elements) ([]byte, error) {
	size := int(e.stride)
	if e.n > (math.MaxInt32-4)/(4+size) {
		return dst, errTooLong
	}
	dst = wire.AppendInt(dst, int32(4+e.n*(4+size)))
	dst = wire.AppendInt(dst, int32(e.n))
	n := len(dst)
	dst = slices.Grow(dst, e.n*(4+size))[:n+e.n*(4+size)]
	out := dst[n:]
	switch size {
	case 1:
		for _, v := range unsafe.Slice((*byte)(e.base), e.n) {
			binary.BigEndian.PutUint32(out, 1)
			out[4] = v
			out = out[5:]
		}
	case 4:
		for _, v := range unsafe.Slice((*uint32)(e.base), e.n) {
			binary.BigEndian.PutUint64(out, 4<<32|uint64(v)) // length and element as one word
			out = out[8:]
		}
	case 8:
		for _, v := range unsafe.Slice((*uint64)(e.base), e.n) {
			binary.BigEndian.PutUint32(out, 8)
			binary.BigEndian.PutUint64(out[4:], v)
			out = out[12:]
		}
	default:
		for _, v := range unsafe.Slice((*[16]byte)(e.base), e.n) {
			binary.BigEndian.PutUint32(out, 16)
			*(*[16]byte)(out[4:]) = v
			out = out[20:]
		}
	}
	return dst, nil
}

// decodeFixedRun decodes the elements of cell into e. It returns false unless all have the fixed size; the element's
// plan then handles NULLs and errors.
func decodeFixedRun(cell []byte, e elements) bool {
	if len(cell) != e.n*(4+int(e.stride)) {
		return false
	}
	switch e.stride {
	case 1:
		for i := range e.n {
			b := cell[5*i:]
			if binary.BigEndian.Uint32(b) != 1 {
				return false
			}
			*(*bool)(e.at(i)) = b[4] != 0
		}
	case 4:
		for i := range e.n {
			v := binary.BigEndian.Uint64(cell[8*i:])
			if v>>32 != 4 {
				return false
			}
			*(*uint32)(e.at(i)) = uint32(v)
		}
	case 8:
		for i := range e.n {
			b := cell[12*i:]
			if binary.BigEndian.Uint32(b) != 8 {
				return false
			}
			*(*uint64)(e.at(i)) = binary.BigEndian.Uint64(b[4:])
		}
	default:
		for i := range e.n {
			b := cell[20*i:]
			if binary.BigEndian.Uint32(b) != 16 {
				return false
			}
			*(*[16]byte)(e.at(i)) = [16]byte(b[4:])
		}
	}
	return true
}

// makeSlice stores a new slice of n zero values at p and returns its elements. p points to a slice whose elements have
// the layout of T. It is makeElements without reflection.
func makeSlice[T any](p unsafe.Pointer, n int) elements {
	s := make([]T, n)
	*(*[]T)(p) = s
	return sliceOf(s)
}

// isNumber reports whether values of kind k are booleans or real numbers: 1, 2, 4 or 8 bytes without pointers.
func isNumber(k reflect.Kind) bool {
	return k >= reflect.Bool && k <= reflect.Float64 && k != reflect.Uintptr
}

// makeFixed returns makeShared for elements of 1, 2, 4, 8 or 16 bytes without pointers.
func makeFixed(size uintptr) func(p unsafe.Pointer, n int, s *Shared) (elements, error) {
	switch size {
	case 1:
		return func(p unsafe.Pointer, n int, s *Shared) (elements, error) { return makeShared[byte](s, p, n), nil }
	case 2:
		return func(p unsafe.Pointer, n int, s *Shared) (elements, error) { return makeShared[uint16](s, p, n), nil }
	case 4:
		return func(p unsafe.Pointer, n int, s *Shared) (elements, error) { return makeShared[uint32](s, p, n), nil }
	case 8:
		return func(p unsafe.Pointer, n int, s *Shared) (elements, error) { return makeShared[uint64](s, p, n), nil }
	}
	return func(p unsafe.Pointer, n int, s *Shared) (elements, error) { return makeShared[[16]byte](s, p, n), nil }
}

// textRun reports whether list elements are text held as strings.
func textRun(info cql.TypeInfo, t reflect.Type) bool {
	typ, ok := info.(cql.NativeType)
	return ok && isText(cql.Type(typ)) && t.Kind() == reflect.String && !HasOwnCodec(t)
}

// appendTextRun appends a list of strings.
func appendTextRun(dst []byte, e elements) ([]byte, error) {
	texts := unsafe.Slice((*string)(e.base), e.n)
	size := 4 + 4*len(texts)
	for _, s := range texts {
		if size += len(s); size > math.MaxInt32 {
			return dst, errTooLong
		}
	}
	dst = slices.Grow(dst, 4+size)
	dst = wire.AppendInt(dst, int32(size))
	dst = wire.AppendInt(dst, int32(len(texts)))
	for _, s := range texts {
		dst = append(wire.AppendInt(dst, int32(len(s))), s...)
	}
	return dst, nil
}

// decodeTextRun fills e with the strings of cell, which share one copy of it.
func decodeTextRun(cell []byte, e elements, s *Shared) error {
	texts := unsafe.Slice((*string)(e.base), e.n)
	all := s.text(cell)
	for i := range texts {
		value, rest, err := cutCell(cell)
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		end := len(all) - len(rest)
		texts[i] = all[end-len(value) : end] // "" for NULL
		cell = rest
	}
	return cellSize(cell, 0)
}

// textMaps holds the plans of maps with text keys by the type of their values. They need no reflection.
var textMaps = map[reflect.Type]struct {
	encode func(elem EncodeAt) EncodeAt
	decode func(elem DecodeAt) DecodeAt
}{
	reflect.TypeFor[bool]():      {encodeTextMap[bool], decodeTextMap[bool]},
	reflect.TypeFor[int]():       {encodeTextMap[int], decodeTextMap[int]},
	reflect.TypeFor[int32]():     {encodeTextMap[int32], decodeTextMap[int32]},
	reflect.TypeFor[int64]():     {encodeTextMap[int64], decodeTextMap[int64]},
	reflect.TypeFor[float32]():   {encodeTextMap[float32], decodeTextMap[float32]},
	reflect.TypeFor[float64]():   {encodeTextMap[float64], decodeTextMap[float64]},
	reflect.TypeFor[string]():    {encodeTextMap[string], decodeTextMap[string]},
	reflect.TypeFor[[]byte]():    {encodeTextMap[[]byte], decodeTextMap[[]byte]},
	reflect.TypeFor[[]string]():  {encodeTextMap[[]string], decodeTextMap[[]string]},
	reflect.TypeFor[[]float32](): {encodeTextMap[[]float32], decodeTextMap[[]float32]},
	reflect.TypeFor[cql.UUID]():  {encodeTextMap[cql.UUID], decodeTextMap[cql.UUID]},
	reflect.TypeFor[time.Time](): {encodeTextMap[time.Time], decodeTextMap[time.Time]},
	reflect.TypeFor[any]():       {encodeTextMap[any], decodeTextMap[any]},
}

// hasTextKeys reports whether the keys of a map are of the type string itself. Only text has plans of strings.
func hasTextKeys(t reflect.Type) bool { return t.Key() == reflect.TypeFor[string]() }

// encodeTextMap returns the plan of map[string]V without reflection.
func encodeTextMap[V any](elem EncodeAt) EncodeAt {
	pool := sync.Pool{New: func() any { return new(V) }} // an address for elem, which escapes by the compiler's analysis
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		m := *(*map[string]V)(p)
		if m == nil {
			return appendNull(dst), nil
		}
		dst, at := beginCell(dst)
		dst = wire.AppendInt(dst, int32(len(m)))
		slot := pool.Get().(*V)
		defer func() {
			var zero V
			*slot = zero
			pool.Put(slot)
		}()
		for k, v := range m {
			var err error
			if dst, err = appendText(dst, k); err != nil {
				return dst, fmt.Errorf("key: %w", err)
			}
			*slot = v
			if dst, err = appendNotNull(dst, unsafe.Pointer(slot), elem); err != nil {
				return dst, fmt.Errorf("value of key %v: %w", k, err)
			}
		}
		return endCell(dst, at)
	}
}

// decodeTextMap returns the plan for map[string]V without reflection. All keys, and the values if V is string, share
// one string: one allocation for all of them, which lives as long as any.
func decodeTextMap[V any](elem DecodeAt) DecodeAt {
	pool := sync.Pool{New: func() any { return new(V) }}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		n, cell, err := parseCount(cell, 8)
		if err != nil {
			return err
		}
		m := make(map[string]V, n)
		all := s.text(cell)
		slot := pool.Get().(*V)
		defer func() {
			var zero V
			*slot = zero
			pool.Put(slot)
		}()
		texts, isTexts := any(m).(map[string]string)
		for range n {
			key, rest, err := cutCell(cell)
			if err != nil {
				return fmt.Errorf("key: %w", err)
			}
			end := len(all) - len(rest)
			k := all[end-len(key) : end] // "" for NULL
			value, rest, err := cutCell(rest)
			if err != nil {
				return fmt.Errorf("value: %w", err)
			}
			cell = rest
			if isTexts {
				end = len(all) - len(rest)
				texts[k] = all[end-len(value) : end]
				continue
			}
			if err := elem(value, unsafe.Pointer(slot), s); err != nil {
				return fmt.Errorf("value: %w", err)
			}
			m[k] = *slot
		}
		if err := cellSize(cell, 0); err != nil {
			return err
		}
		*(*map[string]V)(p) = m
		return nil
	}
}
