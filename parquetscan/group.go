// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/page"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Reading a row group, batch by batch: first the columns that select rows, then the selected rows of all other columns.

// A groupReader reads the batches of a row group.
type groupReader struct {
	scan    *Scan
	file    *dataFile // nil means that there is no row group
	at      int       // of the file in the scan
	number  int
	ranges  []predicate.Range // rows to read, in order
	row     int64
	barren  int64 // the rows before it pass no filter
	rows    int   // of a batch
	columns []columnReader
	eval    *tester
	narrow  *tester // of the scan's narrowing; nil means none yet
	got     []bool  // the columns of a batch that are read
	sel     []byte  // the selected rows of a batch, a bit each
	// Of the selector: the function, its batch, the positions in it that it kept, and a bit for each of its rows.
	selector func(b *column.Batch, rows []int32) ([]int32, error)
	view     column.Batch
	kept     []int32
	some     []byte
}

// A columnReader reads one column of the row group.
type columnReader struct {
	cursor *chunk.Cursor
	task   chunk.Task // chosen for each row group
}

// start prepares for the row groups of a scan.
func (r *groupReader) start(s *Scan) {
	r.scan = s
	if s.pred != nil {
		r.eval = newTester(s.pred)
	}
	r.columns = make([]columnReader, len(s.columns))
	for i := range r.columns {
		r.columns[i].cursor = chunk.NewCursor(&s.columns[i].Settings)
	}
	r.got = make([]bool, len(s.columns))
}

// reuse takes over the memory of a groupReader of the same Scan that is done.
func (r *groupReader) reuse(old *groupReader) {
	r.columns, r.sel, r.ranges, r.eval = old.columns, old.sel, old.ranges, old.eval
	r.narrow = old.narrow
	r.selector, r.view, r.kept, r.some = old.selector, old.view, old.kept, old.some
	old.columns = nil
}

// release ends the use of pages. Batches have no bytes of them.
func (r *groupReader) release() {
	for i := range r.columns {
		r.columns[i].cursor.Release()
	}
}

// open opens the columns of a row group, and sets the rows of a piece of it that may match and the rows of its batches.
func (r *groupReader) open(at, group int, piece predicate.Range) error {
	f := r.scan.ds.files[at]
	r.file, r.at, r.number, r.row, r.barren = f, at, group, 0, 0
	r.ranges = predicate.AddRange(r.ranges[:0], piece)
	if r.scan.barren[at][group].Load() {
		r.ranges = r.ranges[:0]
	}
	if r.scan.pred != nil {
		r.ranges = predicate.IntersectRanges(r.ranges, r.scan.pred.Prune(&f.File, group, f.LeafOf))
	}
	if w := r.scan.narrowing.Load(); w != nil && len(r.ranges) > 0 {
		r.ranges = predicate.IntersectRanges(r.ranges, w.pred.Prune(&f.File, group, f.LeafOf))
	}
	if len(r.ranges) == 0 {
		return nil
	}
	cfg, o := &r.scan.ds.cfg, &r.scan.o
	pages := page.Options{Limit: o.MaxBatchBytes, ReadBytes: cfg.ReadBytes, Verify: !cfg.NoChecksums}
	total := int64(0)
	for i := range r.columns {
		c := &r.columns[i]
		bytes, err := c.cursor.Open(&f.File, group, r.scan.nodes[at][i], pages)
		if err != nil {
			return r.locate(i, err)
		}
		c.task = c.cursor.Task()
		total += bytes
	}
	r.rows = max(1, int(min(int64(o.BatchRows), int64(o.BatchBytes)/max(1, total/f.Groups[group].Rows))))
	return nil
}

// locate wraps an error in an Error with its location.
func (r *groupReader) locate(column int, err error) error {
	e := &Error{RowGroup: r.number, Row: -1, Err: err}
	if r.file != nil {
		e.File = r.file.src.Name
	}
	if column >= 0 {
		e.Column = r.scan.columns[column].Name
	}
	var row *failure.RowError
	if errors.As(err, &row) {
		e.Row, e.Err = r.row+int64(row.Row), row.Err
	}
	return e
}

// read reads rows of the first range into b.
func (r *groupReader) read(b *column.Batch) error {
	s := r.scan
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
	for len(r.ranges) > 0 && r.ranges[0].From < r.barren {
		if r.ranges[0].From = min(r.barren, r.ranges[0].To); r.ranges[0].From == r.ranges[0].To {
			r.ranges = r.ranges[1:]
		}
	}
	for i := 0; i < s.outputs && selected > 0; i++ {
		if slices.Contains(s.chosen, i) {
			continue // read and converted for the selector
		}
		if err := r.columns[i].task.Finish(&b.Columns[i], r.got[i], r.selected(n, selected)); err != nil {
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
func (r *groupReader) ready(n int) (_ int, err error) {
	for i := range r.columns {
		if n, err = r.columns[i].task.Ready(r.row, n); err != nil {
			return 0, r.locate(i, err)
		}
	}
	return n, nil
}

// selected returns the selected of the next n rows.
func (r *groupReader) selected(n, selected int) chunk.Rows {
	return chunk.Rows{Row: r.row, Sel: r.sel, N: n, Selected: selected}
}

// choose sets r.sel to the rows that filter and selector select among the next n, and returns their number. It reads
// the columns of both, for those rows.
func (r *groupReader) choose(b *column.Batch, n int) (selected int, err error) {
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

// output returns the destination of a column that is read.
func (r *groupReader) output(b *column.Batch, at int) *column.Column {
	c := &r.columns[at]
	if at < r.scan.outputs {
		return c.task.Raw(&b.Columns[at])
	}
	return c.cursor.Extra()
}

// readColumn reads the selected rows of a column among the next n.
func (r *groupReader) readColumn(dst *column.Column, at, n, selected int) error {
	if err := r.columns[at].task.Read(dst, r.selected(n, selected)); err != nil {
		return r.locate(at, err)
	}
	return nil
}
