// SPDX-License-Identifier: Apache-2.0

package arrowtest

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/vecql/vecql/column"
)

// The values of columns and of Arrow's arrays.

// OfColumn returns the values of a column.
func OfColumn(c *column.Column) []any {
	out := make([]any, c.Len)
	var elements [][]any
	for i := range c.Children {
		elements = append(elements, OfColumn(&c.Children[i]))
	}
	for i := range out {
		if !c.Null(i) {
			out[i] = ofColumn(c, i, elements)
		}
	}
	return out
}

// ofColumn returns row i, which is not NULL: a bool, an int64, a uint64 (also for the bits of a float), a string (also
// for decimals), or []any. elements are the values of the children.
func ofColumn(c *column.Column, i int, elements [][]any) any {
	switch c.Type.Kind {
	case column.Bool:
		return valuesOf[bool](c)[i]
	case column.Int8:
		return int64(valuesOf[int8](c)[i])
	case column.Int16:
		return int64(valuesOf[int16](c)[i])
	case column.Int32, column.Date:
		return int64(valuesOf[int32](c)[i])
	case column.Int64, column.Time, column.Timestamp:
		return valuesOf[int64](c)[i]
	case column.Uint8:
		return uint64(valuesOf[uint8](c)[i])
	case column.Uint16, column.Float16:
		return uint64(valuesOf[uint16](c)[i])
	case column.Uint32:
		return uint64(valuesOf[uint32](c)[i])
	case column.Uint64:
		return valuesOf[uint64](c)[i]
	case column.Float32:
		return uint64(math.Float32bits(valuesOf[float32](c)[i]))
	case column.Float64:
		return math.Float64bits(valuesOf[float64](c)[i])
	case column.Decimal64:
		return fmt.Sprint(valuesOf[int64](c)[i])
	case column.Decimal128:
		v := valuesOf[column.Int128](c)[i]
		sign := uint64(v.Hi >> 63)
		return number(column.Int256{v.Lo, uint64(v.Hi), sign, sign})
	case column.Decimal256:
		return number(valuesOf[column.Int256](c)[i])
	case column.String, column.Binary, column.UUID, column.Fixed:
		text, err := c.Text()
		if err != nil { // UUID, Fixed
			w := c.Type.ValueWidth()
			return string(c.Values[i*w : (i+1)*w])
		}
		return text.String(i)
	case column.Vector:
		out := make([]any, c.Type.Dim)
		for k := range out {
			if c.Type.Elem == column.Float32 {
				out[k] = uint64(math.Float32bits(elementsOf[float32](c)[i*len(out)+k]))
			} else {
				out[k] = math.Float64bits(elementsOf[float64](c)[i*len(out)+k])
			}
		}
		return out
	case column.List:
		return append([]any{}, elements[0][c.Offsets[i]:c.Offsets[i+1]]...)
	case column.Map:
		out := []any{}
		for k := c.Offsets[i]; k < c.Offsets[i+1]; k++ {
			out = append(out, []any{elements[0][k], elements[1][k]})
		}
		return out
	case column.Struct:
		out := make([]any, len(elements))
		for k := range out {
			out[k] = elements[k][i]
		}
		return out
	}
	panic(fmt.Sprintf("no values of %v", c.Type))
}

func number(w column.Int256) string {
	n := new(big.Int)
	for i := 3; i >= 0; i-- {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(w[i]))
	}
	if w[3]>>63 != 0 {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return n.String()
}

// OfArray returns the values of an array.
func OfArray(arr arrow.Array) []any {
	out := make([]any, arr.Len())
	for i := range out {
		if !arr.IsNull(i) {
			out[i] = ofArray(arr, i)
		}
	}
	return out
}

// ofArray returns element i of an Arrow array, which is not NULL, in the form of ofColumn.
func ofArray(arr arrow.Array, i int) any {
	slice := func(a arrow.Array, from, to int64) []any {
		s := array.NewSlice(a, from, to)
		defer s.Release()
		return OfArray(s)
	}
	switch a := arr.(type) {
	case *array.Boolean:
		return a.Value(i)
	case *array.Int8:
		return int64(a.Value(i))
	case *array.Int16:
		return int64(a.Value(i))
	case *array.Int32:
		return int64(a.Value(i))
	case *array.Int64:
		return a.Value(i)
	case *array.Uint8:
		return uint64(a.Value(i))
	case *array.Uint16:
		return uint64(a.Value(i))
	case *array.Uint32:
		return uint64(a.Value(i))
	case *array.Uint64:
		return a.Value(i)
	case *array.Float16:
		return uint64(a.Value(i).Uint16())
	case *array.Float32:
		return uint64(math.Float32bits(a.Value(i)))
	case *array.Float64:
		return math.Float64bits(a.Value(i))
	case *array.Date32:
		return int64(a.Value(i))
	case *array.Time32:
		return int64(a.Value(i))
	case *array.Time64:
		return int64(a.Value(i))
	case *array.Timestamp:
		return int64(a.Value(i))
	case *array.Decimal128:
		// Not BigInt, which on 32-bit processors returns half of each word, here and below.
		v := a.Value(i)
		sign := uint64(v.HighBits() >> 63)
		return number(column.Int256{v.LowBits(), uint64(v.HighBits()), sign, sign})
	case *array.Decimal256:
		return number(a.Value(i).Array())
	case *array.String:
		return a.Value(i)
	case *array.LargeString:
		return a.Value(i)
	case *array.Binary:
		return string(a.Value(i))
	case *array.LargeBinary:
		return string(a.Value(i))
	case *array.FixedSizeBinary:
		return string(a.Value(i))
	case *array.Dictionary:
		return ofArray(a.Dictionary(), a.GetValueIndex(i))
	case *array.FixedSizeList:
		from, to := a.ValueOffsets(i)
		return slice(a.ListValues(), from, to)
	case *array.Map:
		from, to := a.ValueOffsets(i)
		keys, values := slice(a.Keys(), from, to), slice(a.Items(), from, to)
		for k := range keys {
			keys[k] = []any{keys[k], values[k]}
		}
		return keys
	case *array.List:
		from, to := a.ValueOffsets(i)
		return slice(a.ListValues(), from, to)
	case *array.LargeList:
		from, to := a.ValueOffsets(i)
		return slice(a.ListValues(), from, to)
	case *array.Struct:
		out := make([]any, a.NumField())
		for k := range out {
			out[k] = slice(a.Field(k), int64(i), int64(i)+1)[0]
		}
		return out
	case array.ExtensionArray:
		return ofArray(a.Storage(), i)
	}
	panic(fmt.Sprintf("no values of %T", arr))
}

// valuesOf returns the values of a column, which must have the Go type T.
func valuesOf[T column.Value](c *column.Column) []T {
	v, err := column.Slice[T](c)
	if err != nil {
		panic(err)
	}
	return v
}

// elementsOf returns the elements of a Vector column, which must have the Go type T.
func elementsOf[T column.Element](c *column.Column) []T {
	m, err := column.MatrixOf[T](c)
	if err != nil {
		panic(err)
	}
	return m.Data
}
