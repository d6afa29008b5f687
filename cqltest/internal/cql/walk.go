// SPDX-License-Identifier: Apache-2.0

package cql

import "slices"

// The parts of expressions.

// Any reports whether f holds for e or for an expression inside it.
func Any(e Expr, f func(Expr) bool) bool {
	return f(e) || slices.ContainsFunc(parts(e), func(part Expr) bool { return Any(part, f) })
}

// parts returns the expressions that are directly inside e.
func parts(e Expr) (all []Expr) {
	switch e := e.(type) {
	case *ListLiteral:
		return e.Elems
	case *SetLiteral:
		return e.Elems
	case *TupleLiteral:
		return e.Elems
	case *Call:
		return e.Args
	case *MapLiteral:
		for _, entry := range e.Entries {
			all = append(all, entry.Key, entry.Value)
		}
	case *UDTLiteral:
		for _, f := range e.Fields {
			all = append(all, f.Value)
		}
	case *TypeHint:
		return []Expr{e.Expr}
	case *Cast:
		return []Expr{e.Expr}
	case *Binary:
		return []Expr{e.Left, e.Right}
	case *Negate:
		return []Expr{e.Expr}
	case *Field:
		return []Expr{e.Of}
	case *Element:
		return []Expr{e.Of, e.Index}
	}
	return all
}
