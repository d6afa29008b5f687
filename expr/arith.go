// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/bits"
)

// Arithmetic. Integers are checked for overflow, floats follow IEEE 754.

// An arithLane computes + - * of integers and decimals, in loops without branches: a loop collects signs of overflow,
// and only if there is one are the rows searched for it, because NULL rows may have any values.
type arithLane[T any] struct {
	t     *term
	b     *block
	x, y  lane[T]
	op    func(x, y T) (T, bool)
	loop  func(x, y, out []T) (overflow bool)
	out   []T
	valid [blockRows / 8]byte
	rows  [blockRows]int32
}

func (l *arithLane[T]) eval(rows []int32) (vec[T], error) {
	x, y, valid, err := both(l.b, l.x, l.y, rows, l.valid[:])
	if err != nil {
		return vec[T]{}, err
	}
	n := l.b.n
	if len(rows) == n && !l.loop(x[:n], y[:n], l.out[:n]) {
		return vec[T]{l.out[:n], valid}, nil
	}
	for _, r := range validRows(valid, rows, l.rows[:]) {
		v, ok := l.op(x[r], y[r])
		if !ok {
			return vec[T]{}, l.t.failed(l.b, r, ErrOverflow)
		}
		l.out[r] = v
	}
	return vec[T]{l.out[:n], valid}, nil
}

func addInts(x, y, out []int64) bool {
	y, out = y[:len(x)], out[:len(x)]
	signs := int64(0)
	for i, a := range x {
		b := y[i]
		c := a + b
		signs |= (a ^ c) & (b ^ c)
		out[i] = c
	}
	return signs < 0
}

func subInts(x, y, out []int64) bool {
	y, out = y[:len(x)], out[:len(x)]
	signs := int64(0)
	for i, a := range x {
		b := y[i]
		c := a - b
		signs |= (a ^ b) & (a ^ c)
		out[i] = c
	}
	return signs < 0
}

func mulInts(x, y, out []int64) bool {
	y, out = y[:len(x)], out[:len(x)]
	high := uint64(0)
	for i, a := range x {
		b := y[i]
		// The product of 128 bits fits if its high word is the sign of its low word.
		h, l := bits.Mul64(uint64(a), uint64(b))
		h -= uint64(a>>63)&uint64(b) + uint64(b>>63)&uint64(a)
		high |= h ^ uint64(int64(l)>>63)
		out[i] = int64(l)
	}
	return high != 0
}

func addInt(a, b int64) (int64, bool) {
	c := a + b
	return c, (a^c)&(b^c) >= 0
}

func subInt(a, b int64) (int64, bool) {
	c := a - b
	return c, (a^b)&(a^c) >= 0
}

func mulInt(a, b int64) (int64, bool) {
	c := a * b
	return c, a == 0 || c/a == b && (a != -1 || b != math.MinInt64)
}

func addUints(x, y, out []uint64) bool {
	y, out = y[:len(x)], out[:len(x)]
	carries := uint64(0)
	for i, a := range x {
		c, carry := bits.Add64(a, y[i], 0)
		carries |= carry
		out[i] = c
	}
	return carries != 0
}

func subUints(x, y, out []uint64) bool {
	y, out = y[:len(x)], out[:len(x)]
	borrows := uint64(0)
	for i, a := range x {
		c, borrow := bits.Sub64(a, y[i], 0)
		borrows |= borrow
		out[i] = c
	}
	return borrows != 0
}

func mulUints(x, y, out []uint64) bool {
	y, out = y[:len(x)], out[:len(x)]
	high := uint64(0)
	for i, a := range x {
		h, l := bits.Mul64(a, y[i])
		high |= h
		out[i] = l
	}
	return high != 0
}

func addUint(a, b uint64) (uint64, bool) { return a + b, a+b >= a }
func subUint(a, b uint64) (uint64, bool) { return a - b, a >= b }
func mulUint(a, b uint64) (uint64, bool) {
	h, l := bits.Mul64(a, b)
	return l, h == 0
}

func divInt(a, b int64) (int64, error) {
	switch {
	case b == 0:
		return 0, ErrDivision
	case a == math.MinInt64 && b == -1:
		return 0, ErrOverflow
	}
	return a / b, nil
}

func modInt(a, b int64) (int64, error) {
	if b == 0 {
		return 0, ErrDivision
	}
	return a % b, nil
}

func divUint(a, b uint64) (uint64, error) {
	if b == 0 {
		return 0, ErrDivision
	}
	return a / b, nil
}

func modUint(a, b uint64) (uint64, error) {
	if b == 0 {
		return 0, ErrDivision
	}
	return a % b, nil
}

// A floatLane computes + - * / % of floats. NULL rows need no care, because no float operation fails.
type floatLane struct {
	b     *block
	x, y  lane[float64]
	op    func(x, y float64) float64
	loop  func(x, y, out []float64) // op in all rows; nil means none
	out   []float64
	valid [blockRows / 8]byte
}

// floatsPerRow is the number of rows that the loop over all rows of a block may compute for each row that is needed.
const floatsPerRow = 8

func (l *floatLane) eval(rows []int32) (vec[float64], error) {
	x, y, valid, err := both(l.b, l.x, l.y, rows, l.valid[:])
	if err != nil {
		return vec[float64]{}, err
	}
	n := l.b.n
	if l.loop != nil && len(rows) >= n/floatsPerRow {
		l.loop(x[:n], y[:n], l.out[:n])
		return vec[float64]{l.out[:n], valid}, nil
	}
	for _, r := range rows {
		l.out[r] = l.op(x[r], y[r])
	}
	return vec[float64]{l.out[:n], valid}, nil
}

// arithFloats returns the lane of an operation on float64. The sign is a difference: 0 - x would not give -0.
func (b *builder) arithFloats(t *term) lane[float64] {
	l := &floatLane{b: b.block, x: b.floats(t.args[0]), y: b.floats(t.args[1]), out: room[float64](b.block)}
	switch t.op {
	case opAdd:
		l.op, l.loop = func(x, y float64) float64 { return x + y }, addFloats
	case opSub:
		l.op, l.loop = func(x, y float64) float64 { return x - y }, subFloats
	case opNeg:
		l.x = newConst(b.block, math.Copysign(0, -1), false)
		l.op, l.loop = func(x, y float64) float64 { return x - y }, subFloats
	case opMul:
		l.op, l.loop = func(x, y float64) float64 { return x * y }, mulFloats
	case opDiv:
		l.op, l.loop = func(x, y float64) float64 { return x / y }, divFloats
	default:
		l.op = math.Mod
	}
	return l
}

func addFloats(x, y, out []float64) {
	y, out = y[:len(x)], out[:len(x)]
	for i, a := range x {
		out[i] = a + y[i]
	}
}

func subFloats(x, y, out []float64) {
	y, out = y[:len(x)], out[:len(x)]
	for i, a := range x {
		out[i] = a - y[i]
	}
}

func mulFloats(x, y, out []float64) {
	y, out = y[:len(x)], out[:len(x)]
	for i, a := range x {
		out[i] = a * y[i]
	}
}

func divFloats(x, y, out []float64) {
	y, out = y[:len(x)], out[:len(x)]
	for i, a := range x {
		out[i] = a / y[i]
	}
}

// ints returns the lane of an operation on int64.
func (b *builder) arithInts(t *term) lane[int64] {
	x, y := b.ints(t.args[0]), b.ints(t.args[1])
	l := &arithLane[int64]{t: t, b: b.block, x: x, y: y, out: room[int64](b.block)}
	switch t.op {
	case opAdd:
		l.op, l.loop = addInt, addInts
	case opSub, opNeg:
		l.op, l.loop = subInt, subInts
	case opMul:
		l.op, l.loop = mulInt, mulInts
	case opDiv:
		return newZip(t, b.block, x, y, divInt)
	case opMod:
		return newZip(t, b.block, x, y, modInt)
	}
	return l
}

// arithUints returns the lane of an operation on uint64.
func (b *builder) arithUints(t *term) lane[uint64] {
	x, y := b.uints(t.args[0]), b.uints(t.args[1])
	l := &arithLane[uint64]{t: t, b: b.block, x: x, y: y, out: room[uint64](b.block)}
	switch t.op {
	case opAdd:
		l.op, l.loop = addUint, addUints
	case opSub:
		l.op, l.loop = subUint, subUints
	case opMul:
		l.op, l.loop = mulUint, mulUints
	case opDiv:
		return newZip(t, b.block, x, y, divUint)
	case opMod:
		return newZip(t, b.block, x, y, modUint)
	}
	return l
}
