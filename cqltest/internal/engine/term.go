// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"strings"
	"time"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Compilation of terms and selectors: expressions of the syntax tree become nodes, which have a type and can be
// evaluated.

// env is the environment of an evaluation.
type env struct {
	e      *Engine
	values []Value   // by index of the marker
	now    time.Time // zero until time is called, for a token
	sec    int64     // seconds; the time for expiry
	view   rowView
	json   map[*node]map[*column][]byte // rows of INSERT JSON by the node of the text
	sums   []aggregator                 // aggregates of the current group
}

// time returns the time of the request.
func (x *env) time() time.Time {
	if x.now.IsZero() {
		x.now = x.e.options.Now()
	}
	return x.now
}

// rowView is one row of a partition.
type rowView struct {
	t      *table
	p      *partitionHead
	static *row
	row    *row // nil means that there are only static columns
	absent bool // no row at all: an aggregate over no rows
}

// value returns the value of a column; nil means NULL.
func (v *rowView) value(c *column, sec int64) []byte {
	switch {
	case v.absent:
		return nil
	case c.kind == PartitionKey:
		return v.p.parts[c.pos]
	case c.kind == Clustering:
		if v.row == nil {
			return nil
		}
		return v.row.clustering[c.pos]
	case c.kind == Static:
		return v.static.value(c, sec)
	}
	return v.row.value(c, sec)
}

func (v *rowView) data(c *column) *columnData {
	switch {
	case v.absent:
		return nil
	case c.kind == Static:
		return v.static.data(c.id)
	}
	return v.row.data(c.id)
}

// node is a compiled expression.
type node struct {
	typ   *Type
	name  string  // of the result column; empty means the expression's
	col   *column // of a node that is a column and nothing else
	token bool    // the node is the token of the partition
	eval  func(x *env) ([]byte, error)
	agg   bool // contains an aggregate
	fixed bool // contains neither columns nor markers
}

// unset is the value of a marker that is not set; see isUnset.
var unset = []byte{0xFF}

func isUnset(b []byte) bool { return len(b) == 1 && &b[0] == &unset[0] }

func constant(t *Type, b []byte) *node {
	return &node{typ: t, fixed: true, eval: func(*env) ([]byte, error) { return b, nil }}
}

// derived returns the node of a value of type t that f computes from the value of n. NULL, and values that are not set,
// make NULL.
func (n *node) derived(t *Type, f func(x *env, b []byte) ([]byte, error)) *node {
	return &node{typ: t, agg: n.agg, fixed: n.fixed, eval: func(x *env) ([]byte, error) {
		b, err := n.eval(x)
		if err != nil || b == nil || isUnset(b) {
			return nil, err
		}
		b, err = f(x, b)
		return b, asInvalid(err)
	}}
}

// combined returns the node of a value of type t that f computes from two values. NULL, and values that are not set,
// make NULL.
func combined(t *Type, left, right *node, f func(a, b []byte) ([]byte, error)) *node {
	return &node{typ: t, agg: left.agg || right.agg, fixed: left.fixed && right.fixed, eval: func(x *env) ([]byte, error) {
		a, err := left.eval(x)
		if err != nil {
			return nil, err
		}
		b, err := right.eval(x)
		if err != nil || a == nil || b == nil || isUnset(a) || isUnset(b) {
			return nil, err
		}
		b, err = f(a, b)
		return b, asInvalid(err)
	}}
}

// compiler compiles the expressions of one statement.
type compiler struct {
	e    *Engine
	s    *schema
	ks   string // keyspace of the connection
	t    *table // table whose columns are in scope; nil means none
	bind []Column
	// targets are the names of positional markers: names of columns, or "in(c)" and the like.
	targets   []string
	selecting bool // inside a SELECT clause
	aggs      []func() aggregator
	// depth counts nested expressions.
	depth     int
	aggregate bool // inside the arguments of an aggregate
}

// marker records the receiver of a bind marker.
func (c *compiler) marker(m *cql.Marker, recv Column) *node {
	target := recv.Name
	if m.Name != "" {
		recv.Name = m.Name
	}
	if m.Index < len(c.bind) {
		c.bind[m.Index], c.targets[m.Index] = recv, target
	}
	t := recv.Type
	sorts := t.isCollection() && t.sorts() // a vector outside of collections keeps the order of its sets
	return &node{typ: t, eval: func(x *env) ([]byte, error) {
		if m.Index >= len(x.values) {
			return nil, invalid("Invalid amount of bind variables")
		}
		v := &x.values[m.Index]
		switch v.State {
		case ValueNull:
			return nil, nil
		case ValueUnset:
			return unset, nil
		}
		if v.Bytes == nil {
			return []byte{}, asInvalid(t.check(nil))
		}
		if err := t.check(v.Bytes); err != nil {
			return nil, asInvalid(err)
		}
		if sorts && len(v.Bytes) > 0 {
			return t.sortParts(v.Bytes), nil
		}
		return v.Bytes, nil
	}}
}

// listWithNulls compiles the list of c IN ?. The caller checks for elements that are NULL.
func (c *compiler) listWithNulls(e cql.Expr, recv Column) (*node, error) {
	m, ok := e.(*cql.Marker)
	if !ok {
		return c.term(e, recv)
	}
	n := c.marker(m, recv)
	strict := n.eval
	n.eval = func(x *env) ([]byte, error) {
		if m.Index >= len(x.values) || x.values[m.Index].State != ValueSet {
			return strict(x)
		}
		b := x.values[m.Index].Bytes
		parts, err := splitCollection(recv.Type, b)
		if err != nil {
			return nil, asInvalid(err)
		}
		for _, p := range parts {
			if p == nil {
				continue
			}
			if err := recv.Type.Elems[0].check(p); err != nil {
				return nil, asInvalid(err)
			}
		}
		return b, nil
	}
	return n, nil
}

// sorts reports whether the type contains sets or maps whose elements are sorted. Those in tuples and user-defined
// types are not, as in Cassandra.
func (t *Type) sorts() bool {
	if t.Kind == KindTuple || t.Kind == KindUDT {
		return false
	}
	return t.Kind == KindSet || t.Kind == KindMap || slices.ContainsFunc(t.Elems, (*Type).sorts)
}

// sortParts sorts the sets and maps inside a valid value.
func (t *Type) sortParts(b []byte) []byte {
	if !t.sorts() || len(b) == 0 {
		return b
	}
	parts, err := t.split(b)
	if err != nil {
		return b
	}
	for i, p := range parts {
		parts[i] = t.part(i).sortParts(p)
	}
	return t.join(parts)
}

// term compiles a term as a value of recv.
func (c *compiler) term(e cql.Expr, recv Column) (*node, error) {
	c.depth++
	defer func() { c.depth-- }()
	if c.depth > 4*maxDepth {
		return nil, invalid("Expression is nested too deeply")
	}
	t := recv.Type
	switch e := e.(type) {
	case *cql.Marker:
		return c.marker(e, recv), nil
	case *cql.Literal:
		return c.literal(e, recv)
	case *cql.ListLiteral:
		if t.Kind == KindVector {
			return c.vectorLiteral(e, recv)
		}
		if t.Kind != KindList {
			return nil, invalid("Unexpected receiver type '%s'; only list and vector are expected", t)
		}
		return c.collection(e.Elems, recv)
	case *cql.SetLiteral:
		if t.Kind == KindMap && len(e.Elems) == 0 {
			return constant(t, joinCollection(t, nil)), nil
		}
		if t.Kind != KindSet {
			return nil, invalid("Invalid set literal for %s of type %s", recv.Name, t)
		}
		return c.collection(e.Elems, recv)
	case *cql.MapLiteral:
		if t.Kind != KindMap {
			return nil, invalid("Invalid map literal for %s of type %s", recv.Name, t)
		}
		var elems []cql.Expr
		for _, entry := range e.Entries {
			elems = append(elems, entry.Key, entry.Value)
		}
		return c.collection(elems, recv)
	case *cql.UDTLiteral:
		return c.udtLiteral(e, recv)
	case *cql.TupleLiteral:
		if t.Kind != KindTuple {
			if len(e.Elems) == 1 {
				return c.term(e.Elems[0], recv)
			}
			return nil, invalid("Invalid tuple type literal for %s of type %s", recv.Name, t)
		}
		if len(e.Elems) > len(t.Elems) {
			return nil, invalid("Invalid tuple literal for %s: too many elements. Type %s expects %d but got %d",
				recv.Name, t, len(t.Elems), len(e.Elems))
		}
		return c.tuple(e.Elems, recv)
	case *cql.TypeHint:
		hinted, err := c.typeName(e.Type)
		if err != nil {
			return nil, err
		}
		if !assignable(t, hinted) {
			return nil, invalid("Cannot assign value %s to %s of type %s", resultName(e), recv.Name, t)
		}
		return c.term(e.Expr, recv.of(recv.Name, hinted))
	}
	if call, ok := e.(*cql.Call); ok && isFromJSON(call) {
		return c.fromJSONCall(call, recv)
	}
	n, err := c.selector(e, t)
	if err != nil {
		if call, ok := e.(*cql.Call); ok && err.Error() == unknownFunction(call.Name).Error() {
			return nil, invalid("Unknown function %s called", functionName(call.Name))
		}
		return nil, err
	}
	if !assignable(t, n.typ) {
		if call, ok := e.(*cql.Call); ok {
			return nil, invalid("Type error: cannot assign result of function %s (type %s) to %s (type %s)",
				systemName(strings.ToLower(call.Name.Name)),
				n.typ, recv.Name, t)
		}
		return nil, invalid("Type error: cannot assign %s (type %s) to %s (type %s)", e, n.typ, recv.Name, t)
	}
	return n, nil
}

// assignable reports whether a value of type from can be stored as a value of type to.
func assignable(to, from *Type) bool {
	if to == nil || from == nil {
		return true
	}
	if to.Kind == from.Kind && len(to.Elems) == len(from.Elems) && to.Dim == from.Dim && to.Name == from.Name &&
		to.Keyspace == from.Keyspace {
		for i := range to.Elems {
			if !assignable(to.Elems[i], from.Elems[i]) {
				return false
			}
		}
		return true
	}
	switch to.Kind {
	case KindBlob:
		return true
	case KindText:
		return from.Kind == KindASCII
	case KindUUID:
		return from.Kind == KindTimeUUID
	case KindBigInt:
		return from.Kind == KindTimestamp || from.Kind == KindCounter
	case KindCounter:
		return from.Kind == KindBigInt
	case KindVarint:
		return from.Kind == KindInt || from.Kind == KindBigInt
	}
	return false
}

// sameType reports whether two types differ at most in frozen.
func sameType(a, b *Type) bool {
	if a.Kind != b.Kind || len(a.Elems) != len(b.Elems) || a.Dim != b.Dim || a.Name != b.Name || a.Keyspace != b.Keyspace {
		return false
	}
	for i := range a.Elems {
		if !sameType(a.Elems[i], b.Elems[i]) {
			return false
		}
	}
	return true
}

func functionName(n cql.Name) string {
	if n.Keyspace == "" {
		return strings.ToLower(n.Name)
	}
	return n.Keyspace + "." + n.Name
}
