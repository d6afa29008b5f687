// SPDX-License-Identifier: Apache-2.0

package arrowcolumn

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Conversion of record batches to batches: columns without children.

// Batch converts a record batch to a batch with the columns of [Fields]. The batch shares the record's memory and is
// valid as long as the record.
//
// Batch copies bool, which Arrow packs; times in seconds or of 32 bits; date64; durations and intervals of one unit;
// decimals of 32 bits and decimals marked as Decimal64; marked text; text of large and view types; indices other than
// uint32; offsets of large lists, of list views and of slices of lists; run-end encoded values; dictionaries of values
// other than text; validity that begins within a byte.
//
// Lists with the mark of a Vector take their dimension from the rows. They become a List if rows differ in length or an
// element is NULL.
//
// Batch does not panic on any array. The error wraps [ErrMalformed] for an array that breaks the rules of Arrow's
// format, [ErrUnsupported] for a type without a kind, [ErrRange] for a time or decimal that does not fit, or
// [column.ErrTooLarge].
func Batch(rec arrow.RecordBatch) (*column.Batch, error) { return (&converter{}).batch(rec) }

// A converter converts arrays to columns. It caches dictionaries, so that batches of one stream share them.
type converter struct {
	dicts map[dictKey]*dictionary
}

// batch returns the record as a batch of columns that share its memory where the layouts agree.
func (r *converter) batch(rec arrow.RecordBatch) (*column.Batch, error) {
	fields, err := Fields(rec.Schema())
	if err != nil {
		return nil, err
	}
	b := &column.Batch{Rows: int(rec.NumRows()), Columns: make([]column.Column, len(fields))}
	for i, f := range fields {
		s, err := spanOf(rec.Column(i).Data())
		if err == nil && s.n != b.Rows {
			err = malformed("%d rows, the record has %d", s.n, b.Rows)
		}
		if err == nil {
			b.Columns[i], err = r.column(f, rec.Schema().Field(i).Type, s)
		}
		if err != nil {
			return nil, fmt.Errorf("arrowcolumn: column %s: %w", f.Name, err)
		}
	}
	return b, nil
}

// column converts rows of an array of type t to a column of field f, which columnField returned for t.
func (r *converter) column(f column.Field, t arrow.DataType, s span) (column.Column, error) {
	t, _ = storage(t)
	if plain, _ := decoded(t); f.Type.Kind.HasText() && kinds[plain.ID()] == column.String { // marked text
		want := f.Type
		f.Type = column.Type{Kind: column.String}
		c, err := r.column(f, t, s)
		if err != nil {
			return c, err
		}
		return column.ParseText(&c, want)
	}
	c := column.Column{Name: f.Name, Type: f.Type, Len: s.n}
	switch t := t.(type) {
	case *arrow.NullType:
		return nullColumn(c)
	case *arrow.RunEndEncodedType:
		return r.runs(f, t, s)
	}
	bits, err := s.validity()
	if err != nil {
		return c, err
	}
	c = c.WithValidity(bits)
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return r.dictionary(c, f, t, s)
	case *arrow.FixedSizeListType:
		return r.fixedList(c, f, t, s)
	case arrow.ListLikeType:
		return r.list(c, f, t, s)
	case *arrow.StructType:
		return r.fields(c, f, t, s)
	case arrow.BinaryDataType:
		err = text(&c, t.ID(), s)
	default:
		err = fixed(&c, t, s)
	}
	return c, err
}

// nullColumn returns c with all rows NULL.
func nullColumn(c column.Column) (column.Column, error) {
	if c.Len > maxExpanded {
		return c, fmt.Errorf("%w: %d rows of type null", column.ErrTooLarge, c.Len)
	}
	c.Offsets = make([]int32, c.Len+1)
	return c.WithValidity(make([]byte, (c.Len+7)/8)), nil
}

// text reads rows of strings or bytes.
func text(c *column.Column, id arrow.Type, s span) (err error) {
	data := s.buffer(2)
	switch id {
	case arrow.STRING, arrow.BINARY:
		c.Values = data
		c.Offsets, err = offsetsOf[int32](s, len(data))
	case arrow.LARGE_STRING, arrow.LARGE_BINARY:
		var offsets []int64
		if offsets, err = offsetsOf[int64](s, len(data)); err == nil {
			c.Values = data[offsets[0]:offsets[s.n]]
			c.Offsets, err = rebased(offsets)
		}
	default:
		err = viewText(c, s)
	}
	return err
}

// viewText reads views of strings: the length, then up to 12 bytes of text, or a prefix of four bytes, a buffer and an
// offset (Arrow Columnar Format, "Variable-size Binary View Layout").
func viewText(c *column.Column, s span) error {
	views, err := s.bytes(1, 16)
	if err != nil {
		return err
	}
	c.Offsets = make([]int32, 1, s.n+1)
	for i := range s.n {
		if !c.Null(i) {
			v, err := s.view(views[16*i : 16*i+16])
			if err != nil {
				return fmt.Errorf("row %d: %w", i, err)
			}
			if len(v) > math.MaxInt32-len(c.Values) {
				return fmt.Errorf("%w: text", column.ErrTooLarge)
			}
			c.Values = append(c.Values, v...)
		}
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	}
	return nil
}

// view returns the bytes of one view.
func (s span) view(view []byte) ([]byte, error) {
	word := func(i int) int { return int(int32(binary.NativeEndian.Uint32(view[4*i:]))) }
	n := word(0)
	if n >= 0 && n <= 12 {
		return view[4 : 4+n], nil
	}
	i, at := word(2), word(3)
	if n < 0 || i < 0 || i >= len(s.data.Buffers())-2 || at < 0 {
		return nil, malformed("invalid view: %d bytes at %d in buffer %d", n, at, i)
	}
	b := s.buffer(2 + i)
	if at > len(b) || n > len(b)-at {
		return nil, malformed("view of %d bytes at %d in a buffer of %d", n, at, len(b))
	}
	return b[at : at+n], nil
}

// fixed reads values of a fixed size. It shares the array's memory unless the layouts differ.
func fixed(c *column.Column, t arrow.DataType, s span) error {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return bools(c, s)
	case *arrow.Time32Type:
		factor := perUnit(t.Unit, arrow.Millisecond)
		return convert(c, s, func(v int32) (int64, bool) { return int64(v) * factor, true })
	case *arrow.TimestampType:
		if t.Unit == arrow.Second {
			return convert(c, s, func(v int64) (int64, bool) { return scaled(v, 1000) })
		}
	case *arrow.Date64Type:
		const day = 86_400_000
		return convert(c, s, func(v int64) (int32, bool) {
			return int32(v / day), v%day == 0 && v/day == int64(int32(v/day))
		})
	case *arrow.DurationType:
		factor := perUnit(t.Unit, arrow.Nanosecond)
		return convert(c, s, func(v int64) (cql.Duration, bool) {
			ns, ok := scaled(v, factor)
			return cql.Duration{Nanoseconds: ns}, ok
		})
	case *arrow.MonthIntervalType:
		return convert(c, s, func(v int32) (cql.Duration, bool) { return cql.Duration{Months: v}, true })
	case *arrow.DayTimeIntervalType:
		return convert(c, s, func(v arrow.DayTimeInterval) (cql.Duration, bool) {
			return cql.Duration{Days: v.Days, Nanoseconds: int64(v.Milliseconds) * 1e6}, true
		})
	case *arrow.Decimal32Type:
		return convert(c, s, func(v decimal.Decimal32) (int64, bool) { return int64(v), true })
	case *arrow.Decimal128Type:
		if c.Type.Kind == column.Decimal64 {
			return convert(c, s, func(v decimal128.Num) (int64, bool) {
				low := int64(v.LowBits())
				return low, v.HighBits() == low>>63
			})
		}
	}
	values, err := s.bytes(1, c.Type.ValueWidth())
	c.Values = aligned(values, alignment(c.Type.Kind))
	return err
}

// alignment returns the alignment of values of a kind in Go, in bytes.
func alignment(k column.Kind) uintptr {
	if k == column.UUID || k == column.Fixed {
		return 1
	}
	return uintptr(min(column.Type{Kind: k}.ValueWidth(), 8))
}

func bools(c *column.Column, s span) error {
	bits, err := s.bits(1)
	if err != nil {
		return err
	}
	c.Values = make([]byte, s.n)
	for i := range c.Values {
		c.Values[i] = bits[i>>3] >> (i & 7) & 1
	}
	return nil
}

// perUnit returns the number of units of to in one unit of from; to is the smaller one.
func perUnit(from, to arrow.TimeUnit) int64 { return int64(from.Multiplier() / to.Multiplier()) }

// scaled returns v times factor, and false if it overflows 64 bits.
func scaled(v, factor int64) (int64, bool) { return v * factor, v*factor/factor == v }

// convert reads values of another layout and converts each with f, which returns false for a value out of range.
func convert[From, To any](c *column.Column, s span, f func(From) (To, bool)) error {
	values, err := valuesOf[From](s, 1)
	if err != nil {
		return err
	}
	out := make([]To, s.n)
	for i, v := range values {
		if c.Null(i) {
			continue
		}
		var ok bool
		if out[i], ok = f(v); !ok {
			return fmt.Errorf("row %d: %w: %v as %v", i, ErrRange, v, c.Type)
		}
	}
	c.Values = bytesOf(out)
	return nil
}

// A dictionary holds the values of arrays with indices.
type dictionary struct {
	values column.Column
	text   *column.Dictionary // nil if the values are not text, or have codes themselves
}

// dictKey identifies a dictionary by the address of its array and by the type of the column.
type dictKey struct {
	data *array.Data
	typ  column.Type
}

// maxDicts bounds the dictionaries that a converter caches.
const maxDicts = 64

// dictionaryOf returns the dictionary of an array.
func (r *converter) dictionaryOf(f column.Field, t arrow.DataType, s span) (*dictionary, error) {
	data, ok := s.data.Dictionary().(*array.Data)
	if !ok || data == nil {
		return nil, malformed("the dictionary is missing")
	}
	key := dictKey{data, f.Type}
	if d := r.dicts[key]; d != nil {
		return d, nil
	}
	all, err := spanOf(data)
	if err != nil {
		return nil, err
	}
	if all.n > math.MaxInt32 {
		return nil, fmt.Errorf("%w: a dictionary of %d", column.ErrTooLarge, all.n)
	}
	d := &dictionary{}
	if d.values, err = r.column(f, t, all); err != nil {
		return nil, fmt.Errorf("dictionary: %w", err)
	}
	if d.values.Type.Kind.IsText() && d.values.Dict == nil {
		d.text = column.NewDictionary(d.values.Values, d.values.Offsets)
	}
	if r.dicts == nil || len(r.dicts) >= maxDicts { // dictionaries of earlier row groups are not used again
		r.dicts = map[dictKey]*dictionary{}
	}
	r.dicts[key] = d
	return d, nil
}

// dictionary reads rows of indices. Text keeps its codes; a row of any other type becomes the value of its index.
func (r *converter) dictionary(c column.Column, f column.Field, t *arrow.DictionaryType,
	s span,
) (column.Column, error) {
	d, err := r.dictionaryOf(f, t.ValueType, s)
	if err != nil {
		return c, err
	}
	codes, err := indices(&c, t.IndexType.ID(), s, d.values.Len)
	if err != nil {
		return c, err
	}
	if d.text != nil && d.values.Nulls == 0 {
		c.Values, c.Dict = bytesOf(codes), d.text
		return c, nil
	}
	rows := make([]int32, len(codes))
	for i, code := range codes {
		if rows[i] = int32(code); c.Null(i) {
			rows[i] = -1
		}
	}
	c, err = take(&d.values, d.text, rows)
	return c.As(f.Name), err
}

// indices returns the indices of rows. Offsets of rows that are not NULL are below limit. uint32 indices share the
// array's memory.
func indices(c *column.Column, id arrow.Type, s span, limit int) ([]uint32, error) {
	if id == arrow.UINT32 {
		codes, err := valuesOf[uint32](s, 1)
		for i, code := range codes {
			if uint64(code) >= uint64(limit) && !c.Null(i) {
				return nil, malformed("row %d: index %d of a dictionary of %d", i, code, limit)
			}
		}
		return codes, err
	}
	wide, err := integersOf(s, 1, id)
	codes := make([]uint32, len(wide))
	for i, index := range wide {
		switch {
		case c.Null(i):
		case index < 0 || index >= int64(limit):
			return nil, malformed("row %d: index %d of a dictionary of %d", i, index, limit)
		default:
			codes[i] = uint32(index)
		}
	}
	return codes, err
}
