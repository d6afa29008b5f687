// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"slices"

	"github.com/vecql/vecql/column"
)

// Expressions without errors in rows.

// total are the operations that have a result, which may be NULL, for all arguments.
var total = []string{
	opColumn, opLiteral, opAnd, opOr, opNot, opEq, opNe, opLt, opLe, opGt, opGe, opIn, opInSet, opBetween, opIsNull,
	opLike, opILike, opRegexp, opCase, opTryCast, "coalesce", "length", "strlen", "lower", "upper", "contains",
	"starts_with", "ends_with",
	"regexp_replace", "regexp_extract", "strftime", "extract", "greatest", "least", "trim", "ltrim", "rtrim", "reverse",
	"left", "right",
	"split_part", "strpos", "ascii", "translate", "md5", "ceil", "floor", "round", "trunc", "sqrt", "cbrt", "exp", "ln",
	"log10", "log2", "pow", "sin", "cos", "tan", "cot", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh",
	"acosh", "atanh", "degrees", "radians", "gamma", "lgamma", "bitand", "bitor", "bitxor", "bitnot",
}

// NeverFails reports whether the expression certainly causes no [*RowError], so that it does not matter whether a row
// that is not needed is evaluated.
func (p *Program) NeverFails() bool { return p.root.neverFails() }

// neverFails reports whether the term certainly causes no error in a row.
func (t *term) neverFails() bool {
	switch t.op {
	case opAdd, opSub, opNeg:
		if t.class == classInt {
			_, _, ok := t.bounds()
			return ok
		}
		fallthrough
	case opMul, opDiv, opMod:
		if t.class != classFloat {
			return false
		}
	default:
		rescaled := func(a *term) bool { return a.class != classBool && a.typ != t.typ }
		if !slices.Contains(total, t.op) || t.class.isDecimal() && slices.ContainsFunc(t.args, rescaled) {
			return false
		}
	}
	return !slices.ContainsFunc(t.args, func(a *term) bool { return !a.neverFails() })
}

// bounds returns bounds of the values of sums and differences of integers of up to 32 bits and literals
// that do not overflow; false for other terms.
func (t *term) bounds() (lo, hi int64, ok bool) {
	switch {
	case t.class != classInt:
		return 0, 0, false
	case t.op == opColumn && t.typ.Kind != column.Int64:
		lo, hi = limits(t.typ.Kind)
		return lo, hi, true
	case t.op == opLiteral:
		v, ok := t.value.(int64)
		return v, v, ok
	case t.op != opAdd && t.op != opSub && t.op != opNeg:
		return 0, 0, false
	}
	least, most, ok := t.args[0].bounds()
	from, to, known := t.args[1].bounds()
	if !ok || !known {
		return 0, 0, false
	}
	add := addInt
	if t.op != opAdd {
		add, from, to = subInt, to, from
	}
	lo, ok = add(least, from)
	hi, known = add(most, to)
	return lo, hi, ok && known
}
