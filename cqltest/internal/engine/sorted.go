// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"slices"
	"sort"
)

// A sorted list.

// chunkSize bounds the elements that one insertion moves: 256 partitions with their tokens fill one page.
const chunkSize = 256

// sorted is an ordered list with cheap insertion anywhere: a list of chunks, each sorted, none empty, none above
// chunkSize.
type sorted[T any] struct {
	chunks [][]T
	n      int
}

// place is the position of an element, valid until the next change.
type place struct{ chunk, at int }

// search returns the place of the first element for which below is false. All elements for which below is true must
// precede those for which it is false.
func (s *sorted[T]) search(below func(T) bool) place {
	c := sort.Search(len(s.chunks), func(i int) bool { return !below(s.chunks[i][len(s.chunks[i])-1]) })
	if c == len(s.chunks) {
		return place{c, 0}
	}
	return place{c, sort.Search(len(s.chunks[c]), func(i int) bool { return !below(s.chunks[c][i]) })}
}

// get returns the element at p; false means that p is outside the list.
func (s *sorted[T]) get(p place) (v T, ok bool) {
	if p.chunk < 0 || p.chunk >= len(s.chunks) {
		return v, false
	}
	return s.chunks[p.chunk][p.at], true
}

func (s *sorted[T]) set(p place, v T) { s.chunks[p.chunk][p.at] = v }

func (s *sorted[T]) next(p place) place {
	if p.at+1 < len(s.chunks[p.chunk]) {
		return place{p.chunk, p.at + 1}
	}
	return place{p.chunk + 1, 0}
}

func (s *sorted[T]) previous(p place) place {
	if p.at > 0 {
		return place{p.chunk, p.at - 1}
	}
	if p.chunk == 0 {
		return place{-1, 0}
	}
	return place{p.chunk - 1, len(s.chunks[p.chunk-1]) - 1}
}

// insert inserts v before the element at p, which search returned.
func (s *sorted[T]) insert(p place, v T) {
	s.n++
	if p.chunk == len(s.chunks) {
		if p.chunk == 0 {
			s.chunks = [][]T{{v}}
			return
		}
		p = place{p.chunk - 1, len(s.chunks[p.chunk-1])}
	}
	c := slices.Insert(s.chunks[p.chunk], p.at, v)
	if len(c) > chunkSize {
		half := len(c) / 2
		s.chunks = slices.Insert(s.chunks, p.chunk+1, slices.Clone(c[half:]))
		clear(c[half:])
		c = c[:half]
	}
	s.chunks[p.chunk] = c
}

// remove removes the element at p.
func (s *sorted[T]) remove(p place) {
	s.n--
	c := slices.Delete(s.chunks[p.chunk], p.at, p.at+1)
	if len(c) == 0 {
		s.chunks = slices.Delete(s.chunks, p.chunk, p.chunk+1)
		return
	}
	s.chunks[p.chunk] = c
}
