// SPDX-License-Identifier: Apache-2.0

package grouparrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vecql/vecql/groupby"
)

// This file turns results into record batches.

// DataTypeOf returns the data type of the arrays made of columns of a type: the inverse of TypeOf, where that has one.
func DataTypeOf(t groupby.Type) arrow.DataType {
	if d := t.Dim(); d > 0 {
		return arrow.FixedSizeListOf(int32(d), DataTypeOf(t.Elem()))
	}
	switch t {
	case groupby.Int8:
		return arrow.PrimitiveTypes.Int8
	case groupby.Int16:
		return arrow.PrimitiveTypes.Int16
	case groupby.Int32:
		return arrow.PrimitiveTypes.Int32
	case groupby.Int64:
		return arrow.PrimitiveTypes.Int64
	case groupby.Uint8:
		return arrow.PrimitiveTypes.Uint8
	case groupby.Uint16:
		return arrow.PrimitiveTypes.Uint16
	case groupby.Uint32:
		return arrow.PrimitiveTypes.Uint32
	case groupby.Uint64:
		return arrow.PrimitiveTypes.Uint64
	case groupby.Float32:
		return arrow.PrimitiveTypes.Float32
	case groupby.Float64:
		return arrow.PrimitiveTypes.Float64
	case groupby.Bool:
		return arrow.FixedWidthTypes.Boolean
	case groupby.ID:
		return &arrow.FixedSizeBinaryType{ByteWidth: 16}
	}
	return arrow.BinaryTypes.String
}

// RecordBatch returns a batch, of a result for instance, as a record batch: its keys, then its values, under these names. Values are copied. The
// caller releases it.
func RecordBatch(mem memory.Allocator, b groupby.Batch, names []string) (arrow.RecordBatch, error) {
	cols := append(append([]groupby.Column(nil), b.Keys...), b.Values...)
	if len(names) != len(cols) {
		return nil, fmt.Errorf("grouparrow: %d names for %d columns", len(names), len(cols))
	}
	arrays := make([]arrow.Array, len(cols))
	fields := make([]arrow.Field, len(cols))
	for i, c := range cols {
		arrays[i] = Array(mem, c)
		defer arrays[i].Release()
		fields[i] = arrow.Field{Name: names[i], Type: arrays[i].DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(b.Rows)), nil
}

// Array returns a column as an array, its values copied. The caller releases it.
func Array(mem memory.Allocator, c groupby.Column) arrow.Array {
	valid := make([]bool, c.Len())
	for i := range valid {
		valid[i] = !c.Null(i)
	}
	b := array.NewBuilder(mem, DataTypeOf(c.Type()))
	defer b.Release()
	switch b := b.(type) {
	case *array.Int8Builder:
		b.AppendValues(values[int8](c), valid)
	case *array.Int16Builder:
		b.AppendValues(values[int16](c), valid)
	case *array.Int32Builder:
		b.AppendValues(values[int32](c), valid)
	case *array.Int64Builder:
		b.AppendValues(values[int64](c), valid)
	case *array.Uint8Builder:
		b.AppendValues(values[uint8](c), valid)
	case *array.Uint16Builder:
		b.AppendValues(values[uint16](c), valid)
	case *array.Uint32Builder:
		b.AppendValues(values[uint32](c), valid)
	case *array.Uint64Builder:
		b.AppendValues(values[uint64](c), valid)
	case *array.Float32Builder:
		b.AppendValues(values[float32](c), valid)
	case *array.Float64Builder:
		b.AppendValues(values[float64](c), valid)
	case *array.BooleanBuilder:
		b.AppendValues(values[bool](c), valid)
	case *array.StringBuilder:
		b.AppendValues(c.Strings(), valid)
	case *array.FixedSizeBinaryBuilder:
		for i, id := range values[[16]byte](c) {
			if valid[i] {
				b.Append(id[:])
			} else {
				b.AppendNull()
			}
		}
	case *array.FixedSizeListBuilder:
		b.AppendValues(valid)
		switch v := b.ValueBuilder().(type) {
		case *array.Float32Builder:
			v.AppendValues(values[float32](c), nil)
		case *array.Float64Builder:
			v.AppendValues(values[float64](c), nil)
		}
	}
	return b.NewArray()
}

func values[T groupby.Value](c groupby.Column) []T {
	v, _ := groupby.SliceOf[T](c)
	return v
}
