// SPDX-License-Identifier: Apache-2.0

package token

import (
	"encoding/hex"
	"math"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
)

// golden lists keys and their tokens from Cassandra 5.0.9: SELECT k, token(k). tests/token_test.go compares them with a
// server.
var golden = []struct {
	key   string
	token int64
}{
	{"c6", -3415971023675750463},
	{"49d4", -1184656794875684457},
	{"c9e6b3", -5024878027184994501},
	{"622cdf99", 5952658352562035277},
	{"81e5d4bbf3", -6104934102754248378},
	{"8ab4a0a05426", -5688796936956837948},
	{"8388e2c1e7c090", -416717300885050349},
	{"dd4c10ba352b77fa", 2693456461534245941},
	{"da8be3d4e2c1c7f2d0", 40946355070946694},
	{"59e9abc6eab0f66408d9", -3536141300952318156},
	{"8af297bae1fbc2fccef3f8", 8757548271217450849},
	{"74b9168cb4ac8e7e89320730", -5625024252470310876},
	{"c2baaafa9ac0bf81dbd4c492c9", 9214347673876475924},
	{"eeda535658b067536b2233369d48", 1405949221339507541},
	{"8ef98f86b6baf5d09da2ebb8d7fab8", -6242103034099560342},
	{"994b9ccd42d237df64a6dfc8027b67be", 5650563516129402154},
	{"a4aac0c9e992d99b86efa8808f9499c1ee", 2852809800472325461},
	{"624a87738d36a597901ff8a2bd71d6503f6b0106741645f0", -1595530120206275208},
	{"8197e3f3a884cb90b9b0e0d7c5a7d1fc8badd291b588c9e6e6b6ce8afbf9b8", 5766204456002861443},
	{"686b112777e375ca1e9adf837941871d10fce23703ca3756089c13b4cb0c57c4", 1769134422096781896},
	{"ebd0abf7fbce9e8492ebb2f6a7f2f9f1fbf9f9a4b5addac8ee9297fbfea8fdd3e1", 7631800257881422125},
	{"eb9bfbc179a7ab359c25a132d597eb51c04763114fe2e2dc67d0f497b39a641292c76372e03b5c0b", -5959996873448086188},
}

func TestMurmur3(t *testing.T) {
	for _, row := range golden {
		key, err := hex.DecodeString(row.key)
		require.NoError(t, err)
		require.Equal(t, row.token, Murmur3(key), row.key)
		require.Equal(t, row.token, murmur3Reference(key), row.key)
	}
	require.Equal(t, int64(math.MinInt64), Murmur3(nil))
	require.Equal(t, int64(math.MinInt64), Murmur3([]byte{}))
}

// murmur3Reference is the hash as documented, in unbounded integers: every step is reduced modulo 2^64 explicitly.
func murmur3Reference(key []byte) int64 {
	mod := new(big.Int).Lsh(big.NewInt(1), 64)
	wrap := func(x *big.Int) *big.Int { return x.Mod(x, mod) }
	mul := func(x *big.Int, c uint64) *big.Int { return wrap(new(big.Int).Mul(x, new(big.Int).SetUint64(c))) }
	add := func(x, y *big.Int) *big.Int { return wrap(new(big.Int).Add(x, y)) }
	rotl := func(x *big.Int, n uint) *big.Int {
		return wrap(new(big.Int).Or(new(big.Int).Lsh(x, n), new(big.Int).Rsh(x, 64-n)))
	}
	xor := func(x, y *big.Int) *big.Int { return new(big.Int).Xor(x, y) }
	mixK1 := func(k *big.Int) *big.Int { return mul(rotl(mul(k, 0x87c37b91114253d5), 31), 0x4cf5ad432745937f) }
	mixK2 := func(k *big.Int) *big.Int { return mul(rotl(mul(k, 0x4cf5ad432745937f), 33), 0x87c37b91114253d5) }
	if len(key) == 0 {
		return math.MinInt64
	}
	h1, h2 := new(big.Int), new(big.Int)
	block := func(b []byte) *big.Int { // little-endian
		k := new(big.Int)
		for i, c := range b {
			k.Add(k, new(big.Int).Lsh(big.NewInt(int64(c)), uint(8*i)))
		}
		return k
	}
	whole := len(key) / 16 * 16
	for i := 0; i < whole; i += 16 {
		h1 = add(mul(add(rotl(xor(h1, mixK1(block(key[i:i+8]))), 27), h2), 5), big.NewInt(0x52dce729))
		h2 = add(mul(add(rotl(xor(h2, mixK2(block(key[i+8:i+16]))), 31), h1), 5), big.NewInt(0x38495ab5))
	}
	// Cassandra treats the remaining bytes as signed: a negative one is -1 in all higher bits, which are xored too.
	tail := func(b []byte) *big.Int {
		k := new(big.Int)
		for i, c := range b {
			k = xor(k, wrap(new(big.Int).Lsh(big.NewInt(int64(int8(c))), uint(8*i))))
		}
		return k
	}
	rest := key[whole:]
	if len(rest) > 8 {
		h2 = xor(h2, mixK2(tail(rest[8:])))
	}
	if len(rest) > 0 {
		h1 = xor(h1, mixK1(tail(rest[:min(8, len(rest))])))
	}
	n := big.NewInt(int64(len(key)))
	h1, h2 = xor(h1, n), xor(h2, n)
	h1 = add(h1, h2)
	h2 = add(h2, h1)
	fmix := func(h *big.Int) *big.Int {
		h = mul(xor(h, new(big.Int).Rsh(h, 33)), 0xff51afd7ed558ccd)
		h = mul(xor(h, new(big.Int).Rsh(h, 33)), 0xc4ceb9fe1a85ec53)
		return xor(h, new(big.Int).Rsh(h, 33))
	}
	if token := int64(add(fmix(h1), fmix(h2)).Uint64()); token != math.MinInt64 {
		return token
	}
	return math.MaxInt64
}

func FuzzMurmur3(f *testing.F) {
	f.Add([]byte("0123456789abcdef\x80\xff"))
	f.Fuzz(func(t *testing.T, key []byte) {
		if len(key) > 1000 {
			return
		}
		require.Equal(t, murmur3Reference(key), Murmur3(key))
	})
}

func TestAppendComposite(t *testing.T) {
	key, err := AppendComposite(nil, []byte("ab"))
	require.NoError(t, err)
	key, err = AppendComposite(key, nil)
	require.NoError(t, err)
	require.Equal(t, "\x00\x02ab\x00\x00\x00\x00", string(key))
	_, err = AppendComposite(nil, make([]byte, math.MaxUint16))
	require.NoError(t, err)
	out, err := AppendComposite(key, make([]byte, math.MaxUint16+1))
	require.ErrorIs(t, err, ErrPartTooLong)
	require.Equal(t, key, out)
}

func TestSearch(t *testing.T) {
	ring := []int64{math.MinInt64, -5, 0, 7}
	for _, row := range []struct {
		name  string
		token int64
		want  int
	}{
		{"lowest", math.MinInt64, 0}, {"within", -6, 1}, {"exactly", -5, 1}, {"just above", -4, 2}, {"last", 7, 3}, {"wraps", 8, 0}, {"highest", math.MaxInt64, 0},
	} {
		require.Equal(t, row.want, Search(ring, row.token), row.name)
	}
	require.Zero(t, Search([]int64{3}, 2))
	require.Zero(t, Search([]int64{3}, 4))
}

func BenchmarkMurmur3(b *testing.B) {
	for _, n := range []int{4, 16, 36} {
		b.Run("bytes="+big.NewInt(int64(n)).String(), func(b *testing.B) {
			key := make([]byte, n)
			b.SetBytes(int64(n))
			for b.Loop() {
				Murmur3(key)
			}
		})
	}
}

func TestCDC(t *testing.T) {
	require.EqualValues(t, int64(0x0102030405060708), CDC([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}))
	require.EqualValues(t, -2, CDC([]byte{255, 255, 255, 255, 255, 255, 255, 254}))
	require.Equal(t, int64(math.MinInt64), CDC([]byte{1, 2, 3, 4, 5, 6, 7}))
	require.Equal(t, int64(math.MinInt64), CDC(nil))
}
