// SPDX-License-Identifier: Apache-2.0

package semcache_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/search/semcache"
	"github.com/vecql/vecql/vector"
)

// pairAt returns a pair with a cosine distance.
func pairAt(distance float64, same bool) semcache.Pair {
	angle := math.Acos(1 - distance)
	return semcache.Pair{A: []float32{1, 0}, B: []float32{float32(math.Cos(angle)), float32(math.Sin(angle))}, Same: same}
}

func TestCalibrate(t *testing.T) {
	pairs := []semcache.Pair{
		pairAt(0.30, false), pairAt(0.02, true), pairAt(0.05, true), pairAt(0.06, false), pairAt(0.10, true), pairAt(0.14, true), pairAt(0.50, false),
	}
	best, err := semcache.Calibrate(pairs, 0)
	require.NoError(t, err)
	require.InDelta(t, 0.22, best.Best.Threshold, 1e-6) // between 0.14 and 0.30
	require.InDelta(t, 0.8, best.Best.Precision, 1e-9)
	require.InDelta(t, 1, best.Best.Recall, 1e-9)
	require.InDelta(t, 8.0/9, best.Best.F1, 1e-9)
	require.Equal(t, []int{4, 3}, []int{best.Same, best.Different})
	require.Len(t, best.Points, 7)

	exact, err := semcache.Calibrate(pairs, 1)
	require.NoError(t, err)
	require.InDelta(t, 0.055, exact.Best.Threshold, 1e-6)
	require.InDelta(t, 0.5, exact.Best.Recall, 1e-9)

	var dimension *vector.DimensionError
	for _, c := range []struct {
		pairs     []semcache.Pair
		precision float64
		is        error
	}{
		{nil, 0, semcache.ErrPairs},
		{[]semcache.Pair{pairAt(0.1, true)}, 0, semcache.ErrPairs},
		{[]semcache.Pair{pairAt(0.1, false)}, 0, semcache.ErrPairs},
		{pairs, 1.1, semcache.ErrPairs},
		{pairs, math.NaN(), semcache.ErrPairs},
		{[]semcache.Pair{pairAt(0.1, false), pairAt(0.2, true)}, 0.9, semcache.ErrPairs},
		{append([]semcache.Pair{{A: []float32{0, 0}, B: []float32{1, 0}}}, pairs...), 0, vector.ErrZero},
		{append([]semcache.Pair{{A: []float32{1, 0}, B: []float32{float32(math.Inf(1)), 0}}}, pairs...), 0, vector.ErrNonFinite},
	} {
		_, err := semcache.Calibrate(c.pairs, c.precision)
		require.ErrorIs(t, err, c.is)
	}
	_, err = semcache.Calibrate(append([]semcache.Pair{{A: []float32{1}, B: []float32{1, 0}}}, pairs...), 0)
	require.ErrorAs(t, err, &dimension)
}

// TestCalibrateReference compares the figures of each point, and the best of them, with counts over all pairs.
func TestCalibrateReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		pairs := []semcache.Pair{pairAt(0.01, true), pairAt(1.9, false)}
		for range r.IntN(20) {
			pairs = append(pairs, pairAt(float64(1+r.IntN(19))/10, r.IntN(2) == 0))
		}
		precision := []float64{0, 0.5, 0.9}[r.IntN(3)]
		report, err := semcache.Calibrate(pairs, precision)
		require.NoError(t, err)
		best := 0.0
		for _, p := range append(report.Points, report.Best) {
			found, right, same := 0.0, 0.0, 0.0
			for _, pair := range pairs {
				in := float32(vector.Reference(vector.Cosine, pair.A, pair.B)) <= p.Threshold
				if in {
					found++
				}
				if in && pair.Same {
					right++
				}
				if pair.Same {
					same++
				}
			}
			require.InDelta(t, right/found, p.Precision, 1e-9)
			require.InDelta(t, right/same, p.Recall, 1e-9)
			if right > 0 {
				require.InDelta(t, 2*right/(found+same), p.F1, 1e-9)
			}
			figure := p.F1
			if precision > 0 {
				figure = p.Recall
			}
			if p.Precision >= precision {
				best = max(best, figure)
			}
		}
		if precision == 0 {
			require.Equal(t, best, report.Best.F1)
		} else {
			require.Equal(t, best, report.Best.Recall)
			require.GreaterOrEqual(t, report.Best.Precision, precision)
		}
	}
}
