// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

func TestTopKMerged(t *testing.T) {
	soak.NoRace(t)
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				for _, k := range []int{1, 2, 5, 40} {
					checkAggregate(t, TopK("v0", k), []column.Type{typ}, few, nulls, 0)
					checkAggregate(t, BottomK("v0", k), []column.Type{typ}, few, nulls, 0)
				}
			}
		}
	}
}

func TestTopKOfMerged(t *testing.T) {
	for i, payload := range scalarTypes {
		by := numberTypes[i%len(numberTypes)]
		for _, few := range []bool{false, true} {
			for _, k := range []int{1, 3, 40} {
				checkAggregate(t, TopKOf("v0", "v1", k), []column.Type{by, payload}, few, few, 0)
				checkAggregate(t, BottomKOf("v0", "v1", k), []column.Type{by, payload}, few, !few, 0)
			}
		}
	}
}

func TestTopKLists(t *testing.T) {
	b := batchOf(0, nil, cols(vals([]int8{5, -3, 7, -3, 9}), vals([]float32{5, -3, 7, 7, -9}),
		vals([]string{"a", "b", "c", "", "d"}).WithValidity([]byte{0b10111}), column.Matrix("", []float32{1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, 2)))
	c := Config{Aggregates: []Aggregate{BottomK("v0", 3), TopKOf("v1", "v2", 3), TopKOf("v0", "v3", 2), TopK("v1", 9)}}
	got, err := c.Aggregate(t.Context(), b, b.Slice(0, 0))
	require.NoError(t, err)
	require.NoError(t, got.Check())
	require.Equal(t, []int8{-3, -3, 5}, got.Column("bottom_k(v0, 3)").Value(0))
	require.Equal(t, []any{"c", nil, "a"}, got.Column("top_k(v1, v2, 3)").Value(0))
	require.Equal(t, [][]float32{{5, 5}, {3, 3}}, got.Column("top_k(v0, v3, 2)").Value(0))
	require.Equal(t, []float32{7, 7, 5, -3, -9}, got.Column("top_k(v1, 9)").Value(0))
}

func TestTopKArenaCompacted(t *testing.T) {
	r := newRand(t)
	acc, err := TopKOf("v0", "v1", 10).New([]column.Type{typeInt64, typeString})
	require.NoError(t, err)
	acc.Resize(5)
	payloads := make([][]any, 5) // by group
	compactions, last := 0, 0
	check := func() {
		got, err := acc.Result(0, 5)
		require.NoError(t, err)
		for id := 1; id < 5; id++ {
			want := slices.Clone(payloads[id][max(0, len(payloads[id])-10):])
			slices.Reverse(want)
			require.Equal(t, fmt.Sprint(want), fmt.Sprint(got.Value(id)))
		}
	}
	for i := range int64(2000) {
		by := vals([]int64{4 * i, 4*i + 1, 4*i + 2, 4*i + 3})
		c := randomColumn(r, typeString, 4, false, false)
		require.NoError(t, acc.Add(Rows{IDs: []uint32{1, 2, 3, 4}, Args: []column.Column{by, c}, Start: 4 * i}))
		for k := range 4 {
			payloads[k+1] = append(payloads[k+1], valueAt(c, k))
		}
		n := len(acc.(*topOf).arena)
		if n < last {
			compactions++
			check()
		}
		last = n
	}
	require.Positive(t, compactions)
	check()
	require.Less(t, len(acc.(*topOf).arena), 1<<18)
}

func TestTopKMalformed(t *testing.T) {
	_, err := New(nil, TopK("x", 0))
	require.ErrorContains(t, err, "k is 0")
	_, err = New(nil, TopKOf("x", "y", maxK+1))
	require.Error(t, err)
	_, err = TopKOf("x", "y", 1).New([]column.Type{typeInt8, {Kind: column.List}})
	require.Error(t, err)

	acc, err := TopK("v0", 2).New([]column.Type{typeInt8})
	require.NoError(t, err)
	acc.Resize(2)
	require.Error(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{"1234567"})}))
	acc, err = TopKOf("v0", "v1", 2).New([]column.Type{typeInt8, typeInt16})
	require.NoError(t, err)
	acc.Resize(2)
	for _, s := range []string{"0", "01234567890123456", "0123456789012345\x04ab", "0123456789012345\x02a", "0123456789012345\xff"} {
		require.Error(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}), "%q", s)
	}
	require.NoError(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{"0123456789012345\x03ab"})}))
}
