// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"cmp"
	"context"
	"sync/atomic"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
)

// A Writer writes rows with the write time and the time to live of each column. It is safe for use by any number of
// goroutines.
type Writer struct {
	plan    *Plan
	reject  func(bulk.Rejection) error
	writers []rowWriter  // by statement of the plan
	late    atomic.Int64 // see Report.Latest
}

// NewWriter returns a Writer to a table, for which the plan was made. The writers after the writer of rows have
// checkpoints of their own, beside the checkpoint of the options. Options.Rejected gets the row as it was passed to
// Write; a row of several groups may be rejected more than once.
func NewWriter(ctx context.Context, target clustertable.Table, p *Plan, o bulk.Options) (*Writer, error) {
	w := &Writer{plan: p, reject: o.Rejected}
	if o.Rejected != nil {
		o.Rejected = func(r bulk.Rejection) error {
			r.Source, r.Batch = SourceOf(r.Source), Original(r.Batch)
			return w.reject(r)
		}
	}
	checkpoint := o.Checkpoint
	for i := range p.statements {
		s := &p.statements[i]
		if checkpoint != "" && i > 0 {
			o.Checkpoint = checkpoint + s.suffix()
		}
		writer, err := p.newWriter(ctx, target, s, o)
		if err != nil {
			_ = w.Close(context.Background()) // it has no rows
			return nil, err
		}
		w.writers = append(w.writers, writer)
	}
	return w, nil
}

// A rowWriter writes the rows of one statement: a bulk.Writer or a listWriter.
type rowWriter interface {
	Write(ctx context.Context, b *column.Batch) error
	Flush(ctx context.Context) error
	Close(ctx context.Context) error
	Stats() bulk.Stats
}

// suffix returns the end of the name of a checkpoint.
func (s *statement) suffix() string {
	suffix := ".static"
	if s.kind == someOfThem {
		if suffix = ".elements"; s.isStatic {
			suffix = ".static-elements"
		}
	}
	return suffix
}

// newWriter returns the writer of a statement.
func (p *Plan) newWriter(
	ctx context.Context, target clustertable.Table, s *statement, o bulk.Options,
) (rowWriter, error) {
	switch {
	case s.kind == wholeList:
		return newListWriter(target, p, s, o), nil
	case s.kind == someOfThem || s.isStatic:
		o.AssumeIdempotent = true // each value has its write time
		return bulk.New(ctx, target.Session, s.text, o)
	}
	o.AllowMissing = true
	if !p.noTimes {
		o.AssumeIdempotent = true // lists have a writer of their own
		o.TTLColumn, o.TimestampColumn = p.ttl, p.writeTime
	}
	return bulk.Insert(ctx, target.Session, target.CQL(), o)
}

// Write accepts the rows of a batch with the columns of the plan, as bulk.Writer.Write does.
func (w *Writer) Write(ctx context.Context, b *column.Batch) error {
	parts, late, faults, err := w.plan.Split(b)
	if err != nil {
		return err
	}
	w.late.Add(late)
	for _, f := range faults {
		if err := w.rejectRow(b, f); err != nil {
			return err
		}
	}
	for i, writer := range w.writers {
		for _, part := range parts[i] {
			if err := writer.Write(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// rejectRow rejects a row that has no statement.
func (w *Writer) rejectRow(b *column.Batch, f RowFault) error {
	if w.reject == nil {
		return f.Err
	}
	return w.reject(bulk.Rejection{
		Source: b.Source.File, Index: b.Source.FirstRow + int64(f.Row), Batch: b.Slice(f.Row, f.Row+1), Err: f.Err,
	})
}

// Flush waits until all rows are written.
func (w *Writer) Flush(ctx context.Context) error {
	for _, writer := range w.writers {
		if err := writer.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close waits until all rows are written and ends the writer.
func (w *Writer) Close(ctx context.Context) error {
	var first error
	for _, writer := range w.writers {
		first = cmp.Or(first, writer.Close(ctx))
	}
	return first
}

// Stats returns the statistics: sums, and the higher latencies.
func (w *Writer) Stats() (sum bulk.Stats) {
	for _, writer := range w.writers {
		s := writer.Stats()
		sum.Rows, sum.Skipped, sum.Retries = sum.Rows+s.Rows, sum.Skipped+s.Skipped, sum.Retries+s.Retries
		sum.Bytes, sum.RowsPerSecond = sum.Bytes+s.Bytes, sum.RowsPerSecond+s.RowsPerSecond
		sum.Elapsed, sum.P50, sum.P99 = max(sum.Elapsed, s.Elapsed), max(sum.P50, s.P50), max(sum.P99, s.P99)
	}
	return sum
}
