// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/predicate"
)

// Stages: a filter column by column. If no row of a batch is left after a stage, the columns of later stages are not
// decoded, and their pages not decompressed.

// filter reduces r.sel, which has selected of n rows, to the rows that a predicate selects, and returns their number.
// columns are the positions of the predicate's columns.
func (r *Reader) filter(e *tester, columns []int, b *column.Batch, n, selected int) (int, error) {
	all := selected == n
	if all {
		r.sel = buffer.Grow(r.sel[:0], (n+7)/8)
	}
	for i := range e.P.Stages {
		st := &e.P.Stages[i]
		counted, ok, err := r.filterPage(e, i, columns, n, all)
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
		all = false
	}
	return selected, nil
}

// readStage reads the columns of a stage.
func (r *Reader) readStage(e *tester, st *predicate.Stage, columns []int, b *column.Batch, n int) error {
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

// A narrowing is the filter of Scan.Narrow.
type narrowing struct {
	pred    *predicate.Predicate
	columns []int // of the Scan, by predicate.paths
}

// Narrow leaves out rows that do not pass a filter, from now on, while goroutines read: batches that are being read may
// still have such rows. Row groups and pages are skipped as by Options.Filter, and of a batch without a row that passes
// no other column is decoded. A later filter replaces an earlier one. The filter may test the columns that
// Options.Narrow lists, and no others (ErrNoColumn). Buckets and numbers of rows are not affected.
func (s *Scan) Narrow(f Filter) error {
	n := &narrowing{}
	var err error
	n.pred, err = f.node.Compile(func(path string) (column.Type, bool) {
		if !slices.Contains(s.o.Narrow, path) {
			return column.Type{}, false
		}
		return footer.Lookup(s.ds.files[0].Nodes, path).Field.Type, true
	})
	if err != nil {
		return fmt.Errorf("%w (Options.Narrow lists %q)", err, s.o.Narrow)
	}
	if n.pred.Everything() {
		s.narrowing.Store(nil)
		return nil
	}
	for _, path := range n.pred.Paths {
		n.columns = append(n.columns, s.narrows[slices.Index(s.o.Narrow, path)])
	}
	s.narrowing.Store(n)
	return nil
}

// narrowed is the state of Scan.Narrow.
type narrowed struct {
	narrows   []int // positions of Options.Narrow
	narrowing atomic.Pointer[narrowing]
}
