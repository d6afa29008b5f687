// SPDX-License-Identifier: Apache-2.0

package tool

import "slices"

// Exact search, the reference for the recall of the server's index.

// hit is a row of the result and its similarity.
type hit struct {
	row        int
	similarity float64 // cosine, because the vectors have unit length
}

// exact returns the k rows most similar to query, the most similar first.
func exact(rows []symbol, query []float32, k int) []hit {
	hits := make([]hit, len(rows))
	for i, r := range rows {
		hits[i] = hit{row: i, similarity: dot(r.Embedding, query)}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		switch {
		case a.similarity > b.similarity:
			return -1
		case a.similarity < b.similarity:
			return 1
		}
		return a.row - b.row
	})
	return hits[:min(k, len(hits))]
}

func dot(a, b []float32) (sum float64) {
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}
