// SPDX-License-Identifier: Apache-2.0

package beamvecql

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// The tracker beside a reference with integers of any size.

// A span is a reference of Tokens: the positions from and up to but not including to, counted from the start of the
// interval that a test splits.
type span struct{ from, to *big.Int }

var ring = new(big.Int).Lsh(big.NewInt(1), 64)

// spanOf returns an interval as a span of the interval that begins at start.
func spanOf(r Tokens, start int64) span {
	offset := new(big.Int).Sub(big.NewInt(r.Start), big.NewInt(start))
	offset.Mod(offset, ring)
	width := new(big.Int).Sub(big.NewInt(r.End), big.NewInt(r.Start))
	if width.Mod(width, ring); width.Sign() == 0 && !r.Empty {
		width.Set(ring)
	}
	return span{offset, new(big.Int).Add(offset, width)}
}

func (s span) width() float64 {
	w, _ := new(big.Float).SetInt(new(big.Int).Sub(s.to, s.from)).Float64()
	return w
}

// intervals are intervals of all shapes.
var intervals = map[string]Tokens{
	"whole ring":                       wholeRing,
	"whole ring from 7":                {Start: 7, End: 7},
	"whole ring from the greatest":     {Start: math.MaxInt64, End: math.MaxInt64},
	"all tokens but the least":         {Start: math.MinInt64, End: math.MaxInt64},
	"one token":                        {Start: 41, End: 42},
	"two tokens":                       {Start: -1, End: 1},
	"the least token":                  {Start: math.MaxInt64, End: math.MinInt64},
	"the greatest token":               {Start: math.MaxInt64 - 1, End: math.MaxInt64},
	"up to the least token":            {Start: math.MaxInt64 - 5, End: math.MinInt64},
	"wraps around in the middle":       {Start: math.MaxInt64 - 2, End: math.MinInt64 + 3},
	"wraps around, all but some":       {Start: 5, End: -5},
	"below zero":                       {Start: math.MinInt64, End: -1},
	"above zero, with an estimate":     {Start: 0, End: math.MaxInt64, Bytes: 1e9},
	"more than 2^63 tokens, no wrap":   {Start: -5e18, End: 8e18},
	"more than 2^63 tokens, with wrap": {Start: 3e18, End: 2e18},
}

// TestSplits splits intervals at random until nothing is left: the parts are the interval, without overlap, and their
// claims cover it.
func TestSplits(t *testing.T) {
	for name, whole := range intervals {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(30) {
				requireSplits(t, whole, rand.New(rand.NewPCG(seed, 1)))
			}
		})
	}
}

// requireSplits works on an interval as several workers would: it claims tokens, splits, and puts residuals back.
func requireSplits(t *testing.T, whole Tokens, r *rand.Rand) {
	t.Helper()
	var done []span
	bytes := 0.0
	queue := []Tokens{whole}
	for steps := 0; len(queue) > 0; steps++ {
		tracker := NewTracker(queue[0])
		queue = queue[1:]
		for range r.IntN(4) {
			rest := tracker.GetRestriction().(Tokens)
			if r.IntN(2) == 0 {
				if position := r.Uint64() >> r.IntN(64); !rest.Empty && position <= rest.last() {
					require.Equal(t, !tracker.begun || position >= tracker.at, tracker.TryClaim(rest.token(position)))
					tracker.err = nil // of a claim before the last one
				}
			}
			fraction := []float64{0, 1, 0.5, r.Float64(), -1, 2, 1e-30}[r.IntN(7)]
			if steps > 40 {
				fraction = 1 // ends the test
			}
			queue = append(queue, requireSplit(t, tracker, fraction)...)
		}
		require.NoError(t, claimEnd(tracker))
		require.True(t, tracker.IsDone())
		if rest := tracker.GetRestriction().(Tokens); !rest.Empty {
			done = append(done, spanOf(rest, whole.Start))
			bytes += rest.Bytes
		}
	}
	slices.SortFunc(done, func(a, b span) int { return a.from.Cmp(b.from) })
	at := new(big.Int)
	for _, s := range done {
		require.Zero(t, at.Cmp(s.from), "a gap or an overlap at %v", at)
		at = s.to
	}
	require.Zero(t, at.Cmp(spanOf(whole, whole.Start).to))
	require.InDelta(t, whole.Bytes, bytes, 1)
}

// requireSplit splits a tracker, compares the parts with the reference, and returns the residual.
func requireSplit(t *testing.T, tracker *Tracker, fraction float64) []Tokens {
	t.Helper()
	before := tracker.GetRestriction().(Tokens)
	claimed := new(big.Int)
	if tracker.begun {
		claimed.SetUint64(tracker.at).Add(claimed, big.NewInt(1))
	}
	p, res, err := tracker.TrySplit(fraction)
	require.NoError(t, err)
	primary := p.(Tokens)
	require.Equal(t, primary, tracker.GetRestriction())
	if res == nil {
		require.Equal(t, before, primary)
		return nil
	}
	residual := res.(Tokens)
	all, kept, left := spanOf(before, before.Start), spanOf(primary, before.Start), spanOf(residual, before.Start)
	require.Zero(t, kept.from.Sign())
	require.Zero(t, kept.to.Cmp(left.from))
	require.Zero(t, left.to.Cmp(all.to))
	require.Positive(t, left.width())
	require.GreaterOrEqual(t, kept.to.Cmp(claimed), 0, "a claimed token was split off")
	unclaimed := span{claimed, all.to}.width()
	require.InDelta(t, min(max(fraction, 0), 1)*unclaimed, span{claimed, kept.to}.width(), 1+unclaimed/(1<<50))
	if fraction <= 0 {
		require.Zero(t, kept.to.Cmp(claimed), "an unclaimed token remains")
		require.True(t, tracker.IsDone())
	}
	return []Tokens{residual}
}

// TestClaims requires the rules of claims.
func TestClaims(t *testing.T) {
	tracker := NewTracker(Tokens{Start: math.MaxInt64 - 2, End: math.MinInt64 + 3, Bytes: 60})
	progress := func() [2]float64 {
		done, left := tracker.GetProgress()
		return [2]float64{math.Round(done), math.Round(left)}
	}
	require.Equal(t, [2]float64{0, 60}, progress())
	require.False(t, tracker.TryClaim(int64(0)), "beyond the interval")
	require.False(t, tracker.TryClaim(int64(math.MaxInt64-2)), "before the interval")
	require.NoError(t, tracker.GetError())
	require.True(t, tracker.TryClaim(int64(math.MaxInt64)))
	require.True(t, tracker.TryClaim(int64(math.MaxInt64)), "further rows of a token")
	require.Equal(t, [2]float64{20, 40}, progress())
	require.True(t, tracker.TryClaim(int64(math.MinInt64+1)), "the least token was passed")
	require.False(t, tracker.IsDone())
	require.True(t, tracker.TryClaim(int64(math.MinInt64+3)))
	require.True(t, tracker.IsDone())
	require.True(t, tracker.IsBounded())
	require.Equal(t, [2]float64{60, 0}, progress())

	require.False(t, tracker.TryClaim(int64(math.MaxInt64)))
	require.ErrorContains(t, tracker.GetError(), "was claimed before")
	require.False(t, tracker.IsDone())
	tracker = NewTracker(wholeRing)
	require.False(t, tracker.TryClaim(7))
	require.ErrorContains(t, tracker.GetError(), "a position is an int64 token")
}

// TestParts requires that the ranges of an interval are its tokens without the least one.
func TestParts(t *testing.T) {
	for name, want := range map[string]string{
		"whole ring":                   "[{-9223372036854775808 9223372036854775807 0}]",
		"whole ring from 7":            "[{7 9223372036854775807 0} {-9223372036854775808 7 0}]",
		"whole ring from the greatest": "[{-9223372036854775808 9223372036854775807 0}]",
		"all tokens but the least":     "[{-9223372036854775808 9223372036854775807 0}]",
		"one token":                    "[{41 42 0}]",
		"the least token":              "[]",
		"up to the least token":        "[{9223372036854775802 9223372036854775807 0}]",
		"wraps around in the middle":   "[{9223372036854775805 9223372036854775807 0} {-9223372036854775808 -9223372036854775805 0}]",
	} {
		require.Equal(t, want, fmt.Sprint(intervals[name].parts()), name)
	}
	require.Empty(t, Tokens{Empty: true}.parts())
}

// TestClaimRows requires that the rows that a split has taken are left out.
func TestClaimRows(t *testing.T) {
	tracker := NewTracker(Tokens{Start: 0, End: 100})
	require.Equal(t, 3, claimRows(tracker, []int64{1, 5, 5}))
	_, residual, err := tracker.TrySplit(0.5)
	require.NoError(t, err)
	require.Equal(t, Tokens{Start: 53, End: 100}, residual)
	require.Equal(t, 4, claimRows(tracker, []int64{5, 6, 53, 53, 54, 99}))
	require.Zero(t, claimRows(tracker, []int64{54}))
	require.NoError(t, claimEnd(tracker))
	require.True(t, tracker.IsDone())

	tracker = NewTracker(wholeRing)
	_, residual, err = tracker.TrySplit(0)
	require.NoError(t, err)
	require.Equal(t, wholeRing, residual)
	require.Zero(t, claimRows(tracker, []int64{54}))
	require.NoError(t, claimEnd(tracker))
}

// FuzzSplits splits any interval.
func FuzzSplits(f *testing.F) {
	for _, r := range intervals {
		f.Add(r.Start, r.End, uint64(1))
	}
	f.Fuzz(func(t *testing.T, start, end int64, seed uint64) {
		requireSplits(t, Tokens{Start: start, End: end}, rand.New(rand.NewPCG(seed, 2)))
	})
}
