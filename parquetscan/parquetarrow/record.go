// SPDX-License-Identifier: Apache-2.0

package parquetarrow

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/vecql/vecql/parquetscan"
)

// This file turns batches into record batches.

// Record returns a batch as a record batch of a schema: one field per column, of the same names in the same order, with the types that
// [Schema] gives them. Strings that came as codes may be dictionaries with indices of uint32; those that came as text may not.
//
// If schema is nil the types are those of the batch: strings that came as codes are dictionaries, vectors whose dimension is known are
// lists of fixed size, and everything but elements of vectors and keys of maps is nullable. Such schemas may differ from one batch to the
// next.
//
// The record holds the batch's memory, of values, offsets, validity and dictionaries. Copied are: bools, which Arrow packs; a Time in
// milliseconds, which is 32 bits there; Decimal64, which is 128; codes that become text.
//
// Errors are [parquetscan.ErrNoColumn] for a column that is not what the schema says, [parquetscan.ErrRagged] for vectors of another
// dimension, [parquetscan.ErrOutOfRange] for a time beyond 32 bits, [parquetscan.ErrTooLarge] for more than 2 GiB of text or elements.
func Record(b *parquetscan.Batch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	if schema == nil {
		fields := make([]arrow.Field, len(b.Columns))
		for i := range fields {
			c := &b.Columns[i]
			fields[i] = arrow.Field{Name: c.Name, Type: typeOf(c), Nullable: true}
		}
		schema = arrow.NewSchema(fields, nil)
	}
	if len(b.Columns) != schema.NumFields() {
		return nil, fmt.Errorf("parquetarrow: %w: a batch has %d columns, the schema %d",
			parquetscan.ErrNoColumn, len(b.Columns), schema.NumFields())
	}
	arrays := make([]arrow.Array, len(b.Columns))
	for i, f := range schema.Fields() {
		c := &b.Columns[i]
		if c.Name != f.Name {
			return nil, fmt.Errorf("parquetarrow: %w: column %d of a batch is %s, the schema's is %s",
				parquetscan.ErrNoColumn, i, c.Name, f.Name)
		}
		if c.Len() != b.Rows {
			return nil, fmt.Errorf("parquetarrow: column %s has %d rows, the batch %d", c.Name, c.Len(), b.Rows)
		}
		data, err := dataOf(c, f)
		if err != nil {
			return nil, fmt.Errorf("parquetarrow: column %s: %w", c.Name, err)
		}
		arrays[i] = array.MakeFromData(data)
	}
	return array.NewRecordBatch(schema, arrays, int64(b.Rows)), nil
}

// typeOf returns the data type that needs the least copying.
func typeOf(c *parquetscan.Column) arrow.DataType {
	kid := func(i int, name string) arrow.Field {
		return arrow.Field{Name: name, Type: typeOf(&c.Children()[i]), Nullable: true}
	}
	switch c.Type.Kind {
	case parquetscan.List:
		return arrow.ListOfField(kid(0, "element"))
	case parquetscan.Map:
		key := kid(0, "key")
		key.Nullable = false
		return arrow.MapOfFields(key, kid(1, "value"))
	case parquetscan.Struct:
		fields := make([]arrow.Field, len(c.Children()))
		for i := range fields {
			fields[i] = kid(i, c.Children()[i].Name)
		}
		return arrow.StructOf(fields...)
	}
	t := parquetscan.Field{Name: c.Name, Type: c.Type}.Arrow(map[string]int{c.Name: c.Dim()}).Type
	if _, dict := c.Codes(); dict != nil {
		return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: t}
	}
	return t
}

// newData returns the data of a column, whose NULLs are its own.
func newData(c *parquetscan.Column, dt arrow.DataType, children []arrow.ArrayData, buffers ...[]byte) *array.Data {
	all := []*memory.Buffer{nil}
	if c.Nulls() > 0 {
		all[0] = memory.NewBufferBytes(c.Validity())
	}
	for _, b := range buffers {
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(dt, c.Len(), all, children, c.Nulls(), 0)
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// dataOf returns a column as the data of an array of a field.
func dataOf(c *parquetscan.Column, f arrow.Field) (*array.Data, error) {
	if !f.Nullable && c.Nulls() > 0 {
		return nil, fmt.Errorf("%w: %d NULLs in a column that has none", parquetscan.ErrNoColumn, c.Nulls())
	}
	mismatch := fmt.Errorf("%w: %v can not be %v", parquetscan.ErrNoColumn, c.Type, f.Type)
	switch c.Type.Kind {
	case parquetscan.Vector:
		return vectorData(c, f.Type, mismatch)
	case parquetscan.String, parquetscan.Binary:
		return textData(c, f.Type, mismatch)
	case parquetscan.List:
		t, ok := f.Type.(*arrow.ListType)
		if !ok {
			return nil, mismatch
		}
		kid, err := dataOf(&c.Children()[0], t.ElemField())
		if err != nil {
			return nil, fmt.Errorf("element: %w", err)
		}
		return newData(c, t, []arrow.ArrayData{kid}, bytesOf(c.Offsets())), nil
	case parquetscan.Map:
		t, ok := f.Type.(*arrow.MapType)
		if !ok {
			return nil, mismatch
		}
		kids, err := childrenData(c, []arrow.Field{t.KeyField(), t.ItemField()})
		if err != nil {
			return nil, err
		}
		entries := array.NewData(t.Elem(), kids[0].Len(), []*memory.Buffer{nil}, kids, 0, 0)
		return newData(c, t, []arrow.ArrayData{entries}, bytesOf(c.Offsets())), nil
	case parquetscan.Struct:
		t, ok := f.Type.(*arrow.StructType)
		if !ok || t.NumFields() != len(c.Children()) {
			return nil, mismatch
		}
		for i, f := range t.Fields() {
			if name := c.Children()[i].Name; name != f.Name {
				return nil, fmt.Errorf("%w: field %d is %s, the schema's is %s", parquetscan.ErrNoColumn, i, name, f.Name)
			}
		}
		kids, err := childrenData(c, t.Fields())
		if err != nil {
			return nil, err
		}
		return newData(c, t, kids), nil
	}
	if want := (parquetscan.Field{Type: c.Type}).Arrow(nil).Type; !arrow.TypeEqual(want, f.Type) {
		return nil, mismatch
	}
	values, err := valueBytes(c)
	if err != nil {
		return nil, err
	}
	return newData(c, f.Type, nil, values), nil
}

func childrenData(c *parquetscan.Column, fields []arrow.Field) ([]arrow.ArrayData, error) {
	kids := make([]arrow.ArrayData, len(fields))
	for i, f := range fields {
		kid, err := dataOf(&c.Children()[i], f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		kids[i] = kid
	}
	return kids, nil
}

// valueBytes returns the values of a scalar of fixed size as Arrow lays them out.
func valueBytes(c *parquetscan.Column) ([]byte, error) {
	switch c.Type.Kind {
	case parquetscan.Bool:
		bits := make([]byte, (c.Len()+7)/8)
		for i, v := range parquetscan.Values[bool](c) {
			if v {
				bits[i>>3] |= 1 << (i & 7)
			}
		}
		return bits, nil
	case parquetscan.Int8:
		return bytesOf(parquetscan.Values[int8](c)), nil
	case parquetscan.Int16:
		return bytesOf(parquetscan.Values[int16](c)), nil
	case parquetscan.Int32, parquetscan.Date:
		return bytesOf(parquetscan.Values[int32](c)), nil
	case parquetscan.Uint8, parquetscan.Fixed:
		return bytesOf(parquetscan.Values[uint8](c)), nil
	case parquetscan.Uint16, parquetscan.Float16:
		return bytesOf(parquetscan.Values[uint16](c)), nil
	case parquetscan.Uint32:
		return bytesOf(parquetscan.Values[uint32](c)), nil
	case parquetscan.Uint64:
		return bytesOf(parquetscan.Values[uint64](c)), nil
	case parquetscan.Float32:
		return bytesOf(parquetscan.Values[float32](c)), nil
	case parquetscan.Float64:
		return bytesOf(parquetscan.Values[float64](c)), nil
	case parquetscan.ID:
		return bytesOf(parquetscan.Values[[16]byte](c)), nil
	case parquetscan.Decimal128: // the lower word first, as Arrow has it
		return bytesOf(parquetscan.Values[parquetscan.Int128](c)), nil
	case parquetscan.Decimal256:
		return bytesOf(parquetscan.Values[parquetscan.Int256](c)), nil
	}
	v := parquetscan.Values[int64](c)
	switch {
	case c.Type.Kind == parquetscan.Decimal64:
		wide := make([]parquetscan.Int128, len(v))
		for i, x := range v {
			wide[i] = parquetscan.Int128{Lo: uint64(x), Hi: x >> 63}
		}
		return bytesOf(wide), nil
	case c.Type.Kind == parquetscan.Time && c.Type.Unit == parquetscan.Millis:
		narrow := make([]int32, len(v))
		for i, x := range v {
			if x != int64(int32(x)) && !c.Null(i) {
				return nil, fmt.Errorf("row %d: %w: %d milliseconds", i, parquetscan.ErrOutOfRange, x)
			}
			narrow[i] = int32(x)
		}
		return bytesOf(narrow), nil
	}
	return bytesOf(v), nil
}

func vectorData(c *parquetscan.Column, dt arrow.DataType, mismatch error) (*array.Data, error) {
	var elem arrow.DataType
	var values []byte
	if c.Type.Elem == parquetscan.Float64 {
		elem, values = arrow.PrimitiveTypes.Float64, bytesOf(parquetscan.Values[float64](c))
	} else {
		elem, values = arrow.PrimitiveTypes.Float32, bytesOf(parquetscan.Values[float32](c))
	}
	rows, dim := c.Len(), c.Dim()
	floats := func(n int) []arrow.ArrayData {
		return []arrow.ArrayData{array.NewData(elem, n, []*memory.Buffer{nil, memory.NewBufferBytes(values)}, nil, 0, 0)}
	}
	switch t := dt.(type) {
	case *arrow.FixedSizeListType:
		if !arrow.TypeEqual(t.Elem(), elem) {
			return nil, mismatch
		}
		if want := int(t.Len()); want != dim {
			if c.Nulls() < rows {
				return nil, fmt.Errorf("%w: %d elements, the schema has %d", parquetscan.ErrRagged, dim, want)
			}
			dim = want
			values = make([]byte, rows*dim*elem.(arrow.FixedWidthDataType).Bytes())
		}
		return newData(c, dt, floats(rows*dim)), nil
	case *arrow.ListType:
		if !arrow.TypeEqual(t.Elem(), elem) {
			return nil, mismatch
		}
		if rows*dim > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %d elements", parquetscan.ErrTooLarge, rows*dim)
		}
		offsets := make([]int32, rows+1)
		for i := range offsets {
			offsets[i] = int32(i * dim)
		}
		return newData(c, dt, floats(rows*dim), bytesOf(offsets)), nil
	}
	return nil, mismatch
}

func textData(c *parquetscan.Column, dt arrow.DataType, mismatch error) (*array.Data, error) {
	want := (parquetscan.Field{Type: c.Type}).Arrow(nil).Type
	codes, dict := c.Codes()
	if dict != nil {
		fixed, err := checkCodes(c, codes, uint32(dict.Len()))
		if err != nil {
			return nil, err
		}
		if t, ok := dt.(*arrow.DictionaryType); ok && t.IndexType.ID() == arrow.UINT32 && arrow.TypeEqual(t.ValueType, want) {
			text, offsets := dict.Text()
			values := array.NewData(want, dict.Len(), []*memory.Buffer{
				nil, memory.NewBufferBytes(bytesOf(offsets)), memory.NewBufferBytes(text),
			}, nil, 0, 0)
			data := newData(c, dt, nil, bytesOf(fixed))
			data.SetDictionary(values)
			return data, nil
		}
	}
	if !arrow.TypeEqual(dt, want) {
		return nil, mismatch
	}
	text, offsets := c.Text()
	if dict != nil {
		size := 0
		for i, code := range codes {
			if !c.Null(i) {
				size += len(dict.Value(code))
			}
		}
		if size > math.MaxInt32 {
			return nil, fmt.Errorf("%w: %d bytes of text", parquetscan.ErrTooLarge, size)
		}
		text, offsets = make([]byte, 0, size), make([]int32, 1, c.Len()+1)
		for i, code := range codes {
			if !c.Null(i) {
				text = append(text, dict.Value(code)...)
			}
			offsets = append(offsets, int32(len(text)))
		}
	}
	return newData(c, dt, nil, bytesOf(offsets), text), nil
}

// checkCodes returns codes that all lie within a dictionary: in a copy, if those of NULLs do not. With an empty dictionary they are 0.
func checkCodes(c *parquetscan.Column, codes []uint32, limit uint32) ([]uint32, error) {
	fixed := codes
	for i, code := range codes {
		if code < limit || code == 0 && c.Null(i) {
			continue
		}
		if !c.Null(i) {
			return nil, fmt.Errorf("row %d: code %d of a dictionary of %d", i, code, limit)
		}
		if &fixed[0] == &codes[0] {
			fixed = append([]uint32(nil), codes...)
		}
		fixed[i] = 0
	}
	return fixed, nil
}
