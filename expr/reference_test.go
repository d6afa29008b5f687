// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"strings"
	"unicode/utf8"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The reference: it evaluates terms row by row, on Go values. nil is NULL; integers, dates, times, timestamps and
// decimals are *big.Int of the unit of their type; literals between two such values are *big.Rat; floats are float64,
// texts and bytes string, vectors []float64, and decimals that only casts take cql.Decimal.

// reference returns the value of a term in a row.
func reference(t *term, b *column.Batch, row int) (any, error) {
	switch t.op {
	case opColumn:
		return referenceColumn(b.Column(t.e.n.name), row), nil
	case opLiteral:
		return referenceLiteral(t), nil
	case opAnd, opOr, opNot, opBetween, opIn:
		return referencePredicate(t, b, row)
	case opCase:
		for i := 0; i < len(t.args)-1; i += 2 {
			if v, err := referenceCondition(t.args[i], true, b, row); err != nil || v {
				if err != nil {
					return nil, err
				}
				return referenceAs(t.typ, t.args[i+1], b, row)
			}
		}
		return referenceAs(t.typ, t.args[len(t.args)-1], b, row)
	case "greatest", "least":
		var best any
		for _, a := range t.args {
			v, err := referenceAs(t.typ, a, b, row)
			if err != nil {
				return nil, err
			}
			if v != nil && (best == nil || referenceCompare(v, best) > 0 == (t.op == "greatest") && referenceCompare(v, best) != 0) {
				best = v
			}
		}
		return best, nil
	case "coalesce":
		for _, a := range t.args {
			if v, err := referenceAs(t.typ, a, b, row); err != nil || v != nil {
				return v, err
			}
		}
		return nil, nil
	}
	var args []any
	null := false
	for _, a := range t.args {
		v, err := reference(a, b, row)
		if err != nil {
			return nil, err
		}
		if a.class == classInterval {
			v = a.value
		}
		args = append(args, v)
		null = null || v == nil
	}
	switch {
	case t.op == opIsNull:
		return args[0] == nil, nil
	case null:
		return nil, nil
	}
	return referenceCall(t, args)
}

// referenceAs returns the value of a term as a value of another type of numbers.
func referenceAs(to column.Type, t *term, b *column.Batch, row int) (any, error) {
	v, err := reference(t, b, row)
	return referenceValue(v, t.typ, to), err
}

func referenceNumber(v any, to column.Type) any {
	if i, ok := v.(*big.Int); ok && classOf(to) == classFloat {
		f, _ := new(big.Float).SetInt(i).Float64()
		if to.Kind == column.Float32 {
			f = float64(float32(f))
		}
		return f
	}
	return v
}

func referenceColumn(c *column.Column, row int) any {
	if c.Null(row) {
		return nil
	}
	switch classOf(c.Type) {
	case classDate:
		days, _ := column.Slice[int32](c)
		return big.NewInt(int64(days[row]))
	case classTime, classTimestamp, classDecimal:
		v, _ := column.Slice[int64](c)
		return big.NewInt(v[row])
	case classWide:
		return c.Value(row).(cql.Decimal).Unscaled
	}
	switch v := c.Value(row).(type) {
	case int8:
		return big.NewInt(int64(v))
	case int16:
		return big.NewInt(int64(v))
	case int32:
		return big.NewInt(int64(v))
	case int64:
		return big.NewInt(v)
	case uint8:
		return big.NewInt(int64(v))
	case uint16:
		return big.NewInt(int64(v))
	case uint32:
		return big.NewInt(int64(v))
	case uint64:
		return new(big.Int).SetUint64(v)
	case float32:
		return float64(v)
	case []byte:
		return string(v)
	case cql.UUID:
		return string(v[:])
	case []float32:
		return widen(v)
	case []int32:
		return widen(v)
	case []int64:
		return widen(v)
	default:
		return v
	}
}

func widen[T float32 | int32 | int64](v []T) []float64 {
	w := make([]float64, len(v))
	for i := range v {
		w[i] = float64(v[i])
	}
	return w
}

func referenceLiteral(t *term) any {
	switch v := t.value.(type) {
	case []byte:
		return string(v)
	case cql.UUID:
		return string(v[:])
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return v
		}
	}
	if t.class == classFloat && t.value != nil {
		if f, ok := t.value.(float64); ok {
			return f
		}
	}
	if r, ok := ratOf(t.value, t.typ); ok {
		if r.IsInt() {
			return r.Num()
		}
		return r
	}
	return t.value
}

// referencePredicate returns the value of a predicate. It has the error of the condition that the predicate is true, or
// otherwise of the condition that it is false: these evaluate no more operands than the logic of three values.
func referencePredicate(t *term, b *column.Batch, row int) (any, error) {
	if v, err := referenceLogic(t, b, row); err == nil {
		return v, nil
	}
	for _, want := range []bool{true, false} {
		if is, err := referenceCondition(t, want, b, row); err != nil {
			return nil, err
		} else if is {
			return want, nil
		}
	}
	return nil, nil
}

// referenceLogic returns the value of a predicate by SQL's logic of three values, operand by operand.
func referenceLogic(t *term, b *column.Batch, row int) (any, error) {
	switch {
	case t.op == opNot:
		v, err := referenceLogic(t.args[0], b, row)
		if is, ok := v.(bool); ok {
			return !is, err
		}
		return nil, err
	case t.op == opBetween:
		return referenceLogic(boundsOf(t), b, row)
	case t.op == opIn && len(t.args) > 1:
		return referenceLogic(membersOf(t), b, row)
	case t.op == opIn:
		v, err := reference(t.args[0], b, row)
		if v == nil || err != nil {
			return nil, err
		}
		return false, nil
	case t.op != opAnd && t.op != opOr:
		return reference(t, b, row)
	}
	decisive := t.op == opOr
	var result any = !decisive
	for _, a := range t.args {
		switch v, err := referenceLogic(a, b, row); {
		case err != nil:
			return nil, err
		case v == decisive:
			return decisive, nil
		case v == nil:
			result = nil
		}
	}
	return result, nil
}

// boundsOf returns between as the two comparisons that it stands for.
func boundsOf(t *term) *term {
	return &term{op: opAnd, args: []*term{
		{op: opGe, args: []*term{t.args[0], t.args[1]}}, {op: opLe, args: []*term{t.args[0], t.args[2]}},
	}}
}

// referenceCondition reports whether a predicate has a value, as a condition: what follows an operand that decides
// about this value alone is not evaluated. After NULL, and cannot be true, but still false.
func referenceCondition(t *term, want bool, b *column.Batch, row int) (bool, error) {
	switch {
	case t.op == opNot:
		return referenceCondition(t.args[0], !want, b, row)
	case t.op == opBetween:
		return referenceCondition(boundsOf(t), want, b, row)
	case t.op == opIn && len(t.args) > 1:
		return referenceCondition(membersOf(t), want, b, row)
	case t.op == opIn:
		v, err := referenceLogic(t, b, row)
		return v == want, err
	case t.op != opAnd && t.op != opOr:
		v, err := reference(t, b, row)
		return v == want, err
	}
	all := (t.op == opAnd) == want
	for _, a := range t.args {
		if v, err := referenceCondition(a, want, b, row); err != nil || v != all {
			return v, err
		}
	}
	return all, nil
}

// membersOf returns in as the comparisons that it stands for.
func membersOf(t *term) *term {
	or := &term{op: opOr}
	for _, a := range t.args[1:] {
		or.args = append(or.args, &term{op: opEq, args: []*term{t.args[0], a}})
	}
	return or
}

// referenceCompare compares two values exactly; NaN is the greatest number, false less than true.
func referenceCompare(a, b any) int {
	switch x := a.(type) {
	case bool:
		return bit(x) - bit(b.(bool))
	case string:
		return strings.Compare(x, b.(string))
	}
	r, rankA := rational(a)
	s, rankB := rational(b)
	if rankA != rankB || rankA != 0 {
		return min(1, max(-1, rankA-rankB))
	}
	return r.Cmp(s)
}

// rational returns a number, or its rank beside all finite numbers.
func rational(v any) (*big.Rat, int) {
	switch x := v.(type) {
	case *big.Int:
		return new(big.Rat).SetInt(x), 0
	case *big.Rat:
		return x, 0
	}
	switch f := v.(float64); {
	case math.IsNaN(f):
		return nil, 2
	case math.IsInf(f, 1):
		return nil, 1
	case math.IsInf(f, -1):
		return nil, -1
	default:
		return new(big.Rat).SetFloat64(f), 0
	}
}

// referenceCall returns the value of an operation on values that are not NULL.
func referenceCall(t *term, args []any) (any, error) {
	if opposites[t.op] != "" {
		args = comparedNumbers(t, args)
	}
	switch t.op {
	case opEq:
		return referenceCompare(args[0], args[1]) == 0, nil
	case opNe:
		return referenceCompare(args[0], args[1]) != 0, nil
	case opLt:
		return referenceCompare(args[0], args[1]) < 0, nil
	case opLe:
		return referenceCompare(args[0], args[1]) <= 0, nil
	case opGt:
		return referenceCompare(args[0], args[1]) > 0, nil
	case opGe:
		return referenceCompare(args[0], args[1]) >= 0, nil
	case opCast:
		return referenceCast(t, args[0])
	case opTryCast:
		v, err := referenceCast(t, args[0])
		if err != nil {
			return nil, nil
		}
		return v, nil
	case "strftime":
		return referenceFormat(referenceTime(args[0].(*big.Int), t.args[0].typ), args[1].(string)), nil
	case "time_bucket":
		return referenceBucket(t, args[1].(*big.Int), args[0].(cql.Duration))
	case "epoch_ms":
		return args[0], nil
	case "date_trunc", "extract":
		return referenceTimePart(t, args)
	case "abs", "ceil", "floor", "round", "trunc", "sqrt", "exp", "ln", "log10", "log2", "pow":
		return referenceMath(t, args)
	case "chr":
		if v := args[0].(*big.Int); v.IsInt64() && v.Int64() == int64(rune(v.Int64())) && utf8.ValidRune(rune(v.Int64())) {
			return string(rune(v.Int64())), nil
		}
		return nil, ErrCast
	case "dot", "cosine", "l2", "norm", "element", "slice":
		return referenceVector(t, args)
	case opAdd, opSub, opMul, opDiv, opMod, opNeg:
		switch {
		case t.args[1].class == classInterval:
			return referenceInterval(t, args[0].(*big.Int), args[1].(cql.Duration))
		case t.class == classFloat:
			x, y := referenceValue(args[0], t.args[0].typ, t.typ), referenceValue(args[1], t.args[1].typ, t.typ)
			return referenceFloats(t.op, x.(float64), y.(float64)), nil
		case t.class.isDecimal():
			return referenceDecimals(t, args)
		}
		return referenceInts(t, args[0].(*big.Int), args[1].(*big.Int))
	}
	return referenceText(t, args)
}

func referenceFloats(op string, a, b float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	case opMod:
		return math.Mod(a, b)
	}
	return -b
}

// referenceMath has the functions of numbers.
func referenceMath(t *term, args []any) (any, error) {
	if t.class.isDecimal() {
		return referenceRounding(t, args)
	}
	if v, ok := args[0].(*big.Int); ok && t.class != classFloat {
		if t.op == "abs" {
			return within(new(big.Int).Abs(v), t.typ, ErrOverflow)
		}
		return v, nil
	}
	v := referenceValue(args[0], t.args[0].typ, typeFloat64).(float64)
	switch t.op {
	case "abs":
		return math.Abs(v), nil
	case "ceil":
		return math.Ceil(v), nil
	case "floor":
		return math.Floor(v), nil
	case "trunc":
		return math.Trunc(v), nil
	case "round":
		if len(args) == 2 {
			return rounded(v, args[1].(*big.Int).Int64()), nil // TestRounded has its values
		}
		return math.Round(v), nil
	case "exp":
		return math.Exp(v), nil
	case "pow":
		return math.Pow(v, referenceValue(args[1], t.args[1].typ, typeFloat64).(float64)), nil
	}
	switch t.op {
	case "ln":
		return math.Log(v), nil
	case "log10":
		return math.Log10(v), nil
	case "log2":
		return math.Log2(v), nil
	}
	return math.Sqrt(v), nil
}

func referenceInts(t *term, a, b *big.Int) (any, error) {
	r := new(big.Int)
	switch t.op {
	case opAdd:
		r.Add(a, b)
	case opSub, opNeg:
		r.Sub(a, b)
	case opMul:
		r.Mul(a, b)
	case opDiv, opMod:
		if b.Sign() == 0 {
			return nil, ErrDivision
		}
		rest := new(big.Int)
		if r.QuoRem(a, b, rest); t.op == opMod {
			r = rest
		}
	}
	return within(r, t.typ, ErrOverflow)
}

// within returns an integer if its type has it.
func within(v *big.Int, t column.Type, otherwise error) (any, error) {
	w := uint(8 * t.ValueWidth())
	lo, hi := new(big.Int), new(big.Int).Lsh(big.NewInt(1), w)
	if !isUnsigned(t.Kind) {
		hi.Rsh(hi, 1)
		lo.Neg(hi)
	}
	if v.Cmp(lo) < 0 || v.Cmp(hi) >= 0 {
		return nil, otherwise
	}
	return v, nil
}
