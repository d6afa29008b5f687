// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"slices"
)

// The planner: operations become nodes. Columns that nothing reads are left out, and conditions go to the source.

// newPlan binds and plans a chain. The caller calls plan.end.
func newPlan(ctx context.Context, c chain, config Config) (*plan, error) {
	b, err := bind(ctx, c, config)
	if err != nil {
		return nil, err
	}
	p := &plan{config: config, schema: b.schema, close: b.source.close}
	if p.root, err = b.plan(p); err != nil {
		_ = b.source.close()
		return nil, err
	}
	return p, nil
}

// plan returns the node of the last operation.
func (b *binder) plan(p *plan) (node, error) {
	b.ops = shiftSums(b.source, deriveKeys(b.ops))
	b.pushConditions()
	needed := map[string]bool{}
	for i := range b.schema {
		needed[b.schema[i].Name] = true
	}
	var ops []operation
	for _, op := range slices.Backward(b.ops) {
		if op.needs(needed) {
			ops = append(ops, op)
		}
	}
	var columns []string
	for _, f := range b.source.schema() {
		if needed[f.Name] {
			columns = append(columns, f.Name)
		}
	}
	slices.Reverse(ops)
	limitGroups(ops)
	narrow(b.source, ops)
	readLengths(b.source, ops)
	if n, rest, err := late(p, b.source, columns, ops); n != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return apply(p, n, rest)
	}
	if group, ok := first[*groupOp](ops); ok {
		if n := fromStatistics(p, b.source, group); n != nil {
			return apply(p, n, ops[1:])
		}
	}
	n, err := b.source.scan(p, columns)
	if err != nil {
		return nil, err
	}
	return apply(p, n, ops)
}

// first returns the first operation if it is an O.
func first[O operation](ops []operation) (op O, ok bool) {
	if len(ops) > 0 {
		op, ok = ops[0].(O)
	}
	return op, ok
}

// pushConditions offers the conditions on columns of the source to it: those before the first operation that depends on
// other rows.
func (b *binder) pushConditions() {
	replaced := map[string]bool{}
	var offered []conjunct
	var filters []*filterOp
	ordered := true // all conditions so far are offered
	mayMove := func(c conjunct) bool {
		if slices.ContainsFunc(c.e.Columns(), func(name string) bool { return replaced[name] }) {
			ordered = false
			return false
		}
		return ordered || c.hasBound()
	}
	for _, op := range b.ops {
		switch op := op.(type) {
		case *computeOp:
			replaced[op.name] = true
			continue
		case *selectOp:
			continue
		case *filterOp:
			filters = append(filters, op)
			for _, c := range op.conjuncts {
				if mayMove(c) {
					offered = append(offered, c)
				}
			}
			continue
		}
		break
	}
	rest := b.source.push(offered)
	in := func(c conjunct, of []conjunct) bool {
		return slices.ContainsFunc(of, func(d conjunct) bool { return d.program == c.program })
	}
	for _, op := range filters {
		op.conjuncts = slices.DeleteFunc(op.conjuncts, func(c conjunct) bool { return in(c, offered) && !in(c, rest) })
	}
}
