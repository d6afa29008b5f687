// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"strconv"
)

// This file computes with values of all number types, as Java does.

// Faults of operations, in Java's words.
var (
	errDivision = errors.New("/ by zero")
	errNaN      = badValue("A NaN cannot be converted into a decimal")
	errInfinite = badValue("An infinite number cannot be converted into a decimal")
)

// operatorFunctions are what Cassandra calls the operators.
var operatorFunctions = map[byte]string{'+': "_add", '-': "_substract", '*': "_multiply", '/': "_divide", '%': "_modulo"} //nolint:misspell // so does Cassandra

// operand reads an operand of an operation of type t. Whole numbers become decimals by way of a double there: 7 is 7.0.
func operand(t, from *Type, b []byte) number {
	n := toNumber(from, b)
	if t.Kind == KindDecimal && n.k == 'i' && from.Kind != KindVarint {
		return number{f: n.float(), k: 'f'}
	}
	return n
}

// number is a value of any of the number types.
type number struct {
	i *big.Int // whole numbers, and the digits of a decimal
	s int32    // scale of a decimal
	f float64
	k byte // 'i', 'd' or 'f'
	// short is set where f was a float: its digits are those of 32 bits.
	short bool
}

func toNumber(t *Type, b []byte) number {
	switch t.Kind {
	case KindFloat:
		if len(b) == 4 {
			return number{f: float64(math.Float32frombits(binary.BigEndian.Uint32(b))), k: 'f', short: true}
		}
	case KindDouble:
		if len(b) == 8 {
			return number{f: math.Float64frombits(binary.BigEndian.Uint64(b)), k: 'f'}
		}
	case KindVarint:
		return number{i: readVarint(b), k: 'i'}
	case KindDecimal:
		v, s := splitDecimal(b)
		return number{i: v, s: s, k: 'd'}
	}
	return number{i: big.NewInt(readInt(b)), k: 'i'}
}

// maxScale bounds how far decimals are spread out for arithmetic.
const maxScale = 10_000

func (n number) float() float64 {
	switch n.k {
	case 'f':
		return n.f
	case 'd':
		v, _ := strconv.ParseFloat(formatDecimal(n.i, n.s), 64) // beyond the range it is infinite or zero
		return v
	}
	v, _ := new(big.Float).SetInt(n.i).Float64()
	return v
}

// decimal returns digits and scale.
func (n number) decimal() (*big.Int, int32, error) {
	if n.k != 'f' {
		return n.i, n.s, nil
	}
	if math.IsNaN(n.f) || math.IsInf(n.f, 0) {
		if math.IsNaN(n.f) {
			return nil, 0, errNaN
		}
		return nil, 0, errInfinite
	}
	b, err := parseDecimal(formatFloat(n.f, 64-32*btoi(n.short)))
	if err != nil {
		return nil, 0, asInvalid(err)
	}
	v, s := splitDecimal(b)
	return v, s, nil
}

// whole returns the number without its fraction.
func (n number) whole() (*big.Int, error) {
	switch n.k {
	case 'f':
		if math.IsNaN(n.f) {
			return new(big.Int), nil
		}
		if math.IsInf(n.f, 0) {
			return big.NewInt(map[bool]int64{true: math.MaxInt64, false: math.MinInt64}[n.f > 0]), nil
		}
		v, _ := new(big.Float).SetFloat64(n.f).Int(nil)
		return v, nil
	case 'd':
		if n.s > 0 {
			if int(n.s) > decimalDigits(n.i)+1 {
				return new(big.Int), nil
			}
			return new(big.Int).Quo(n.i, pow10(int64(n.s))), nil
		}
		if n.s < -maxScale {
			return nil, invalid("decimal out of range")
		}
		return new(big.Int).Mul(n.i, pow10(-int64(n.s))), nil
	}
	return n.i, nil
}

// saturate brings a number with a fraction into the range of a whole type, as Java's narrowing does.
func (n number) saturate(t *Type) number {
	if n.k != 'f' || t.Kind == KindVarint || t.Kind == KindDecimal || t.Kind == KindFloat || t.Kind == KindDouble {
		return n
	}
	low, high := float64(math.MinInt32), float64(math.MaxInt32)
	if t.Kind == KindBigInt {
		low, high = math.MinInt64, math.MaxInt64
	}
	switch {
	case math.IsNaN(n.f):
		return number{i: new(big.Int), k: 'i'}
	case n.f >= high && t.Kind == KindBigInt:
		return number{i: big.NewInt(math.MaxInt64), k: 'i'}
	}
	n.f = max(low, min(high, n.f))
	return n
}

// to serializes the number as a value of t; whole numbers wrap round as Java's do.
func (n number) to(t *Type) ([]byte, error) {
	switch t.Kind {
	case KindFloat:
		return float32Bytes(float32(n.float())), nil
	case KindDouble:
		return float64Bytes(n.float()), nil
	case KindDecimal:
		v, s, err := n.decimal()
		if err != nil {
			return nil, err
		}
		return decimalBytes(v, s), nil
	}
	v, err := n.whole()
	if err != nil {
		return nil, err
	}
	size := 8
	switch t.Kind {
	case KindVarint:
		return varintBytes(v), nil
	case KindTinyInt:
		size = 1
	case KindSmallInt:
		size = 2
	case KindInt:
		size = 4
	}
	low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
	return int64Bytes(int64(low))[8-size:], nil
}

func calculate(op byte, t *Type, a, b number) ([]byte, error) {
	switch t.Kind {
	case KindFloat, KindDouble:
		x, y := a.float(), b.float()
		var f float64
		switch op {
		case '+':
			f = x + y
		case '-':
			f = x - y
		case '*':
			f = x * y
		case '/':
			f = x / y
		case '%':
			f = math.Mod(x, y)
		}
		return number{f: f, k: 'f'}.to(t)
	case KindDecimal:
		return calculateDecimal(op, a, b)
	}
	x, err := a.whole()
	if err != nil {
		return nil, err
	}
	y, err := b.whole()
	if err != nil {
		return nil, err
	}
	if (op == '/' || op == '%') && y.Sign() == 0 {
		return nil, errDivision
	}
	v := new(big.Int)
	switch op {
	case '+':
		v.Add(x, y)
	case '-':
		v.Sub(x, y)
	case '*':
		v.Mul(x, y)
	case '/':
		v.Quo(x, y)
	case '%':
		v.Rem(x, y)
	}
	return number{i: v, k: 'i'}.to(t)
}

func calculateDecimal(op byte, a, b number) ([]byte, error) {
	x, xs, err := a.decimal()
	if err != nil {
		return nil, err
	}
	y, ys, err := b.decimal()
	if err != nil {
		return nil, err
	}
	if max(xs, ys) > maxScale || min(xs, ys) < -maxScale {
		return nil, invalid("decimal out of range")
	}
	v, s := new(big.Int), max(xs, ys)
	if op == '+' || op == '-' || op == '%' {
		x = new(big.Int).Mul(x, pow10(int64(s-xs)))
		y = new(big.Int).Mul(y, pow10(int64(s-ys)))
	}
	if (op == '/' || op == '%') && y.Sign() == 0 {
		return nil, errDivision
	}
	switch op {
	case '+':
		v.Add(x, y)
	case '-':
		v.Sub(x, y)
	case '*':
		v.Mul(x, y)
		s = xs + ys
	case '%':
		v.Rem(x, y)
	case '/':
		// 32 digits behind the point, without the zeros at the end.
		s = 32
		if shift := int64(s) + int64(ys) - int64(xs); shift >= 0 {
			v.Quo(new(big.Int).Mul(x, pow10(shift)), y)
		} else {
			v.Quo(x, new(big.Int).Mul(y, pow10(-shift)))
		}
		ten, rest := big.NewInt(10), new(big.Int)
		for s > 0 {
			q, r := new(big.Int).QuoRem(v, ten, rest)
			if r.Sign() != 0 {
				break
			}
			v, s = q, s-1
		}
	}
	return decimalBytes(v, s), nil
}
