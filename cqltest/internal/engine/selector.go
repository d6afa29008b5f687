// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Selectors of a SELECT clause: columns, elements and fields, arithmetic, casts and calls.

// selector compiles an expression. hint is the expected type; nil means any.
func (c *compiler) selector(e cql.Expr, hint *Type) (*node, error) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 4*maxDepth {
		return nil, invalid("Expression is nested too deeply")
	}
	switch e := e.(type) {
	case *cql.Column:
		return c.column(e)
	case *cql.Field:
		return c.field(e)
	case *cql.Element:
		return c.element(e)
	case *cql.Call:
		return c.call(e)
	case *cql.Cast:
		return c.cast(e)
	case *cql.Binary:
		return c.binary(e, hint)
	case *cql.Negate:
		n, err := c.operand(e.Expr, hint)
		if err != nil {
			return nil, err
		}
		if !isNumber(n.typ) {
			return nil, invalid("the '-' operation is not supported on %s", e.Expr)
		}
		return negated(n), nil
	case *cql.TypeHint:
		t, err := c.typeName(e.Type)
		if err != nil {
			return nil, err
		}
		return c.term(e.Expr, c.spec("[selection]", t))
	case *cql.TupleLiteral:
		if len(e.Elems) == 1 && hint != nil && hint.Kind != KindTuple {
			return c.selector(e.Elems[0], hint)
		}
	case *cql.Literal:
		if hint == nil && c.e.options.Scylla && c.e.options.has(inferredLiterals) {
			hint = defaultType(e)
		}
	}
	if hint == nil {
		return nil, invalid("Cannot infer type for term %s in selection clause (try using a cast to force a type)", resultName(e))
	}
	return c.term(e, c.spec("[selection]", hint))
}

// spec returns a column of the table in scope, or of none.
func (c *compiler) spec(name string, t *Type) Column {
	if c.t == nil {
		return Column{Name: name, Type: t}
	}
	return c.t.spec(name, t)
}

// defaultType returns the type of a literal without context; nil means that it has none.
func defaultType(l *cql.Literal) *Type {
	switch l.Kind {
	case cql.IntegerLiteral:
		if v, ok := new(big.Int).SetString(l.Text, 10); ok && v.IsInt64() {
			if v.Int64() == int64(int32(v.Int64())) {
				return Native("int")
			}
			return Native("bigint")
		}
		return Native("varint")
	case cql.FloatLiteral:
		return Native("double")
	case cql.BooleanLiteral:
		return Native("boolean")
	case cql.UUIDLiteral:
		return Native("uuid")
	case cql.HexLiteral:
		return Native("blob")
	case cql.DurationLiteral:
		return Native("duration")
	case cql.StringLiteral:
		return Native("text")
	}
	return nil
}

// column compiles a column of the table in scope.
func (c *compiler) column(e *cql.Column) (*node, error) {
	if c.t == nil {
		return nil, invalid("Invalid STRING constant (%s): columns can't be named here", e.Name)
	}
	col, err := c.t.lookup(e.Name)
	if err != nil {
		return nil, err
	}
	return &node{typ: col.typ, name: col.name, col: col, eval: func(x *env) ([]byte, error) {
		return x.view.value(col, x.sec), nil
	}}, nil
}

// field compiles e.f of a UDT.
func (c *compiler) field(e *cql.Field) (*node, error) {
	of, err := c.selector(e.Of, nil)
	if err != nil {
		return nil, err
	}
	if of.typ.Kind != KindUDT {
		return nil, invalid("Invalid field selection: %s of type %s is not a user type", e.Of, of.typ)
	}
	i := slices.Index(of.typ.Fields, e.Name)
	if i < 0 {
		return nil, invalid("%s of type %s has no field %s", e.Of, of.typ.bare(), e.Name)
	}
	return of.derived(of.typ.Elems[i], func(_ *env, b []byte) ([]byte, error) {
		parts, err := splitTuple(of.typ, b)
		if err != nil {
			return nil, err
		}
		return parts[i], nil
	}), nil
}

// element compiles e[k] of a set or map: the element or value, NULL if there is none.
func (c *compiler) element(e *cql.Element) (*node, error) {
	of, err := c.selector(e.Of, nil)
	if err != nil {
		return nil, err
	}
	t := of.typ
	if t.Kind != KindSet && t.Kind != KindMap {
		if t.Kind == KindList {
			return nil, invalid("Element selection is only allowed on sets and maps, but %s is a list", e.Of)
		}
		return nil, invalid("Invalid element selection: %s is of type %s is not a collection", e.Of, t)
	}
	if c.t == nil {
		return nil, invalid("Elements can't be selected here: %s", e)
	}
	key, err := c.term(e.Index, c.t.spec("key("+e.Of.String()+")", t.Elems[0]))
	if err != nil {
		return nil, err
	}
	n := of.derived(t.Elems[len(t.Elems)-1], func(x *env, b []byte) ([]byte, error) {
		want, err := key.eval(x)
		if err != nil {
			return nil, err
		}
		if want == nil || isUnset(want) {
			return nil, invalid("Invalid null value for element selection on %s", e.Of)
		}
		return t.element(b, want)
	})
	n.fixed = of.fixed && key.fixed
	return n, nil
}

// element returns the element of a set, or the value of a map, with a key; nil if there is none.
func (t *Type) element(b, key []byte) ([]byte, error) {
	parts, err := splitCollection(t, b)
	if err != nil {
		return nil, asInvalid(err)
	}
	for i := 0; i < len(parts); i += len(t.Elems) {
		if t.Elems[0].compare(parts[i], key) == 0 {
			return parts[i+len(t.Elems)-1], nil
		}
	}
	return nil, nil
}

func isNumber(t *Type) bool {
	switch t.Kind {
	case KindTinyInt, KindSmallInt, KindInt, KindBigInt, KindCounter, KindFloat, KindDouble, KindVarint, KindDecimal:
		return true
	}
	return false
}

// wider returns the type of an arithmetic operation, like Cassandra's OperationFcts.
func wider(a, b *Type) *Type {
	has := func(k Kind) bool { return a.Kind == k || b.Kind == k }
	float := has(KindFloat) || has(KindDouble)
	switch {
	case has(KindDecimal) || has(KindVarint) && float:
		return Native("decimal")
	case has(KindVarint):
		return Native("varint")
	case has(KindDouble) || float && (has(KindBigInt) || has(KindCounter)):
		return Native("double")
	case float:
		return Native("float")
	case has(KindBigInt) || has(KindCounter):
		return Native("bigint")
	case has(KindInt):
		return Native("int")
	case has(KindSmallInt):
		return Native("smallint")
	}
	return Native("tinyint")
}

// binary compiles arithmetic. An operand without a type, such as a literal, takes its type from the other.
func (c *compiler) binary(e *cql.Binary, hint *Type) (*node, error) {
	if _, ok := e.Right.(*cql.Marker); ok && c.selecting {
		return nil, invalid("Ambiguous '%c' operation with args %s and %s: use type hint to disambiguate, example '(int) ?'",
			e.Op, e.Left, e.Right)
	}
	null := func(e cql.Expr) bool {
		l, ok := e.(*cql.Literal)
		return ok && l.Kind == cql.NullLiteral
	}
	if _, ok := e.Left.(*cql.Marker); c.selecting && (ok || null(e.Left) || null(e.Right)) {
		return nil, invalid("Ambiguous '%c' operation with args %s and %s: use type hint to disambiguate, example '(int) ?'",
			e.Op, e.Left, e.Right)
	}
	untyped := func(e cql.Expr) bool {
		switch e.(type) {
		case *cql.Literal, *cql.Marker:
			return true
		}
		return false
	}
	var left, right *node
	var err error
	switch {
	case untyped(e.Left) && untyped(e.Right):
		if left, err = c.operand(e.Left, operandHint(e.Left, hint)); err == nil {
			right, err = c.operand(e.Right, operandHint(e.Right, hint))
		}
	case untyped(e.Left):
		if right, err = c.operand(e.Right, nil); err == nil {
			left, err = c.operand(e.Left, literalHint(e.Left, right.typ))
		}
	default:
		if left, err = c.operand(e.Left, nil); err == nil {
			right, err = c.operand(e.Right, literalHint(e.Right, left.typ))
		}
	}
	if err != nil {
		return nil, err
	}
	moves := left.typ.Kind == KindTimestamp || left.typ.Kind == KindDate
	if moves && right.typ.Kind == KindDuration && (e.Op == '+' || e.Op == '-') {
		return shifted(e.Op, left, right), nil
	}
	if !isNumber(left.typ) || !isNumber(right.typ) {
		return nil, invalid("the '%c' operation is not supported between %s and %s", e.Op, e.Left, e.Right)
	}
	return arithmetic(e.Op, left, right, wider(left.typ, right.typ)), nil
}

// operandHint returns the type of a literal or marker beside another one: the type of the receiver of the result, or
// the literal's own if there is none that fits.
func operandHint(e cql.Expr, receiver *Type) *Type {
	if l, ok := e.(*cql.Literal); ok && (receiver == nil || !literalFits(l.Kind, receiver)) {
		return defaultType(l)
	}
	return receiver
}

// literalHint returns the type of an operand beside one with a type: for a marker the type of the other operand, for
// a literal its own. nil means that the operand is neither.
func literalHint(e cql.Expr, other *Type) *Type {
	switch e := e.(type) {
	case *cql.Literal:
		if t := defaultType(e); t != nil {
			return t
		}
		return other
	case *cql.Marker:
		return other
	}
	return nil
}

func isText(t *Type) bool { return t.Kind == KindText || t.Kind == KindASCII }

// negated changes the sign of a number.
func negated(n *node) *node {
	return n.derived(n.typ, func(_ *env, b []byte) ([]byte, error) {
		if len(b) == 0 {
			return nil, nil
		}
		v := toNumber(n.typ, b)
		if v.k == 'f' {
			v.f = -v.f
		} else {
			v.i = new(big.Int).Neg(v.i)
		}
		return v.to(n.typ)
	})
}

// operand compiles an operand, which may be in parentheses.
func (c *compiler) operand(e cql.Expr, hint *Type) (*node, error) {
	for {
		t, ok := e.(*cql.TupleLiteral)
		if !ok || len(t.Elems) != 1 {
			return c.selector(e, hint)
		}
		e = t.Elems[0]
	}
}

// arithmetic returns the node for left op right in type t. NULL or empty operands make NULL.
func arithmetic(op byte, left, right *node, t *Type) *node {
	return combined(t, left, right, func(a, b []byte) ([]byte, error) {
		if len(a) == 0 || len(b) == 0 {
			return nil, nil
		}
		v, err := calculate(op, t, operand(t, left.typ, a), operand(t, right.typ, b))
		if failed := operationError(""); errors.As(err, &failed) {
			words := []string{left.typ.String(), right.typ.String()}
			return nil, &Error{
				Code: CodeFunctionFailure, Message: fmt.Sprintf("the operation '%s %c %s' failed: %v", words[0], op, words[1], err),
				Keyspace: "system", Function: operatorFunctions[op], ArgTypes: words,
			}
		}
		return v, err
	})
}

// shifted adds a duration to a timestamp or date.
func shifted(op byte, left, right *node) *node {
	return combined(left.typ, left, right, func(a, b []byte) ([]byte, error) {
		if len(a) == 0 || len(b) == 0 {
			return nil, nil
		}
		months, days, nanos, err := splitDuration(b)
		if err != nil {
			return nil, err
		}
		if op == '-' {
			months, days, nanos = -months, -days, -nanos
		}
		return shift(left.typ, a, int(months), int(days), nanos)
	})
}
