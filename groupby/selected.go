// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Selections: some rows of a batch. They are gathered a chunk at a time, so that the batch is not copied as a whole,
// and a chunk stays in the cache.

// AddRows adds some rows of a batch: rows has their positions, strictly ascending. Row i of the batch has the number
// Source.FirstRow+i, whether it is selected or not. Neither the batch nor rows is retained. Positions that do not
// ascend or are outside of the batch cause a *BatchError about "rows". Otherwise it returns the errors of
// [Worker.Add].
func (w *Worker) AddRows(ctx context.Context, b *column.Batch, rows []int32) error {
	if err := checkRows(rows, b.Rows); err != nil {
		return &BatchError{"rows", err}
	}
	return w.addInput(ctx, b, len(rows), rows)
}

// checkRows returns an error unless rows ascend and are below n.
func checkRows(rows []int32, n int) error {
	last := int32(-1)
	for i, r := range rows {
		if r <= last {
			return fmt.Errorf("selected row %d is %d, after %d: selected rows must ascend from 0", i, r, last)
		}
		last = r
	}
	if int(last) >= n {
		return fmt.Errorf("row %d is selected, the batch has %d rows", last, n)
	}
	return nil
}

// An input is the rows of a batch that are to be added.
type input struct {
	cols  []column.Column // in the order of Grouper.names
	start int64           // the number of row 0 of the batch
	n     int             // rows to add
	rows  []int32         // the positions of the rows; nil means that all rows are added
}

// row returns the position of the k-th row to add.
func (in *input) row(k int) int {
	if in.rows != nil {
		return int(in.rows[k])
	}
	return k
}

// A gatherer copies the selected rows of a chunk to dense columns. The columns are valid until the next call.
type gatherer struct {
	cols    []column.Column
	builts  []builder
	numbers []int64
}

// chunk returns rows [i, j) of an input as dense columns, and sets the numbers of the rows in c: the first one, and all
// if the rows are not consecutive and numbered is set.
func (g *gatherer) chunk(in *input, i, j int, c *chunk, numbered bool) ([]column.Column, error) {
	rows := in.rows[i:j]
	first := int(rows[0])
	c.start = in.start + int64(first)
	g.cols = g.cols[:0]
	if int(rows[len(rows)-1])-first == len(rows)-1 {
		for k := range in.cols {
			g.cols = append(g.cols, sliceRows(&in.cols[k], first, first+len(rows)))
		}
		return g.cols, nil
	}
	if g.builts == nil {
		g.builts = make([]builder, len(in.cols))
	}
	sel := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(rows))), len(rows)) // none is negative
	for k := range in.cols {
		g.cols = append(g.cols, g.builts[k].selected(&in.cols[k], sel))
		if err := g.builts[k].check(); err != nil {
			return nil, err
		}
	}
	if numbered {
		g.numbers = grown(g.numbers, len(rows))
		for k, r := range rows {
			g.numbers[k] = in.start + int64(r)
		}
		c.numbers = g.numbers
	}
	return g.cols, nil
}

// release drops references to the batch.
func (g *gatherer) release() { clear(g.cols[:cap(g.cols)]) }

// selected resets the builder and returns the rows sel of a column, which keep the column's dictionary.
func (b *builder) selected(c *column.Column, sel []uint32) column.Column {
	from := *c
	if c.Dict != nil { // gather the codes
		from.Type, from.Dict = column.Type{Kind: column.Uint32}, nil
	}
	b.begin(from.Type)
	b.gather(&from, sel)
	to := b.column()
	to.Name, to.Type, to.Dict = c.Name, c.Type, c.Dict
	return to
}
