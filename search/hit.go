// SPDX-License-Identifier: Apache-2.0

package search

import (
	"bytes"
	"cmp"
)

// A Hit is a row near to a query.
type Hit[T any] struct {
	Row      T
	Score    float32 // the similarity of the server; a greater one is nearer
	Distance float32 // the distance of package vector; a smaller one is nearer
	key      []byte  // the cells of the primary key, which order hits of one score
}

// A Result is the hits of one query, the nearest first. It is the caller's.
type Result[T any] struct {
	Hits []Hit[T]
	// K is the number of hits that were requested. There are fewer if the table or the filter has fewer rows, if MinScore
	// or MaxDistance left hits out (Outside), or if the index returned fewer.
	K int
	// Outside is the number of rows that MinScore or MaxDistance left out.
	Outside int
	// Warnings are the server's, such as the consistency level that Cassandra chose.
	Warnings []string
}

// compare orders hits as results do.
func (h Hit[T]) compare(other Hit[T]) int {
	return compareScores(h.Score, other.Score, h.key, other.key)
}

// compareScores orders rows by score, NaN last, then by the cells of the primary key.
func compareScores(a, b float32, keyA, keyB []byte) int {
	if c := cmp.Compare(b, a); c != 0 { // NaN is less than any other score
		return c
	}
	return bytes.Compare(keyA, keyB)
}
