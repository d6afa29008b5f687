// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"errors"
	"time"

	"github.com/vecql/vecql/column"
)

// Opened sources in a plan, and the node of their rows.

// A source is the start of a Pipe.
type source interface {
	open(ctx context.Context, config Config) (opened, error)
}

// An opened source has columns with types. Its methods are called in their order here.
type opened interface {
	schema() column.Schema
	ordered() bool // Source.FirstRow of batches is a position that does not depend on the goroutines
	// input returns the rows if they come from outside of the plan, otherwise nil.
	input() *input
	// push offers conditions, and returns those that must be evaluated on the rows that the source produces.
	push(conditions []conjunct) (rest []conjunct)
	// scan returns the rows with some columns.
	scan(p *plan, columns []string) (node, error)
	close() error
}

// An input is Rows, with what they evaluate.
type input struct {
	rows       Rows
	verb, text string     // of errors
	filtered   []conjunct // as filters
	selected   []conjunct // evaluated while rows are read, before other columns of them are
}

// able returns the rows of an opened source as an A, an interface of source.go; false if they lack its methods.
func able[A any](o opened) (a A, ok bool) {
	if in := o.input(); in != nil {
		a, ok = in.rows.(A)
	}
	return a, ok
}

func (in *input) schema() column.Schema  { return in.rows.Schema() }
func (in *input) input() *input          { return in }
func (in *input) close() error           { return in.rows.Close() }
func (in *input) failed(err error) error { return failed(in.verb, in.text, err) }

func (in *input) ordered() bool {
	_, ok := in.rows.(numbered)
	return ok
}

// evaluates reports whether the source evaluates conditions.
func (in *input) evaluates() bool { return len(in.filtered)+len(in.selected) > 0 }

// push offers comparisons with literals as filters, which skip rows unread, and other conditions as a selector.
func (in *input) push(conditions []conjunct) (rest []conjunct) {
	filter, _ := in.rows.(Filterer)
	selects, _ := in.rows.(selecter)
	for _, c := range conditions {
		b, ok := c.program.Bound()
		switch {
		case ok && filter != nil && filter.Filter(b):
			in.filtered = append(in.filtered, c)
		case selects != nil:
			in.selected = append(in.selected, c)
		default:
			rest = append(rest, c)
		}
	}
	if len(in.selected) > 0 {
		choose := func() func(*column.Batch, []int32) ([]int32, error) { return in.choose }
		selects.Select(columnsOf(in.selected), choose)
	}
	return rest
}

// choose appends the rows for which the selected conditions are true.
func (in *input) choose(b *column.Batch, rows []int32) (_ []int32, err error) {
	for i, c := range in.selected {
		if i == 0 {
			rows, err = c.program.Select(b, rows)
		} else {
			rows, err = c.program.Refine(b, rows)
		}
		if err != nil {
			return nil, c.from.wrapper()(err, b.Source)
		}
	}
	return rows, nil
}

// scan describes the rows with their conditions.
func (in *input) scan(p *plan, columns []string) (node, error) {
	line, goroutines, err := in.rows.Scan(columns, max(0, p.config.Workers))
	if err != nil {
		return nil, in.failed(err)
	}
	if r, ok := in.rows.(reporter); ok {
		p.reporters = append(p.reporters, r)
	}
	n := &inputNode{in.rows, goroutines, p.describe("%s", line)}
	if len(in.filtered) > 0 {
		p.lines = append(p.lines, p.indent+"  pushed: "+textOf(in.filtered))
	}
	if len(in.selected) > 0 {
		p.lines = append(p.lines, p.indent+"  selected: "+textOf(in.selected))
	}
	return n, nil
}

// An inputNode passes on the rows of a source.
type inputNode struct {
	rows       Rows
	goroutines int
	meter      *meter
}

func (n *inputNode) workers() int { return n.goroutines }

// run measures the source by the time between the batches of a goroutine.
func (n *inputNode) run(ctx context.Context, f emit) error {
	last := make([]time.Time, n.goroutines)
	start := time.Now()
	for i := range last {
		last[i] = start
	}
	err := n.rows.Run(ctx, func(worker int, b *column.Batch) error {
		n.meter.add(b.Rows, last[worker])
		err := f(worker, part{b: b})
		last[worker] = time.Now()
		return err
	})
	if e := new(Error); errors.As(err, &e) {
		return e // of a verb, with its place
	}
	return err
}
