// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/vecql/vecql/column"
)

// Columns for tests: shorthands, and random columns for the cases of cases_test.go, in all forms of a column.

var (
	typeBool      = column.Type{Kind: column.Bool}
	typeInt8      = column.Type{Kind: column.Int8}
	typeInt16     = column.Type{Kind: column.Int16}
	typeInt32     = column.Type{Kind: column.Int32}
	typeUint8     = column.Type{Kind: column.Uint8}
	typeUint16    = column.Type{Kind: column.Uint16}
	typeUint32    = column.Type{Kind: column.Uint32}
	typeFloat16   = column.Type{Kind: column.Float16}
	typeFloat32   = column.Type{Kind: column.Float32}
	typeDate      = column.Type{Kind: column.Date}
	typeTimestamp = column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true}
	typeDecimal64 = column.Type{Kind: column.Decimal64, Precision: 18, Scale: 2}
	typeWide      = column.Type{Kind: column.Decimal128, Precision: 38, Scale: 3}
	typeUUID      = column.Type{Kind: column.UUID}
	typeString    = column.Type{Kind: column.String}
)

// bytesTypes are types whose values are compared by their bytes or as several words.
var bytesTypes = []column.Type{
	typeBytes,
	{Kind: column.Inet},
	{Kind: column.Varint},
	{Kind: column.Fixed, Width: 3},
	{Kind: column.Fixed, Width: 16},
	{Kind: column.Fixed, Width: 20},
	typeWide,
	{Kind: column.Decimal256, Precision: 76},
	{Kind: column.Duration},
}

var numberTypes = []column.Type{
	typeInt8, typeInt16, typeInt32, typeInt64, typeUint8, typeUint16, typeUint32, typeUint64, typeFloat32, typeFloat64, typeDecimal64,
}

// scalarTypes are the types of keys.
var scalarTypes = append(append([]column.Type{
	typeBool, typeUUID, typeString, typeDate, typeTimestamp, typeFloat16, {Kind: column.Time, Unit: column.Nanos},
}, bytesTypes...), numberTypes...)

// typeOf returns the type of columns of T.
func typeOf[T any]() column.Type {
	var v T
	switch any(v).(type) {
	case bool:
		return typeBool
	case int8:
		return typeInt8
	case int16:
		return typeInt16
	case int32:
		return typeInt32
	case int64:
		return typeInt64
	case uint8:
		return typeUint8
	case uint16:
		return typeUint16
	case uint32:
		return typeUint32
	case uint64:
		return typeUint64
	case float32:
		return typeFloat32
	case float64:
		return typeFloat64
	case [16]byte:
		return typeUUID
	}
	panic(fmt.Sprintf("no column of %T", v))
}

// vals returns a column of numbers, UUIDs or strings.
func vals[T any](v []T) column.Column {
	if s, ok := any(v).([]string); ok {
		return column.Strings("", s)
	}
	return columnOf(typeOf[T](), len(v), v)
}

func cols(c ...column.Column) []column.Column { return c }

// batchOf returns a batch of keys k0, k1, ... and values v0, v1, ...; row 0 has the number start.
func batchOf(start int64, keys, values []column.Column) *column.Batch {
	b := &column.Batch{Source: column.Source{FirstRow: start}}
	for i, c := range keys {
		b.Columns, b.Rows = append(b.Columns, c.As(fmt.Sprint("k", i))), c.Len
	}
	for i, c := range values {
		b.Columns, b.Rows = append(b.Columns, c.As(fmt.Sprint("v", i))), c.Len
	}
	return b
}

// ints returns the values of an int64 column of a batch.
func ints(b *column.Batch, name string) []int64 {
	v, err := column.Slice[int64](b.Column(name))
	if err != nil {
		panic(err)
	}
	return v
}

// textsOf returns the values of a text column of a batch.
func textsOf(b *column.Batch, name string) []string {
	t, err := b.Column(name).Text()
	if err != nil {
		panic(err)
	}
	s := make([]string, t.Len())
	for i := range s {
		s[i] = t.String(i)
	}
	return s
}

// A columnMaker makes columns from a pool of values.
type columnMaker struct {
	typ    column.Type
	pool   []any // of the Go types of referenceValues
	size   int
	stride int // keys: group g has value g*stride of the pool; values: 0, any value
	nulls  int // percentage of NULLs
	wild   bool
	dict   *column.Dictionary // has each value of the pool twice
	rand   *rand.Rand
}

func newColumnMaker(c chooser, t column.Type, size, i, style int) *columnMaker {
	m := &columnMaker{typ: t, size: size, stride: 1 + i*(2*c.n(1000)+1), rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 1))}
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 30, 100}[c.n(4)]
	}
	m.pool = makePool(m.rand, t, size, style)
	m.addDictionary()
	return m
}

// newValueMaker makes values with exact sums, or wild ones: large values, infinities, NaN.
func newValueMaker(c chooser, t column.Type) *columnMaker {
	m := &columnMaker{typ: t, size: 64, rand: rand.New(rand.NewPCG(uint64(c.n(1<<16)), 2))}
	m.wild = c.n(3) == 0
	if c.n(2) == 0 {
		m.nulls = [...]int{1, 5, 50, 100}[c.n(4)]
	}
	switch {
	case t == typeFloat32:
		m.pool = boxed(valueFloats[float32](m.rand, m.size, m.wild))
	case t == typeFloat64:
		m.pool = boxed(valueFloats[float64](m.rand, m.size, m.wild))
	case m.wild:
		m.pool = makePool(m.rand, t, m.size, 3)
	default:
		m.pool = makePool(m.rand, t, m.size, 0)
	}
	m.addDictionary()
	return m
}

func boxed[T any](v []T) []any {
	values := make([]any, len(v))
	for i, x := range v {
		values[i] = x
	}
	return values
}

func (m *columnMaker) addDictionary() {
	if m.typ.Kind.IsText() {
		m.dict = dictionaryOf(append(append([]any(nil), m.pool...), m.pool...))
	}
}

func dictionaryOf(entries []any) *column.Dictionary {
	data := []byte("...") // the first entry need not begin at 0
	offsets := []int32{3}
	for _, s := range entries {
		data = append(data, referenceBytes(s)...)
		offsets = append(offsets, int32(len(data)))
	}
	return column.NewDictionary(data, offsets)
}

// column returns a column for rows of these groups; it is sometimes a slice of a longer one.
func (m *columnMaker) column(c chooser, groups []int) column.Column {
	n, cut := len(groups), 0
	if n > 0 && c.n(4) == 0 {
		cut = 1 + c.n(30)
		groups = append(make([]int, cut), groups...)
	}
	at := make([]int, len(groups))
	for i, g := range groups {
		if m.stride == 0 {
			at[i] = m.rand.IntN(m.size)
		} else {
			at[i] = g * m.stride % m.size
		}
	}
	var validity []byte
	if m.nulls > 0 {
		validity = make([]byte, (len(at)+7)/8+m.rand.IntN(10))
		for i := range validity {
			validity[i] = 0xff
		}
		for i := range at {
			if m.rand.IntN(100) < m.nulls {
				validity[i/8] &^= 1 << (i % 8)
			}
		}
	}
	col := m.take(c, at, validity).WithValidity(validity)
	return col.Slice(cut, cut+n)
}

func (m *columnMaker) take(c chooser, at []int, validity []byte) column.Column {
	col := column.Column{Type: m.typ, Len: len(at)}
	switch w := m.typ.ValueWidth(); {
	case w > 0:
		col.Values = bytesOf(make([]uint64, (w*len(at)+7)/8))[:w*len(at)]
		for i, x := range at {
			copy(col.Values[i*w:], referenceBytes(m.pool[x]))
		}
	case c.n(3) == 0:
		codes := make([]uint32, len(at))
		for i, x := range at {
			codes[i] = uint32(x + m.rand.IntN(2)*len(m.pool))
			if validity != nil && validity[i/8]>>(i%8)&1 == 0 && m.rand.IntN(2) == 0 {
				codes[i] = math.MaxUint32 // must not be read
			}
		}
		col.Values, col.Dict = bytesOf(codes), m.dict
	default:
		col.Values, col.Offsets = []byte("..."), []int32{3} // the first row need not begin at 0
		for _, x := range at {
			col.Values = append(col.Values, referenceBytes(m.pool[x])...)
			col.Offsets = append(col.Offsets, int32(len(col.Values)))
		}
	}
	return col
}

// makePool returns n values in one of four styles: dense from 0; dense with a few outliers; arbitrary; extremes among
// small values.
func makePool(r *rand.Rand, t column.Type, n, style int) []any {
	switch storedAs(t) {
	case column.Int8:
		return boxed(poolInts[int8](r, n, style))
	case column.Int16:
		return boxed(poolInts[int16](r, n, style))
	case column.Int32:
		return boxed(poolInts[int32](r, n, style))
	case column.Int64:
		return boxed(poolInts[int64](r, n, style))
	case column.Uint8:
		return boxed(poolInts[uint8](r, n, style))
	case column.Uint16:
		return boxed(poolInts[uint16](r, n, style))
	case column.Uint32:
		return boxed(poolInts[uint32](r, n, style))
	case column.Uint64:
		return boxed(poolInts[uint64](r, n, style))
	case column.Float16:
		s := make([]any, n)
		for i := range s {
			s[i] = float16(i)
			if style > 1 {
				s[i] = float16(r.Uint32())
			}
		}
		return s
	case column.Float32:
		bits := []uint32{0x7fc00000, 0xffc00001, 0x7f800001, 0x80000000, 0, 0x7f800000, 0xff800000, 1}
		s := make([]any, n)
		for i := range s {
			s[i] = float32(i)
			if style > 1 {
				s[i] = math.Float32frombits(r.Uint32())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float32frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case column.Float64:
		bits := []uint64{0x7ff8000000000000, 0xfff8000000000001, 0x7ff0000000000001, 1 << 63, 0, 0x7ff0000000000000, 0xfff0000000000000, 1}
		s := make([]any, n)
		for i := range s {
			s[i] = float64(i)
			if style > 1 {
				s[i] = math.Float64frombits(r.Uint64())
			}
			if style > 0 && r.IntN(10) == 0 {
				s[i] = math.Float64frombits(bits[r.IntN(len(bits))])
			}
		}
		return s
	case column.Bool:
		s := make([]any, n)
		for i := range s {
			s[i] = i&1 != 0
		}
		return s
	case column.UUID, column.Decimal128, column.Decimal256, column.Duration, column.Fixed:
		return poolWide(r, t, n, style)
	}
	s := make([]any, n)
	lengths := [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 14, 15, 16, 17, 33}
	length := lengths[r.IntN(len(lengths))]
	for i := range s {
		if style > 0 {
			length = lengths[r.IntN(len(lengths))]
			if r.IntN(50) == 0 {
				length = 300
			}
		}
		text := fmt.Sprint(strings.Repeat("/a", max(0, length-5)/2+1), i) // common prefix first
		text = text[max(0, len(text)-length):]
		if style == 3 {
			text = strings.ReplaceAll(text, "1", "\x00")
		}
		s[i] = text
		if t.Kind == column.Varint {
			s[i] = varint(trimVarint(text)) // shortest form: other forms of a number would be other groups
		}
	}
	return s
}

// poolWide returns values of fixed-width kinds that are not integers.
func poolWide(r *rand.Rand, t column.Type, n, style int) []any {
	s := make([]any, n)
	for i := range s {
		b := bytesOf(make([]uint64, 8))
		if style > 1 {
			for k := range b {
				b[k] = byte(r.Uint32())
			}
		}
		last := t.ValueWidth() - 1
		b[last], b[max(0, last-1)], b[last/2] = byte(i), byte(i>>8), byte(i>>(style*4))
		s[i] = referenceScalar(t.Kind, b[:last+1])
	}
	return s
}

func poolInts[T signed | unsigned](r *rand.Rand, n, style int) []T {
	least, greatest := bounds[T]()
	extremes := []T{least, greatest, least + 1, greatest - 1, 0, 1, greatest / 2}
	base := T(0)
	if r.IntN(3) == 0 {
		base = T(r.Uint64())
	}
	s := make([]T, n)
	for i := range s {
		s[i] = base + T(i)
		switch style {
		case 0:
			s[i] = T(i)
		case 1:
			if r.IntN(500) == 0 {
				s[i] = T(r.Uint64())
			}
		case 2:
			s[i] = T(r.Uint64())
		case 3:
			if r.IntN(3) == 0 {
				s[i] = extremes[r.IntN(len(extremes))]
			}
		}
	}
	return s
}

func valueFloats[T float](r *rand.Rand, n int, wild bool) []T {
	s := make([]T, n)
	specials := []T{T(math.NaN()), T(math.Inf(1)), T(math.Inf(-1)), T(math.Copysign(0, -1))}
	some := wild && r.IntN(2) == 0
	for i := range s {
		s[i] = T(r.IntN(16000)-8000) / 8 // any sum of these is exact
		if wild {
			s[i] = T(math.Pow(10, 30*r.Float64()-15)) // all positive: no cancellation
		}
		if some && r.IntN(10) == 0 {
			s[i] = specials[r.IntN(len(specials))]
		}
	}
	return s
}
