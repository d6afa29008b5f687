// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"encoding/binary"
	"fmt"
	"reflect"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// Cells to Go values: collections, tuples, user-defined types and vectors.

// cutCell cuts the first element from a cell; a nil element is NULL.
func cutCell(cell []byte) (element, rest []byte, err error) {
	if len(cell) < 4 {
		return nil, nil, fmt.Errorf("%w: %d bytes for a length", cql.ErrMissing, len(cell))
	}
	n := int(int32(binary.BigEndian.Uint32(cell)))
	cell = cell[4:]
	switch {
	case n < 0:
		return nil, cell, nil
	case n > len(cell):
		return nil, nil, fmt.Errorf("%w: an element of %d bytes, %d left", cql.ErrMissing, n, len(cell))
	}
	return cell[:n:n], cell[n:], nil
}

// cutField is cutCell for tuples and user-defined types, whose last elements may be missing: they are NULL.
func cutField(cell []byte) (element, rest []byte, err error) {
	if len(cell) == 0 {
		return nil, nil, nil
	}
	return cutCell(cell)
}

// cutCount cuts the number of entries of a collection, of at least minSize bytes each.
func cutCount(cell []byte, minSize int) (n int, rest []byte, err error) {
	if len(cell) < 4 {
		return 0, nil, fmt.Errorf("%w: %d bytes for a count", cql.ErrMissing, len(cell))
	}
	n = int(int32(binary.BigEndian.Uint32(cell)))
	if n < 0 || n > (len(cell)-4)/minSize {
		return 0, nil, fmt.Errorf("%w: %d elements in %d bytes", cql.ErrMissing, n, len(cell)-4)
	}
	return n, cell[4:], nil
}

// decodeList decodes a list or set into a new slice or into an array of as many elements. NULL elements are zero
// values. v is unchanged after an error, unless it is an array.
func (d *Dialect) decodeList(info cql.CollectionType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	n, cell, err := cutCount(cell, 4)
	if err != nil {
		return err
	}
	out := v
	switch {
	case t.Kind() == reflect.Slice:
		out = reflect.New(t).Elem()
		out.Set(reflect.MakeSlice(t, n, n))
	case n != t.Len():
		return fmt.Errorf("%w: %d elements for %v", cql.ErrDimension, n, t)
	}
	for i := range n {
		var element []byte
		if element, cell, err = cutCell(cell); err == nil {
			err = d.decode(info.Elem, element, out.Index(i), 1)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	v.Set(out)
	return nil
}

// decodeMap decodes a map into a new Go map.
func (d *Dialect) decodeMap(info cql.CollectionType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if t.Kind() != reflect.Map {
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	if cell == nil {
		v.SetZero()
		return nil
	}
	n, cell, err := cutCount(cell, 8)
	if err != nil {
		return err
	}
	out := reflect.MakeMapWithSize(t, n)
	for range n {
		key, value := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
		if cell, err = d.decodePart(info.Key, cell, key); err == nil {
			cell, err = d.decodePart(info.Elem, cell, value)
		}
		if err != nil {
			return fmt.Errorf("key %v: %w", key, err)
		}
		if !key.Comparable() {
			return fmt.Errorf("%w: keys of Go type %v are not comparable", cql.ErrConversion, key.Type())
		}
		out.SetMapIndex(key, value)
	}
	v.Set(out)
	return nil
}

// decodePart decodes the first element of cell and returns the rest.
func (d *Dialect) decodePart(info cql.TypeInfo, cell []byte, v reflect.Value) (rest []byte, err error) {
	element, rest, err := cutCell(cell)
	if err != nil {
		return nil, err
	}
	return rest, d.decode(info, element, v, 1)
}

// decodeElements stores the elements of a tuple in dest, one pointer each; nil skips an element.
func (d *Dialect) decodeElements(info cql.TupleTypeInfo, cell []byte, dest []any) error {
	if len(dest) != len(info.Elems) {
		return fmt.Errorf("%w: %d destinations for a tuple of %d", cql.ErrDimension, len(dest), len(info.Elems))
	}
	for i, e := range info.Elems {
		element, rest, err := cutField(cell)
		if err == nil && dest[i] != nil {
			err = d.decodeInto(e, element, dest[i])
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		cell = rest
	}
	return nil
}

// decodeTuple decodes a tuple into a new slice, or into an array or a struct of as many elements.
func (d *Dialect) decodeTuple(info cql.TupleTypeInfo, cell []byte, v reflect.Value) error {
	t, n := v.Type(), len(info.Elems)
	out := v
	part, have := v.Index, n
	switch t.Kind() {
	case reflect.Struct:
		part, have = v.Field, t.NumField()
	case reflect.Array:
		have = t.Len()
	case reflect.Slice:
		if cell == nil && d.nullTuple {
			v.SetZero()
			return nil
		}
		out = reflect.New(t).Elem()
		out.Set(reflect.MakeSlice(t, n, n))
		part = out.Index
	default:
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	if have != n {
		return fmt.Errorf("%w: %v for a tuple of %d", cql.ErrDimension, t, n)
	}
	for i, e := range info.Elems {
		element, rest, err := cutField(cell)
		if err == nil {
			err = d.decodeTupleElement(e, element, part(i))
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
		cell = rest
	}
	v.Set(out)
	return nil
}

// decodeTupleElement decodes an element into a field of a struct or an element of a slice.
func (d *Dialect) decodeTupleElement(info cql.TypeInfo, cell []byte, v reflect.Value) error {
	if !v.CanSet() {
		return fmt.Errorf("%w: an unexported field of Go type %v", cql.ErrConversion, v.Type())
	}
	if t := d.GoType(info); d.typedZeros && t != nil && v.Type() == anyType {
		value := reflect.New(t).Elem()
		if err := d.decode(info, cell, value, 1); err != nil {
			return err
		}
		v.Set(value)
		return nil
	}
	return d.decode(info, cell, v, 1)
}

// decodeUDT decodes a user-defined type into a new map[string]any or into a struct. Fields of the type that the struct
// lacks are skipped, and fields that the cell lacks stay as they are.
func (d *Dialect) decodeUDT(info cql.UDTTypeInfo, cell []byte, v reflect.Value) (err error) {
	t := v.Type()
	if t == reflect.TypeFor[map[string]any]() {
		return d.decodeUDTMap(info, cell, v)
	}
	if t.Kind() != reflect.Struct {
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	if len(cell) == 0 {
		v.SetZero()
		return nil
	}
	fields := fieldsOf(t)
	for _, f := range info.Elements {
		var content []byte
		if len(cell) == 0 {
			return nil
		}
		if content, cell, err = cutCell(cell); err == nil {
			if index, ok := fields.index(t, f.Name); ok {
				err = d.decodeField(f, content, v, index)
			}
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	return nil
}

// decodeField decodes the field f of a user-defined type into the field of the struct v at index.
func (d *Dialect) decodeField(f cql.UDTField, content []byte, v reflect.Value, index []int) error {
	field, err := v.FieldByIndexErr(index)
	if err != nil {
		return fmt.Errorf("%w: %w", cql.ErrConversion, err)
	}
	if !field.CanSet() {
		return fmt.Errorf("%w: an unexported field of Go type %v", cql.ErrConversion, v.Type())
	}
	return d.decode(f.Type, content, field, 1)
}

// decodeUDTMap decodes a user-defined type into a new map without the fields that the cell lacks.
func (d *Dialect) decodeUDTMap(info cql.UDTTypeInfo, cell []byte, v reflect.Value) (err error) {
	if cell == nil {
		v.SetZero()
		return nil
	}
	m := map[string]any{}
	for _, f := range info.Elements {
		if len(cell) == 0 {
			break
		}
		var content []byte
		t := d.GoType(f.Type)
		if content, cell, err = cutCell(cell); err == nil && t == nil {
			err = fmt.Errorf("%w: %v has no default Go type", cql.ErrConversion, f.Type)
		}
		if err == nil {
			value := reflect.New(t).Elem()
			err = d.decode(f.Type, content, value, 1)
			m[f.Name] = value.Interface()
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	v.Set(reflect.ValueOf(m))
	return nil
}

// rawCell is a copy of a cell.
type rawCell []byte

// UnmarshalCQL implements cql.Unmarshaler.
func (c *rawCell) UnmarshalCQL(_ cql.TypeInfo, data []byte) error {
	*c = data
	return nil
}

// decodeVector decodes a vector into a new slice, or into an array of as many elements.
func (d *Dialect) decodeVector(info cql.VectorType, cell []byte, v reflect.Value) error {
	t := v.Type()
	if cell == nil || t.Kind() != reflect.Slice && t.Kind() != reflect.Array {
		return codec.Unmarshal(info, cell, v.Addr().Interface())
	}
	var cells []rawCell
	if err := codec.Unmarshal(info, cell, &cells); err != nil {
		return err
	}
	out := v
	switch {
	case t.Kind() == reflect.Slice:
		out = reflect.New(t).Elem()
		out.Set(reflect.MakeSlice(t, len(cells), len(cells)))
	case len(cells) != t.Len():
		return fmt.Errorf("%w: %d elements for %v", cql.ErrDimension, len(cells), t)
	}
	for i, c := range cells {
		if err := d.decode(info.SubType, c, out.Index(i), 1); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	v.Set(out)
	return nil
}
