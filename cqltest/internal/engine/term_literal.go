// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Compilation of literals: constants, collections, tuples, vectors and user-defined types.

var literalWords = map[cql.LiteralKind]string{
	cql.StringLiteral: "STRING", cql.IntegerLiteral: "INTEGER", cql.FloatLiteral: "FLOAT", cql.BooleanLiteral: "BOOLEAN",
	cql.DurationLiteral: "DURATION", cql.UUIDLiteral: "UUID", cql.HexLiteral: "HEX",
}

// literalFits reports whether literals of a kind denote values of a type.
func literalFits(k cql.LiteralKind, t *Type) bool {
	switch k {
	case cql.NullLiteral:
		return true
	case cql.StringLiteral:
		return slices.Contains([]Kind{KindASCII, KindText, KindInet, KindDate, KindTime, KindTimestamp}, t.Kind)
	case cql.IntegerLiteral:
		return slices.Contains([]Kind{
			KindBigInt, KindCounter, KindDate, KindDecimal, KindDouble, KindDuration, KindFloat, KindInt, KindSmallInt,
			KindTime, KindTimestamp, KindTinyInt, KindVarint,
		}, t.Kind)
	case cql.FloatLiteral:
		return t.Kind == KindDecimal || t.Kind == KindDouble || t.Kind == KindFloat
	case cql.BooleanLiteral:
		return t.Kind == KindBoolean
	case cql.DurationLiteral:
		return t.Kind == KindDuration
	case cql.UUIDLiteral:
		return t.Kind == KindUUID || t.Kind == KindTimeUUID
	case cql.HexLiteral:
		return t.Kind == KindBlob
	}
	return false
}

// literal compiles a constant as a value of recv, whose type decides how the text is parsed.
func (c *compiler) literal(l *cql.Literal, recv Column) (*node, error) {
	if l.Kind == cql.NullLiteral {
		return constant(recv.Type, nil), nil
	}
	if !literalFits(l.Kind, recv.Type) {
		text := l.String()
		if l.Kind == cql.StringLiteral {
			text = l.Text
		}
		return nil, invalid("Invalid %s constant (%s) for \"%s\" of type %s", literalWords[l.Kind], text, recv.Name,
			recv.Type)
	}
	b, err := recv.Type.parseText(l.Text)
	if err != nil {
		return nil, asInvalid(err)
	}
	return constant(recv.Type, b), nil
}

// joinSorted serializes a set or map: sorted by keys, the first of equal keys with the value of the last.
func joinSorted(t *Type, parts [][]byte) []byte {
	width := len(t.Elems)
	n := len(parts) / width
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return t.Elems[0].compare(parts[a*width], parts[b*width]) })
	var out [][]byte
	for i, o := range order {
		if i > 0 && t.Elems[0].compare(parts[order[i-1]*width], parts[o*width]) == 0 {
			copy(out[len(out)-width+1:], parts[o*width+1:(o+1)*width])
			continue
		}
		out = append(out, parts[o*width:(o+1)*width]...)
	}
	return joinCollection(t, out)
}

// literalFault returns the error of a literal that is no value of t, the type of a part of a literal of recv. kind and
// part name both.
func literalFault(e cql.Expr, recv Column, t *Type, kind, part string) error {
	if l, ok := e.(*cql.Literal); ok && !literalFits(l.Kind, t) {
		return invalid("Invalid %s literal for %s: %s is not of type %s", kind, recv.Name, part, t)
	}
	return nil
}

// part compiles a part of a literal of recv. Its error is the one of literalFault, with kind and name.
func (c *compiler) part(e cql.Expr, recv, part Column, kind, name string) (*node, error) {
	if err := literalFault(e, recv, part.Type, kind, name); err != nil {
		return nil, err
	}
	return c.term(e, part)
}

// collection compiles the elements of a collection; keys and values of a map alternate.
func (c *compiler) collection(elems []cql.Expr, recv Column) (*node, error) {
	t := recv.Type
	word := func(i int) string {
		if t.Kind == KindMap && i%2 == 0 {
			return "key"
		}
		return "value"
	}
	for i, e := range elems { // before the text of any is parsed
		if err := literalFault(e, recv, t.part(i), collectionWord(t), word(i)+" "+e.String()); err != nil {
			return nil, err
		}
	}
	nodes := make([]*node, len(elems))
	for i, e := range elems {
		if !c.selecting && cql.Any(e, isMarker) {
			return nil, invalid("Invalid %s literal for %s: bind variables are not supported inside collection literals",
				collectionWord(t), recv.Name)
		}
		var err error
		if nodes[i], err = c.term(e, recv.of(word(i)+"("+recv.Name+")", t.part(i))); err != nil {
			return nil, err
		}
	}
	return c.joined(t, nodes, "collections")
}

// isMarker reports whether a term is a bind marker.
func isMarker(e cql.Expr) bool {
	_, ok := e.(*cql.Marker)
	return ok
}

// joined returns the node of a value from the nodes of its parts. If all parts are constant, so is the node. A part
// that is NULL is an error in what noNulls names; "" means that parts may be NULL.
func (c *compiler) joined(t *Type, nodes []*node, noNulls string) (*node, error) {
	n := &node{typ: t, fixed: true}
	for _, p := range nodes {
		n.fixed = n.fixed && p.fixed
		n.agg = n.agg || p.agg
	}
	n.eval = func(x *env) ([]byte, error) {
		parts := make([][]byte, len(nodes))
		for i, p := range nodes {
			var err error
			if parts[i], err = p.eval(x); err != nil {
				return nil, err
			}
			if isUnset(parts[i]) {
				return nil, invalid("unset value is not supported inside %s",
					map[bool]string{true: "collections", false: "tuples"}[t.isCollection()])
			}
			if parts[i] == nil && noNulls != "" {
				return nil, invalid("null is not supported inside %s", noNulls)
			}
		}
		b := t.join(parts)
		if t.Kind == KindVector {
			return b, asInvalid(t.check(b))
		}
		return b, nil
	}
	if !n.fixed {
		return n, nil
	}
	b, err := n.eval(&env{e: c.e})
	if err != nil {
		return nil, err
	}
	return constant(t, b), nil
}

// vectorLiteral compiles [a, b, ...] as a vector, which has exactly as many elements as its dimension.
func (c *compiler) vectorLiteral(e *cql.ListLiteral, recv Column) (*node, error) {
	t := recv.Type
	if len(e.Elems) != t.Dim {
		return nil, invalid("Invalid vector literal for %s of type %s; expected %d elements, but given %d", recv.Name, t,
			t.Dim, len(e.Elems))
	}
	nodes := make([]*node, len(e.Elems))
	for i, elem := range e.Elems {
		var err error
		part := recv.of("value("+recv.Name+")", t.Elems[0])
		if nodes[i], err = c.part(elem, recv, part, "vector", "value "+elem.String()); err != nil {
			return nil, err
		}
	}
	return c.joined(t, nodes, "vectors")
}

// tuple compiles the elements of a tuple.
func (c *compiler) tuple(elems []cql.Expr, recv Column) (*node, error) {
	t := recv.Type
	nodes := make([]*node, len(elems))
	for i, e := range elems {
		var err error
		part := recv.of(fmt.Sprintf("%s[%d]", recv.Name, i), t.Elems[i])
		if nodes[i], err = c.part(e, recv, part, "tuple", fmt.Sprintf("component %d", i)); err != nil {
			return nil, err
		}
	}
	return c.joined(t, nodes, "")
}

// udtLiteral compiles {f: v, ...} as a UDT. Missing fields are NULL.
func (c *compiler) udtLiteral(e *cql.UDTLiteral, recv Column) (*node, error) {
	t := recv.Type
	if t.Kind == KindMap { // {a: 1} in a SELECT, with columns as keys
		m := &cql.MapLiteral{}
		for _, f := range e.Fields {
			m.Entries = append(m.Entries, cql.MapEntry{Key: &cql.Column{Name: f.Name}, Value: f.Value})
		}
		return c.term(m, recv)
	}
	if t.Kind != KindUDT {
		return nil, invalid("Invalid user type literal for %s of type %s", recv.Name, t)
	}
	nodes := make([]*node, len(t.Elems))
	for _, f := range e.Fields {
		i := slices.Index(t.Fields, f.Name)
		if i < 0 {
			return nil, invalid("Unknown field '%s' in value of user defined type %s", f.Name, quoteName(t.Name))
		}
		var err error
		part := recv.of(recv.Name+"."+f.Name, t.Elems[i])
		if nodes[i], err = c.part(f.Value, recv, part, "user type", "field "+f.Name); err != nil {
			return nil, err
		}
	}
	for i := range nodes {
		if nodes[i] == nil {
			nodes[i] = constant(t.Elems[i], nil)
		}
	}
	return c.joined(t, nodes, "")
}
