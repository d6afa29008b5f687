// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// vectorOf returns Sum or Mean of vectors as an aggregate of one accumulator.
func vectorOf(mean bool) Aggregate {
	a := Sum("v0")
	if mean {
		a = Mean("v0")
	}
	return a.newWith(func(t column.Type) (Accumulator, error) {
		acc, err := newVectorSum(t)
		if err != nil || !mean {
			return acc, err
		}
		return &vectorMean{acc.(*vectorSum)}, nil
	})
}

type vectorMean struct{ *vectorSum }

func (v *vectorMean) Types() ([]column.Type, column.Field) {
	state, _ := v.vectorSum.Types()
	field, _ := vectorAggregate(Mean("v0"), true).combine("", []Accumulator{v.vectorSum})
	return state, field
}

func (v *vectorMean) Result(i, j int) (column.Column, error) { return v.mean(i, j) }

func TestVectorMeanMerged(t *testing.T) {
	for _, elem := range []column.Kind{column.Float32, column.Float64, column.Int32, column.Int64} {
		few := !isFloat(elem) // so that the order of additions does not matter
		for _, dim := range []int{1, 7, 8, 9, 31} {
			for _, nulls := range []bool{false, true} {
				checkAggregate(t, vectorOf(false), []column.Type{column.VectorOf(elem, dim)}, few, nulls, 1e-12)
				checkAggregate(t, vectorOf(true), []column.Type{column.VectorOf(elem, dim)}, few, nulls, 1e-6)
			}
		}
	}
	_, err := newVectorSum(column.VectorOf(column.UUID, 2))
	require.Error(t, err)
}

func TestVectorSumZeroState(t *testing.T) {
	acc, err := newVectorSum(column.VectorOf(column.Float32, 5))
	require.NoError(t, err)
	acc.Resize(3)
	state := []column.Column{zeroColumn(column.VectorOf(column.Float64, 5), 3), vals([]int64{0, 1, 0})}
	require.NoError(t, acc.Merge([]uint32{0, 1, 2}, state))
	res, err := acc.Result(0, 3)
	require.NoError(t, err)
	require.Equal(t, make([]float64, 5), valueAt(res, 1))
	require.True(t, res.Null(2))
}

func TestVectorMeanAllocs(t *testing.T) {
	r := newRand(t)
	for _, nulls := range []bool{false, true} {
		checkAllocs(t, vectorOf(true), randomColumn(r, column.VectorOf(column.Float32, 13), 500, false, nulls))
	}
}
