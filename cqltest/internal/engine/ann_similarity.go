// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/binary"
	"math"
	"strings"
)

// Similarities of vectors. A greater value means nearer, as in jvector's VectorSimilarityFunction.

// similarity is a similarity function.
type similarity uint8

const (
	noSimilarity similarity = iota
	cosine
	euclidean
	dotProduct
)

// similarityOf returns the function of a name without regard to case; "" means cosine, and an unknown name none.
func similarityOf(name string) similarity {
	switch strings.ToLower(name) {
	case "", "cosine":
		return cosine
	case "euclidean":
		return euclidean
	case "dot_product":
		return dotProduct
	}
	return noSimilarity
}

// element32 returns element i of a serialized vector of floats.
func element32(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.BigEndian.Uint32(b[4*i:])))
}

// of returns the similarity of two serialized vectors of floats. It is NaN for cosine with a zero vector.
func (s similarity) of(a, b []byte) float32 {
	if s == euclidean {
		return float32(1 / (1 + squaredDistance(a, b)))
	}
	dot, x, y := products(a, b)
	if s == dotProduct {
		return float32((1 + dot) / 2)
	}
	return float32((1 + dot/math.Sqrt(x*y)) / 2)
}

// products returns a·b, a·a and b·b. It has two sums of each, because each addition waits for the one before.
func products(a, b []byte) (dot, x, y float64) {
	var dot1, x1, y1 float64
	for len(a) >= 8 && len(b) >= 8 {
		f, g := element32(a, 0), element32(b, 0)
		f1, g1 := element32(a, 1), element32(b, 1)
		dot, x, y = dot+f*g, x+f*f, y+g*g
		dot1, x1, y1 = dot1+f1*g1, x1+f1*f1, y1+g1*g1
		a, b = a[8:], b[8:]
	}
	if len(a) >= 4 && len(b) >= 4 {
		f, g := element32(a, 0), element32(b, 0)
		dot, x, y = dot+f*g, x+f*f, y+g*g
	}
	return dot + dot1, x + x1, y + y1
}

// squaredDistance returns the sum of the squared differences.
func squaredDistance(a, b []byte) (sum float64) {
	var sum1 float64
	for len(a) >= 8 && len(b) >= 8 {
		d, d1 := element32(a, 0)-element32(b, 0), element32(a, 1)-element32(b, 1)
		sum, sum1 = sum+d*d, sum1+d1*d1
		a, b = a[8:], b[8:]
	}
	if len(a) >= 4 && len(b) >= 4 {
		d := element32(a, 0) - element32(b, 0)
		sum += d * d
	}
	return sum + sum1
}

// isZero reports whether all elements of a serialized vector of floats are zero.
func isZero(b []byte) bool {
	for i := range len(b) / 4 {
		if element32(b, i) != 0 {
			return false
		}
	}
	return true
}

// isFinite reports whether no element of a serialized vector of floats is NaN or infinite.
func isFinite(b []byte) bool {
	for i := range len(b) / 4 {
		if f := element32(b, i); f-f != 0 {
			return false
		}
	}
	return true
}

// isSpecial reports whether a vector has no similarity by some function: not all of its elements are finite, or all are
// zero.
func isSpecial(b []byte) bool { return !isFinite(b) || isZero(b) }
