// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Filters: expressions that select rows, and their compilation for the types of a file's columns. filter_value.go
// converts their constants, filter_eval.go evaluates them, filter_prune.go skips rows that cannot match.

// ErrFilter means that a filter does not fit its column: it compares with a value of another kind, or it compares a
// list.
var ErrFilter = failure.ErrFilter

// A Filter selects rows. The zero Filter selects all rows. [Eq], [Ne], [Lt], [Le], [Gt], [Ge], [In], [Contains],
// [IsNull], [NotNull], [And], [Or] and [Not] return filters. Filters are immutable and can be shared.
//
// A column is named by its path: "a", or "a.b" for a field of a struct. Paths do not lead into lists and maps. Lists,
// maps, vectors and whole structs support only IsNull and NotNull.
//
// Comparison is by exact value, never rounded or cut to the column's type: Lt("i", 2.5) on integers is i <= 2, Lt("i",
// 1000) on int8 is every row that is not NULL, Gt("f", 0.1) on float32 compares with the float64. Columns compare with
// values of these types:
//
//   - integer and float columns: integers and floats of any Go type, column.Int128, column.Int256;
//   - decimals: those, and strings such as "12.50". An integer is that number, not an unscaled one: 12 is 12.00;
//   - Date and Timestamp: time.Time, compared as an instant. A Date is its midnight in UTC; a Timestamp of unknown
//     local time is taken as UTC, so pass such times in time.UTC;
//   - Time: time.Duration since midnight;
//   - Bool: bool, false being less than true;
//   - String and Binary: string and []byte; UUID and Fixed: [16]byte and []byte, Fixed also string. Bytes compare
//     unsigned, the shorter value first if it is a prefix of the other.
//
// A named type counts as its underlying type, except time.Duration, which is not an integer. All other combinations are
// an ErrFilter, including every comparison with Inet, Varint, Decimal and Duration.
//
// Floats have a total order, the order of package groupby: NaN equals NaN and is greater than all numbers, -0 equals 0.
// Parquet statistics rarely record NaNs, so a lower bound alone cannot prune. Combine it with an upper bound: And(Ge(c,
// x), Lt(c, math.NaN())).
//
// Logic is SQL's: a comparison with NULL is unknown, so is Not of it, and a row is selected if the filter is true. A
// nil value is an ErrFilter. A []byte must not change before Dataset.Scan takes the filter.
type Filter struct{ node *filterNode }

// A filterOp is the operation of a filter node.
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
	opContains
)

var filterSigns = [...]string{
	opEq: "=", opNe: "<>", opLt: "<", opLe: "<=", opGt: ">", opGe: ">=", opIn: "IN", opContains: "CONTAINS",
}

// A filterNode is an expression. opAnd, opOr and opNot use args; all other operations use column and values.
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

// In selects rows whose column equals one of the values. Without values it selects no row, and its Not all rows that
// are not NULL.
func In(column string, values ...any) Filter { return onColumn(opIn, column, slices.Clone(values)...) }

// Contains selects rows whose column, a String or Binary, contains the text or bytes. Statistics do not prune it.
func Contains(column string, part any) Filter { return onColumn(opContains, column, part) }

// IsNull selects rows whose column is NULL. A field of a struct that is NULL is NULL.
func IsNull(column string) Filter { return onColumn(opNull, column) }

// NotNull selects rows whose column is not NULL.
func NotNull(column string) Filter { return onColumn(opNotNull, column) }

// And selects rows that all filters select. Without filters it selects all rows.
func And(filters ...Filter) Filter {
	return Filter{&filterNode{op: opAnd, args: slices.Clone(filters)}}
}

// Or selects rows that at least one filter selects. Without filters it selects no row.
func Or(filters ...Filter) Filter { return Filter{&filterNode{op: opOr, args: slices.Clone(filters)}} }

// Not selects rows for which the filter is false, not those for which it is unknown.
func Not(filter Filter) Filter { return Filter{&filterNode{op: opNot, args: []Filter{filter}}} }

// String returns the filter in a form like SQL, for messages.
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

// A predicate is a filter compiled for columns of known types. It is immutable: evaluators and goroutines share it.
//
// It contains no Not: Not of a leaf is the leaf inverted, and De Morgan's rules, which hold in SQL's logic too, move
// Not down to the leaves. Every leaf but IS NULL is false for NULL. So evaluation needs no third value.
type predicate struct {
	paths  []string      // as Filter.columns
	types  []column.Type // of paths
	leaves []*predicateLeaf
	root   predicateNode
	stages []stage
}

// A predicateNode is opAnd or opOr of args, or a leaf. No argument of And is an And, and no argument of Or an Or.
type predicateNode struct {
	op   filterOp
	args []predicateNode
	leaf *predicateLeaf
}

// A predicateLeaf tests one column: whether the value lies in one span, equals one of several points, or contains a
// part. NULL fails, also if the leaf is inverted. A leaf without spans and part is false; inverted it is NOT NULL.
type predicateLeaf struct {
	number int // in predicate.leaves
	column int // in predicate.paths
	typ    column.Type
	isNull bool // test whether the value is NULL; there are no spans
	invert bool
	spans  leafSpans
	part   []byte // the value contains it; there are no spans. nil means none
}

// compile compiles the filter. typeOf returns the type of the column of a path, or false if there is none
// (ErrNoColumn). Values of a wrong type are an ErrFilter that lists the right types.
func (f Filter) compile(typeOf func(path string) (column.Type, bool)) (*predicate, error) {
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
	p.addStages()
	return p, nil
}

// number adds the leaves below a node to p.leaves and numbers them.
func (p *predicate) number(node *predicateNode) {
	if node.leaf != nil {
		node.leaf.number = len(p.leaves)
		p.leaves = append(p.leaves, node.leaf)
	}
	for i := range node.args {
		p.number(&node.args[i])
	}
}

// everything reports whether the predicate selects all rows of any data.
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

// compileLeaf compiles a test of one column, or Not of it. Eq, Lt, Le and In become spans of values.
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
	case opNe, opGe, opGt: // the order is total, so each is Not of another operation
		op, leaf.invert = map[filterOp]filterOp{opNe: opEq, opGe: opLt, opGt: opLe}[op], !not
	case opContains:
		return leaf, leaf.contain(n.values[0])
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

// add appends an argument. And intersects the spans of one column: this saves a test per row, and it is the only way to
// prune NaN, which is above every lower bound.
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
