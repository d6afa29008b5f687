// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// The plan of a run, the operations that become its nodes, and their conditions.

// A conjunct is one of the conditions that must all be true.
type conjunct struct {
	e       expr.Expr
	program *expr.Program
	from    text // the verb
}

func (c conjunct) mayFail() bool { return !c.program.NeverFails() }

// hasBound reports whether the condition has a value in all rows, so that it may be evaluated before others.
func (c conjunct) hasBound() bool {
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

// columnsOf returns the columns of conditions, each once.
func columnsOf(conjuncts []conjunct) (names []string) {
	for _, c := range conjuncts {
		for _, name := range c.e.Columns() {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

func add(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// An operation is a bound step.
type operation interface {
	// needs replaces the columns of its result that are needed by those that it needs; false means that the operation
	// itself is not needed.
	needs(columns map[string]bool) bool
	// node returns the node that applies the operation to the rows of in.
	node(p *plan, in node) (node, error)
}

// A rowOperation changes parts one by one.
type rowOperation interface {
	apply(s *state, p part) (part, error)
}

// apply returns the node of the operations on the rows of n.
func apply(p *plan, n node, ops []operation) (_ node, err error) {
	for _, op := range ops {
		if n, err = op.node(p, n); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// firstOfRows returns the index of the first operation that depends on other rows, -1 if there is none.
func firstOfRows(ops []operation) int {
	return slices.IndexFunc(ops, func(op operation) bool {
		_, ok := op.(rowOperation)
		return !ok
	})
}

// A plan is the nodes of a run.
type plan struct {
	config    Config
	root      node
	schema    column.Schema // of the result
	lines     []string      // of Explain
	indent    string
	meters    []*meter
	reporters []reporter // sources that are scanned
	close     func() error
}

// ragged returns the columns of files that the run has read as vectors until a row did not fit, and as lists since, if
// another run would read them as lists from the beginning. The run has ended.
func (p *plan) ragged() (names []string) {
	for _, r := range p.reporters {
		names = append(names, r.Ragged()...)
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(p.config.lists, name) })
}

// report stores the numbers of the run.
func (p *plan) report(start time.Time) {
	if p.config.Stats == nil {
		return
	}
	s := Stats{Elapsed: time.Since(start)}
	for _, r := range p.reporters {
		s.Bytes += r.Bytes()
	}
	for _, m := range p.meters {
		s.Steps = append(s.Steps, StepStats{m.step, m.rows.Load(), time.Duration(m.nanos.Load())})
	}
	*p.config.Stats = s
}

// end closes the sources, which were only read.
func (p *plan) end() { _ = p.close() }

// describe adds a line to Explain, and returns the meter of that step.
func (p *plan) describe(format string, args ...any) *meter {
	m := &meter{step: fmt.Sprintf(format, args...)}
	p.lines = append(p.lines, p.indent+m.step)
	p.meters = append(p.meters, m)
	return m
}

// A meter measures a node.
type meter struct {
	step        string
	rows, nanos atomic.Int64
}

// add counts rows, and the time since start.
func (m *meter) add(rows int, start time.Time) {
	m.rows.Add(int64(rows))
	m.nanos.Add(int64(time.Since(start)))
}
