// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The reference for decimals: exact fractions, whose digits are counted at the end.

func powerOfTen(n int) *big.Rat {
	p := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(n, -n))), nil)
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), p)
	}
	return new(big.Rat).SetInt(p)
}

// exactOf returns a number of a type as a fraction; false for other values and for floats.
func exactOf(v any, t column.Type) (*big.Rat, bool) {
	switch x := v.(type) {
	case *big.Int:
		return new(big.Rat).Mul(new(big.Rat).SetInt(x), powerOfTen(-t.Scale)), true
	case *big.Rat:
		return new(big.Rat).Mul(x, powerOfTen(-t.Scale)), true
	case cql.Decimal:
		return new(big.Rat).Mul(new(big.Rat).SetInt(x.Unscaled), powerOfTen(-int(x.Scale))), true
	}
	return nil, false
}

// referenceValue returns a number of a type as a number of another one.
func referenceValue(v any, from, to column.Type) any {
	if !classOf(from).isDecimal() && !classOf(to).isDecimal() {
		return referenceNumber(v, to)
	}
	r, ok := exactOf(v, from)
	switch {
	case !ok:
		return v
	case classOf(to) == classFloat:
		f, _ := r.Float64()
		return f
	}
	return new(big.Rat).Mul(r, powerOfTen(to.Scale)).Num()
}

// comparedNumbers returns the operands of a comparison as numbers without the scales of decimals. A decimal beside a
// float is a float.
func comparedNumbers(t *term, args []any) []any {
	out := []any{args[0], args[1]}
	for i, a := range t.args {
		if !a.class.isDecimal() {
			continue
		}
		if _, isFloat := args[1-i].(float64); isFloat && t.args[1-i].op != opLiteral {
			out[i] = referenceValue(args[i], a.typ, typeFloat64)
		} else if r, ok := exactOf(args[i], a.typ); ok {
			out[i] = r
		}
	}
	return out
}

// toDecimal returns a fraction in the unit of a type, rounded; a number with too many digits is the error.
func toDecimal(r *big.Rat, t column.Type, tooLarge error) (any, error) {
	v := nearestInt(new(big.Rat).Mul(r, powerOfTen(t.Scale)))
	if new(big.Int).Abs(v).Cmp(powerOfTen(t.Precision).Num()) >= 0 {
		return nil, tooLarge
	}
	return v, nil
}

// nearestInt rounds a half away from zero.
func nearestInt(r *big.Rat) *big.Int {
	sum := new(big.Rat).Add(new(big.Rat).Abs(r), big.NewRat(1, 2))
	n := new(big.Int).Div(sum.Num(), sum.Denom())
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

// referenceDecimals has the arithmetic of decimals.
func referenceDecimals(t *term, args []any) (any, error) {
	x, _ := exactOf(args[0], t.args[0].typ)
	y, _ := exactOf(args[1], t.args[1].typ)
	r := new(big.Rat)
	if t.op == opMul {
		return toDecimal(r.Mul(x, y), t.typ, ErrOverflow)
	}
	for _, operand := range []*big.Rat{x, y} { // which has the scale of the result
		if new(big.Rat).Mul(operand, powerOfTen(t.typ.Scale)).Num().BitLen() >= 8*t.typ.ValueWidth() {
			return nil, ErrOverflow
		}
	}
	switch t.op {
	case opAdd:
		r.Add(x, y)
	case opSub, opNeg:
		r.Sub(x, y)
	case opMod:
		if y.Sign() == 0 {
			return nil, ErrDivision
		}
		r.Quo(x, y)
		whole := new(big.Rat).SetInt(new(big.Int).Quo(r.Num(), r.Denom()))
		r.Sub(x, whole.Mul(whole, y))
	}
	return toDecimal(r, t.typ, ErrOverflow)
}

// referenceRounding has the roundings of decimals.
func referenceRounding(t *term, args []any) (any, error) {
	v, _ := exactOf(args[0], t.args[0].typ)
	digits := 0
	if len(args) == 2 {
		digits = int(max(-100, min(args[1].(*big.Int).Int64(), 100)))
	}
	scaled := new(big.Rat).Mul(v, powerOfTen(digits))
	n := new(big.Int)
	switch t.op {
	case "abs":
		return toDecimal(new(big.Rat).Abs(v), t.typ, ErrOverflow)
	case "floor":
		n.Div(scaled.Num(), scaled.Denom())
	case "ceil":
		n.Neg(n.Div(new(big.Int).Neg(scaled.Num()), scaled.Denom()))
	case "trunc":
		n.Quo(scaled.Num(), scaled.Denom())
	default:
		n = nearestInt(scaled)
	}
	return toDecimal(new(big.Rat).Mul(new(big.Rat).SetInt(n), powerOfTen(-digits)), t.typ, ErrOverflow)
}

// referenceCastDecimal has the casts to decimals and from them.
func referenceCastDecimal(from, to column.Type, v any) (any, error) {
	var r *big.Rat
	switch x := v.(type) {
	case string:
		plain := strings.TrimLeft(x, "+-")
		if plain == "" || plain[0] != '.' && (plain[0] < '0' || plain[0] > '9') || strings.ContainsAny(plain, "_xXpP/") {
			return nil, ErrCast
		}
		var ok bool
		if r, ok = new(big.Rat).SetString(x); !ok {
			return nil, ErrCast
		}
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, ErrCast
		}
		r = new(big.Rat).SetFloat64(x)
	default:
		r, _ = exactOf(v, from)
	}
	switch class := classOf(to); {
	case class.isDecimal():
		return toDecimal(r, to, ErrCast)
	case class == classBool:
		return r.Sign() != 0, nil
	case class == classText && from.Kind == column.Varint:
		return r.Num().String(), nil
	case class == classText && from.Kind == column.Decimal:
		return v.(cql.Decimal).String(), nil
	case class == classText:
		return r.FloatString(from.Scale), nil
	case class == classFloat:
		f, _ := r.Float64()
		narrow, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', -1, 64), 8*to.ValueWidth())
		if err != nil {
			return nil, ErrCast
		}
		return narrow, nil
	}
	n := nearestInt(r)
	if n.BitLen() > 126 { // more than 38 digits
		return nil, ErrCast
	}
	return within(n, to, ErrCast)
}
