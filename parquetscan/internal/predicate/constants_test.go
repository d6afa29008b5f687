// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFloat16 converts all values of binary16, and floats that are none.
func TestFloat16(t *testing.T) {
	for i := range 1 << 16 {
		b := uint16(i)
		want, got := halfValue(b), float64(float16Value(b))
		if want != want {
			require.True(t, got != got, "%#x", b)
			continue
		}
		require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%#x", b)
		back, ok := float16Bits(got)
		require.True(t, ok, "%#x", b)
		require.Equal(t, b, back)
	}
	for _, f := range []float64{0x1p-25, 0x1.8p-24, 1 + 0x1p-11, 65505, 65536, 1e300, -5e-324} {
		_, ok := float16Bits(f)
		require.False(t, ok, "%v", f)
	}
}

// TestInt256 compares and converts integers of 256 bits.
func TestInt256(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	integer := func() *big.Int { // with any number of bits, and often a power of 2 or one less
		bits := uint(r.IntN(256))
		i := new(big.Int).Lsh(big.NewInt(1), bits)
		for k := range int(bits) {
			i.SetBit(i, k, uint(r.Uint64()>>63))
		}
		if r.IntN(4) == 0 {
			i.Lsh(big.NewInt(1), bits).Sub(i, big.NewInt(int64(r.IntN(2))))
		}
		if i.BitLen() > 255 {
			i.Rsh(i, 1)
		}
		if r.IntN(2) == 0 {
			i.Neg(i)
		}
		return i
	}
	for range 2000 {
		a, b := integer(), integer()
		x, y := wideOfBig(a), wideOfBig(b)
		require.Zero(t, a.Cmp(x.big()), "%v %v", a, x.big())
		require.Equal(t, a.Cmp(b), compareInts(x, y), "%v %v", a, b)
		require.Equal(t, a.Cmp(a), compareInts(x, x))
		for n := range 40 {
			bytes, ok := y.bytes(n)
			need := b.BitLen()
			if b.Sign() < 0 {
				need = new(big.Int).Not(b).BitLen()
			}
			require.Equal(t, n*8 > need, ok, "%v in %d bytes", b, n)
			if ok {
				back, ok := wideOfBytes(bytes)
				require.True(t, ok)
				require.Equal(t, y, back)
			}
		}
	}
	for _, head := range []string{"\x01\x00", "\xff\x00", "\x00\x80"} {
		_, ok := wideOfBytes([]byte(head + strings.Repeat("\x00", 31)))
		require.False(t, ok, "%q", head)
	}
	_, ok := wideOfBytes(nil)
	require.False(t, ok)
}

// halfValue returns the value of a binary16 by the definition of IEEE 754.
func halfValue(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&31), float64(b&1023)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return math.Copysign(fraction/1024*math.Pow(2, -14), sign)
	}
	return sign * (1 + fraction/1024) * math.Pow(2, float64(exponent-15))
}

// TestTextsOfDecimals requires which texts are decimals.
func TestTextsOfDecimals(t *testing.T) {
	for text, want := range map[string]string{"1.25": "5/4", "-1.25": "-5/4", "+3": "3/1", ".5": "1/2", "7.": "7/1", "-.5": "-1/2", "007": "7/1"} {
		got, ok := decimalOf(text)
		require.True(t, ok, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{"", ".", "-", "+", "-.", "1.2.3", "..1", "1..", "+-1", "--1", "1-", "1e5", "1/2", "0x1", "1_0", " 1", "1 ", "NaN", "Inf"} {
		_, ok := decimalOf(text)
		require.False(t, ok, text)
	}
}
