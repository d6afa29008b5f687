// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Reading a batch: first the columns that select rows, then the selected rows of all other columns.

// read reads rows of the first range into b.
func (r *Reader) read(b *column.Batch) error {
	s := r.scan
	for i := range r.columns {
		r.columns[i].vector = s.columns[i].vector && !s.states[i].ragged.Load()
	}
	r.row = r.ranges[0].From
	n, err := r.ready(int(min(int64(r.rows), r.ranges[0].To-r.row)))
	if err != nil {
		return err
	}
	if width := s.width(); len(b.Columns) != width {
		b.Columns = make([]column.Column, width)
	}
	b.Source = column.Source{
		File: r.file.src.Name, RowGroup: r.number,
		FirstRow: r.file.first + r.file.Groups[r.number].First + r.row,
	}
	r.ranges[0].From += int64(n)
	if r.ranges[0].From == r.ranges[0].To {
		r.ranges = r.ranges[1:]
	}
	selected, err := r.choose(b, n)
	if err != nil {
		return err
	}
	for i := 0; i < s.outputs && selected > 0; i++ {
		if slices.Contains(s.chosen, i) {
			continue // read and converted for the selector
		}
		switch {
		case s.columns[i].length:
			err = r.readLengths(&b.Columns[i], i, n, selected)
		case !r.got[i]:
			err = r.readColumn(&b.Columns[i], i, n, selected)
		}
		if err != nil {
			return err
		}
		if err := r.convert(&b.Columns[i], i); err != nil {
			return r.locate(i, err)
		}
	}
	if s.o.RowNumbers != "" && selected > 0 {
		r.numberRows(&b.Columns[s.outputs], b.Source.FirstRow, n, selected)
	}
	b.Rows = selected
	return nil
}

// ready returns how many of the next n rows can be read into one batch.
func (r *Reader) ready(n int) (int, error) {
	for i := range r.columns {
		c := &r.columns[i]
		if len(c.chunks) != 1 {
			continue
		}
		var k int
		var skipped int64
		var err error
		if r.scan.late(i) {
			k, skipped, err = c.chunks[0].readyLate(r.row-c.row, n)
			c.row += skipped
		} else if err = c.catchUp(r.row); err == nil {
			k, err = c.chunks[0].ready(n)
		}
		if err != nil {
			return 0, r.locate(i, err)
		}
		n = k
		if r.scan.columns[i].length || slices.Contains(r.scan.filter, i) {
			n = c.chunks[0].within(n)
		}
	}
	return n, nil
}

// choose sets r.sel to the rows that filter and selector select among the next n, and returns their number. It reads
// the columns of both, for those rows.
func (r *Reader) choose(b *column.Batch, n int) (selected int, err error) {
	s := r.scan
	selected = n
	clear(r.got)
	if w := s.narrowing.Load(); w != nil {
		if r.narrow == nil || r.narrow.P != w.pred {
			r.narrow = newTester(w.pred)
		}
		if selected, err = r.filter(r.narrow, w.columns, b, n, n); err != nil {
			return 0, err
		}
	}
	if s.pred != nil && selected > 0 {
		if selected, err = r.filter(r.eval, s.filter, b, n, selected); err != nil {
			return 0, err
		}
	}
	if selected > 0 && selected < n {
		for i, got := range r.got {
			if got && (i < s.outputs || slices.Contains(s.chosen, i)) {
				(*buffer.Column)(r.output(b, i)).Take(r.sel, n, selected)
			}
		}
	}
	if s.o.Selector == nil || selected == 0 {
		return selected, nil
	}
	return r.selectRows(b, n, selected)
}

// output returns the destination of a column. The texts of lengths are no output.
func (r *Reader) output(b *column.Batch, at int) *column.Column {
	if at < r.scan.outputs && !r.scan.columns[at].length {
		return &b.Columns[at]
	}
	return &r.columns[at].extra
}

// readColumn reads the selected rows of a column among the next n.
func (r *Reader) readColumn(dst *column.Column, at, n, selected int) error {
	c := &r.columns[at]
	err := r.readRows((*buffer.Column)(dst), at, n, selected)
	if errors.Is(err, ErrRagged) && c.vector && !r.scan.columns[at].must {
		// The rows fit a list. Rows up to this one are already read from the column chunk.
		if err = r.fallBack(c); err == nil {
			err = r.readRows((*buffer.Column)(dst), at, n, selected)
		}
	}
	if err != nil {
		return r.locate(at, err)
	}
	return nil
}

// fallBack turns a column of vectors into lists, for all readers of the scan, and opens the column chunk again.
func (r *Reader) fallBack(c *columnReader) error {
	c.state.ragged.Store(true)
	c.vector, c.row = false, 0
	rows := r.file.Groups[r.number].Rows
	_, err := r.openChunk(c.chunks[0], c, c.chunks[0].leaf, rows)
	return err
}

// readRows reads the selected rows of a column among the next n: run by run if there are few runs, else all rows, of
// which it removes the others.
func (r *Reader) readRows(dst *buffer.Column, at, n, selected int) error {
	c := &r.columns[at]
	if !c.state.used.Load() {
		c.state.used.Store(true)
	}
	dst.Reset(r.scan.columns[at].name, c.node, c.vector)
	if selected < n && c.node.Leaf != nil {
		if ok, err := c.readTexts(dst, r.row, r.sel, n, selected); ok || err != nil {
			return err
		}
	}
	if selected == n || !c.sparse(n, buffer.CountRuns(r.sel)) {
		if err := c.catchUp(r.row); err != nil {
			return err
		}
		c.row += int64(n)
		err := c.read(dst, n)
		if err == nil && selected < n {
			dst.Take(r.sel, n, selected)
		}
		return err
	}
	var err error
	buffer.Ones(r.sel, n, func(from, to int) {
		if err == nil {
			err = c.catchUp(r.row + int64(from))
		}
		if err != nil {
			return
		}
		before := dst.Len
		c.row += int64(to - from)
		if err = c.read(dst, to-from); err != nil {
			err = failure.Moved(err, func(row int) int { return from + row - before })
		}
	})
	return err
}

// readTexts reads the selected of n rows if they are plain texts of one page; otherwise it returns false.
func (c *columnReader) readTexts(dst *buffer.Column, row int64, sel []byte, n, selected int) (bool, error) {
	if ok, err := c.atTexts(row, n); !ok || err != nil {
		return false, err
	}
	c.row += int64(n)
	return true, c.chunks[0].readTexts(dst, sel, n, selected)
}

// atTexts skips to a row and reports whether n rows from there on are plain texts of one page, which it loads.
func (c *columnReader) atTexts(row int64, n int) (bool, error) {
	k := c.chunks[0]
	if !c.node.Leaf.Type.Kind.IsText() {
		return false, nil
	}
	if err := c.catchUp(row); err != nil {
		return false, err
	}
	if k.left == 0 {
		h, err := k.pages.Peek()
		if err != nil || h.DictionaryCoded() || h.Rows(k.leaf) < int64(n) {
			return false, nil // the page may lack a selected row; an error occurs again
		}
		if err := k.must(); err != nil {
			return false, err
		}
	}
	return k.hasTexts(n), nil
}

// sparse reports whether runs of selected rows among n are cheaper to read run by run. Each run has a cost, and values
// of fixed width are copied at once.
func (c *columnReader) sparse(n, runs int) bool {
	switch {
	case c.vector:
		return runs <= n/2
	case c.node.Leaf == nil:
		return false
	case c.node.Leaf.Type.Kind.IsText():
		return runs <= n/8
	default:
		return runs <= n/256
	}
}

// catchUp skips rows up to a row of the row group.
func (c *columnReader) catchUp(row int64) error {
	for _, k := range c.chunks {
		if err := k.skip(row - c.row); err != nil {
			return err
		}
	}
	c.row = row
	return nil
}

// read appends n rows of the column.
func (c *columnReader) read(dst *buffer.Column, n int) error {
	switch {
	case c.vector:
		return c.chunks[0].readVectors(dst, c.node, n)
	case c.node.Leaf != nil:
		return c.chunks[0].readFlat(dst, n)
	default:
		return readNested(dst, c.node, c.chunks, n)
	}
}
