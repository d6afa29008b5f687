// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"slices"

	"github.com/vecql/vecql/column"
)

// Expressions that are never NULL.

// Nullable reports whether a value may be NULL. It is false only where no value is NULL in batches without NULL in the
// columns that the schema has as not nullable.
func (p *Program) Nullable() bool { return p.root.nullable(p.columns) }

// nullable reports whether a value of the term may be NULL. All functions that are not named here are NULL only if an
// argument is.
func (t *term) nullable(columns column.Schema) bool {
	args := t.args
	switch t.op {
	case opColumn:
		return columns[t.index].Nullable
	case opLiteral:
		return t.value == nil
	case opIsNull:
		return false
	case opTryCast:
		return true
	case "coalesce", "greatest", "least": // NULL if all arguments are
		return !slices.ContainsFunc(args, func(a *term) bool { return !a.nullable(columns) })
	case opCase:
		args = t.branchValues()
	}
	return slices.ContainsFunc(args, func(a *term) bool { return a.nullable(columns) })
}

// branchValues returns the values of a case without its conditions.
func (t *term) branchValues() (values []*term) {
	last := len(t.args) - 1
	for i := 1; i < last; i += 2 {
		values = append(values, t.args[i])
	}
	return append(values, t.args[last])
}
