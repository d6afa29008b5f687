// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The types of decimals, and their bounds.

// TestDecimalTypes requires the digits of literals, of results, and of common types.
func TestDecimalTypes(t *testing.T) {
	require.Equal(t, column.Type{Kind: column.Decimal64, Precision: 18, Scale: 2}, decimalType(18, 2))
	require.Equal(t, column.Type{Kind: column.Decimal128, Precision: 19, Scale: 2}, decimalType(19, 2))
	for text, want := range map[string]column.Type{
		"7": decimalType(1, 0), "0": decimalType(1, 0), "007.50": decimalType(3, 2), "-00.5": decimalType(1, 1), "10": decimalType(2, 0),
	} {
		a, ok := parseAmount(text)
		require.True(t, ok, text)
		require.Equal(t, want, a.typ(), text)
	}
	_, ok := commonDecimal(decimalType(38, 0), decimalType(38, 1))
	require.False(t, ok)
	common, ok := commonDecimal(decimalType(18, 2), decimalType(20, 10))
	require.True(t, ok)
	require.Equal(t, decimalType(26, 10), common)

	a, err := amountOfDecimal(cql.Decimal{Unscaled: big.NewInt(-5), Scale: 3})
	require.NoError(t, err)
	require.Equal(t, decimalType(3, 3), a.(amount).typ())
	_, err = amountOfDecimal(cql.Decimal{Unscaled: big.NewInt(5), Scale: -1})
	require.ErrorContains(t, err, "without its last digits")
}

// TestDecimalResults requires the types of results, and errors for results without a type.
func TestDecimalResults(t *testing.T) {
	schema := column.Schema{
		{Name: "half", Type: decimalType(2, 2)},
		{Name: "tens", Type: decimalType(2, 0)},
		{Name: "price", Type: decimalType(4, 2)},
		{Name: "rate", Type: decimalType(18, 10)},
		{Name: "wide", Type: decimalType(38, 19)},
		{Name: "wider", Type: decimalType(38, 20)},
	}
	for text, want := range map[string]column.Type{
		"half + half": decimalType(3, 2), "-half": decimalType(2, 2), "half % tens": decimalType(4, 2), "price * price": decimalType(8, 4),
		"rate * price": decimalType(18, 12), "rate * rate": decimalType(36, 20), "wide * wide": decimalType(38, 38), "null + half": decimalType(3, 2),
		"round(tens, -1)": decimalType(3, 0), "round(price, 1)": decimalType(4, 1), "round(price, 5)": decimalType(4, 2), "ceil(price)": decimalType(4, 0),
		"abs(price)": decimalType(4, 2),
	} {
		e, err := Parse(text)
		require.NoError(t, err, text)
		p, err := Compile(e, schema)
		require.NoError(t, err, text)
		require.Equal(t, want, p.Type(), text)
	}
	e, err := Parse("wide * wider")
	require.NoError(t, err)
	_, err = Compile(e, schema)
	require.ErrorContains(t, err, "the product has 39 digits behind the point")
}

// TestBeyond requires that the absolute value of each integer is compared with the limit.
func TestBeyond(t *testing.T) {
	for _, limit := range []int64{1, 10, 1e18, 1 << 62} {
		require.False(t, beyond([]int64{limit - 1, 0, 1 - limit}, limit), limit)
		for _, v := range []int64{limit, -limit, math.MaxInt64, math.MinInt64} {
			require.True(t, beyond([]int64{0, v, 0}, limit), "%d of %d", v, limit)
		}
	}
	require.False(t, beyond(nil, 10))
}

// TestDecimalsBeyondTheirTypes requires an overflow of operands with more digits than their type has. With the zeros
// that they get, their value modulo 2^64 is small.
func TestDecimalsBeyondTheirTypes(t *testing.T) {
	b := column.NewBatch(
		typed(column.Of("price", []int64{100}), decimalType(4, 2)), typed(column.Of("tens", []int64{1 << 64 / 10}), decimalType(2, 0)),
	)
	for _, text := range []string{"price + tens", "tens + price", "price - tens", "tens - price", "price % tens", "tens % price"} {
		_, err := compiled(t, text, b).Eval(b)
		require.ErrorIs(t, err, ErrOverflow, text)
	}
}

// TestBigDecimals casts numbers of any size: their bytes, and the rounding of the last digit.
func TestBigDecimals(t *testing.T) {
	for text, want := range map[string]int64{"": 0, "\x00": 0, "\x7f": 127, "\x80": -128, "\xff": -1, "\x00\xff": 255, "\xff\x00": -256} {
		require.Equal(t, big.NewInt(want).String(), bigOfBytes(text).String(), "%x", text)
	}
	for _, m := range []struct {
		unscaled    int64
		scale, want int
	}{
		{5, 2, 1}, {-5, 2, -1}, {4, 2, 0}, {5, 3, 0}, {99, 3, 1}, {949, 4, 1}, {12, 0, 120}, {1, -1, 100}, {5, 1 << 20, 0},
	} {
		v, err := fittedBig(big.NewInt(m.unscaled), m.scale, decimalType(4, 1))
		require.NoError(t, err, m)
		require.Equal(t, int64(m.want), int64(v.Lo), m)
	}
	for _, unscaled := range []int64{1000, -1000} {
		_, err := fittedBig(big.NewInt(unscaled), 0, decimalType(4, 1))
		require.ErrorIs(t, err, ErrCast)
	}
	cells := typed(column.Strings("a", []string{"\x00\x00\x00\x01\x0c", "\x00\x00\x00\x02"}), column.Type{Kind: column.Decimal})
	b := column.NewBatch(cells)
	p, err := Compile(Col("a").Cast(decimalType(4, 1)), b.Schema())
	require.NoError(t, err)
	got, err := p.Eval(b.Slice(0, 1))
	require.NoError(t, err)
	require.Equal(t, "1.2", got.Format(0, math.MaxInt))
	_, err = p.Eval(b.Slice(1, 2))
	require.ErrorIs(t, err, ErrCast, "a scale alone")
}
