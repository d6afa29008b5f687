// SPDX-License-Identifier: Apache-2.0

package columntest

import (
	"fmt"
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/vecql/vecql/parquetscan"
)

// This file tells the values of columns and of Arrow's arrays.

// OfColumn returns the values of a column.
func OfColumn(c *parquetscan.Column) []any {
	out := make([]any, c.Len())
	var elements [][]any
	for i := range c.Children() {
		elements = append(elements, OfColumn(&c.Children()[i]))
	}
	for i := range out {
		if !c.Null(i) {
			out[i] = ofColumn(c, i, elements)
		}
	}
	return out
}

func ofColumn(c *parquetscan.Column, i int, elements [][]any) any {
	switch c.Type.Kind {
	case parquetscan.Bool:
		return parquetscan.Values[bool](c)[i]
	case parquetscan.Int8:
		return int64(parquetscan.Values[int8](c)[i])
	case parquetscan.Int16:
		return int64(parquetscan.Values[int16](c)[i])
	case parquetscan.Int32, parquetscan.Date:
		return int64(parquetscan.Values[int32](c)[i])
	case parquetscan.Int64, parquetscan.Time, parquetscan.Timestamp:
		return parquetscan.Values[int64](c)[i]
	case parquetscan.Uint8:
		return uint64(parquetscan.Values[uint8](c)[i])
	case parquetscan.Uint16, parquetscan.Float16:
		return uint64(parquetscan.Values[uint16](c)[i])
	case parquetscan.Uint32:
		return uint64(parquetscan.Values[uint32](c)[i])
	case parquetscan.Uint64:
		return parquetscan.Values[uint64](c)[i]
	case parquetscan.Float32:
		return uint64(math.Float32bits(parquetscan.Values[float32](c)[i]))
	case parquetscan.Float64:
		return math.Float64bits(parquetscan.Values[float64](c)[i])
	case parquetscan.Decimal64:
		return fmt.Sprint(parquetscan.Values[int64](c)[i])
	case parquetscan.Decimal128:
		v := parquetscan.Values[parquetscan.Int128](c)[i]
		sign := uint64(v.Hi >> 63)
		return number(parquetscan.Int256{v.Lo, uint64(v.Hi), sign, sign})
	case parquetscan.Decimal256:
		return number(parquetscan.Values[parquetscan.Int256](c)[i])
	case parquetscan.String, parquetscan.Binary, parquetscan.ID, parquetscan.Fixed:
		return string(c.Bytes(i))
	case parquetscan.Vector:
		out := make([]any, c.Dim())
		for k := range out {
			if c.Type.Elem == parquetscan.Float32 {
				out[k] = uint64(math.Float32bits(parquetscan.Values[float32](c)[i*len(out)+k]))
			} else {
				out[k] = math.Float64bits(parquetscan.Values[float64](c)[i*len(out)+k])
			}
		}
		return out
	case parquetscan.List:
		return append([]any{}, elements[0][c.Offsets()[i]:c.Offsets()[i+1]]...)
	case parquetscan.Map:
		out := []any{}
		for k := c.Offsets()[i]; k < c.Offsets()[i+1]; k++ {
			out = append(out, []any{elements[0][k], elements[1][k]})
		}
		return out
	case parquetscan.Struct:
		out := make([]any, len(elements))
		for k := range out {
			out[k] = elements[k][i]
		}
		return out
	}
	panic(fmt.Sprintf("no values of %v", c.Type))
}

func number(w parquetscan.Int256) string {
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
		return a.Value(i).BigInt().String()
	case *array.Decimal256:
		return a.Value(i).BigInt().String()
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
