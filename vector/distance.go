// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math"
)

// Distances of one pair of vectors, and the rules for sums that are not finite.

// Distance returns the distance of two vectors of the same length, which may be 0. It is computed in float32, with
// several accumulators and fused multiplication, so that the last bits differ between processors. With n elements and
// u = 2^-24 the distance from [Reference] is at most
//
//	SquaredL2   (n+4) u d² + n 2^-149
//	L2          (n+4) u d + √(n 2^-149)
//	Dot         (n+4) u Σ|a b| + n 2^-149
//	Cosine      (2n+8) u
//	Hamming     0, up to 2^24 elements
//
// A NaN, or an infinity that is subtracted from or multiplied by an opposite, gives NaN, as arithmetic does. Finite
// vectors give NaN only for Cosine, if one of them is zero; intermediate sums do not overflow. A *[DimensionError] or
// [ErrMetric] is returned for other arguments.
func Distance(metric Metric, a, b []float32) (float32, error) {
	if len(a) != len(b) {
		return 0, &DimensionError{What: "second vector", Got: len(b), Want: len(a)}
	}
	if !metric.valid() {
		return 0, fmt.Errorf("vector: distance: metric %d: %w", metric, ErrMetric)
	}
	if metric == Hamming || len(a) == 0 {
		return float32(Reference(metric, a, b)), nil
	}
	var aa, bb float32
	sum := sumOf(metric.op(), a, b)
	if metric == Cosine {
		aa, bb = sumOf(opSquares, a, a), sumOf(opSquares, b, b)
	}
	d, ok := finish(metric, sum, float64(aa), float64(bb))
	if !ok {
		d = float32(Reference(metric, a, b))
	}
	return d, nil
}

// sumOf returns the sum of a query and a row. It calls a kernel directly, so that the arguments do not escape.
func sumOf(o op, q, x []float32) float32 {
	var sum float32
	s := sums{dst: &sum, src: bytesOf(x), rows: 1, query: bytesOf(q), dim: uintptr(len(x))}
	direct(o, &s)
	return sum
}

// op returns the sum from which a distance is computed.
func (m Metric) op() op {
	if m == SquaredL2 || m == L2 {
		return opL2
	}
	return opDot
}

// finish returns the distance of a row from the sum of a kernel. It reports false if the sum overflowed or lost its
// precision, or the row has no distance. aa and bb are the squared lengths, of Cosine only.
func finish(metric Metric, sum float32, aa, bb float64) (float32, bool) {
	switch metric {
	case L2:
		return float32(math.Sqrt(float64(sum))), sum-sum == 0
	case Cosine:
		return float32(1 - cosine(float64(sum), aa, bb)), ordinary(aa) && ordinary(bb)
	case Dot:
		sum = -sum
	}
	return sum, sum-sum == 0
}

// ordinary reports whether the sum of squares of float32 is neither close to underflow nor to overflow.
func ordinary(squares float64) bool { return squares > 1e-30 && squares < 1e30 }
