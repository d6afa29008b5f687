// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestStringAggMerged(t *testing.T) {
	for _, nulls := range []bool{false, true} {
		for _, few := range []bool{false, true} {
			checkAggregate(t, StringAgg("v0", ", "), []column.Type{typeString}, few, nulls, 0)
			checkAggregate(t, StringAggDistinct("v0", ""), []column.Type{typeString}, few, nulls, 0)
		}
	}
}

// TestStringAggOfEmptyTexts has texts that are empty: separators stand between them, too.
func TestStringAggOfEmptyTexts(t *testing.T) {
	config := Config{Aggregates: []Aggregate{StringAgg("v0", "-"), StringAggDistinct("v0", "-").As("distinct")}}
	b, err := config.Aggregate(t.Context(), batchOf(0, nil, cols(vals([]string{"", "a", "", "b", "a"}))))
	require.NoError(t, err)
	require.Equal(t, "-a--b-a", b.Columns[0].Value(0))
	require.Equal(t, "-a-b", b.Columns[1].Value(0))
	_, err = config.Aggregate(t.Context(), batchOf(0, nil, cols(vals([]int64{1}))))
	require.ErrorContains(t, err, "a string")
}

// TestMalformedStatesOfJoinedTexts merges states that are cut off anywhere, or have a length beyond their end.
func TestMalformedStatesOfJoinedTexts(t *testing.T) {
	acc, err := StringAgg("v0", ",").New([]column.Type{typeString})
	require.NoError(t, err)
	acc.Resize(2)
	whole := "\x01\x00\x00\x00\x00\x00\x00\x00\x04abc"
	for n := 1; n < len(whole); n++ {
		require.ErrorIs(t, acc.Merge([]uint32{1}, []column.Column{column.Binaries("", [][]byte{[]byte(whole[:n])})}), errGatheredState)
	}
	require.NoError(t, acc.Merge([]uint32{1}, []column.Column{column.Binaries("", [][]byte{[]byte(whole + whole)})}))
	c, err := acc.Result(0, 2)
	require.NoError(t, err)
	require.Equal(t, "abc,abc", c.Value(1))
}
