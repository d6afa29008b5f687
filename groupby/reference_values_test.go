// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math/big"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Columns as lists of Go values, for the reference.

// A float16 is the bits of a 16-bit float, a varint the bytes of a varint.
type (
	float16 uint16
	varint  string
)

func (f float16) float() float64 {
	c := column.Column{Type: column.Type{Kind: column.Float16}, Len: 1, Values: bytesOf([]uint16{uint16(f)})}
	return float64(c.Value(0).(float32))
}

func (v varint) big() *big.Int {
	c := column.Column{Type: column.Type{Kind: column.Varint}, Len: 1, Values: []byte(v), Offsets: []int32{0, int32(len(v))}}
	n, _ := c.Value(0).(*big.Int)
	if n == nil { // empty
		n = new(big.Int)
	}
	return n
}

// referenceValues returns the values of a column in Go types with the same comparison: integers of the same width for
// dates, times, timestamps and Decimal64, [16]byte for UUIDs, strings for other bytes, slices for vectors and lists.
func referenceValues(c column.Column) []any {
	values := make([]any, c.Len)
	for i := range values {
		if !c.Null(i) {
			values[i] = referenceValue(&c, i)
		}
	}
	return values
}

func referenceValue(c *column.Column, i int) any {
	w := c.Type.ValueWidth()
	if c.Type.Kind == column.Vector {
		return referenceVector(c, i)
	}
	if c.Type.Kind == column.List {
		from, to := c.Elements(i)
		list := c.Children[0].Slice(from, to)
		return referenceValues(list)
	}
	if c.Type.Kind.IsNested() {
		return "something"
	}
	if c.Type.Kind.IsText() {
		text, _ := c.Text()
		if c.Type.Kind == column.Varint {
			return varint(text.String(i))
		}
		return text.String(i)
	}
	return referenceScalar(storedAs(c.Type), c.Values[i*w:(i+1)*w])
}

func referenceScalar(kind column.Kind, b []byte) any {
	switch kind {
	case column.Int8:
		return one[int8](b)
	case column.Int16:
		return one[int16](b)
	case column.Int32:
		return one[int32](b)
	case column.Int64:
		return one[int64](b)
	case column.Uint8:
		return one[uint8](b)
	case column.Uint16:
		return one[uint16](b)
	case column.Uint32:
		return one[uint32](b)
	case column.Uint64:
		return one[uint64](b)
	case column.Float16:
		return one[float16](b)
	case column.Float32:
		return one[float32](b)
	case column.Float64:
		return one[float64](b)
	case column.Bool:
		return b[0] != 0
	case column.UUID:
		return one[[16]byte](b)
	case column.Duration:
		return one[cql.Duration](b)
	case column.Decimal128:
		return one[column.Int128](b)
	case column.Decimal256:
		return one[column.Int256](b)
	}
	return string(b)
}

// one converts bytes to a value.
func one[T any](b []byte) T {
	v := make([]T, 1)
	copy(bytesOf(v), b)
	return v[0]
}

func referenceVector(c *column.Column, i int) any {
	w := c.Type.ValueWidth()
	b := c.Values[i*w : (i+1)*w]
	switch c.Type.Elem {
	case column.Float32:
		return many[float32](b, c.Type.Dim)
	case column.Float64:
		return many[float64](b, c.Type.Dim)
	case column.Int32:
		return many[int32](b, c.Type.Dim)
	case column.Int64:
		return many[int64](b, c.Type.Dim)
	}
	return many[[16]byte](b, c.Type.Dim)
}

func many[T any](b []byte, n int) []T {
	v := make([]T, n)
	copy(bytesOf(v), b)
	return v
}

// referenceBytes returns the bytes of a value in a column.
func referenceBytes(v any) []byte {
	switch v := v.(type) {
	case string:
		return []byte(v)
	case varint:
		return []byte(v)
	case bool:
		return bytesOf([]bool{v})
	case int8:
		return bytesOf([]int8{v})
	case int16:
		return bytesOf([]int16{v})
	case int32:
		return bytesOf([]int32{v})
	case int64:
		return bytesOf([]int64{v})
	case uint8:
		return bytesOf([]uint8{v})
	case uint16:
		return bytesOf([]uint16{v})
	case uint32:
		return bytesOf([]uint32{v})
	case uint64:
		return bytesOf([]uint64{v})
	case float16:
		return bytesOf([]float16{v})
	case float32:
		return bytesOf([]float32{v})
	case float64:
		return bytesOf([]float64{v})
	case [16]byte:
		return v[:]
	case cql.Duration:
		return bytesOf([]cql.Duration{v})
	case column.Int128:
		return bytesOf([]column.Int128{v})
	case column.Int256:
		return bytesOf([]column.Int256{v})
	case []float32:
		return bytesOf(v)
	case []float64:
		return bytesOf(v)
	case []int32:
		return bytesOf(v)
	case []int64:
		return bytesOf(v)
	case [][16]byte:
		return bytesOf(v)
	}
	panic(fmt.Sprintf("no bytes of %T", v))
}

// referenceColumn is the inverse of referenceValues.
func referenceColumn(f column.Field, values []any) (column.Column, error) {
	null := make([]bool, len(values))
	for i, v := range values {
		null[i] = v == nil
	}
	c := column.Column{Type: f.Type, Len: len(values)}
	switch {
	case f.Type.Kind == column.List:
		var elements []any
		c.Offsets = make([]int32, 1)
		for _, v := range values {
			if v != nil {
				elements = append(elements, v.([]any)...)
			}
			c.Offsets = append(c.Offsets, int32(len(elements)))
		}
		elem, err := referenceColumn(f.Fields[0], elements)
		if err != nil {
			return c, err
		}
		c.Children = []column.Column{elem.As(column.ElementName)}
	case f.Type.Kind.IsText():
		c.Offsets = make([]int32, 1)
		for _, v := range values {
			if v != nil {
				c.Values = append(c.Values, referenceBytes(v)...)
			}
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	default:
		w := f.Type.ValueWidth()
		c.Values = make([]byte, w*len(values))
		for i, v := range values {
			if v == nil {
				continue
			}
			b := referenceBytes(v)
			if len(b) != w {
				return c, fmt.Errorf("the reference returned %v, want a %v", v, f.Type)
			}
			copy(c.Values[i*w:], b)
		}
	}
	c = c.WithNulls(null)
	return c, c.Check()
}
