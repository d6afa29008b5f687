// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// This file holds filters: expressions that say which rows a scan returns, and how they are made ready for the types of a file's columns.
// filter_value.go has the constants in them, filter_eval.go tests rows, filter_prune.go leaves out what needs no reading.

// ErrFilter is a filter that makes no sense for a column: a comparison with a value of another kind, or with a list.
var ErrFilter = errors.New("filter does not fit the column")

// A Filter says which rows to return. The zero Filter is all of them. Filters are made by [Eq], [Ne], [Lt], [Le], [Gt], [Ge], [In],
// [IsNull], [NotNull], [And], [Or] and [Not]; they are immutable and can be shared.
//
// A column is named by its path: "a", or "a.b" for a field of a struct. There are no paths into lists and maps; these, vectors and structs
// as a whole have only IsNull and NotNull.
//
// A value is compared with by what it means, exactly, and never rounded or cut to the column's type: Lt("i", 2.5) on integers is i <= 2,
// Lt("i", 1000) on int8 is every row that is not NULL, Gt("f", 0.1) on float32 compares with the float64. What goes with what:
//
//   - integer and float columns: integers and floats of any Go type, [Int128], [Int256];
//   - decimals: those, and strings such as "12.50". An integer is that number, not an unscaled one: 12 is 12.00;
//   - Date and Timestamp: time.Time, as the instant it is, whatever its location. A Date is its midnight, and a Timestamp of unknown local
//     time is what it shows, both in UTC: give those times in time.UTC;
//   - Time: time.Duration since midnight;
//   - Bool: bool, false being less than true;
//   - String, Binary and Fixed: string and []byte; ID: [16]byte and []byte. They compare byte by byte, unsigned, the shorter one first if
//     it is a prefix of the other.
//
// Named types count as what they are made of, except time.Duration, which is no integer. Anything else is an ErrFilter.
//
// Floats have one order: NaN equals NaN and is greater than all numbers, -0 equals 0. That is the order of package groupby. Files hardly
// say whether there is NaN, so that a least value alone leaves out no rows unread: And of it with a greatest one does, be it
// Lt(c, math.NaN()).
//
// Logic is that of SQL: a comparison with NULL is unknown, so is Not of it, and rows are selected whose filter is true. A nil value is an
// ErrFilter. A []byte must not change before the filter is given to a scan.
type Filter struct{ node *filterNode }

// A filterOp is what a node of a filter does.
type filterOp uint8

const (
	opAnd filterOp = iota + 1
	opOr
	opNot
	opNull
	opNotNull
	opEq
	opNe
	opLt
	opLe
	opGt
	opGe
	opIn
)

var filterSigns = [...]string{opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=", opIn: "IN"}

// A filterNode is an expression: args of opAnd, opOr and opNot, column and values of all others.
type filterNode struct {
	op     filterOp
	column string
	values []any
	args   []Filter
}

func onColumn(op filterOp, column string, values ...any) Filter {
	return Filter{&filterNode{op: op, column: column, values: values}}
}

// Eq selects rows whose column equals the value.
func Eq(column string, value any) Filter { return onColumn(opEq, column, value) }

// Ne selects rows whose column is not NULL and differs from the value.
func Ne(column string, value any) Filter { return onColumn(opNe, column, value) }

// Lt selects rows whose column is less than the value.
func Lt(column string, value any) Filter { return onColumn(opLt, column, value) }

// Le selects rows whose column is at most the value.
func Le(column string, value any) Filter { return onColumn(opLe, column, value) }

// Gt selects rows whose column is greater than the value.
func Gt(column string, value any) Filter { return onColumn(opGt, column, value) }

// Ge selects rows whose column is at least the value.
func Ge(column string, value any) Filter { return onColumn(opGe, column, value) }

// In selects rows whose column equals one of the values. Of no values it selects none, and Not of that all that are not NULL.
func In(column string, values ...any) Filter { return onColumn(opIn, column, slices.Clone(values)...) }

// IsNull selects rows whose column is NULL. A field of a struct that is NULL is NULL.
func IsNull(column string) Filter { return onColumn(opNull, column) }

// NotNull selects rows whose column is not NULL.
func NotNull(column string) Filter { return onColumn(opNotNull, column) }

// And selects rows that all filters select, which of no filters are all rows.
func And(filters ...Filter) Filter {
	return Filter{&filterNode{op: opAnd, args: slices.Clone(filters)}}
}

// Or selects rows that some filter selects, which of no filters is no row.
func Or(filters ...Filter) Filter { return Filter{&filterNode{op: opOr, args: slices.Clone(filters)}} }

// Not selects rows for which the filter is false, not those for which it is unknown.
func Not(filter Filter) Filter { return Filter{&filterNode{op: opNot, args: []Filter{filter}}} }

// String returns the filter in the manner of SQL, for messages.
func (f Filter) String() string {
	if f.node == nil {
		return "true"
	}
	n := f.node
	switch n.op {
	case opNull:
		return n.column + " IS NULL"
	case opNotNull:
		return n.column + " IS NOT NULL"
	case opNot:
		return "NOT (" + n.args[0].String() + ")"
	case opAnd, opOr:
		if len(n.args) == 0 {
			return fmt.Sprint(n.op == opAnd)
		}
		parts := make([]string, len(n.args))
		for i, a := range n.args {
			parts[i] = "(" + a.String() + ")"
		}
		return strings.Join(parts, map[filterOp]string{opAnd: " AND ", opOr: " OR "}[n.op])
	}
	parts := make([]string, len(n.values))
	for i, v := range n.values {
		parts[i] = constantString(v)
	}
	list := strings.Join(parts, ", ")
	if n.op == opIn {
		list = "(" + list + ")"
	}
	return n.column + " " + filterSigns[n.op] + " " + list
}

// columns returns the paths of the columns that the filter mentions, each once, in the order of their first mention.
func (f Filter) columns() []string {
	var paths []string
	var walk func(f Filter)
	walk = func(f Filter) {
		if f.node == nil {
			return
		}
		if f.node.op > opNot && !slices.Contains(paths, f.node.column) {
			paths = append(paths, f.node.column)
		}
		for _, a := range f.node.args {
			walk(a)
		}
	}
	walk(f)
	return paths
}

// A predicate is a filter made ready for columns of known types. Nothing in it changes: evaluators and goroutines share it.
//
// There is no Not in it: Not of a leaf is the leaf inverted, which like any leaf but IS NULL is false for NULL; above leaves De Morgan's
// rules hold in SQL's logic as well. So a row is selected or it is not, and nobody needs to know of unknown.
type predicate struct {
	paths  []string // as Filter.columns
	types  []Type   // of paths
	leaves []*predicateLeaf
	root   predicateNode
}

// A predicateNode is opAnd or opOr of args, or else a leaf. And has no args that are And, Or none that are Or.
type predicateNode struct {
	op   filterOp
	args []predicateNode
	leaf *predicateLeaf
}

// A predicateLeaf is a test of one column: whether the value lies in one span, or is one of several points. Values that are NULL fail, also
// inverted. Without any span it is false, and inverted it is NOT NULL.
type predicateLeaf struct {
	number int // in predicate.leaves
	column int // in predicate.paths
	typ    Type
	isNull bool // whether the value is NULL, nothing else
	invert bool
	spans  leafSpans
}

// compile makes the filter ready. typeOf returns the type of the column of this path, or false if there is none, which is an ErrNoColumn.
// Values that do not go with their column are an ErrFilter that says what does.
func (f Filter) compile(typeOf func(path string) (Type, bool)) (*predicate, error) {
	p := &predicate{paths: f.columns()}
	for _, path := range p.paths {
		typ, ok := typeOf(path)
		if !ok {
			return nil, fmt.Errorf("parquetscan: filter: %w: %q", ErrNoColumn, path)
		}
		p.types = append(p.types, typ)
	}
	var err error
	p.root, err = p.compile(f, false)
	if err != nil {
		return nil, err
	}
	p.number(&p.root)
	return p, nil
}

// number lists the leaves below a node.
func (p *predicate) number(node *predicateNode) {
	if node.leaf != nil {
		node.leaf.number = len(p.leaves)
		p.leaves = append(p.leaves, node.leaf)
	}
	for i := range node.args {
		p.number(&node.args[i])
	}
}

// everything tells whether the predicate selects all rows whatever is in them.
func (p *predicate) everything() bool { return p.root.op == opAnd && len(p.root.args) == 0 }

// compile turns a filter, or Not of it, into a node.
func (p *predicate) compile(f Filter, not bool) (predicateNode, error) {
	if f.node == nil {
		f = And()
	}
	switch f.node.op {
	case opNot:
		return p.compile(f.node.args[0], !not)
	case opAnd, opOr:
		node := predicateNode{op: f.node.op}
		if not {
			node.op = opAnd + opOr - node.op
		}
		for _, a := range f.node.args {
			arg, err := p.compile(a, not)
			if err != nil {
				return node, err
			}
			node.add(arg)
		}
		return node, nil
	}
	leaf, err := p.compileLeaf(f.node, not)
	if err != nil {
		return predicateNode{}, fmt.Errorf("parquetscan: filter on column %q: %w", f.node.column, err)
	}
	return predicateNode{leaf: leaf}, nil
}

func (p *predicate) compileLeaf(n *filterNode, not bool) (*predicateLeaf, error) {
	column := slices.Index(p.paths, n.column)
	leaf := &predicateLeaf{column: column, typ: p.types[column], invert: not}
	op := n.op
	switch op {
	case opNull:
		leaf.isNull = !not
		return leaf, nil
	case opNotNull:
		leaf.isNull, leaf.invert = not, !not
		return leaf, nil
	case opNe, opGe, opGt: // the order is total, so that each is Not of another one
		op, leaf.invert = map[filterOp]filterOp{opNe: opEq, opGe: opLt, opGt: opLe}[op], !not
	}
	for _, v := range n.values {
		if err := leaf.add(op, v); err != nil {
			return nil, err
		}
	}
	leaf.spans.sort()
	leaf.straighten()
	return leaf, nil
}

// add appends an argument. Of And, spans of one column become one: a test less for each row, and the only way to leave out NaN, which is
// above any least value.
func (node *predicateNode) add(arg predicateNode) {
	if arg.op == node.op {
		for _, a := range arg.args {
			node.add(a)
		}
		return
	}
	if node.op == opAnd && arg.leaf != nil {
		for i := range node.args {
			if l := node.args[i].leaf; l != nil && l.column == arg.leaf.column && l.intersect(arg.leaf) {
				return
			}
		}
	}
	node.args = append(node.args, arg)
}
