// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"

	"github.com/vecql/vecql/column"
)

// The compiler of values: a lane for each term, in the Go type of its class.

// A builder makes the lanes and filters of one tree.
type builder struct {
	block   *block
	sources []*source // by term.index
	inDict  bool      // the term depends on one text column, and dict.go has seen it
	// bool lanes are shared by a predicate and its opposite, because each of the two may have two such users itself
	lanes map[*term]lane[bool]
}

func newBuilder(b *block, sources []*source) *builder {
	return &builder{block: b, sources: sources, lanes: map[*term]lane[bool]{}}
}

// literal returns the lane of a literal, whose type has exactly its value.
func literalLane[T any](b *builder, t *term, of func(p point) T) lane[T] {
	p, _ := pointOf(t.value, t.typ)
	return newConst(b.block, of(p), t.value == nil)
}

// choice returns the lane of case or coalesce. Values that are not NULL come from lanes made by build.
func choice[T any](b *builder, t *term, build func(*term) lane[T]) lane[T] {
	out := merged[T]{values: room[T](b.block)}
	if t.op != opCase {
		l := &coalesceLane[T]{b: b.block, out: out}
		for _, a := range t.args {
			l.args = append(l.args, build(a))
		}
		return l
	}
	l := &caseLane[T]{b: b.block, out: out}
	for i, a := range t.args {
		if i%2 == 0 && i < len(t.args)-1 {
			l.conditions = append(l.conditions, b.filter(a, false))
		} else {
			l.values = append(l.values, build(a))
		}
	}
	return l
}

// ints returns the lane of integers up to int64, dates, times and timestamps, and of booleans as 0 and 1.
func (b *builder) ints(t *term) lane[int64] {
	if l := perEntry(b, t, (*builder).ints); l != nil {
		return l
	}
	if t.class == classBool {
		return newMap(t, b.block, b.bools(t), func(v bool) (int64, error) { return int64(bit(v)), nil })
	}
	switch t.op {
	case opColumn:
		return b.columnInts(t)
	case opLiteral:
		return literalLane(b, t, func(p point) int64 { return int64(p.bits) })
	}
	if t.class == classDecimal {
		return b.narrows(t)
	}
	switch t.op {
	case opCase, "coalesce":
		return choice(b, t, b.ints)
	case "length", "strlen":
		return b.length(t)
	case "greatest", "least":
		return extreme(b, t, b.ints, lessThan[int64])
	case "extract", "date_trunc", "time_bucket":
		return b.timeInts(t)
	case "epoch_ms":
		return b.ints(t.args[0])
	case opCast, opTryCast:
		return b.castInts(t)
	case "element":
		if t.typ.Kind == column.Int32 {
			return newConvert[int32, int64](b.block, elementOf[int32](b, t))
		}
		return elementOf[int64](b, t)
	}
	switch {
	case isScalar(t.op):
		return b.scalarInts(t)
	case t.class == classDate || t.class == classTimestamp:
		return b.timeInts(t)
	}
	return b.arithInts(t)
}

func (b *builder) columnInts(t *term) lane[int64] {
	switch t.typ.Kind {
	case column.Int8:
		return widened[int8](b, t)
	case column.Int16:
		return widened[int16](b, t)
	case column.Int32, column.Date:
		return widened[int32](b, t)
	case column.Uint8:
		return widened[uint8](b, t)
	case column.Uint16:
		return widened[uint16](b, t)
	case column.Uint32:
		return widened[uint32](b, t)
	}
	return columnOf[int64](b, t)
}

func columnOf[T any](b *builder, t *term) lane[T] { return &columnLane[T]{b.block, b.sources[t.index]} }

func widened[T whole](b *builder, t *term) lane[int64] {
	return newConvert[T, int64](b.block, columnOf[T](b, t))
}

// uints returns the lane of a Uint64, or of a narrower unsigned type.
func (b *builder) uints(t *term) lane[uint64] {
	if l := perEntry(b, t, (*builder).uints); l != nil {
		return l
	}
	if t.class == classInt {
		return newConvert[int64, uint64](b.block, b.ints(t))
	}
	switch t.op {
	case opColumn:
		return columnOf[uint64](b, t)
	case opLiteral:
		return literalLane(b, t, func(p point) uint64 { return p.bits })
	case opCase, "coalesce":
		return choice(b, t, b.uints)
	case "greatest", "least":
		return extreme(b, t, b.uints, lessThan[uint64])
	case opCast, opTryCast:
		return b.castUints(t)
	}
	if isScalar(t.op) { // of roundings
		return b.uints(t.args[0])
	}
	return b.arithUints(t)
}

// floats returns the lane of any number or boolean as a float.
func (b *builder) floats(t *term) lane[float64] {
	if l := perEntry(b, t, (*builder).floats); l != nil {
		return l
	}
	switch t.class {
	case classUint:
		return newConvert[uint64, float64](b.block, b.uints(t))
	case classInt, classBool:
		return newConvert[int64, float64](b.block, b.ints(t))
	case classDecimal, classWide:
		return b.decimalFloats(t)
	}
	switch t.op {
	case opColumn:
		return b.columnFloats(t)
	case opLiteral:
		return literalLane(b, t, func(p point) float64 { return p.float })
	case opCase, "coalesce":
		return choice(b, t, b.floats)
	case "greatest", "least":
		return extreme(b, t, b.floats, lessFloat)
	case opCast, opTryCast:
		return b.castFloats(t)
	case "dot", "cosine", "l2", "norm":
		return b.vectorFloats(t)
	case "element":
		if t.typ.Kind == column.Float32 {
			return newConvert[float32, float64](b.block, elementOf[float32](b, t))
		}
		return elementOf[float64](b, t)
	}
	if isScalar(t.op) {
		return b.scalarFloats(t)
	}
	return b.arithFloats(t)
}

func (b *builder) columnFloats(t *term) lane[float64] {
	switch t.typ.Kind {
	case column.Float16:
		return newMap(t, b.block, columnOf[uint16](b, t), func(v uint16) (float64, error) { return float16(v), nil })
	case column.Float32:
		return newConvert[float32, float64](b.block, columnOf[float32](b, t))
	}
	return columnOf[float64](b, t)
}

// float16 returns the number of an IEEE 754 binary16: a fraction of 10 bits times a power of two.
func float16(bits uint16) float64 {
	exponent, fraction := int(bits>>10&0x1f), float64(bits&0x3ff)
	v := 0.0
	switch {
	case exponent == 0x1f && fraction != 0:
		return math.NaN()
	case exponent == 0x1f:
		v = math.Inf(1)
	case exponent == 0:
		v = math.Ldexp(fraction, -24)
	default:
		v = math.Ldexp(fraction+1024, exponent-25)
	}
	if bits>>15 != 0 {
		return -v
	}
	return v
}

// texts returns the lane of a text or bytes.
func (b *builder) texts(t *term) lane[string] {
	if l := perEntry(b, t, (*builder).texts); l != nil {
		return l
	}
	switch t.op {
	case opColumn:
		return &textLane{b.block, b.sources[t.index], room[string](b.block)}
	case opLiteral:
		s, _ := bytesOfLiteral(t.value, t.typ)
		return newConst(b.block, s, t.value == nil)
	case opCase, "coalesce":
		return choice(b, t, b.texts)
	case "greatest", "least":
		return extreme(b, t, b.texts, lessThan[string])
	case opCast, opTryCast:
		return b.castTexts(t)
	}
	if isScalar(t.op) {
		return b.scalarTexts(t)
	}
	return b.textTexts(t)
}

// bools returns the lane of a boolean.
func (b *builder) bools(t *term) lane[bool] {
	l := b.lanes[t]
	if l == nil {
		if l = perEntry(b, t, (*builder).makeBools); l == nil {
			l = b.makeBools(t)
		}
		b.lanes[t] = l
	}
	return l
}

func (b *builder) makeBools(t *term) lane[bool] {
	switch t.op {
	case opColumn:
		return columnOf[bool](b, t)
	case opLiteral:
		v, _ := t.value.(bool)
		return newConst(b.block, v, t.value == nil)
	case opCase, "coalesce":
		return choice(b, t, b.bools)
	case opCast, opTryCast:
		return b.castBools(t)
	}
	return &predicateLane{b: b.block, yes: b.filter(t, false), no: b.filter(t, true), out: room[bool](b.block)}
}

// valid returns the function that computes which rows of a term are not NULL.
func (b *builder) valid(t *term) func(rows []int32) ([]byte, error) {
	if t.op == opColumn {
		s := b.sources[t.index]
		return func([]int32) ([]byte, error) { return s.bits(b.block), nil }
	}
	switch {
	case t.class == classBool:
		return validity(b.bools(t))
	case t.class.isInts():
		return validity(b.ints(t))
	case t.class == classWide:
		return validity(b.wides(t))
	case t.class == classUint:
		return validity(b.uints(t))
	case t.class == classFloat:
		return validity(b.floats(t))
	case t.class.isTexts():
		return validity(b.texts(t))
	}
	// a vector: a slice is NULL as its vector, a literal never
	if t.op == opLiteral {
		return func([]int32) ([]byte, error) { return nil, nil }
	}
	return b.valid(t.args[0])
}
