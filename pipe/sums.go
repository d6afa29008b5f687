// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Sums of a column plus a constant: sum(x + c) is sum(x) + c * count(x), so that x is added once for any number of
// constants.

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

// needs leaves the columns as they are: those of the groups before do not depend on them.
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
