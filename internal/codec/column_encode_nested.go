// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"fmt"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/swap"
	"github.com/vecql/vecql/internal/wire"
)

// Rows of columns to vectors, collections, tuples and UDTs.

// elementWidth returns the number of bytes of an element of a vector, 0 if the vector is not one block.
func elementWidth(info cql.VectorType) int {
	return column.Type{Kind: vectorElement(info)}.ValueWidth()
}

// appendBlock appends elements of 4, 8 or 16 bytes in the protocol's byte order.
func appendBlock(dst, values []byte, width int) []byte {
	switch width {
	case 4:
		return swap.Append32(dst, unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(values))), len(values)/4))
	case 8:
		return swap.Append64(dst, unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(values))), len(values)/8))
	}
	return append(dst, values...)
}

// planVectorColumn accepts a matrix or a list, whose rows must have the vector's dimension. A schema may have dimension
// 0, which is not known yet, so the dimension of each batch is checked, too.
func planVectorColumn(info cql.VectorType, f column.Field) (appendRow, error) {
	kind, width := vectorElement(info), elementWidth(info)
	switch {
	case f.Type.Kind == column.Vector && f.Type.Elem == kind:
		if dim := f.Type.Dim; dim != 0 && dim != info.Dimensions {
			return nil, fmt.Errorf("%w: %d, want %d", cql.ErrDimension, dim, info.Dimensions)
		}
		size := info.Dimensions * width
		return func(dst []byte, c *column.Column, i int) ([]byte, error) {
			if c.Type.Dim != info.Dimensions {
				return dst, fmt.Errorf("%w: %d, want %d", cql.ErrDimension, c.Type.Dim, info.Dimensions)
			}
			return appendBlock(wire.AppendInt(dst, int32(size)), c.Values[i*size:(i+1)*size], width), nil
		}, nil
	case f.Type.Kind == column.List && kind != 0 && f.Fields[0].Type.Kind == kind:
		return func(dst []byte, c *column.Column, row int) ([]byte, error) {
			child := &c.Children[0]
			i, j := c.Elements(row)
			if err := wholeVector(child, i, j, info.Dimensions); err != nil {
				return dst, err
			}
			return appendBlock(wire.AppendInt(dst, int32((j-i)*width)), child.Values[i*width:j*width], width), nil
		}, nil
	case f.Type.Kind == column.List:
		return planVectorOfLists(info, f)
	case f.Type.Kind == column.Vector:
		return planMatrix(f, func(list column.Field) (appendRow, error) { return planVectorColumn(info, list) })
	}
	return nil, nil
}

// wholeVector returns an error unless rows i to j of child are the elements of one vector of dimension dim.
func wholeVector(child *column.Column, i, j, dim int) error {
	if j-i != dim {
		return fmt.Errorf("%w: %d, want %d", cql.ErrDimension, j-i, dim)
	}
	return noNulls(child, i, j)
}

// noNulls returns an error if one of rows i to j of child, the elements of a value, is NULL.
func noNulls(child *column.Column, i, j int) error {
	for k := i; child.Nulls > 0 && k < j; k++ {
		if child.Null(k) {
			return fmt.Errorf("element %d: %w", k-i, cql.ErrNull)
		}
	}
	return nil
}

// planVectorOfLists returns the plan for vectors that are not one block: it appends each element separately, without a
// length if the type has a fixed one, otherwise after an unsigned vint.
func planVectorOfLists(info cql.VectorType, f column.Field) (appendRow, error) {
	element, err := planCoordinateColumn(info.SubType, f.Fields[0])
	if err != nil {
		return nil, fmt.Errorf("element: %w", err)
	}
	isFixed := fixedSize(info.SubType) >= 0
	return func(dst []byte, c *column.Column, row int) ([]byte, error) {
		child := &c.Children[0]
		i, j := c.Elements(row)
		if err := wholeVector(child, i, j, info.Dimensions); err != nil {
			return dst, err
		}
		dst, at := beginCell(dst)
		for k := i; k < j; k++ {
			start := len(dst)
			var err error
			if dst, err = element(dst, child, k); err != nil {
				return dst, fmt.Errorf("element %d: %w", k-i, err)
			}
			dst = replaceLength(dst, start, isFixed)
		}
		return endLength(dst, at), nil
	}, nil
}

// replaceLength replaces the length of the [bytes] from position start to the end of dst by an unsigned vint, or
// removes it.
func replaceLength(dst []byte, start int, remove bool) []byte {
	var length []byte
	var room [9]byte
	if !remove {
		length = wire.AppendUvint(room[:0], uint64(len(dst)-start-4))
	}
	for len(length) > 4 { // an element of 256 MiB, which no frame can hold
		dst = append(dst, 0)
		copy(dst[start+1:], dst[start:])
		start, length = start+1, length[1:]
	}
	shift := 4 - len(length)
	copy(dst[start:], length)
	copy(dst[start+len(length):], dst[start+4:])
	return dst[:len(dst)-shift]
}

// planCollection accepts lists and matrices for list and set, and maps for map. Elements are never NULL in CQL
// collections.
func planCollection(info cql.CollectionType, f column.Field) (appendRow, error) {
	if info.Type() == cql.TypeMap {
		return planMapColumn(info, f)
	}
	if f.Type.Kind == column.Vector {
		return planListOfVector(info, f)
	}
	if f.Type.Kind != column.List {
		return nil, nil
	}
	element, err := planColumn(info.Elem, f.Fields[0])
	if err != nil {
		return nil, fmt.Errorf("element: %w", err)
	}
	element = sortedRows(info.Elem, element)
	return func(dst []byte, c *column.Column, row int) ([]byte, error) {
		child := &c.Children[0]
		i, j := c.Elements(row)
		if err := noNulls(child, i, j); err != nil {
			return dst, err
		}
		dst, at := beginCell(dst)
		dst = wire.AppendInt(dst, int32(j-i))
		for k := i; k < j; k++ {
			var err error
			if dst, err = element(dst, child, k); err != nil {
				return dst, fmt.Errorf("element %d: %w", k-i, err)
			}
		}
		return endLength(dst, at), nil
	}, nil
}

// planListOfVector returns the plan for a list or set with the element type of a vector: list<float> from a matrix of
// float32.
func planListOfVector(info cql.CollectionType, f column.Field) (appendRow, error) {
	kind := vectorElement(cql.VectorType{SubType: info.Elem, Dimensions: 1})
	if kind == 0 || kind != f.Type.Elem {
		return planMatrix(f, func(list column.Field) (appendRow, error) { return planCollection(info, list) })
	}
	width := column.Type{Kind: kind}.ValueWidth()
	return func(dst []byte, c *column.Column, row int) ([]byte, error) {
		dim := c.Type.Dim
		dst = wire.AppendInt(wire.AppendInt(dst, int32(4+dim*(4+width))), int32(dim))
		for k := row * dim; k < (row+1)*dim; k++ {
			switch width {
			case 4:
				dst = appendBits32(dst, uint32At(c, k))
			case 8:
				dst = appendBits64(dst, uint64At(c, k))
			default:
				dst = appendContentOf(dst, c.Values[k*width:(k+1)*width])
			}
		}
		return dst, nil
	}, nil
}

// planMapColumn accepts a map column whose keys and values have conversions. Neither may be NULL.
func planMapColumn(info cql.CollectionType, f column.Field) (appendRow, error) {
	if f.Type.Kind != column.Map {
		return nil, nil
	}
	key, err := planColumn(info.Key, f.Fields[0])
	if err != nil {
		return nil, fmt.Errorf("key: %w", err)
	}
	value, err := planColumn(info.Elem, f.Fields[1])
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	key, value = sortedRows(info.Key, key), sortedRows(info.Elem, value)
	return func(dst []byte, c *column.Column, row int) ([]byte, error) {
		keys, values := &c.Children[0], &c.Children[1]
		i, j := c.Elements(row)
		if err := noNulls(keys, i, j); err != nil {
			return dst, err
		}
		if err := noNulls(values, i, j); err != nil {
			return dst, err
		}
		dst, at := beginCell(dst)
		dst = wire.AppendInt(dst, int32(j-i))
		for k := i; k < j; k++ {
			var err error
			if dst, err = key(dst, keys, k); err != nil {
				return dst, fmt.Errorf("key %d: %w", k-i, err)
			}
			if dst, err = value(dst, values, k); err != nil {
				return dst, fmt.Errorf("value %d: %w", k-i, err)
			}
		}
		return endLength(dst, at), nil
	}, nil
}

// A fieldPlan appends one field of a tuple or UDT, NULL if the column has no such field.
type fieldPlan struct {
	name   string
	child  int // -1 means none
	append appendRow
}

// appendFieldColumns returns the function that appends a row of a struct or tuple column as a tuple or UDT: one [bytes]
// for each of fields, NULL for those without a column.
func appendFieldColumns(fields []fieldPlan) appendRow {
	return func(dst []byte, c *column.Column, row int) ([]byte, error) {
		dst, at := beginCell(dst)
		for i := range fields {
			f := &fields[i]
			if f.child < 0 || c.Children[f.child].Null(row) {
				dst = wire.AppendInt(dst, wire.Null)
				continue
			}
			var err error
			if dst, err = f.append(dst, &c.Children[f.child], row); err != nil {
				return dst, fmt.Errorf("field %q: %w", f.name, err)
			}
		}
		return endLength(dst, at), nil
	}
}

// planTuple maps the fields of a Tuple or Struct by position.
func planTuple(info cql.TupleTypeInfo, f column.Field) (appendRow, error) {
	if f.Type.Kind != column.Tuple && f.Type.Kind != column.Struct {
		return nil, nil
	}
	if len(f.Fields) != len(info.Elems) {
		return nil, fmt.Errorf("%w: %d fields for a tuple of %d", cql.ErrDimension, len(f.Fields), len(info.Elems))
	}
	fields := make([]fieldPlan, len(info.Elems))
	for i, elem := range info.Elems {
		plan, err := planColumn(elem, f.Fields[i])
		if err != nil {
			return nil, fmt.Errorf("field %d: %w", i, err)
		}
		fields[i] = fieldPlan{name: fmt.Sprint(i), child: i, append: sortedRows(elem, plan)}
	}
	return appendFieldColumns(fields), nil
}

// planUDT maps the fields of a Struct by name. A field missing in the Struct is NULL; a field missing in the UDT is an
// error.
func planUDT(info cql.UDTTypeInfo, f column.Field) (appendRow, error) {
	if f.Type.Kind != column.Struct {
		return nil, nil
	}
	fields := make([]fieldPlan, len(info.Elements))
	used := 0
	for i, elem := range info.Elements {
		child := column.Schema(f.Fields).Index(elem.Name)
		fields[i] = fieldPlan{name: elem.Name, child: child}
		if child < 0 {
			continue
		}
		used++
		plan, err := planColumn(elem.Type, f.Fields[child])
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", elem.Name, err)
		}
		fields[i].append = sortedRows(elem.Type, plan)
	}
	if used < len(f.Fields) {
		for _, field := range f.Fields {
			if !hasElement(info, field.Name) {
				return nil, fmt.Errorf("%w: %v has no field %q", cql.ErrConversion, info, field.Name)
			}
		}
		return nil, fmt.Errorf("%w: duplicate field name in %v", cql.ErrConversion, f)
	}
	return appendFieldColumns(fields), nil
}

func hasElement(info cql.UDTTypeInfo, name string) bool {
	for _, e := range info.Elements {
		if e.Name == name {
			return true
		}
	}
	return false
}
