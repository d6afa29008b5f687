// SPDX-License-Identifier: Apache-2.0

package groupby

import "unsafe"

// Large allocations in huge pages. Fresh memory costs more than the work on it, mostly in page faults; a huge page of 2
// MiB takes one fault instead of 512.

const hugePage = 2 << 20

// makeLarge is make([]T, n), in huge pages if the slice is large and the system supports them. T has no pointers.
func makeLarge[T any](n int) []T {
	s := make([]T, n)
	if size := len(bytesOf(s)); size >= hugePage {
		adviseHuge(unsafe.Pointer(unsafe.SliceData(s)), size)
	}
	return s
}

// A slab is large memory that is handed out in small pieces. The garbage collector frees it when all pieces are unused.
type slab struct{ words []uint64 }

const slabWords = 2 * hugePage / 8

// take returns an empty slice with room for n words. A nil slab makes each slice alone, so that it can be freed alone.
func (s *slab) take(n int) []uint64 {
	if s == nil || n > slabWords/4 {
		return makeLarge[uint64](n)[:0]
	}
	if n > len(s.words) {
		s.words = makeLarge[uint64](slabWords)
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
