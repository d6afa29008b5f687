// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"fmt"
	"slices"
	"strings"

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

// parts compiles the elements of a collection, whose types alternate.
func (c *compiler) parts(elems []cql.Expr, recv Column, types []*Type, name string,
	join func(*Type, [][]byte) []byte,
) (*node, error) {
	t := recv.Type
	nodes := make([]*node, len(elems))
	for i, e := range elems { // before the text of any is parsed
		part := name
		if part == "" {
			part = []string{"key(", "value("}[i%2]
		}
		if l, ok := e.(*cql.Literal); ok && !literalFits(l.Kind, types[i%len(types)]) {
			return nil, elementFault(nil, e, recv, collectionWord(t), strings.SplitN(part, "(", 2)[0], types[i%len(types)])
		}
	}
	for i, e := range elems {
		spec := Column{recv.Keyspace, recv.Table, name, types[i%len(types)]}
		if name == "" {
			spec.Name = []string{"key(", "value("}[i%2] + recv.Name + ")"
		}
		if hasMarker(e) && !c.selecting {
			return nil, invalid("Invalid %s literal for %s: bind variables are not supported inside collection literals",
				collectionWord(t), recv.Name)
		}
		n, err := c.term(e, spec)
		if err != nil {
			return nil, elementFault(err, e, recv, collectionWord(t), strings.SplitN(spec.Name, "(", 2)[0], spec.Type)
		}
		nodes[i] = n
	}
	return c.joined(t, nodes, func(parts [][]byte) ([]byte, error) {
		for _, p := range parts {
			if p == nil {
				return nil, invalid("null is not supported inside collections")
			}
		}
		return join(t, parts), nil
	})
}

// hasMarker reports whether a term contains a bind marker.
func hasMarker(e cql.Expr) bool {
	switch e := e.(type) {
	case *cql.Marker:
		return true
	case *cql.ListLiteral:
		return slices.ContainsFunc(e.Elems, hasMarker)
	case *cql.SetLiteral:
		return slices.ContainsFunc(e.Elems, hasMarker)
	case *cql.TupleLiteral:
		return slices.ContainsFunc(e.Elems, hasMarker)
	case *cql.MapLiteral:
		return slices.ContainsFunc(e.Entries, func(m cql.MapEntry) bool { return hasMarker(m.Key) || hasMarker(m.Value) })
	case *cql.UDTLiteral:
		return slices.ContainsFunc(e.Fields, func(f cql.FieldValue) bool { return hasMarker(f.Value) })
	case *cql.TypeHint:
		return hasMarker(e.Expr)
	case *cql.Call:
		return slices.ContainsFunc(e.Args, hasMarker)
	}
	return false
}

// elementFault returns Cassandra's error for an element of a collection.
func elementFault(err error, e cql.Expr, recv Column, word, part string, t *Type) error {
	if l, ok := e.(*cql.Literal); ok && !literalFits(l.Kind, t) {
		return invalid("Invalid %s literal for %s: %s %s is not of type %s", word, recv.Name, part, e, t)
	}
	return err
}

// joined returns the node of a value from the nodes of its parts. If all parts are constant, so is the node.
func (c *compiler) joined(t *Type, nodes []*node, join func([][]byte) ([]byte, error)) (*node, error) {
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
		}
		return join(parts)
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
		n, err := c.term(elem, Column{recv.Keyspace, recv.Table, "value(" + recv.Name + ")", t.Elems[0]})
		if err != nil {
			return nil, elementFault(err, elem, recv, "vector", "value", t.Elems[0])
		}
		nodes[i] = n
	}
	return c.joined(t, nodes, func(parts [][]byte) ([]byte, error) {
		for _, p := range parts {
			if p == nil {
				return nil, invalid("null is not supported inside vectors")
			}
		}
		b := joinVector(t, parts)
		return b, asInvalid(t.check(b))
	})
}

// tuple compiles the elements of a tuple.
func (c *compiler) tuple(elems []cql.Expr, recv Column) (*node, error) {
	t := recv.Type
	nodes := make([]*node, len(elems))
	for i, e := range elems {
		spec := Column{recv.Keyspace, recv.Table, fmt.Sprintf("%s[%d]", recv.Name, i), t.Elems[i]}
		n, err := c.term(e, spec)
		if err != nil {
			if l, ok := e.(*cql.Literal); ok && !literalFits(l.Kind, t.Elems[i]) {
				return nil, invalid("Invalid tuple literal for %s: component %d is not of type %s", recv.Name, i, t.Elems[i])
			}
			return nil, err
		}
		nodes[i] = n
	}
	return c.joined(t, nodes, func(parts [][]byte) ([]byte, error) { return joinTuple(parts), nil })
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
		n, err := c.term(f.Value, Column{recv.Keyspace, recv.Table, recv.Name + "." + f.Name, t.Elems[i]})
		if err != nil {
			if l, ok := f.Value.(*cql.Literal); ok && !literalFits(l.Kind, t.Elems[i]) {
				return nil, invalid("Invalid user type literal for %s: field %s is not of type %s", recv.Name, f.Name, t.Elems[i])
			}
			return nil, err
		}
		nodes[i] = n
	}
	for i := range nodes {
		if nodes[i] == nil {
			nodes[i] = constant(t.Elems[i], nil)
		}
	}
	return c.joined(t, nodes, func(parts [][]byte) ([]byte, error) { return joinTuple(parts), nil })
}
