// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
)

// Results with a limit. An emitter keeps the best groups so far instead of all: it orders its pieces when they have
// several times the limit, and drops the groups beyond it. Later groups that are worse than the last one kept are left
// out before their keys are copied.

// errEnough stops the merging: the result has Limit groups, and their order does not matter.
var errEnough = errors.New("groupby: enough groups")

// enough returns errEnough if any groups satisfy the limit, and the pieces have as many.
func (e *emitter) enough() error {
	if e.plan.Limit > 0 && e.plan.Order.by == byNothing && e.rows() >= e.plan.Limit {
		return errEnough
	}
	return nil
}

// rows returns the number of groups in the pieces.
func (e *emitter) rows() int {
	n := 0
	for _, p := range e.pieces {
		n += p.rows
	}
	return n
}

// appendLimited appends groups [i, j) with their aggregates, except those that cannot be part of the result.
func (e *emitter) appendLimited(m *merger, values []column.Column, i, j int) error {
	var ids []uint32
	if e.bound != nil {
		ids = e.better(m, values, i, j)
	} else if ids = e.foremost(m, values, i, j); ids == nil {
		if err := e.append(m, values, i, i, j); err != nil {
			return err
		}
		return e.prune()
	}
	for _, id := range ids {
		if err := e.append(m, values, i, int(id), int(id)+1); err != nil {
			return err
		}
	}
	return e.prune()
}

// foremost returns the groups of [i, j) that can be among the first ones by an aggregate or the numbers of rows that
// comes first in the order. It returns nil if these may be all groups, or most of them.
func (e *emitter) foremost(m *merger, values []column.Column, i, j int) []uint32 {
	limit := e.plan.Limit
	if limit == 0 || j-i < e.plan.prune || (j-i)/4 < limit {
		return nil
	}
	key, ok := e.firstKey(values, e.numbersOf(m, i, j))
	if !ok {
		return nil
	}
	words := key.words()
	if words == nil {
		return nil
	}
	last := uint64(math.MaxUint64)      // of the first ones so far
	first := make([]uint64, 0, 4*limit) // the words of them, and of others
	for k, w := range words {
		if w >= last || key.col.Null(k) {
			continue
		}
		if first = append(first, w); len(first) == cap(first) {
			slices.Sort(first)
			first = first[:limit]
			last = first[limit-1]
		}
	}
	if len(first) < limit {
		return nil // others are NULL
	}
	slices.Sort(first)
	last = first[limit-1]
	var ids []uint32
	for k, w := range words {
		if w <= last && !key.col.Null(k) {
			ids = append(ids, uint32(i+k))
		}
	}
	if len(ids) > (j-i)/4 {
		return nil
	}
	return ids
}

// numbersOf returns the numbers of the first rows of groups [i, j), if these order the groups.
func (e *emitter) numbersOf(m *merger, i, j int) []int64 {
	if e.plan.Order.by != byAppearance {
		return nil
	}
	return m.numbers[i:j]
}

// firstKey returns the most significant column of the order if it is an aggregate or the numbers of rows.
func (e *emitter) firstKey(values []column.Column, numbers []int64) (sortKey, bool) {
	switch at := e.plan.orderBy - len(e.plan.Keys); {
	case e.plan.Order.by == byAppearance:
		c := of(numbers)
		return sortKey{col: &c}, true
	case e.plan.Order.by == byColumn && at >= 0:
		return sortKey{&values[at], e.plan.Order.desc}, true
	}
	return sortKey{}, false
}

// better returns the groups of [i, j) that do not come after the bound.
func (e *emitter) better(m *merger, values []column.Column, i, j int) (ids []uint32) {
	b := e.bound
	first := b.firstWords(&m.t.keyRows)
	if !b.leads {
		for id := uint32(i); id < uint32(j); id++ {
			if b.within(first, &m.t.keyRows, id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	key, _ := e.firstKey(values, e.numbersOf(m, i, j))
	for k, w := range key.words() {
		if id := uint32(i + k); w <= b.word && !key.col.Null(k) && (w < b.word || b.within(first, &m.t.keyRows, id)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// prune orders the pieces and drops the groups beyond the limit, if there are several times as many.
func (e *emitter) prune() error {
	n := e.rows()
	if e.plan.Limit == 0 || e.plan.Order.by == byNothing || n < e.plan.prune || n/4 < e.plan.Limit {
		return nil
	}
	p, err := e.ordered(n)
	if err != nil {
		return err
	}
	e.pieces, e.bound = []*piece{p}, e.newBound(p)
	return nil
}
