// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe/internal/order"
)

// The first groups: what groups learn from the sort or the window that follows.

// limitGroups limits groups to those that later operations keep.
func limitGroups(ops []operation) {
	for i, op := range ops {
		if group, ok := op.(*groupOp); ok {
			group.limitBy(ops[i+1:])
			group.few = group.anyOf(ops[i+1:])
		}
	}
}

// limitBy lets groupby return only the groups that a sort keeps. Columns computed between the two are computed for
// these groups alone, so no value may fail.
func (op *groupOp) limitBy(after []operation) {
	computed := map[string]*computeOp{}
	for _, next := range after {
		switch next := next.(type) {
		case *selectOp:
			continue
		case *computeOp:
			if next.program.NeverFails() && computed[next.name] == nil && !slices.Contains(op.results(), next.name) {
				computed[next.name] = next
				continue
			}
		case *sortOp:
			op.limitBySort(next, computed)
		}
		return
	}
}

// sameTies reports whether a sort orders equal groups by their keys, as groupby does: a computed column decides nothing
// after the columns that it is computed from.
func (op *groupOp) sameTies(s *sortOp, computed map[string]*computeOp) bool {
	keys, seen := op.keys, map[string]bool{s.keys[0].Name: true}
	for _, k := range s.keys[1:] {
		c := computed[k.Name]
		switch {
		case len(keys) == 0:
			return true
		case c == nil && k.Name == keys[0]:
			keys = keys[1:]
		case seen[k.Name]:
		case c == nil || slices.ContainsFunc(c.e.Columns(), func(name string) bool { return !seen[name] }):
			return false
		}
		seen[k.Name] = true
	}
	return len(keys) == 0
}

// limitBySort is limitBy for a sort behind some computed columns.
func (op *groupOp) limitBySort(s *sortOp, computed map[string]*computeOp) {
	if s.orders != 1 || s.keys[0].NullsFirst || s.limit < 1 || s.end() > maxGroups || computed[s.keys[0].Name] != nil ||
		!op.sameTies(s, computed) {
		return
	}
	op.limit = int(s.end())
	if op.order = groupby.Ascending(s.keys[0].Name); s.keys[0].Desc {
		op.order = groupby.Descending(s.keys[0].Name)
	}
}

// maxGroups is the number of groups up to which groupby orders them.
const maxGroups = 1 << 30

// mostAny is the number of groups up to which rows of all others are left out.
const mostAny = 1000

// anyOf returns the number of groups if the operations after the groups keep any few of them, otherwise 0.
func (op *groupOp) anyOf(after []operation) int {
	for _, next := range after {
		switch next := next.(type) {
		case *computeOp, *selectOp:
			continue
		case *windowOp:
			if next.limit <= 0 || next.limit > mostAny-next.offset {
				return 0
			}
			for _, name := range op.keys {
				if !order.Has(op.input[op.input.Index(name)].Type.Kind) {
					return 0
				}
			}
			if len(op.keys) > 0 {
				return int(next.offset + next.limit)
			}
		}
		return 0
	}
	return 0
}
