// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestCountDistinctMerged(t *testing.T) {
	for _, typ := range scalarTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, CountDistinct("v0"), []column.Type{typ}, few, nulls, 0)
			}
		}
	}
	_, err := CountDistinct("v0").New([]column.Type{column.VectorOf(column.Float32, 2)})
	require.Error(t, err)
}

func TestCountDistinctMalformed(t *testing.T) {
	for typ, s := range map[column.Type]string{typeInt32: "12345", typeUUID: "123", typeString: "\x05abcd"} {
		acc, err := CountDistinct("v0").New([]column.Type{typ})
		require.NoError(t, err)
		acc.Resize(2)
		require.ErrorIs(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}), errDistinctState)
	}
}

func TestCountDistinctAllocs(t *testing.T) {
	r := newRand(t)
	for _, typ := range []column.Type{typeInt64, typeFloat32, typeUUID, typeString} {
		for _, nulls := range []bool{false, true} {
			checkAllocs(t, CountDistinct("v0"), randomColumn(r, typ, 3000, false, nulls))
		}
	}
}
