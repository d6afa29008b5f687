// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// Limits of the sums of tiles. The inner product of a tile, the squared lengths, and the sum in a distance have
// rounding errors. A limit is lower by all of them, so that a tile drops only rows whose distance is beyond
// the bound.
//
// The sum of n products in any order has an error of at most n u Σ|q x| ≤ n u |q||x|, u = 2^-24, if no sum overflows;
// each product that is denormal adds 2^-150. Two sums enter the limit of an inner product; in the limit of L2 the
// errors of the sums are at most 3 n u (|q|²+|x|²). The factor of slack is 4. The remainder is more than the rounding
// of the limit itself: if a bound is so much greater than the lengths that its rounding exceeds the remainder, no row
// is beyond the bound.

// slack returns the relative error.
func slack(dim int) float64 { return 4 * float64(dim+8) * 0x1p-24 }

// underflow returns the absolute error of denormals.
func underflow(dim int) float64 { return float64(dim) * 0x1p-146 }

// huge is a product of lengths below which no sum overflows.
const huge = 1e37

var infinity = float32(math.Inf(1))

// set sets the limits of query q. The score of a tile is q·x. A row remains if its distance is at most the bound b:
//
//	Dot         q·x ≥ -b
//	Cosine      q·x ≥ (1-b)|q| |x|
//	SquaredL2   q·x ≥ (|q|²-b)/2 + |x|²/2
func (l *limits) set(a *Accumulator, lane, q int) {
	query := &a.queries[q]
	bound := key(query.bound.Load())
	if bound == l.bounds[lane] {
		return
	}
	l.bounds[lane] = bound
	b := float64(bound.distance())
	length := math.Sqrt(query.squares)
	var above, slope float64
	switch {
	case b != b || a.metric == Cosine && !ordinary(query.squares):
		above = math.Inf(-1)
	case a.metric == Dot:
		above, slope = -b, -slack(a.dim)*length
	case a.metric == Cosine:
		above = (1 - b - slack(a.dim)) * length
	default:
		if a.metric == L2 {
			b = squared(float32(b))
		}
		above = (query.squares-b)/2 - slack(a.dim)*query.squares
	}
	l.above[lane], l.slope[lane] = float32(above), float32(slope)
}

// squared returns the square of a distance of L2, and of those that round to the same one.
func squared(d float32) float64 { return float64(d) * float64(d) * (1 + 0x1p-20) }

// prepareRows sets the parameters of the rows of the block from their squared lengths. A row whose sums may
// overflow always remains.
func (w *worker) prepareRows() {
	tiny := underflow(w.dim)
	for i, squares := range w.squares[:len(w.rows)] {
		s := float64(squares)
		p := params{scale: 1, bias: float32(-tiny)}
		var fits bool
		switch w.metric {
		case Dot:
			length := math.Sqrt(s + tiny)
			p.length, fits = float32(length), length*w.longest < huge
		case Cosine:
			p.scale, fits = float32(math.Sqrt(s)), ordinary(s)
		default:
			p.bias, fits = float32(s*(0.5-slack(w.dim))-tiny), s+w.longest*w.longest < huge
		}
		if !fits {
			p.bias = -infinity
		}
		w.params[i] = p
	}
}
