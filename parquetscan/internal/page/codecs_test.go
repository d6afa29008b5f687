// SPDX-License-Identifier: Apache-2.0

package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// TestOddCompression decompresses consecutive members of Gzip, and pages without values.
func TestOddCompression(t *testing.T) {
	member := func(s string) []byte {
		var buf bytes.Buffer
		w := gzip.NewWriter(&buf)
		_, err := io.WriteString(w, s)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		return buf.Bytes()
	}
	out, two := make([]byte, 6), append(member("abc"), member("def")...)
	require.NoError(t, decompress(format.Gzip, out, two), "consecutive members are one stream (RFC 1952, 2.2)")
	require.Equal(t, "abcdef", string(out))
	require.ErrorIs(t, decompress(format.Gzip, out[:5], two), failure.ErrCorrupt)
	require.ErrorIs(t, decompress(format.Gzip, make([]byte, 7), two), failure.ErrCorrupt)
	for _, kind := range []format.Codec{format.Snappy, format.Gzip, format.Zstd, format.Brotli, format.LZ4Raw} {
		require.NoError(t, checkCodec(kind))
		codec, err := compress.GetCodec(compress.Compression(kind))
		require.NoError(t, err)
		// A page V2 whose values are all NULL: levels, and either no bytes or the codec's output for no bytes.
		nothing := codec.Encode(make([]byte, codec.CompressBound(0)), nil)
		for _, values := range [][]byte{nil, nothing} {
			w := Walker{codec: kind}
			h := Header{Type: format.DataPageV2, uncompressed: 2, Compressed: int32(2 + len(values)), NumValues: 3, numRows: 3, DefLength: 2}
			page, err := w.decompress(&h, append([]byte{6, 0}, values...))
			require.NoError(t, err, kind)
			require.Equal(t, []byte{6, 0}, page)
		}
	}
}

// TestZstdBound compares the bound with the output of a compressor.
func TestZstdBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 1))
	for _, n := range []int{0, 1, 255, 256, 257, 1000, 65_791, 65_792, 200_000, 1 << 20} {
		data := make([]byte, n)
		for i := range data {
			data[i] = byte(rng.IntN(1 + i%7))
		}
		src := zstdOf(t, data)
		bound, err := zstdBound(src)
		require.NoError(t, err)
		require.GreaterOrEqual(t, bound, uint64(n))
		require.LessOrEqual(t, bound, uint64(n)+zstdBlock)
		for cut := range min(len(src), 100) {
			_, err := zstdBound(src[:len(src)-cut-1])
			require.True(t, err != nil || cut == len(src)-1, "%d of %d", cut, len(src))
		}
	}
}

// TestSkippableFrames bounds the content of skippable frames of Zstandard, whole and cut.
func TestSkippableFrames(t *testing.T) {
	skippable := []byte("\x5a\x2a\x4d\x18\x03\x00\x00\x00abc")
	content := zstdOf(t, []byte("content"))
	for _, src := range [][]byte{skippable, append(bytes.Clone(skippable), skippable...)} {
		bound, err := zstdBound(src)
		require.NoError(t, err)
		require.Zero(t, bound)
	}
	want, err := zstdBound(content)
	require.NoError(t, err)
	bound, err := zstdBound(append(bytes.Clone(skippable), content...))
	require.NoError(t, err)
	require.Equal(t, want, bound)
	for n := 1; n < len(skippable); n++ {
		_, err := zstdBound(skippable[:n])
		require.Error(t, err, n)
	}
}

// zstdOf returns data as frames of Zstandard.
func zstdOf(t *testing.T, data []byte) []byte {
	t.Helper()
	codec, err := compress.GetCodec(compress.Codecs.Zstd)
	require.NoError(t, err)
	return codec.Encode(make([]byte, codec.CompressBound(int64(len(data)))), data)
}
