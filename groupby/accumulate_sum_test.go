// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSumsOfOneGroup compares sums in 128 bits with the sums of math/big, of numbers near the bounds of their type.
func TestSumsOfOneGroup(t *testing.T) {
	testSigned[int8](t)
	testSigned[int16](t)
	testSigned[int32](t)
	testSigned[int64](t)
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		x, want := make([]uint64, n), new(big.Int)
		for i := range x {
			x[i] = nearBound(r)
			want.Add(want, new(big.Int).SetUint64(x[i]))
		}
		hi, lo := sumUnsigned(x)
		require.Equal(t, want.String(), whole(hi, lo).String(), "%d", x)
	}
}

func testSigned[T signed](t *testing.T) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 70 {
		x, want := make([]T, n), new(big.Int)
		for i := range x {
			x[i] = T(nearBound(r))
			want.Add(want, big.NewInt(int64(x[i])))
		}
		hi, lo := sumSigned(x)
		require.Equal(t, want.String(), whole(hi, lo).String(), "%d", x)
	}
}

// nearBound returns a number at the bounds of a type, near zero, or any.
func nearBound(r *rand.Rand) uint64 {
	near := 1<<(8<<r.IntN(4)-1) - uint64(r.IntN(3))
	return []uint64{near, -near, uint64(r.IntN(5)) - 2, r.Uint64()}[r.IntN(4)]
}

// whole returns hi<<64 + lo.
func whole(hi int64, lo uint64) *big.Int {
	v := new(big.Int).Lsh(big.NewInt(hi), 64)
	return v.Add(v, new(big.Int).SetUint64(lo))
}
