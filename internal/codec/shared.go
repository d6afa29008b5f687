// SPDX-License-Identifier: Apache-2.0

package codec

import "unsafe"

// Shared memory of the small values of a row: one allocation instead of one for each text, blob, address and list of
// numbers.

const (
	// maxShared is the length in bytes up to which values share memory: longer values gain nothing.
	maxShared = 64
	// maxBlock limits what a program keeps that keeps one value of a row.
	maxBlock = 1024
)

// Shared provides memory for the small values of one row after the other. Values of different rows share none. The
// memory belongs to the program. The first row's values have memory of their own, because nothing is known of their
// sum. A nil Shared gives each value memory of its own. A Shared may be used by one goroutine at a time.
type Shared struct {
	block []byte // the rest of the current block
	used  int    // bytes provided for the row
	size  int    // of the next block: what the row before used, without what this row has
}

// NextRow begins a row.
func (s *Shared) NextRow() { *s = Shared{size: min(s.used, maxBlock)} }

// take returns n zero bytes, at an address that suits any number. An append to them reallocates.
func (s *Shared) take(n int) []byte {
	if s == nil || n > maxShared || n == 0 {
		return make([]byte, n)
	}
	room := (n + 7) &^ 7
	s.used += room
	if room > len(s.block) {
		s.block = make([]byte, max(room, s.size))
	}
	b := s.block[:n:n]
	s.block = s.block[room:]
	s.size -= room
	return b
}

// bytes returns a copy of b, which is not nil.
func (s *Shared) bytes(b []byte) []byte {
	c := s.take(len(b))
	copy(c, b)
	return c
}

// text returns the text of b.
func (s *Shared) text(b []byte) string {
	if s == nil || len(b) > maxShared {
		return string(b)
	}
	c := s.bytes(b)
	return unsafe.String(unsafe.SliceData(c), len(c))
}

// makeShared stores a new slice of n values of T, which has no pointers, at p, as makeSlice does.
func makeShared[T any](s *Shared, p unsafe.Pointer, n int) elements {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if s == nil || n > maxShared/size || n == 0 {
		return makeSlice[T](p, n)
	}
	values := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(s.take(n*size)))), n)
	*(*[]T)(p) = values
	return sliceOf(values)
}
