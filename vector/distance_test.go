// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Distances and scores of single pairs.

// checkDistance compares a distance with the reference, within the bound that Distance states.
func checkDistance(t *testing.T, metric Metric, a, b []float32) {
	t.Helper()
	got, err := Distance(metric, a, b)
	require.NoError(t, err)
	want := Reference(metric, a, b)
	n, u := float64(len(a)), 0x1p-24
	var bound float64
	switch metric {
	case SquaredL2, L2:
		bound = (n+4)*u*want + n*0x1p-149
		if metric == L2 {
			bound += math.Sqrt(n * 0x1p-149)
		}
	case Dot:
		_, bound = exactSum(opDot, a, b)
	case Cosine:
		bound = (2*n + 8) * u
	}
	switch {
	case want != want || got != got:
		require.True(t, got != got && want != want, "%v of %v and %v: %v, want %v", metric, a, b, got, want)
	case math.IsInf(float64(got), 0) || math.IsInf(want, 0) || math.Abs(want) > math.MaxFloat32:
		require.Equal(t, float32(want), got, "%v of %v and %v", metric, a, b)
	default:
		require.InDelta(t, want, float64(got), bound, "%v of %v and %v", metric, a, b)
	}
}

func TestDistanceEqualsReference(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for _, metric := range []Metric{SquaredL2, L2, Dot, Cosine, Hamming} {
		for _, n := range append(dims(), 0) {
			checkDistance(t, metric, randomFloats(r, n), randomFloats(r, n))
			if n > 0 {
				checkDistance(t, metric, special(r, 1, n), special(r, 1, n))
			}
		}
	}
}

func TestMatrixDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	for _, f := range append(floatFormats, Bits) {
		m := encode(f, 50, randomFloats(r, 500), 3)
		q := randomFloats(r, 50)
		metric := Cosine
		if f == Bits {
			metric = Hamming
		}
		want, err := Nearest(t.Context(), m, q, 10, metric, Options{})
		require.NoError(t, err)
		for i, at := range want.Positions {
			got, err := m.Distance(metric, q, int(at))
			require.NoError(t, err)
			require.Equal(t, want.Distances[i], got, "%v", f)
		}
	}
}

// TestDistanceOfSpecialValues has the definitions of the documentation.
func TestDistanceOfSpecialValues(t *testing.T) {
	nan, inf := float32(math.NaN()), infinity
	for _, c := range []struct {
		metric     Metric
		a, b, want float32
	}{
		{Dot, nan, 1, nan},
		{Dot, inf, 2, -inf},
		{Dot, inf, 0, nan},
		{Dot, 0, 5, 0},
		{Dot, 3e38, 3e38, -inf},
		{SquaredL2, inf, 1, inf},
		{SquaredL2, inf, inf, nan},
		{L2, 3e30, -3e30, 6e30},
		{L2, 3e-30, 0, 0},
		{Cosine, 0, 1, nan},
		{Cosine, inf, 1, nan},
		{Cosine, 1, -inf, nan},
		{Cosine, 1e-45, 1e-45, 0},
		{Cosine, 3e38, -3e38, 2},
		{Hamming, nan, 1, 1},
		{Hamming, 0, float32(math.Copysign(0, -1)), 0},
	} {
		got, err := Distance(c.metric, []float32{c.a}, []float32{c.b})
		require.NoError(t, err)
		if c.want != c.want {
			require.True(t, got != got, "%v of %v and %v is %v", c.metric, c.a, c.b, got)
			continue
		}
		require.Equal(t, c.want, got, "%v of %v and %v", c.metric, c.a, c.b)
	}
}

// TestCosineStaysInRange holds that rounding does not exceed the range.
func TestCosineStaysInRange(t *testing.T) {
	r := rand.New(rand.NewPCG(39, 40))
	for range 300 {
		a := randomFloats(r, 1+r.IntN(50))
		b := make([]float32, len(a))
		for i, f := range a {
			b[i] = -3 * f
		}
		same, err := Distance(Cosine, a, a)
		require.NoError(t, err)
		opposite, err := Distance(Cosine, a, b)
		require.NoError(t, err)
		require.GreaterOrEqual(t, same, float32(0))
		require.LessOrEqual(t, opposite, float32(2))
		require.GreaterOrEqual(t, Reference(Cosine, a, a), 0.0)
		require.LessOrEqual(t, Reference(Cosine, a, b), 2.0)
	}
}

// TestScores has the servers' formulas.
func TestScores(t *testing.T) {
	q, x := []float32{1, 2}, []float32{3, -1}
	for _, c := range []struct {
		metric Metric
		score  float32
	}{
		{SquaredL2, 1.0 / (1 + 13)},
		{L2, 1.0 / (1 + 13)},
		{Dot, (1.0 + 1) / 2},
		{Cosine, float32((1 + 1/math.Sqrt(50)) / 2)},
		{Hamming, 0.5},
	} {
		d, err := Distance(c.metric, q, x)
		require.NoError(t, err)
		require.InDelta(t, c.score, c.metric.Score(d, 2), 1e-7, "%v", c.metric)
		require.InDelta(t, d, c.metric.DistanceOf(c.score, 2), 1e-5, "%v", c.metric)
	}
	require.Zero(t, SquaredL2.DistanceOf(1.0000001, 2))
	require.Zero(t, L2.DistanceOf(1.0000001, 2))
	require.True(t, math.IsNaN(float64(Cosine.Score(float32(math.NaN()), 2))))
	require.True(t, math.IsNaN(float64(Metric(0).Score(1, 2))))
	require.True(t, math.IsNaN(float64(Metric(0).DistanceOf(1, 2))))
	require.True(t, math.IsNaN(Reference(0, q, x)))
}

func TestNames(t *testing.T) {
	require.Equal(t, "cosine", Cosine.String())
	require.Equal(t, "unknown metric", Metric(77).String())
	require.Equal(t, "bfloat16", BFloat16.String())
	require.Equal(t, "unknown format", Format(77).String())
	require.Contains(t, []string{"go", "avx2", "avx512", "neon", "dotprod"}, KernelName())
}

func TestDistanceAllocatesNothing(t *testing.T) {
	a, b := make([]float32, 100), make([]float32, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = Distance(SquaredL2, a, b) }))
}
