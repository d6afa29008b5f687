// SPDX-License-Identifier: Apache-2.0

// Package predicate compiles filters, evaluates them on columns, and leaves out rows that cannot match by statistics,
// bloom filters and page indexes.
package predicate

import (
	"fmt"
	"slices"
	"strings"
)

// Expressions of filters.

// An Op is the operation of a filter node.
type Op uint8

// The operations.
const (
	And Op = iota + 1
	Or
	Not
	Null
	NotNull
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	In
	Contains
)

var filterSigns = [...]string{
	Eq: "=", Ne: "<>", Lt: "<", Le: "<=", Gt: ">", Ge: ">=", In: "IN", Contains: "CONTAINS",
}

// A Node is an expression. And, Or and Not use Args; all other operations use Column and Values. nil selects all rows.
type Node struct {
	Op     Op
	Column string
	Values []any
	Args   []*Node
}

// String returns the expression in a form like SQL, for messages.
func (n *Node) String() string {
	if n == nil {
		return "true"
	}
	switch n.Op {
	case Null:
		return n.Column + " IS NULL"
	case NotNull:
		return n.Column + " IS NOT NULL"
	case Not:
		return "NOT (" + n.Args[0].String() + ")"
	case And, Or:
		if len(n.Args) == 0 {
			return fmt.Sprint(n.Op == And)
		}
		parts := make([]string, len(n.Args))
		for i, a := range n.Args {
			parts[i] = "(" + a.String() + ")"
		}
		return strings.Join(parts, map[Op]string{And: " AND ", Or: " OR "}[n.Op])
	}
	parts := make([]string, len(n.Values))
	for i, v := range n.Values {
		parts[i] = constantString(v)
	}
	list := strings.Join(parts, ", ")
	if n.Op == In {
		list = "(" + list + ")"
	}
	return n.Column + " " + filterSigns[n.Op] + " " + list
}

// ColumnNames returns the paths of the columns that the expression mentions, each once, in the order of their first
// mention.
func (n *Node) ColumnNames() []string {
	var paths []string
	var walk func(n *Node)
	walk = func(n *Node) {
		if n == nil {
			return
		}
		if n.Op > Not && !slices.Contains(paths, n.Column) {
			paths = append(paths, n.Column)
		}
		for _, a := range n.Args {
			walk(a)
		}
	}
	walk(n)
	return paths
}
