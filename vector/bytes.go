// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math"
	"unsafe"
)

// Sums of bytes: rows of Int8 and queries that are rounded in the same way, and rows of Bits.

// maxIntegers is the greatest dimension whose sums fit in an int32: an element adds 128*128 at most.
const maxIntegers = 1<<17 - 1

// bytesBlock is the size of a block of rows. All queries find it in the first-level cache of 32 KiB.
const bytesBlock = 24 << 10

// measures are what the distance of a vector of Int8 needs beside the sum of the products.
type measures struct {
	scale   float64
	squares float64 // the squared length
	length  float64
}

func measuresOf(scale float32, squares int32) measures {
	s := float64(scale) * float64(scale) * float64(squares) // rounded once: the product of two float32 is exact
	return measures{float64(scale), s, math.Sqrt(s)}
}

// distanceOf returns the distance of a query and a row from the sum of the products of their elements. The conversion
// of a product keeps compilers from fusing it with an addition, so that all processors compute the same distance.
func (m Metric) distanceOf(sum int32, q, x measures) float32 {
	dot := float64(q.scale * x.scale * float64(sum))
	switch m {
	case Dot:
		return float32(-dot)
	case Cosine:
		return float32(1 - cosineOf(dot, q.length, x.length))
	}
	d := max(q.squares+x.squares-float64(2*dot), 0)
	if m == L2 {
		d = math.Sqrt(d)
	}
	return float32(d)
}

// checkIntegers returns an error if the sums of the rows may exceed an int32.
func checkIntegers(dim int) error {
	if dim > maxIntegers {
		return fmt.Errorf("vector: quantized queries of dimension %d, want 1 to %d: %w", dim, maxIntegers, ErrShape)
	}
	return nil
}

// quantize rounds the queries.
func (a *Accumulator) quantize() {
	for i := range a.queries {
		q := &a.queries[i]
		scale := scaleOf(q.vector)
		q.codes = appendElements(make([]byte, 0, a.dim), Int8, q.vector, scale)
		var squares int32
		for _, c := range q.codes {
			squares += int32(int8(c)) * int32(int8(c))
		}
		q.measures = measuresOf(scale, squares)
	}
}

// A floor is the product of a query and a row below which the row is not near to the query. The coefficients belong to
// the measures of the row.
type floor struct{ length, squares, constant float64 }

// floorOf returns the floor for the bound of a query. It is lower by more than the rounding of distanceOf, which
// decides about the rows that remain.
func (m Metric) floorOf(q *query) floor {
	d := float64(key(q.bound.Load()).distance())
	d += math.Abs(d)*0x1p-22 + 0x1p-148
	switch {
	case d != d:
		return floor{constant: math.Inf(-1)}
	case m == Dot:
		return floor{constant: -d}
	case m == Cosine:
		return floor{length: (1 - d - 0x1p-48) * q.measures.length}
	case m == L2:
		d *= d
	}
	return floor{squares: 0.5 - 0x1p-50, constant: q.measures.squares*(0.5-0x1p-50) - d/2}
}

// integers computes the distance of each row from each query by sums of integers.
func (w *worker) integers(p *part) {
	counts := unsafe.Slice((*int32)(unsafe.Pointer(&w.values[0])), len(w.rows))
	w.measure(p, counts)
	for i := range w.queries {
		q := &w.queries[i]
		w.sumBytes(p, w.kernel.integers, q.codes)
		f := w.metric.floorOf(q)
		for j, sum := range counts {
			x := &w.measures[j]
			if !(q.measures.scale*x.scale*float64(sum) < f.length*x.length+f.squares*x.squares+f.constant) {
				w.survivors++
				w.push(i, w.metric.distanceOf(sum, q.measures, *x), p.first+int64(w.rows[j]))
				f = w.metric.floorOf(q)
			}
		}
	}
}

// measure computes the measures of the rows of the block.
func (w *worker) measure(p *part, counts []int32) {
	if w.measures == nil {
		w.measures = make([]measures, maxBlock)
	}
	if w.metric == Dot {
		clear(counts)
	} else {
		w.sumBytes(p, w.kernel.integerSquares, w.queries[0].codes)
	}
	for i, sum := range counts {
		w.measures[i] = measuresOf(*p.scale(w.rows[i]), sum)
	}
}

// hamming counts the differing bits of each row and each query.
func (w *worker) hamming(p *part) {
	for i := range w.queries {
		q := &w.queries[i]
		w.sumBytes(p, w.kernel.hamming, q.bits)
		limit := key(q.bound.Load()).distance()
		for j, d := range w.values[:len(w.rows)] {
			if !(d > limit) {
				w.push(i, d, p.first+int64(w.rows[j]))
				limit = key(q.bound.Load()).distance()
			}
		}
	}
}

// sumBytes stores a sum of each row of the block and the bytes of a query in w.values.
func (w *worker) sumBytes(p *part, run func(*sums), query []byte) {
	s := &w.sums
	s.query, s.dim, s.stride = &query[0], uintptr(len(query)), uintptr(p.stride())
	w.each(0, len(w.rows), func(i, j int) {
		s.src, s.dst, s.rows = p.row(w.rows[i]), &w.values[i], uintptr(j-i)
		run(s)
	})
}
