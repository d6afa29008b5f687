// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/footer"
)

// Stages: a filter column by column. If no row of a batch is left after a stage, the columns of later stages are not
// decoded, and their pages not decompressed.

// A stage is a part of a predicate, which is the And of its stages.
type stage struct {
	columns []int // of predicate.paths, which no stage before needs
	nodes   []*predicateNode
	shared  bool // the columns are needed in a later stage too, or the stage needs a column of an earlier one
}

// addStages makes the stages: arguments of And, each as soon as its columns are read. Columns of a fixed width are
// read before texts, and texts are searched for parts at last, in the rows that are left.
func (p *predicate) addStages() {
	nodes := []*predicateNode{&p.root}
	if p.root.leaf == nil && p.root.op == opAnd {
		nodes = nil
		for i := range p.root.args {
			nodes = append(nodes, &p.root.args[i])
		}
	}
	slices.SortStableFunc(nodes, func(a, b *predicateNode) int { return p.cost(a) - p.cost(b) })
	read := map[int]int{} // the stages of the columns
	for _, node := range nodes {
		at, fresh := 0, []int{}
		for _, c := range node.columns(nil) {
			if s, ok := read[c]; ok {
				at = max(at, s)
			} else if !slices.Contains(fresh, c) {
				fresh = append(fresh, c)
			}
		}
		if len(fresh) > 0 || len(p.stages) == 0 {
			at = len(p.stages)
			p.stages = append(p.stages, stage{columns: fresh})
		}
		for _, c := range node.columns(nil) {
			if s, ok := read[c]; ok && s != at {
				p.stages[s].shared, p.stages[at].shared = true, true
			}
		}
		for _, c := range fresh {
			read[c] = at
		}
		p.stages[at].nodes = append(p.stages[at].nodes, node)
	}
}

// cost returns the place of a node among the stages: 0 without texts, 2 if a text is searched, otherwise 1.
func (p *predicate) cost(node *predicateNode) int {
	switch l := node.leaf; {
	case l == nil:
	case l.part != nil:
		return 2
	case l.typ.Kind.IsText():
		return 1
	}
	most := 0
	for i := range node.args {
		most = max(most, p.cost(&node.args[i]))
	}
	return most
}

// columns appends the columns that a node tests.
func (node *predicateNode) columns(into []int) []int {
	if node.leaf != nil {
		return append(into, node.leaf.column)
	}
	for i := range node.args {
		into = node.args[i].columns(into)
	}
	return into
}

// evalStage removes the rows that a stage does not select from sel, and returns the number of rows that are left. all
// means that sel is undefined yet and has all rows.
func (e *evaluator) evalStage(st *stage, n int, sel []byte, all bool) int {
	sel = sel[:(n+7)/8]
	for _, node := range st.nodes {
		if all {
			e.node(node, e.cols, n, sel, 0)
			all = false
			continue
		}
		other := e.scratchOf(0, len(sel))
		e.some = sel
		e.node(node, e.cols, n, other, 1)
		e.some = nil
		for i, b := range other {
			sel[i] &= b
		}
	}
	return countBits(sel)
}

// filter reduces r.sel, which has selected of n rows, to the rows that a predicate selects, and returns their number.
// columns are the positions of the predicate's columns.
func (r *Reader) filter(e *evaluator, columns []int, b *column.Batch, n, selected int) (int, error) {
	all := selected == n
	if all {
		r.sel = buffer.Grow(r.sel[:0], (n+7)/8)
	}
	for i := range e.p.stages {
		st := &e.p.stages[i]
		counted, ok, err := r.filterPage(e, i, columns, n, all)
		if err != nil {
			return 0, err
		}
		if selected = counted; !ok {
			if err := r.readStage(e, st, columns, b, n); err != nil {
				return 0, err
			}
			selected = e.evalStage(st, n, r.sel, all)
		}
		if selected == 0 {
			return 0, nil
		}
		all = false
	}
	return selected, nil
}

// readStage reads the columns of a stage.
func (r *Reader) readStage(e *evaluator, st *stage, columns []int, b *column.Batch, n int) error {
	for _, c := range st.columns {
		at := columns[c]
		e.cols[c] = r.output(b, at)
		if r.got[at] {
			continue
		}
		if err := r.readColumn(e.cols[c], at, n, n); err != nil {
			return err
		}
		r.got[at] = true
	}
	return nil
}

// A narrowing is the filter of Scan.Narrow.
type narrowing struct {
	pred    *predicate
	columns []int // of the Scan, by predicate.paths
}

// Narrow leaves out rows that do not pass a filter, from now on, while goroutines read: batches that are being read may
// still have such rows. Row groups and pages are skipped as by Options.Filter, and of a batch without a row that passes
// no other column is decoded. A later filter replaces an earlier one. The filter may test the columns that
// Options.Narrow lists, and no others (ErrNoColumn). Buckets and numbers of rows are not affected.
func (s *Scan) Narrow(f Filter) error {
	n := &narrowing{}
	var err error
	n.pred, err = f.compile(func(path string) (column.Type, bool) {
		if !slices.Contains(s.o.Narrow, path) {
			return column.Type{}, false
		}
		return footer.Lookup(s.ds.files[0].Nodes, path).Field.Type, true
	})
	if err != nil {
		return fmt.Errorf("%w (Options.Narrow lists %q)", err, s.o.Narrow)
	}
	if n.pred.everything() {
		s.narrowing.Store(nil)
		return nil
	}
	for _, path := range n.pred.paths {
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
