// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/vecql/vecql/column"
)

// Stages: the data that a Grouper has under one plan. There is one stage, unless the dimension of a vector becomes
// known after rows that are all NULL. The dimension changes the plan, and the groups of the earlier stage move to the
// next when the Grouper ends.

// A stage is a plan with the rows and groups that were added under it.
type stage struct {
	plan    *plan
	store   *store
	workers []*worker // of all goroutines
	own     []*worker // of Grouper.Add
}

// dimless reports whether a type is a vector of unknown dimension.
func dimless(t column.Type) bool { return t.Kind == column.Vector && t.Dim == 0 }

// takes reports whether columns have the types of the plan.
func (p *plan) takes(cols []column.Column) bool {
	for i := range cols {
		if cols[i].Type != p.types[i] {
			return false
		}
	}
	return true
}

// stageFor returns the stage for the columns of a batch, or a *BatchError. Vectors without a dimension get the known
// one.
func (g *Grouper) stageFor(cols []column.Column) (*stage, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	types := make([]column.Type, len(cols))
	for i := range cols {
		types[i] = cols[i].Type
	}
	s, err := g.stageOf(types)
	if err != nil {
		return nil, err
	}
	for i := range cols {
		c := &cols[i]
		if c.Type == s.plan.types[i] {
			continue
		}
		if c.Nulls != c.Len {
			return nil, &BatchError{
				g.names[i],
				fmt.Errorf("%d rows of %v, a vector without a dimension, are not NULL", c.Len-c.Nulls, c.Type),
			}
		}
		c.Type, c.Values = s.plan.types[i], nil // see isZeros
	}
	return s, nil
}

// stageOf returns the stage for these types and completes their dimensions: the last stage, or a new one if there is
// none or a dimension was unknown before. The caller holds g.mu.
func (g *Grouper) stageOf(types []column.Type) (*stage, error) {
	if last := len(g.stages) - 1; last >= 0 {
		known := g.stages[last].plan.types
		for i, t := range types {
			whole := known[i]
			if dimless(whole) {
				whole.Dim = t.Dim
			}
			if t != whole && !(dimless(t) && t.Elem == whole.Elem) {
				return nil, &BatchError{g.names[i], fmt.Errorf("its type is %v, in earlier batches it is %v", t, known[i])}
			}
			types[i] = whole
		}
		if slices.Equal(types, known) {
			return g.stages[last], nil
		}
	}
	p, err := newPlan(g.config, g.limits, types)
	if err != nil {
		return nil, err
	}
	s := &stage{plan: p, store: newStore(p)}
	g.stages = append(g.stages, s)
	return s, nil
}

// moveTo moves all groups to a stage whose plan has more dimensions.
func (s *stage) moveTo(next *stage) error {
	defer s.store.spill.close()
	if len(s.plan.stateTypes) != len(next.plan.stateTypes) {
		return fmt.Errorf("accumulators have %d columns of states, but %d while dimensions of vectors are unknown",
			len(next.plan.stateTypes), len(s.plan.stateTypes))
	}
	w := newWorker(next)
	next.workers = append(next.workers, w)
	var out [partitions]*block
	err := s.eachFrame(func(cols []column.Column, n int) error {
		for i, t := range next.plan.stateTypes {
			c := &cols[len(s.plan.Keys)+i]
			if c.Type == t {
				continue
			}
			if c.Type.Kind != column.Vector || t.Kind != column.Vector {
				return fmt.Errorf("an accumulator has a state of %v, but %v while dimensions of vectors are unknown", t, c.Type)
			}
			c.Type, c.Values = t, nil
		}
		return w.addGroups(cols, n, &out)
	})
	if err != nil {
		return err
	}
	return w.put(&out)
}

// eachFrame ends the workers, and calls f with all groups, some of a partition at a time, as the columns of a frame.
func (s *stage) eachFrame(f func(cols []column.Column, n int) error) error {
	if err := parallel(len(s.workers), func(k int) error { return s.workers[k].finish() }); err != nil {
		return err
	}
	m := newMerger(s.plan)
	for p := range s.store.parts {
		err := s.store.take(p, m, func(m *merger) error {
			for i, n := 1, m.groups(); i < n; {
				j := min(i+frameRows, n)
				states, err := m.states(i, j)
				if err != nil {
					return err
				}
				if err := f(s.plan.frameColumns(&m.t.keyRows, states, m.numbers, i, j), j-i); err != nil {
					return err
				}
				i = j
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// mergeAll merges the data of all workers into groups. Each goroutine calls emit once and passes its groups to the
// function that emit returned.
func (s *stage) mergeAll(ctx context.Context, emit func() func(*merger) error) error {
	if m, err := s.mergeLocal(); m != nil || err != nil {
		if err != nil {
			return err
		}
		return emit()(m)
	}
	if err := parallel(len(s.workers), func(k int) error { return s.workers[k].finish() }); err != nil {
		return err
	}
	n := s.plan.Workers
	var mergers []*merger
	for _, w := range s.workers {
		mergers = append(mergers, w.merger())
	}
	for len(mergers) < n {
		mergers = append(mergers, newMerger(s.plan))
	}
	var next atomic.Int64
	return parallel(n, func(k int) error {
		to := emit()
		for {
			p := int(next.Add(1) - 1)
			if p >= partitions {
				return nil
			}
			err := ctx.Err()
			if err == nil {
				err = s.store.take(p, mergers[k], to)
			}
			if err != nil {
				next.Store(partitions) // stops the others
				return fmt.Errorf("groupby: finish: %w", err)
			}
		}
	})
}

// mergeLocal merges the tables of workers into one and returns it. It returns nil if the tables are large or the
// partitions have blocks.
func (s *stage) mergeLocal() (*merger, error) {
	groups := 0
	var m *merger // the largest
	for _, w := range s.workers {
		if w.mode == modeNew {
			continue
		}
		if w.mode != modeTable {
			return nil, nil
		}
		groups += w.local.groups() - 1
		if m == nil || w.local.groups() > m.groups() {
			m = w.local
		}
	}
	if m == nil {
		return newMerger(s.plan), nil
	}
	if groups -= m.groups() - 1; groups > s.plan.merge || s.store.used.Load() {
		return nil, nil
	}
	tables := []*merger{m}
	for _, w := range s.workers {
		if w.mode != modeNew && w.local != m {
			tables = append(tables, w.local)
		}
	}
	m.share(s.plan.Workers) // the only one that works now
	return m, mergeTables(tables, groups)
}

// fewGroups is the number of groups that one goroutine merges in the time of a round of goroutines.
const fewGroups = 1 << 10

// mergeTables merges tables into the first one; groups is the number of groups of the others. Pairs of tables are
// merged at once, then pairs of the rest, so that the time grows with the logarithm of the number of tables.
func mergeTables(tables []*merger, groups int) error {
	if groups <= fewGroups {
		for _, other := range tables[1:] {
			if err := tables[0].mergeTable(other, false); err != nil {
				return err
			}
		}
		return nil
	}
	for n := len(tables); n > 1; {
		half := (n + 1) / 2
		if err := parallel(n-half, func(k int) error { return tables[k].mergeTable(tables[half+k], n == 2) }); err != nil {
			return err
		}
		n = half
	}
	return nil
}
