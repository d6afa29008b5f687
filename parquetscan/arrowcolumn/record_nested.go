// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/vecql/vecql/column"
)

// Conversion of batches to record batches: vectors, and columns with children. t is the storage type of f.

// vectorData converts a Vector to lists of fixed size, or to lists. A column whose rows are all NULL fits any
// dimension.
func vectorData(c *column.Column, f, t arrow.DataType) (*array.Data, error) {
	list, ok := t.(arrow.ListLikeType)
	if !ok {
		return nil, mismatch(c, f)
	}
	element, _ := storage(list.Elem())
	if !arrow.TypeEqual(element, leafType(column.Type{Kind: c.Type.Elem})) {
		return nil, mismatch(c, f)
	}
	dim, values := c.Type.Dim, c.Values
	if fixed, ok := t.(*arrow.FixedSizeListType); ok && int(fixed.Len()) != dim {
		if c.Nulls < c.Len {
			return nil, fmt.Errorf("%w: vectors of %d elements, the schema has %d", ErrSchema, dim, fixed.Len())
		}
		dim = int(fixed.Len())
		values = make([]byte, c.Len*column.VectorOf(c.Type.Elem, dim).ValueWidth())
	}
	n := c.Len * dim
	elements := column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: n, Values: values}
	children := []arrow.ArrayData{newData(&elements, list.Elem(), nil, values[:n*elements.Type.ValueWidth()])}
	switch t.ID() {
	case arrow.FIXED_SIZE_LIST:
		return newData(c, f, children), nil
	case arrow.LIST:
		if n > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %d elements", column.ErrTooLarge, n)
		}
		offsets := make([]int32, c.Len+1)
		for i := range offsets {
			offsets[i] = int32(i * dim)
		}
		return newData(c, f, children, bytesOf(offsets)), nil
	}
	return nil, mismatch(c, f)
}

// nestedData converts a List, Map, Struct or Tuple to an array.
func nestedData(c *column.Column, f, t arrow.DataType) (*array.Data, error) {
	switch t := t.(type) {
	case *arrow.ListType:
		if c.Type.Kind == column.List {
			children, err := childrenData(c, []arrow.Field{t.ElemField()})
			return newData(c, f, children, offsetBytes(c)), err
		}
	case *arrow.MapType:
		if c.Type.Kind == column.Map {
			children, err := childrenData(c, []arrow.Field{t.KeyField(), t.ItemField()})
			if err != nil {
				return nil, err
			}
			entries := array.NewData(t.Elem(), c.Children[0].Len, []*memory.Buffer{nil}, children, 0, 0)
			return newData(c, f, []arrow.ArrayData{entries}, offsetBytes(c)), nil
		}
	case *arrow.StructType:
		if c.Type.Kind != column.Struct && c.Type.Kind != column.Tuple || t.NumFields() != len(c.Children) {
			break
		}
		for i, field := range t.Fields() {
			if name := c.Children[i].Name; name != field.Name {
				return nil, fmt.Errorf("%w: field %d is %s, the schema's is %s", ErrSchema, i, name, field.Name)
			}
		}
		children, err := childrenData(c, t.Fields())
		return newData(c, f, children), err
	}
	return nil, mismatch(c, f)
}

func childrenData(c *column.Column, fields []arrow.Field) ([]arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, len(fields))
	for i, f := range fields {
		data, err := dataOf(&c.Children[i], f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		children[i] = data
	}
	return children, nil
}
