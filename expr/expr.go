// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
)

// Expr: expressions as trees, and their constructors in Go.

// An Expr is an expression on the columns of a batch. [Col], [Lit] and [Parse] return expressions, and the methods of
// an Expr combine them. An argument of type any is an Expr or the value of a literal (see [Lit]). Expr values are
// immutable and can be shared. They have no types before [Compile], which reports all errors.
type Expr struct{ n *node }

// A node is an operation on args, a column, or a literal.
type node struct {
	op    string // one of the op constants, or the name of a function or operator
	args  []Expr
	name  string      // of a column; of a literal the digits that a float lacks, which a decimal may need
	value any         // of a literal, see Lit; a statement; a *Set
	typ   column.Type // of a cast, or of a literal by LitAs
	// orders are the directions of the last args of an aggregate: what its rows are ordered by.
	orders []Order
	err    error // of a literal without text
	at     int   // the offset in the parsed text plus 1; 0 if the expression was made in Go
	depth  int   // nodes on the longest path to a leaf
}

// Operations with syntax of their own. All other operations have the names of functions.
const (
	opColumn  = "column"
	opLiteral = "literal"
	opAnd     = "and"
	opOr      = "or"
	opNot     = "not"
	opEq      = "="
	opNe      = "<>"
	opLt      = "<"
	opLe      = "<="
	opGt      = ">"
	opGe      = ">="
	opIn      = "in"
	opBetween = "between"
	opIsNull  = "is null"
	opLike    = "like"
	opILike   = "ilike"
	opRegexp  = "regexp"
	opAdd     = "+"
	opSub     = "-"
	opMul     = "*"
	opDiv     = "/"
	opMod     = "%"
	opNeg     = "neg"
	opCase    = "case" // condition, value, condition, value, ..., and the value of else, always
	opCast    = "cast"
	opTryCast = "try_cast" // NULL where a cast fails

	opArrayAgg      = "array_agg" // with NULL
	opStringAgg     = "string_agg"
	opCount         = "count"
	opCountDistinct = "count distinct"
)

func call(op string, args ...Expr) Expr {
	n := &node{op: op, args: args, depth: 1}
	for _, a := range args {
		if a.n != nil {
			n.depth = max(n.depth, a.n.depth+1)
		}
	}
	return Expr{n}
}

func callAny(op string, first Expr, args ...any) Expr {
	all := []Expr{first}
	for _, a := range args {
		all = append(all, operand(a))
	}
	return call(op, all...)
}

// operand returns v if it is an Expr, otherwise a literal.
func operand(v any) Expr {
	if e, ok := v.(Expr); ok {
		return e
	}
	return Lit(v)
}

// Col returns the values of the column with this name.
func Col(name string) Expr { return Expr{&node{op: opColumn, name: name, depth: 1}} }

// Column returns the name of the column if the expression is a column alone.
func (e Expr) Column() (name string, ok bool) {
	if e.n == nil || e.n.op != opColumn {
		return "", false
	}
	return e.n.name, true
}

// chain returns the n-ary operation, extending e if e is one already.
func (e Expr) chain(op string, others []Expr) Expr {
	switch {
	case len(others) == 0:
		return e
	case e.n != nil && e.n.op == op:
		return call(op, slices.Concat(e.n.args, others)...)
	}
	return call(op, append([]Expr{e}, others...)...)
}

// And is true if all are true, false if one is false, otherwise NULL.
func (e Expr) And(others ...Expr) Expr { return e.chain(opAnd, others) }

// Or is true if one is true, false if all are false, otherwise NULL.
func (e Expr) Or(others ...Expr) Expr { return e.chain(opOr, others) }

// Not is true if e is false, false if e is true, NULL if e is NULL.
func (e Expr) Not() Expr { return call(opNot, e) }

// Eq is e = v. All comparisons are NULL if an operand is NULL.
func (e Expr) Eq(v any) Expr { return callAny(opEq, e, v) }

// Ne is e <> v.
func (e Expr) Ne(v any) Expr { return callAny(opNe, e, v) }

// Lt is e < v.
func (e Expr) Lt(v any) Expr { return callAny(opLt, e, v) }

// Le is e <= v.
func (e Expr) Le(v any) Expr { return callAny(opLe, e, v) }

// Gt is e > v.
func (e Expr) Gt(v any) Expr { return callAny(opGt, e, v) }

// Ge is e >= v.
func (e Expr) Ge(v any) Expr { return callAny(opGe, e, v) }

// In is true if e equals one of the values, otherwise NULL if e or one of the values is NULL, otherwise false. Without
// values it is false if e is not NULL.
func (e Expr) In(values ...any) Expr { return callAny(opIn, e, values...) }

// Between is e >= lo and e <= hi.
func (e Expr) Between(lo, hi any) Expr { return callAny(opBetween, e, lo, hi) }

// IsNull is true if e is NULL, otherwise false.
func (e Expr) IsNull() Expr { return call(opIsNull, e) }

// NotNull is false if e is NULL, otherwise true.
func (e Expr) NotNull() Expr { return e.IsNull().Not() }

// Add is e + v: of numbers, or of a date or timestamp and an interval.
func (e Expr) Add(v any) Expr { return callAny(opAdd, e, v) }

// Sub is e - v: of numbers, or of a date or timestamp and an interval.
func (e Expr) Sub(v any) Expr { return callAny(opSub, e, v) }

// Mul is e * v.
func (e Expr) Mul(v any) Expr { return callAny(opMul, e, v) }

// Div is e / v. The quotient of integers is truncated.
func (e Expr) Div(v any) Expr { return callAny(opDiv, e, v) }

// Mod is the remainder of e / v, with the sign of e.
func (e Expr) Mod(v any) Expr { return callAny(opMod, e, v) }

// Neg is -e.
func (e Expr) Neg() Expr { return call(opNeg, e) }

// Like reports whether a text matches the whole pattern: % stands for any characters, _ for one character, and the
// character after a backslash for itself.
func (e Expr) Like(pattern string) Expr { return callAny(opLike, e, pattern) }

// ILike compares as Like does, without regard to case (Unicode simple folding).
func (e Expr) ILike(pattern string) Expr { return callAny(opILike, e, pattern) }

// Regexp reports whether a text contains a match of the regular expression, in the syntax of package regexp.
func (e Expr) Regexp(pattern string) Expr { return callAny(opRegexp, e, pattern) }

// RegexpReplace replaces all matches of the regular expression; $1 in the replacement is the first group
// (regexp.Regexp.ReplaceAllString), and so is \1. Two backslashes are one.
func (e Expr) RegexpReplace(pattern, replacement string) Expr {
	return callAny("regexp_replace", e, pattern, replacement)
}

// Contains reports whether a text contains another.
func (e Expr) Contains(part any) Expr { return callAny("contains", e, part) }

// StartsWith reports whether a text starts with another.
func (e Expr) StartsWith(prefix any) Expr { return callAny("starts_with", e, prefix) }

// EndsWith reports whether a text ends with another.
func (e Expr) EndsWith(suffix any) Expr { return callAny("ends_with", e, suffix) }

// Length is the number of characters of a text, or of bytes of a binary, an Int64.
func (e Expr) Length() Expr { return call("length", e) }

// Strlen is the number of bytes of a text, an Int64.
func (e Expr) Strlen() Expr { return call("strlen", e) }

// Lower is the text with all letters in lower case.
func (e Expr) Lower() Expr { return call("lower", e) }

// Upper is the text with all letters in upper case.
func (e Expr) Upper() Expr { return call("upper", e) }

// Substring is the part of a text that begins at character from, counted from 1, and has at most count characters. The
// positions before the first character count as empty: Substring(0, 2) is the first character. A count below 1 is "".
func (e Expr) Substring(from, count any) Expr { return callAny("substring", e, from, count) }

// DateTrunc rounds a date or timestamp down to the unit: "year", "quarter", "month", "week" (from Monday), "day",
// "hour", "minute", "second", "millisecond". The type remains. The zone is an IANA name such as "Europe/Berlin", and
// requires a timestamp in UTC; "" is UTC, and the only zone of other times.
func (e Expr) DateTrunc(unit, zone string) Expr { return onTime("date_trunc", e, unit, zone) }

// Extract is a part of a date or timestamp as an Int64: a unit of DateTrunc, or "epoch" (seconds since 1970-01-01 in
// UTC), "dow" (day of the week, Sunday is 0), "doy" (day of the year). The week is the ISO week. "millisecond" is the
// milliseconds within the second. The zone is as in DateTrunc.
func (e Expr) Extract(part, zone string) Expr { return onTime("extract", e, part, zone) }

// EpochMs is the timestamp e milliseconds after 1970-01-01: a Timestamp in milliseconds, without UTC.
func (e Expr) EpochMs() Expr { return call("epoch_ms", e) }

func onTime(op string, e Expr, unit, zone string) Expr {
	if zone == "" {
		return call(op, Lit(unit), e)
	}
	return call(op, Lit(unit), e, Lit(zone))
}

// Dot is the dot product of two vectors, a Float64. The elements are numbers of any type. Different dimensions are a
// *[CompileError] if the schema has them, else a *[RowError].
func (e Expr) Dot(v any) Expr { return callAny("dot", e, v) }

// Cosine is the cosine of the angle between two vectors, a Float64; NaN if all elements of one are 0. See Dot.
func (e Expr) Cosine(v any) Expr { return callAny("cosine", e, v) }

// L2 is the Euclidean distance of two vectors, a Float64. See Dot.
func (e Expr) L2(v any) Expr { return callAny("l2", e, v) }

// Norm is the Euclidean length of a vector, a Float64.
func (e Expr) Norm() Expr { return call("norm", e) }

// Element is element i of a vector, counted from 1. An element beyond the dimension is a *[CompileError].
func (e Expr) Element(i int) Expr { return callAny("element", e, i) }

// Slice is a vector of count elements of a vector, from the element with the number from, counted from 1. Elements
// beyond the dimension are a *[CompileError].
func (e Expr) Slice(from, count int) Expr { return callAny("slice", e, from, count) }

// Cast converts e to another type: between booleans, numbers and texts, between dates, timestamps and texts. A float
// becomes the nearest integer, of two the even one. A value that the type cannot represent is an error.
func (e Expr) Cast(to column.Type) Expr {
	c := call(opCast, e)
	c.n.typ = to
	return c
}

// Coalesce is the first argument that is not NULL.
func Coalesce(args ...any) Expr { return function("coalesce", args) }

// Concat joins texts, one after the other. It is NULL if one of them is NULL.
func Concat(args ...any) Expr { return function("concat", args) }

// Call is a function by the name that it has in texts: Call("round", e, 2). docs/sql.md lists the functions. [Compile]
// reports a name or a number of arguments that there is not.
func Call(name string, args ...any) Expr {
	takes, ok := functions[name]
	switch {
	case !ok:
		return Expr{&node{op: opLiteral, err: fmt.Errorf("there is no function %q", name), depth: 1}}
	case len(args) < takes.min || len(args) > takes.max:
		err := fmt.Errorf("%s with %s, want %v", name, arguments(len(args)), takes)
		return Expr{&node{op: opLiteral, err: err, depth: 1}}
	}
	return function(name, args)
}

func function(op string, args []any) Expr {
	all := make([]Expr, len(args))
	for i, a := range args {
		all[i] = operand(a)
	}
	return call(op, all...)
}

// A Branch is a condition and a value of [Case].
type Branch struct {
	condition Expr
	value     Expr
	otherwise bool
}

// When returns the branch of Case for rows whose condition is true.
func When(condition Expr, value any) Branch {
	return Branch{condition: condition, value: operand(value)}
}

// Else returns the branch of Case for all other rows.
func Else(value any) Branch { return Branch{value: operand(value), otherwise: true} }

// Case is the value of the first branch whose condition is true, NULL if there is none. Branches after Else are
// ignored.
func Case(branches ...Branch) Expr {
	otherwise := Lit(nil)
	var args []Expr
	for _, b := range branches {
		if b.otherwise {
			otherwise = b.value
			break
		}
		args = append(args, b.condition, b.value)
	}
	return call(opCase, append(args, otherwise)...)
}

// Columns returns the names of the columns that the expression mentions, each once, in the order of their first
// mention.
func (e Expr) Columns() []string {
	var names []string
	e.walk(func(n *node) {
		if n.op == opColumn && !slices.Contains(names, n.name) {
			names = append(names, n.name)
		}
	})
	return names
}

// walk calls f for each node, parents first.
func (e Expr) walk(f func(n *node)) {
	if e.n == nil {
		return
	}
	f(e.n)
	for _, a := range e.n.args {
		a.walk(f)
	}
}
