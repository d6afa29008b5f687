// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/chunk"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Rows that a filter selects, stage by stage.

// filter reduces r.sel, which has selected of n rows, to the rows that a predicate selects, and returns their number.
// columns are the positions of the predicate's columns.
func (r *groupReader) filter(e *tester, columns []int, b *column.Batch, n, selected int) (int, error) {
	if selected == n {
		r.sel = buffer.Grow(r.sel[:0], (n+7)/8)
	}
	for i := range e.P.Stages {
		st := &e.P.Stages[i]
		all := selected == n
		counted, ok, err := r.filterPage(e, i, columns, n, selected)
		if err != nil {
			return 0, err
		}
		if selected = counted; !ok {
			if err := r.readStage(e, st, columns, b, n); err != nil {
				return 0, err
			}
			selected = e.EvalStage(st, n, r.sel, all)
		}
		if selected == 0 {
			return 0, nil
		}
	}
	return selected, nil
}

// readStage reads the columns of a stage.
func (r *groupReader) readStage(e *tester, st *predicate.Stage, columns []int, b *column.Batch, n int) error {
	for _, c := range st.Columns {
		at := columns[c]
		e.Cols[c] = r.output(b, at)
		if r.got[at] {
			continue
		}
		if err := r.readColumn(e.Cols[c], at, n, n); err != nil {
			return err
		}
		r.got[at] = true
	}
	return nil
}

// filterPage reduces r.sel to the rows that stage i of a predicate selects, and returns their number; false if it
// cannot, and the column must be read: the rows of the batch are codes or plain texts of one page, none of them NULL,
// and no later stage needs the column. before rows are selected yet; r.sel is undefined if all are. The column stays
// before the rows if it is read later.
func (r *groupReader) filterPage(
	e *tester, i int, columns []int, n, before int,
) (selected int, ok bool, err error) {
	st := &e.P.Stages[i]
	if len(st.Columns) != 1 || st.Shared {
		return 0, false, nil
	}
	at := columns[st.Columns[0]]
	if r.got[at] {
		return 0, false, nil
	}
	v, err := r.columns[at].task.View(r.row, n)
	if err != nil {
		return 0, false, r.locate(at, err)
	}
	if v.Kind == chunk.None {
		return 0, false, nil
	}
	sel := r.sel[:(n+7)/8]
	err = e.testPage(i, &v, n, sel, before)
	switch {
	case err != nil:
	case v.Kind == chunk.Codes && e.isBarren(i):
		err = r.passBarren(e, &v)
	case r.isLast(e, at):
		err = v.Pass()
	}
	if err != nil {
		return 0, false, r.locate(at, err)
	}
	return predicate.CountBits(sel), true, nil
}

// passBarren passes the rows of a view without an entry that a predicate selects, and the rows after them with codes of
// the same dictionary. If the whole row group has such codes, no Reader opens it again.
func (r *groupReader) passBarren(e *tester, v *chunk.View) error {
	rows, all, err := v.Barren()
	r.barren = max(r.barren, r.row+rows)
	if all && e == r.eval {
		r.scan.barren[r.at][r.number].Store(true)
	}
	return err
}

// isLast reports whether nothing after a predicate needs a column.
func (r *groupReader) isLast(e *tester, at int) bool {
	s := r.scan
	return at >= s.outputs && !slices.Contains(s.chosen, at) && (e == r.eval || !slices.Contains(s.filter, at))
}
