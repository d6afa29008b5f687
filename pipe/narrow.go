// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Narrowing: a sort with a limit, and groups with a limit and no order, need fewer rows of a file the more rows they
// have seen. Their nodes pass filters to the scan while it runs.

// A narrower leaves out rows of a scan from now on; nil means that the source cannot.
type narrower func(parquetscan.Filter) error

// narrow prepares the source for filters from the first operation that depends on other rows. Rows that are left out
// are not evaluated, so no expression before may fail.
func (b *binder) narrow(ops []operation) {
	o, ok := b.source.(*openedParquet)
	i := slices.IndexFunc(ops, func(op operation) bool {
		_, ok := op.(rowOperation)
		return !ok
	})
	if !ok || i < 0 || slices.ContainsFunc(o.selected, conjunct.mayFail) {
		return
	}
	var names []string
	switch op := ops[i].(type) {
	case *sortOp:
		if op.limit > 0 && op.orders > 0 {
			names = []string{op.keys[0].name}
		}
	case *groupOp:
		if op.anyOf(ops[i+1:]) > 0 {
			names = op.keys
		}
	}
	for _, op := range ops[:i] {
		switch op := op.(type) {
		case *computeOp:
			if op.program != nil && !op.program.NeverFails() {
				return
			}
			names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == op.name })
		case *filterOp:
			if slices.ContainsFunc(op.conjuncts, conjunct.mayFail) {
				return
			}
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		at := o.fields.Index(name)
		return at < 0 || !canNarrow(o.fields[at].Type.Kind)
	})
	if len(names) == 0 {
		return
	}
	o.narrows = names
	switch op := ops[i].(type) {
	case *sortOp:
		op.bound = &bound{narrow: o.narrow}
	case *groupOp:
		op.narrow, op.narrows = o.narrow, names
	}
}

func (c conjunct) mayFail() bool { return !c.program.NeverFails() }

// canNarrow reports whether filters of files take column.Column.Value of a kind, in the order of OrderBy.
func canNarrow(k column.Kind) bool {
	switch k {
	case column.Decimal64, column.Decimal128, column.Decimal256, column.Float16:
		return false
	}
	return hasOrder(k) && k != column.Inet
}

// A bound is the last row that a sort with a limit keeps, so far and among all goroutines.
type bound struct {
	narrow narrower
	mu     sync.Mutex
	key    []byte // of the first column; nil means none
}

// lower narrows the scan to rows that are not after row i of a batch by a key.
func (d *bound) lower(k sortKey, b *column.Batch, i int) error {
	c, err := keyColumnOf(k, b)
	if err != nil {
		return err
	}
	key := c.append(nil, i)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.key != nil && bytes.Compare(key, d.key) >= 0 {
		return nil
	}
	d.key = key
	f, ok := k.upTo(c.c.Value(i))
	if !ok {
		return nil
	}
	return d.narrow(f)
}

// upTo returns the filter of values that are not after v, which is nil for NULL; false if these are all values.
func (k sortKey) upTo(v any) (f parquetscan.Filter, ok bool) {
	switch {
	case v == nil && k.nullsFirst:
		return parquetscan.IsNull(k.name), true
	case v == nil:
		return f, false
	case k.desc:
		f = parquetscan.Ge(k.name, v)
	default:
		f = parquetscan.Le(k.name, v)
	}
	if k.nullsFirst {
		f = parquetscan.Or(f, parquetscan.IsNull(k.name))
	}
	return f, true
}

// mostAny is the number of groups up to which rows of all others are left out.
const mostAny = 1000

// anyOf returns the number of groups if the operations after the groups keep any few of them, otherwise 0.
func (op *groupOp) anyOf(after []operation) int {
	for _, next := range after {
		switch next := next.(type) {
		case *computeOp, *selectOp:
			continue
		case *windowOp:
			if next.limit <= 0 || next.limit > mostAny-next.offset {
				return 0
			}
			for _, name := range op.keys {
				if !hasOrder(op.input[op.input.Index(name)].Type.Kind) {
					return 0
				}
			}
			if len(op.keys) > 0 {
				return int(next.offset + next.limit)
			}
		}
		return 0
	}
	return 0
}

// A groupPicker leaves out rows, except those of the first groups that it sees. All rows of these groups are kept.
type groupPicker struct {
	*groupOp
	most int
	full atomic.Bool // the groups are complete and immutable

	mu     sync.Mutex          // held to read and write, until full
	groups map[string]struct{} // by their keys as sort keys
	values map[string][]any    // of the columns of op.narrows; nil is NULL
}

func newGroupPicker(op *groupOp, most int) *groupPicker {
	return &groupPicker{groupOp: op, most: most, groups: map[string]struct{}{}, values: map[string][]any{}}
}

// A pickState is the memory of a groupPicker in one goroutine.
type pickState struct {
	columns []keyColumn
	rows    []int32
	key     []byte
}

// pick returns the rows of a part that are in the groups.
func (g *groupPicker) pick(s *pickState, p part) (part, error) {
	s.columns = s.columns[:0]
	for _, name := range g.keys {
		c, err := keyColumnOf(sortKey{name: name}, p.b)
		if err != nil {
			return p, err
		}
		s.columns = append(s.columns, c)
	}
	if s.rows == nil {
		s.rows = make([]int32, 0, p.b.Rows) // never nil, which means all rows
	}
	s.rows = s.rows[:0]
	if !g.full.Load() {
		g.mu.Lock()
		defer g.mu.Unlock()
	}
	for i := range p.count() {
		row := i
		if p.rows != nil {
			row = int(p.rows[i])
		}
		s.key = s.key[:0]
		for k := range s.columns {
			s.key = s.columns[k].append(s.key, row)
		}
		_, ok := g.groups[string(s.key)]
		if !ok && len(g.groups) < g.most {
			ok = true
			if err := g.add(s, row); err != nil {
				return p, err
			}
		}
		if ok {
			s.rows = append(s.rows, int32(row))
		}
	}
	return part{p.b, s.rows}, nil
}

// add adds the group of a row. The last group narrows the scan.
func (g *groupPicker) add(s *pickState, row int) error {
	g.groups[string(s.key)] = struct{}{}
	for k := range s.columns {
		if name := s.columns[k].name; slices.Contains(g.narrows, name) {
			g.values[name] = append(g.values[name], s.columns[k].c.Value(row))
		}
	}
	if len(g.groups) < g.most {
		return nil
	}
	g.full.Store(true)
	if len(g.narrows) == 0 {
		return nil
	}
	var all []parquetscan.Filter
	for _, name := range g.narrows {
		f := parquetscan.In(name, slices.DeleteFunc(slices.Clone(g.values[name]), func(v any) bool { return v == nil })...)
		if slices.Contains(g.values[name], nil) {
			f = parquetscan.Or(f, parquetscan.IsNull(name))
		}
		all = append(all, f)
	}
	return g.narrow(parquetscan.And(all...))
}
