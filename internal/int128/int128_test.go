// SPDX-License-Identifier: Apache-2.0

package int128

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The reference is math/big: each operation on big integers and fractions, with its range checked at the end.

// words are the boundaries of the words of integers.
var words = []uint64{0, 1, 2, 9, 10, 1 << 31, 1 << 32, 1e18, 1e19, 1<<63 - 1, 1 << 63, 1<<63 + 1, math.MaxUint64 - 1, math.MaxUint64}

// boundaries are the integers of all pairs of boundaries, and the powers of ten with their neighbors.
func boundaries() []Int {
	var all []Int
	for _, hi := range words {
		for _, lo := range words {
			all = append(all, Int{Lo: lo, Hi: int64(hi)})
		}
	}
	for n := range MaxDigits + 1 {
		for _, near := range []int64{-1, 0, 1} {
			v, _ := Add(Pow10(n), Of(near))
			negative, _ := Sub(Int{}, v)
			all = append(all, v, negative)
		}
	}
	return all
}

func TestPairsEqualReference(t *testing.T) {
	all := boundaries()
	for _, a := range all {
		for _, b := range all {
			checkPair(t, a, b)
		}
	}
}

func FuzzPairs(f *testing.F) {
	f.Add(uint64(1), int64(0), uint64(3), int64(-1), 2, 0.5)
	f.Add(uint64(math.MaxUint64), int64(math.MaxInt64), uint64(10), int64(0), 38, 1.005)
	f.Fuzz(func(t *testing.T, aLo uint64, aHi int64, bLo uint64, bHi int64, scale int, float float64) {
		a, b := Int{Lo: aLo, Hi: aHi}, Int{Lo: bLo, Hi: bHi}
		checkPair(t, a, b)
		checkPair(t, a, Int{Lo: bLo, Hi: bHi >> 63})
		scale = int(uint(scale) % (MaxDigits + 1))
		checkScale(t, a, scale, int(bLo%(MaxDigits+1)))
		checkFloat(t, float, scale)
	})
}

func checkPair(t *testing.T, a, b Int) {
	t.Helper()
	x, y := Big(a), Big(b)
	require.Equal(t, x.Cmp(y), Cmp(a, b), "%v %v", x, y)
	require.Equal(t, x.Sign(), Sign(a), "%v", x)
	require.Equal(t, x.IsInt64(), isInt64(a), "%v", x)
	check := func(op string, got Int, ok bool, want *big.Int) {
		back, fits := OfBig(want)
		require.Equal(t, fits, ok, "%v %s %v", x, op, y)
		if ok {
			require.Equal(t, back, got, "%v %s %v is %v", x, op, y, want)
			require.Zero(t, want.Cmp(Big(got)))
		}
	}
	sum, ok := Add(a, b)
	check("+", sum, ok, new(big.Int).Add(x, y))
	difference, ok := Sub(a, b)
	check("-", difference, ok, new(big.Int).Sub(x, y))
	product, ok := Mul(a, b)
	check("*", product, ok, new(big.Int).Mul(x, y))
	if y.Sign() == 0 {
		return
	}
	quotient, remainder, ok := QuoRem(a, b)
	check("/", quotient, ok, new(big.Int).Quo(x, y))
	check("%", remainder, true, new(big.Int).Rem(x, y))
}

func isInt64(v Int) bool {
	_, ok := Int64(v)
	return ok
}

func TestScalesEqualReference(t *testing.T) {
	for i, v := range boundaries() {
		for _, from := range []int{0, 1, 19, 38} {
			for to := i % 7; to <= MaxDigits; to += 7 {
				checkScale(t, v, from, to)
			}
		}
	}
}

// checkScale compares what has a scale with fractions.
func checkScale(t *testing.T, v Int, from, to int) {
	t.Helper()
	unit := func(scale int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil) }
	exact := new(big.Rat).SetFrac(Big(v), unit(from))
	scaled := new(big.Rat).Mul(exact, new(big.Rat).SetInt(unit(to)))
	want, fits := OfBig(nearest(scaled))
	got, ok := Scale(v, from, to)
	require.Equal(t, fits, ok, "%v of scale %d to %d", Big(v), from, to)
	if ok {
		require.Equal(t, want, got, "%v of scale %d to %d", Big(v), from, to)
	}
	require.Equal(t, new(big.Int).Abs(Big(v)).Cmp(unit(to)) < 0, Within(v, to), "%v within %d digits", Big(v), to)
	for mode, of := range map[Mode]func(*big.Rat) *big.Int{Nearest: nearest, Down: toZero, Floor: floor, Ceil: ceil} {
		require.Zero(t, of(exact).Cmp(Big(Drop(v, from, mode))), "%v of scale %d, mode %d", Big(v), from, mode)
	}
	other := Int{Lo: v.Lo / 3, Hi: v.Hi}
	require.Equal(t, exact.Cmp(new(big.Rat).SetFrac(Big(other), unit(to))), CmpScaled(v, from, other, to))
	float, _ := exact.Float64()
	require.Equal(t, float, Float(v, from), "%v of scale %d", Big(v), from) //nolint:testifylint // the nearest
	text := string(Append(nil, v, from))
	require.Equal(t, exact.FloatString(from), text)
	if Within(v, MaxDigits) {
		back, ok := Parse(text, from)
		require.True(t, ok, text)
		require.Equal(t, v, back, text)
		shorter, ok := Parse(text, min(from, to))
		require.True(t, ok, text)
		want, _ = Scale(v, from, min(from, to))
		require.Equal(t, want, shorter, "%s to scale %d", text, min(from, to))
	}
}

func nearest(r *big.Rat) *big.Int {
	half := new(big.Rat).Add(new(big.Rat).Abs(r), big.NewRat(1, 2))
	n := floor(half)
	if r.Sign() < 0 {
		n.Neg(n)
	}
	return n
}

func toZero(r *big.Rat) *big.Int { return new(big.Int).Quo(r.Num(), r.Denom()) }
func floor(r *big.Rat) *big.Int  { return new(big.Int).Div(r.Num(), r.Denom()) }

func ceil(r *big.Rat) *big.Int {
	n := floor(new(big.Rat).Neg(r))
	return n.Neg(n)
}

func TestFloatsEqualReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 7))
	for _, f := range []float64{0, 1.005, 2.675, 1.115, 0.125, -0.125, 2.5, 1e22, 1e300, 5e-324, 1 << 53, math.Inf(1), math.NaN(), 4503599627370497.5} {
		for scale := range MaxDigits + 1 {
			checkFloat(t, f, scale)
			checkFloat(t, -f, scale)
		}
	}
	for range 20_000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 { // near a half of the last digit
			f = (float64(r.Int64N(1e12)) + 0.5) / math.Pow10(r.IntN(12))
		}
		checkFloat(t, f, r.IntN(MaxDigits+1))
	}
}

// TestFloatIsRoundedOnce converts decimals of all scales.
func TestFloatIsRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 8))
	for scale := range MaxDigits + 1 {
		unit := Big(Pow10(scale))
		for range 500 {
			v := r.Int64() >> r.IntN(60)
			want, _ := new(big.Rat).SetFrac(big.NewInt(v), unit).Float64()
			require.Equal(t, want, Float(Of(v), scale), "%d of scale %d", v, scale) //nolint:testifylint // the nearest
		}
	}
}

func checkFloat(t *testing.T, f float64, scale int) {
	t.Helper()
	got, ok := OfFloat(f, scale)
	if math.IsNaN(f) || math.IsInf(f, 0) {
		require.False(t, ok)
		return
	}
	r := new(big.Rat).SetFloat64(f)
	r.Mul(r, new(big.Rat).SetInt(Big(Pow10(scale))))
	want := nearest(r)
	require.Equal(t, new(big.Int).Abs(want).Cmp(Big(Pow10(MaxDigits))) < 0, ok, "%v", f)
	if ok {
		require.Zero(t, want.Cmp(Big(got)), "%v of scale %d is %v, want %v", f, scale, Big(got), want)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]string{
		"1.005": "1.01", "-1.005": "-1.01", ".5": "0.50", "5.": "5.00", "+7": "7.00", "1e3": "1000.00", "12e-1": "1.20", "1E-40": "0.00",
		"0e999999": "0.00", "000000000000000000000000000000000000000000000000001": "1.00", "0.004": "0.00", "0.005": "0.01", "-0": "0.00",
		"999999999999999999999999999999999999.99": "999999999999999999999999999999999999.99",
	} {
		got, ok := Parse(text, 2)
		require.True(t, ok, text)
		require.Equal(t, want, string(Append(nil, got, 2)), text)
	}
	for _, text := range []string{
		"", "-", "+", ".", "1e", "1e1.5", "1_0", "0x10", "1 ", " 1", "nan", "inf", "--1", "1.2.3", "e5", "1e9999999", "٣",
		"999999999999999999999999999999999999.995", "1e37",
	} {
		_, ok := Parse(text, 2)
		require.False(t, ok, text)
	}
}
