// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Changes of single columns: c = v, c = c + v, c[k] = v, c.f = v, DELETE c, c[k], c.f.

// assign prepares c = value.
func (c *compiler) assign(col *column, value cql.Expr) (change, error) {
	if col.typ.Kind == KindCounter {
		return change{}, invalid("Cannot set the value of counter column %s (counters can only be incremented/decremented, not set)", col.name)
	}
	n, err := c.term(value, c.t.column(col))
	if err != nil {
		return change{}, err
	}
	return assigned(col, n), nil
}

// changed returns the change of a column by the value of n. A value that is not set changes nothing.
func changed(col *column, n *node, ops func(x *env, w *writing, b []byte, dst []op) ([]op, error)) change {
	return change{col, func(x *env, w *writing, dst []op) ([]op, error) {
		b, err := n.eval(x)
		if err != nil || isUnset(b) {
			return dst, err
		}
		return ops(x, w, b, dst)
	}}
}

// assigned returns the assignment of the value of n to a whole column.
func assigned(col *column, n *node) change {
	return changed(col, n, func(_ *env, w *writing, b []byte, dst []op) ([]op, error) {
		if !col.typ.multiCell() {
			return append(dst, op{col: col, kind: opCell, cell: w.cell(b)}), nil
		}
		// The old elements are deleted one microsecond before the new ones are written.
		dst = append(dst, op{col: col, kind: opClear, cell: cell{ts: w.ts - 1, deleted: true}})
		if b == nil {
			return dst, nil
		}
		return appendElements(col, b, w, opAppend, dst)
	})
}

// appendElements adds an op for each element of a serialized collection or UDT.
func appendElements(col *column, b []byte, w *writing, list opKind, dst []op) ([]op, error) {
	t := col.typ
	if t.Kind == KindUDT {
		parts, err := splitTuple(t, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		for i, p := range parts {
			if p != nil {
				dst = append(dst, op{
					col: col, kind: opElement, path: binary.BigEndian.AppendUint16(nil, uint16(i)),
					cell: w.cell(p),
				})
			}
		}
		return dst, nil
	}
	parts, err := splitCollection(t, b)
	if err != nil {
		return nil, asInvalid(err)
	}
	switch t.Kind {
	case KindList:
		if list == opPrepend {
			slices.Reverse(parts) // each op prepends one element: start with the last
		}
		for _, p := range parts {
			dst = append(dst, op{col: col, kind: list, cell: w.cell(p)})
		}
	case KindSet:
		for _, p := range parts {
			dst = append(dst, op{col: col, kind: opElement, path: p, cell: w.cell([]byte{})})
		}
	case KindMap:
		for i := 0; i+1 < len(parts); i += 2 {
			dst = append(dst, op{col: col, kind: opElement, path: parts[i], cell: w.cell(parts[i+1])})
		}
	}
	return dst, nil
}

// assignment prepares one item of UPDATE ... SET.
func (c *compiler) assignment(col *column, a *cql.Assignment) (change, error) {
	t := col.typ
	switch a.Op {
	case cql.Assign:
		return c.assign(col, a.Value)
	case cql.AssignElement:
		return c.assignElement(col, a)
	case cql.AssignField:
		return c.assignField(col, a)
	}
	if t.Kind == KindCounter && a.Op != cql.AssignPrepend {
		return c.increment(col, a)
	}
	if kind := wrongOperand(t, a.Op); kind != "" {
		text := col.name + " + " + a.Value.String()
		switch a.Op {
		case cql.AssignSub:
			text = col.name + " - " + a.Value.String()
		case cql.AssignPrepend:
			text = a.Value.String() + " - " + col.name
		}
		return change{}, invalid("Invalid operation (%s = %s) for %s column %s", col.name, text, kind, col.name)
	}
	spec := c.t.column(col)
	if a.Op == cql.AssignSub && t.Kind == KindMap {
		spec.Type = &Type{Kind: KindSet, Elems: t.Elems[:1]} // keys only
	}
	n, err := c.term(a.Value, spec)
	if err != nil {
		return change{}, err
	}
	return changed(col, n, func(_ *env, w *writing, b []byte, dst []op) ([]op, error) {
		switch {
		case b == nil:
			return dst, nil
		case a.Op == cql.AssignPrepend:
			return appendElements(col, b, w, opPrepend, dst)
		case a.Op != cql.AssignSub:
			return appendElements(col, b, w, opAppend, dst)
		}
		parts, err := splitCollection(spec.Type, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		if t.Kind == KindList {
			return append(dst, op{col: col, kind: opListDiscard, values: parts, cell: w.tombstone()}), nil
		}
		for _, p := range parts {
			dst = append(dst, op{col: col, kind: opElementDelete, path: p, cell: w.tombstone()})
		}
		return dst, nil
	}), nil
}

// wrongOperand names the kind of columns of type t for which op is not allowed; "" means that it is.
func wrongOperand(t *Type, op cql.AssignOp) string {
	switch {
	case t.Kind == KindTuple:
		return "tuple"
	case op == cql.AssignPrepend && t.Kind != KindList:
		return "non list"
	case !t.isCollection():
		return "non counter"
	case t.Frozen:
		return "frozen collection"
	}
	return ""
}

// increment prepares c = c + n and c = c - n of a counter.
func (c *compiler) increment(col *column, a *cql.Assignment) (change, error) {
	if l, ok := a.Value.(*cql.Literal); ok && l.Kind == cql.NullLiteral {
		return change{}, invalid("Invalid null value for counter increment/decrement")
	}
	n, err := c.term(a.Value, c.t.column(col))
	if err != nil {
		return change{}, err
	}
	return changed(col, n, func(_ *env, w *writing, b []byte, dst []op) ([]op, error) {
		if b == nil {
			return nil, invalid("Invalid null value for counter increment")
		}
		if len(b) != 8 {
			return nil, invalid("Invalid empty value for counter increment")
		}
		delta := readInt(b)
		if a.Op == cql.AssignSub {
			if delta == -1<<63 {
				return nil, invalid("The negation of %d overflows supported counter precision (signed 8 bytes integer)", delta)
			}
			delta = -delta
		}
		return append(dst, op{col: col, kind: opCounter, delta: delta, cell: cell{ts: w.ts}}), nil
	}), nil
}

// assignElement prepares c[k] = v.
func (c *compiler) assignElement(col *column, a *cql.Assignment) (change, error) {
	t := col.typ
	kind := ""
	switch {
	case t.Kind == KindSet:
		kind = "set"
	case !t.isCollection():
		kind = "non collection"
	case t.Frozen:
		kind = "frozen collection"
	}
	if kind != "" {
		return change{}, invalid("Invalid operation (%s[%s] = %s) for %s column %s", col.name, a.Key, a.Value, kind, col.name)
	}
	key, err := c.elementKey(col, a.Key)
	if err != nil {
		return change{}, err
	}
	n, err := c.term(a.Value, c.t.spec("value("+col.name+")", t.Elems[len(t.Elems)-1]))
	if err != nil {
		return change{}, err
	}
	return changed(col, n, func(x *env, w *writing, b []byte, dst []op) ([]op, error) {
		k, err := key.eval(x)
		if err != nil {
			return nil, err
		}
		return elementOp(col, k, w.cell(b), opListSet, dst)
	}), nil
}

// elementKey prepares k of c[k].
func (c *compiler) elementKey(col *column, e cql.Expr) (*node, error) {
	if col.typ.Kind == KindList {
		return c.term(e, c.t.spec("idx("+col.name+")", Native("int")))
	}
	return c.term(e, c.t.spec("key("+col.name+")", col.typ.Elems[0]))
}

// elementOp appends the write of cell l to element k of a list or map. list is the kind of op for lists, whose elements
// are found by index.
func elementOp(col *column, k []byte, l cell, list opKind, dst []op) ([]op, error) {
	word := map[bool]string{true: "list index", false: "map key"}[col.typ.Kind == KindList]
	if k == nil {
		return nil, invalid("Invalid null %s", word)
	}
	if isUnset(k) {
		return nil, invalid("Invalid unset %s", word)
	}
	if col.typ.Kind == KindList {
		if len(k) != 4 {
			return nil, invalid("Invalid empty list index")
		}
		return append(dst, op{col: col, kind: list, index: int(readInt(k)), cell: l}), nil
	}
	return append(dst, op{col: col, kind: opElement, path: k, cell: l}), nil
}

// fieldPath returns the path of a field of a UDT column, its index in two bytes, and its type. what is the operation
// for the error.
func (c *compiler) fieldPath(col *column, name string, what string) ([]byte, *Type, error) {
	t := col.typ
	if t.Kind != KindUDT {
		return nil, nil, invalid("Invalid operation (%s) for non-UDT column %s", what, col.name)
	}
	if t.Frozen {
		return nil, nil, invalid("Invalid operation (%s) for frozen UDT column %s", what, col.name)
	}
	i := slices.Index(t.Fields, name)
	if i < 0 {
		return nil, nil, invalid("UDT column %s does not have a field named %s", col.name, name)
	}
	return binary.BigEndian.AppendUint16(nil, uint16(i)), t.Elems[i], nil
}

// assignField prepares c.f = v.
func (c *compiler) assignField(col *column, a *cql.Assignment) (change, error) {
	path, t, err := c.fieldPath(col, a.Field, col.name+"."+a.Field+" = "+a.Value.String())
	if err != nil {
		return change{}, err
	}
	n, err := c.term(a.Value, c.t.spec(col.name+"."+a.Field, t))
	if err != nil {
		return change{}, err
	}
	return changed(col, n, func(_ *env, w *writing, b []byte, dst []op) ([]op, error) {
		return append(dst, op{col: col, kind: opElement, path: path, cell: w.cell(b)}), nil
	}), nil
}

// deletion prepares one item of DELETE.
func (c *compiler) deletion(col *column, target *cql.Target) (change, error) {
	switch {
	case target.Field != "":
		path, _, err := c.fieldPath(col, target.Field, col.name+"."+target.Field)
		if err != nil {
			return change{}, err
		}
		return change{col, func(_ *env, w *writing, dst []op) ([]op, error) {
			return append(dst, op{col: col, kind: opElementDelete, path: path, cell: w.tombstone()}), nil
		}}, nil
	case target.Key == nil:
		return change{col, func(_ *env, w *writing, dst []op) ([]op, error) {
			kind := opCell
			if col.typ.multiCell() {
				kind = opClear
			}
			return append(dst, op{col: col, kind: kind, cell: w.tombstone()}), nil
		}}, nil
	case !col.typ.isCollection():
		return change{}, invalid("Invalid deletion operation for non collection column %s", col.name)
	case col.typ.Frozen:
		return change{}, invalid("Invalid deletion operation for frozen collection column %s", col.name)
	}
	key, err := c.elementKey(col, target.Key)
	if err != nil {
		return change{}, err
	}
	return change{col, func(x *env, w *writing, dst []op) ([]op, error) {
		k, err := key.eval(x)
		switch {
		case err != nil:
			return nil, err
		case isUnset(k) && col.typ.Kind != KindMap:
			return dst, nil
		case k == nil && col.typ.Kind == KindList:
			return nil, invalid("Invalid null value for list index")
		}
		return elementOp(col, k, w.tombstone(), opListDelete, dst)
	}}, nil
}
