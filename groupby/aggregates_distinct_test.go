// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCountDistinctMerged(t *testing.T) {
	for _, typ := range scalarTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, CountDistinct(0), []Type{typ}, few, nulls, 0)
			}
		}
	}
	_, err := CountDistinct(0).New([]Type{Vector(Float32, 2)})
	require.Error(t, err)
}

func TestCountDistinctMalformed(t *testing.T) {
	for typ, s := range map[Type]string{Int32: "12345", ID: "123", String: "\x05abcd"} {
		acc, err := CountDistinct(0).New([]Type{typ})
		require.NoError(t, err)
		acc.Resize(2)
		require.ErrorIs(t, acc.Merge([]uint32{1}, []Column{Values([]string{s})}), errDistinctState)
	}
}

func TestCountDistinctAllocs(t *testing.T) {
	r := newRand(t)
	for _, typ := range []Type{Int64, Float32, ID, String} {
		for _, nulls := range []bool{false, true} {
			checkAllocs(t, CountDistinct(0), randomColumn(r, typ, 3000, false, nulls))
		}
	}
}
