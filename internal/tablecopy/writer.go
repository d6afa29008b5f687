// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/clustertable"
)

// A Writer writes rows with the write time and the time to live of each column. It is safe for use by any number of
// goroutines.
type Writer struct {
	plan    *Plan
	writers []*bulk.Writer // one for each of Plan.Inserts
	late    atomic.Int64   // see Report.Latest
}

// NewWriter returns a Writer to a table. The writer of partitions without rows has a checkpoint of its own, beside that
// of the options. Options.Rejected gets the source and the position of the row of a batch; a row of several groups may
// be rejected more than once.
func NewWriter(target clustertable.Table, p *Plan, o bulk.Options) (*Writer, error) {
	w := &Writer{plan: p}
	if reject := o.Rejected; reject != nil {
		o.Rejected = func(r bulk.Rejection) error {
			r.Source = SourceOf(r.Source)
			return reject(r)
		}
	}
	rows := o
	rows.AllowMissing = true
	if !p.noTimes {
		rows.TTLColumn, rows.TimestampColumn = p.ttl, p.writeTime
	}
	writer, err := bulk.Insert(target.Session, target.CQL(), rows)
	if err != nil {
		return nil, err
	}
	w.writers = append(w.writers, writer)
	for _, text := range p.Inserts(target)[1:] {
		if o.Checkpoint != "" {
			o.Checkpoint += ".static"
		}
		if writer, err = bulk.New(target.Session, text, o); err != nil {
			return nil, errors.Join(err, w.Close(context.Background())) // it has no rows
		}
		w.writers = append(w.writers, writer)
	}
	return w, nil
}

// Write accepts the rows of a batch with the columns of the plan, as bulk.Writer.Write does.
func (w *Writer) Write(ctx context.Context, b *column.Batch) error {
	parts, late, err := w.plan.Split(b)
	if err != nil {
		return err
	}
	w.late.Add(late)
	for i, writer := range w.writers {
		for _, part := range parts[i] {
			if err := writer.Write(ctx, part); err != nil {
				return err
			}
		}
	}
	return nil
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
	var errs []error
	for _, writer := range w.writers {
		errs = append(errs, writer.Close(ctx))
	}
	return errors.Join(errs...)
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
