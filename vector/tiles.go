// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math/bits"
	"unsafe"
)

// Tiles: many queries at a time. A tile's sums select the rows whose distances are then computed directly.

// tiles multiplies the rows of the block with all panels.
func (w *worker) tiles(p *part) {
	src, stride := w.native(p)
	s := &w.sums
	s.src, s.stride, s.rows, s.dst = src, stride, uintptr(len(w.rows)), &w.squares[0]
	w.kernel.sums[Float32][opSquares](s)
	w.prepareRows()
	next := uintptr(unsafe.Pointer(p.row(w.rows[0]))) + uintptr(len(w.rows)*p.stride())
	for panel := range w.limits {
		w.prepareLimits(panel)
		w.tile.panel = &w.panels[panel*lanes*w.dim]
		w.tile.limits = &w.limits[panel]
		w.tile.stride = stride
		for r := 0; r < len(w.rows); r += w.kernel.rows {
			w.tile.next = next + uintptr(r*p.stride())
			if panel > 0 {
				w.tile.next = uintptr(unsafe.Pointer(w.tile.panel))
			}
			w.multiply(p, panel, r, src)
		}
	}
}

// native returns the first row of the block as native floats, and the bytes from one row to the next. Rows of another
// format, and rows that are not consecutive, are copied.
func (w *worker) native(p *part) (*byte, uintptr) {
	plain := p.Format == Float32 || p.Format == Float32Little && w.kernel.sums[Float32Little][opDot] != nil
	if plain && w.consecutive() {
		return p.row(w.rows[0]), uintptr(p.stride())
	}
	for i := range w.rows {
		w.widen(p, i, w.wide[i*w.dim:(i+1)*w.dim])
	}
	return w.floats(), uintptr(4 * w.dim)
}

// floats returns the address of the widened rows.
func (w *worker) floats() *byte { return (*byte)(unsafe.Pointer(&w.wide[0])) }

// multiply multiplies one tile of rows, from row r of the block on, with a panel. A tile that exceeds the block has
// rows of any value at its end.
func (w *worker) multiply(p *part, panel, r int, src *byte) {
	t := &w.tile
	t.src, t.params = (*byte)(unsafe.Add(unsafe.Pointer(src), uintptr(r)*t.stride)), &w.params[r]
	if rest := len(w.rows) - r; rest < w.kernel.rows && src != w.floats() {
		for i := range rest {
			w.widen(p, r+i, w.wide[i*w.dim:(i+1)*w.dim])
		}
		t.src, t.stride = w.floats(), uintptr(4*w.dim) // the last tile of the panel
	}
	w.kernel.tile(t)
	if t.any == 0 {
		return
	}
	queries := min(lanes, len(w.queries)-panel*lanes)
	for i := range min(w.kernel.rows, len(w.rows)-r) {
		for mask := t.masks[i] & (1<<queries - 1); mask != 0; mask &= mask - 1 {
			lane := bits.TrailingZeros16(mask)
			w.survivor(p, panel, lane, r+i, (*byte)(unsafe.Add(unsafe.Pointer(t.src), uintptr(i)*t.stride)))
		}
	}
}

// survivor computes the distance of row i of the block, whose floats are at src, and pushes the row if it is near
// enough.
func (w *worker) survivor(p *part, panel, lane, i int, src *byte) {
	w.survivors++
	s, q := &w.sums, panel*lanes+lane
	s.src, s.rows, s.query, s.dst = src, 1, &w.queries[q].vector[0], &w.values[0]
	w.kernel.sums[Float32][w.metric.op()](s)
	w.push(q, w.distance(p, q, i, w.values[0]), p.first+int64(w.rows[i]))
	w.limits[panel].set(w.Accumulator, lane, q)
}

// prepareLimits sets the limits of a panel from the bounds of its queries, which other workers lower.
func (w *worker) prepareLimits(panel int) {
	for lane := range min(lanes, len(w.queries)-panel*lanes) {
		w.limits[panel].set(w.Accumulator, lane, panel*lanes+lane)
	}
}
