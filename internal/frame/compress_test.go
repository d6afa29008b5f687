// SPDX-License-Identifier: Apache-2.0

package frame

import (
	"bytes"
	"encoding/hex"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/wire"
)

// Tests of the compressors.

var (
	_ cql.Compressor = LZ4{}
	_ cql.Compressor = Snappy{}
)

func compressibleBodies(t testing.TB) map[string][]byte {
	const seed = 1
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, seed))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(rnd.Uint32())
	}
	return map[string][]byte{
		"empty": {}, "one byte": {7}, "zeros": make([]byte, 1<<20), "noise": noise,
		"text": bytes.Repeat([]byte("SELECT k, v FROM ks.t WHERE k = ?; "), 1000),
	}
}

func TestCompressorRoundTrip(t *testing.T) {
	for _, c := range []cql.Compressor{LZ4{}, Snappy{}} {
		for name, body := range compressibleBodies(t) {
			t.Run(c.Name()+" "+name, func(t *testing.T) {
				packed, err := c.AppendCompressedWithLength([]byte("head"), body)
				require.NoError(t, err)
				require.Equal(t, "head", string(packed[:4]))
				got, err := c.AppendDecompressedWithLength([]byte("head"), packed[4:], len(body))
				require.NoError(t, err)
				require.Equal(t, append([]byte("head"), body...), got)
			})
		}
	}
}

func TestLZ4CompressorSegments(t *testing.T) {
	c := LZ4{}
	for name, body := range compressibleBodies(t) {
		if len(body) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			packed, err := c.AppendCompressed([]byte("head"), body)
			require.NoError(t, err)
			got, err := c.AppendDecompressed([]byte("head"), packed[4:], len(body))
			require.NoError(t, err)
			require.Equal(t, append([]byte("head"), body...), got)
			for _, size := range []int{len(body) - 1, len(body) + 1, 0, -1, wire.MaxBody, math.MinInt} {
				var p *cql.ProtocolError
				got, err := c.AppendDecompressed([]byte("head"), packed[4:], size)
				require.ErrorAs(t, err, &p, "size %d", size)
				require.Equal(t, "head", string(got))
			}
		})
	}
}

// TestDecompressGolden decompresses blocks written by hand from the descriptions of the two formats.
func TestDecompressGolden(t *testing.T) {
	for _, row := range []struct {
		name, hex string
		c         cql.Compressor
		want      string
	}{
		{"lz4 literals", "00000005" + "50" + "68656c6c6f", LZ4{}, "hello"},
		// token 1 literal + match of 4+8, offset 1; then the last 5 literals that every block ends with
		{"lz4 match", "00000012" + "18" + "61" + "0100" + "50" + "6263646566", LZ4{}, "aaaaaaaaaaaaabcdef"},
		{"lz4 empty body", "00000000", LZ4{}, ""},
		{"lz4 empty body, empty block", "0000000000", LZ4{}, ""},
		{"snappy literals", "05" + "10" + "68656c6c6f", Snappy{}, "hello"},
		// literal of 1, copy of 11 from offset 1
		{"snappy copy", "0c" + "0061" + "1d01", Snappy{}, "aaaaaaaaaaaa"},
		{"snappy empty body", "00", Snappy{}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			src, err := hex.DecodeString(row.hex)
			require.NoError(t, err)
			got, err := row.c.AppendDecompressedWithLength(nil, src, 100)
			require.NoError(t, err)
			require.Equal(t, row.want, string(got))
		})
	}
}

// TestDecompressLimit refuses a body above the limit, and accepts one of the limit.
func TestDecompressLimit(t *testing.T) {
	for _, c := range []cql.Compressor{LZ4{}, Snappy{}} {
		packed, err := c.AppendCompressedWithLength(nil, make([]byte, 1000))
		require.NoError(t, err)
		got, err := c.AppendDecompressedWithLength([]byte("head"), packed, 999)
		require.ErrorContains(t, err, "body of 1000 bytes, the limit is 999")
		require.Equal(t, "head", string(got))
		got, err = c.AppendDecompressedWithLength(nil, packed, 1000)
		require.NoError(t, err)
		require.Len(t, got, 1000)
	}
}

func TestSnappyHasNoSegments(t *testing.T) {
	_, err := Snappy{}.AppendCompressed(nil, []byte("x"))
	require.ErrorIs(t, err, ErrUnsupported)
	_, err = Snappy{}.AppendDecompressed(nil, []byte("x"), 1)
	require.ErrorIs(t, err, ErrUnsupported)
}

func TestCompressTooBig(t *testing.T) {
	huge := make([]byte, wire.MaxBody+1)
	for _, c := range []cql.Compressor{LZ4{}, Snappy{}} {
		got, err := c.AppendCompressedWithLength([]byte("head"), huge)
		require.ErrorIs(t, err, ErrTooBig)
		require.Equal(t, "head", string(got))
	}
}

func fuzzDecompress(f *testing.F, c cql.Compressor) {
	const limit = 1 << 20
	for _, body := range compressibleBodies(f) {
		packed, err := c.AppendCompressedWithLength(nil, body)
		require.NoError(f, err)
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		got, err := c.AppendDecompressedWithLength([]byte("head"), src, limit)
		if err != nil {
			require.ErrorAs(t, err, new(*cql.ProtocolError))
			require.Equal(t, "head", string(got))
			return
		}
		if len(got)-4 > limit || cap(got) > 2*(255*(len(src)+1)+4)+64 {
			t.Fatalf("%d bytes from %d", cap(got), len(src))
		}
		packed, err := c.AppendCompressedWithLength(nil, got)
		require.NoError(t, err)
		again, err := c.AppendDecompressedWithLength(nil, packed, len(got))
		require.NoError(t, err)
		require.True(t, bytes.Equal(got, again))
	})
}

func FuzzDecompressLZ4(f *testing.F)    { fuzzDecompress(f, LZ4{}) }
func FuzzDecompressSnappy(f *testing.F) { fuzzDecompress(f, Snappy{}) }
