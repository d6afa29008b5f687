// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/lex"
)

// The text of expressions, which Parse reads back.

// Precedences of operators, from the loosest to the tightest.
const (
	levelOr = iota + 1
	levelAnd
	levelNot
	levelCompare
	levelAdd
	levelMul
	levelUnary
	levelPrimary
)

// binaryLevels are the levels of the operators between two operands.
var binaryLevels = map[string]int{
	opEq: levelCompare, opNe: levelCompare, opLt: levelCompare, opLe: levelCompare, opGt: levelCompare, opGe: levelCompare,
	opLike: levelCompare, opILike: levelCompare, opRegexp: levelCompare,
	opAdd: levelAdd, opSub: levelAdd, opMul: levelMul, opDiv: levelMul, opMod: levelMul,
}

// String returns the text of the expression. [Parse] of it returns the same expression.
func (e Expr) String() string {
	var b strings.Builder
	e.print(&b, levelOr)
	return b.String()
}

// print writes the expression, in parentheses if its operator binds less than the level.
func (e Expr) print(b *strings.Builder, level int) {
	if e.n == nil {
		b.WriteString("null")
		return
	}
	own := e.n.level()
	if own < level {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n := e.n; n.op {
	case opColumn:
		b.WriteString(lex.Identifier(n.name))
	case opLiteral:
		if n.name != "" {
			b.WriteString(n.name)
		} else {
			b.WriteString(literalText(n.value))
		}
	case opAnd, opOr:
		n.list(b, " "+n.op+" ", n.args, own+1)
	case opNot:
		b.WriteString("not ")
		n.args[0].print(b, levelNot)
	case opIn, opBetween, opIsNull:
		n.printTest(b)
	case opQuery, opInQuery, opExists, opInSet:
		n.printStatement(b)
	case opNeg:
		b.WriteByte('-')
		if a := n.args[0].n; a != nil && a.op == opLiteral {
			level = levelPrimary + 1 // -(5) is not the literal -5
		} else {
			level = levelPrimary // -- begins a comment
		}
		n.args[0].print(b, level)
	case opCase:
		n.printCase(b)
	case opCast, opTryCast:
		b.WriteString(n.op + "(")
		n.args[0].print(b, levelOr)
		fmt.Fprintf(b, " as %s)", typeText(n.typ))
	default:
		n.printCall(b, own)
	}
}

// level returns the precedence of the node's operator.
func (n *node) level() int {
	switch n.op {
	case opOr:
		return levelOr
	case opAnd:
		return levelAnd
	case opNot:
		return levelNot
	case opIn, opBetween, opIsNull, opInQuery, opInSet:
		return levelCompare
	case opNeg:
		return levelUnary
	}
	if l := binaryLevels[n.op]; l != 0 {
		return l
	}
	return levelPrimary
}

func (n *node) list(b *strings.Builder, separator string, args []Expr, level int) {
	for i, a := range args {
		if i > 0 {
			b.WriteString(separator)
		}
		a.print(b, level)
	}
}

// printTest writes in, between and is null.
func (n *node) printTest(b *strings.Builder) {
	n.args[0].print(b, levelAdd)
	b.WriteString(" " + n.op)
	switch n.op {
	case opIn:
		b.WriteString(" (")
		n.list(b, ", ", n.args[1:], levelOr)
		b.WriteByte(')')
	case opBetween:
		b.WriteByte(' ')
		n.list(b, " and ", n.args[1:], levelAdd)
	}
}

// printCall writes a binary operator or a function.
func (n *node) printCall(b *strings.Builder, own int) {
	of, isDistinct := strings.CutSuffix(n.op, " distinct")
	switch {
	case n.op == opCount && len(n.args) == 0:
		b.WriteString("count(*)")
		return
	case isDistinct:
		b.WriteString(of + "(distinct ")
		n.printArguments(b)
		return
	case binaryLevels[n.op] == 0:
		b.WriteString(n.op + "(")
		n.printArguments(b)
		return
	}
	left := own
	if own == levelCompare {
		left++ // comparisons have no order among themselves
	}
	n.args[0].print(b, left)
	b.WriteString(" " + n.op + " ")
	n.args[1].print(b, own+1)
}

// printArguments writes the arguments of a function, what an aggregate is ordered by, and the parenthesis.
func (n *node) printArguments(b *strings.Builder) {
	plain := len(n.args) - len(n.orders)
	n.list(b, ", ", n.args[:plain], levelOr)
	for i, o := range n.orders {
		b.WriteString([]string{", ", " order by "}[bit(i == 0)])
		n.args[plain+i].print(b, levelOr)
		if o.Descending {
			b.WriteString(" desc")
		}
		if o.NullsFirst {
			b.WriteString(" nulls first")
		}
	}
	b.WriteByte(')')
}

func (n *node) printCase(b *strings.Builder) {
	b.WriteString("case")
	last := len(n.args) - 1
	for i := 0; i < last; i += 2 {
		b.WriteString(" when ")
		n.args[i].print(b, levelOr)
		b.WriteString(" then ")
		n.args[i+1].print(b, levelOr)
	}
	b.WriteString(" else ")
	n.args[last].print(b, levelOr)
	b.WriteString(" end")
}

// typeText returns the text of the type of a cast.
func typeText(t column.Type) string {
	if classOf(t).isDecimal() && t == decimalType(t.Precision, t.Scale) {
		return fmt.Sprintf("decimal(%d, %d)", t.Precision, t.Scale)
	}
	return strings.ToLower(t.String())
}
