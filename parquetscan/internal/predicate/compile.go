// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
)

// Compilation of expressions for the types of columns.

// Compile compiles the expression. typeOf returns the type of the column of a path, or false if there is none
// (ErrNoColumn). Values of a wrong type are an ErrFilter that lists the right types.
func (n *Node) Compile(typeOf func(path string) (column.Type, bool)) (*Predicate, error) {
	p := &Predicate{Paths: n.ColumnNames()}
	for _, path := range p.Paths {
		typ, ok := typeOf(path)
		if !ok {
			return nil, fmt.Errorf("parquetscan: filter: %w: %q", column.ErrNoColumn, path)
		}
		p.types = append(p.types, typ)
	}
	var err error
	p.root, err = p.compile(n, false)
	if err != nil {
		return nil, err
	}
	p.number(&p.root)
	p.addStages()
	return p, nil
}

// number adds the leaves below a node to p.leaves and numbers them.
func (p *Predicate) number(node *term) {
	if node.leaf != nil {
		node.leaf.number = len(p.leaves)
		p.leaves = append(p.leaves, node.leaf)
	}
	for i := range node.args {
		p.number(&node.args[i])
	}
}

// compile turns an expression, or Not of it, into a node.
func (p *Predicate) compile(n *Node, not bool) (term, error) {
	if n == nil {
		n = &Node{Op: And}
	}
	switch n.Op {
	case Not:
		return p.compile(n.Args[0], !not)
	case And, Or:
		node := term{op: n.Op}
		if not {
			node.op = And + Or - node.op
		}
		for _, a := range n.Args {
			arg, err := p.compile(a, not)
			if err != nil {
				return node, err
			}
			node.add(arg)
		}
		return node, nil
	}
	leaf, err := p.compileLeaf(n, not)
	if err != nil {
		return term{}, fmt.Errorf("parquetscan: filter on column %q: %w", n.Column, err)
	}
	return term{leaf: leaf}, nil
}

// compileLeaf compiles a test of one column, or Not of it. Eq, Lt, Le and In become spans of values.
func (p *Predicate) compileLeaf(n *Node, not bool) (*leafTerm, error) {
	column := slices.Index(p.Paths, n.Column)
	leaf := &leafTerm{column: column, typ: p.types[column], invert: not}
	op := n.Op
	switch op {
	case Null:
		leaf.isNull = !not
		return leaf, nil
	case NotNull:
		leaf.isNull, leaf.invert = not, !not
		return leaf, nil
	case Ne, Ge, Gt: // the order is total, so each is Not of another operation
		op, leaf.invert = map[Op]Op{Ne: Eq, Ge: Lt, Gt: Le}[op], !not
	case Contains:
		return leaf, leaf.contain(n.Values[0])
	}
	for _, v := range n.Values {
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
func (node *term) add(arg term) {
	if arg.op == node.op {
		for _, a := range arg.args {
			node.add(a)
		}
		return
	}
	if node.op == And && arg.leaf != nil {
		for i := range node.args {
			if l := node.args[i].leaf; l != nil && l.column == arg.leaf.column && l.intersect(arg.leaf) {
				return
			}
		}
	}
	node.args = append(node.args, arg)
}
