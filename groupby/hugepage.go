// SPDX-License-Identifier: Apache-2.0

package groupby

import "unsafe"

// Large allocations in huge pages. Fresh memory costs more than the work on it, mostly in page faults; a huge page of 2
// MiB takes one fault instead of 512.

const hugePage = 2 << 20

// makeWords is make([]uint64, n), in huge pages if the slice is large and the system supports them.
func makeWords(n int) []uint64 {
	w := make([]uint64, n)
	if n >= hugePage/8 {
		adviseHuge(unsafe.Pointer(unsafe.SliceData(w)), 8*n)
	}
	return w
}

// A slab is large memory that is handed out in small pieces. The garbage collector frees it when all pieces are unused.
type slab struct{ words []uint64 }

const slabWords = 2 * hugePage / 8

// take returns an empty slice with room for n words. A nil slab makes each slice alone, so that it can be freed alone.
func (s *slab) take(n int) []uint64 {
	if s == nil || n > slabWords/4 {
		return makeWords(n)[:0]
	}
	if n > len(s.words) {
		s.words = makeWords(slabWords)
	}
	w := s.words[:0:n]
	s.words = s.words[n:]
	return w
}

// takeBytes returns an empty slice with room for n bytes.
func (s *slab) takeBytes(n int) []byte {
	w := s.take((n + 7) / 8)
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(w))), 8*cap(w))[:0]
}
