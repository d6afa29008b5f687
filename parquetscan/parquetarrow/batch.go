// SPDX-License-Identifier: Apache-2.0

package parquetarrow

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/vecql/vecql/parquetscan"
)

// This file turns record batches into batches.

// Batch returns a record batch as a batch, whose columns have the types that [Fields] says. It holds the record's memory and is valid as
// long as the record is. Copied are: bools, which Arrow packs; times and decimals of 32 bits, seconds and date64; text of large and view
// types; indices that are not uint32; offsets of lists; validity that begins within a byte.
//
// Errors are [parquetscan.ErrRagged] for a NULL within a vector, [parquetscan.ErrOutOfRange] for a time that its unit can not tell,
// [parquetscan.ErrTooLarge] for more than 2 GiB of text or elements in one column, [parquetscan.ErrCorrupt] for offsets that fall or lie
// outside of what they are of, and indices beyond their dictionary.
func Batch(rec arrow.RecordBatch) (*parquetscan.Batch, error) {
	fields, err := Fields(rec.Schema())
	if err != nil {
		return nil, err
	}
	b := &parquetscan.Batch{Rows: int(rec.NumRows()), Columns: make([]parquetscan.Column, len(fields))}
	for i, f := range fields {
		if b.Columns[i], err = columnOf(f, rec.Column(i)); err != nil {
			return nil, fmt.Errorf("parquetarrow: column %s: %w", f.Name, err)
		}
	}
	return b, nil
}

func corrupt(format string, args ...any) error {
	return fmt.Errorf("%w: %s", parquetscan.ErrCorrupt, fmt.Sprintf(format, args...))
}

func columnOf(f parquetscan.Field, arr arrow.Array) (parquetscan.Column, error) {
	for {
		ext, ok := arr.(array.ExtensionArray)
		if !ok {
			break
		}
		arr = ext.Storage()
	}
	c, err := valuesOf(f, arr)
	if err != nil {
		return c, err
	}
	if c.Type != f.Type {
		if c, err = c.As(f.Type); err != nil {
			return c, err
		}
	}
	if arr.NullN() > 0 {
		bits := arr.NullBitmapBytes()
		if len(bits) < (arr.Data().Offset()+arr.Len()+7)/8 {
			return c, corrupt("validity of %d bytes for %d values from %d on", len(bits), arr.Len(), arr.Data().Offset())
		}
		c = c.WithValidity(bitsFrom(bits, arr.Data().Offset(), arr.Len()))
	}
	return c, nil
}

// bitsFrom returns n bits from an offset on: the same memory, if the offset allows it.
func bitsFrom(b []byte, offset, n int) []byte {
	if offset%8 == 0 {
		return b[offset/8:][:(n+7)/8]
	}
	out := make([]byte, (n+7)/8)
	bitutil.CopyBitmap(b, offset, n, out, 0)
	return out
}

// cast returns values as another type of the same size and layout.
func cast[To, From any](v []From) []To {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(v))), len(v))
}

// valuesOf returns the values of an array as a column that has their type, or one that is stored alike.
func valuesOf(f parquetscan.Field, arr arrow.Array) (parquetscan.Column, error) {
	name := f.Name
	switch a := arr.(type) {
	case *array.Boolean:
		v := make([]bool, a.Len())
		for i := range v {
			v[i] = a.Value(i)
		}
		return parquetscan.NewColumn(name, v), nil
	case *array.Int8:
		return parquetscan.NewColumn(name, a.Int8Values()), nil
	case *array.Int16:
		return parquetscan.NewColumn(name, a.Int16Values()), nil
	case *array.Int32:
		return parquetscan.NewColumn(name, a.Int32Values()), nil
	case *array.Int64:
		return parquetscan.NewColumn(name, a.Int64Values()), nil
	case *array.Uint8:
		return parquetscan.NewColumn(name, a.Uint8Values()), nil
	case *array.Uint16:
		return parquetscan.NewColumn(name, a.Uint16Values()), nil
	case *array.Uint32:
		return parquetscan.NewColumn(name, a.Uint32Values()), nil
	case *array.Uint64:
		return parquetscan.NewColumn(name, a.Uint64Values()), nil
	case *array.Float16:
		return parquetscan.NewColumn(name, cast[uint16](a.Values())), nil
	case *array.Float32:
		return parquetscan.NewColumn(name, a.Float32Values()), nil
	case *array.Float64:
		return parquetscan.NewColumn(name, a.Float64Values()), nil
	case *array.Date32:
		return parquetscan.NewColumn(name, a.Date32Values()), nil
	case *array.Date64:
		return daysOf(name, a)
	case *array.Time32:
		return scaled(f, a, cast[int32](a.Time32Values()), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return parquetscan.NewColumn(name, a.Time64Values()), nil
	case *array.Timestamp:
		if unit := a.DataType().(*arrow.TimestampType).Unit; unit == arrow.Second {
			return scaled(f, a, cast[int64](a.TimestampValues()), unit)
		}
		return parquetscan.NewColumn(name, a.TimestampValues()), nil
	case *array.Decimal32:
		v := make([]int64, a.Len())
		for i, x := range a.Values() {
			v[i] = int64(x)
		}
		return parquetscan.NewColumn(name, v), nil
	case *array.Decimal64:
		return parquetscan.NewColumn(name, cast[int64](a.Values())), nil
	case *array.Decimal128:
		return parquetscan.NewColumn(name, cast[parquetscan.Int128](a.Values())), nil
	case *array.Decimal256:
		return parquetscan.NewColumn(name, cast[parquetscan.Int256](a.Values())), nil
	case *array.FixedSizeBinary:
		width := a.DataType().(*arrow.FixedSizeBinaryType).ByteWidth
		v, err := bufferOf(a, 1, width)
		return parquetscan.NewFixed(name, v, width), err
	case *array.Dictionary:
		return codesOf(name, a)
	case *array.FixedSizeList:
		if f.Type.Kind == parquetscan.Vector {
			return matrixOf(name, a)
		}
		size := int(a.DataType().(*arrow.FixedSizeListType).Len())
		return listOf(f, a, func(i int) int { return (a.Data().Offset() + i) * size }, a.ListValues())
	case *array.Map:
		offsets := offsetsOf(a.Offsets(), a)
		return listOf(f, a, offsets, a.Keys(), a.Items())
	case *array.List:
		return listOf(f, a, offsetsOf(a.Offsets(), a), a.ListValues())
	case *array.LargeList:
		return listOf(f, a, offsetsOf(a.Offsets(), a), a.ListValues())
	case *array.Struct:
		fields := make([]parquetscan.Column, len(f.Fields))
		for i, kid := range f.Fields {
			if n := a.Field(i).Len(); n != a.Len() {
				return parquetscan.Column{}, corrupt("%s: %d values for %d rows", kid.Name, n, a.Len())
			}
			var err error
			if fields[i], err = columnOf(kid, a.Field(i)); err != nil {
				return parquetscan.Column{}, fmt.Errorf("%s: %w", kid.Name, err)
			}
		}
		if len(fields) == 0 {
			return parquetscan.Column{}, fmt.Errorf("%w: a struct without fields", parquetscan.ErrUnsupported)
		}
		return parquetscan.NewStruct(name, fields...), nil
	}
	data, offsets, err := textOf(arr)
	if err != nil {
		return parquetscan.Column{}, err
	}
	return parquetscan.NewText(name, data, offsets), nil
}

// bufferOf returns the bytes of an array's values of fixed width.
func bufferOf(arr arrow.Array, buffer, width int) ([]byte, error) {
	if arr.Len() == 0 {
		return nil, nil
	}
	b := arr.Data().Buffers()[buffer]
	from, n := arr.Data().Offset()*width, arr.Len()*width
	if b == nil || b.Len() < from+n {
		return nil, corrupt("%d values of %d bytes from %d on do not lie in their buffer", arr.Len(), width, arr.Data().Offset())
	}
	return b.Bytes()[from : from+n], nil
}

func daysOf(name string, a *array.Date64) (parquetscan.Column, error) {
	const day = 86_400_000
	v := make([]int32, a.Len())
	for i, x := range a.Date64Values() {
		if a.IsNull(i) {
			continue
		}
		if x%day != 0 || int64(x/day) != int64(int32(x/day)) {
			return parquetscan.Column{}, fmt.Errorf("row %d: %w: %d milliseconds for a date", i, parquetscan.ErrOutOfRange, x)
		}
		v[i] = int32(x / day)
	}
	return parquetscan.NewColumn(name, v), nil
}

// scaled returns times as milliseconds of 64 bits.
func scaled[T int32 | int64](f parquetscan.Field, arr arrow.Array, times []T, unit arrow.TimeUnit) (parquetscan.Column, error) {
	v, factor := make([]int64, len(times)), int64(1)
	if unit == arrow.Second {
		factor = 1000
	}
	for i, x := range times {
		if arr.IsNull(i) {
			continue
		}
		if v[i] = int64(x) * factor; v[i]/factor != int64(x) {
			return parquetscan.Column{}, fmt.Errorf("row %d: %w: %d seconds", i, parquetscan.ErrOutOfRange, x)
		}
	}
	return parquetscan.NewColumn(f.Name, v), nil
}

func matrixOf(name string, a *array.FixedSizeList) (parquetscan.Column, error) {
	dim := int(a.DataType().(*arrow.FixedSizeListType).Len())
	from := a.Data().Offset() * dim
	n := a.Len() * dim
	values := a.ListValues()
	if values.Len() < from+n {
		return parquetscan.Column{}, corrupt("%d elements from %d on for %d vectors of %d", values.Len(), from, a.Len(), dim)
	}
	if values.NullN() > 0 {
		for i := range n {
			if values.IsNull(from+i) && a.IsValid(i/dim) {
				return parquetscan.Column{}, fmt.Errorf("row %d: %w: element %d is NULL", i/dim, parquetscan.ErrRagged, i%dim)
			}
		}
	}
	if v, ok := values.(*array.Float32); ok {
		return parquetscan.NewMatrix(name, v.Float32Values()[from:from+n], dim), nil
	}
	return parquetscan.NewMatrix(name, values.(*array.Float64).Float64Values()[from:from+n], dim), nil
}

// offsetsOf returns the offsets of the rows of an array, which may be a slice of a larger one.
func offsetsOf[T int32 | int64](offsets []T, arr arrow.Array) func(i int) int {
	if arr.Len() == 0 {
		return func(int) int { return 0 }
	}
	from := arr.Data().Offset()
	if len(offsets) < from+arr.Len()+1 {
		return nil
	}
	return func(i int) int { return int(offsets[from+i]) }
}

// listOf returns a List of one, or a Map of two columns of elements.
func listOf(f parquetscan.Field, arr arrow.Array, at func(i int) int, elements ...arrow.Array) (parquetscan.Column, error) {
	fail := func(err error) (parquetscan.Column, error) { return parquetscan.Column{}, err }
	if at == nil {
		return fail(corrupt("not enough offsets for %d rows from %d on", arr.Len(), arr.Data().Offset()))
	}
	n := arr.Len()
	first, last := at(0), at(n)
	if first < 0 || last < first || last > elements[0].Len() {
		return fail(corrupt("lists of elements %d to %d, of %d", first, last, elements[0].Len()))
	}
	if last-first > math.MaxInt32 {
		return fail(fmt.Errorf("%w: %d elements", parquetscan.ErrTooLarge, last-first))
	}
	offsets := make([]int32, n+1)
	for i, before := 0, first; i <= n; i++ {
		o := at(i)
		if o < before || o > last {
			return fail(corrupt("offset %d is %d after %d, of %d", i, o, before, last))
		}
		offsets[i], before = int32(o-first), o
	}
	columns := make([]parquetscan.Column, len(elements))
	for i, e := range elements {
		if first > 0 || last < e.Len() {
			if last > e.Len() {
				return fail(corrupt("%d values for %d entries", e.Len(), last))
			}
			e = array.NewSlice(e, int64(first), int64(last))
		}
		var err error
		if columns[i], err = columnOf(f.Fields[i], e); err != nil {
			return fail(fmt.Errorf("%s: %w", f.Fields[i].Name, err))
		}
	}
	if len(columns) == 1 {
		return parquetscan.NewList(f.Name, offsets, columns[0]), nil
	}
	if columns[0].Nulls() > 0 {
		return fail(corrupt("a key of a map is NULL"))
	}
	return parquetscan.NewMap(f.Name, offsets, columns[0], columns[1]), nil
}

func codesOf(name string, a *array.Dictionary) (parquetscan.Column, error) {
	fail := func(err error) (parquetscan.Column, error) { return parquetscan.Column{}, err }
	if a.Dictionary().NullN() > 0 {
		return fail(fmt.Errorf("%w: a dictionary with NULLs", parquetscan.ErrUnsupported))
	}
	data, offsets, err := textOf(a.Dictionary())
	if err != nil {
		return fail(err)
	}
	dict := parquetscan.NewDictionary(data, offsets)
	indices, shared := a.Indices().(*array.Uint32)
	var codes []uint32
	if shared {
		codes = indices.Uint32Values()
	} else {
		codes = make([]uint32, a.Len())
	}
	for i := range codes {
		if a.IsNull(i) {
			continue
		}
		code := a.GetValueIndex(i)
		if code < 0 || code >= dict.Len() {
			return fail(corrupt("row %d: index %d of a dictionary of %d", i, code, dict.Len()))
		}
		if !shared {
			codes[i] = uint32(code)
		}
	}
	return parquetscan.NewCodes(name, codes, dict), nil
}

// textOf returns the text of an array of strings or bytes: the array's own, or a copy.
func textOf(arr arrow.Array) (data []byte, offsets []int32, err error) {
	switch a := arr.(type) {
	case *array.String:
		return checkedText(a, a.ValueOffsets())
	case *array.Binary:
		return checkedText(a, a.ValueOffsets())
	case *array.LargeString:
		return checkedText(a, a.ValueOffsets())
	case *array.LargeBinary:
		return checkedText(a, a.ValueOffsets())
	case *array.StringView:
		return copiedText(a, a.Value)
	case *array.BinaryView:
		return copiedText(a, a.Value)
	}
	return nil, nil, fmt.Errorf("%w: %T", parquetscan.ErrUnsupported, arr)
}

func checkedText[T int32 | int64](arr arrow.Array, offsets []T) ([]byte, []int32, error) {
	n := arr.Len()
	if n == 0 {
		return nil, nil, nil
	}
	var data []byte
	if b := arr.Data().Buffers()[2]; b != nil {
		data = b.Bytes()
	}
	if len(offsets) < n+1 {
		return nil, nil, corrupt("%d offsets of %d strings", len(offsets), n)
	}
	last := T(0)
	for i, o := range offsets[:n+1] {
		if o < last || int64(o) > int64(len(data)) {
			return nil, nil, corrupt("offset %d is %d after %d, of %d bytes", i, o, last, len(data))
		}
		last = o
	}
	if short, ok := any(offsets).([]int32); ok {
		return data, short[:n+1], nil
	}
	first := offsets[0]
	if int64(last-first) > math.MaxInt32 {
		return nil, nil, fmt.Errorf("%w: %d bytes of text", parquetscan.ErrTooLarge, last-first)
	}
	short := make([]int32, n+1)
	for i, o := range offsets[:n+1] {
		short[i] = int32(o - first)
	}
	return data[first:last], short, nil
}

func copiedText[T string | []byte](arr arrow.Array, value func(i int) T) ([]byte, []int32, error) {
	var data []byte
	offsets := make([]int32, 1, arr.Len()+1)
	for i := range arr.Len() {
		if arr.IsValid(i) {
			data = append(data, value(i)...)
		}
		if len(data) > math.MaxInt32 {
			return nil, nil, fmt.Errorf("%w: more than 2 GiB of text", parquetscan.ErrTooLarge)
		}
		offsets = append(offsets, int32(len(data)))
	}
	return data, offsets, nil
}
