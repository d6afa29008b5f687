// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// Workers: the search of blocks of rows by one goroutine.

// directQueries is the number of queries up to which a row is multiplied with each before the next row. The panel of a
// tile costs as much with 1 query as with 16, and a direct sum has its final distance.
const directQueries = 5

// A part is the rows of one call of Add.
type part struct {
	Matrix
	first     int64
	selection []int32
	n         int          // rows, or the length of the selection
	integers  bool         // sums of Int8 are computed in integers
	block     int          // rows that a worker searches at a time
	chunk     int          // rows that a worker takes at a time
	taken     atomic.Int64 // chunks
	done      <-chan struct{}
	left      atomic.Bool // a worker has left rows, because done is closed
	near      *near       // nil means that Add has no use for them
}

// take returns the first row of the next chunk.
func (p *part) take() int { return int(p.taken.Add(1)-1) * p.chunk }

// ended reports whether the context has ended.
func (p *part) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// A worker searches for one goroutine. Its memory is used again for each block.
type worker struct {
	*Accumulator
	heaps  []heap // one for each query
	limits []limits
	sums   sums
	tile   tile

	rows    []int     // of the block
	wide    []float32 // a segment of the rows as native floats, if their format or place requires it
	scores  []float32 // of a tile, or of all tiles and panels of the block
	row     []float32 // one row
	values  []float32 // a sum for each row, or one for each query of each row
	squares []float32 // the sum of squares of each row
	lengths []float32
	params  []params

	noting   bool       // the part has near
	near     []Neighbor // of the part
	measures []measures // of each row, if sums are integers

	survivors int // rows that passed a limit of a tile or a floor, which tests bound
}

// blockBytes is the size of a block of rows. The rows, the next block and a panel are in the second-level cache.
const blockBytes = 96 << 10

// maxBlock is the greatest number of rows in a block.
const maxBlock = 32 * maxRows

// setBlock sets the number of rows in a block of floats, and of elements in a segment. Tiles need a multiple of the
// rows of all kernels' tiles.
func (a *Accumulator) setBlock() {
	a.segment = a.dim
	if a.panels == nil {
		a.block = min(max(blockBytes/4/a.dim, 1), maxBlock)
		return
	}
	if a.dim > longRow {
		a.segment = segmentLength
	}
	a.block = min(max(blockBytes/4/a.segment/maxRows*maxRows, maxRows), maxBlock)
}

func newWorker(a *Accumulator) *worker {
	w := &worker{
		Accumulator: a, heaps: make([]heap, len(a.queries)), rows: make([]int, 0, maxBlock), row: make([]float32, a.dim),
		values: make([]float32, maxBlock*a.sumsOfRow()), squares: make([]float32, maxBlock),
		lengths: make([]float32, maxBlock), params: make([]params, maxBlock),
	}
	w.sums.dim = uintptr(a.dim)
	if count := len(a.panels) / (lanes * a.dim); count > 0 {
		w.limits, w.wide = make([]limits, count), make([]float32, a.block*a.segment)
		w.scores = make([]float32, maxRows*lanes)
		if a.segment < a.dim {
			w.scores = make([]float32, count*a.block*lanes)
		}
	}
	return w
}

// search searches rows from to to, or those elements of the selection. It reports false if it leaves rows because the
// context has ended.
func (w *worker) search(p *part, from, to int) bool {
	for from < to {
		if p.ended() {
			p.left.Store(true)
			return false
		}
		from = w.fill(p, from, to)
		switch {
		case len(w.rows) == 0:
		case w.metric == Hamming:
			w.hamming(p)
		case p.integers:
			w.integers(p)
		case w.panels != nil:
			w.tiles(p)
		default:
			w.direct(p)
		}
	}
	return true
}

// fill sets the rows of the block and returns the first one that it did not look at.
func (w *worker) fill(p *part, from, to int) int {
	w.rows = w.rows[:0]
	if p.selection == nil && p.Validity == nil {
		to = min(to, from+p.block)
		w.rows = w.rows[:to-from]
		for i := range w.rows {
			w.rows[i] = from + i
		}
		return to
	}
	for ; from < to && len(w.rows) < p.block; from++ {
		row := from
		if p.selection != nil {
			row = int(p.selection[from])
		}
		if p.Validity == nil || p.Validity[row>>3]>>(row&7)&1 != 0 {
			w.rows = append(w.rows, row)
		}
	}
	return from
}

// consecutive reports whether the rows of the block follow each other.
func (w *worker) consecutive() bool { return w.rows[len(w.rows)-1]-w.rows[0] == len(w.rows)-1 }

// each calls f for the runs of consecutive rows among rows i to end of the block: rows i to j.
func (w *worker) each(i, end int, f func(i, j int)) {
	for i < end {
		j := end
		if w.rows[j-1]-w.rows[i] != j-1-i {
			for j = i + 1; w.rows[j] == w.rows[j-1]+1; j++ {
			}
		}
		f(i, j)
		i = j
	}
}

// widen converts elements of row i of the block, from an element on, to native floats in dst.
func (w *worker) widen(p *part, i, from int, dst []float32) {
	row := w.rows[i]
	src := (*byte)(unsafe.Add(unsafe.Pointer(p.row(row)), p.Format.Size(from)))
	w.kernel.widen[p.Format](&dst[0], src, uintptr(len(dst)), *p.scale(row))
}

// compute stores the sum of each row of the block, from row i to row end, with a query in dst.
func (w *worker) compute(p *part, o op, i, end int, dst []float32, q *query) {
	s := &w.sums
	s.query = bytesOf(q.vector)
	run := w.kernel.sums[p.Format][o]
	if run == nil {
		run = w.kernel.sums[Float32][o]
		s.rows = 1
		for ; i < end; i++ {
			w.widen(p, i, 0, w.row)
			s.src, s.dst = bytesOf(w.row), &dst[i]
			run(s)
		}
		return
	}
	s.stride = uintptr(p.stride())
	w.each(i, end, func(i, j int) {
		s.src, s.scales, s.dst, s.rows = p.row(w.rows[i]), p.scale(w.rows[i]), &dst[i], uintptr(j-i)
		run(s)
	})
}

// sumsOfRow returns the number of sums that are computed of a row at once: one for each query, and for the missing one
// of the last pair.
func (a *Accumulator) sumsOfRow() int {
	switch {
	case a.panels != nil:
		return 1
	case a.metric == Cosine:
		return len(a.queries) | 1
	}
	return (len(a.queries) + 1) &^ 1
}

// direct computes the distance of each row from each query. A sum that overflowed may stand for a near row.
func (w *worker) direct(p *part) {
	run := w.kernel.together[p.Format][w.together()]
	if run == nil || len(w.queries) == 1 && w.metric != Cosine {
		w.alternately(p)
		return
	}
	step := w.sumsOfRow()
	s := &w.sums
	s.query, s.pairs, s.stride = bytesOf(w.queries[0].vector), uintptr(step/2), uintptr(p.stride())
	w.each(0, len(w.rows), func(i, j int) {
		s.src, s.scales, s.rows = p.row(w.rows[i]), p.scale(w.rows[i]), uintptr(j-i)
		s.dst, s.squares = &w.values[i*step], &w.squares[i]
		run(s)
	})
	w.measureRows()
	for q := range w.queries {
		w.choose(p, q, w.values[q:], step)
	}
}

// together returns the kernel's sums for the metric.
func (w *worker) together() together {
	switch {
	case w.metric == Cosine:
		return togetherSquares
	case w.metric.op() == opL2:
		return togetherL2
	}
	return togetherDot
}

// alternately computes the sums of all rows of the block with one query after the other.
func (w *worker) alternately(p *part) {
	if w.metric == Cosine {
		w.compute(p, opSquares, 0, len(w.rows), w.squares, &w.queries[0])
	}
	w.measureRows()
	for q := range w.queries {
		w.compute(p, w.metric.op(), 0, len(w.rows), w.values, &w.queries[q])
		w.choose(p, q, w.values, 1)
	}
}

// measureRows computes the lengths of the rows from their squares, for Cosine.
func (w *worker) measureRows() {
	if w.metric != Cosine {
		return
	}
	for i, s := range w.squares[:len(w.rows)] {
		w.lengths[i] = float32(math.Sqrt(float64(s)))
		if !ordinary(float64(s)) {
			w.lengths[i] = float32(math.NaN())
		}
	}
}

// choose computes the distances of the rows of the block that may be near to query q. The sums are step values apart.
func (w *worker) choose(p *part, q int, values []float32, step int) {
	limit := w.limit(q)
	switch w.metric {
	case Dot:
		for i := range w.rows {
			if v := values[i*step]; !(v < limit) || v < -math.MaxFloat32 {
				limit = w.candidate(p, q, i, v)
			}
		}
	case Cosine:
		for i := range w.rows {
			if v := values[i*step]; !(v < limit*w.lengths[i]) {
				limit = w.candidate(p, q, i, v)
			}
		}
	default:
		for i := range w.rows {
			if v := values[i*step]; !(v > limit) || v > math.MaxFloat32 {
				limit = w.candidate(p, q, i, v)
			}
		}
	}
}

// limit returns the sum beyond which a row is not near to query q: below it, or above it for L2.
func (w *worker) limit(q int) float32 {
	query := &w.queries[q]
	d := key(query.bound.Load()).distance()
	switch {
	case d != d && w.metric.op() == opL2:
		return infinity
	case d != d || w.metric == Cosine && !ordinary(query.squares):
		return -infinity
	case w.metric == Dot:
		return -d
	case w.metric == Cosine:
		return float32((1 - float64(d) - slack(w.dim)) * math.Sqrt(query.squares))
	case w.metric == L2:
		return float32(squared(d))
	}
	return d
}

// candidate scores row i of the block by its sum, pushes it if it is near enough, and returns the new limit.
func (w *worker) candidate(p *part, q, i int, sum float32) float32 {
	w.push(q, w.distance(p, q, i, sum), p.first+int64(w.rows[i]))
	return w.limit(q)
}

// distance returns the distance of row i of the block from its sum.
func (w *worker) distance(p *part, q, i int, sum float32) float32 {
	query := &w.queries[q]
	d, ok := finish(w.metric, sum, float64(w.squares[i]), query.squares)
	if ok {
		return d
	}
	w.widen(p, i, 0, w.row)
	if w.metric == Cosine && isZero(w.row) {
		return float32(math.NaN())
	}
	return float32(Reference(w.metric, query.vector, w.row))
}

func isZero(v []float32) bool {
	for _, f := range v {
		if f != 0 {
			return false
		}
	}
	return true
}

// push adds a row to the nearest of query q, and lowers the bound of all workers.
func (w *worker) push(q int, distance float32, position int64) {
	n := neighbor{keyOf(distance), position}
	bound := &w.queries[q].bound
	if n.key > key(bound.Load()) {
		return
	}
	w.note(q, n)
	if !w.heaps[q].push(n, w.k) {
		return
	}
	for root := uint32(w.heaps[q][0].key); ; {
		old := bound.Load()
		if root >= old || bound.CompareAndSwap(old, root) {
			return
		}
	}
}
