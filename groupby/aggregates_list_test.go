// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestListsMerged has all types, few and many values, merged in many ways.
func TestListsMerged(t *testing.T) {
	for _, typ := range scalarTypes {
		if typ.Kind == column.Vector {
			continue
		}
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, ArrayAgg("v0"), []column.Type{typ}, few, nulls, 0)
				if hasOrder(typ) {
					checkAggregate(t, Mode("v0"), []column.Type{typ}, few, nulls, 0)
					checkAggregate(t, QuantileDisc("v0", 0.25), []column.Type{typ}, few, nulls, 0)
				}
			}
		}
	}
}

func TestQuantilesThatAreValues(t *testing.T) {
	for q, want := range map[float64]int64{0: 1, 0.1: 1, 0.25: 1, 0.26: 2, 0.5: 2, 0.51: 3, 0.75: 3, 0.76: 4, 1: 4} {
		config := Config{Aggregates: []Aggregate{QuantileDisc("v0", q)}}
		b, err := config.Aggregate(t.Context(), batchOf(0, nil, cols(vals([]int64{4, 2, 3, 1}))))
		require.NoError(t, err)
		require.Equal(t, want, b.Columns[0].Value(0), q)
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := Config{Aggregates: []Aggregate{QuantileDisc("v0", q)}}.Aggregate(t.Context(), batchOf(0, nil, cols(vals([]int64{1}))))
		require.Error(t, err, q)
	}
}

func TestModeOfFloats(t *testing.T) {
	zero := math.Copysign(0, -1)
	config := Config{Aggregates: []Aggregate{Mode("v0"), Mode("v1")}}
	b, err := config.Aggregate(t.Context(), batchOf(0, nil, cols(
		vals([]float64{1, 1, zero, 0, 0}), vals([]float64{math.NaN(), 1, 1, math.Float64frombits(0x7ff8000000000123), math.NaN()}),
	)))
	require.NoError(t, err)
	require.Equal(t, 0.0, b.Columns[0].Value(0))
	require.True(t, math.IsNaN(b.Columns[1].Value(0).(float64)))
}

func TestListsOfVectorsAreRefused(t *testing.T) {
	vector := column.VectorOf(column.Float32, 2)
	for _, a := range []Aggregate{ArrayAgg("v0"), Mode("v0"), QuantileDisc("v0", 0.5)} {
		_, err := a.New([]column.Type{vector})
		require.Error(t, err, a.Name)
	}
	_, err := ArrayAgg("v0").New([]column.Type{{Kind: column.List}})
	require.ErrorContains(t, err, "a kind without children")
}

// TestMalformedStatesOfLists merges values of another width, and NULL where there is none.
func TestMalformedStatesOfLists(t *testing.T) {
	for state, agg := range map[string]Aggregate{
		"\x01\x00\x00\x00\x00\x00\x00\x00\x04abc": ArrayAgg("v0"), "\x01\x00\x00\x00\x00\x00\x00\x00\x00": Mode("v0"),
	} {
		acc, err := agg.New([]column.Type{typeInt64})
		require.NoError(t, err)
		acc.Resize(2)
		require.ErrorIs(t, acc.Merge([]uint32{1}, []column.Column{column.Binaries("", [][]byte{[]byte(state)})}), errGatheredState)
	}
}
