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
	case *cql.Slice:
		return c.slice(e)
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
		spec := Column{Name: "[selection]", Type: t}
		if c.t != nil {
			spec = c.t.spec(spec.Name, t)
		}
		return c.term(e.Expr, spec)
	case *cql.TupleLiteral:
		if len(e.Elems) == 1 && hint != nil && hint.Kind != KindTuple {
			return c.selector(e.Elems[0], hint)
		}
	}
	if hint == nil {
		if n, err := c.composed(e); n != nil || err != nil {
			return n, err
		}
		return nil, invalid("Cannot infer type for term %s in selection clause (try using a cast to force a type)", resultName(e))
	}
	spec := Column{Name: "[selection]", Type: hint}
	if c.t != nil {
		spec = c.t.spec("[selection]", hint)
	}
	return c.term(e, spec)
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
	return &node{typ: of.typ.Elems[i], agg: of.agg, fixed: of.fixed, eval: func(x *env) ([]byte, error) {
		b, err := of.eval(x)
		if err != nil || b == nil {
			return nil, err
		}
		parts, err := splitTuple(of.typ, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		return parts[i], nil
	}}, nil
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
	return &node{typ: t.Elems[len(t.Elems)-1], agg: of.agg, eval: func(x *env) ([]byte, error) {
		b, err := of.eval(x)
		if err != nil || b == nil {
			return nil, err
		}
		want, err := key.eval(x)
		if err != nil {
			return nil, err
		}
		if want == nil || isUnset(want) {
			return nil, invalid("Invalid null value for element selection on %s", e.Of)
		}
		parts, err := splitCollection(t, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		for i := 0; i < len(parts); i += len(t.Elems) {
			if t.Elems[0].compare(parts[i], want) == 0 {
				return parts[i+len(t.Elems)-1], nil
			}
		}
		return nil, nil
	}}, nil
}

// slice compiles e[a..b] of a set or map: the part between the keys a and b, both included. NULL if it is empty.
func (c *compiler) slice(e *cql.Slice) (*node, error) {
	of, err := c.selector(e.Of, nil)
	if err != nil {
		return nil, err
	}
	t := of.typ
	if t.Kind != KindSet && t.Kind != KindMap {
		return nil, invalid("Invalid slice selection: %s of type %s is not a collection", e.Of, t)
	}
	if c.t == nil {
		return nil, invalid("Elements can't be selected here: %s", e)
	}
	var ends [2]*node
	for i, end := range []cql.Expr{e.From, e.To} {
		if end == nil {
			continue
		}
		if ends[i], err = c.term(end, c.t.spec("key("+e.Of.String()+")", t.Elems[0])); err != nil {
			return nil, err
		}
	}
	result := *t
	result.Frozen = true
	return &node{typ: &result, agg: of.agg, eval: func(x *env) ([]byte, error) {
		b, err := of.eval(x)
		if err != nil || b == nil {
			return nil, err
		}
		parts, err := splitCollection(t, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		var limits [2][]byte
		for i := range ends {
			if ends[i] == nil {
				continue
			}
			if limits[i], err = ends[i].eval(x); err != nil {
				return nil, err
			}
			if limits[i] == nil || isUnset(limits[i]) {
				return nil, invalid("Invalid null value for slice selection on %s", e.Of)
			}
		}
		var out [][]byte
		for i := 0; i < len(parts); i += len(t.Elems) {
			low := limits[0] == nil || t.Elems[0].compare(parts[i], limits[0]) >= 0
			if low && (limits[1] == nil || t.Elems[0].compare(parts[i], limits[1]) <= 0) {
				out = append(out, parts[i:i+len(t.Elems)]...)
			}
		}
		if len(out) == 0 {
			return nil, nil
		}
		return joinCollection(t, out), nil
	}}, nil
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
	if isText(left.typ) && isText(right.typ) && e.Op == '+' {
		return joinedTexts(left, right), nil
	}
	if !isNumber(left.typ) || !isNumber(right.typ) {
		return nil, invalid("the '%c' operation is not supported between %s and %s", e.Op, e.Left, e.Right)
	}
	return c.arithmetic(e.Op, left, right, wider(left.typ, right.typ))
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

// joinedTexts joins two texts.
func joinedTexts(left, right *node) *node {
	t := left.typ
	if t.Kind == KindASCII {
		t = right.typ
	}
	return &node{typ: t, agg: left.agg || right.agg, fixed: left.fixed && right.fixed, eval: func(x *env) ([]byte, error) {
		a, err := left.eval(x)
		if err != nil {
			return nil, err
		}
		b, err := right.eval(x)
		if err != nil || a == nil || b == nil || isUnset(a) || isUnset(b) {
			return nil, err
		}
		return append(append([]byte{}, a...), b...), nil
	}}
}

// negated changes the sign of a number.
func negated(n *node) *node {
	return &node{typ: n.typ, agg: n.agg, fixed: n.fixed, eval: func(x *env) ([]byte, error) {
		b, err := n.eval(x)
		if err != nil || len(b) == 0 || isUnset(b) {
			return nil, err
		}
		v := toNumber(n.typ, b)
		if v.k == 'f' {
			v.f = -v.f
		} else {
			v.i = new(big.Int).Neg(v.i)
		}
		return v.to(n.typ)
	}}
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

// composed compiles a list, set or tuple of selectors, with the type of its first element or of all its elements. It
// returns nil for other expressions, and if the types are unknown.
func (c *compiler) composed(e cql.Expr) (*node, error) {
	var elems []cql.Expr
	t := &Type{Kind: KindTuple, Frozen: true}
	switch e := e.(type) {
	case *cql.ListLiteral:
		elems, t = e.Elems, &Type{Kind: KindList, Frozen: true}
	case *cql.SetLiteral:
		elems, t = e.Elems, &Type{Kind: KindSet, Frozen: true}
	case *cql.TupleLiteral:
		elems = e.Elems
	}
	nodes, types, err := c.typedArgs(elems)
	if err != nil || len(elems) == 0 || t.Kind == KindTuple && len(elems) == 1 {
		return nil, err
	}
	for i := range elems {
		if nodes[i] != nil {
			continue
		}
		if nodes[i], err = c.composed(elems[i]); err != nil {
			return nil, err
		}
		if nodes[i] != nil {
			types[i] = nodes[i].typ
		}
	}
	if types[0] == nil {
		return nil, nil
	}
	for i := range elems {
		switch {
		case t.Kind == KindTuple && types[i] == nil:
			return nil, nil
		case t.Kind == KindTuple:
			t.Elems = append(t.Elems, freeze(types[i]))
			continue
		case i == 0:
			t.Elems = []*Type{freeze(types[0])}
		case types[i] != nil && !assignable(types[0], types[i]):
			return nil, invalid("%s of type %s cannot be an element of %s", elems[i], types[i], t)
		}
		if nodes[i] == nil {
			if nodes[i], err = c.selector(elems[i], t.Elems[0]); err != nil {
				return nil, err
			}
		}
	}
	return c.joined(t, nodes, func(parts [][]byte) ([]byte, error) {
		switch t.Kind {
		case KindTuple:
			return joinTuple(parts), nil
		case KindSet:
			return joinSorted(t, parts), nil
		}
		return joinCollection(t, parts), nil
	})
}

// arithmetic returns the node for left op right in type t. NULL or empty operands make NULL.
func (c *compiler) arithmetic(op byte, left, right *node, t *Type) (*node, error) {
	return &node{typ: t, agg: left.agg || right.agg, fixed: left.fixed && right.fixed, eval: func(x *env) ([]byte, error) {
		a, err := left.eval(x)
		if err != nil {
			return nil, err
		}
		b, err := right.eval(x)
		if err != nil {
			return nil, err
		}
		if len(a) == 0 || len(b) == 0 || isUnset(a) || isUnset(b) {
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
	}}, nil
}

// shifted adds a duration to a timestamp or date.
func shifted(op byte, left, right *node) *node {
	return &node{
		typ: left.typ, agg: left.agg || right.agg, fixed: left.fixed && right.fixed,
		eval: func(x *env) ([]byte, error) {
			a, err := left.eval(x)
			if err != nil {
				return nil, err
			}
			b, err := right.eval(x)
			if err != nil || len(a) == 0 || len(b) == 0 || isUnset(a) || isUnset(b) {
				return nil, err
			}
			months, days, nanos, err := splitDuration(b)
			if err != nil {
				return nil, asInvalid(err)
			}
			if op == '-' {
				months, days, nanos = -months, -days, -nanos
			}
			return shift(left.typ, a, int(months), int(days), nanos)
		},
	}
}
