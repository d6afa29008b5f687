// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/vecql/vecql/column"
)

// Values of columns to fields of structs, and back.

// setValue sets a field to row i of a column.
func setValue(field reflect.Value, c *column.Column, i int) error {
	kind := field.Kind()
	switch {
	case c.Null(i) && (kind == reflect.Pointer || kind == reflect.Slice):
		return nil // nil
	case c.Null(i):
		return fmt.Errorf("NULL does not fit into %v: use a pointer", field.Type())
	case kind == reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		return setValue(field.Elem(), c, i)
	case kind == reflect.Slice && field.Type() != bytesType:
		return setSlice(field, c, i)
	}
	return setScalar(field, c, i)
}

// setScalar sets a field that is no pointer and no slice but []byte to a value that is not NULL.
func setScalar(field reflect.Value, c *column.Column, i int) error {
	value, err := plainValue(c, i)
	if err != nil {
		return err
	}
	v := reflect.ValueOf(value)
	switch kind := field.Kind(); {
	case field.CanInt() && v.CanInt() && !field.OverflowInt(v.Int()):
		field.SetInt(v.Int())
	case field.CanInt() && v.CanUint() && v.Uint() <= math.MaxInt64 && !field.OverflowInt(int64(v.Uint())):
		field.SetInt(int64(v.Uint()))
	case kind == reflect.Uint8 && v.CanUint() && v.Uint() <= math.MaxUint8:
		field.SetUint(v.Uint())
	case kind == reflect.Uint8 && v.CanInt() && v.Int() >= 0 && v.Int() <= math.MaxUint8:
		field.SetUint(uint64(v.Int()))
	case kind == reflect.Float64 && v.CanFloat():
		field.SetFloat(v.Float())
	case kind == reflect.Float64 && v.CanInt() && v.Int() <= 1<<53 && v.Int() >= -1<<53:
		field.SetFloat(float64(v.Int()))
	case kind == reflect.Float32 && v.Kind() == reflect.Float32:
		field.Set(v.Convert(field.Type())) // SetFloat changes the bits of NaN
	case kind == reflect.String && isTextual(c.Type.Kind):
		field.SetString(textOf(c, i))
	case kind == v.Kind() && (kind == reflect.Bool || field.Type() == bytesType && v.Type() == bytesType):
		field.Set(v)
	default:
		return fmt.Errorf("%s of type %v does not fit into %v", c.Format(i, 40), c.Type, field.Type())
	}
	return nil
}

// plainValue returns the value of a row. A date, a time and a timestamp are the integer that package vecql binds to the
// type. The unit of the column has no effect.
func plainValue(c *column.Column, i int) (any, error) {
	plain := *c
	switch c.Type.Kind {
	case column.Date:
		plain.Type = column.Type{Kind: column.Int32}
		return int64(plain.Value(i).(int32)) * millisPerDay, nil
	case column.Time:
		plain.Type = column.Type{Kind: column.Int64}
		return plain.Value(i).(int64) * (int64(time.Second) / c.Type.Unit.PerSecond()), nil
	case column.Timestamp:
		plain.Type = column.Type{Kind: column.Int64}
		n, perMilli := plain.Value(i).(int64), c.Type.Unit.PerSecond()/1000
		if n%perMilli != 0 {
			return nil, fmt.Errorf("%s has a part below the millisecond", c.Format(i, 40))
		}
		return n / perMilli, nil
	}
	return plain.Value(i), nil
}

const millisPerDay = 24 * 60 * 60 * 1000

// isTextual reports whether values of a kind have a canonical text that a string takes.
func isTextual(k column.Kind) bool {
	switch k {
	case column.String, column.UUID, column.Inet, column.Varint, column.Decimal, column.Decimal64, column.Decimal128,
		column.Decimal256, column.Duration:
		return true
	}
	return false
}

// textOf returns the text of a value of a textual kind.
func textOf(c *column.Column, i int) string { return fmt.Sprint(c.Value(i)) }

// setSlice sets a slice to the elements of a vector or a list.
func setSlice(field reflect.Value, c *column.Column, i int) error {
	elements, from, to := column.Column{}, 0, 0
	switch c.Type.Kind {
	case column.Vector:
		from, to = i*c.Type.Dim, (i+1)*c.Type.Dim
		elements = column.Column{Type: column.Type{Kind: c.Type.Elem}, Len: c.Len * c.Type.Dim, Values: c.Values}
	case column.List:
		elements = c.Children[0]
		from, to = c.Elements(i)
	default:
		return fmt.Errorf("type %v does not fit into %v", c.Type, field.Type())
	}
	if field.Type().Elem().Kind() == reflect.Float32 && elements.Type.Kind == column.Float32 && elements.Nulls == 0 {
		values, err := column.Slice[float32](&elements)
		field.Set(reflect.ValueOf(append([]float32{}, values[from:to]...)))
		return err
	}
	field.Set(reflect.MakeSlice(field.Type(), to-from, to-from))
	for k := from; k < to; k++ {
		if err := setValue(field.Index(k-from), &elements, k); err != nil {
			return fmt.Errorf("element %d: %w", k-from, err)
		}
	}
	return nil
}

// batchOf returns a slice of structs as a batch.
func batchOf(rows reflect.Value) *column.Batch {
	t := rows.Type().Elem()
	b := &column.Batch{Rows: rows.Len()}
	for _, f := range reflect.VisibleFields(t) {
		values := reflect.MakeSlice(reflect.SliceOf(f.Type), rows.Len(), rows.Len())
		for i := range rows.Len() {
			values.Index(i).Set(rows.Index(i).FieldByIndex(f.Index))
		}
		name := f.Tag.Get("cql")
		if name == "" {
			name = strings.ToLower(f.Name)
		}
		b.Columns = append(b.Columns, columnOf(values).As(name))
	}
	return b
}

// columnOf returns a slice of values of a field as a column.
func columnOf(values reflect.Value) column.Column {
	switch list := values.Interface().(type) {
	case []bool:
		return column.Of("", list)
	case []int16:
		return column.Of("", list)
	case []int32:
		return column.Of("", list)
	case []int64:
		return column.Of("", list)
	case []uint8:
		return column.Of("", list)
	case []float32:
		return column.Of("", list)
	case []float64:
		return column.Of("", list)
	case []string:
		return column.Strings("", list)
	case [][]byte:
		return column.Binaries("", list)
	case [][]float32:
		if c, ok := matrixOf(list); ok {
			return c
		}
	case [][]float64:
		if c, ok := matrixOf(list); ok {
			return c
		}
	}
	if values.Type().Elem().Kind() == reflect.Pointer {
		return pointersOf(values)
	}
	return listsOf(values)
}

// variableBytes returns the bytes of the texts and slices of a struct.
func variableBytes(row reflect.Value) int {
	size := 0
	for i := range row.NumField() {
		f := row.Field(i)
		switch f.Kind() {
		case reflect.String:
			size += f.Len()
		case reflect.Slice:
			size += f.Len() * int(f.Type().Elem().Size())
			for k := 0; f.Type().Elem().Kind() == reflect.String && k < f.Len(); k++ {
				size += f.Index(k).Len()
			}
		}
	}
	return size
}

// matrixOf returns vectors of one length as a column; false if lengths differ or are 0. nil is NULL.
func matrixOf[T float32 | float64](list [][]T) (column.Column, bool) {
	dim := 0
	for _, v := range list {
		if dim == 0 {
			dim = len(v)
		}
		if v != nil && len(v) != dim {
			return column.Column{}, false
		}
	}
	if dim == 0 {
		return column.Column{}, false
	}
	values, null := make([]T, len(list)*dim), make([]bool, len(list))
	for i, v := range list {
		null[i] = v == nil
		copy(values[i*dim:], v)
	}
	return column.Matrix("", values, dim).WithNulls(null), true
}

// pointersOf returns pointers as a column of their values; nil is NULL.
func pointersOf(pointers reflect.Value) column.Column {
	values := reflect.MakeSlice(reflect.SliceOf(pointers.Type().Elem().Elem()), pointers.Len(), pointers.Len())
	null := make([]bool, pointers.Len())
	for i := range null {
		if p := pointers.Index(i); p.IsNil() {
			null[i] = true
		} else {
			values.Index(i).Set(p.Elem())
		}
	}
	return columnOf(values).WithNulls(null)
}

// listsOf returns slices as a column of lists; nil is NULL.
func listsOf(lists reflect.Value) column.Column {
	elements := reflect.MakeSlice(lists.Type().Elem(), 0, 0)
	offsets, null := []int32{0}, make([]bool, lists.Len())
	for i := range null {
		list := lists.Index(i)
		null[i] = list.IsNil()
		elements = reflect.AppendSlice(elements, list)
		offsets = append(offsets, int32(elements.Len()))
	}
	return column.Lists("", offsets, columnOf(elements)).WithNulls(null)
}
