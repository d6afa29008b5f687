// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// The reference of filters: an interpreter without spans, bits and orders, and generators of columns and filters from a
// source of small numbers.

// A cell is a value of a column in a test: nil, *big.Int (numbers but floats, as the column stores them; 0 and 1 of
// Bool), float64, or string.
type cell = any

// A meaning is the value of a cell or a constant: a number (times are seconds), or bytes.
type meaning struct {
	rat  *big.Rat
	inf  int
	nan  bool
	text string
}

func ratOf(a, b int64) *big.Rat { return big.NewRat(a, b) }

func meaningOfFloat(f float64) meaning {
	switch {
	case math.IsNaN(f):
		return meaning{nan: true}
	case math.IsInf(f, 1):
		return meaning{inf: 1}
	case math.IsInf(f, -1):
		return meaning{inf: -1}
	}
	return meaning{rat: new(big.Rat).SetFloat64(f)}
}

var unitSeconds = map[column.Unit]*big.Rat{column.Millis: ratOf(1, 1e3), column.Micros: ratOf(1, 1e6), column.Nanos: ratOf(1, 1e9)}

func meaningOfCell(c cell, typ column.Type) meaning {
	switch v := c.(type) {
	case string:
		return meaning{text: v}
	case float64:
		return meaningOfFloat(v)
	}
	rat := new(big.Rat).SetInt(c.(*big.Int))
	switch typ.Kind {
	case column.Date:
		rat.Mul(rat, ratOf(86400, 1))
	case column.Time, column.Timestamp:
		rat.Mul(rat, unitSeconds[typ.Unit])
	case column.Decimal64, column.Decimal128, column.Decimal256:
		for range typ.Scale {
			rat.Mul(rat, ratOf(1, 10))
		}
	}
	return meaning{rat: rat}
}

type namedInt int32

type namedText string

type namedID [16]byte

func meaningOfConstant(v any, typ column.Type) meaning {
	text := typ.Kind == column.String || typ.Kind == column.Binary || typ.Kind == column.Fixed || typ.Kind == column.UUID
	switch v := v.(type) {
	case bool:
		return meaning{rat: ratOf(map[bool]int64{true: 1}[v], 1)}
	case time.Time:
		return meaning{rat: new(big.Rat).Add(ratOf(v.Unix(), 1), ratOf(int64(v.Nanosecond()), 1e9))}
	case time.Duration:
		return meaning{rat: ratOf(int64(v), 1e9)}
	case [16]byte:
		return meaning{text: string(v[:])}
	case namedID:
		return meaning{text: string(v[:])}
	case []byte:
		return meaning{text: string(v)}
	case json.RawMessage:
		return meaning{text: string(v)}
	case namedText:
		return meaning{text: string(v)}
	case string:
		if text {
			return meaning{text: v}
		}
		rat, _ := new(big.Rat).SetString(v)
		return meaning{rat: rat}
	case float32:
		return meaningOfFloat(float64(v))
	case float64:
		return meaningOfFloat(v)
	case column.Int128:
		i := new(big.Int).Lsh(big.NewInt(v.Hi), 64)
		return meaning{rat: new(big.Rat).SetInt(i.Add(i, new(big.Int).SetUint64(v.Lo)))}
	case column.Int256:
		i := big.NewInt(int64(v[3]))
		for _, w := range []uint64{v[2], v[1], v[0]} {
			i.Lsh(i, 64).Add(i, new(big.Int).SetUint64(w))
		}
		return meaning{rat: new(big.Rat).SetInt(i)}
	}
	rat, _ := new(big.Rat).SetString(fmt.Sprint(v)) // integers
	return meaning{rat: rat}
}

func compareMeanings(a, b meaning) int {
	rank := func(m meaning) int {
		switch {
		case m.nan:
			return 2
		case m.inf != 0:
			return m.inf
		}
		return 0
	}
	switch {
	case rank(a) != rank(b):
		return rank(a) - rank(b)
	case a.rat != nil:
		return a.rat.Cmp(b.rat)
	}
	return strings.Compare(a.text, b.text)
}

// A truth is SQL's: no, unknown, yes.
type truth int

const (
	no truth = iota
	unknown
	yes
)

func truthOf(b bool) truth { return map[bool]truth{true: yes}[b] }

// referenceEval evaluates a filter on one row.
func referenceEval(f Filter, row func(path string) (cell, column.Type)) truth {
	if f.node == nil {
		return yes
	}
	n := f.node
	var args []truth
	for _, a := range n.Args {
		args = append(args, referenceEval(Filter{a}, row))
	}
	switch n.Op {
	case predicate.And:
		return slices.Min(append(args, yes))
	case predicate.Or:
		return slices.Max(append(args, no))
	case predicate.Not:
		return yes - args[0]
	}
	c, typ := row(n.Column)
	switch {
	case n.Op == predicate.Null:
		return truthOf(c == nil)
	case n.Op == predicate.NotNull:
		return truthOf(c != nil)
	case c == nil:
		return unknown
	}
	left := meaningOfCell(c, typ)
	for _, v := range n.Values {
		if n.Op == predicate.Contains {
			return truthOf(strings.Contains(left.text, meaningOfConstant(v, typ).text))
		}
		d := compareMeanings(left, meaningOfConstant(v, typ))
		if n.Op == predicate.In && d == 0 {
			return yes
		}
		switch n.Op {
		case predicate.Eq:
			return truthOf(d == 0)
		case predicate.Ne:
			return truthOf(d != 0)
		case predicate.Lt:
			return truthOf(d < 0)
		case predicate.Le:
			return truthOf(d <= 0)
		case predicate.Gt:
			return truthOf(d > 0)
		case predicate.Ge:
			return truthOf(d >= 0)
		}
	}
	return no
}

// columnOf returns a column of cells. Unused bits of its validity are set. With dictionary, text has codes.
func columnOf(name string, typ column.Type, cells []cell, dictionary bool) *column.Column {
	c := &column.Column{Name: name, Type: typ, Len: len(cells), Validity: slices.Repeat([]byte{0xff}, len(cells)/8+1)}
	text := typ.Kind.IsText()
	if text {
		c.Offsets = []int32{0}
	}
	codes := map[string]uint32{}
	entries, ends := []byte(nil), []int32{0}
	for i, v := range cells {
		if v == nil {
			c.Nulls++
			c.Validity[i/8] &^= 1 << (i % 8)
		}
		if !text {
			c.Values = append(c.Values, plainOf(v, typ)...)
			continue
		}
		s, _ := v.(string)
		if !dictionary {
			c.Values = append(c.Values, s...)
			c.Offsets = append(c.Offsets, int32(len(c.Values)))
			continue
		}
		code, ok := codes[s]
		if !ok && v != nil {
			code = uint32(len(codes))
			codes[s] = code
			entries = append(entries, s...)
			ends = append(ends, int32(len(entries)))
		}
		c.Values = append(c.Values, plainOf(big.NewInt(int64(code)), column.Type{Kind: column.Uint32})...)
	}
	if text && dictionary {
		c.Offsets, c.Dict = nil, column.NewDictionary(entries, ends)
	}
	c.Values = aligned(c.Values)
	return c
}

// aligned returns a copy that is aligned for any type.
func aligned(b []byte) []byte {
	words := make([]uint64, len(b)/8+1)
	out := unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8)[:len(b)]
	copy(out, b)
	return out
}

// plainOf returns a cell as stored in a column.
func plainOf(c cell, typ column.Type) []byte {
	out := make([]byte, typ.ValueWidth())
	switch v := c.(type) {
	case string:
		copy(out, v)
	case float64:
		u, n := math.Float64bits(v), 8
		switch typ.Kind {
		case column.Float32:
			u, n = uint64(math.Float32bits(float32(v))), 4
		case column.Float16:
			u, n = uint64(halfOf(v)), 2
		}
		for i := range n {
			out[i] = byte(u >> (8 * i))
		}
	case *big.Int:
		i := v
		if i.Sign() < 0 {
			i = new(big.Int).Add(i, new(big.Int).Lsh(big.NewInt(1), uint(8*len(out))))
		}
		i.FillBytes(out)
		slices.Reverse(out)
	}
	return out
}

// halves are the bits of all binary16, by the bits of the float64 that equals them.
var halves = sync.OnceValue(func() map[uint64]uint16 {
	m := map[uint64]uint16{}
	for b := range 1 << 16 {
		m[math.Float64bits(halfValue(uint16(b)))] = uint16(b)
	}
	return m
})

// halfOf returns the bits of the binary16 that equals f.
func halfOf(f float64) uint16 {
	if f != f {
		return 0x7e00
	}
	return halves()[math.Float64bits(f)]
}

// halfValue returns the value of a binary16 by the definition of IEEE 754.
func halfValue(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(fraction/1024*math.Pow(2, -14), sign)
	}
	return sign * (1 + fraction/1024) * math.Pow(2, float64(exponent-15))
}

// A generator makes columns and filters from small numbers, 0 to n-1.
type generator struct{ intn func(n int) int }

func pick[T any](g generator, of ...T) T { return of[g.intn(len(of))] }

// comparedKinds returns the kinds whose values have an order.
func comparedKinds() (kinds []column.Kind) {
	for k := column.Bool; k <= column.Tuple; k++ {
		if predicate.OrderOf(k) != predicate.OrderNone {
			kinds = append(kinds, k)
		}
	}
	return kinds
}

func (g generator) typ() column.Type {
	kind := pick(g, comparedKinds()...)
	t := column.Type{Kind: kind}
	switch kind {
	case column.Time, column.Timestamp:
		t.Unit, t.UTC = pick(g, column.Millis, column.Micros, column.Nanos), g.intn(2) == 0
	case column.Decimal64:
		t.Precision, t.Scale = 18, g.intn(5)
	case column.Decimal128:
		t.Precision, t.Scale = 38, g.intn(30)
	case column.Decimal256:
		t.Precision, t.Scale = 76, g.intn(60)
	case column.Fixed:
		t.Width = 1 + g.intn(3)
	}
	return t
}

// integer returns a number in the range of the kind, mostly a small one.
func (g generator) integer(k column.Kind) *big.Int {
	lo, hi := big.NewInt(0), big.NewInt(1)
	if w := uint(column.Type{Kind: k}.ValueWidth() * 8); k >= column.Uint8 && k <= column.Uint64 {
		hi.Lsh(hi, w).Sub(hi, big.NewInt(1))
	} else if k != column.Bool {
		hi.Lsh(hi, w-1).Sub(hi, big.NewInt(1))
		lo.Not(hi)
	}
	var i *big.Int
	switch g.intn(8) {
	case 0:
		return lo
	case 1:
		return hi
	case 2:
		i = new(big.Int)
		for range hi.BitLen()/8 + 1 {
			i.Lsh(i, 8).Or(i, big.NewInt(int64(g.intn(256))))
		}
		if i.Cmp(hi) > 0 {
			i.Mod(i, hi)
		}
	default:
		i = big.NewInt(int64(g.intn(9) - 4))
	}
	if i.Cmp(lo) < 0 || i.Cmp(hi) > 0 {
		return lo
	}
	return i
}

func (g generator) float(k column.Kind) float64 {
	f := pick(g, 0, math.Copysign(0, -1), 1, -1, 0.5, 2, 1.5, -3, 1000, math.NaN(), math.Inf(1), math.Inf(-1), 0x1p-24, 0x1.8p-14, 65504)
	if k != column.Float16 && g.intn(3) == 0 {
		f = pick(g, 0.1, float64(float32(0.1)), 1e-300, 1e300, math.MaxFloat32, math.MaxFloat64, 5e-324, 16777217, 1<<53+2)
		if k == column.Float32 {
			f = float64(float32(f))
		}
	}
	return f
}

func (g generator) text(width int) string {
	if width < 0 {
		width = g.intn(4)
	}
	b := make([]byte, width)
	for i := range min(len(b), 4) {
		b[i] = pick[byte](g, 'a', 'b', 0, 0xff)
	}
	return string(b)
}

func (g generator) cell(typ column.Type) cell {
	switch {
	case g.intn(6) == 0:
		return nil
	case typ.Kind == column.Float16 || typ.Kind == column.Float32 || typ.Kind == column.Float64:
		return g.float(typ.Kind)
	case typ.Kind == column.String || typ.Kind == column.Binary:
		return g.text(-1)
	case typ.Kind == column.UUID:
		return g.text(16)
	case typ.Kind == column.Fixed:
		return g.text(typ.Width)
	case typ.Kind == column.Time && g.intn(4) != 0:
		return big.NewInt(int64(g.intn(5)))
	}
	return g.integer(typ.Kind)
}

// constant returns a value that compares with columns of the type.
func (g generator) constant(typ column.Type) any {
	switch typ.Kind {
	case column.Bool:
		return g.intn(2) == 0
	case column.Date, column.Timestamp:
		s := meaningOfCell(g.integer(typ.Kind), typ).rat
		ns := new(big.Int).Div(new(big.Int).Mul(s.Num(), big.NewInt(1e9)), s.Denom())
		sec, rest := new(big.Int).DivMod(ns, big.NewInt(1e9), new(big.Int))
		t := time.Unix(sec.Int64(), rest.Int64()).Add(time.Duration(pick(g, 0, 0, 1, -1, 999_999)))
		return t.In(pick(g, time.UTC, time.FixedZone("", 3600)))
	case column.Time:
		d := map[column.Unit]time.Duration{column.Millis: time.Millisecond, column.Micros: time.Microsecond, column.Nanos: 1}[typ.Unit]
		return d*time.Duration(g.intn(5)) + pick[time.Duration](g, 0, 0, 1, -1, math.MaxInt64/2)
	case column.String, column.Binary, column.Fixed, column.UUID:
		s := g.text(pick(g, -1, typ.Width, typ.ValueWidth()))
		if typ.Kind == column.UUID {
			if len(s) == 16 {
				return pick[any](g, [16]byte([]byte(s)), namedID([]byte(s)), []byte(s))
			}
			return []byte(s)
		}
		return pick[any](g, s, []byte(s), namedText(s))
	}
	i := g.integer(pick(g, typ.Kind, column.Int8, column.Int64, column.Uint64, column.Decimal128))
	if typ.Kind == column.Float16 || typ.Kind == column.Float32 || typ.Kind == column.Float64 {
		i = g.integer(pick(g, column.Int8, column.Int64, column.Uint64, column.Decimal128))
	}
	small := i.Int64()
	switch g.intn(12) {
	case 0:
		return int8(small)
	case 1:
		return uint16(small)
	case 2:
		return namedInt(small)
	case 3:
		return i.Uint64()
	case 4:
		return float32(small) / 4
	case 5:
		return g.float(column.Float64)
	case 6:
		return column.Int128{Lo: uint64(small), Hi: small >> 63}
	case 7:
		v := column.Int256{uint64(small), uint64(small >> 63), uint64(small >> 63), uint64(small >> 63)}
		v[2+g.intn(2)] ^= uint64(g.intn(2))
		return v
	case 8, 9:
		if typ.Kind == column.Decimal64 || typ.Kind == column.Decimal128 || typ.Kind == column.Decimal256 {
			s := meaningOfCell(i, typ).rat.FloatString(typ.Scale)
			if strings.Contains(s, ".") {
				s += pick(g, "", "0", "1")
			}
			return s
		}
	}
	return small
}

// filter returns a filter on columns of the types.
func (g generator) filter(types map[string]column.Type, paths []string, depth int) Filter {
	op := predicate.Op(1 + g.intn(int(predicate.Contains)))
	if depth == 0 && op <= predicate.Not {
		op = predicate.Eq
	}
	if op <= predicate.Not {
		n := g.intn(4)
		if op == predicate.Not {
			return Not(g.filter(types, paths, depth-1))
		}
		var args []Filter
		for range n {
			args = append(args, g.filter(types, paths, depth-1))
		}
		return map[predicate.Op]func(...Filter) Filter{predicate.And: And, predicate.Or: Or}[op](args...)
	}
	path := paths[g.intn(len(paths))]
	switch op {
	case predicate.Null:
		return IsNull(path)
	case predicate.NotNull:
		return NotNull(path)
	case predicate.In:
		var values []any
		for range g.intn(5) {
			values = append(values, g.constant(types[path]))
		}
		return In(path, values...)
	case predicate.Contains:
		if kind := types[path].Kind; kind != column.String && kind != column.Binary {
			op = predicate.Le
		}
	}
	return map[predicate.Op]func(string, any) Filter{predicate.Eq: Eq, predicate.Ne: Ne, predicate.Lt: Lt, predicate.Le: Le, predicate.Gt: Gt, predicate.Ge: Ge, predicate.Contains: Contains}[op](path, g.constant(types[path]))
}
