// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/vector"
)

// The search of a vector index: the rows in the order of their scores, equal ones in the order of the table.

// scored is a row that a search found.
type scored struct {
	slot  int
	score float32
}

// annSearch is one search of an index.
type annSearch struct {
	*annData
	t         *table
	function  similarity
	target    []byte
	query     []float32 // the same
	bits      []byte    // of the target, if the index has bits
	special   bool      // the target has an element that is not finite, or only zeros
	selection []int32   // slots that the filter keeps, in ascending order; nil means all
	rows      int       // that the filter keeps
}

// search prepares a search of the rows that keep reports, nil means all. Callers hold the lock.
func (d *annData) search(t *table, v *vectorIndex, target []byte, keep func(e *annEntry) bool) *annSearch {
	s := &annSearch{annData: d, t: t, function: v.similarity, target: target, rows: len(d.entries)}
	if keep != nil {
		s.selection = make([]int32, 0, len(d.entries))
		for i := range d.entries {
			if keep(&d.entries[i]) {
				s.selection = append(s.selection, int32(i))
			}
		}
		s.rows = len(s.selection)
	}
	s.special = isSpecial(target)
	s.query = make([]float32, len(target)/4)
	for i := range s.query {
		s.query[i] = float32(element32(target, i))
	}
	if d.hamming {
		s.bits = signBits(target)
	}
	return s
}

// slotsOf calls f for each slot that the filter keeps.
func (s *annSearch) slotsOf(f func(slot int)) {
	if s.selection == nil {
		for i := range s.entries {
			f(i)
		}
		return
	}
	for _, i := range s.selection {
		f(int(i))
	}
}

// spare is the number of rows beyond those asked for whose exact scores are computed, because the kernels order rounded
// distances.
const spare = 32

// nearest returns the k nearest rows, or all if there are fewer. If a score is NaN, its row is the first.
func (s *annSearch) nearest(k int) ([]scored, error) {
	if k = min(k, s.rows); k == 0 {
		return nil, nil
	}
	var found []scored
	if s.hamming || s.special {
		s.slotsOf(func(i int) { found = append(found, scored{i, s.score(i)}) })
	} else {
		var err error
		if found, err = s.candidates(k); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(found, s.compare)
	return found[:min(k, len(found))], nil
}

// candidates returns rows that contain the k nearest ones, with their exact scores.
func (s *annSearch) candidates(k int) (found []scored, err error) {
	if s.specials > 0 { // the kernels give them no distance
		s.slotsOf(func(i int) {
			if s.entries[i].special {
				found = append(found, scored{i, s.score(i)})
			}
		})
	}
	matrix := vector.Matrix{Format: vector.Float32Big, Dim: len(s.query), Data: s.vectors}
	options := vector.Options{Workers: 1, Selection: s.selection}
	for n := k + spare; ; n *= 2 {
		r, err := vector.Nearest(context.Background(), matrix, s.query, min(n, s.rows), s.metric(), options)
		if err != nil { // the query has the dimension of the index, and is neither zero nor NaN
			return nil, &Error{Code: CodeServer, Message: err.Error()}
		}
		positions, distances := r.Query(0)
		if n < s.rows && !farther(distances[len(distances)-1], distances[k-1]) {
			continue
		}
		for _, p := range positions {
			if slot := int(p); !s.entries[slot].special {
				found = append(found, scored{slot, s.score(slot)})
			}
		}
		return found, nil
	}
}

// farther reports whether a distance is greater than another one by more than rounding errors.
func farther(a, b float32) bool {
	return a != a || float64(a)-float64(b) > 1e-5*(1+math.Abs(float64(a))+math.Abs(float64(b)))
}

func (s *annSearch) metric() vector.Metric {
	switch s.function {
	case euclidean:
		return vector.SquaredL2
	case dotProduct:
		return vector.Dot
	}
	return vector.Cosine
}

// compare orders rows by score, the greatest first, and NaN before all: it fails the search.
func (s *annSearch) compare(a, b scored) int {
	if x, y := a.score != a.score, b.score != b.score; x || y {
		return cmp.Compare(btoi(y), btoi(x))
	}
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return s.entries[a.slot].compare(&s.entries[b.slot], s.t)
}

// score returns the score of a row as the index computes it.
func (s *annSearch) score(slot int) float32 {
	row := s.vectors[slot*s.width() : (slot+1)*s.width()]
	switch {
	case s.hamming:
		return s.hammingScore(row)
	case s.function == cosine && (s.special || s.entries[slot].special) && isFinite(s.target) && isFinite(row):
		return zeroScore(s.target, row)
	}
	return s.function.of(s.target, row)
}

// zeroScore returns the score by cosine of two vectors, at least one of them zero: in ScyllaDB's library the distance
// of zero vectors is 0, and the distance of a zero vector to others 1.
func zeroScore(a, b []byte) float32 {
	if isZero(a) && isZero(b) {
		return 1
	}
	return 0.5
}

// hammingScore returns 1 less the share of bits that differ.
func (s *annSearch) hammingScore(row []byte) float32 {
	differ := 0
	for i, b := range row {
		differ += bits.OnesCount8(b ^ s.bits[i])
	}
	return 1 - float32(differ)/float32(len(s.query))
}
