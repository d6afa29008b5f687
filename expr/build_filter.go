// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
)

// The compiler of predicates. It moves not down to the comparisons, by De Morgan's rules, which hold in SQL's logic
// too: the opposite of a comparison is another comparison, because floats have a total order.

var (
	opposites = map[string]string{opEq: opNe, opNe: opEq, opLt: opGe, opGe: opLt, opLe: opGt, opGt: opLe}
	flipped   = map[string]string{opEq: opEq, opNe: opNe, opLt: opGt, opGe: opLe, opLe: opGe, opGt: opLt}
	// selected orders of two values: less, equal, greater
	selected = map[string][3]int{
		opEq: {0, 1, 0}, opNe: {1, 0, 1}, opLt: {1, 0, 0}, opLe: {1, 1, 0}, opGt: {0, 0, 1}, opGe: {0, 1, 1},
	}
)

// filter returns the filter of a predicate, or of its opposite.
func (b *builder) filter(t *term, not bool) filter {
	if f := b.filterPerEntry(t, not); f != nil {
		return f
	}
	switch {
	case t.op == opAnd || t.op == opOr:
		var filters []filter
		for _, a := range t.args {
			filters = append(filters, b.filter(a, not))
		}
		return conjunction((t.op == opAnd) != not, filters...)
	case t.op == opNot:
		return b.filter(t.args[0], !not)
	case opposites[t.op] != "":
		op := t.op
		if not {
			op = opposites[op]
		}
		return b.compare(op, t.args[0], t.args[1])
	case t.op == opBetween && not:
		return conjunction(false, b.compare(opLt, t.args[0], t.args[1]), b.compare(opGt, t.args[0], t.args[2]))
	case t.op == opBetween:
		return conjunction(true, b.compare(opGe, t.args[0], t.args[1]), b.compare(opLe, t.args[0], t.args[2]))
	case t.op == opIn:
		return b.in(t, not)
	case t.op == opInSet:
		return b.inSet(t, not)
	case t.op == opIsNull:
		return &nullFilter{b.valid(t.args[0]), byte(bit(not))}
	case isLikeness(t.op):
		return b.likeness(t, not)
	}
	return &truthFilter{b.bools(t), !not}
}

// conjunction returns the And or the Or of filters.
func conjunction(and bool, filters ...filter) filter {
	if and {
		return andFilter(filters)
	}
	return &orFilter{filters: filters}
}

// in returns the filter of in or of its opposite. Literals become a set.
func (b *builder) in(t *term, not bool) filter {
	first, members := t.args[0], t.args[1:]
	other := func(m *term) bool { return m.op != opLiteral || m.typ != first.typ }
	if first.class == classBool || slices.ContainsFunc(members, other) || first.op == opLiteral {
		return b.inTerms(t, not)
	}
	var points []point
	var texts []string
	null := false
	for _, m := range members {
		if s, ok := bytesOfLiteral(m.value, m.typ); ok {
			texts = append(texts, s)
		} else if p, _ := pointOf(m.value, m.typ); p.exact && p.side == 0 {
			points = append(points, p)
		}
		null = null || m.value == nil
	}
	// The opposite is NULL or false for all rows if a member is NULL: such a set has all values.
	want, all := !not, not && null
	switch {
	case first.class.isTexts():
		return &matchFilter[string]{b.texts(first), member(texts, all), want}
	case first.class == classUint:
		return &matchFilter[uint64]{b.uints(first), member(bitsOf(points), all), want}
	case first.class == classWide:
		wides := make([]column.Int128, len(points))
		for i, p := range points {
			wides[i] = p.wide
		}
		return &matchFilter[column.Int128]{b.wides(first), member(wides, all), want}
	case first.class == classFloat:
		keys := make([]uint64, len(points))
		for i, p := range points {
			keys[i] = floatKey(p.float)
		}
		has := member(keys, all)
		return &matchFilter[float64]{b.floats(first), func(f float64) bool { return has(floatKey(f)) }, want}
	}
	has := member(bitsOf(points), all)
	if mask, least, ok := maskOf(bitsOf(points)); ok && !all {
		has = func(v uint64) bool { return v-least < 64 && mask>>(v-least)&1 == 1 }
	}
	return &matchFilter[int64]{b.ints(first), func(v int64) bool { return has(uint64(v)) }, want}
}

// inTerms returns the filter of in as one comparison for each member.
func (b *builder) inTerms(t *term, not bool) filter {
	if len(t.args) == 1 && not { // in () is false but for NULL
		return &nullFilter{b.valid(t.args[0]), 1}
	}
	op := opEq
	if not {
		op = opNe
	}
	var filters []filter
	for _, m := range t.args[1:] {
		filters = append(filters, b.compare(op, t.args[0], m))
	}
	return conjunction(not, filters...)
}

func bitsOf(points []point) []uint64 {
	bits := make([]uint64, len(points))
	for i, p := range points {
		bits[i] = p.bits
	}
	return bits
}

// maskOf returns a set of integers as bits, from the least on, if the greatest is at most 63 more.
func maskOf(set []uint64) (mask, least uint64, ok bool) {
	if len(set) == 0 {
		return 0, 0, false
	}
	least = set[0]
	for _, v := range set {
		if int64(v) < int64(least) {
			least = v
		}
	}
	for _, v := range set {
		if v-least >= 64 {
			return 0, 0, false
		}
		mask |= 1 << (v - least)
	}
	return mask, least, true
}

// floatKey returns the same bits for equal floats.
func floatKey(f float64) uint64 {
	switch {
	case f != f:
		return math.Float64bits(math.NaN())
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}

// member returns a function that reports whether a value is in the set, or true for all if always.
func member[T comparable](set []T, always bool) func(T) bool {
	switch {
	case always:
		return func(T) bool { return true }
	case len(set) <= 8:
		return func(v T) bool { return slices.Contains(set, v) }
	}
	m := make(map[T]struct{}, len(set))
	for _, v := range set {
		m[v] = struct{}{}
	}
	return func(v T) bool {
		_, ok := m[v]
		return ok
	}
}

// compare returns the filter of a comparison.
func (b *builder) compare(op string, x, y *term) filter {
	if x.op == opLiteral && y.op != opLiteral {
		x, y, op = y, x, flipped[op]
	}
	asFloats := x.class.isDecimal() && y.class == classFloat
	if y.op == opLiteral && y.value != nil && x.op != opLiteral && x.class != classBool && !asFloats {
		return b.compareLiteral(op, x, y)
	}
	want := selected[op]
	ints := func(c class) bool { return c.isInts() || c == classBool }
	switch {
	case x.class.isDecimal() || y.class.isDecimal():
		return b.compareDecimals(want, x, y)
	case ints(x.class) && ints(y.class):
		return &orderFilter[int64]{b: b.block, x: b.ints(x), y: b.ints(y), want: want}
	case x.class == classUint && y.class == classUint:
		return &orderFilter[uint64]{b: b.block, x: b.uints(x), y: b.uints(y), want: want}
	case x.class.isTexts():
		return compared(b, want, b.texts(x), b.texts(y), strings.Compare)
	case x.class == classFloat && y.class == classFloat:
		return compared(b, want, b.floats(x), b.floats(y), compareFloats)
	case x.class == classInt && y.class == classUint:
		return compared(b, want, b.ints(x), b.uints(y), compareIntUint)
	case x.class == classUint && y.class == classInt:
		return compared(b, want, b.uints(x), b.ints(y), reversed(compareIntUint))
	case x.class == classInt:
		return compared(b, want, b.ints(x), b.floats(y), compareIntFloat)
	case y.class == classInt:
		return compared(b, want, b.floats(x), b.ints(y), reversed(compareIntFloat))
	case x.class == classUint:
		return compared(b, want, b.uints(x), b.floats(y), compareUintFloat)
	}
	return compared(b, want, b.floats(x), b.uints(y), reversed(compareUintFloat))
}

// compareDecimals returns the filter of a comparison of a decimal and another number.
func (b *builder) compareDecimals(want [3]int, x, y *term) filter {
	switch {
	case x.class == classFloat || y.class == classFloat:
		return compared(b, want, b.floats(x), b.floats(y), compareFloats)
	case x.class == y.class && x.class == classDecimal && x.typ.Scale == y.typ.Scale:
		return &orderFilter[int64]{b: b.block, x: b.ints(x), y: b.ints(y), want: want}
	}
	scaleX, scaleY := x.typ.Scale, y.typ.Scale
	return compared(b, want, b.wide(x, x, scaleX), b.wide(y, y, scaleY), func(v, w column.Int128) int {
		return int128.CmpScaled(v, scaleX, w, scaleY)
	})
}

// reversed returns the order of two values, given their order when exchanged. The operands themselves stay in their
// order, so that the first operand's error is reported if both have one.
func reversed[A, B any](compare func(A, B) int) func(B, A) int {
	return func(y B, x A) int { return -compare(x, y) }
}

func compared[A, B any](b *builder, want [3]int, x lane[A], y lane[B], compare func(A, B) int) filter {
	return &compareFilter[A, B]{b: b.block, x: x, y: y, compare: compare, want: want}
}

// compareLiteral returns the filter of a comparison with a literal that is not NULL. Columns keep their own Go types.
func (b *builder) compareLiteral(op string, x, y *term) filter {
	if x.class.isTexts() {
		s, _ := bytesOfLiteral(y.value, y.typ)
		if op == opEq || op == opNe {
			return &textFilter{b.texts(x), s, op == opEq}
		}
		want := selected[op]
		return &matchFilter[string]{b.texts(x), func(v string) bool { return want[cmp.Compare(v, s)+1] == 1 }, true}
	}
	p, _ := pointOf(y.value, x.typ)
	if x.class == classWide {
		want := selected[op]
		selects := func(v column.Int128) bool { return want[p.orderOfWide(v)+1] == 1 }
		return &matchFilter[column.Int128]{b.wides(x), selects, true}
	}
	if x.class == classFloat {
		s := floatSpanOf(op, p)
		if x.op == opColumn && x.typ.Kind == column.Float32 {
			return &floatFilter[float32]{b.block, columnOf[float32](b, x), s}
		}
		return &floatFilter[float64]{b.block, b.floats(x), s}
	}
	if x.class == classUint {
		return &spanFilter[uint64]{b.block, b.uints(x), spanOf(op, p, 0)}
	}
	s := spanOf(op, p, 1<<63)
	if x.op == opColumn {
		switch x.typ.Kind {
		case column.Int8:
			return spanned[int8](b, x, s)
		case column.Int16:
			return spanned[int16](b, x, s)
		case column.Int32, column.Date:
			return spanned[int32](b, x, s)
		case column.Uint8:
			return spanned[uint8](b, x, s)
		case column.Uint16:
			return spanned[uint16](b, x, s)
		case column.Uint32:
			return spanned[uint32](b, x, s)
		}
	}
	return &spanFilter[int64]{b.block, b.ints(x), s}
}

// orderOfWide compares a Decimal128 with the literal of the point.
func (p point) orderOfWide(v column.Int128) int {
	switch order := int128.Cmp(v, p.wide); {
	case p.side != 0:
		return -p.side
	case order == 0 && !p.exact: // the literal is greater
		return -1
	default:
		return order
	}
}

func spanned[T whole](b *builder, t *term, s span) filter {
	return &spanFilter[T]{b.block, columnOf[T](b, t), s}
}

// spanOf returns the integers that compare with a literal by op. lowest are the bits of the least integer.
func spanOf(op string, p point, lowest uint64) span {
	switch op {
	case opEq, opNe:
		return span{base: p.bits, none: !p.exact || p.side != 0, invert: op == opNe}
	}
	s := span{base: lowest, width: p.bits - lowest, invert: op == opGe || op == opGt}
	switch {
	case p.side < 0:
		s.none = true
	case p.side > 0:
		s.width = math.MaxUint64
	case p.exact && (op == opLt || op == opGe): // less, and its opposite
		s.none = s.width == 0
		s.width--
	}
	return s
}

// floatSpanOf is spanOf for floats.
func floatSpanOf(op string, p point) floatSpan {
	none := floatSpan{lo: math.Inf(1), hi: math.Inf(-1)}
	s := floatSpan{lo: math.Inf(-1), hi: p.float}
	below := op == opLt || op == opGe
	switch {
	case op == opEq || op == opNe:
		if s.lo = p.float; !p.exact {
			s = none
		}
		s.nan = p.float != p.float
	case p.float != p.float: // all floats, NaN not less
		s.hi, s.nan = math.Inf(1), !below
	case below && p.exact && p.float == math.Inf(-1):
		s = none
	case below && p.exact:
		s.hi = math.Nextafter(p.float, math.Inf(-1))
	}
	s.invert = op == opNe || op == opGe || op == opGt
	return s
}
