// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
)

// Arithmetic on all number types, as in Java.

// An operationError is the error of an operation, with Java's text.
type operationError string

// Error implements error.
func (e operationError) Error() string { return string(e) }

const (
	errDivision    operationError = "/ by zero"
	errBigDivision operationError = "BigInteger divide by zero"
	errDecimalRest operationError = "Division by zero"
	errNaN         operationError = "A NaN cannot be converted into a decimal"
	errInfinite    operationError = "An infinite number cannot be converted into a decimal"
)

// operatorFunctions are Cassandra's names of the operators.
var operatorFunctions = map[byte]string{
	'-': "_substract", //nolint:misspell // Cassandra's spelling
	'+': "_add", '*': "_multiply", '/': "_divide", '%': "_modulo",
}

// operand converts an operand of an operation of type t. Integers and floats become decimals through a double, as in
// Cassandra: 7 becomes 7.0.
func operand(t, from *Type, b []byte) number {
	n := toNumber(from, b)
	n.short = false
	if t.Kind == KindDecimal && n.k == 'i' && from.Kind != KindVarint {
		return number{f: n.float(), k: 'f'}
	}
	return n
}

// number is a value of any number type.
type number struct {
	i *big.Int // integer, or unscaled value of a decimal
	s int32    // scale of a decimal
	f float64
	k byte // 'i', 'd' or 'f'
	// short means that f was a float, so that it has the digits of 32 bits.
	short bool
}

// toNumber returns a value of a number type as a number. An empty value is 0.
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

// maxScale bounds the digits of decimals in arithmetic.
const maxScale = 10_000

func (n number) float() float64 {
	switch n.k {
	case 'f':
		return n.f
	case 'd':
		v, _ := strconv.ParseFloat(formatDecimal(n.i, n.s), 64) // out of range yields infinity or zero
		return v
	}
	v, _ := new(big.Float).SetInt(n.i).Float64()
	return v
}

// decimal returns the unscaled value and the scale.
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

// whole returns the number truncated to an integer.
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

// saturate clamps a fractional number to the range of an integer type, like Java's narrowing conversion.
func (n number) saturate(t *Type) number {
	if n.k != 'f' || t.Kind == KindDecimal || t.Kind == KindFloat || t.Kind == KindDouble {
		return n
	}
	low, high := float64(math.MinInt32), float64(math.MaxInt32)
	long := t.Kind == KindBigInt || t.Kind == KindVarint
	if long {
		low, high = math.MinInt64, math.MaxInt64
	}
	switch {
	case math.IsNaN(n.f):
		return number{i: new(big.Int), k: 'i'}
	case n.f >= high && long:
		return number{i: big.NewInt(math.MaxInt64), k: 'i'}
	}
	n.f = max(low, min(high, n.f))
	return n
}

// to serializes the number as a value of t; integers wrap around as in Java.
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

// calculate returns a op b in type t. Integers wrap around where Java's do; a division by zero is errDivision.
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
		if t.Kind == KindVarint {
			return nil, errBigDivision
		}
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

// calculateDecimal returns a op b as a decimal, with the scale of Java's BigDecimal.
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
	v := new(big.Int)
	switch op {
	case '*':
		return decimalBytes(v.Mul(x, y), xs+ys), nil
	case '/':
		return divideDecimals(x, y, xs, ys)
	}
	s := max(xs, ys)
	left, right := rescaled(x, xs, s), rescaled(y, ys, s)
	switch op {
	case '+':
		v.Add(left, right)
	case '-':
		v.Sub(left, right)
	case '%':
		if y.Sign() == 0 {
			return nil, errDecimalRest
		}
		quotient, rest := new(big.Int).QuoRem(left, right, v)
		s = max(xs, wholeScale(quotient, xs-ys)+ys)
		return decimalBytes(rescaled(rest, max(xs, ys), s), s), nil
	}
	return decimalBytes(v, s), nil
}

// rescaled returns the unscaled value for another scale. Digits that it loses are zeros.
func rescaled(v *big.Int, from, to int32) *big.Int {
	if to >= from {
		return new(big.Int).Mul(v, pow10(int64(to)-int64(from)))
	}
	return new(big.Int).Quo(v, pow10(int64(from)-int64(to)))
}

// wholeScale returns the scale of BigDecimal.divideToIntegralValue for a quotient that is an integer: that nearest to
// preferred at which no digit is lost.
func wholeScale(quotient *big.Int, preferred int32) int32 {
	if quotient.Sign() == 0 || preferred >= 0 {
		return preferred
	}
	_, s := stripZeros(quotient, 0, preferred)
	return s
}

// stripZeros removes trailing zeros while the scale is above least.
func stripZeros(v *big.Int, s, least int32) (*big.Int, int32) {
	ten, rest := big.NewInt(10), new(big.Int)
	for s > least {
		q, r := new(big.Int).QuoRem(v, ten, rest)
		if r.Sign() != 0 {
			break
		}
		v, s = q, s-1
	}
	return v, s
}

// divideDecimals divides like Cassandra's DecimalType: at least 32 digits, and 32 of them significant, rounded half up,
// without trailing zeros.
func divideDecimals(x, y *big.Int, xs, ys int32) ([]byte, error) {
	if y.Sign() == 0 {
		return nil, errBigDivision
	}
	if x.Sign() == 0 {
		return decimalBytes(x, 0), nil
	}
	first := int32(decimalDigits(x)) - xs - (int32(decimalDigits(y)) - ys) // place of the first digit
	s := min(max(32-first, xs, ys, 32), 1000)
	n, d := x, y
	if shift := int64(s) + int64(ys) - int64(xs); shift >= 0 {
		n = new(big.Int).Mul(x, pow10(shift))
	} else {
		d = new(big.Int).Mul(y, pow10(-shift))
	}
	v, rest := new(big.Int).QuoRem(n, d, new(big.Int))
	if rest.Lsh(rest.Abs(rest), 1).CmpAbs(d) >= 0 {
		v.Add(v, big.NewInt(int64(x.Sign()*y.Sign())))
	}
	if v.Sign() == 0 {
		return decimalBytes(v, 0), nil
	}
	v, s = stripZeros(v, s, math.MinInt32)
	return decimalBytes(v, s), nil
}
