// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"iter"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/frame"
)

// Pages of results as batches of columns: the fastest way to read many rows, and the input of groupby, parquetscan and
// matrix code.

// Batches runs the query and returns its pages as batches, one batch a page. The columns have the names of the result
// and the types of the table in the package documentation, section Columns. Each batch is fresh memory that the caller
// may keep. The next page is requested while the loop reads a batch. A result without rows yields one batch without
// rows, which has the columns and the token of the next page. An error ends the loop as its last pair. The loop may be
// left at any batch.
func (q *Query) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return q.batches(ctx, func() *column.Batch { return new(column.Batch) })
}

// BorrowBatches is Batches but reuses one batch for all pages: the batch and its views are valid until the next
// iteration. Clone copies a batch. Once the batch has grown to the size of a page, reading does not allocate.
func (q *Query) BorrowBatches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	b := new(column.Batch)
	return q.batches(ctx, func() *column.Batch { return b })
}

// batches executes the query and yields its pages, each read into the batch that next returns. A result with
// columns and without rows yields one empty batch. A failure is the last pair, with a nil batch.
func (q *Query) batches(ctx context.Context, next func() *column.Batch) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		it := q.Iter(ctx)
		defer func() { _ = it.Close() }()
		b, empty := next(), true
		for ; it.NextBatch(b); b = next() {
			empty = false
			if !yield(b, nil) {
				return
			}
		}
		if empty && it.err == nil && it.res.Kind == frame.ResultRows && it.readBatch(b, nil, 0) && !yield(b, nil) {
			return
		}
		if err := it.Close(); err != nil {
			yield(nil, err)
		}
	}
}

// NextBatch reads the rest of the current page, or the next page with rows, into b and reports whether there was one.
// It overwrites b and reuses its memory where it is large enough. Rows already read by [Iter.Scan] are not in the
// batch. An error ends the rows; Close returns it.
func (it *Iter) NextBatch(b *column.Batch) bool {
	for it.err == nil && !it.closed && it.open {
		if it.more() {
			it.askAhead()
		}
		if left := it.res.Rows.RowCount - it.row; left > 0 && it.res.Kind == frame.ResultRows {
			return it.readBatch(b, it.res.Rows.Cells[it.off:], left)
		}
		if !it.more() {
			it.endPage()
			break
		}
		it.turnPage()
	}
	return false
}

// readBatch decodes cells, the cells of the remaining rows of the page, into b.
func (it *Iter) readBatch(b *column.Batch, cells []byte, rows int) bool {
	if err := it.plan.columnPlan().Decode(cells, rows, b); err != nil {
		it.fail(err)
		return false
	}
	empty := b.Source.EmptyCells
	b.Source = it.Source()
	b.Source.EmptyCells = empty
	b.Source.FirstRow = it.passed + int64(it.row)
	it.off, it.row = len(it.res.Rows.Cells), it.res.Rows.RowCount
	it.releasePage() // the batch has copies of its cells
	return true
}

// Source returns the origin of the current page: the node, the token of the next page, the server's warnings, the id of
// the tracing session.
func (it *Iter) Source() column.Source {
	s := column.Source{FirstRow: it.passed, NextPage: it.PageState(), Warnings: it.Warnings()}
	s.TraceID = it.parts().TracingID
	if it.node != nil {
		s.Host, s.HostID = it.node.info.Address, it.node.info.ID
	}
	return s
}
