// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// Metrics: distances between vectors, and the similarity scores of CQL servers.

// A Metric defines the distance of two vectors. A smaller distance is nearer. In the formulas q is the query, x the
// row, q·x their inner product.
type Metric uint8

const (
	// SquaredL2 is the square of the Euclidean distance: the sum of (q-x)².
	SquaredL2 Metric = iota + 1
	// L2 is the Euclidean distance: the square root of SquaredL2.
	L2
	// Dot is the negative inner product, -(q·x), so that the row with the greatest inner product is the nearest.
	Dot
	// Cosine is 1 - q·x/(|q||x|), from 0 to 2. It is NaN if a vector is zero or has no finite length.
	Cosine
	// Hamming is the number of bits that differ. Bit i of a vector is set if its element i is greater than 0.
	Hamming
)

var metricNames = [...]string{"none", "squared L2", "L2", "dot", "cosine", "Hamming"}

// String returns the name of the metric, "none" for 0.
func (m Metric) String() string {
	if int(m) < len(metricNames) {
		return metricNames[m]
	}
	return "unknown metric"
}

// valid reports whether m is a metric.
func (m Metric) valid() bool { return m >= SquaredL2 && m <= Hamming }

// Score returns the similarity that CQL servers compute for a distance, where greater is nearer:
//
//	SquaredL2, L2   1/(1+d²)       similarity_euclidean
//	Dot             (1+q·x)/2      similarity_dot_product
//	Cosine          (1+cos)/2      similarity_cosine
//	Hamming         1-d/dim        of ScyllaDB's quantized indexes (b1)
//
// Cassandra 5 has the formulas in jvector's VectorSimilarityFunction, ScyllaDB in
// cql3/functions/vector_similarity_fcts.cc, and in similarity.rs of vector-store for Hamming. Only Hamming uses dim.
func (m Metric) Score(distance float32, dim int) float32 {
	d := float64(distance)
	switch m {
	case SquaredL2:
		return float32(1 / (1 + d))
	case L2:
		return float32(1 / (1 + d*d))
	case Dot:
		return float32((1 - d) / 2)
	case Cosine:
		return float32((2 - d) / 2)
	case Hamming:
		return float32(1 - d/float64(dim))
	}
	return float32(math.NaN())
}

// DistanceOf returns the distance for a similarity of a CQL server: the inverse of [Metric.Score]. A score of Euclidean
// similarity slightly above 1 is a rounding error of the server, and has distance 0.
func (m Metric) DistanceOf(score float32, dim int) float32 {
	s := float64(score)
	switch m {
	case SquaredL2:
		return float32(max(1/s-1, 0))
	case L2:
		return float32(math.Sqrt(max(1/s-1, 0)))
	case Dot:
		return float32(1 - 2*s)
	case Cosine:
		return float32(2 - 2*s)
	case Hamming:
		return float32((1 - s) * float64(dim))
	}
	return float32(math.NaN())
}
