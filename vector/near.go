// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"cmp"
	"context"
	"slices"
)

// The rows of a part that are near: for programs that keep other values of the nearest rows during a scan.

// A Neighbor is a row near to a query.
type Neighbor struct {
	Position int64
	Query    int32 // the number of the query
	Distance float32
}

// AddNear searches the rows of a part as Add does, and appends to dst each pair of a query and a row of the part that
// is not farther than the k-th nearest row of the query so far, by position, then by query. These are all rows of the
// part that Result may return, rows at the same distance as the k-th included, and no row that is known to be farther.
// A program that keeps values of rows, such as the other columns of a batch, keeps them for these rows only: a scan in
// random order has about k ln(n/k) of them for n rows and one query.
//
// Several goroutines may call AddNear and Add. It returns dst as it was, and the errors of Add, if it fails.
func (a *Accumulator) AddNear(
	ctx context.Context, dst []Neighbor, m Matrix, first int64, options Options,
) ([]Neighbor, error) {
	n := near{list: dst}
	if err := a.add(ctx, m, first, options, &n); err != nil {
		return dst, err
	}
	added := n.list[len(dst):]
	kept := added[:0]
	for _, row := range added {
		if a.mayBeNear(row) {
			kept = append(kept, row)
		}
	}
	slices.SortFunc(kept, func(x, y Neighbor) int {
		return cmp.Or(cmp.Compare(x.Position, y.Position), cmp.Compare(x.Query, y.Query))
	})
	return n.list[:len(dst)+len(kept)], nil
}

// mayBeNear reports whether a row is not farther than the k-th nearest of its query.
func (a *Accumulator) mayBeNear(n Neighbor) bool {
	return keyOf(n.Distance) <= key(a.queries[n.Query].bound.Load())
}

// near collects the rows that workers found in a part. It is guarded by Accumulator.mu.
type near struct{ list []Neighbor }

// note stores a row that was not farther than the k-th nearest one.
func (w *worker) note(q int, n neighbor) {
	if w.noting {
		w.near = append(w.near, Neighbor{Position: n.position, Query: int32(q), Distance: n.key.distance()})
	}
}

// collect takes the rows that a worker noted. Callers hold a.mu.
func (n *near) collect(w *worker) {
	if n == nil {
		return
	}
	for _, row := range w.near {
		if w.mayBeNear(row) {
			n.list = append(n.list, row)
		}
	}
	w.near = w.near[:0]
}
