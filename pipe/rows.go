// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"slices"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Operations on each part by itself: conditions, computed columns, selected columns.

// A rowNode is a row operation on the parts of a node.
type rowNode struct {
	in    node
	op    rowOperation
	meter *meter
	err   func(error, column.Source) error // wraps errors of op
}

func (c *rowNode) workers() int { return c.in.workers() }

func (c *rowNode) run(ctx context.Context, f emit) error {
	states := make([]state, c.in.workers())
	return c.in.run(ctx, func(worker int, p part) error {
		start := time.Now()
		out, err := c.op.apply(&states[worker], p)
		if err != nil {
			return c.err(err, p.b.Source)
		}
		n := out.count()
		c.meter.add(n, start)
		if n == 0 {
			return nil
		}
		return f(worker, out)
	})
}

// A filterOp keeps the rows for which its conjuncts are true.
type filterOp struct {
	text
	conjuncts []conjunct
	schema    column.Schema // of its input
	program   *expr.Program // of all conjuncts
	keep      map[string]bool
}

func (op *filterOp) needs(columns map[string]bool) bool {
	op.keep = make(map[string]bool, len(columns))
	for name := range columns {
		op.keep[name] = true
	}
	add(columns, columnsOf(op.conjuncts))
	return len(op.conjuncts) > 0
}

func (op *filterOp) node(p *plan, in node) (node, error) {
	all := op.conjuncts[0].e
	for _, c := range op.conjuncts[1:] {
		all = all.And(c.e)
	}
	var err error
	if op.program, err = expr.Compile(all, op.schema); err != nil {
		return nil, failed(op.verb, op.quoted(), err)
	}
	return &rowNode{in, op, p.describe("where %v", all), op.wrapper()}, nil
}

// apply selects rows, and leaves out columns that only the conditions need.
func (op *filterOp) apply(s *state, p part) (part, error) {
	var err error
	if s.rows == nil {
		s.rows = make([]int32, 0, p.b.Rows) // never nil, which means all rows
	}
	if p.rows == nil {
		s.rows, err = op.program.Select(p.b, s.rows[:0])
	} else {
		s.rows, err = op.program.Refine(p.b, append(s.rows[:0], p.rows...))
	}
	if err != nil {
		return p, err
	}
	p.rows = s.rows
	if len(s.rows) == p.b.Rows {
		p.rows = nil
	}
	columns := s.header.Columns[:0]
	for i := range p.b.Columns {
		if op.keep[p.b.Columns[i].Name] {
			columns = append(columns, p.b.Columns[i])
		}
	}
	return s.with(p, columns), nil
}

// A computeOp adds or replaces a column.
type computeOp struct {
	text
	name    string
	e       expr.Expr
	program *expr.Program
	from    string // the column if the expression is a column alone
}

func (op *computeOp) needs(columns map[string]bool) bool {
	if !columns[op.name] {
		return false
	}
	delete(columns, op.name)
	add(columns, op.e.Columns())
	return true
}

func (op *computeOp) node(p *plan, in node) (node, error) {
	return &rowNode{in, op, p.describe("with %s = %v", op.name, op.e), op.wrapper()}, nil
}

// apply evaluates the expression on rows that are left only, so that others cannot fail.
func (op *computeOp) apply(s *state, p part) (part, error) {
	if op.from != "" {
		s.value = *p.b.Column(op.from)
	} else {
		var err error
		if p, err = s.materialize(p); err != nil {
			return p, err
		}
		if err := op.program.EvalInto(p.b, &s.value); err != nil {
			return p, err
		}
	}
	s.value.Name = op.name
	columns := append(s.header.Columns[:0], p.b.Columns...)
	if i := p.b.Index(op.name); i >= 0 {
		columns[i] = s.value
	} else {
		columns = append(columns, s.value)
	}
	return s.with(p, columns), nil
}

// computedBefore returns the computed columns directly before an operation, none if one is computed twice.
func computedBefore(ops []operation) map[string]*computeOp {
	computed := map[string]*computeOp{}
	for _, op := range slices.Backward(ops) {
		c, ok := op.(*computeOp)
		if !ok {
			break
		}
		if computed[c.name] != nil {
			return nil
		}
		computed[c.name] = c
	}
	return computed
}

// A selectOp keeps some columns in an order.
type selectOp struct {
	names []string
	keep  []string // the names that are needed
}

func (op *selectOp) needs(columns map[string]bool) bool {
	for _, name := range op.names {
		if columns[name] {
			op.keep = append(op.keep, name)
		}
	}
	return true
}

func (op *selectOp) node(p *plan, in node) (node, error) {
	wrap := func(err error, _ column.Source) error { return failed("Select", quoted(op.keep), err) }
	return &rowNode{in, op, p.describe("select %s", list(op.keep)), wrap}, nil
}

func (op *selectOp) apply(s *state, p part) (part, error) {
	columns := s.header.Columns[:0]
	for _, name := range op.keep {
		c := p.b.Column(name)
		if err := c.Err(); err != nil {
			return p, err
		}
		columns = append(columns, *c)
	}
	return s.with(p, columns), nil
}
