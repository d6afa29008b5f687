// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"hash/fnv"
	"math"
)

// Models of recall: the rows that a search of an index misses. They depend on the seed, the vector of the search and
// the key of the row, so that a repeated search finds the same rows.

// misses decides which rows a search misses.
type misses struct {
	share float64 // of rows; 0 means none
	base  uint64
}

// newMisses returns the misses of a search by target.
func newMisses(share float64, seed uint64, target []byte) misses {
	h := fnv.New64a()
	_, _ = h.Write(int64Bytes(int64(seed)))
	_, _ = h.Write(target)
	return misses{share, h.Sum64()}
}

// has reports whether the search misses the row of a key.
func (m misses) has(key string) bool {
	if m.share <= 0 {
		return false
	}
	h := m.base
	for i := range len(key) {
		h = (h ^ uint64(key[i])) * 0x100000001b3
	}
	h ^= h >> 30 // the finalizer of splitmix64
	h *= 0xBF58476D1CE4E5B9
	h ^= h >> 27
	h *= 0x94D049BB133111EB
	h ^= h >> 31
	return float64(h>>11)/(1<<53) < m.share
}

// topKFor returns the number of candidates that Cassandra keeps in each segment of an index for a LIMIT.
func topKFor(limit int64, recall bool) int64 {
	n := float64(limit)
	if recall {
		return int64(n * max(1, 0.509+9.491*math.Pow(n, -0.402)))
	}
	return int64(n * max(1, 0.979+4.021*math.Pow(n, -0.761)))
}

// missesPerExtra is the share of rows that an approximate search of Cassandra misses, times the candidates beyond
// LIMIT.
// Cassandra 5.0.9 found in 4,000 random vectors of 32 floats, written to disk:
//
//	LIMIT    latency             recall
//	    3    0.84 of 8 - 3       0.94 of 19 - 3
//	   10    0.88 of 16 - 10     0.99 of 42 - 10
//	   50    0.95 of 59 - 50     1.00 of 123 - 50
const (
	missesPerExtra = 0.8
	leastExtra     = 4
)

// missesOf returns the misses of a search of Cassandra among so many rows. A graph finds all of few rows.
func (s *SAI) missesOf(v *vectorIndex, target []byte, limit int64, rows int) misses {
	k := topKFor(limit, v.recall)
	if !s.Approximate || int64(rows) <= k {
		return misses{}
	}
	return newMisses(missesPerExtra/float64(max(k-limit, leastExtra)), s.Seed, target)
}

// missesOf returns the misses of a search of ScyllaDB.
func (v *VectorStore) missesOf(i *vectorIndex, target []byte) misses {
	return newMisses((1-v.Recall)/i.oversampling, v.Seed, target)
}
