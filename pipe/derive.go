// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql/groupby"
)

// Keys of groups that are expressions of other keys.

// deriveKeys lets keys that are expressions of other keys be computed once per group: of GROUP BY x, x - 1 the second.
// Floats are no such other keys, because -0 and 0 are one group.
func deriveKeys(ops []operation) []operation {
	for i, op := range ops {
		if g, ok := op.(*groupOp); ok {
			if derived := derivedKeys(ops[:i], g); len(derived) > 0 && len(derived) < len(g.keys) {
				return derive(ops, i, g, derived) // of one group; the positions of the others have changed
			}
		}
	}
	return ops
}

// derivedKeys returns the keys that are expressions of keys without an expression, among the operations before.
func derivedKeys(before []operation, g *groupOp) (derived []*computeOp) {
	computed := computedBefore(before)
	isBase := func(name string) bool {
		i := g.input.Index(name)
		return computed[name] == nil && slices.Contains(g.keys, name) && !g.input[i].Type.Kind.IsFloat()
	}
	used := func(name string) bool {
		for _, c := range computed {
			if slices.Contains(c.e.Columns(), name) {
				return true
			}
		}
		return slices.ContainsFunc(g.aggregates, func(a groupby.Aggregate) bool { return slices.Contains(a.Args, name) })
	}
	for _, key := range g.keys {
		c := computed[key]
		if c == nil || used(key) || slices.ContainsFunc(c.e.Columns(), func(name string) bool { return !isBase(name) }) {
			continue
		}
		derived = append(derived, c)
	}
	return derived
}

// derive moves the computation of keys behind the groups, operation i.
func derive(all []operation, i int, g *groupOp, derived []*computeOp) []operation {
	names := g.results()
	group := *g
	group.keys = slices.DeleteFunc(slices.Clone(g.keys), func(key string) bool {
		return slices.ContainsFunc(derived, func(c *computeOp) bool { return c.name == key })
	})
	ops := slices.DeleteFunc(slices.Clone(all[:i]), func(op operation) bool {
		c, ok := op.(*computeOp)
		return ok && slices.Contains(derived, c)
	})
	ops = append(ops, &group)
	for _, c := range derived {
		ops = append(ops, c)
	}
	return append(append(ops, &selectOp{names: names}), all[i+1:]...)
}
