// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// Types of expressions: the tree of terms, and the errors of Compile.

// A CompileError means that an expression does not fit the schema: a column is missing, the types of the operands do
// not fit the operation, or a literal has no value in the type of its context.
type CompileError struct {
	Expr   string // the part of the expression
	Offset int    // of the part in the parsed text; -1 if it was made in Go
	Err    error  // the reason, with the names of columns and types
}

func (e *CompileError) Error() string {
	at := ""
	if e.Offset >= 0 {
		at = fmt.Sprintf("at offset %d: ", e.Offset)
	}
	return fmt.Sprintf("expr: %s%s: %v", at, e.Expr, e.Err)
}

func (e *CompileError) Unwrap() error { return e.Err }

// A term is an expression with types. A literal has no type until its context sets one.
type term struct {
	e     Expr
	op    string
	args  []*term
	typ   column.Type
	class class
	value any // of a literal: its normal form, converted by fromText
	index int // of a column, in checker.columns
}

func (t *term) set(typ column.Type) { t.typ, t.class = typ, classOf(typ) }

// untyped reports whether the term is a literal whose type is still open.
func (t *term) untyped() bool { return t.op == opLiteral && t.class == classNone }

// describe returns the term with its type, for errors.
func (t *term) describe() string {
	if t.untyped() || t.class == classInterval {
		return t.e.String()
	}
	return fmt.Sprintf("%s is %v", clip(t.e.String()), t.typ)
}

func clip(s string) string {
	if len(s) > 60 {
		return s[:60] + "..."
	}
	return s
}

// A checker converts expressions to terms.
type checker struct {
	schema  column.Schema
	columns column.Schema // those that the expression uses
}

func fault(e Expr, format string, args ...any) error {
	c := &CompileError{Expr: clip(e.String()), Offset: -1, Err: fmt.Errorf(format, args...)}
	if e.n != nil {
		c.Offset = e.n.at - 1
	}
	return c
}

// types are the types without parameters.
var (
	typeBool    = column.Type{Kind: column.Bool}
	typeInt64   = column.Type{Kind: column.Int64}
	typeUint64  = column.Type{Kind: column.Uint64}
	typeFloat64 = column.Type{Kind: column.Float64}
	typeString  = column.Type{Kind: column.String}
)

// check returns the term of an expression. A literal as the whole has the type of its value.
func (c *checker) check(e Expr) (*term, error) {
	t, err := c.term(e)
	if err == nil && t.untyped() {
		err = c.settleAlone(t)
	}
	return t, err
}

// term returns the term of an expression, which may be an untyped literal.
func (c *checker) term(e Expr) (*term, error) {
	if e.n == nil {
		return nil, &CompileError{Expr: "Expr{}", Offset: -1, Err: errors.New("the zero Expr is no expression")}
	}
	t := &term{e: e, op: e.n.op}
	switch t.op {
	case opColumn:
		return t, c.column(t)
	case opLiteral:
		if e.n.err != nil {
			return nil, fault(e, "%w", e.n.err)
		}
		t.value = e.n.value
		if e.n.typ.Kind != 0 {
			return t, c.settleAs(t, e.n.typ)
		}
		return t, nil
	case opQuery, opInQuery, opExists:
		return nil, fault(e, "a statement has no value here")
	}
	if isAggregate(t.op) {
		return nil, fault(e, "%s aggregates rows, and this is an expression of one row", t.op)
	}
	for _, a := range e.n.args {
		arg, err := c.term(a)
		if err != nil {
			return nil, err
		}
		t.args = append(t.args, arg)
	}
	return t, c.operation(t)
}

func (c *checker) column(t *term) error {
	name := t.e.n.name
	if t.index = c.columns.Index(name); t.index < 0 {
		i := c.schema.Index(name)
		if i < 0 {
			names := make([]string, len(c.schema))
			for k := range c.schema {
				names[k] = c.schema[k].Name
			}
			return fault(t.e, "%w: %q; the columns are: %s", column.ErrNoColumn, name, strings.Join(names, ", "))
		}
		t.index = len(c.columns)
		c.columns = append(c.columns, c.schema[i])
	}
	t.set(c.columns[t.index].Type)
	return nil
}

// operation checks the operands of an operation and sets its type.
func (c *checker) operation(t *term) error {
	switch t.op {
	case opAnd, opOr, opNot:
		return c.all(t, t.args, typeBool, typeBool)
	case opEq, opNe, opLt, opLe, opGt, opGe:
		t.set(typeBool)
		return c.comparable(t, t.args[0], t.args[1])
	case opIn, opBetween:
		t.set(typeBool)
		return c.several(t)
	case opInSet:
		return c.inSet(t)
	case opIsNull:
		t.set(typeBool)
		if t.args[0].untyped() {
			return c.settleAlone(t.args[0])
		}
		return nil
	case opAdd, opSub, opMul, opDiv, opMod, opNeg:
		return c.arithmetic(t)
	case opCase:
		return c.branches(t)
	case "coalesce":
		return c.unify(t, t.args)
	case opCast, opTryCast:
		return c.cast(t)
	case "dot", "cosine", "l2", "norm", "element", "slice":
		return c.vector(t)
	case "date_trunc", "extract":
		return c.timePart(t)
	case "epoch_ms":
		return c.epoch(t)
	case "strftime":
		return c.strftime(t)
	case "time_bucket":
		return c.bucket(t)
	case "typeof":
		return c.typeOf(t)
	case "greatest", "least":
		return c.extremes(t)
	}
	if slices.Contains(roundings, t.op) {
		return c.rounding(t)
	}
	if s, ok := signatures[t.op]; ok {
		return c.signature(t, s)
	}
	return c.text(t)
}

// all sets the type of all terms.
func (c *checker) all(t *term, args []*term, want, result column.Type) error {
	t.set(result)
	for _, a := range args {
		if a.untyped() {
			if err := c.settle(a, want); err != nil {
				return err
			}
		}
		if a.typ != want {
			return fault(t.e, "%s requires %v: %s", t.op, want, a.describe())
		}
	}
	return nil
}

// settleAlone gives a literal the type of its value, and NULL int64.
func (c *checker) settleAlone(t *term) error {
	switch v := t.value.(type) {
	case nil:
		t.set(typeInt64)
	case bool:
		t.set(typeBool)
	case int64:
		t.set(typeInt64)
	case uint64:
		t.set(typeUint64)
	case float64:
		t.set(typeFloat64)
	case string:
		t.set(typeString)
	case []byte:
		t.set(column.Type{Kind: column.Binary})
	case []float64:
		t.set(column.VectorOf(column.Float64, len(v)))
	case cql.UUID:
		t.set(column.Type{Kind: column.UUID})
	case moment:
		return c.settle(t, v.typ)
	case timeOfDay:
		return c.settle(t, v.typ())
	case amount:
		return c.settle(t, v.typ())
	default:
		return fault(t.e, "an interval has no type of its own; add it to a date or a timestamp")
	}
	return nil
}

// settleAs sets the type of a literal of LitAs.
func (c *checker) settleAs(t *term, typ column.Type) error {
	if err := c.settle(t, typ); err != nil {
		return err
	}
	if t.class == classInt && !t.isValueOf(typ) {
		return fault(t.e, "the literal has no exact value in %v", typ)
	}
	return nil
}

// settle sets the type of a literal to one that has exactly its value.
func (c *checker) settle(t *term, typ column.Type) error {
	if err := c.against(t, typ); err != nil || t.value == nil || t.class == classBool {
		return err
	}
	if t.class.isTexts() {
		if s, _ := bytesOfLiteral(t.value, typ); typ.ValueWidth() > 0 && len(s) != typ.ValueWidth() {
			return fault(t.e, "a literal of %d bytes has no value in %v", len(s), typ)
		}
		return nil
	}
	p, _ := pointOf(t.value, typ)
	if !p.exact || p.side != 0 {
		return fault(t.e, "the literal has no exact value in %v", typ)
	}
	if t.class.isDecimal() && !hasDigits(p, typ) {
		return fault(t.e, "the literal has more digits than %v", typ)
	}
	return nil
}

// against gives a literal the type of the term that it is compared with. Its value may lie between two values of the
// type.
func (c *checker) against(t *term, typ column.Type) error {
	value := t.value
	if a, ok := t.amountOf(); ok && classOf(typ).isDecimal() { // 0.05 is five hundredths, not the float next to it
		value = a
	}
	value, fits := fromText(value, typ)
	switch class := classOf(typ); {
	case t.value == nil:
		fits = true
	case !fits, class == classNone, class == classVector:
		fits = false
	case class == classBool:
		_, fits = value.(bool)
	case class.isTexts():
		_, fits = bytesOfLiteral(value, typ)
	default:
		_, fits = pointOf(value, typ)
	}
	if !fits || classOf(typ) == classNone {
		return fault(t.e, "the literal does not fit %v", typ)
	}
	t.value = value
	t.set(typ)
	return nil
}

// comparable checks that two terms have values of one order, and sets the types of literals.
func (c *checker) comparable(t, a, b *term) error {
	switch {
	case a.untyped() && b.untyped():
		return c.literals(t, []*term{a, b})
	case a.untyped():
		a, b = b, a
	}
	if a.class == classNone || a.class == classVector {
		return fault(t.e, "%s, which has no order here; only is null takes it", a.describe())
	}
	if b.untyped() {
		if err := c.against(b, a.typ); err != nil {
			return fault(t.e, "%s, which does not compare with %s", a.describe(), b.e)
		}
		return nil
	}
	if compareAlways(a.typ, b.typ) || a.typ == b.typ {
		return nil
	}
	return fault(t.e, "%s, which does not compare with %s", a.describe(), b.describe())
}

// several checks in and between, whose first operand is compared with all others.
func (c *checker) several(t *term) error {
	first := t.args[0]
	if first.untyped() {
		if len(t.args) == 1 {
			return c.settleAlone(first)
		}
		return c.literals(t, t.args)
	}
	for _, a := range t.args[1:] {
		if err := c.comparable(t, first, a); err != nil {
			return err
		}
	}
	if len(t.args) == 1 && (first.class == classNone || first.class == classVector) {
		return fault(t.e, "%s, which has no order here", first.describe())
	}
	return nil
}

// branches checks case: conditions and values alternate, and the last is the value of else.
func (c *checker) branches(t *term) error {
	var conditions, values []*term
	for i, a := range t.args {
		if i%2 == 0 && i < len(t.args)-1 {
			conditions = append(conditions, a)
		} else {
			values = append(values, a)
		}
	}
	if err := c.all(t, conditions, typeBool, typeBool); err != nil {
		return err
	}
	return c.unify(t, values)
}
