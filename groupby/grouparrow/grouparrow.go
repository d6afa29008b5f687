// SPDX-License-Identifier: Apache-2.0

// Package grouparrow brings Apache Arrow's arrays and record batches to [groupby], and its results back. Values are not copied where their
// layouts agree, which is nearly always.
//
//	var conv grouparrow.Converter
//	for rec := range records {
//		b, err := conv.Batch(rec, []int{0}, []int{1, 2})
//		err = g.Add(ctx, b)
//	}
package grouparrow

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/vecql/vecql/groupby"
)

// This file turns Arrow's columns into those of groupby.

// TypeOf returns the type of the columns that Converter makes of arrays of a data type: dates, times, timestamps and durations are the integers they
// are stored as, in the unit of the data type; binary is String; 16 bytes of fixed size are ID; lists of fixed size of floats are vectors; a
// dictionary is what it holds.
func TypeOf(dt arrow.DataType) (groupby.Type, error) {
	switch dt.ID() {
	case arrow.INT8:
		return groupby.Int8, nil
	case arrow.INT16:
		return groupby.Int16, nil
	case arrow.INT32, arrow.DATE32, arrow.TIME32:
		return groupby.Int32, nil
	case arrow.INT64, arrow.DATE64, arrow.TIME64, arrow.TIMESTAMP, arrow.DURATION:
		return groupby.Int64, nil
	case arrow.UINT8:
		return groupby.Uint8, nil
	case arrow.UINT16:
		return groupby.Uint16, nil
	case arrow.UINT32:
		return groupby.Uint32, nil
	case arrow.UINT64:
		return groupby.Uint64, nil
	case arrow.FLOAT32:
		return groupby.Float32, nil
	case arrow.FLOAT64:
		return groupby.Float64, nil
	case arrow.BOOL:
		return groupby.Bool, nil
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY:
		return groupby.String, nil
	case arrow.FIXED_SIZE_BINARY:
		if dt.(*arrow.FixedSizeBinaryType).ByteWidth == 16 {
			return groupby.ID, nil
		}
	case arrow.DICTIONARY:
		if t, err := TypeOf(dt.(*arrow.DictionaryType).ValueType); err == nil && t == groupby.String {
			return t, nil
		}
	case arrow.FIXED_SIZE_LIST:
		list := dt.(*arrow.FixedSizeListType)
		if t, err := TypeOf(list.Elem()); err == nil && (t == groupby.Float32 || t == groupby.Float64) && list.Len() > 0 {
			return groupby.Vector(t, int(list.Len())), nil
		}
	case arrow.EXTENSION:
		return TypeOf(dt.(arrow.ExtensionType).StorageType())
	}
	return 0, fmt.Errorf("grouparrow: no columns of %s", dt)
}

// A Converter makes columns and batches. It remembers the dictionary of the last column of each data, so that one shared by many batches is looked at
// once. The zero Converter is ready; it is for one goroutine.
type Converter struct {
	dicts map[arrow.ArrayData]*groupby.Dictionary
}

// Batch returns the columns keys and values of a record batch, for a [groupby.Config] with their types. It is valid as long as the record batch
// is.
func (c *Converter) Batch(rec arrow.RecordBatch, keys, values []int) (groupby.Batch, error) {
	b := groupby.Batch{Rows: int(rec.NumRows())}
	columns := func(of []int) ([]groupby.Column, error) {
		cols := make([]groupby.Column, len(of))
		for k, i := range of {
			if i < 0 || i >= int(rec.NumCols()) {
				return nil, fmt.Errorf("grouparrow: column %d of %d", i, rec.NumCols())
			}
			var err error
			if cols[k], err = c.Column(rec.Column(i)); err != nil {
				return nil, fmt.Errorf("column %d (%s): %w", i, rec.ColumnName(i), err)
			}
		}
		return cols, nil
	}
	var err error
	if b.Keys, err = columns(keys); err == nil {
		b.Values, err = columns(values)
	}
	return b, err
}

// Column returns the values of an array as a column, valid as long as the array is.
func (c *Converter) Column(arr arrow.Array) (groupby.Column, error) {
	if ext, ok := arr.(array.ExtensionArray); ok {
		return c.Column(ext.Storage())
	}
	if _, err := TypeOf(arr.DataType()); err != nil {
		return groupby.Column{}, err
	}
	col, err := c.values(arr)
	if err != nil {
		return groupby.Column{}, err
	}
	if arr.NullN() > 0 {
		col = col.WithValidity(bitsFrom(arr.NullBitmapBytes(), arr.Data().Offset(), arr.Len()))
	}
	return col, nil
}

func (c *Converter) values(arr arrow.Array) (groupby.Column, error) {
	switch a := arr.(type) {
	case *array.Int8:
		return groupby.Values(a.Int8Values()), nil
	case *array.Int16:
		return groupby.Values(a.Int16Values()), nil
	case *array.Int32:
		return groupby.Values(a.Int32Values()), nil
	case *array.Int64:
		return groupby.Values(a.Int64Values()), nil
	case *array.Uint8:
		return groupby.Values(a.Uint8Values()), nil
	case *array.Uint16:
		return groupby.Values(a.Uint16Values()), nil
	case *array.Uint32:
		return groupby.Values(a.Uint32Values()), nil
	case *array.Uint64:
		return groupby.Values(a.Uint64Values()), nil
	case *array.Float32:
		return groupby.Values(a.Float32Values()), nil
	case *array.Float64:
		return groupby.Values(a.Float64Values()), nil
	case *array.Date32:
		return groupby.Values(a.Date32Values()), nil
	case *array.Time32:
		return groupby.Values(a.Time32Values()), nil
	case *array.Date64:
		return groupby.Values(a.Date64Values()), nil
	case *array.Time64:
		return groupby.Values(a.Time64Values()), nil
	case *array.Timestamp:
		return groupby.Values(a.TimestampValues()), nil
	case *array.Duration:
		return groupby.Values(a.DurationValues()), nil
	case *array.Boolean:
		v := make([]bool, a.Len())
		for i := range v {
			v[i] = a.Value(i)
		}
		return groupby.Values(v), nil
	case *array.String:
		return text(a.Len(), a.ValueOffsets(), a.Data())
	case *array.Binary:
		return text(a.Len(), a.ValueOffsets(), a.Data())
	case *array.LargeString:
		return largeText(a.Len(), a.ValueOffsets(), a.Data())
	case *array.LargeBinary:
		return largeText(a.Len(), a.ValueOffsets(), a.Data())
	case *array.FixedSizeBinary:
		return ids(a), nil
	case *array.Dictionary:
		return c.codes(a)
	case *array.FixedSizeList:
		return vectors(a)
	}
	return groupby.Column{}, fmt.Errorf("grouparrow: no columns of %T", arr)
}

// bytesOf returns buffer i of the data, nil if there is none.
func bytesOf(data arrow.ArrayData, i int) []byte {
	if b := data.Buffers()[i]; b != nil {
		return b.Bytes()
	}
	return nil
}

func text(n int, offsets []int32, data arrow.ArrayData) (groupby.Column, error) {
	if n == 0 {
		return groupby.Text(nil, nil), nil
	}
	if err := checkOffsets(offsets, n, len(bytesOf(data, 2))); err != nil {
		return groupby.Column{}, err
	}
	return groupby.Text(bytesOf(data, 2), offsets[:n+1]), nil
}

func largeText(n int, offsets []int64, data arrow.ArrayData) (groupby.Column, error) {
	if n == 0 {
		return groupby.Text(nil, nil), nil
	}
	b := bytesOf(data, 2)
	if err := checkOffsets(offsets, n, len(b)); err != nil {
		return groupby.Column{}, err
	}
	first, last := offsets[0], offsets[n]
	if last-first > 1<<31-1 {
		return groupby.Column{}, fmt.Errorf("grouparrow: %d bytes of text in one array: at most %d, slice it", last-first, 1<<31-1)
	}
	short := make([]int32, n+1)
	for i, o := range offsets[:n+1] {
		short[i] = int32(o - first)
	}
	return groupby.Text(b[first:last], short), nil
}

// checkOffsets returns an error where groupby.Text would panic: record batches come from files and networks.
func checkOffsets[T int32 | int64](offsets []T, n, size int) error {
	if len(offsets) < n+1 {
		return fmt.Errorf("grouparrow: %d offsets of %d strings", len(offsets), n)
	}
	last := T(0)
	for i, o := range offsets[:n+1] {
		if o < last || int64(o) > int64(size) {
			return fmt.Errorf("grouparrow: offset %d is %d after %d, of %d bytes", i, o, last, size)
		}
		last = o
	}
	return nil
}

func ids(a *array.FixedSizeBinary) groupby.Column {
	if a.Len() == 0 {
		return groupby.Values[[16]byte](nil)
	}
	b := bytesOf(a.Data(), 1)[16*a.Data().Offset():][:16*a.Len()]
	return groupby.Values(unsafe.Slice((*[16]byte)(unsafe.Pointer(&b[0])), a.Len()))
}

// codes returns a dictionary array's codes, in 32 bits.
func (c *Converter) codes(a *array.Dictionary) (groupby.Column, error) {
	data := a.Dictionary().Data()
	dict := c.dicts[data]
	if dict == nil {
		entries, err := c.values(a.Dictionary())
		if err != nil {
			return groupby.Column{}, err
		}
		if a.Dictionary().NullN() > 0 {
			return groupby.Column{}, fmt.Errorf("grouparrow: a dictionary with NULLs")
		}
		dict = groupby.NewDictionary(entries)
		if len(c.dicts) >= 64 || c.dicts == nil { // dictionaries come and go
			c.dicts = map[arrow.ArrayData]*groupby.Dictionary{}
		}
		c.dicts[data] = dict
	}
	if i, ok := a.Indices().(*array.Uint32); ok {
		return groupby.Codes(i.Uint32Values(), dict), nil
	}
	codes := make([]uint32, a.Len())
	for i := range codes {
		if a.IsNull(i) {
			continue
		}
		code := a.GetValueIndex(i)
		if code < 0 || code >= dict.Len() {
			return groupby.Column{}, fmt.Errorf("grouparrow: row %d: code %d of a dictionary of %d", i, code, dict.Len())
		}
		codes[i] = uint32(code)
	}
	return groupby.Codes(codes, dict), nil
}

func vectors(a *array.FixedSizeList) (groupby.Column, error) {
	dim := int(a.DataType().(*arrow.FixedSizeListType).Len())
	from := a.Data().Offset() * dim
	n := a.Len() * dim
	if a.ListValues().Len() < from+n {
		return groupby.Column{}, fmt.Errorf("grouparrow: %d elements for %d lists of %d", a.ListValues().Len()-from, a.Len(), dim)
	}
	if a.ListValues().NullN() > 0 {
		for i := range a.Len() {
			for k := range dim {
				if a.IsValid(i) && a.ListValues().IsNull(from+i*dim+k) {
					return groupby.Column{}, fmt.Errorf("grouparrow: row %d: element %d of a vector is NULL", i, k)
				}
			}
		}
	}
	switch v := a.ListValues().(type) {
	case *array.Float32:
		return groupby.Matrix(v.Float32Values()[from:from+n], dim), nil
	case *array.Float64:
		return groupby.Matrix(v.Float64Values()[from:from+n], dim), nil
	}
	return groupby.Column{}, fmt.Errorf("grouparrow: no vectors of %T", a.ListValues())
}

// bitsFrom returns n bits from an offset on: the same memory, if the offset allows it.
func bitsFrom(b []byte, offset, n int) []byte {
	if offset%8 == 0 {
		return b[offset/8:][:(n+7)/8]
	}
	out := make([]byte, (n+7)/8)
	for i := range n {
		if bitutil.BitIsSet(b, offset+i) {
			bitutil.SetBit(out, i)
		}
	}
	return out
}
