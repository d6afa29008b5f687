// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"sync"
	"unsafe"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Plans of list, set and map: an [int] count, followed by that many elements or pairs of key and value, each a [bytes]
// (native_protocol_v5.spec, section 5). Elements have plans of their own.

// elements is a run of n elements in memory.
type elements struct {
	base   unsafe.Pointer
	n      int
	stride uintptr
}

func (e elements) at(i int) unsafe.Pointer { return unsafe.Add(e.base, uintptr(i)*e.stride) }

func sliceOf[T any](s []T) elements {
	var zero T
	return elements{unsafe.Pointer(unsafe.SliceData(s)), len(s), unsafe.Sizeof(zero)}
}

// sliceAt returns the elements of the slice at p, of any type. null reports that the slice is nil.
func sliceAt(p unsafe.Pointer, stride uintptr) (e elements, null bool) {
	s := *(*[]struct{})(p) // every slice begins with a pointer and a length
	return elements{unsafe.Pointer(unsafe.SliceData(s)), len(s), stride}, s == nil
}

// planListEncode returns the plan of a list or set in a slice, an array or, for a set, a map[X]struct{}. Elements
// without pointers, and texts, are appended as runs instead of one by one. A nil slice is NULL.
func planListEncode(info cql.CollectionType, t reflect.Type) EncodeAt {
	k := t.Kind()
	if k == reflect.Map {
		return planSetEncode(info, t)
	}
	if k != reflect.Slice && k != reflect.Array {
		return nil
	}
	elem := sortedEncode(info.Elem, PlanEncode(info.Elem, t.Elem()))
	if elem == nil {
		return nil
	}
	run := func(dst []byte, e elements) ([]byte, error) { return appendElements(dst, e, elem) }
	switch {
	case fixedRun(info.Elem, t.Elem()):
		run = appendFixedRun
	case textRun(info.Elem, t.Elem()):
		run = appendTextRun
	}
	stride := t.Elem().Size()
	if k == reflect.Array {
		n := t.Len()
		return func(dst []byte, p unsafe.Pointer) ([]byte, error) { return run(dst, elements{p, n, stride}) }
	}
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		e, null := sliceAt(p, stride)
		if null {
			return appendNull(dst), nil
		}
		return run(dst, e)
	}
}

// appendElements appends a list or set.
func appendElements(dst []byte, e elements, elem EncodeAt) ([]byte, error) {
	if e.n > math.MaxInt32 {
		return dst, fmt.Errorf("%w: %d elements", cql.ErrRange, e.n)
	}
	dst, at := beginCell(dst)
	dst = wire.AppendInt(dst, int32(e.n))
	var err error
	for i := range e.n {
		if dst, err = appendNotNull(dst, e.at(i), elem); err != nil {
			return dst, fmt.Errorf("element %d: %w", i, err)
		}
	}
	return endCell(dst, at)
}

// appendNotNull appends the cell of an element that must not be NULL.
func appendNotNull(dst []byte, p unsafe.Pointer, elem EncodeAt) ([]byte, error) {
	at := len(dst)
	dst, err := elem(dst, p)
	if err == nil && dst[at]&0x80 != 0 {
		return dst, cql.ErrNull
	}
	return dst, err
}

// planListDecode returns the plan for a slice, which is allocated, for an array of exactly as many elements, or for a
// map[X]struct{} of a set.
func planListDecode(info cql.CollectionType, t reflect.Type) DecodeAt {
	switch t.Kind() {
	case reflect.Map:
		return planSetDecode(info, t)
	case reflect.Slice, reflect.Array:
	default:
		return nil
	}
	elem := planCell(info.Elem, t.Elem())
	if elem == nil {
		return nil
	}
	stride := t.Elem().Size()
	fixed, text := fixedRun(info.Elem, t.Elem()), textRun(info.Elem, t.Elem())
	room := func(p unsafe.Pointer, n int, _ *Shared) (elements, error) { return makeElements(t, p, n, stride) }
	switch {
	case t.Kind() == reflect.Array:
	case text:
		room = func(p unsafe.Pointer, n int, _ *Shared) (elements, error) { return makeSlice[string](p, n), nil }
	case fixed || isNumber(t.Elem().Kind()):
		room = makeFixed(stride)
	}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		n, cell, err := parseCount(cell, 4)
		if err != nil {
			return err
		}
		old := keptSlice(t, p)
		e, err := room(p, n, s)
		switch {
		case err != nil:
			return err
		case text:
			err = decodeTextRun(cell, e, s)
		case fixed && decodeFixedRun(cell, e):
			return nil
		default:
			err = decodeElements(cell, e, elem, s)
		}
		if err != nil {
			old.restore()
		}
		return err
	}
}

// A kept is a slice that a plan replaces, to be restored after an error. at is nil for an array, which is decoded in
// place.
type kept struct {
	at    unsafe.Pointer
	slice []struct{} // the slice at that address, whatever its type
}

// keptSlice returns the slice at p, or nothing if t is an array.
func keptSlice(t reflect.Type, p unsafe.Pointer) kept {
	if t.Kind() != reflect.Slice {
		return kept{}
	}
	return kept{p, *(*[]struct{})(p)}
}

func (k kept) restore() {
	if k.at != nil {
		*(*[]struct{})(k.at) = k.slice
	}
}

// decodeElements decodes e.n elements, each a [bytes], into e, which is allocated. No byte may remain in cell.
func decodeElements(cell []byte, e elements, elem DecodeAt, s *Shared) error {
	for i := range e.n {
		var value []byte
		var err error
		if value, cell, err = cutCell(cell); err == nil {
			err = elem(value, e.at(i), s)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return cellSize(cell, 0)
}

// makeElements prepares n elements at p, which is of type t: a new slice, or the existing array.
func makeElements(t reflect.Type, p unsafe.Pointer, n int, stride uintptr) (elements, error) {
	if t.Kind() == reflect.Array {
		if n != t.Len() {
			return elements{}, fmt.Errorf("%w: %d elements for an array of %d", cql.ErrDimension, n, t.Len())
		}
		return elements{p, n, stride}, nil
	}
	v := reflect.NewAt(t, p).Elem()
	if n == 0 {
		v.Set(reflect.MakeSlice(t, 0, 0)) // empty, not nil
	} else {
		v.SetZero() // forces Grow to allocate: the old memory may belong to a row that the program kept
		v.Grow(n)
		v.SetLen(n)
	}
	e, _ := sliceAt(p, stride)
	return e, nil
}

// parseCount reads an [int] count of items of at least minSize bytes each, and returns the rest of the cell.
func parseCount(cell []byte, minSize int) (n int, rest []byte, err error) {
	if len(cell) < 4 {
		return 0, nil, fmt.Errorf("%w: %d bytes for a count", cql.ErrMissing, len(cell))
	}
	n, rest = int(int32(binary.BigEndian.Uint32(cell))), cell[4:]
	if n < 0 {
		return 0, nil, fmt.Errorf("%w: a count of %d", cql.ErrMissing, n)
	}
	if n > len(rest)/minSize {
		return 0, nil, fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, n, len(rest))
	}
	return n, rest, nil
}

// cutCell splits b after its first [bytes] and returns the value, nil for NULL, and the rest.
func cutCell(b []byte) (value, rest []byte, err error) {
	if len(b) < 4 {
		return nil, nil, fmt.Errorf("%w: %d bytes for a length", cql.ErrMissing, len(b))
	}
	n := int(int32(binary.BigEndian.Uint32(b)))
	b = b[4:]
	switch {
	case n < 0:
		return nil, b, nil
	case n > len(b):
		return nil, nil, fmt.Errorf("%w: a value of %d bytes, %d left", cql.ErrMissing, n, len(b))
	}
	return b[:n:n], b[n:], nil
}

// entries is the state of a loop over a map, reused between calls.
type entries struct {
	iter  reflect.MapIter
	key   reflect.Value
	value reflect.Value
}

func entryPool(t reflect.Type) *sync.Pool {
	return &sync.Pool{New: func() any {
		return &entries{key: reflect.New(t.Key()), value: reflect.New(t.Elem())}
	}}
}

func (e *entries) release(pool *sync.Pool) {
	e.iter.Reset(reflect.Value{})
	e.key.Elem().SetZero()
	e.value.Elem().SetZero()
	pool.Put(e)
}

// planMapEncode returns the plan of a map in a Go map. Maps with text keys and common values avoid reflection
// (textMaps).
func planMapEncode(info cql.CollectionType, t reflect.Type) EncodeAt {
	if t.Kind() != reflect.Map {
		return nil
	}
	key := sortedEncode(info.Key, PlanEncode(info.Key, t.Key()))
	elem := sortedEncode(info.Elem, PlanEncode(info.Elem, t.Elem()))
	if key == nil || elem == nil {
		return nil
	}
	if plans, ok := textMaps[t.Elem()]; ok && hasTextKeys(t) {
		return plans.encode(elem)
	}
	return encodeEntries(t, key, elem)
}

// planSetEncode returns the plan of map[X]struct{}.
func planSetEncode(info cql.CollectionType, t reflect.Type) EncodeAt {
	if !isSetMap(info, t) {
		return nil
	}
	key := sortedEncode(info.Elem, PlanEncode(info.Elem, t.Key()))
	if key == nil {
		return nil
	}
	return encodeEntries(t, key, nil)
}

// encodeEntries appends the keys of a map, and its values unless elem is nil.
func encodeEntries(t reflect.Type, key, elem EncodeAt) EncodeAt {
	pool := entryPool(t)
	return func(dst []byte, p unsafe.Pointer) ([]byte, error) {
		m := reflect.NewAt(t, p).Elem()
		if m.IsNil() {
			return appendNull(dst), nil
		}
		dst, at := beginCell(dst)
		dst = wire.AppendInt(dst, int32(m.Len()))
		e := pool.Get().(*entries)
		defer e.release(pool)
		e.iter.Reset(m)
		var err error
		for e.iter.Next() {
			e.key.Elem().SetIterKey(&e.iter)
			if dst, err = appendNotNull(dst, e.key.UnsafePointer(), key); err != nil {
				return dst, fmt.Errorf("key: %w", err)
			}
			if elem == nil {
				continue
			}
			e.value.Elem().SetIterValue(&e.iter)
			if dst, err = appendNotNull(dst, e.value.UnsafePointer(), elem); err != nil {
				return dst, fmt.Errorf("value of key %v: %w", e.key.Elem(), err)
			}
		}
		return endCell(dst, at)
	}
}

// planMapDecode returns the plan for a Go map, which is allocated. A key type that may hold an unhashable value, such
// as any, has no plan.
func planMapDecode(info cql.CollectionType, t reflect.Type) DecodeAt {
	if t.Kind() != reflect.Map || !alwaysHashable(t.Key()) {
		return nil
	}
	key, elem := planCell(info.Key, t.Key()), planCell(info.Elem, t.Elem())
	if key == nil || elem == nil {
		return nil
	}
	if plans, ok := textMaps[t.Elem()]; ok && hasTextKeys(t) {
		return plans.decode(elem)
	}
	return decodeEntries(t, key, elem)
}

func planSetDecode(info cql.CollectionType, t reflect.Type) DecodeAt {
	if !isSetMap(info, t) || !alwaysHashable(t.Key()) {
		return nil
	}
	key := planCell(info.Elem, t.Key())
	if key == nil {
		return nil
	}
	return decodeEntries(t, key, nil)
}

// alwaysHashable reports whether every value of t can be a map key. An interface may hold a value of an unhashable
// type.
func alwaysHashable(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Interface:
		return false
	case reflect.Array:
		return alwaysHashable(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if !alwaysHashable(t.Field(i).Type) {
				return false
			}
		}
	}
	return true
}

// decodeEntries decodes the keys into a new map, and the values unless elem is nil.
func decodeEntries(t reflect.Type, key, elem DecodeAt) DecodeAt {
	pool := entryPool(t)
	minSize := 8
	if elem == nil {
		minSize = 4
	}
	return func(cell []byte, p unsafe.Pointer, s *Shared) error {
		n, cell, err := parseCount(cell, minSize)
		if err != nil {
			return err
		}
		m := reflect.MakeMapWithSize(t, n)
		e := pool.Get().(*entries)
		defer e.release(pool)
		for range n {
			if cell, err = decodePart(cell, e.key, key, s); err != nil {
				return fmt.Errorf("key: %w", err)
			}
			if elem != nil {
				if cell, err = decodePart(cell, e.value, elem, s); err != nil {
					return fmt.Errorf("value: %w", err)
				}
			}
			m.SetMapIndex(e.key.Elem(), e.value.Elem())
		}
		if err := cellSize(cell, 0); err != nil {
			return err
		}
		reflect.NewAt(t, p).Elem().Set(m)
		return nil
	}
}

// decodePart decodes the [bytes] at the start of b into *v and returns the rest.
func decodePart(b []byte, v reflect.Value, elem DecodeAt, s *Shared) (rest []byte, err error) {
	value, rest, err := cutCell(b)
	if err != nil {
		return nil, err
	}
	return rest, elem(value, v.UnsafePointer(), s)
}
