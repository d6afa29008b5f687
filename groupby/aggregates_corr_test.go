// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestCorrMerged(t *testing.T) {
	for i, typ := range numberTypes {
		other := numberTypes[(i+3)%len(numberTypes)]
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, Corr("v0", "v1"), []column.Type{typ, other}, few, nulls, 1e-6)
			}
		}
	}
}

// corrOf returns the correlation of two columns.
func corrOf(t *testing.T, x, y column.Column) any {
	t.Helper()
	got, err := Config{Aggregates: []Aggregate{Corr("v0", "v1")}}.Aggregate(t.Context(), batchOf(0, nil, cols(x, y)))
	require.NoError(t, err)
	require.Equal(t, "corr(v0, v1)", got.Columns[0].Name)
	return referenceValues(got.Columns[0])[0]
}

// TestCorr has correlations computed by hand, and those that are not a number or NULL.
func TestCorr(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	x := []float64{1, 2, 3, 4}
	require.InDelta(t, 1, corrOf(t, vals(x), vals([]int32{10, 20, 30, 40})), 1e-15)
	require.InDelta(t, -1, corrOf(t, vals(x), vals([]int8{4, 3, 2, 1})), 1e-15)
	require.InDelta(t, 0.8, corrOf(t, vals(x), vals([]uint64{1, 3, 2, 4})), 1e-15)
	require.InDelta(t, 0.8, corrOf(t, vals([]float64{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}), vals([]float64{1e9 + 1, 1e9 + 3, 1e9 + 2, 1e9 + 4})), 1e-12)
	for _, y := range [][]float64{{7, 7, 7, 7}, {1, nan, 2, 3}, {1, 2, inf, 3}, {1, 2, -inf, inf}} {
		require.True(t, math.IsNaN(corrOf(t, vals(x), vals(y)).(float64)), "%v", y)
		require.True(t, math.IsNaN(corrOf(t, vals(y), vals(x)).(float64)), "%v", y)
	}
	require.True(t, math.IsNaN(corrOf(t, vals(x[:1]), vals(x[:1])).(float64)))
}

// TestCorrOfNulls requires that a row counts only if both of its values are not NULL.
func TestCorrOfNulls(t *testing.T) {
	x := vals([]float64{1, 2, 9, 3, 4}).WithValidity([]byte{0b11011})
	y := vals([]int64{10, 20, 30, 9, 40}).WithValidity([]byte{0b10111})
	require.InDelta(t, 1, corrOf(t, x, y), 1e-15)
	require.Nil(t, corrOf(t, x, vals(make([]int64, 5)).WithValidity([]byte{0b00100})))
}

// TestCorrStaysWithinOne merges parts whose rounded moments may exceed the bounds of a coefficient.
func TestCorrStaysWithinOne(t *testing.T) {
	r := newRand(t)
	for range 500 {
		acc, err := Corr("v0", "v1").New([]column.Type{typeFloat64, typeFloat64})
		require.NoError(t, err)
		f := newFeed(acc)
		for range 3 {
			x := []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
			y := []float64{-3 * x[0], -3 * x[1], -3 * x[2]}
			f.add(t, cols(vals(x), vals(y)), []int{0, 0, 0}, nil)
		}
		got := f.results(t)[0].(float64)
		require.GreaterOrEqual(t, got, -1.0)
		require.InDelta(t, -1, got, 1e-12)
	}
}

func TestCorrOfTexts(t *testing.T) {
	for i, types := range [][]column.Type{{typeString, typeInt8}, {typeInt8, typeString}} {
		_, err := Corr("v0", "v1").New(types)
		var arg *argError
		require.ErrorAs(t, err, &arg)
		require.Equal(t, i, arg.arg)
	}
}

// TestCovar has covariances computed by hand, of one row, and of a NULL.
func TestCovar(t *testing.T) {
	x := vals([]float64{1, 2, 3, 4}).WithValidity([]byte{0b1111})
	y := vals([]int32{10, 20, 40, 30}).WithValidity([]byte{0b1111})
	none := vals([]int32{10}).WithValidity([]byte{0})
	config := Config{Aggregates: []Aggregate{CovarPop("v0", "v1"), CovarSamp("v0", "v1")}}
	for _, c := range []struct {
		x, y      column.Column
		pop, samp any
	}{{x, y, 10.0, 40.0 / 3}, {x.Slice(0, 1), y.Slice(0, 1), 0.0, nil}, {x.Slice(0, 1), none, nil, nil}} {
		got, err := config.Aggregate(t.Context(), batchOf(0, nil, cols(c.x, c.y)))
		require.NoError(t, err)
		require.Equal(t, []string{"covar_pop(v0, v1)", "covar_samp(v0, v1)"}, got.Schema().Names())
		require.Equal(t, c.pop, referenceValues(got.Columns[0])[0])
		require.Equal(t, c.samp, referenceValues(got.Columns[1])[0])
	}
}

// TestCovarMerged merges parts, and compares with the covariance of all pairs in two passes.
func TestCovarMerged(t *testing.T) {
	r := newRand(t)
	acc, err := CovarSamp("v0", "v1").New([]column.Type{typeFloat64, typeFloat64})
	require.NoError(t, err)
	f, all := newFeed(acc), [][2]float64{}
	for range 20 {
		x, y := make([]float64, 3), make([]float64, 3)
		for i := range x {
			x[i] = 100 + r.NormFloat64()
			y[i] = x[i] + r.NormFloat64()
			all = append(all, [2]float64{x[i], y[i]})
		}
		f.add(t, cols(vals(x), vals(y)), []int{0, 0, 0}, nil)
	}
	meanX, meanY, products := 0.0, 0.0, 0.0
	for _, p := range all {
		meanX, meanY = meanX+p[0]/float64(len(all)), meanY+p[1]/float64(len(all))
	}
	for _, p := range all {
		products += (p[0] - meanX) * (p[1] - meanY)
	}
	require.InDelta(t, products/float64(len(all)-1), f.results(t)[0], 1e-9)
}
