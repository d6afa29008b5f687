// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"math"
	"slices"

	"github.com/vecql/vecql/vector"
)

// Hits of several searches as one list, and choices among hits.

// fuseConstant is the k of reciprocal rank fusion: 60 in Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion
// outperforms Condorcet and individual Rank Learning Methods" (SIGIR 2009).
const fuseConstant = 60

// A Fused is a row of several lists of hits.
type Fused[T any] struct {
	Row T // of the first list that has it
	// Score is a greater number for a better row. It has no unit: it compares the rows of one call only.
	Score float64
	Ranks []int // the place of the row in each list, from 1; 0 if the list does not have it
}

// Fuse joins lists of hits by reciprocal rank fusion, the best row first: the Score of a row is the sum of 1/(60+rank)
// over the lists that have it. Only the order of the hits counts, so that the lists may have different similarities,
// such as a search by vectors and a search by text. Rows are the same if key returns the same for them, such as the
// primary key; the first one of a list counts. Rows of one score are ordered by their rank in the first list, then in
// the second, and so on; a list that does not have the row comes last.
func Fuse[T any, K comparable](key func(T) K, lists ...[]Hit[T]) []Fused[T] {
	return fuse(key, lists, func(_, i int) float64 { return 1 / float64(fuseConstant+i+1) })
}

// FuseScores joins lists of hits by their scores, the best row first: the Score of a row is the sum of its scores, each
// scaled to the range from 0, the least score of the list, to 1, the greatest, and multiplied by the weight of the
// list. A list without the row adds 0, and so does a NaN. In a list of one score all rows have 1. The scores of a list
// count, not their order; otherwise rows are joined and ordered as by Fuse. There is one weight for each list, finite
// and not negative; the error wraps ErrOption.
func FuseScores[T any, K comparable](key func(T) K, weights []float64, lists ...[]Hit[T]) ([]Fused[T], error) {
	if len(weights) != len(lists) {
		return nil, errorf("%w: fuse scores: %d weights for %d lists", ErrOption, len(weights), len(lists))
	}
	for i, w := range weights {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return nil, errorf("%w: fuse scores: weight %d is %v, want a finite one from 0 on", ErrOption, i, w)
		}
	}
	scales := make([]scale, len(lists))
	for i, list := range lists {
		scales[i] = scaleOf(list)
	}
	return fuse(key, lists, func(list, i int) float64 {
		return weights[list] * scales[list].of(float64(lists[list][i].Score))
	}), nil
}

// A scale maps scores to the range from 0 to 1.
type scale struct{ least, most float64 }

// scaleOf returns the scale of the finite scores of a list.
func scaleOf[T any](hits []Hit[T]) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, h := range hits {
		if f := float64(h.Score); !math.IsNaN(f) && !math.IsInf(f, 0) {
			s.least, s.most = min(s.least, f), max(s.most, f)
		}
	}
	return s
}

func (s scale) of(score float64) float64 {
	switch {
	case score != score || score < s.least:
		return 0
	case score >= s.most:
		return 1
	}
	return (score - s.least) / (s.most - s.least)
}

// fuse joins lists. part returns what hit i of a list adds to the score of its row.
func fuse[T any, K comparable](key func(T) K, lists [][]Hit[T], part func(list, i int) float64) []Fused[T] {
	var fused []Fused[T]
	places := map[K]int{}
	for l, list := range lists {
		for i, h := range list {
			id := key(h.Row)
			at, ok := places[id]
			if !ok {
				at = len(fused)
				places[id] = at
				fused = append(fused, Fused[T]{Row: h.Row, Ranks: make([]int, len(lists))})
			}
			if f := &fused[at]; f.Ranks[l] == 0 {
				f.Ranks[l] = i + 1
				f.Score += part(l, i)
			}
		}
	}
	slices.SortFunc(fused, func(a, b Fused[T]) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), slices.CompareFunc(a.Ranks, b.Ranks, compareRanks))
	})
	return fused
}

// compareRanks orders ranks, 0 last.
func compareRanks(a, b int) int { return cmp.Compare(uint(a-1), uint(b-1)) }

// Diverse chooses up to k of hits that are near to the query but not to each other, by maximal marginal relevance
// (Carbonell and Goldstein, SIGIR 1998). It takes one hit after the other, each time the one with the greatest
//
//	lambda × score - (1-lambda) × the greatest similarity to a hit taken before
//
// so that a lambda of 1 takes the nearest, and a lambda of 0 the most different. vectorOf returns the vector of a row,
// and metric is the metric of the search: the similarity of two rows is its Score. Of equal hits the first is taken. A
// NaN is the least score, and no similarity. The hits are returned as they are, in the order in which they were taken.
//
// The error wraps ErrOption for a lambda outside of 0 to 1, vector.ErrK or vector.ErrMetric, or is a
// *vector.DimensionError.
func Diverse[T any](hits []Hit[T], vectorOf func(T) []float32, metric vector.Metric, lambda float64, k int,
) ([]Hit[T], error) {
	if !(lambda >= 0 && lambda <= 1) {
		return nil, errorf("%w: diverse hits: lambda is %v, want 0 to 1", ErrOption, lambda)
	}
	if k < 1 {
		return nil, errorf("diverse hits: %w", vector.ErrK)
	}
	if _, err := vector.Distance(metric, nil, nil); err != nil {
		return nil, errorf("diverse hits: %w", err)
	}
	left := make([]candidate, len(hits))
	for i, h := range hits {
		left[i] = candidate{hit: i, vector: vectorOf(h.Row), score: float64(h.Score), nearest: math.Inf(-1)}
	}
	var taken []Hit[T]
	for len(taken) < k && len(left) > 0 {
		best := mostRelevant(left, lambda)
		c := left[best]
		taken = append(taken, hits[c.hit])
		left = slices.Delete(left, best, best+1)
		for i := range left {
			if err := left[i].approach(c.vector, metric); err != nil {
				return nil, errorf("diverse hits: hit %d: %w", left[i].hit, err)
			}
		}
	}
	return taken, nil
}

// A candidate is a hit that Diverse may take.
type candidate struct {
	hit     int
	vector  []float32
	score   float64
	nearest float64 // the greatest similarity to a hit that was taken; -Inf if there is none
}

// approach adds a hit that was taken.
func (c *candidate) approach(taken []float32, metric vector.Metric) error {
	d, err := vector.Distance(metric, taken, c.vector)
	if err != nil {
		return err
	}
	if s := float64(metric.Score(d, len(taken))); s > c.nearest {
		c.nearest = s
	}
	return nil
}

// relevance returns the marginal relevance.
func (c *candidate) relevance(lambda float64) float64 {
	if c.score != c.score {
		return math.Inf(-1)
	}
	if math.IsInf(c.nearest, -1) {
		return lambda * c.score
	}
	return lambda*c.score - (1-lambda)*c.nearest
}

// mostRelevant returns the index of the first candidate with the greatest relevance.
func mostRelevant(left []candidate, lambda float64) int {
	best := 0
	for i := range left {
		if left[i].relevance(lambda) > left[best].relevance(lambda) {
			best = i
		}
	}
	return best
}

// BestOf returns the best hit of each group, of the k groups with the best ones, the best first: the best passage of
// each document. key returns the group of a row. The hits may come from several results, in any order; of hits with
// the same score the one with the least primary key is the best, then the first one. Without a positive k there are no
// hits.
func BestOf[T any, K comparable](hits []Hit[T], key func(T) K, k int) []Hit[T] {
	sorted := slices.Clone(hits)
	slices.SortStableFunc(sorted, Hit[T].compare)
	var best []Hit[T]
	groups := map[K]bool{}
	for _, h := range sorted {
		if group := key(h.Row); len(best) < k && !groups[group] {
			groups[group] = true
			best = append(best, h)
		}
	}
	return best
}
