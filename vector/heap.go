// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// The nearest rows found so far: a heap whose root is the farthest one.

// A key is a distance as an integer of the same order: NaN is the greatest, and -0 equals 0.
type key uint32

// none is the key of NaN, and the bound of a query that has fewer than k rows.
const none key = math.MaxUint32

func keyOf(distance float32) key {
	if distance != distance {
		return none
	}
	bits := math.Float32bits(distance + 0) // -0 + 0 is 0
	if bits>>31 != 0 {
		return key(^bits)
	}
	return key(bits | 1<<31)
}

// distance is the inverse of keyOf.
func (k key) distance() float32 {
	switch {
	case k == none:
		return float32(math.NaN())
	case k>>31 != 0:
		return math.Float32frombits(uint32(k) &^ (1 << 31))
	}
	return math.Float32frombits(^uint32(k))
}

// A neighbor is a row at a distance.
type neighbor struct {
	key      key
	position int64
}

// compare orders by distance, then by position.
func (a neighbor) compare(b neighbor) int {
	switch {
	case a.key < b.key || a.key == b.key && a.position < b.position:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// A heap is a binary heap of neighbors, the last of the order first.
type heap []neighbor

// push adds a neighbor, of k at most. It reports whether there are k now and they changed.
func (h *heap) push(n neighbor, k int) bool {
	if s := *h; len(s) == k {
		if n.compare(s[0]) > 0 {
			return false
		}
		s[0] = n
		s.down()
		return true
	}
	*h = append(*h, n)
	h.up()
	return len(*h) == k
}

// up moves the last neighbor to its place.
func (h heap) up() {
	i := len(h) - 1
	for n := h[i]; i > 0; {
		parent := (i - 1) / 2
		if n.compare(h[parent]) < 0 {
			return
		}
		h[i], h[parent] = h[parent], n
		i = parent
	}
}

// down moves the first neighbor to its place.
func (h heap) down() {
	n, i := h[0], 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if child+1 < len(h) && h[child+1].compare(h[child]) > 0 {
			child++
		}
		if n.compare(h[child]) >= 0 {
			break
		}
		h[i], i = h[child], child
	}
	h[i] = n
}
