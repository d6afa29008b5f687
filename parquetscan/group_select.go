// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Rows that the Selector keeps, and their numbers.

// selectRows reads the selector's columns of the selected rows among the next n, reduces r.sel to the rows that the
// selector keeps, and returns their number.
func (r *groupReader) selectRows(b *column.Batch, n, selected int) (int, error) {
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
		if err := r.columns[at].task.Finish(c, true, r.selected(n, selected)); err != nil {
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
func (r *groupReader) keep(b *column.Batch, n, selected int) {
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
func (r *groupReader) numberRows(dst *column.Column, first int64, n, selected int) {
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
