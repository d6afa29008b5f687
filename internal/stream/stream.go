// SPDX-License-Identifier: Apache-2.0

// Package stream hands out the stream ids by which a connection tells its answers apart (native_protocol_v5.spec, section 2.4.1.3).
package stream

import (
	"math/bits"
	"sync/atomic"
)

// MaxStreams is the number of ids a client may use: 0 to 32767. Negative ones are the server's.
const MaxStreams = 1 << 15

const wordBits = 64

// spread is over how many words callers are spread: more of them would make a connection use, and keep memory for, ids that it does not
// need.
const spread = 8

// Table is a set of ids, each free or in use. It has no lock: an id is a bit that is set by compare-and-swap.
type Table struct {
	words []atomic.Uint64 // bit set: in use
	next  atomic.Uint32   // the word where the next search starts: ids are not reused at once, and callers don't meet at one word
	inUse atomic.Int32
	n     int
}

// New returns a Table of the ids 0 to n-1, n at least 1 and at most MaxStreams, all free.
func New(n int) *Table {
	n = min(max(n, 1), MaxStreams)
	t := &Table{words: make([]atomic.Uint64, (n+wordBits-1)/wordBits), n: n}
	if rest := n % wordBits; rest != 0 {
		t.words[len(t.words)-1].Store(^uint64(0) << rest) // ids beyond n are never free
	}
	return t
}

// Claim returns an id that was free; ok is false when none was.
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

// Release frees id and reports whether it was in use: false is a fault of the peer, or of the caller.
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

// InUse returns how many ids are in use.
func (t *Table) InUse() int { return int(t.inUse.Load()) }

// Cap returns how many ids there are.
func (t *Table) Cap() int { return t.n }
