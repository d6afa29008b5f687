// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math/bits"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
)

// The lanes of decimals, as unscaled numbers.

// narrow returns the lane of an integer or a Decimal64 as an unscaled number of a scale that is not less than its own.
// An error is one of the term parent.
func (b *builder) narrow(parent, t *term, scale int) lane[int64] {
	arg, by := b.ints(t), scale-t.typ.Scale
	if by == 0 {
		return arg
	}
	power, _ := int128.Int64(int128.Pow10(by))
	return newMap(parent, b.block, arg, func(v int64) (int64, error) {
		p, ok := mulInt(v, power)
		if !ok {
			return 0, ErrOverflow
		}
		return p, nil
	})
}

// wide is narrow for all integers and decimals, in 128 bits.
func (b *builder) wide(parent, t *term, scale int) lane[column.Int128] {
	var arg lane[column.Int128]
	switch t.class {
	case classWide:
		arg = b.wides(t)
	case classUint:
		arg = newMap(parent, b.block, b.uints(t), func(v uint64) (column.Int128, error) { return int128.OfUint(v), nil })
	default:
		arg = newMap(parent, b.block, b.ints(t), func(v int64) (column.Int128, error) { return int128.Of(v), nil })
	}
	by := scale - t.typ.Scale
	if by == 0 {
		return arg
	}
	return newMap(parent, b.block, arg, func(v column.Int128) (column.Int128, error) {
		p, ok := int128.Scale(v, 0, by)
		if !ok {
			return p, ErrOverflow
		}
		return p, nil
	})
}

// wides returns the lane of a Decimal128.
func (b *builder) wides(t *term) lane[column.Int128] {
	if l := perEntry(b, t, (*builder).wides); l != nil {
		return l
	}
	same := func(a *term) lane[column.Int128] { return b.wide(t, a, t.typ.Scale) }
	switch t.op {
	case opColumn:
		return columnOf[column.Int128](b, t)
	case opLiteral:
		return literalLane(b, t, func(p point) column.Int128 { return p.wide })
	case opCase, "coalesce":
		return choice(b, t, same)
	case "greatest", "least":
		return extreme(b, t, same, func(v, w column.Int128) bool { return int128.Cmp(v, w) < 0 })
	case opCast, opTryCast:
		return b.castWides(t)
	}
	if slices.Contains(roundings, t.op) {
		return b.roundWide(t)
	}
	return b.arithWides(t)
}

// narrows returns the lane of a Decimal64 that is the result of an operation.
func (b *builder) narrows(t *term) lane[int64] {
	same := func(a *term) lane[int64] { return b.narrow(t, a, t.typ.Scale) }
	switch t.op {
	case opCase, "coalesce":
		return choice(b, t, same)
	case "greatest", "least":
		return extreme(b, t, same, lessThan[int64])
	case opCast, opTryCast:
		return b.castNarrow(t)
	}
	if slices.Contains(roundings, t.op) {
		return b.roundNarrow(t)
	}
	return b.arithNarrow(t)
}

// operandShifts returns how many zeros the operands of an operation on decimals get, so that both have the scale of the
// result: for products none. They get them in rows in which no operand is NULL.
func operandShifts(t *term) (x, y int) {
	if t.op == opMul {
		return 0, 0
	}
	return t.typ.Scale - t.args[0].typ.Scale, t.typ.Scale - t.args[1].typ.Scale
}

// arithNarrow returns the lane of an operation on Decimal64.
func (b *builder) arithNarrow(t *term) lane[int64] {
	x, y := b.ints(t.args[0]), b.ints(t.args[1])
	shiftX, shiftY := operandShifts(t)
	powerX, _ := int128.Int64(int128.Pow10(shiftX))
	powerY, _ := int128.Int64(int128.Pow10(shiftY))
	if t.op == opMod {
		return newZip(t, b.block, x, y, func(x, y int64) (int64, error) {
			x, okX := mulInt(x, powerX)
			y, okY := mulInt(y, powerY)
			if !okX || !okY {
				return 0, ErrOverflow
			}
			return modInt(x, y)
		})
	}
	op, loop := addInt, addInts
	switch t.op {
	case opSub, opNeg:
		op, loop = subInt, subInts
	case opMul:
		op, loop = mulInt, mulInts
	}
	if powerX != 1 || powerY != 1 {
		loop = shifted(powerX, powerY, t.op == opAdd)
	}
	limit, _ := int128.Int64(int128.Pow10(t.typ.Precision))
	return &arithLane[int64]{
		t: t, b: b.block, x: x, y: y, out: room[int64](b.block),
		op: func(x, y int64) (int64, bool) {
			x, okX := mulInt(x, powerX)
			y, okY := mulInt(y, powerY)
			v, ok := op(x, y)
			return v, ok && okX && okY && v < limit && v > -limit
		},
		loop: func(x, y, out []int64) bool { return loop(x, y, out) || beyond(out, limit) },
	}
}

// shifted returns the loop of x times a power of ten, plus or minus y times another one. It reports an overflow if an
// operand has more than 18 digits then.
func shifted(powerX, powerY int64, plus bool) func(x, y, out []int64) bool {
	const top = 1_000_000_000_000_000_000
	return func(x, y, out []int64) bool {
		if beyond(x, top/powerX) || beyond(y, top/powerY) {
			return true
		}
		y, out = y[:len(x)], out[:len(x)]
		if plus {
			for i, v := range x {
				out[i] = v*powerX + y[i]*powerY
			}
			return false
		}
		for i, v := range x {
			out[i] = v*powerX - y[i]*powerY
		}
		return false
	}
}

// beyond reports whether the absolute value of one of the integers is at least limit, which is at most 2^62.
func beyond(v []int64, limit int64) bool {
	most, over := uint64(2*limit-2), uint64(0)
	for _, x := range v {
		_, borrow := bits.Sub64(most, uint64(x)+uint64(limit-1), 0)
		over |= borrow
	}
	return over != 0
}

// arithWides returns the lane of an operation on decimals whose result is a Decimal128.
func (b *builder) arithWides(t *term) lane[column.Int128] {
	x, y := b.wide(t, t.args[0], t.args[0].typ.Scale), b.wide(t, t.args[1], t.args[1].typ.Scale)
	shiftX, shiftY := operandShifts(t)
	shift := func(x, y column.Int128) (column.Int128, column.Int128, bool) {
		x, okX := int128.Scale(x, 0, shiftX)
		y, okY := int128.Scale(y, 0, shiftY)
		return x, y, okX && okY
	}
	if t.op == opMod {
		return newZip(t, b.block, x, y, func(x, y column.Int128) (column.Int128, error) {
			x, y, ok := shift(x, y)
			switch {
			case !ok:
				return x, ErrOverflow
			case int128.Sign(y) == 0:
				return x, ErrDivision
			}
			_, rest, _ := int128.QuoRem(x, y)
			return rest, nil
		})
	}
	of := int128.Add
	switch t.op {
	case opSub, opNeg:
		of = int128.Sub
	case opMul:
		of = int128.Mul
	}
	op := func(x, y column.Int128) (column.Int128, bool) {
		x, y, ok := shift(x, y)
		v, fits := of(x, y)
		return v, ok && fits && int128.Within(v, t.typ.Precision)
	}
	return &arithLane[column.Int128]{
		t: t, b: b.block, x: x, y: y, out: room[column.Int128](b.block), op: op,
		loop: func(x, y, out []column.Int128) (overflow bool) {
			for i := range x {
				v, ok := op(x[i], y[i])
				out[i] = v
				overflow = overflow || !ok
			}
			return overflow
		},
	}
}

// modes are the ways of rounding of functions.
var modes = map[string]int128.Mode{
	"ceil": int128.Ceil, "floor": int128.Floor, "round": int128.Nearest, "trunc": int128.Down,
}

// dropped returns how many digits a rounding drops, and how many zeros it appends.
func dropped(t *term) (drop, zeros int) {
	from := t.args[0].typ.Scale
	if len(t.args) == 2 {
		if digits := max(t.args[1].value.(int64), -int128.MaxDigits); digits < 0 {
			return from - int(digits), -int(digits)
		}
	}
	return from - t.typ.Scale, 0
}

// roundWide returns the lane of a function of roundings with a Decimal128 as the result.
func (b *builder) roundWide(t *term) lane[column.Int128] {
	arg := b.wide(t, t.args[0], t.args[0].typ.Scale)
	if t.op == "abs" {
		return newMap(t, b.block, arg, func(v column.Int128) (column.Int128, error) {
			if v.Hi >= 0 {
				return v, nil
			}
			v, ok := int128.Sub(column.Int128{}, v)
			if !ok {
				return v, ErrOverflow
			}
			return v, nil
		})
	}
	drop, zeros := dropped(t)
	return newMap(t, b.block, arg, func(v column.Int128) (column.Int128, error) {
		v, ok := int128.Scale(int128.Drop(v, drop, modes[t.op]), 0, zeros)
		if !ok || !int128.Within(v, t.typ.Precision) {
			return v, ErrOverflow
		}
		return v, nil
	})
}

// roundNarrow returns the lane of a function of roundings with a Decimal64 as the result. Few digits are rounded in 64
// bits.
func (b *builder) roundNarrow(t *term) lane[int64] {
	if t.op == "abs" {
		return b.scalarInts(t)
	}
	drop, zeros := dropped(t)
	if mode := modes[t.op]; drop < narrowDigits && zeros == 0 {
		power, _ := int128.Int64(int128.Pow10(drop))
		return newMap(t, b.block, b.ints(t.args[0]), func(v int64) (int64, error) { return dropInt(v, power, mode), nil })
	}
	return newMap(t, b.block, b.roundWide(t), func(v column.Int128) (int64, error) {
		n, ok := int128.Int64(v)
		if !ok {
			return 0, ErrOverflow
		}
		return n, nil
	})
}

// dropInt returns v / power, rounded. power is at most 10^17.
func dropInt(v, power int64, mode int128.Mode) int64 {
	q, r := v/power, v%power
	switch {
	case mode == int128.Nearest && 2*max(r, -r) >= power:
		q += min(1, max(r, -1))
	case mode == int128.Floor && r < 0:
		q--
	case mode == int128.Ceil && r > 0:
		q++
	}
	return q
}
