// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// floats returns n bytes of normally distributed numbers.
func floats(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(r.NormFloat64())))
	}
	return b[:n]
}

// few returns n bytes of a number of symbols; each is half as frequent as the one before, or as frequent.
func few(r *rand.Rand, n, symbols int, even bool) []byte {
	b := make([]byte, n)
	for i := range b {
		if even {
			b[i] = byte(r.IntN(symbols) * 37)
			continue
		}
		s := 0
		for s < symbols-1 && r.IntN(2) == 0 {
			s++
		}
		b[i] = byte(s * 37)
	}
	return b
}

// words returns n bytes of a text with words that repeat.
func words(r *rand.Rand, n int) []byte {
	list := make([][]byte, 300)
	for i := range list {
		list[i] = few(r, 1+r.IntN(12), 26, true)
	}
	var b []byte
	for len(b) < n {
		b = append(append(b, list[r.IntN(1+r.IntN(len(list)))]...), ' ')
	}
	return b[:n]
}

// integers returns n bytes of integers that repeat, and of their successors.
func integers(r *rand.Rand, n int) []byte {
	var b []byte
	for v := uint64(1 << 40); len(b) < n; {
		switch r.IntN(4) {
		case 0:
			v = r.Uint64N(1 << 30)
		case 1:
			v++
		}
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b[:n]
}

// periods returns n bytes of runs. Each repeats 1 to 40 bytes.
func periods(r *rand.Rand, n int) []byte {
	var b []byte
	for len(b) < n {
		for range 1 + r.IntN(3) {
			b = append(b, few(r, r.IntN(70), 200, true)...)
		}
		b = append(b, bytes.Repeat(few(r, 1+r.IntN(40), 256, true), 1+r.IntN(12))...)
	}
	return b[:n]
}

// distant returns random bytes. Their first quarter comes again after their half.
func distant(random []byte) []byte {
	b := bytes.Clone(random)
	copy(b[len(b)/2:], b[:len(b)/4])
	return b
}

type content struct {
	name string
	data []byte
}

// contents returns contents of n bytes.
func contents(n int) []content {
	r := rand.New(rand.NewPCG(1, uint64(n)))
	random := make([]byte, n)
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	text := bytes.Repeat([]byte("It was the best of times, it was the worst of times. "), n/50+1)[:n]
	mixed := append(floats(r, n/2), text[:n-n/2]...)
	list := []content{
		{"floats", floats(r, n)},
		{"random", random},
		{"zeros", make([]byte, n)},
		{"text", text},
		{"mixed", mixed},
		{"words", words(r, n)},
		{"integers", integers(r, n)},
		{"periods", periods(r, n)},
		{"distant", distant(random)},
	}
	for _, k := range []int{2, 3, 5, 17, 100, 200} {
		list = append(list, content{fmt.Sprintf("few%d", k), few(r, n, k, false)}, content{fmt.Sprintf("even%d", k), few(r, n, k, true)})
	}
	return list
}

var sizes = []int{1, 5, 32, 64, 255, 256, 300, 1000, 1024, 1500, 5000, 70_000, 128 << 10, 300_000}

// encoders returns encoders of all levels, with and without a checksum, and with literals in every block.
func encoders(tb testing.TB) []*zstd.Encoder {
	tb.Helper()
	var list []*zstd.Encoder
	for _, level := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
		for _, sum := range []bool{false, true} {
			e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(level), zstd.WithEncoderCRC(sum), zstd.WithAllLitEntropyCompression(true), zstd.WithEncoderConcurrency(1))
			require.NoError(tb, err)
			list = append(list, e)
		}
	}
	return list
}

func newPeer(tb testing.TB) *zstd.Decoder {
	tb.Helper()
	d, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(1))
	require.NoError(tb, err)
	tb.Cleanup(d.Close)
	return d
}

// each calls f with and without the kernel.
func each(f func(name string)) {
	defer func(was bool) { hasKernel = was }(hasKernel)
	if hasKernel {
		f("kernel")
	}
	hasKernel = false
	f("go")
}

func TestDecodeEqual(t *testing.T) {
	soak.NoRace(t)
	for i, e := range encoders(t) {
		for _, n := range sizes {
			if i > 2 && n > 5000 {
				continue // the higher levels take long
			}
			for _, c := range contents(n) {
				src := e.EncodeAll(c.data, nil)
				each(func(name string) {
					dst := make([]byte, n)
					require.True(t, decode(dst, src), "%s, %d bytes, %s", c.name, n, name)
					require.True(t, bytes.Equal(c.data, dst), "%s, %d bytes, %s", c.name, n, name)
				})
			}
		}
	}
}
