// SPDX-License-Identifier: Apache-2.0

// Package arrowtest makes random columns for tests, and converts the values of columns and of Arrow's arrays to one
// form, so that tests can compare input and output.
//
// A value is nil for NULL, a bool, an int64, a uint64 (also the bits of floats, so that NaN equals itself), a string
// for text, bytes and decimals, and a []any for vectors, lists, structs and maps, whose entries are a []any of key and
// value.
package arrowtest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/vecql/vecql/column"
)

// Random fields, values and columns.

// A Generator makes random schemas and columns.
type Generator struct {
	Rand *rand.Rand
	Dim  int // of all vectors
}

// Scalars returns a field of every kind without children, with every unit and storage.
func Scalars(nullable bool) []column.Field {
	var fields []column.Field
	add := func(t column.Type) {
		fields = append(fields, column.Field{Name: fmt.Sprint(t), Type: t, Nullable: nullable})
	}
	for _, k := range []column.Kind{
		column.Bool, column.Int8, column.Int16, column.Int32, column.Int64, column.Uint8, column.Uint16,
		column.Uint32, column.Uint64, column.Float16, column.Float32, column.Float64, column.Date,
		column.String, column.Binary, column.UUID,
	} {
		add(column.Type{Kind: k})
	}
	for _, u := range []column.Unit{column.Millis, column.Micros, column.Nanos} {
		for _, utc := range []bool{false, true} {
			add(column.Type{Kind: column.Time, Unit: u, UTC: utc})
			add(column.Type{Kind: column.Timestamp, Unit: u, UTC: utc})
		}
	}
	for _, t := range []column.Type{
		{Kind: column.Decimal64, Precision: 1},
		{Kind: column.Decimal64, Precision: 9, Scale: 9},
		{Kind: column.Decimal64, Precision: 10, Scale: 2},
		{Kind: column.Decimal64, Precision: 18, Scale: 6},
		{Kind: column.Decimal128, Precision: 2},
		{Kind: column.Decimal128, Precision: 19, Scale: 4},
		{Kind: column.Decimal128, Precision: 38, Scale: 38},
		{Kind: column.Decimal256, Precision: 7, Scale: 1},
		{Kind: column.Decimal256, Precision: 39},
		{Kind: column.Decimal256, Precision: 76, Scale: 20},
	} {
		add(t)
	}
	add(column.Type{Kind: column.Fixed, Width: 1})
	add(column.Type{Kind: column.Fixed, Width: 7})
	add(column.Type{Kind: column.Vector, Elem: column.Float32})
	add(column.Type{Kind: column.Vector, Elem: column.Float64})
	return fields
}

// Fields returns n random fields, nested up to depth deep.
func (g *Generator) Fields(n, depth int) []column.Field {
	fields := make([]column.Field, n)
	for i := range fields {
		fields[i] = g.field(fmt.Sprintf("c%d", i), depth)
	}
	return fields
}

// field returns a random field with at most depth levels of nesting. Keys of maps are neither NULL nor nested.
func (g *Generator) field(name string, depth int) column.Field {
	nullable := g.Rand.IntN(3) > 0
	if depth == 0 || g.Rand.IntN(4) == 0 {
		scalars := Scalars(nullable)
		f := scalars[g.Rand.IntN(len(scalars))]
		f.Name = name
		return f
	}
	f := column.Field{Name: name, Nullable: nullable}
	switch g.Rand.IntN(3) {
	case 0:
		f.Type.Kind, f.Fields = column.List, []column.Field{g.field("element", depth-1)}
	case 1:
		f.Type.Kind = column.Struct
		for i := range 1 + g.Rand.IntN(3) {
			f.Fields = append(f.Fields, g.field(fmt.Sprintf("f%d", i), depth-1))
		}
	default:
		f.Type.Kind, f.Fields = column.Map, []column.Field{g.field("key", 0), g.field("value", depth-1)}
		f.Fields[0].Nullable = false
		if f.Fields[0].Type.Kind == column.Vector {
			f.Fields[0].Type = column.Type{Kind: column.String}
		}
	}
	return f
}

// Values returns n values of a field, some of them NULL if it is nullable.
func (g *Generator) Values(f column.Field, n int) []any {
	nulls := 0
	if f.Nullable {
		nulls = [...]int{0, 10, 50, 100}[min(3, g.Rand.IntN(13)/4)]
	}
	few := g.Rand.IntN(3) == 0 // makes a dictionary worthwhile
	out := make([]any, n)
	for i := range out {
		switch {
		case g.Rand.IntN(100) < nulls:
		case few && i > 3:
			out[i] = out[g.Rand.IntN(3)]
			if out[i] == nil && !f.Nullable {
				out[i] = g.value(f)
			}
		default:
			out[i] = g.value(f)
		}
	}
	return out
}

// value returns a random value of a field that is not NULL, in the form of OfColumn. One in eight is at the edge of its
// range.
func (g *Generator) value(f column.Field) any {
	r := g.Rand
	extreme := r.IntN(8) == 0
	signed := func(bits int) any {
		if extreme {
			return [...]int64{-1 << (bits - 1), 1<<(bits-1) - 1, 0, -1}[r.IntN(4)]
		}
		return int64(r.Uint64()) >> (64 - bits) >> r.IntN(bits)
	}
	unsigned := func(bits int) any {
		if extreme {
			return [...]uint64{0, math.MaxUint64 >> (64 - bits)}[r.IntN(2)]
		}
		return r.Uint64() >> (64 - bits) >> r.IntN(bits)
	}
	t := f.Type
	switch t.Kind {
	case column.Bool:
		return r.IntN(2) == 0
	case column.Int8:
		return signed(8)
	case column.Int16:
		return signed(16)
	case column.Int32, column.Date:
		return signed(32)
	case column.Int64, column.Timestamp:
		return signed(64)
	case column.Uint8:
		return unsigned(8)
	case column.Uint16, column.Float16:
		return unsigned(16)
	case column.Uint32:
		return unsigned(32)
	case column.Uint64:
		return unsigned(64)
	case column.Float32:
		if extreme {
			return [...]uint64{0x7fc00000, 0xff800000, 1 << 31, 0}[r.IntN(4)] // NaN, -Inf, -0, 0
		}
		return uint64(math.Float32bits(float32(r.NormFloat64())))
	case column.Float64:
		if extreme {
			return math.Float64bits([...]float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(4)])
		}
		return math.Float64bits(r.NormFloat64())
	case column.Time:
		day := int64(86_400_000)
		for u := column.Millis; u < t.Unit; u++ {
			day *= 1000
		}
		return r.Int64N(day)
	case column.Decimal64, column.Decimal128, column.Decimal256:
		return g.decimal(t.Precision, extreme)
	case column.String, column.Binary:
		if extreme {
			return [...]string{"", "\x00", "\xff\xff", strings.Repeat("x", 5000)}[r.IntN(4)]
		}
		return strings.Repeat("é", r.IntN(12)) + fmt.Sprint(r.IntN(1000))
	case column.UUID:
		return g.bytes(16)
	case column.Fixed:
		return g.bytes(t.Width)
	case column.Vector:
		return g.values(column.Field{Type: column.Type{Kind: t.Elem}}, g.Dim)
	case column.List:
		return g.values(f.Fields[0], g.length())
	case column.Map:
		n := g.length()
		keys, values := g.values(f.Fields[0], n), g.values(f.Fields[1], n)
		for i := range keys {
			keys[i] = []any{keys[i], values[i]}
		}
		return keys
	case column.Struct:
		out := make([]any, len(f.Fields))
		for i := range out {
			out[i] = g.values(f.Fields[i], 1)[0]
		}
		return out
	}
	panic(fmt.Sprintf("cannot generate values of %v", f))
}

func (g *Generator) values(f column.Field, n int) []any {
	out := make([]any, n)
	for i := range out {
		if !f.Nullable || g.Rand.IntN(4) > 0 {
			out[i] = g.value(f)
		}
	}
	return out
}

func (g *Generator) length() int {
	if g.Rand.IntN(3) == 0 {
		return 0
	}
	return g.Rand.IntN(5)
}

// decimal returns a random integer of up to precision digits as text; an extreme one has only nines.
func (g *Generator) decimal(precision int, extreme bool) string {
	x := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	if extreme {
		x.Sub(x, big.NewInt(1))
	} else {
		digits := make([]byte, 1+g.Rand.IntN(precision))
		for i := range digits {
			digits[i] = byte('0' + g.Rand.IntN(10))
		}
		x.SetString(string(digits), 10)
	}
	if g.Rand.IntN(2) == 0 {
		x.Neg(x)
	}
	return x.String()
}

func (g *Generator) bytes(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(g.Rand.Uint32())
	}
	return string(b)
}

// Column returns a column of values, in a random form of the kind. The memory of NULLs is random.
func (g *Generator) Column(f column.Field, values []any) column.Column {
	filled := make([]any, len(values))
	for i, v := range values {
		if filled[i] = v; v == nil {
			filled[i] = g.value(f)
		}
	}
	c := g.column(f, filled, values)
	if want := f.Type; c.Type != want && want.Kind != column.Vector {
		var err error
		if c, err = c.WithType(want); err != nil {
			panic(err)
		}
	}
	return c.WithValidity(g.validity(values))
}

// validity returns the bits of values, with random bits after them; nil, or all ones, if no value is NULL.
func (g *Generator) validity(values []any) []byte {
	validity, nulls := make([]byte, (len(values)+7)/8+g.Rand.IntN(3)), false
	for i := range validity {
		validity[i] = byte(g.Rand.Uint32())
	}
	for i, v := range values {
		validity[i/8] |= 1 << (i % 8)
		if v == nil {
			nulls = true
			validity[i/8] &^= 1 << (i % 8)
		}
	}
	if !nulls && g.Rand.IntN(2) == 0 {
		return nil
	}
	return validity
}

// convert returns the values as a slice, each converted by a function.
func convert[F, T any](values []any, to func(F) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = to(v.(F))
	}
	return out
}

// column returns the column of values v. Rows that are nil in original are NULL and have any value in v.
func (g *Generator) column(f column.Field, v, original []any) column.Column {
	name, t := f.Name, f.Type
	switch t.Kind {
	case column.Bool:
		return column.Of(name, convert(v, func(x bool) bool { return x }))
	case column.Int8:
		return column.Of(name, convert(v, func(x int64) int8 { return int8(x) }))
	case column.Int16:
		return column.Of(name, convert(v, func(x int64) int16 { return int16(x) }))
	case column.Int32, column.Date:
		return column.Of(name, convert(v, func(x int64) int32 { return int32(x) }))
	case column.Int64, column.Time, column.Timestamp:
		return column.Of(name, convert(v, func(x int64) int64 { return x }))
	case column.Uint8:
		return column.Of(name, convert(v, func(x uint64) uint8 { return uint8(x) }))
	case column.Uint16, column.Float16:
		return column.Of(name, convert(v, func(x uint64) uint16 { return uint16(x) }))
	case column.Uint32:
		return column.Of(name, convert(v, func(x uint64) uint32 { return uint32(x) }))
	case column.Uint64:
		return column.Of(name, convert(v, func(x uint64) uint64 { return x }))
	case column.Float32:
		return column.Of(name, convert(v, func(x uint64) float32 { return math.Float32frombits(uint32(x)) }))
	case column.Float64:
		return column.Of(name, convert(v, math.Float64frombits))
	case column.Decimal64:
		return column.Of(name, convert(v, func(x string) int64 { return int64(words(x)[0]) }))
	case column.Decimal128:
		return column.Of(name, convert(v, func(x string) column.Int128 {
			w := words(x)
			return column.Int128{Lo: w[0], Hi: int64(w[1])}
		}))
	case column.Decimal256:
		return column.Of(name, convert(v, words))
	case column.String, column.Binary:
		return g.text(name, v, original)
	case column.UUID:
		return column.Of(name, convert(v, func(x string) [16]byte { return [16]byte([]byte(x)) }))
	case column.Fixed:
		return column.FixedBytes(name, []byte(strings.Join(convert(v, func(x string) string { return x }), "")), t.Width)
	case column.Vector:
		var all []any
		for _, v := range v {
			all = append(all, v.([]any)...)
		}
		if t.Elem == column.Float32 {
			return column.Matrix(name, convert(all, func(x uint64) float32 { return math.Float32frombits(uint32(x)) }), g.Dim)
		}
		return column.Matrix(name, convert(all, math.Float64frombits), g.Dim)
	case column.Struct:
		fields := make([]column.Column, len(f.Fields))
		for i := range fields {
			fields[i] = g.Column(f.Fields[i], convert(v, func(x []any) any { return x[i] }))
		}
		return column.Structs(name, fields...)
	case column.List, column.Map:
		var all []any
		if g.Rand.IntN(3) == 0 { // the first row need not begin at 0
			all = append(all, g.value(f).([]any)...)
		}
		offsets := []int32{int32(len(all))}
		for _, v := range v {
			all = append(all, v.([]any)...)
			offsets = append(offsets, int32(len(all)))
		}
		if t.Kind == column.List {
			return column.Lists(name, offsets, g.Column(f.Fields[0], all))
		}
		of := func(k int) column.Column {
			return g.Column(f.Fields[k], convert(all, func(x []any) any { return x[k] }))
		}
		return column.Maps(name, offsets, of(0), of(1))
	}
	panic(fmt.Sprintf("no columns of %v", f))
}

// text returns a column of texts with random storage: from 0, from a later offset, or as codes of a dictionary with
// unused and repeated entries.
func (g *Generator) text(name string, v, original []any) column.Column {
	s := convert(v, func(x string) string { return x })
	switch g.Rand.IntN(3) {
	case 0:
		return column.Strings(name, s)
	case 1:
		data, offsets := []byte("..."), []int32{3}
		for _, s := range s {
			data = append(data, s...)
			offsets = append(offsets, int32(len(data)))
		}
		return column.StringBuffers(name, data, offsets)
	}
	data, offsets, codes := []byte("not used"), []int32{0, 8}, make([]uint32, len(s))
	at := map[string]uint32{}
	for i, s := range s {
		code, ok := at[s]
		if !ok || g.Rand.IntN(5) == 0 { // a value may occur twice
			code = uint32(len(offsets) - 1)
			data = append(data, s...)
			offsets = append(offsets, int32(len(data)))
			at[s] = code
		}
		if codes[i] = code; original[i] == nil {
			codes[i] = math.MaxUint32
		}
	}
	return column.Codes(name, codes, column.NewDictionary(data, offsets))
}

// words returns a number as two's complement.
func words(x string) (w column.Int256) {
	n, ok := new(big.Int).SetString(x, 10)
	if !ok {
		panic("no number: " + x)
	}
	if n.Sign() < 0 {
		n.Add(n, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	for i := range w {
		w[i] = new(big.Int).Rsh(n, uint(64*i)).Uint64()
	}
	return w
}
