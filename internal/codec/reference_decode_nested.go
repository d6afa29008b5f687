// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"math"
	"reflect"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// The reference decoder of list, set, map, tuple, UDT and vector.

// nextElement splits the first cell of a collection, tuple or UDT from rest. A negative length is NULL.
func nextElement(rest []byte) (cell, after []byte, err error) {
	r := wire.NewReader(rest)
	cell, null := r.Value()
	if err := r.Err(); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", cql.ErrMissing, err)
	}
	if null {
		cell = nil
	}
	return cell, rest[r.Offset():], nil
}

// elementCount parses the count of a collection, whose entries have at least minSize bytes each.
func elementCount(cell []byte, minSize int) (n int, rest []byte, err error) {
	r := wire.NewReader(cell)
	n = r.Count(minSize)
	if err := r.Err(); err != nil {
		return 0, nil, fmt.Errorf("%w: %w", cql.ErrMissing, err)
	}
	return n, cell[r.Offset():], nil
}

// decodeList decodes a list or set into a fresh slice or map[X]struct{}, or into an array of the same length. v is
// unchanged after an error.
func decodeList(info cql.CollectionType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array && !isSetMap(info, t) {
		return noConversion(t)
	}
	n, rest, err := elementCount(cell, 4)
	if err != nil {
		return err
	}
	if t.Kind() == reflect.Array && n != t.Len() {
		return fmt.Errorf("%w: %d elements into %v", cql.ErrDimension, n, t)
	}
	out := reflect.New(t).Elem()
	switch t.Kind() {
	case reflect.Slice:
		out.Set(reflect.MakeSlice(t, n, n))
	case reflect.Map:
		out.Set(reflect.MakeMapWithSize(t, n))
	}
	for i := range n {
		var element []byte
		if element, rest, err = nextElement(rest); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		if t.Kind() == reflect.Map {
			key := reflect.New(t.Key()).Elem()
			if err = decodeReflect(info.Elem, element, key, 0); err == nil {
				err = setKey(out, key, reflect.Zero(t.Elem()))
			}
		} else {
			err = decodeReflect(info.Elem, element, out.Index(i), 0)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	if err := exactly(rest, 0); err != nil {
		return err
	}
	v.Set(out)
	return nil
}

// setKey sets m[key]. A key that is not comparable is an error.
func setKey(m, key, value reflect.Value) error {
	if !key.Comparable() {
		return fmt.Errorf("%w: keys of Go type %v are not comparable", cql.ErrConversion, key.Type())
	}
	m.SetMapIndex(key, value)
	return nil
}

// decodeMap decodes a map into a fresh Go map. v is unchanged after an error.
func decodeMap(info cql.CollectionType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Map {
		return noConversion(t)
	}
	n, rest, err := elementCount(cell, 8)
	if err != nil {
		return err
	}
	out := reflect.MakeMapWithSize(t, n)
	for i := range n {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		var k, e []byte
		if k, rest, err = nextElement(rest); err == nil {
			if err = decodeReflect(info.Key, k, key, 0); err != nil {
				return fmt.Errorf("key %d: %w", i, err)
			}
			e, rest, err = nextElement(rest)
		}
		if err == nil {
			err = decodeReflect(info.Elem, e, value, 0)
		}
		if err == nil {
			err = setKey(out, key, value)
		}
		if err != nil {
			return fmt.Errorf("value %d: %w", i, err)
		}
	}
	if err := exactly(rest, 0); err != nil {
		return err
	}
	v.Set(out)
	return nil
}

// decodeTuple stores the elements of a tuple. Elements missing at the end are NULL.
func decodeTuple(info cql.TupleTypeInfo, cell []byte, v reflect.Value) error {
	t := v.Type()
	out := reflect.New(t).Elem()
	var values []reflect.Value
	switch t.Kind() {
	case reflect.Slice, reflect.Array:
		if t.Kind() == reflect.Slice {
			out.Set(reflect.MakeSlice(t, len(info.Elems), len(info.Elems)))
		}
		for i := range out.Len() {
			values = append(values, out.Index(i))
		}
	case reflect.Struct:
		out.Set(v) // fields that are not elements of the tuple keep their values
		for _, f := range codedFields(t) {
			values = append(values, out.FieldByIndex(f.Index))
		}
	default:
		return noConversion(t)
	}
	if len(values) != len(info.Elems) {
		return fmt.Errorf("%w: a tuple of %d into %v", cql.ErrDimension, len(info.Elems), t)
	}
	for i, value := range values {
		var element []byte
		var err error
		if len(cell) > 0 {
			element, cell, err = nextElement(cell)
		}
		if err == nil {
			err = decodeReflect(info.Elems[i], element, value, 0)
		}
		if err != nil {
			return fmt.Errorf("field %d: %w", i, err)
		}
	}
	if err := exactly(cell, 0); err != nil {
		return err
	}
	v.Set(out)
	return nil
}

// decodeUDT stores the fields of a UDT in a struct or a map. A struct may lack some fields, but each of its own must be
// one. Fields missing at the end are NULL.
func decodeUDT(info cql.UDTTypeInfo, cell []byte, v reflect.Value) error {
	t := v.Type()
	out := reflect.New(t).Elem()
	switch {
	case t.Kind() == reflect.Struct:
		if err := CheckFields(t, info); err != nil {
			return err
		}
		out.Set(v)
	case t.Kind() == reflect.Map && t.Key().Kind() == reflect.String:
		out.Set(reflect.MakeMapWithSize(t, len(info.Elements)))
	default:
		return noConversion(t)
	}
	for _, f := range info.Elements {
		var element []byte
		var err error
		if len(cell) > 0 {
			element, cell, err = nextElement(cell)
		}
		switch {
		case err != nil:
		case t.Kind() == reflect.Map:
			value := reflect.New(t.Elem()).Elem()
			if err = decodeReflect(f.Type, element, value, 0); err == nil {
				out.SetMapIndex(reflect.ValueOf(f.Name).Convert(t.Key()), value)
			}
		default:
			if sf, ok := FieldFor(t, f.Name); ok {
				err = decodeReflect(f.Type, element, out.FieldByIndex(sf.Index), 0)
			}
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	if err := exactly(cell, 0); err != nil {
		return err
	}
	v.Set(out)
	return nil
}

// decodeUDTUnmarshaler calls u for every field in the order of the type. Fields missing at the end are NULL.
func decodeUDTUnmarshaler(info cql.UDTTypeInfo, cell []byte, unmarshal unmarshalUDTFunc) error {
	for _, f := range info.Elements {
		var element []byte
		var err error
		if len(cell) > 0 {
			element, cell, err = nextElement(cell)
		}
		if err == nil {
			err = callUDTUnmarshaler(unmarshal, f, element)
		}
		if err != nil {
			return fmt.Errorf("field %q: %w", f.Name, err)
		}
	}
	return exactly(cell, 0)
}

// maxEmptyElements limits a vector whose elements take no bytes. Its type, not the length of its cell, determines the
// allocation, again for every cell of a list. No server has such vectors.
const maxEmptyElements = 8

// emptyElements returns the number of elements on all levels of nesting of a value of info, whose elements take no
// bytes, or a number above maxEmptyElements.
func emptyElements(info cql.VectorType) int {
	n := info.Dimensions
	if sub, ok := info.SubType.(cql.VectorType); ok && n <= maxEmptyElements {
		n += n * emptyElements(sub)
	}
	return min(max(n, 0), maxEmptyElements+1)
}

// decodeVector decodes a vector into a fresh slice, or into an array of its dimension. It compares the dimension with
// the length of the cell before it allocates.
func decodeVector(info cql.VectorType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return noConversion(t)
	}
	size := fixedSize(info.SubType)
	switch {
	case info.Dimensions < 0:
		return fmt.Errorf("%w: a dimension of %d", cql.ErrDimension, info.Dimensions)
	case t.Kind() == reflect.Array && t.Len() != info.Dimensions:
		return fmt.Errorf("%w: a dimension of %d into %v", cql.ErrDimension, info.Dimensions, t)
	case size == 0 && emptyElements(info) > maxEmptyElements:
		return fmt.Errorf("%w: dimension %d of elements without bytes", cql.ErrRange, info.Dimensions)
	case size > 0 && info.Dimensions > math.MaxInt32/size:
		return fmt.Errorf("%w: a dimension of %d", cql.ErrRange, info.Dimensions)
	case size >= 0:
		if err := exactly(cell, size*info.Dimensions); err != nil {
			return err
		}
	case info.Dimensions > len(cell): // each length takes at least one byte
		return fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, info.Dimensions, len(cell))
	}
	out := reflect.New(t).Elem()
	if t.Kind() == reflect.Slice {
		out.Set(reflect.MakeSlice(t, info.Dimensions, info.Dimensions))
	}
	for i := range info.Dimensions {
		n := size
		if size < 0 {
			length, read := wire.Uvint(cell)
			if read == 0 || length > uint64(len(cell)-read) {
				return fmt.Errorf("element %d: %w: its length is %d, %d bytes left", i, cql.ErrMissing, length, len(cell)-read)
			}
			n, cell = int(length), cell[read:]
		}
		if err := decodeCoordinate(info.SubType, cell[:n:n], out.Index(i)); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		cell = cell[n:]
	}
	if err := exactly(cell, 0); err != nil {
		return err
	}
	v.Set(out)
	return nil
}
