// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Rewrites of groups. Keys that are expressions of other keys are computed once per group. Sums of a column plus a
// constant, sum(x + c), become sum(x) + c * count(x), so that x is added once for any number of constants.

// Bounds under which no sum can overflow, so that the two forms have the same results: numbers of 32 bits, and 2^30
// rows. sum(x) is at most 2^61 then, and so is c * count(x).
const (
	mostShift = math.MaxInt32
	mostRows  = 1 << 30
)

// A shiftedSum is an aggregate of x + shift.
type shiftedSum struct {
	name, sum, count string
	shift            int64
}

// shiftSums returns operations with the sums of a column plus constants replaced among the aggregates of all rows.
func shiftSums(source opened, ops []operation) []operation {
	i := slices.IndexFunc(ops, func(op operation) bool {
		_, ok := op.(*groupOp)
		return ok
	})
	s, ok := able[numbered](source)
	if i < 0 || !ok || s.NumRows() > mostRows || len(ops[i].(*groupOp).keys) > 0 {
		return ops
	}
	group := *ops[i].(*groupOp)
	computed := computedBefore(ops[:i])
	op := &shiftOp{}
	names := make([]string, len(group.aggregates))
	var aggregates []groupby.Aggregate
	add := func(a groupby.Aggregate) {
		if !slices.ContainsFunc(aggregates, func(b groupby.Aggregate) bool { return a.Name == b.Name }) {
			aggregates = append(aggregates, a)
		}
	}
	for k, a := range group.aggregates {
		names[k] = a.Name
		x, shift, ok := shiftOf(a, computed, group.input)
		if !ok {
			aggregates = append(aggregates, a)
			continue
		}
		s := shiftedSum{a.Name, "sum(" + x + ")\x00", "count(" + x + ")\x00", shift} // no names of a program
		add(groupby.Sum(x).As(s.sum))
		add(groupby.CountOf(x).As(s.count))
		op.sums = append(op.sums, s)
	}
	if len(op.sums) < 3 {
		return ops // two aggregates would take the place of two
	}
	group.aggregates = aggregates
	return slices.Concat(ops[:i], []operation{&group, op, &selectOp{names: names}}, ops[i+1:])
}

// shiftOf returns x and c of an aggregate sum(x + c), of a column of integers of up to 32 bits.
func shiftOf(a groupby.Aggregate, computed map[string]*computeOp, input column.Schema) (
	x string, shift int64, ok bool,
) {
	if a.Function() != "sum" || len(a.Args) != 1 || computed[a.Args[0]] == nil {
		return "", 0, false
	}
	c := computed[a.Args[0]]
	n := c.e.Node()
	if n.Op != "+" && n.Op != "-" || len(n.Args) != 2 || c.program.Type().Kind != column.Int64 {
		return "", 0, false
	}
	left, right := n.Args[0], n.Args[1]
	if _, ok := left.Column(); !ok && n.Op == "+" {
		left, right = right, left
	}
	x, isColumn := left.Column()
	shift, isInt := right.Node().Value.(int64)
	if !isColumn || !isInt || shift < -mostShift || shift > mostShift || computed[x] != nil {
		return "", 0, false
	}
	if n.Op == "-" {
		shift = -shift
	}
	at := input.Index(x)
	if at < 0 {
		return "", 0, false
	}
	switch input[at].Type.Kind {
	case column.Int8, column.Int16, column.Int32:
		return x, shift, sumsToInt64(a)
	}
	return "", 0, false
}

// sumsToInt64 reports whether a sum of Int64 is an Int64: an option can make it a float.
func sumsToInt64(a groupby.Aggregate) bool {
	empty := column.Schema{{Name: a.Args[0], Type: column.TypeOf[int64]()}}.Empty()
	b, err := groupby.Config{Aggregates: []groupby.Aggregate{a}}.Aggregate(context.Background(), empty)
	return err == nil && len(b.Columns) == 1 && b.Columns[0].Type.Kind == column.Int64
}

// A shiftOp computes shifted sums.
type shiftOp struct{ sums []shiftedSum }

// needs leaves the columns as they are: the columns of the groups before do not depend on them.
func (op *shiftOp) needs(map[string]bool) bool { return true }

func (op *shiftOp) node(p *plan, in node) (node, error) {
	wrap := func(err error, _ column.Source) error { return failed("Aggregate", "", err) }
	return &rowNode{in, op, p.describe("with %d sums of columns plus constants", len(op.sums)), wrap}, nil
}

// apply adds the sums. A sum without values is NULL, as the sum of the column is.
func (op *shiftOp) apply(s *state, p part) (part, error) {
	p, err := s.materialize(p)
	if err != nil {
		return p, err
	}
	columns := append(s.header.Columns[:0], p.b.Columns...)
	for _, sum := range op.sums {
		total := p.b.Column(sum.sum)
		values, err := column.Slice[int64](total)
		if err != nil {
			return p, err
		}
		counts, err := column.Slice[int64](p.b.Column(sum.count))
		if err != nil {
			return p, err
		}
		out := make([]int64, len(values))
		for i := range out {
			if !total.Null(i) {
				out[i] = values[i] + sum.shift*counts[i]
			}
		}
		columns = append(columns, column.Of(sum.name, out).WithValidity(total.Validity))
	}
	return s.with(p, columns), nil
}

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
