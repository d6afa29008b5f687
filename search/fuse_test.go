// SPDX-License-Identifier: Apache-2.0

package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/vector"
)

// Joined lists and choices beside the obvious ones.

// A doc is a row of these tests.
type doc struct {
	id, group int
	vector    []float32
}

func idOf(d doc) int           { return d.id }
func groupOf(d doc) int        { return d.group }
func vectorOf(d doc) []float32 { return d.vector }
func ids(hits []Hit[doc]) (list []int) {
	for _, h := range hits {
		list = append(list, h.Row.id)
	}
	return list
}

// randomHits returns hits with few different scores and ids, so that there are ties and duplicates.
func randomHits(r *rand.Rand, n int) []Hit[doc] {
	hits := make([]Hit[doc], n)
	for i := range hits {
		d := doc{id: r.IntN(12), vector: []float32{float32(r.IntN(3) - 1), float32(r.IntN(3) - 1)}}
		d.group = d.id % 4
		hits[i] = Hit[doc]{Row: d, Score: float32(r.IntN(5)) / 4}
		if r.IntN(9) == 0 {
			hits[i].Score = float32(math.NaN())
		}
	}
	return hits
}

// fuseSlowly finds each row in each list, and takes the best row that is left, one after the other.
func fuseSlowly(lists [][]Hit[doc], part func(list, i int) float64) (fused []Fused[doc]) {
	for id := range 12 {
		f, found := Fused[doc]{Ranks: make([]int, len(lists))}, false
		for l, list := range lists {
			i := slices.IndexFunc(list, func(h Hit[doc]) bool { return h.Row.id == id })
			if i < 0 {
				continue
			}
			if !found {
				f.Row, found = list[i].Row, true
			}
			f.Ranks[l] = i + 1
			f.Score += part(l, i)
		}
		if found {
			fused = append(fused, f)
		}
	}
	before := func(a, b Fused[doc]) bool {
		if a.Score != b.Score {
			return a.Score > b.Score
		}
		for l := range lists {
			if x, y := a.Ranks[l], b.Ranks[l]; x != y {
				return y == 0 || x != 0 && x < y
			}
		}
		return false
	}
	for i := range fused {
		for j := i + 1; j < len(fused); j++ {
			if before(fused[j], fused[i]) {
				fused[i], fused[j] = fused[j], fused[i]
			}
		}
	}
	return fused
}

func TestFuseEqualsSlowFusion(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for range 300 {
		lists := make([][]Hit[doc], r.IntN(4))
		weights := make([]float64, len(lists))
		for i := range lists {
			lists[i], weights[i] = randomHits(r, r.IntN(15)), float64(r.IntN(3))
		}
		require.Equal(t, fuseSlowly(lists, func(_, i int) float64 { return 1 / (61 + float64(i)) }), Fuse(idOf, lists...))
		got, err := FuseScores(idOf, weights, lists...)
		require.NoError(t, err)
		want := fuseSlowly(lists, func(l, i int) float64 {
			var scores []float64
			for _, h := range lists[l] {
				if h.Score == h.Score {
					scores = append(scores, float64(h.Score))
				}
			}
			s := float64(lists[l][i].Score)
			switch {
			case s != s:
				return 0
			case slices.Min(scores) == slices.Max(scores):
				return weights[l]
			}
			return weights[l] * ((s - slices.Min(scores)) / (slices.Max(scores) - slices.Min(scores)))
		})
		require.Equal(t, want, got)
	}
}

// TestFuseScoresOfInfinities has scores of the dot product, which has no bound.
func TestFuseScoresOfInfinities(t *testing.T) {
	list := func(scores ...float32) (hits []Hit[doc]) {
		for i, s := range scores {
			hits = append(hits, Hit[doc]{Row: doc{id: i}, Score: s})
		}
		return hits
	}
	inf := float32(math.Inf(1))
	fused, err := FuseScores(idOf, []float64{2}, list(inf, 4, 3, 2, -inf))
	require.NoError(t, err)
	var scores []float64
	for _, f := range fused {
		scores = append(scores, f.Score)
	}
	require.Equal(t, []float64{2, 2, 1, 0, 0}, scores)
	fused, err = FuseScores(idOf, []float64{1}, list(inf, -inf))
	require.NoError(t, err)
	require.Equal(t, []float64{1, 0}, []float64{fused[0].Score, fused[1].Score})

	for _, weights := range [][]float64{nil, {1, 2}, {-1}, {math.NaN()}, {math.Inf(1)}} {
		_, err := FuseScores(idOf, weights, list(1))
		require.ErrorIs(t, err, ErrOption)
	}
}

// diverseSlowly computes each marginal relevance anew.
func diverseSlowly(hits []Hit[doc], metric vector.Metric, lambda float64, k int) (taken []Hit[doc]) {
	used := make([]bool, len(hits))
	for len(taken) < min(k, len(hits)) {
		best, most := -1, math.Inf(-1)
		for i, h := range hits {
			if used[i] {
				continue
			}
			similarity, any := math.Inf(-1), false
			for _, other := range taken {
				d, _ := vector.Distance(metric, other.Row.vector, h.Row.vector)
				if s := float64(metric.Score(d, 2)); s == s {
					similarity, any = max(similarity, s), true
				}
			}
			relevance := lambda * float64(h.Score)
			if any {
				relevance -= (1 - lambda) * similarity
			}
			if relevance != relevance {
				relevance = math.Inf(-1)
			}
			if best < 0 || relevance > most {
				best, most = i, relevance
			}
		}
		used[best] = true
		taken = append(taken, hits[best])
	}
	return taken
}

func TestDiverseEqualsSlowChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for range 300 {
		hits, k := randomHits(r, r.IntN(20)), 1+r.IntN(20)
		for i := range hits {
			hits[i].Row.id = i
		}
		before := slices.Clone(hits)
		metric := []vector.Metric{vector.Cosine, vector.L2, vector.Dot}[r.IntN(3)]
		lambda := float64(r.IntN(5)) / 4
		got, err := Diverse(hits, vectorOf, metric, lambda, k)
		require.NoError(t, err)
		require.Equal(t, ids(diverseSlowly(hits, metric, lambda, k)), ids(got), "%v, lambda %v", metric, lambda)
		require.Equal(t, ids(before), ids(hits))
	}
}

func TestDiverseRefuses(t *testing.T) {
	hits := []Hit[doc]{{Row: doc{vector: []float32{1, 2}}}, {Row: doc{}}}
	for _, lambda := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Diverse(hits, vectorOf, vector.Cosine, lambda, 1)
		require.ErrorIs(t, err, ErrOption)
	}
	_, err := Diverse(hits, vectorOf, vector.Cosine, 0.5, 0)
	require.ErrorIs(t, err, vector.ErrK)
	_, err = Diverse(hits[:1], vectorOf, 99, 0.5, 1)
	require.ErrorIs(t, err, vector.ErrMetric)
	_, err = Diverse(hits, vectorOf, vector.Cosine, 0.5, 2)
	var dimension *vector.DimensionError
	require.ErrorAs(t, err, &dimension)
	require.ErrorContains(t, err, "search: diverse hits: hit 1: ")
}

// TestBestOfEqualsSlowChoice keeps a hit if no other hit of its group is better.
func TestBestOfEqualsSlowChoice(t *testing.T) {
	r := rand.New(rand.NewPCG(25, 26))
	for range 300 {
		hits, k := randomHits(r, r.IntN(25)), r.IntN(6)-1
		for i := range hits {
			hits[i].key = []byte{byte(r.IntN(3))}
		}
		before := func(i, j int) bool {
			a, b := hits[i], hits[j]
			switch {
			case a.Score != a.Score && b.Score != b.Score || a.Score == b.Score:
				return a.key[0] < b.key[0] || a.key[0] == b.key[0] && i < j
			case a.Score != a.Score:
				return false
			}
			return b.Score != b.Score || a.Score > b.Score
		}
		var best []int
		for i := range hits {
			if !slices.ContainsFunc(allOf(len(hits)), func(j int) bool { return hits[j].Row.group == hits[i].Row.group && before(j, i) }) {
				best = append(best, i)
			}
		}
		slices.SortFunc(best, func(i, j int) int {
			if before(i, j) {
				return -1
			}
			return 1
		})
		var want []int
		for _, i := range best[:max(min(k, len(best)), 0)] {
			want = append(want, hits[i].Row.id)
		}
		require.Equal(t, want, ids(BestOf(hits, groupOf, k)))
	}
}

func allOf(n int) (list []int) {
	for i := range n {
		list = append(list, i)
	}
	return list
}
