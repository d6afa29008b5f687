// SPDX-License-Identifier: Apache-2.0

// Package columntest generates random columns of every kind for tests.
package columntest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Types returns at least one type of every kind without children, several where parameters change the meaning.
func Types() []column.Type {
	var types []column.Type
	for k := column.Bool; k <= column.Float64; k++ {
		types = append(types, column.Type{Kind: k})
	}
	for _, u := range []column.Unit{column.Millis, column.Micros, column.Nanos} {
		types = append(types, column.Type{Kind: column.Time, Unit: u}, column.Type{Kind: column.Timestamp, Unit: u},
			column.Type{Kind: column.Timestamp, Unit: u, UTC: true})
	}
	for _, k := range []column.Kind{
		column.Date, column.Duration, column.UUID, column.String, column.Binary, column.Inet,
		column.Varint, column.Decimal,
	} {
		types = append(types, column.Type{Kind: k})
	}
	types = append(types,
		column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2},
		column.Type{Kind: column.Decimal64, Precision: 18, Scale: 0},
		column.Type{Kind: column.Decimal128, Precision: 38, Scale: 10},
		column.Type{Kind: column.Decimal256, Precision: 76, Scale: 4},
		column.Type{Kind: column.Fixed, Width: 5}, column.Type{Kind: column.Fixed, Width: 16})
	for _, elem := range []column.Kind{column.Float32, column.Float64, column.Int32, column.Int64, column.UUID} {
		types = append(types, column.VectorOf(elem, 3))
	}
	return types
}

// Fields returns a field of every type of [Types] and of every nested kind with children of several types. All names
// are distinct.
func Fields() []column.Field {
	var fields []column.Field
	for i, t := range Types() {
		fields = append(fields, column.Field{Name: fmt.Sprintf("c%d_%v", i, t.Kind), Type: t, Nullable: true})
	}
	child := func(name string, t column.Type) column.Field {
		return column.Field{Name: name, Type: t, Nullable: name != column.KeyName}
	}
	list := func(name string, element column.Field) column.Field {
		element.Name = column.ElementName
		return column.Field{Name: name, Type: column.Type{Kind: column.List}, Nullable: true, Fields: []column.Field{element}}
	}
	kind := func(k column.Kind) column.Type { return column.Type{Kind: k} }
	mapOf := func(name string, key, value column.Type) column.Field {
		return column.Field{
			Name: name, Type: kind(column.Map), Nullable: true,
			Fields: []column.Field{child(column.KeyName, key), child(column.ValueName, value)},
		}
	}
	structOf := func(name string, k column.Kind, types ...column.Type) column.Field {
		f := column.Field{Name: name, Type: kind(k), Nullable: true}
		for i, t := range types {
			n := fmt.Sprint(i)
			if k == column.Struct {
				n = string(rune('a' + i))
			}
			f.Fields = append(f.Fields, child(n, t))
		}
		return f
	}
	inner := structOf("inner", column.Struct, kind(column.Int32), kind(column.String))
	return append(fields,
		list("list_int", child("", kind(column.Int32))), list("list_text", child("", kind(column.String))),
		list("list_list", list("", child("", kind(column.Float64)))), list("list_struct", inner),
		mapOf("map_text_int", kind(column.String), kind(column.Int64)),
		mapOf("map_uuid_text", kind(column.UUID), kind(column.String)),
		structOf("struct", column.Struct, kind(column.Bool), kind(column.Float32), kind(column.Inet),
			column.VectorOf(column.Float32, 2)),
		structOf("tuple", column.Tuple, kind(column.Int64), kind(column.String), kind(column.Varint)))
}

// Column returns a random column of n rows of a field. If the field is nullable, a share nulls of the rows is NULL.
// Text and lists are sometimes empty; numbers are often extreme.
func Column(r *rand.Rand, f column.Field, n int, nulls float64) column.Column {
	c := column.Column{Name: f.Name, Type: f.Type, Len: n}
	switch kind := f.Type.Kind; {
	case kind == column.Struct || kind == column.Tuple:
		for _, child := range f.Fields {
			c.Children = append(c.Children, Column(r, child, n, nulls))
		}
	case kind == column.Map:
		c.Offsets, c.Children = mapped(r, f.Fields[0], n)
		c.Children = append(c.Children, Column(r, f.Fields[1], c.Children[0].Len, nulls))
	case kind.IsList():
		c.Offsets = make([]int32, 1, n+1)
		total := 0
		for range n {
			total += r.IntN(4)
			c.Offsets = append(c.Offsets, int32(total))
		}
		for _, child := range f.Fields {
			c.Children = append(c.Children, Column(r, child, total, nulls))
		}
	case kind.IsText():
		c.Offsets = make([]int32, 1, n+1)
		for range n {
			c.Values = append(c.Values, text(r, kind)...)
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
		}
	default:
		c.Values = fixed(r, f.Type, n)
	}
	if !f.Nullable || nulls == 0 {
		return c
	}
	null := make([]bool, n)
	for i := range null {
		null[i] = r.Float64() < nulls
	}
	return c.WithNulls(null)
}

// mapped returns the offsets of n maps of up to 3 entries, and their keys, which are unique within a map.
func mapped(r *rand.Rand, key column.Field, n int) (offsets []int32, keys []column.Column) {
	all := Column(r, key, 3*n, 0)
	offsets = make([]int32, 1, n+1)
	at := 0
	for range n {
		seen := map[string]bool{}
		for most := r.IntN(4); len(seen) < most && !seen[fmt.Sprint(all.Value(at))]; at++ {
			seen[fmt.Sprint(all.Value(at))] = true
		}
		offsets = append(offsets, int32(at))
	}
	return offsets, []column.Column{all.Slice(0, at)}
}

// Batch returns a random batch with these fields; see [Column].
func Batch(r *rand.Rand, fields []column.Field, n int, nulls float64) *column.Batch {
	b := &column.Batch{Rows: n}
	for _, f := range fields {
		b.Columns = append(b.Columns, Column(r, f, n, nulls))
	}
	return b
}

// WithDictionary returns a text column as codes into a dictionary of its distinct values.
func WithDictionary(c column.Column) column.Column {
	text, err := c.Text()
	if err != nil {
		panic(err)
	}
	codes, seen := make([]uint32, c.Len), map[string]uint32{}
	var bytes []byte
	offsets := []int32{0}
	for i := range codes {
		s := text.String(i)
		code, ok := seen[s]
		if !ok {
			code = uint32(len(seen))
			seen[s] = code
			bytes = append(bytes, s...)
			offsets = append(offsets, int32(len(bytes)))
		}
		codes[i] = code
	}
	coded := column.Codes(c.Name, codes, column.NewDictionary(bytes, offsets))
	coded.Type, coded.Nulls, coded.Validity = c.Type, c.Nulls, c.Validity
	return coded
}

// text returns a random value of a kind of text: addresses have 4 or 16 bytes, numbers are varints.
func text(r *rand.Rand, kind column.Kind) []byte {
	switch kind {
	case column.Inet:
		b := make([]byte, 4+12*r.IntN(2))
		return fill(r, b)
	case column.Varint:
		return varint(r)
	case column.Decimal:
		return append(binary.BigEndian.AppendUint32(nil, uint32(r.IntN(40)-10)), varint(r)...)
	case column.String:
		words := []string{"", "a", "lamp", "Stuhl", "日本語", "a longer text with some words in it"}
		return []byte(words[r.IntN(len(words))])
	}
	return fill(r, make([]byte, r.IntN(12)))
}

// varint returns a random integer of up to 12 bytes in its shortest form.
func varint(r *rand.Rand) []byte {
	b := fill(r, make([]byte, 1+r.IntN(12)))
	for len(b) > 1 && (b[0] == 0 && b[1]&0x80 == 0 || b[0] == 0xff && b[1]&0x80 != 0) {
		b = b[1:]
	}
	return b
}

func fill(r *rand.Rand, b []byte) []byte {
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// fixed returns the values of n rows of a fixed kind, in the range of the type.
func fixed(r *rand.Rand, t column.Type, n int) []byte {
	words := make([]uint64, (n*t.ValueWidth()+7)/8+1)
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), 8*len(words))[:n*t.ValueWidth()]
	fill(r, b)
	for i := range n {
		limitValue(r, t, b[i*t.ValueWidth():(i+1)*t.ValueWidth()])
	}
	return b
}

// limitValue maps random bytes to the range of a type and makes some values extreme.
func limitValue(r *rand.Rand, t column.Type, v []byte) {
	order := binary.NativeEndian
	switch t.Kind {
	case column.Bool:
		v[0] &= 1
	case column.Float32:
		specials := []float32{0, float32(math.Copysign(0, -1)), math.MaxFloat32, float32(math.Inf(1)), r.Float32()}
		order.PutUint32(v, math.Float32bits(specials[r.IntN(len(specials))]))
	case column.Float64:
		specials := []float64{0, math.Copysign(0, -1), math.MaxFloat64, math.Inf(-1), r.Float64()}
		order.PutUint64(v, math.Float64bits(specials[r.IntN(len(specials))]))
	case column.Float16:
		order.PutUint16(v, uint16(r.IntN(0x7c00)))
	case column.Int64:
		specials := []int64{0, -1, math.MinInt64, math.MaxInt64, r.Int64()}
		order.PutUint64(v, uint64(specials[r.IntN(len(specials))]))
	case column.Date:
		order.PutUint32(v, uint32(int32(r.IntN(40000)-10000)))
	case column.Time:
		order.PutUint64(v, uint64(r.Int64N(86400*t.Unit.PerSecond())))
	case column.Timestamp:
		order.PutUint64(v, uint64(r.Int64N(4e9*t.Unit.PerSecond())-1e9*t.Unit.PerSecond()))
	case column.Duration:
		sign := int64(1 - 2*r.IntN(2)) // all parts of a duration have one sign
		order.PutUint32(v, uint32(int32(sign*r.Int64N(1000))))
		order.PutUint32(v[4:], uint32(int32(sign*r.Int64N(1000))))
		order.PutUint64(v[8:], uint64(sign*r.Int64N(1e15)))
	case column.Decimal64:
		order.PutUint64(v, uint64(r.Int64N(2e8)-1e8))
	case column.Decimal128:
		order.PutUint64(v, r.Uint64())
		order.PutUint64(v[8:], uint64(r.Int64N(2e18)-1e18))
	case column.Decimal256:
		order.PutUint64(v[24:], uint64(r.Int64N(2e17)-1e17))
	case column.Vector:
		if t.Elem == column.Float32 || t.Elem == column.Float64 {
			w := len(v) / t.Dim
			for i := range t.Dim {
				limitValue(r, column.Type{Kind: t.Elem}, v[i*w:(i+1)*w])
			}
		}
	}
}
