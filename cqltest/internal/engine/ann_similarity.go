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
	var dot, x, y float64
	for i := range len(a) / 4 {
		f, g := element32(a, i), element32(b, i)
		if s == euclidean {
			dot += (f - g) * (f - g)
			continue
		}
		dot, x, y = dot+f*g, x+f*f, y+g*g
	}
	switch s {
	case euclidean:
		return float32(1 / (1 + dot))
	case dotProduct:
		return float32((1 + dot) / 2)
	}
	return float32((1 + dot/math.Sqrt(x*y)) / 2)
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
