// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// total returns a sum of sums exactly.
func (s *sums) total(id uint32, isUnsigned bool) *big.Int {
	low := big.NewInt(s.low[id])
	if isUnsigned {
		low.SetUint64(uint64(s.low[id]))
	}
	return low.Add(low, new(big.Int).Lsh(big.NewInt(s.over.of(int(id))), 64))
}

// checkSums adds random values, most of them extreme, to two groups, of which some blocks belong to one group and are
// marked so. The sums must be those of big.Int.
func checkSums[T signed | unsigned](t *testing.T, id uint32, isUnsigned bool,
	add func(*sums, []uint32, bool, *column.Column),
) {
	random := rand.New(rand.NewPCG(1, uint64(id)))
	var s sums
	s.Resize(int(id) + 2)
	want := map[uint32]*big.Int{id: {}, id + 1: {}}
	for block := range 200 {
		values, ids := make([]T, 1+random.IntN(40)), []uint32{}
		only := block%2 == 0
		one := id + uint32(random.IntN(2))
		for i := range values {
			values[i] = T(random.Uint64())
			if random.IntN(4) > 0 { // near an end of the type
				least := T(0)
				if !isUnsigned {
					least = T(1) << (8*unsafe.Sizeof(least) - 1)
				}
				values[i] = least + T(random.IntN(3)) - 1
			}
			if !only {
				one = id + uint32(random.IntN(2))
			}
			ids = append(ids, one)
			v := new(big.Int).SetUint64(uint64(values[i]))
			if !isUnsigned {
				v.SetInt64(int64(values[i]))
			}
			want[one].Add(want[one], v)
		}
		col := vals(values)
		add(&s, ids, only, &col)
		for k, sum := range want {
			require.Zero(t, sum.Cmp(s.total(k, isUnsigned)), "%T, block %d, group %d: %v", values, block, k, sum)
		}
	}
	require.Nil(t, s.over.between(0, int(id)))
}

// TestSumsOfOneGroup checks the loops for blocks of one group beside those for several, below and beyond firstCarries.
func TestSumsOfOneGroup(t *testing.T) {
	for _, id := range []uint32{0, 1, firstCarries - 1, firstCarries} {
		checkSums[int8](t, id, false, addSigned[int8])
		checkSums[int16](t, id, false, addSigned[int16])
		checkSums[int32](t, id, false, addSigned[int32])
		checkSums[int64](t, id, false, addSigned[int64])
		checkSums[uint8](t, id, true, addUnsigned[uint8])
		checkSums[uint32](t, id, true, addUnsigned[uint32])
		checkSums[uint64](t, id, true, addUnsigned[uint64])
	}
}

// TestValidRows lists the rows that are not NULL in columns of which any share is NULL, and compares the list with the
// column, row by row.
func TestValidRows(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var got []uint32
	for _, share := range []int{0, 1, 10, 15, 16, 17, 50, 90, 99, 100} {
		for _, n := range []int{0, 1, 63, 64, 65, 127, 500, chunkRows} {
			bits := make([]byte, (n+7)/8)
			var want []uint32
			for i := range n {
				if random.IntN(100) < share {
					bits[i>>3] |= 1 << (i & 7)
					want = append(want, uint32(i))
				}
			}
			col := vals(make([]int64, n)).WithValidity(bits)
			got = validRows(got, &col)
			require.True(t, slices.Equal(want, got), "%d %% of %d rows: got %d, want %d", share, n, len(got), len(want))
		}
	}
}
