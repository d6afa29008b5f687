// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
)

// Parts: selected rows of batches, the nodes that pass them on, and the consumers that copy selected rows.

// A part is rows of a batch: those with the numbers rows, in ascending order; nil means all. It is borrowed: valid
// until the function that receives it returns. If it is kept, the memory of its columns remains valid.
type part struct {
	b    *column.Batch
	rows []int32
	kept bool
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

// count returns the number of rows.
func (p part) count() int {
	if p.rows == nil {
		return p.b.Rows
	}
	return len(p.rows)
}

// slice returns rows [from, to) of the part.
func (p part) slice(from, to int) part {
	if p.rows != nil {
		return part{b: p.b, rows: p.rows[from:to], kept: p.kept}
	}
	if from == 0 && to == p.b.Rows {
		return p
	}
	b := p.b.Slice(from, to)
	b.Source.FirstRow += int64(from)
	return part{b: b, kept: p.kept}
}

// addTo adds the rows of a part to groups.
func (p part) addTo(ctx context.Context, w *groupby.Worker) error {
	if p.rows == nil {
		return w.Add(ctx, p.b)
	}
	return w.AddRows(ctx, p.b, p.rows)
}

// A state is the memory of an operation in one goroutine, used again for each part.
type state struct {
	rows   []int32
	header column.Batch  // columns of other batches
	value  column.Column // a computed column
	taken  column.Batch
}

// with returns the rows of p with other columns.
func (s *state) with(p part, columns []column.Column) part {
	s.header = column.Batch{Columns: columns, Rows: p.b.Rows, Source: p.b.Source}
	return part{b: &s.header, rows: p.rows}
}

// materialize returns the part with all rows of a batch. The batch is the memory of s.
func (s *state) materialize(p part) (part, error) {
	if p.rows == nil {
		return p, nil
	}
	err := p.b.TakeInto(&s.taken, p.rows)
	return part{b: &s.taken}, err
}
