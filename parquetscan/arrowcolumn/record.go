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

// Conversion of batches to record batches: columns without children.

// Record converts a batch to a record batch with the types of the batch: text with codes becomes a dictionary, and all
// fields but elements of vectors and keys of maps are nullable. Two batches of one origin may have different schemas;
// [RecordAs] converts to a given schema.
//
// The record shares the batch's memory: values, offsets, validity and dictionaries. Record copies Bool, which Arrow
// packs; a Time in milliseconds, which Arrow stores in 32 bits; Decimal64, which becomes 128 bits; Inet, Varint and
// Decimal, which become text.
//
// A batch that breaks the rules of columns returns the error of [column.Batch.Check]. It wraps [ErrUnsupported] for a
// struct without fields, [ErrRange] for a time beyond 32 bits, [column.ErrTooLarge].
func Record(b *column.Batch) (arrow.RecordBatch, error) {
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("arrowcolumn: %w", err)
	}
	fields := make([]arrow.Field, len(b.Columns))
	for i := range b.Columns {
		c := &b.Columns[i]
		var err error
		if fields[i], err = arrowField(c.Field(), c); err != nil {
			return nil, fmt.Errorf("arrowcolumn: column %s: %w", c.Name, err)
		}
	}
	return record(b, arrow.NewSchema(fields, nil))
}

// RecordAs converts a batch to a record batch of a schema: one field per column, with the same names in the same order,
// and the types of [Schema]. Other types are accepted if the values fit: a dictionary with indices of uint32 for text
// with codes, decimal64 for Decimal64, any time zone for a Timestamp of UTC, a list for a Vector, an extension type
// over the same storage. Marks are optional.
//
// Memory and errors are as in [Record]. Text with codes is copied if the schema has no dictionary. The error also
// wraps [ErrSchema] for a column that does not match the schema.
func RecordAs(b *column.Batch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	if err := b.Check(); err != nil {
		return nil, fmt.Errorf("arrowcolumn: %w", err)
	}
	return record(b, schema)
}

// record returns the batch as a record batch that shares its memory. Columns and fields must agree in number, order and
// name.
func record(b *column.Batch, schema *arrow.Schema) (arrow.RecordBatch, error) {
	if len(b.Columns) != schema.NumFields() {
		return nil, fmt.Errorf("arrowcolumn: %w: %d columns, the schema has %d", ErrSchema, len(b.Columns),
			schema.NumFields())
	}
	arrays := make([]arrow.Array, len(b.Columns))
	for i, f := range schema.Fields() {
		c := &b.Columns[i]
		if c.Name != f.Name {
			return nil, fmt.Errorf("arrowcolumn: %w: column %d is %s, the schema's is %s", ErrSchema, i, c.Name, f.Name)
		}
		data, err := dataOf(c, f)
		if err != nil {
			return nil, fmt.Errorf("arrowcolumn: column %s: %w", c.Name, err)
		}
		arrays[i] = array.MakeFromData(data)
	}
	return array.NewRecordBatch(schema, arrays, int64(b.Rows)), nil
}

// dataOf converts a column to the data of an array of a field.
func dataOf(c *column.Column, f arrow.Field) (*array.Data, error) {
	if !f.Nullable && c.Nulls > 0 {
		return nil, fmt.Errorf("%w: %d NULLs in a field that is not nullable", ErrSchema, c.Nulls)
	}
	if c.Type.Kind == column.Inet || c.Type.Kind == column.Varint || c.Type.Kind == column.Decimal {
		text, err := column.FormatText(c)
		if err != nil {
			return nil, err
		}
		c = &text
	}
	t, _ := storage(f.Type)
	switch kind := c.Type.Kind; {
	case kind == column.Vector:
		return vectorData(c, f.Type, t)
	case kind.IsNested():
		return nestedData(c, f.Type, t)
	case kind.IsText():
		return textData(c, f.Type, t)
	}
	if !sameLayout(c.Type, t) {
		return nil, mismatch(c, f.Type)
	}
	values, err := fixedValues(c, t)
	if err != nil {
		return nil, err
	}
	return newData(c, f.Type, nil, values), nil
}

func mismatch(c *column.Column, t arrow.DataType) error {
	return fmt.Errorf("%w: %v does not convert to %v", ErrSchema, c.Type, t)
}

// sameLayout reports whether values of a type without children have the layout of type t.
func sameLayout(have column.Type, t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return have.Kind == column.Timestamp && unitOf(t.Unit) == have.Unit && t.Unit != arrow.Second &&
			(t.TimeZone != "") == have.UTC
	case *arrow.Decimal64Type:
		return have.Kind == column.Decimal64 && int(t.Precision) == have.Precision && int(t.Scale) == have.Scale
	}
	return arrow.TypeEqual(leafType(have), t)
}

// newData returns the data of an array with the NULLs of a column.
func newData(c *column.Column, t arrow.DataType, children []arrow.ArrayData, buffers ...[]byte) *array.Data {
	all := []*memory.Buffer{nil}
	if bits := c.ValidityBits(); bits != nil {
		all[0] = memory.NewBufferBytes(bits)
	}
	for _, b := range buffers {
		if b == nil {
			b = []byte{}
		}
		all = append(all, memory.NewBufferBytes(b))
	}
	return array.NewData(t, c.Len, all, children, c.Nulls, 0)
}

// fixedValues returns values of a fixed size as type t lays them out.
func fixedValues(c *column.Column, t arrow.DataType) ([]byte, error) {
	switch kind := c.Type.Kind; {
	case kind == column.Bool:
		bits := make([]byte, (c.Len+7)/8)
		for i, v := range c.Values[:c.Len] {
			bits[i>>3] |= min(v, 1) << (i & 7)
		}
		return bits, nil
	case kind == column.Time && c.Type.Unit == column.Millis:
		v, err := column.Slice[int64](c)
		narrow := make([]int32, len(v))
		for i, x := range v {
			if x != int64(int32(x)) && !c.Null(i) {
				return nil, fmt.Errorf("row %d: %w: %d milliseconds as %v", i, ErrRange, x, t)
			}
			narrow[i] = int32(x)
		}
		return bytesOf(narrow), err
	case kind == column.Decimal64 && t.ID() == arrow.DECIMAL128:
		v, err := column.Slice[int64](c)
		wide := make([]column.Int128, len(v))
		for i, x := range v {
			wide[i] = column.Int128{Lo: uint64(x), Hi: x >> 63}
		}
		return bytesOf(wide), err
	}
	n := c.Len * c.Type.ValueWidth()
	return c.Values[:n:n], nil
}

// textData converts a column of String or Binary to an array of f, whose storage type is t.
func textData(c *column.Column, f, t arrow.DataType) (*array.Data, error) {
	want := leafType(c.Type)
	dict, isDict := t.(*arrow.DictionaryType)
	switch {
	case isDict && c.Dict != nil && dict.IndexType.ID() == arrow.UINT32 && arrow.TypeEqual(dict.ValueType, want):
		bytes, offsets := c.Dict.Buffers()
		entries := &column.Column{Type: c.Type, Len: c.Dict.Len(), Values: bytes, Offsets: offsets}
		data := newData(c, f, nil, bytesOf(codesWithin(c)))
		data.SetDictionary(newData(entries, dict.ValueType, nil, bytesOf(offsets), bytes))
		return data, nil
	case isDict || !arrow.TypeEqual(t, want):
		return nil, mismatch(c, f)
	case c.Dict != nil:
		plain, err := withoutCodes(c)
		if err != nil {
			return nil, err
		}
		c = plain
	}
	return newData(c, f, nil, offsetBytes(c), c.Values), nil
}

// codesWithin returns the codes of a column; codes of NULLs outside the dictionary become 0, because some programs that
// read Arrow look up the values of NULLs too.
func codesWithin(c *column.Column) []uint32 {
	codes, dict := c.Codes()
	limit, own := uint32(dict.Len()), false
	for i, code := range codes {
		if code < limit || code == 0 {
			continue
		}
		if !own {
			codes, own = append([]uint32(nil), codes...), true
		}
		codes[i] = 0
	}
	return codes
}

// withoutCodes converts text with codes to text without codes.
func withoutCodes(c *column.Column) (*column.Column, error) {
	codes, dict := c.Codes()
	size := 0
	for i, code := range codes {
		if !c.Null(i) {
			size += len(dict.Bytes(code))
		}
	}
	if size > math.MaxInt32 {
		return nil, fmt.Errorf("%w: %d bytes of text", column.ErrTooLarge, size)
	}
	out := *c
	out.Dict, out.Values, out.Offsets = nil, make([]byte, 0, size), make([]int32, 1, c.Len+1)
	for i, code := range codes {
		if !c.Null(i) {
			out.Values = append(out.Values, dict.Bytes(code)...)
		}
		out.Offsets = append(out.Offsets, int32(len(out.Values)))
	}
	return &out, nil
}

// offsetBytes returns the memory of the offsets of all rows. Without rows Arrow has one offset.
func offsetBytes(c *column.Column) []byte {
	if len(c.Offsets) == 0 {
		return make([]byte, 4)
	}
	return bytesOf(c.Offsets[:c.Len+1])
}
