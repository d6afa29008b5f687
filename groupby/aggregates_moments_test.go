// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestVarianceMerged(t *testing.T) {
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				for _, agg := range []Aggregate{Variance("v0"), VariancePop("v0"), StdDev("v0"), StdDevPop("v0")} {
					checkAggregate(t, agg, []column.Type{typ}, few, nulls, 1e-6)
				}
			}
		}
	}
}

func TestVarianceLargeMean(t *testing.T) {
	acc, err := Variance("v0").New([]column.Type{typeFloat64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []column.Column{vals([]float64{1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16})}, []int{0, 0, 0, 0}, nil)
	require.InDelta(t, 30.0, f.results(t)[0], 1e-9)
}

func TestVarianceInfinite(t *testing.T) {
	acc, err := VariancePop("v0").New([]column.Type{typeFloat64})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []column.Column{vals([]float64{1, math.Inf(1)})}, []int{0, 0}, nil)
	require.True(t, math.IsNaN(f.results(t)[0].(float64)))
	_, err = Variance("v0").New([]column.Type{typeString})
	require.Error(t, err)
}

func TestVarianceAllocs(t *testing.T) {
	r := newRand(t)
	checkAllocs(t, Variance("v0"), randomColumn(r, typeFloat64, 3000, false, false))
	checkAllocs(t, Variance("v0"), randomColumn(r, typeInt32, 3000, false, true))
}
