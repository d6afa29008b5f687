// SPDX-License-Identifier: Apache-2.0

package order

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// ascending are columns whose values ascend from row to row.
func ascending(t *testing.T) []column.Column {
	t.Helper()
	typed := func(c column.Column, to column.Type) column.Column {
		c, err := c.WithType(to)
		require.NoError(t, err)
		return c
	}
	inf := math.Inf(1)
	return []column.Column{
		column.Of("", []bool{false, true}),
		column.Of("", []int8{math.MinInt8, -1, 0, 1, math.MaxInt8}),
		column.Of("", []int16{math.MinInt16, -1, 0, 300, math.MaxInt16}),
		column.Of("", []int32{math.MinInt32, -1, 0, 70000, math.MaxInt32}),
		column.Of("", []int64{math.MinInt64, -1, 0, 1 << 40, math.MaxInt64}),
		column.Of("", []uint8{0, 1, 200, math.MaxUint8}),
		column.Of("", []uint16{0, 1, 300, math.MaxUint16}),
		column.Of("", []uint32{0, 1, 70000, math.MaxUint32}),
		column.Of("", []uint64{0, 1, 1 << 40, math.MaxUint64}),
		column.Of("", []float32{float32(-inf), -2, -1e-40, 0, 1e-40, 1, float32(inf), float32(math.NaN())}),
		column.Of("", []float64{-inf, -2, -5e-324, 0, 5e-324, 1, math.MaxFloat64, inf, math.NaN()}),
		// -infinity, -1, the least negative, 0, subnormal, the least normal, 1, the next, 65504, infinity, NaN
		typed(column.Of("", []uint16{0xfc00, 0xbc00, 0x8001, 0, 1, 0x0400, 0x3c00, 0x3c01, 0x7bff, 0x7c00, 0x7e00}),
			column.Type{Kind: column.Float16}),
		column.Of("", []cql.UUID{{}, {0, 1}, {0, 1, 15: 1}, {255}}),
		column.Strings("", []string{"", "\x00", "\x00\x00", "\x00a", "a", "a\x00", "aa", "aaaaaaaa", "aaaaaaaa\x00", "aaaaaaaab", "b"}),
		column.Binaries("", [][]byte{{}, {0}, {255}, {255, 0}, {255, 255}}),
	}
}

// TestKeysHaveTheOrderOfValues compares keys and their words of all pairs of rows, and of NULL.
func TestKeysHaveTheOrderOfValues(t *testing.T) {
	for _, c := range ascending(t) {
		for _, k := range []Key{{}, {Desc: true}, {NullsFirst: true}, {Desc: true, NullsFirst: true}} {
			nulls := make([]bool, c.Len)
			nulls[0] = true
			for _, c := range []column.Column{c, c.WithNulls(nulls)} {
				of, err := ColumnOf(k, column.NewBatch(c))
				require.NoError(t, err)
				for i := range c.Len {
					for j := range c.Len {
						want := placeOf(k, c, i) - placeOf(k, c, j)
						note := []any{"%v rows %d and %d by %+v", c.Type, i, j, k}
						require.Equal(t, cmp.Compare(want, 0), bytes.Compare(of.Append(nil, i), of.Append(nil, j)), note...)
						if word := cmp.Compare(of.prefix(i), of.prefix(j)); word != 0 {
							require.Equal(t, cmp.Compare(want, 0), word, note...)
						}
					}
					again, err := column.NewBatch(c).Take([]int32{int32(i), 0, int32(i)})
					require.NoError(t, err)
					twice, err := ColumnOf(k, again)
					require.NoError(t, err)
					require.Equal(t, of.Append(nil, i), twice.Append(nil, 0))
					require.Equal(t, of.Append(nil, i), twice.Append(nil, 2))
					if c.Null(i) {
						require.Nil(t, of.Value(i))
					}
				}
			}
		}
	}
}

// placeOf returns the place of a row of ascending values in an order.
func placeOf(k Key, c column.Column, i int) int {
	switch {
	case c.Null(i) && k.NullsFirst:
		return -c.Len
	case c.Null(i):
		return c.Len
	case k.Desc:
		return -i
	}
	return i
}

// TestEqualFloats has zeros and NaNs of all signs.
func TestEqualFloats(t *testing.T) {
	nan := math.Float64frombits(math.Float64bits(math.NaN()) | 1<<63 | 7)
	half, err := column.Of("", []uint16{0, 0x8000, 0x7e00, 0xfe01}).WithType(column.Type{Kind: column.Float16})
	require.NoError(t, err)
	for _, c := range []column.Column{column.Of("", []float64{0, math.Copysign(0, -1), math.NaN(), nan}), half} {
		of, err := ColumnOf(Key{}, column.NewBatch(c))
		require.NoError(t, err)
		require.Equal(t, of.Append(nil, 0), of.Append(nil, 1))
		require.Equal(t, of.Append(nil, 2), of.Append(nil, 3))
		require.NotEqual(t, of.Append(nil, 0), of.Append(nil, 2))
	}
}

// TestKindsWithoutOrder has the kinds that have no order.
func TestKindsWithoutOrder(t *testing.T) {
	without := []column.Kind{
		column.Duration, column.Varint, column.Decimal, column.Vector, column.List, column.Map, column.Struct, column.Tuple,
	}
	for _, k := range without {
		require.False(t, Has(k), k)
	}
	for _, c := range ascending(t) {
		require.True(t, Has(c.Type.Kind) && !slices.Contains(without, c.Type.Kind))
	}
	_, err := ColumnOf(Key{Name: "missing"}, column.NewBatch(column.Of("n", []int64{1})))
	require.ErrorIs(t, err, column.ErrNoColumn)
}
