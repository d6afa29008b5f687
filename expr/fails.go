// SPDX-License-Identifier: Apache-2.0

package expr

import "slices"

// Expressions without errors in rows.

// total are the operations that have a result, which may be NULL, for all arguments.
var total = []string{
	opColumn, opLiteral, opAnd, opOr, opNot, opEq, opNe, opLt, opLe, opGt, opGe, opIn, opBetween, opIsNull, opLike,
	opILike, opRegexp, opCase, "coalesce", "length", "strlen", "lower", "upper", "contains", "starts_with", "ends_with",
	"regexp_replace", "extract",
}

// NeverFails reports whether the expression certainly causes no [*RowError], so that it does not matter whether a row
// that is not needed is evaluated.
func (p *Program) NeverFails() bool { return p.root.neverFails() }

func (t *term) neverFails() bool {
	return slices.Contains(total, t.op) && !slices.ContainsFunc(t.args, func(a *term) bool { return !a.neverFails() })
}
