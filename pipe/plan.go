// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/parquetscan"
)

// The plan: operations become nodes, which pass batches on. Columns that nothing reads are left out, and conditions go
// to the source.

// A part is rows of a batch: those with the numbers rows, in ascending order; nil means all. It is borrowed: valid
// until the function that receives it returns.
type part struct {
	b    *column.Batch
	rows []int32
}

// count returns the number of rows.
func (p part) count() int {
	if p.rows == nil {
		return p.b.Rows
	}
	return len(p.rows)
}

// An emit function receives parts from several goroutines; worker is the number of the goroutine.
type emit func(worker int, p part) error

// A node produces parts.
type node interface {
	// run calls f for each part of the rows. When run returns, its goroutines have ended.
	run(ctx context.Context, f emit) error
	// workers is the number of goroutines that call f.
	workers() int
}

// A source is the start of a Pipe.
type source interface {
	open(ctx context.Context, config Config) (opened, error)
}

// An opened source has columns with types. Its methods are called in their order here.
type opened interface {
	schema() column.Schema
	ordered() bool // Source.FirstRow of batches is a position that does not depend on the goroutines
	// push offers conditions, and returns those that must be evaluated on the rows that the source produces.
	push(conditions []conjunct) (rest []conjunct)
	// scan returns the rows with some columns.
	scan(p *plan, columns []string) (node, error)
	close() error
}

// A conjunct is a condition of which all must be true.
type conjunct struct {
	e       expr.Expr
	program *expr.Program
	from    text // the verb
}

// neverFails reports whether the condition has a value in all rows, so that it may be evaluated before others.
func (c conjunct) neverFails() bool {
	_, ok := c.program.Bound()
	return ok
}

func textOf(conjuncts []conjunct) string {
	parts := make([]string, len(conjuncts))
	for i, c := range conjuncts {
		parts[i] = c.e.String()
	}
	return strings.Join(parts, " and ")
}

// An operation is a bound step.
type operation interface {
	// needs replaces the columns of its result that are needed by those that it needs; false means that the operation
	// itself is not needed.
	needs(columns map[string]bool) bool
	// node returns the node that applies the operation to the rows of in.
	node(p *plan, in node) (node, error)
}

// A plan is the nodes of a run.
type plan struct {
	config Config
	root   node
	schema column.Schema // of the result
	lines  []string      // of Explain
	indent string
	meters []*meter
	bytes  atomic.Int64
	close  func() error
	scans  []*parquetscan.Scan

	mu    sync.Mutex
	lists []string // columns of late rows that are lists, but vectors in the schema; guarded by mu during the run
}

// ragged returns the columns of files that the run has read as vectors until a row did not fit, and as lists since, if
// another run would read them as lists from the beginning. Operations were compiled for vectors. The run has ended.
func (p *plan) ragged() []string {
	names := slices.Clone(p.lists)
	for _, s := range p.scans {
		names = append(names, s.Ragged()...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(p.config.lists, name) })
}

// A meter measures a node.
type meter struct {
	step        string
	rows, nanos atomic.Int64
}

// describe adds a line to Explain, and returns the meter of that step.
func (p *plan) describe(format string, args ...any) *meter {
	m := &meter{step: fmt.Sprintf(format, args...)}
	p.lines = append(p.lines, p.indent+m.step)
	p.meters = append(p.meters, m)
	return m
}

// counted returns a number with its noun: "1 batch", "2 batches".
func counted[N int | int64](n N, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "ch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// add counts rows, and the time since start.
func (m *meter) add(rows int, start time.Time) {
	m.rows.Add(int64(rows))
	m.nanos.Add(int64(time.Since(start)))
}

// newPlan binds and plans a Pipe. The caller calls plan.close.
func newPlan(ctx context.Context, pipe Pipe) (*plan, error) {
	b, err := bind(ctx, pipe, pipe.config)
	if err != nil {
		return nil, err
	}
	p := &plan{config: pipe.config, schema: b.schema, close: b.source.close}
	if p.root, err = b.plan(p); err != nil {
		_ = b.source.close()
		return nil, err
	}
	return p, nil
}

// plan returns the node of the last operation.
func (b *binder) plan(p *plan) (node, error) {
	b.deriveKeys()
	b.shiftSums()
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
	b.narrow(ops)
	b.readLengths(ops)
	if n, rest, err := p.late(b.source, columns, ops); n != nil || err != nil {
		if err != nil {
			return nil, err
		}
		return apply(p, n, rest)
	}
	if group, ok := first[*groupOp](ops); ok {
		if n := group.fromStatistics(p, b.source); n != nil {
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

// apply returns the node of the operations on the rows of n.
func apply(p *plan, n node, ops []operation) (node, error) {
	for i := 0; i < len(ops); i++ {
		if group, ok := ops[i].(*groupOp); ok {
			group.limitBy(ops[i+1:])
			group.few = group.anyOf(ops[i+1:])
		}
		var err error
		if n, err = ops[i].node(p, n); err != nil {
			return nil, err
		}
	}
	return n, nil
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
		return ordered || c.neverFails()
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
