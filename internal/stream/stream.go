// SPDX-License-Identifier: Apache-2.0

// Package stream allocates the stream ids that match responses to requests on a connection (native_protocol_v5.spec,
// section 2.4.1.3).
package stream

import (
	"math/bits"
	"sync/atomic"
)

// MaxStreams is the number of ids of a client: 0 to 32767. Negative ids belong to the server.
const MaxStreams = 1 << 15

const wordBits = 64

// spread is the number of words among which callers are spread. With more words a connection would use ids, and keep
// memory for them, without need.
const spread = 8

// A Table is a set of ids, each free or in use. It is lock-free: an id is a bit that is set by compare-and-swap.
type Table struct {
	words []atomic.Uint64 // a bit is set if the id is in use
	// the word where the next search starts, so that ids are not reused at once and callers do not contend for one word
	next  atomic.Uint32
	inUse atomic.Int32
	n     int
}

// New returns a Table of the ids 0 to n-1, all free. n is 1 to MaxStreams.
func New(n int) *Table {
	n = min(max(n, 1), MaxStreams)
	t := &Table{words: make([]atomic.Uint64, (n+wordBits-1)/wordBits), n: n}
	if rest := n % wordBits; rest != 0 {
		t.words[len(t.words)-1].Store(^uint64(0) << rest) // ids beyond n are never free
	}
	return t
}

// Claim returns a free id and marks it as in use; ok is false if there is none.
func (t *Table) Claim() (id int, ok bool) {
	start := t.next.Add(1) % uint32(min(len(t.words), spread))
	for i := range uint32(len(t.words)) {
		w := (start + i) % uint32(len(t.words))
		word := &t.words[w]
		for old := word.Load(); old != ^uint64(0); old = word.Load() {
			bit := bits.TrailingZeros64(^old)
			if word.CompareAndSwap(old, old|1<<bit) {
				t.inUse.Add(1)
				return int(w)*wordBits + bit, true
			}
		}
	}
	return 0, false
}

// Release frees id and reports whether it was in use. False means an error of the peer or of the caller.
func (t *Table) Release(id int) bool {
	if id < 0 || id >= t.n {
		return false
	}
	mask := uint64(1) << (id % wordBits)
	if t.words[id/wordBits].And(^mask)&mask == 0 {
		return false
	}
	t.inUse.Add(-1)
	return true
}

// InUse returns the number of ids in use.
func (t *Table) InUse() int { return int(t.inUse.Load()) }

// Cap returns the number of ids.
func (t *Table) Cap() int { return t.n }
