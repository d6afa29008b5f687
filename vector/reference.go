// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// The reference of all kernels.

// Reference returns the distance of two vectors of the same length, computed in float64 one element after the other.
// It is the definition of a distance: [Distance] differs from it by rounding only.
func Reference(metric Metric, a, b []float32) float64 {
	var dot, l2, aa, bb, bits float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		dot += x * y
		l2 += (x - y) * (x - y)
		aa += x * x
		bb += y * y
		if (x > 0) != (y > 0) {
			bits++
		}
	}
	switch metric {
	case SquaredL2:
		return l2
	case L2:
		return math.Sqrt(l2)
	case Dot:
		return -dot
	case Cosine:
		return 1 - cosine(dot, aa, bb)
	case Hamming:
		return bits
	}
	return math.NaN()
}

// cosine returns the cosine of two vectors from their inner product and squared lengths. Rounding does not exceed the
// range -1 to 1. It is NaN if a vector is zero or not finite: an infinite length divided by itself.
func cosine(dot, aa, bb float64) float64 {
	return cosineOf(dot, math.Sqrt(aa), math.Sqrt(bb))
}

// cosineOf returns the cosine of two vectors from their inner product and lengths.
func cosineOf(dot, a, b float64) float64 {
	c := dot / (a * b)
	switch {
	case math.IsInf(a, 0) || math.IsInf(b, 0):
		return math.NaN()
	case c > 1:
		return 1
	case c < -1:
		return -1
	}
	return c
}
