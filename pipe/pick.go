// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/pipe/internal/order"
)

// Any few groups: rows of all other groups are left out.

// A groupPicker leaves out rows, except the rows of the first groups that it sees. All rows of these groups are kept.
type groupPicker struct {
	keys    []string
	narrows []string // of keys, those that narrow source
	source  narrower // nil if narrows is empty
	most    int
	full    atomic.Bool // the groups are complete and immutable

	mu     sync.Mutex          // held to read and write, until full
	groups map[string]struct{} // by their keys as sort keys
	values map[string][]any    // of the columns of narrows; nil is NULL
}

// A pickState is the memory of a groupPicker in one goroutine.
type pickState struct {
	columns []order.Column
	rows    []int32
	key     []byte
}

// pick returns the rows of a part that are in the groups.
func (g *groupPicker) pick(s *pickState, p part) (part, error) {
	s.columns = s.columns[:0]
	for _, name := range g.keys {
		c, err := order.ColumnOf(order.Key{Name: name}, p.b)
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
			s.key = s.columns[k].Append(s.key, row)
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
	return part{b: p.b, rows: s.rows}, nil
}

// add adds the group of a row. The last group narrows the scan.
func (g *groupPicker) add(s *pickState, row int) error {
	g.groups[string(s.key)] = struct{}{}
	for k := range s.columns {
		if name := s.columns[k].Name; slices.Contains(g.narrows, name) {
			g.values[name] = append(g.values[name], s.columns[k].Value(row))
		}
	}
	if len(g.groups) < g.most {
		return nil
	}
	g.full.Store(true)
	if len(g.narrows) == 0 {
		return nil
	}
	var all [][]expr.Bound
	for _, name := range g.narrows {
		values := slices.DeleteFunc(slices.Clone(g.values[name]), func(v any) bool { return v == nil })
		bounds := []expr.Bound{{Column: name, Op: expr.OpIn, Values: values}}
		if slices.Contains(g.values[name], nil) {
			bounds = append(bounds, expr.Bound{Column: name, Op: expr.OpIsNull})
		}
		all = append(all, bounds)
	}
	return g.source.Narrow(all)
}
