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

const (
	wordBits = 64
	// spread is the number of words among which callers are spread while many ids are in use, so that callers do not
	// contend for one word.
	spread = 8
	// perWord is the number of ids in use that makes callers use one more word. Connections keep memory for the ids
	// that were used, so that those with few calls use few ids.
	perWord = 16
	// turns is the number of ids that take turns on an idle connection, so that an id is not reused at once.
	turns = 8
)

// A Table is a set of ids, each free or in use. It is lock-free: an id is a bit that is set by compare-and-swap.
type Table struct {
	few   [spread]atomic.Uint64           // the words of the first ids; a bit is set if the id is in use
	many  atomic.Pointer[[]atomic.Uint64] // the other words, allocated when no id of few is free
	next  atomic.Uint32                   // where the next search starts
	inUse atomic.Int32
	n     int
}

// New returns a Table of the ids 0 to n-1, all free. n is 1 to MaxStreams.
func New(n int) *Table {
	t := &Table{n: min(max(n, 1), MaxStreams)}
	for w := range t.few {
		t.few[w].Store(t.beyond(w))
	}
	return t
}

// beyond returns the bits of a word whose ids are not in the table.
func (t *Table) beyond(word int) uint64 {
	first := word * wordBits
	return ^uint64(0) << min(max(t.n-first, 0), wordBits)
}

// words returns the number of words.
func (t *Table) words() int { return (t.n + wordBits - 1) / wordBits }

// word returns a word, from 0 to words()-1.
func (t *Table) word(w int) *atomic.Uint64 {
	if w < spread {
		return &t.few[w]
	}
	many := t.many.Load()
	if many == nil {
		all := make([]atomic.Uint64, t.words()-spread)
		all[len(all)-1].Store(t.beyond(t.words() - 1))
		t.many.CompareAndSwap(nil, &all)
		many = t.many.Load()
	}
	return &(*many)[w-spread]
}

// Claim returns a free id and marks it as in use; ok is false if there is none.
func (t *Table) Claim() (id int, ok bool) {
	turn, words := t.next.Add(1)%(spread*turns), t.words()
	first := int(turn % uint32(min(words, spread, 1+int(max(t.inUse.Load(), 0))/perWord)))
	for i := range words {
		w := first + i
		if w >= words { // cheaper than a remainder
			w -= words
		}
		word := t.word(w)
		for old := word.Load(); old != ^uint64(0); old = word.Load() {
			bit := freeBit(^old, int(turn%turns))
			if word.CompareAndSwap(old, old|1<<bit) {
				t.inUse.Add(1)
				return w*wordBits + bit, true
			}
		}
	}
	return 0, false
}

// freeBit returns the lowest bit of free from first on, else the lowest one. free is not 0.
func freeBit(free uint64, first int) int {
	if from := free >> first << first; from != 0 {
		free = from
	}
	return bits.TrailingZeros64(free)
}

// Release frees id and reports whether it was in use. False means an error of the peer or of the caller.
func (t *Table) Release(id int) bool {
	if id < 0 || id >= t.n || id >= spread*wordBits && t.many.Load() == nil {
		return false
	}
	mask := uint64(1) << (id % wordBits)
	if t.word(id/wordBits).And(^mask)&mask == 0 {
		return false
	}
	t.inUse.Add(-1)
	return true
}

// Hold claims the n ids from first on if all of them are free, and reports whether it did. InUse does not count them.
// The caller frees them by Free at once: a Claim that finds no other id fails meanwhile.
func (t *Table) Hold(first, n int) bool {
	end := min(first+n, t.n)
	for at := first; at < end; {
		word, mask, next := t.part(at, end)
		old := word.Load()
		if old&mask != 0 {
			t.Free(first, at-first)
			return false
		}
		if word.CompareAndSwap(old, old|mask) {
			at = next
		}
	}
	return true
}

// Free frees the ids of a Hold.
func (t *Table) Free(first, n int) {
	end := min(first+n, t.n)
	for at := first; at < end; {
		word, mask, next := t.part(at, end)
		word.And(^mask)
		at = next
	}
}

// part returns the word of the id first, the bits of the ids from first to end-1 in that word, and the id after them.
func (t *Table) part(first, end int) (word *atomic.Uint64, mask uint64, next int) {
	w := first / wordBits
	next = min(end, (w+1)*wordBits)
	return t.word(w), (^uint64(0) >> (wordBits - (next - first))) << (first % wordBits), next
}

// InUse returns the number of ids in use.
func (t *Table) InUse() int { return int(t.inUse.Load()) }

// Cap returns the number of ids.
func (t *Table) Cap() int { return t.n }
