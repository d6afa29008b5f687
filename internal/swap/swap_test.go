// SPDX-License-Identifier: Apache-2.0

package swap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// implementations are all ways to move elements; the first of each kind is the reference.
var (
	implementations32 = []struct {
		name string
		put  func(dst []byte, src []uint32)
		get  func(dst []uint32, src []byte)
	}{{"generic", put32Generic, get32Generic}, {"fast", put32, get32}}
	implementations64 = []struct {
		name string
		put  func(dst []byte, src []uint64)
		get  func(dst []uint64, src []byte)
	}{{"generic", put64Generic, get64Generic}, {"fast", put64, get64}}
)

// lengths are around every unrolling, and some beyond.
func lengths() []int {
	var list []int
	for n := range 68 {
		list = append(list, n)
	}
	return append(list, 384, 1000, 1536)
}

// patterns are bits that arithmetic would not keep: NaNs with payloads, signalling ones, both zeros.
var patterns = []uint64{
	0, 1, math.MaxUint64, 0x0102030405060708, 0x7FF0000000000001, 0x7FF8DEADBEEF0001, 0x8000000000000000, 0x7F8000017FA12345, 0xFFC1234580000000,
}

func TestImplementationsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	next := func(i int) uint64 {
		if i%3 == 0 {
			return patterns[r.IntN(len(patterns))]
		}
		return r.Uint64()
	}
	for _, n := range lengths() {
		src32, src64 := make([]uint32, n+8), make([]uint64, n+8)
		for i := range src32 {
			src32[i], src64[i] = uint32(next(i)), next(i)
		}
		for offset := range 8 { // of the bytes; elements are always aligned
			for skip := range 3 {
				in32, in64 := src32[skip:skip+n], src64[skip:skip+n]
				want32, want64 := make([]byte, 4*n), make([]byte, 8*n)
				for i := range n {
					binary.BigEndian.PutUint32(want32[4*i:], in32[i])
					binary.BigEndian.PutUint64(want64[8*i:], in64[i])
				}
				for _, impl := range implementations32 {
					buf := bytes.Repeat([]byte{0xAA}, offset+4*n+1)
					impl.put(buf[offset:offset+4*n], in32)
					require.Equal(t, want32, buf[offset:offset+4*n], "%s n=%d offset=%d", impl.name, n, offset)
					require.Equal(t, byte(0xAA), buf[offset+4*n], "%s wrote beyond its end", impl.name)
					back := make([]uint32, n)
					impl.get(back, buf[offset:offset+4*n])
					require.Equal(t, in32, back, "%s n=%d offset=%d", impl.name, n, offset)
				}
				for _, impl := range implementations64 {
					buf := bytes.Repeat([]byte{0xAA}, offset+8*n+1)
					impl.put(buf[offset:offset+8*n], in64)
					require.Equal(t, want64, buf[offset:offset+8*n], "%s n=%d offset=%d", impl.name, n, offset)
					require.Equal(t, byte(0xAA), buf[offset+8*n], "%s wrote beyond its end", impl.name)
					back := make([]uint64, n)
					impl.get(back, buf[offset:offset+8*n])
					require.Equal(t, in64, back, "%s n=%d offset=%d", impl.name, n, offset)
				}
			}
		}
	}
}

func TestGolden(t *testing.T) {
	require.Equal(t, []byte{0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}, Append32(nil, []float32{1, -2}))
	require.Equal(t, []byte{0x7F, 0xA1, 0x23, 0x45}, Append32(nil, []float32{math.Float32frombits(0x7FA12345)}), "a signalling NaN keeps its bits")
	require.Equal(t, []byte{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, Append32(nil, []int32{1, -2}))
	require.Equal(t, []byte{0x3F, 0xF0, 0, 0, 0, 0, 0, 0}, Append64(nil, []float64{1}))
	require.Equal(t, []byte{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}, Append64(nil, []int64{-2}))
	id := [16]byte{1, 2, 3, 15: 16}
	require.Equal(t, append([]byte("x"), id[:]...), Append128([]byte("x"), [][16]byte{id}))
}

func TestAppendKeepsWhatWasThere(t *testing.T) {
	for _, room := range []int{0, 3, 100} {
		dst := append(make([]byte, 0, 6+room), "before"...)
		out := Append32(dst, []uint32{0x01020304})
		require.Equal(t, "before\x01\x02\x03\x04", string(out))
		out = Append64(dst, []uint64{0x0102030405060708})
		require.Equal(t, "before\x01\x02\x03\x04\x05\x06\x07\x08", string(out))
	}
	buf := make([]byte, 0, 4*1536)
	src := make([]float32, 1536)
	require.Zero(t, testing.AllocsPerRun(100, func() { Append32(buf, src) }))
}

func TestDecode(t *testing.T) {
	f := make([]float64, 2)
	Decode64(f, []byte{0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0})
	require.Equal(t, []float64{1, -2}, f)
	ids := make([][16]byte, 1)
	Decode128(ids, bytes.Repeat([]byte{7}, 16))
	require.Equal(t, byte(7), ids[0][15])
	require.Panics(t, func() { Decode32(make([]int32, 1), make([]byte, 5)) })
	require.Panics(t, func() { Decode64(make([]int64, 2), make([]byte, 8)) })
	require.Panics(t, func() { Decode128(ids, nil) })
}

func FuzzSwap(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, offset byte) {
		data = data[min(int(offset%8), len(data)):]
		a, b := make([]uint32, len(data)/4), make([]uint32, len(data)/4)
		get32(a, data[:4*len(a)])
		get32Generic(b, data[:4*len(b)])
		require.Equal(t, b, a)
		require.True(t, bytes.Equal(data[:4*len(a)], Append32(nil, a)))
		c, d := make([]uint64, len(data)/8), make([]uint64, len(data)/8)
		get64(c, data[:8*len(c)])
		get64Generic(d, data[:8*len(d)])
		require.Equal(t, d, c)
		require.True(t, bytes.Equal(data[:8*len(c)], Append64(nil, c)))
	})
}

func BenchmarkSwap(b *testing.B) {
	const n = 1536
	for _, impl := range implementations32 {
		b.Run(fmt.Sprintf("bytes=4/n=%d/impl=%s", n, impl.name), func(b *testing.B) {
			dst, src := make([]byte, 4*n), make([]uint32, n)
			b.SetBytes(4 * n)
			for b.Loop() {
				impl.put(dst, src)
			}
		})
	}
	for _, impl := range implementations64 {
		b.Run(fmt.Sprintf("bytes=8/n=%d/impl=%s", n, impl.name), func(b *testing.B) {
			dst, src := make([]byte, 8*n), make([]uint64, n)
			b.SetBytes(8 * n)
			for b.Loop() {
				impl.put(dst, src)
			}
		})
	}
	for _, size := range []int{4, 8, 16} {
		b.Run(fmt.Sprintf("bytes=%d/n=%d/impl=copy", size, n), func(b *testing.B) {
			dst, src := make([]byte, size*n), make([]byte, size*n)
			b.SetBytes(int64(size * n))
			for b.Loop() {
				copy(dst, src)
			}
		})
	}
}
