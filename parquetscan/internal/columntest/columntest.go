// SPDX-License-Identifier: Apache-2.0

// Package columntest makes random columns for tests, and tells the values of columns and of Arrow's arrays in one form, so that what went
// in can be compared with what came out.
//
// A value is nil for NULL, a bool, an int64, a uint64 (also the bits of floats, so that NaN equals itself), a string for text, bytes and
// decimals, and a []any for vectors, lists, structs and maps, whose entries are a []any of key and value.
package columntest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"

	"github.com/vecql/vecql/parquetscan"
)

// This file makes fields, values and columns.

// A Generator makes random schemas and columns.
type Generator struct {
	Rand *rand.Rand
	Dim  int // of all vectors
}

// Scalars returns a field of every kind without children, and of every unit and storage that kinds have.
func Scalars(nullable bool) []parquetscan.Field {
	var fields []parquetscan.Field
	add := func(t parquetscan.Type) {
		fields = append(fields, parquetscan.Field{Name: fmt.Sprint(t), Type: t, Nullable: nullable})
	}
	for _, k := range []parquetscan.Kind{
		parquetscan.Bool, parquetscan.Int8, parquetscan.Int16, parquetscan.Int32, parquetscan.Int64, parquetscan.Uint8, parquetscan.Uint16,
		parquetscan.Uint32, parquetscan.Uint64, parquetscan.Float16, parquetscan.Float32, parquetscan.Float64, parquetscan.Date,
		parquetscan.String, parquetscan.Binary, parquetscan.ID,
	} {
		add(parquetscan.Type{Kind: k})
	}
	for _, u := range []parquetscan.Unit{parquetscan.Millis, parquetscan.Micros, parquetscan.Nanos} {
		for _, utc := range []bool{false, true} {
			add(parquetscan.Type{Kind: parquetscan.Time, Unit: u, UTC: utc})
			add(parquetscan.Type{Kind: parquetscan.Timestamp, Unit: u, UTC: utc})
		}
	}
	for _, t := range []parquetscan.Type{
		{Kind: parquetscan.Decimal64, Precision: 1},
		{Kind: parquetscan.Decimal64, Precision: 9, Scale: 9},
		{Kind: parquetscan.Decimal64, Precision: 10, Scale: 2},
		{Kind: parquetscan.Decimal64, Precision: 18, Scale: 6},
		{Kind: parquetscan.Decimal128, Precision: 2},
		{Kind: parquetscan.Decimal128, Precision: 19, Scale: 4},
		{Kind: parquetscan.Decimal128, Precision: 38, Scale: 38},
		{Kind: parquetscan.Decimal256, Precision: 7, Scale: 1},
		{Kind: parquetscan.Decimal256, Precision: 39},
		{Kind: parquetscan.Decimal256, Precision: 76, Scale: 20},
	} {
		add(t)
	}
	add(parquetscan.Type{Kind: parquetscan.Fixed, Width: 1})
	add(parquetscan.Type{Kind: parquetscan.Fixed, Width: 7})
	add(parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float32})
	add(parquetscan.Type{Kind: parquetscan.Vector, Elem: parquetscan.Float64})
	return fields
}

// Fields returns n random fields, nested up to depth deep.
func (g *Generator) Fields(n, depth int) []parquetscan.Field {
	fields := make([]parquetscan.Field, n)
	for i := range fields {
		fields[i] = g.field(fmt.Sprintf("c%d", i), depth)
	}
	return fields
}

func (g *Generator) field(name string, depth int) parquetscan.Field {
	nullable := g.Rand.IntN(3) > 0
	if depth == 0 || g.Rand.IntN(4) == 0 {
		scalars := Scalars(nullable)
		f := scalars[g.Rand.IntN(len(scalars))]
		f.Name = name
		return f
	}
	f := parquetscan.Field{Name: name, Nullable: nullable}
	switch g.Rand.IntN(3) {
	case 0:
		f.Type.Kind, f.Fields = parquetscan.List, []parquetscan.Field{g.field("element", depth-1)}
	case 1:
		f.Type.Kind = parquetscan.Struct
		for i := range 1 + g.Rand.IntN(3) {
			f.Fields = append(f.Fields, g.field(fmt.Sprintf("f%d", i), depth-1))
		}
	default:
		f.Type.Kind, f.Fields = parquetscan.Map, []parquetscan.Field{g.field("key", 0), g.field("value", depth-1)}
		f.Fields[0].Nullable = false
		if f.Fields[0].Type.Kind == parquetscan.Vector {
			f.Fields[0].Type = parquetscan.Type{Kind: parquetscan.String}
		}
	}
	return f
}

// Values returns n values of a field, some of them NULL if they can be.
func (g *Generator) Values(f parquetscan.Field, n int) []any {
	nulls := 0
	if f.Nullable {
		nulls = [...]int{0, 10, 50, 100}[min(3, g.Rand.IntN(13)/4)]
	}
	few := g.Rand.IntN(3) == 0 // so that there is something to gain from a dictionary
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

func (g *Generator) value(f parquetscan.Field) any {
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
	case parquetscan.Bool:
		return r.IntN(2) == 0
	case parquetscan.Int8:
		return signed(8)
	case parquetscan.Int16:
		return signed(16)
	case parquetscan.Int32, parquetscan.Date:
		return signed(32)
	case parquetscan.Int64, parquetscan.Timestamp:
		return signed(64)
	case parquetscan.Uint8:
		return unsigned(8)
	case parquetscan.Uint16, parquetscan.Float16:
		return unsigned(16)
	case parquetscan.Uint32:
		return unsigned(32)
	case parquetscan.Uint64:
		return unsigned(64)
	case parquetscan.Float32:
		if extreme {
			return [...]uint64{0x7fc00000, 0xff800000, 1 << 31, 0}[r.IntN(4)] // NaN, -Inf, -0, 0
		}
		return uint64(math.Float32bits(float32(r.NormFloat64())))
	case parquetscan.Float64:
		if extreme {
			return math.Float64bits([...]float64{math.NaN(), math.Inf(-1), math.Copysign(0, -1), 0}[r.IntN(4)])
		}
		return math.Float64bits(r.NormFloat64())
	case parquetscan.Time:
		day := int64(86_400_000)
		for u := parquetscan.Millis; u < t.Unit; u++ {
			day *= 1000
		}
		return r.Int64N(day)
	case parquetscan.Decimal64, parquetscan.Decimal128, parquetscan.Decimal256:
		return g.decimal(t.Precision, extreme)
	case parquetscan.String, parquetscan.Binary:
		if extreme {
			return [...]string{"", "\x00", "\xff\xff", strings.Repeat("x", 5000)}[r.IntN(4)]
		}
		return strings.Repeat("é", r.IntN(12)) + fmt.Sprint(r.IntN(1000))
	case parquetscan.ID:
		return g.bytes(16)
	case parquetscan.Fixed:
		return g.bytes(t.Width)
	case parquetscan.Vector:
		return g.values(parquetscan.Field{Type: parquetscan.Type{Kind: t.Elem}}, g.Dim)
	case parquetscan.List:
		return g.values(f.Fields[0], g.length())
	case parquetscan.Map:
		n := g.length()
		keys, values := g.values(f.Fields[0], n), g.values(f.Fields[1], n)
		for i := range keys {
			keys[i] = []any{keys[i], values[i]}
		}
		return keys
	case parquetscan.Struct:
		out := make([]any, len(f.Fields))
		for i := range out {
			out[i] = g.values(f.Fields[i], 1)[0]
		}
		return out
	}
	panic(fmt.Sprintf("no values of %v", f))
}

func (g *Generator) values(f parquetscan.Field, n int) []any {
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

// Column returns a column of these values, in one of the forms that the kind has. In the place of NULLs lies anything.
func (g *Generator) Column(f parquetscan.Field, values []any) parquetscan.Column {
	filled := make([]any, len(values))
	for i, v := range values {
		if filled[i] = v; v == nil {
			filled[i] = g.value(f)
		}
	}
	c := g.column(f, filled, values)
	if want := f.Type; c.Type != want {
		var err error
		if c, err = c.As(want); err != nil {
			panic(err)
		}
	}
	return c.WithValidity(g.validity(values))
}

// validity returns the bits of values, with more after them; nil, or all ones, if nothing is NULL.
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

// convert returns the values as a slice, each through a function.
func convert[F, T any](values []any, to func(F) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = to(v.(F))
	}
	return out
}

func (g *Generator) column(f parquetscan.Field, v, original []any) parquetscan.Column {
	name, t := f.Name, f.Type
	switch t.Kind {
	case parquetscan.Bool:
		return parquetscan.NewColumn(name, convert(v, func(x bool) bool { return x }))
	case parquetscan.Int8:
		return parquetscan.NewColumn(name, convert(v, func(x int64) int8 { return int8(x) }))
	case parquetscan.Int16:
		return parquetscan.NewColumn(name, convert(v, func(x int64) int16 { return int16(x) }))
	case parquetscan.Int32, parquetscan.Date:
		return parquetscan.NewColumn(name, convert(v, func(x int64) int32 { return int32(x) }))
	case parquetscan.Int64, parquetscan.Time, parquetscan.Timestamp:
		return parquetscan.NewColumn(name, convert(v, func(x int64) int64 { return x }))
	case parquetscan.Uint8:
		return parquetscan.NewColumn(name, convert(v, func(x uint64) uint8 { return uint8(x) }))
	case parquetscan.Uint16, parquetscan.Float16:
		return parquetscan.NewColumn(name, convert(v, func(x uint64) uint16 { return uint16(x) }))
	case parquetscan.Uint32:
		return parquetscan.NewColumn(name, convert(v, func(x uint64) uint32 { return uint32(x) }))
	case parquetscan.Uint64:
		return parquetscan.NewColumn(name, convert(v, func(x uint64) uint64 { return x }))
	case parquetscan.Float32:
		return parquetscan.NewColumn(name, convert(v, func(x uint64) float32 { return math.Float32frombits(uint32(x)) }))
	case parquetscan.Float64:
		return parquetscan.NewColumn(name, convert(v, math.Float64frombits))
	case parquetscan.Decimal64:
		return parquetscan.NewColumn(name, convert(v, func(x string) int64 { return int64(words(x)[0]) }))
	case parquetscan.Decimal128:
		return parquetscan.NewColumn(name, convert(v, func(x string) parquetscan.Int128 {
			w := words(x)
			return parquetscan.Int128{Lo: w[0], Hi: int64(w[1])}
		}))
	case parquetscan.Decimal256:
		return parquetscan.NewColumn(name, convert(v, words))
	case parquetscan.String, parquetscan.Binary:
		return g.text(name, v, original)
	case parquetscan.ID:
		return parquetscan.NewColumn(name, convert(v, func(x string) [16]byte { return [16]byte([]byte(x)) }))
	case parquetscan.Fixed:
		return parquetscan.NewFixed(name, []byte(strings.Join(convert(v, func(x string) string { return x }), "")), t.Width)
	case parquetscan.Vector:
		var all []any
		for _, v := range v {
			all = append(all, v.([]any)...)
		}
		if t.Elem == parquetscan.Float32 {
			return parquetscan.NewMatrix(name, convert(all, func(x uint64) float32 { return math.Float32frombits(uint32(x)) }), g.Dim)
		}
		return parquetscan.NewMatrix(name, convert(all, math.Float64frombits), g.Dim)
	case parquetscan.Struct:
		fields := make([]parquetscan.Column, len(f.Fields))
		for i := range fields {
			fields[i] = g.Column(f.Fields[i], convert(v, func(x []any) any { return x[i] }))
		}
		return parquetscan.NewStruct(name, fields...)
	case parquetscan.List, parquetscan.Map:
		var all []any
		if g.Rand.IntN(3) == 0 { // the first row need not begin at 0
			all = append(all, g.value(f).([]any)...)
		}
		offsets := []int32{int32(len(all))}
		for _, v := range v {
			all = append(all, v.([]any)...)
			offsets = append(offsets, int32(len(all)))
		}
		if t.Kind == parquetscan.List {
			return parquetscan.NewList(name, offsets, g.Column(f.Fields[0], all))
		}
		of := func(k int) parquetscan.Column {
			return g.Column(f.Fields[k], convert(all, func(x []any) any { return x[k] }))
		}
		return parquetscan.NewMap(name, offsets, of(0), of(1))
	}
	panic(fmt.Sprintf("no columns of %v", f))
}

func (g *Generator) text(name string, v, original []any) parquetscan.Column {
	s := convert(v, func(x string) string { return x })
	switch g.Rand.IntN(3) {
	case 0:
		return parquetscan.NewStrings(name, s)
	case 1:
		data, offsets := []byte("..."), []int32{3}
		for _, s := range s {
			data = append(data, s...)
			offsets = append(offsets, int32(len(data)))
		}
		return parquetscan.NewText(name, data, offsets)
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
	return parquetscan.NewCodes(name, codes, parquetscan.NewDictionary(data, offsets))
}

// words returns a number as two's complement.
func words(x string) (w parquetscan.Int256) {
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
