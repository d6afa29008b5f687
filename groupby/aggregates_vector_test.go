// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestVectorMeanMerged(t *testing.T) {
	for _, elem := range []Type{Float32, Float64} {
		for _, dim := range []int{1, 7, 8, 9, 31} {
			for _, nulls := range []bool{false, true} {
				checkAggregate(t, VectorSum(0), []Type{Vector(elem, dim)}, false, nulls, 1e-12)
				checkAggregate(t, VectorMean(0), []Type{Vector(elem, dim)}, false, nulls, 1e-12)
			}
		}
	}
	_, err := VectorSum(0).New([]Type{Float32})
	require.Error(t, err)
}

func TestVectorSumZeroState(t *testing.T) {
	acc, err := VectorSum(0).New([]Type{Vector(Float32, 5)})
	require.NoError(t, err)
	acc.Resize(3)
	require.NoError(t, acc.Merge([]uint32{0, 1, 2}, []Column{zeroColumn(Vector(Float64, 5), 3), Values([]int64{0, 1, 0})}))
	res, err := acc.Result()
	require.NoError(t, err)
	require.Equal(t, make([]float64, 5), valueAt(res, 1))
	require.True(t, res.Null(2))
}

func TestVectorMeanAllocs(t *testing.T) {
	r := newRand(t)
	for _, nulls := range []bool{false, true} {
		checkAllocs(t, VectorMean(0), randomColumn(r, Vector(Float32, 13), 500, false, nulls))
	}
}
