// SPDX-License-Identifier: Apache-2.0

package token

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// shardOfReference is the documented formula in integers of any size.
func shardOfReference(t int64, shards int32, ignoreMSB uint8) int32 {
	biased := new(big.Int).Add(big.NewInt(t), new(big.Int).Lsh(big.NewInt(1), 63))
	biased.Lsh(biased, uint(ignoreMSB))
	biased.And(biased, new(big.Int).SetUint64(math.MaxUint64))
	biased.Mul(biased, big.NewInt(int64(shards)))
	return int32(biased.Rsh(biased, 64).Int64())
}

func TestShardOf(t *testing.T) {
	for _, m := range []struct {
		key    string // keys of a test cluster with 12 shards that ignores 12 bits
		shards int32
		msb    uint8
		want   int32
	}{
		{"a", 12, 12, 4}, {"b", 12, 12, 6}, {"c", 12, 12, 6}, {"e", 12, 12, 4}, {"100000", 12, 12, 2},
	} {
		require.Equal(t, m.want, ShardOf(Murmur3([]byte(m.key)), m.shards, m.msb), m.key)
	}
	require.EqualValues(t, 0, ShardOf(Min, 8, 0))
	require.EqualValues(t, 7, ShardOf(Max, 8, 0))
	require.EqualValues(t, 4, ShardOf(0, 8, 0))
	require.EqualValues(t, 0, ShardOf(0, 8, 1), "only the ignored bit is set")
}

func TestShardOfAgainstReference(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		tok, shards, msb := int64(r.Uint64()), 1+r.Int32N(1<<(1+r.IntN(15))), uint8(r.IntN(64))
		got := ShardOf(tok, shards, msb)
		require.Equal(t, shardOfReference(tok, shards, msb), got, "token %d, %d shards, %d bits", tok, shards, msb)
		require.True(t, got >= 0 && got < shards)
	}
}

func TestShardOfPort(t *testing.T) {
	require.EqualValues(t, 0, ShardOfPort(49152, 8))
	require.EqualValues(t, 7, ShardOfPort(65535, 8))
	require.EqualValues(t, 1, ShardOfPort(49153, 3*2))
}
