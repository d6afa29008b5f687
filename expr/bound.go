// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/int128"
)

// Conjuncts and bounds: what a scan can evaluate itself.

// Conjuncts returns expressions that are all true in exactly the rows in which e is true: the operands of AND, the
// operands of an OR below NOT, and the two sides of BETWEEN. A BETWEEN of a literal with a literal bound is one
// conjunct, because these literals take their type from the other bound.
func Conjuncts(e Expr) []Expr { return conjuncts(nil, e, false) }

// conjuncts appends the conjuncts of e, or of its opposite.
func conjuncts(into []Expr, e Expr, not bool) []Expr {
	if e.n == nil {
		return append(into, e)
	}
	switch args := e.n.args; {
	case e.n.op == opNot:
		return conjuncts(into, args[0], !not)
	case e.n.op == opAnd && !not, e.n.op == opOr && not:
		for _, a := range args {
			into = conjuncts(into, a, not)
		}
		return into
	case e.n.op == opBetween && !not && !betweenLiterals(args):
		return append(into, at(e, args[0].Ge(args[1])), at(e, args[0].Le(args[2])))
	case opposites[e.n.op] != "" && not:
		return append(into, at(e, call(opposites[e.n.op], args...)))
	case not:
		return append(into, at(e, e.Not()))
	case e.n.op == opLiteral && e.n.value == nil: // which and gave its type
		return append(into, at(e, e.Cast(typeBool)))
	}
	return append(into, e)
}

// betweenLiterals reports whether a literal is compared with another one, whose type comes from the third operand.
func betweenLiterals(args []Expr) bool {
	isLiteral := func(e Expr) bool { return e.n == nil || e.n.op == opLiteral }
	return isLiteral(args[0]) && slices.ContainsFunc(args[1:], isLiteral)
}

// at gives a new expression the place of the one it replaces.
func at(old, e Expr) Expr {
	e.n.at = old.n.at
	return e
}

// An Op is the operator of a [Bound].
type Op string

// The operators of bounds.
const (
	OpEq      Op = opEq
	OpNe      Op = opNe
	OpLt      Op = opLt
	OpLe      Op = opLe
	OpGt      Op = opGt
	OpGe      Op = opGe
	OpIn      Op = opIn
	OpIsNull  Op = opIsNull
	OpNotNull Op = "is not null"
	// Of contains, and of like with a pattern such as '%text%'.
	OpContains    Op = "contains"
	OpNotContains Op = "not contains"
)

// A Bound is a predicate of one column and literals, which filters of files and statements of CQL can express.
type Bound struct {
	Column string
	Type   column.Type // of the column
	Op     Op
	// Values are the literals: one, any number for OpIn, none for OpIsNull and OpNotNull. They are bool, int64, uint64,
	// float64, string, []byte, cql.UUID, time.Time (of dates and timestamps) or time.Duration (of times), and need not be
	// values of the column's type: an int32 may be less than 2.5. A float or a decimal beside a decimal is the string of
	// its digits.
	Values []any
}

// Bound returns the expression as a bound; false if it is not one. Use it on the conjuncts of a selection: the rows for
// which they are true are those for which the selection is true.
func (p *Program) Bound() (Bound, bool) {
	t, not := p.root, false
	for t.op == opNot {
		t, not = t.args[0], !not
	}
	b := Bound{Op: Op(t.op)}
	terms := t.args
	switch {
	case t.op == opColumn && t.class == classBool:
		terms, b.Op, b.Values = []*term{t}, opEq, []any{!not}
	case t.op == opIsNull && not:
		b.Op = OpNotNull
	case t.op == opIsNull, t.op == opIn && !not:
	case t.op == opInSet && !not:
		s := t.e.n.value.(*Set)
		if s.few == nil {
			return Bound{}, false
		}
		b.Op, b.Values = OpIn, slices.Clone(s.few)
	case opposites[t.op] != "":
		if not {
			b.Op = Op(opposites[t.op])
		}
		if terms[0].op == opLiteral {
			b.Op, terms = Op(flipped[string(b.Op)]), []*term{terms[1], terms[0]}
		}
	case isLikeness(t.op):
		part, ok := containedText(t)
		if !ok || terms[0].typ.ValueWidth() > 0 {
			return Bound{}, false
		}
		if b.Op = OpContains; not {
			b.Op = OpNotContains
		}
		terms, b.Values = terms[:1], []any{part}
	default:
		return Bound{}, false
	}
	if terms[0].op != opColumn {
		return Bound{}, false
	}
	b.Column, b.Type = terms[0].e.n.name, terms[0].typ
	for _, l := range terms[1:] {
		switch {
		case l.op != opLiteral, l.value == nil && b.Op != OpIn:
			return Bound{}, false
		case l.isDecimalLiteral() && !terms[0].class.isDecimal(), // of no value that Bound documents
			l.class == classFloat && terms[0].class.isDecimal(): // compared as floats
			return Bound{}, false
		case l.value != nil: // a member NULL selects no row
			b.Values = append(b.Values, l.goValue())
		}
	}
	return b, true
}

// goValue returns the value of a literal as Bound documents it.
func (t *term) goValue() any {
	if v, ok := t.value.(cql.Duration); ok {
		return time.Duration(v.Nanoseconds)
	}
	if t.class.isDecimal() {
		switch v := t.e.n.value.(type) {
		case float64:
			if t.e.n.name != "" {
				return t.e.n.name
			}
			return decimalLiteral(v)
		case amount:
			return v.digits()
		}
		return t.e.n.value // a text is not rounded
	}
	return goValue(t.value)
}

// goValue returns the normal form of a literal as a value that Lit documents.
func goValue(value any) any {
	switch v := value.(type) {
	case moment:
		return v.at
	case timeOfDay:
		return time.Duration(v)
	case amount:
		return cql.Decimal{Unscaled: int128.Big(v.unscaled), Scale: int32(v.scale)}
	}
	return value
}
