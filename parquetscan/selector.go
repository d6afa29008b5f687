// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"context"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Selectors: rows selected by the program while they are read, and rows selected by their numbers.

// A Selector selects rows by a function of the program, for conditions that a [Filter] lacks. It is evaluated after the
// Filter. The other columns of a Scan are read for the selected rows only: pages without a selected row are not
// decompressed.
type Selector struct {
	// Columns lists the names of the columns that the function needs. They need not be among Options.Columns.
	Columns []string
	// New returns a function that selects rows. A function is called by one goroutine at a time; New may be called by
	// several at once. The batch has the Columns, in their order, of the rows that the Filter selects; its Source is the
	// place of the rows before the Filter. The function appends the positions in the batch of the rows to keep to rows,
	// in ascending order, and returns them. The batch is valid until the function returns. An error ends the read.
	New func() func(b *column.Batch, rows []int32) ([]int32, error)
}

// addSelector adds the columns that only the selector needs, and the columns of each phase of reading.
func (s *Scan) addSelector() error {
	if s.o.RowNumbers != "" && slices.ContainsFunc(s.columns[:s.outputs], func(c scanColumn) bool {
		return c.name == s.o.RowNumbers
	}) {
		return fmt.Errorf("parquetscan: RowNumbers: there is a column %s", s.o.RowNumbers)
	}
	if s.pred == nil {
		s.filter = nil
	}
	if s.o.Selector == nil {
		return nil
	}
	var err error
	s.chosen, err = s.addOnce(s.o.Selector.Columns)
	return err
}

// addOnce returns the positions of columns among those that are read. It adds columns that are not read yet.
func (s *Scan) addOnce(names []string) ([]int, error) {
	var positions []int
	for _, name := range names {
		if err := s.checkUnique(s.ds.files[0], name); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(s.columns, func(c scanColumn) bool { return c.name == name })
		if at < 0 {
			at = len(s.columns)
			if err := s.addColumn(name); err != nil {
				return nil, err
			}
		}
		positions = append(positions, at)
	}
	return positions, nil
}

// setFirst sets the columns that are read before rows of a batch are selected.
func (s *Scan) setFirst() {
	switch {
	case len(s.narrows) > 0:
		s.first = s.narrows
	case s.pred != nil:
		s.first = []int{}
		for _, c := range s.pred.Stages[0].Columns {
			s.first = append(s.first, s.filter[c])
		}
	case s.o.Selector != nil:
		s.first = append([]int{}, s.chosen...)
	}
}

// late reports whether a column is read after some rows of a batch have been selected.
func (s *Scan) late(at int) bool { return s.first != nil && !slices.Contains(s.first, at) }

// selectRows reads the selector's columns of the selected rows among the next n, reduces r.sel to the rows that the
// selector keeps, and returns their number.
func (r *Reader) selectRows(b *column.Batch, n, selected int) (int, error) {
	s := r.scan
	r.view.Rows, r.view.Source, r.view.Columns = selected, b.Source, r.view.Columns[:0]
	for _, at := range s.chosen {
		c := r.output(b, at)
		if !r.got[at] {
			if err := r.readColumn(c, at, n, selected); err != nil {
				return 0, err
			}
			r.got[at] = true
		}
		if err := r.convert(c, at); err != nil {
			return 0, r.locate(at, err)
		}
		r.view.Columns = append(r.view.Columns, *c)
	}
	if r.selector == nil {
		r.selector = s.o.Selector.New()
	}
	kept, err := r.selector(&r.view, r.kept[:0])
	if err != nil {
		return 0, r.locate(-1, err)
	}
	r.kept = kept
	r.some = buffer.Grow(r.some[:0], (selected+7)/8)
	clear(r.some)
	last := -1
	for _, row := range kept {
		if int(row) <= last || int(row) >= selected {
			return 0, r.locate(-1, fmt.Errorf("the Selector kept row %d after row %d of %d", row, last, selected))
		}
		last = int(row)
		r.some[row>>3] |= 1 << (row & 7)
	}
	if len(kept) > 0 && len(kept) < selected {
		r.keep(b, n, selected)
	}
	return len(kept), nil
}

// keep removes rows that the selector did not keep from r.sel and from the columns that are already read.
func (r *Reader) keep(b *column.Batch, n, selected int) {
	for i := range r.columns {
		if r.got[i] && (i < r.scan.outputs || slices.Contains(r.scan.chosen, i)) {
			(*buffer.Column)(r.output(b, i)).Take(r.some, selected, len(r.kept))
		}
	}
	if selected == n {
		r.sel, r.some = r.some, r.sel
		return
	}
	i := 0
	buffer.Ones(r.sel, n, func(from, to int) {
		for row := from; row < to; row++ {
			r.sel[row>>3] &^= (^r.some[i>>3] >> (i & 7) & 1) << (row & 7)
			i++
		}
	})
}

// numberRows sets dst to the numbers of the selected rows among n rows from first on.
func (r *Reader) numberRows(dst *column.Column, first int64, n, selected int) {
	*dst = column.Column{
		Name: r.scan.o.RowNumbers, Type: column.TypeOf[int64](), Len: selected,
		Values: buffer.GrowBytes(dst.Values[:0], 8*selected),
	}
	out := buffer.SliceOf[int64](dst.Values, selected)
	if selected == n {
		for i := range out {
			out[i] = first + int64(i)
		}
		return
	}
	i := 0
	buffer.Ones(r.sel, n, func(from, to int) {
		for row := from; row < to; row++ {
			out[i] = first + int64(row)
			i++
		}
	})
}

// Rows returns the rows with some numbers, which must ascend, as one fresh batch in their order. The numbers are those
// of Options.RowNumbers: the first row of the first file is 0. Only pages with these rows are decompressed. The options
// must not select rows; the bounds of batches do not apply, and the Source is the place of the first row.
func (d *Dataset) Rows(ctx context.Context, o Options, rows []int64) (*column.Batch, error) {
	for i, row := range rows {
		if row < 0 || row >= d.rows || i > 0 && row <= rows[i-1] {
			return nil, fmt.Errorf("parquetscan: Rows: row %d at position %d of the numbers does not ascend, or is none of %d rows",
				row, i, d.rows)
		}
	}
	if o.Filter.node != nil || o.Selector != nil {
		return nil, fmt.Errorf("parquetscan: Rows: the options have a Filter or a Selector")
	}
	o.Selector = &Selector{New: func() func(b *column.Batch, kept []int32) ([]int32, error) {
		return func(b *column.Batch, kept []int32) ([]int32, error) {
			first := b.Source.FirstRow
			at, _ := slices.BinarySearch(rows, first)
			for ; at < len(rows) && rows[at] < first+int64(b.Rows); at++ {
				kept = append(kept, int32(rows[at]-first))
			}
			return kept, nil
		}
	}}
	o.Ordered = true
	s, err := d.Scan(o)
	if err != nil {
		return nil, err
	}
	var batches []*column.Batch
	for b, err := range s.All(ctx, s.bucketsOf(rows)...) {
		if err != nil {
			return nil, err
		}
		batches = append(batches, b)
	}
	if ragged := s.Ragged(); ragged != nil { // some batches may have vectors, others lists
		o.Lists, o.Selector = slices.Concat(o.Lists, ragged), nil
		return d.Rows(ctx, o, rows)
	}
	if len(batches) == 0 {
		return s.Schema().Empty(), nil
	}
	return column.Concat(batches...)
}

// bucketsOf returns a bucket for each row group with one of the rows.
func (s *Scan) bucketsOf(rows []int64) []Bucket {
	buckets := []Bucket{}
	at := 0
	for _, u := range s.units() {
		f := s.ds.files[u.file]
		end := f.first + f.Groups[u.group].First + u.rows
		if at < len(rows) && rows[at] < end {
			buckets = append(buckets, s.bucket(len(buckets), []unit{u}))
		}
		for at < len(rows) && rows[at] < end {
			at++
		}
	}
	return buckets
}
