// SPDX-License-Identifier: Apache-2.0

package expr

// The structure of expressions, for packages that translate them.

// A Node is the outermost operation of an expression.
type Node struct {
	// Op is "column", "literal", the name of a function or an aggregate, "count distinct", or an operator as in the
	// text of an expression. The minus of one operand is "neg".
	Op        string
	Args      []Expr // the operands; not to be modified
	Column    string // the name of a column
	Value     any    // of a literal: nil, bool, int64, uint64, float64, string or another type of [Lit]; a statement
	Aggregate bool   // Op is an aggregate, such as "sum"
	// Orders are the directions of the last operands of an aggregate, one each: the rows are ordered by these operands.
	Orders []Order
	Offset int // in the parsed text; -1 if the operation was made in Go
}

// An Order is the direction of an operand that rows are ordered by.
type Order struct{ Descending, NullsFirst bool }

// Node returns the outermost operation. The node of the zero Expr has no Op.
func (e Expr) Node() Node {
	if e.n == nil {
		return Node{Offset: -1}
	}
	n := e.n
	node := Node{
		Op: n.op, Args: n.args, Aggregate: isAggregate(n.op), Orders: n.orders, Offset: n.at - 1,
	}
	if n.op == opColumn {
		node.Column = n.name
	}
	node.Value = goValue(n.value)
	return node
}

// Replace returns the expression with parts replaced: f returns the replacement of a part, and whether there is one. It
// is called for the whole first, then for the operands of parts without replacement. A replacement made in Go has the
// offset of the part.
func (e Expr) Replace(f func(part Expr) (Expr, bool)) Expr {
	if with, ok := f(e); ok {
		return with.placedAs(e)
	}
	if e.n == nil || len(e.n.args) == 0 {
		return e
	}
	args := make([]Expr, len(e.n.args))
	for i, a := range e.n.args {
		args[i] = a.Replace(f)
	}
	made := call(e.n.op, args...)
	made.n.typ, made.n.value, made.n.at, made.n.orders = e.n.typ, e.n.value, e.n.at, e.n.orders
	return made
}

// placedAs returns the expression with the offset of another one, unless it has its own.
func (e Expr) placedAs(other Expr) Expr {
	if e.n == nil || e.n.at > 0 || other.n == nil {
		return e
	}
	n := *e.n
	n.at = other.n.at
	return Expr{&n}
}
