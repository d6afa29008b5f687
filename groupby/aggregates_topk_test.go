// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTopKMerged(t *testing.T) {
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				for _, k := range []int{1, 2, 5, 40} {
					checkAggregate(t, TopK(0, k), []Type{typ}, few, nulls, 0)
					checkAggregate(t, BottomK(0, k), []Type{typ}, few, nulls, 0)
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
				checkAggregate(t, TopKOf(0, 1, k), []Type{by, payload}, few, few, 0)
				checkAggregate(t, BottomKOf(0, 1, k), []Type{by, payload}, few, !few, 0)
			}
		}
	}
}

func TestTopKDecoded(t *testing.T) {
	acc, err := BottomK(0, 3).New([]Type{Int8})
	require.NoError(t, err)
	f := newFeed(acc)
	f.add(t, []Column{Values([]int8{5, -3, 7, -3, 9})}, []int{0, 0, 0, 0, 0}, nil)
	res, err := acc.Result()
	require.NoError(t, err)
	require.Equal(t, []int64{-3, -3, 5}, TopKInts(res, 1))
	require.Nil(t, TopKInts(res, 0))

	acc, err = TopKOf(0, 1, 3).New([]Type{Float32, String})
	require.NoError(t, err)
	f = newFeed(acc)
	f.add(t, []Column{Values([]float32{5, -3, 7, 7}), Values([]string{"a", "b", "c", ""}).WithValidity([]byte{0b1110})}, []int{0, 0, 0, 0}, nil)
	res, err = acc.Result()
	require.NoError(t, err)
	require.Equal(t, [][]byte{[]byte("c"), {}, nil}, TopKRecords(res, 1))
	require.Nil(t, TopKRecords(res, 0))
	require.Nil(t, TopKRecords(Values([]string{"\x05abc"}), 0))
}

func TestTopKArenaCompacted(t *testing.T) {
	r := newRand(t)
	acc, err := TopKOf(0, 1, 10).New([]Type{Int64, String})
	require.NoError(t, err)
	acc.Resize(5)
	for i := range int64(2000) {
		by := Values([]int64{4 * i, 4*i + 1, 4*i + 2, 4*i + 3})
		c := randomColumn(r, String, 4, false, false)
		require.NoError(t, acc.Add(Rows{IDs: []uint32{1, 2, 3, 4}, Args: []Column{by, c}, Start: 4 * i}))
	}
	require.Less(t, len(acc.(*topOf).arena), 1<<18)
}

func TestTopKMalformed(t *testing.T) {
	_, err := TopK(0, 0).New([]Type{Int8})
	require.Error(t, err)
	_, err = TopKOf(0, 1, maxK+1).New([]Type{Int8, Int8})
	require.Error(t, err)
	_, err = TopKOf(0, 1, 1).New([]Type{Int8, Vector(Float32, 2)})
	require.Error(t, err)

	acc, err := TopK(0, 2).New([]Type{Int8})
	require.NoError(t, err)
	acc.Resize(2)
	require.Error(t, acc.Merge([]uint32{1}, []Column{Values([]string{"1234567"})}))
	acc, err = TopKOf(0, 1, 2).New([]Type{Int8, Int16})
	require.NoError(t, err)
	acc.Resize(2)
	for _, s := range []string{"0", "01234567890123456", "0123456789012345\x04ab", "0123456789012345\x02a", "0123456789012345\xff"} {
		require.Error(t, acc.Merge([]uint32{1}, []Column{Values([]string{s})}), "%q", s)
	}
	require.NoError(t, acc.Merge([]uint32{1}, []Column{Values([]string{"0123456789012345\x03ab"})}))
}
