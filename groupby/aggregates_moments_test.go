// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVarianceMerged(t *testing.T) {
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				for _, agg := range []Aggregate{Variance(0), VariancePop(0), StdDev(0), StdDevPop(0)} {
					checkAggregate(t, agg, []Type{typ}, few, nulls, 1e-6)
				}
			}
		}
	}
}

func TestVarianceLargeMean(t *testing.T) {
	acc, err := Variance(0).New([]Type{Float64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []Column{Values([]float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16})}, []int{0, 0, 0, 0}, nil)
	require.InDelta(t, 30.0, f.results(t)[0], 1e-9)
}

func TestVarianceInfinite(t *testing.T) {
	acc, err := VariancePop(0).New([]Type{Float64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []Column{Values([]float64{1, math.Inf(1)})}, []int{0, 0}, nil)
	require.True(t, math.IsNaN(f.results(t)[0].(float64)))
	_, err = Variance(0).New([]Type{String})
	require.Error(t, err)
}

func TestVarianceAllocs(t *testing.T) {
	r := newRand(t)
	checkAllocs(t, Variance(0), randomColumn(r, Float64, 3000, false, false))
	checkAllocs(t, Variance(0), randomColumn(r, Int32, 3000, false, true))
}
