// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math/bits"
	"unsafe"
)

// Tiles: many queries at a time. A tile's sums select the rows whose distances are then computed directly.

// Rows of more than longRow elements are multiplied in segments of segmentLength elements: a block of rows and the part
// of a panel for a whole row of 4096 elements, or more, do not fit in a second-level cache of 512 KiB. With a segment
// 48 rows take 96 KiB and a panel 32 KiB. The length is not a power of 2, so that copied rows do not share cache sets.
const (
	longRow       = 2048
	segmentLength = 504
)

// A segment is the elements from to to of the rows of the block.
type segment struct {
	from, to int
	src      *byte   // of the first row, as native floats
	stride   uintptr // bytes from one row to the next
}

// tiles multiplies the rows of the block with all panels. Sums continue from one segment to the next. The last one
// compares them with the limits.
func (w *worker) tiles(p *part) {
	for from := 0; from < w.dim; from += w.segment {
		s := w.native(p, from, min(from+w.segment, w.dim))
		w.square(&s)
		last := s.to == w.dim
		if last {
			w.prepareRows()
		}
		for panel := range w.limits {
			if last {
				w.prepareLimits(panel)
			}
			for r := 0; r < len(w.rows); r += w.kernel.rows {
				w.multiply(p, &s, panel, r)
			}
		}
	}
}

// native returns a segment as native floats, which are little-endian on machines with tiles. Rows of another format,
// rows that are not consecutive, and segments of rows that share cache sets are copied.
func (w *worker) native(p *part, from, to int) segment {
	plain := p.Format == Float32 || p.Format == Float32Little
	if plain && w.consecutive() && (w.segment == w.dim || p.stride()%4096 != 0) {
		return segment{from, to, (*byte)(unsafe.Add(unsafe.Pointer(p.row(w.rows[0])), 4*from)), uintptr(p.stride())}
	}
	w.copyRows(p, 0, len(w.rows), from, to)
	return segment{from, to, w.floats(), uintptr(4 * (to - from))}
}

// copyRows converts elements from to to of rows i to j of the block.
func (w *worker) copyRows(p *part, i, j, from, to int) {
	n := to - from
	for at := range j - i {
		w.widen(p, i+at, from, w.wide[at*n:(at+1)*n])
	}
}

// floats returns the address of the copied rows.
func (w *worker) floats() *byte { return bytesOf(w.wide) }

// square adds the squares of a segment to w.squares. Their rounding is within the slack of the limits; a distance of
// Cosine needs the sum of the whole row.
func (w *worker) square(g *segment) {
	dst := w.squares
	if g.from > 0 {
		dst = w.values
	}
	s := &w.sums
	s.src, s.stride, s.rows, s.dst, s.dim = g.src, g.stride, uintptr(len(w.rows)), &dst[0], uintptr(g.to-g.from)
	w.kernel.sums[Float32][opSquares](s)
	s.dim = uintptr(w.dim)
	if g.from > 0 {
		for i, v := range w.values[:len(w.rows)] {
			w.squares[i] += v
		}
	}
}

// multiply multiplies one tile of rows, from row r of the block on, with a panel. A tile that exceeds the block has
// rows of any value at its end.
func (w *worker) multiply(p *part, g *segment, panel, r int) {
	t := &w.tile
	t.src, t.stride = (*byte)(unsafe.Add(unsafe.Pointer(g.src), uintptr(r)*g.stride)), g.stride
	if rest := len(w.rows) - r; rest < w.kernel.rows && g.src != w.floats() {
		w.copyRows(p, r, r+rest, g.from, g.to)
		t.src, t.stride = w.floats(), uintptr(4*(g.to-g.from))
	}
	t.to = w.scoresOf(panel, r)
	t.from = t.to
	if g.from == 0 {
		t.from = &noScores[0]
	}
	t.limits = nil
	if g.to < w.dim {
		w.run(p, g, panel, r)
		return
	}
	t.params = &w.params[r]
	t.limits = &w.limits[panel]
	w.run(p, g, panel, r)
	if t.any != 0 {
		w.collect(p, panel, r)
	}
}

// scoresOf returns the memory of the scores of a tile. Only the scores of segments are kept.
func (w *worker) scoresOf(panel, r int) *float32 {
	at := 0
	if w.segment < w.dim {
		at = (panel*w.block + r) * lanes
	}
	return &w.scores[at : at+w.kernel.rows*lanes][0]
}

// run calls the kernel. The first panel prefetches the memory that follows the block, which has as many bytes as the
// block, or the next segment.
func (w *worker) run(p *part, g *segment, panel, r int) {
	t := &w.tile
	t.panel, t.dim = &w.panels[(panel*w.dim+g.from)*lanes], uintptr(g.to-g.from)
	switch {
	case panel > 0:
		t.next = uintptr(unsafe.Pointer(t.panel))
	case w.segment < w.dim:
		w.runSegment(p, g, r)
		return
	default:
		t.next = uintptr(unsafe.Pointer(p.row(w.rows[0]))) + uintptr((len(w.rows)+r)*p.stride())
	}
	w.kernel.tile(t)
}

// runSegment calls the kernel for one step of the elements after the other. A step has as many bytes as a row of the
// segment, and prefetches one: the next segments of the rows are apart from each other.
func (w *worker) runSegment(p *part, g *segment, r int) {
	t := &w.tile
	n, src, last := g.to-g.from, t.src, t.limits
	ahead := p.Format.Size(g.to)
	if g.to == w.dim {
		ahead = len(w.rows) * p.stride() // the first segment of the next block
	}
	step := (n/w.kernel.rows + 8) &^ 7
	t.limits = nil
	for at := 0; at < n; at += step {
		if at+step >= n {
			t.limits = last
		}
		t.src = (*byte)(unsafe.Add(unsafe.Pointer(src), 4*at))
		t.panel, t.dim = &w.panels[(g.from+at)*lanes], uintptr(min(step, n-at))
		t.next = uintptr(unsafe.Pointer(p.row(w.rows[min(r+at/step, len(w.rows)-1)]))) + uintptr(ahead)
		w.kernel.tile(t)
		t.from = t.to
	}
}

// collect computes the distances of the rows that a tile did not drop.
func (w *worker) collect(p *part, panel, r int) {
	queries := min(lanes, len(w.queries)-panel*lanes)
	for i := range min(w.kernel.rows, len(w.rows)-r) {
		for mask := w.tile.masks[i] & (1<<queries - 1); mask != 0; mask &= mask - 1 {
			w.survivor(p, panel, bits.TrailingZeros16(mask), r+i)
		}
	}
}

// survivor computes the distance of row i of the block, and pushes the row if it is near enough.
func (w *worker) survivor(p *part, panel, lane, i int) {
	w.survivors++
	q := panel*lanes + lane
	w.compute(p, w.metric.op(), i, i+1, w.values, &w.queries[q])
	if w.metric == Cosine && w.segment < w.dim {
		w.compute(p, opSquares, i, i+1, w.squares, &w.queries[q])
	}
	w.push(q, w.distance(p, q, i, w.values[i]), p.first+int64(w.rows[i]))
	w.limits[panel].set(w.Accumulator, lane, q)
}

// prepareLimits sets the limits of a panel from the bounds of its queries, which other workers lower.
func (w *worker) prepareLimits(panel int) {
	for lane := range min(lanes, len(w.queries)-panel*lanes) {
		w.limits[panel].set(w.Accumulator, lane, panel*lanes+lane)
	}
}
