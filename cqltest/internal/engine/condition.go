// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Conditions of lightweight transactions.

// condition is one item of IF.
type condition struct {
	col   *column
	typ   *Type // of the left side: the column, an element or a field
	key   *node // c[key]
	field int   // c.field; -1 means none
	op    cql.Operator
	value *node
	list  []*node // values of In
}

// conditions prepares the items of IF, with the checks of Cassandra's ColumnCondition.
func (c *compiler) conditions(in []cql.Condition) ([]*condition, error) {
	out := make([]*condition, len(in))
	for i := range in {
		var err error
		if out[i], err = c.condition(&in[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// condition prepares one item of IF.
func (c *compiler) condition(cond *cql.Condition) (*condition, error) {
	col, err := c.t.lookup(cond.Column)
	if err != nil {
		return nil, err
	}
	if col.isKey() {
		return nil, invalid("PRIMARY KEY column '%s' cannot have IF conditions", col.name)
	}
	if col.typ.Kind == KindCounter {
		return nil, invalid("Conditions on counters are not supported")
	}
	n := &condition{col: col, typ: col.typ, field: -1, op: cond.Op}
	spec, err := c.conditionSpec(n, cond)
	if err != nil {
		return nil, err
	}
	if n.typ.Kind == KindDuration && cond.Op != cql.Eq && cond.Op != cql.Neq && cond.Op != cql.In {
		return nil, invalid("Slice conditions are not supported on durations")
	}
	switch {
	case cond.Op == cql.In && cond.Value != nil:
		n.value, err = c.listWithNulls(cond.Value, c.t.spec("in("+spec.Name+")",
			&Type{Kind: KindList, Elems: []*Type{freeze(spec.Type)}, Frozen: true}))
	case cond.Op == cql.In:
		for _, e := range cond.Values {
			one, err := c.term(e, spec)
			if err != nil {
				return nil, err
			}
			n.list = append(n.list, one)
		}
	default:
		n.value, err = c.term(cond.Value, spec)
	}
	return n, err
}

// conditionSpec sets the left side of a condition, and returns the column that the values of the right side are written
// for: the column itself, an element or a field.
func (c *compiler) conditionSpec(n *condition, cond *cql.Condition) (spec Column, err error) {
	col, t := n.col, n.typ
	switch {
	case cond.Element != nil:
		if t.Kind != KindList && t.Kind != KindMap {
			return spec, invalid("Invalid element access syntax for non-collection column %s", col.name)
		}
		n.key, err = c.elementKey(col, cond.Element)
		n.typ = t.Elems[len(t.Elems)-1]
		return c.t.spec("value("+col.name+")", n.typ), err
	case cond.Field != "":
		if t.Kind != KindUDT {
			return spec, invalid("Cannot use field access on non-UDT column %s", col.name)
		}
		if n.field = slices.Index(t.Fields, cond.Field); n.field < 0 {
			return spec, invalid("Unknown field %s for column %s", cond.Field, col.name)
		}
		n.typ = t.Elems[n.field]
		return c.t.spec(col.name+"."+cond.Field, n.typ), nil
	case cond.Op == cql.Contains || cond.Op == cql.ContainsKey:
		if !t.isCollection() || cond.Op == cql.ContainsKey && t.Kind != KindMap {
			return spec, invalid("Cannot use %s on non-collection column %s", cond.Op, col.name)
		}
		if cond.Op == cql.ContainsKey {
			return c.t.spec("key("+col.name+")", t.Elems[0]), nil
		}
		return c.t.spec("value("+col.name+")", t.Elems[len(t.Elems)-1]), nil
	}
	return c.t.column(col), nil
}

// holds reports whether the row satisfies the condition.
func (c *condition) holds(x *env, v *rowView) (bool, error) {
	current := v.value(c.col, x.sec)
	switch {
	case c.key != nil:
		key, err := c.key.eval(x)
		if err != nil || isUnset(key) {
			return false, err
		}
		if current, err = c.element(key, current); err != nil {
			return false, err
		}
	case c.field >= 0 && current != nil:
		parts, err := splitTuple(c.col.typ, current)
		if err != nil {
			return false, asInvalid(err)
		}
		current = parts[c.field]
	}
	if c.op == cql.In {
		return c.among(x, current)
	}
	want, err := c.value.eval(x)
	if err != nil {
		return false, err
	}
	if isUnset(want) {
		return false, invalid("Invalid 'unset' value in condition")
	}
	switch c.op {
	case cql.Contains, cql.ContainsKey:
		if want == nil {
			return false, invalid("Invalid null value in condition for column %s", c.col.name)
		}
		if current == nil {
			return false, nil
		}
		parts, err := splitCollection(c.typ, current)
		if err != nil {
			return false, asInvalid(err)
		}
		last := len(c.typ.Elems) - 1
		at := last
		if c.op == cql.ContainsKey {
			at = 0
		}
		for i := 0; i < len(parts); i += last + 1 {
			if c.typ.Elems[at].compare(parts[i+at], want) == 0 {
				return true, nil
			}
		}
		return false, nil
	}
	return c.compares(current, want)
}

// compares reports whether current op want holds. NULL equals NULL; every other comparison with NULL is false or an
// error.
func (c *condition) compares(current, want []byte) (bool, error) {
	// A collection without elements is NULL.
	if want != nil && c.typ.multiCell() && c.typ.isCollection() && len(want) >= 4 && readInt(want[:4]) == 0 {
		want = nil
	}
	if want == nil || current == nil {
		switch c.op {
		case cql.Eq:
			return want == nil && current == nil, nil
		case cql.Neq:
			return want != nil || current != nil, nil
		}
		if want == nil {
			return false, invalid("Invalid comparison with null for operator \"%s\"", c.op)
		}
		return false, nil
	}
	return holds(c.op, c.typ.compare(current, want)), nil
}

// among reports whether current is one of the values of In.
func (c *condition) among(x *env, current []byte) (bool, error) {
	var values [][]byte
	if c.value != nil {
		b, err := c.value.eval(x)
		if err != nil {
			return false, err
		}
		if isUnset(b) {
			return false, invalid("Invalid 'unset' value in condition")
		}
		if b == nil {
			return false, invalid("Invalid null list in IN condition")
		}
		if values, err = splitCollection(c.value.typ, b); err != nil {
			return false, asInvalid(err)
		}
	}
	for _, n := range c.list {
		b, err := n.eval(x)
		if err != nil {
			return false, err
		}
		if !isUnset(b) { // as if it were not in the list
			values = append(values, b)
		}
	}
	equal := *c
	equal.op = cql.Eq
	for _, v := range values {
		if ok, err := equal.compares(current, v); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// element returns the current element c[key].
func (c *condition) element(key, current []byte) ([]byte, error) {
	if key == nil {
		return nil, invalid("Invalid null value for %s element access", collectionWord(c.col.typ))
	}
	if current == nil {
		return nil, nil
	}
	if c.col.typ.Kind != KindList {
		return c.col.typ.element(current, key)
	}
	parts, err := splitCollection(c.col.typ, current)
	if err != nil {
		return nil, asInvalid(err)
	}
	i := readInt(key)
	if i < 0 {
		return nil, invalid("Invalid negative list index %d", i)
	}
	if i >= int64(len(parts)) {
		return nil, nil
	}
	return parts[i], nil
}
