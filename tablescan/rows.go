// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
)

// The rows of a page: a batch of columns, or values of a Go type.

// A page is the rows of one response, with their tokens, which are the last column of the result.
type page interface {
	// read replaces the rows by the rows of the current page of it. Iter.Close returns errors of the request.
	read(it *vecql.Iter) error
	// tokens returns the token of each row.
	tokens() []int64
	// size returns the bytes of the rows.
	size() int
	// pass passes the rows from row i on to the program, and returns the number of rows that it acknowledged.
	pass(worker, i int) (acknowledged int, err error)
}

// TokenColumn is the name of the column that Config.Tokens adds to batches, a bigint.
const TokenColumn = "token"

// A batchPage is a page as a batch.
type batchPage struct {
	f          func(worker int, b *column.Batch) error
	fresh      bool // each batch has memory of its own
	withTokens bool // the batch has the column of tokens
	cells      bool // the columns are cells
	batch      *column.Batch
	list       []int64 // a view of the last column
}

func (p *batchPage) read(it *vecql.Iter) (err error) {
	if p.fresh || p.batch == nil {
		p.batch = new(column.Batch)
	}
	if p.cells {
		p.list, err = readCells(it, p.batch, p.list[:0])
		return err
	}
	p.list = nil
	if !it.NextBatch(p.batch) {
		return nil
	}
	last := &p.batch.Columns[len(p.batch.Columns)-1]
	last.Name = TokenColumn
	p.list, err = column.Slice[int64](last)
	return err
}

func (p *batchPage) tokens() []int64 { return p.list }

func (p *batchPage) size() int { return sizeOf(p.batch.Columns) }

func (p *batchPage) pass(worker, i int) (int, error) {
	columns := p.batch.Columns
	if last := len(columns) - 1; !p.withTokens {
		columns = columns[:last:last]
	}
	batch := &column.Batch{Columns: columns, Rows: p.batch.Rows, Source: p.batch.Source}
	if i > 0 {
		batch = batch.Slice(i, batch.Rows)
	}
	rows := batch.Rows // before the program has the batch, which may keep and change it
	if err := p.f(worker, batch); err != nil {
		return 0, err
	}
	return rows, nil
}

// A rowPage is a page as values of T.
type rowPage[T any] struct {
	f      func(rows []T) (acknowledged int, err error)
	reader vecql.RowReader[T]
	rows   []T
	list   []int64
	bytes  int
	token  int64
	rest   []any // &token
}

func newRowPage[T any](f func(rows []T) (int, error)) *rowPage[T] {
	p := &rowPage[T]{f: f}
	p.rest = []any{&p.token}
	return p
}

func (p *rowPage[T]) read(it *vecql.Iter) error {
	n := it.NumRows()
	p.rows = slices.Grow(p.rows[:0], n)[:n] // pass has passed copies of the values on
	p.list, p.bytes = p.list[:0], it.PageBytes()
	for len(p.list) < n && p.reader.Next(it, &p.rows[len(p.list)], p.rest...) {
		p.list = append(p.list, p.token)
	}
	p.rows = p.rows[:len(p.list)]
	return nil
}

func (p *rowPage[T]) tokens() []int64 { return p.list }

func (p *rowPage[T]) size() int { return p.bytes }

func (p *rowPage[T]) pass(_, i int) (int, error) { return p.f(p.rows[i:]) }
