// SPDX-License-Identifier: Apache-2.0

package swap

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// reference is the reference as a kernel.
var reference = kernel{
	"reference",
	func(dst, src []byte) { put32Reference(dst, elements[uint32](src)) },
	func(dst, src []byte) { put64Reference(dst, elements[uint64](src)) },
}

// elements copies the memory of elements from b.
func elements[T uint32 | uint64](b []byte) []T {
	s := make([]T, len(b)/binary.Size(T(0)))
	if _, err := binary.Decode(b, binary.NativeEndian, s); err != nil {
		panic(err)
	}
	return s
}

// all returns every implementation on this machine; "chosen" is the one that the package uses.
func all() []kernel { return append(kernels(), reference, kernel{"chosen", swap32, swap64}) }

// lengths returns lengths in bytes around every lane and every unrolling, and some larger ones.
func lengths() []int {
	var list []int
	for n := 0; n <= 600; n += 4 {
		list = append(list, n)
	}
	return append(list, 4*384, 4*1000, 4*1536, 8*1536)
}

// patterns are bits that arithmetic would change: NaNs with payloads, signaling NaNs, both zeros.
var patterns = []uint64{
	0, 1, math.MaxUint64, 0x0102030405060708, 0x7FF0000000000001, 0x7FF8DEADBEEF0001, 0x8000000000000000, 0x7F8000017FA12345, 0xFFC1234580000000,
}

// noise returns n bytes, a third of whose words are patterns.
func noise(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 0, n+8)
	for len(b) < n {
		v := r.Uint64()
		if r.IntN(3) == 0 {
			v = patterns[r.IntN(len(patterns))]
		}
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b[:n]
}

// TestKernels compares every kernel with the reference for all lengths and alignments of both sides. No byte outside
// may be written.
func TestKernels(t *testing.T) {
	const margin = 64
	for _, n := range lengths() {
		src := noise(n + 64)
		step := 1
		if n > 300 {
			step = 7
		}
		for _, k := range all() {
			for offset := 0; offset < 64; offset += step {
				from := offset * 5 % 64
				check := func(name string, swap func(dst, src []byte), want []byte) {
					buf := bytes.Repeat([]byte{0xAA}, margin+offset+n+margin)
					swap(buf[margin+offset:][:n], src[from:from+n])
					if !bytes.Equal(want, buf[margin+offset:][:n]) {
						t.Fatalf("%s %s n=%d offset=%d from=%d: % x, want % x", k.name, name, n, offset, from, buf[margin+offset:][:n], want)
					}
					for i, b := range buf {
						if (i < margin+offset || i >= margin+offset+n) && b != 0xAA {
							t.Fatalf("%s %s n=%d: wrote at %d", k.name, name, n, i-margin-offset)
						}
					}
				}
				want := make([]byte, n)
				put32Reference(want, elements[uint32](src[from:from+n]))
				check("swap32", k.swap32, want)
				if n%8 == 0 {
					put64Reference(want, elements[uint64](src[from:from+n]))
					check("swap64", k.swap64, want)
				}
			}
		}
	}
}

func TestPutGet(t *testing.T) {
	for _, n := range lengths() {
		src := noise(8 * n)
		in32, in64 := elements[uint32](src[:4*n]), elements[uint64](src)
		want32, want64 := make([]byte, 4*n), make([]byte, 8*n)
		for i := range n {
			binary.BigEndian.PutUint32(want32[4*i:], in32[i])
			binary.BigEndian.PutUint64(want64[8*i:], in64[i])
		}
		require.True(t, bytes.Equal(want32, Append32(nil, in32)))
		require.True(t, bytes.Equal(want64, Append64(nil, in64)))
		out32, out64 := make([]uint32, n), make([]uint64, n)
		Decode32(out32, want32)
		Decode64(out64, want64)
		require.True(t, slices.Equal(in32, out32))
		require.True(t, slices.Equal(in64, out64))
	}
}

func TestGolden(t *testing.T) {
	require.Equal(t, []byte{0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}, Append32(nil, []float32{1, -2}))
	require.Equal(t, []byte{0x7F, 0xA1, 0x23, 0x45}, Append32(nil, []float32{math.Float32frombits(0x7FA12345)}), "a signaling NaN keeps its bits")
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
	f.Add([]byte("0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"), byte(1))
	f.Fuzz(func(t *testing.T, data []byte, offset byte) {
		data = data[min(int(offset%8), len(data)):]
		words, longs := data[:len(data)&^3], data[:len(data)&^7]
		want32, want64 := make([]byte, len(words)), make([]byte, len(longs))
		put32Reference(want32, elements[uint32](words))
		put64Reference(want64, elements[uint64](longs))
		for _, k := range all() {
			got := make([]byte, len(words))
			k.swap32(got, words)
			require.True(t, bytes.Equal(want32, got), k.name)
			got = got[:len(longs)]
			k.swap64(got, longs)
			require.True(t, bytes.Equal(want64, got), k.name)
		}
		a, c := make([]uint32, len(words)/4), make([]uint64, len(longs)/8)
		Decode32(a, words)
		Decode64(c, longs)
		require.True(t, bytes.Equal(words, Append32(nil, a)))
		require.True(t, bytes.Equal(longs, Append64(nil, c)))
	})
}

// BenchmarkSwap compares each kernel with copy of the same bytes. off=1 is an unaligned destination, as in a frame.
func BenchmarkSwap(b *testing.B) {
	for _, n := range []int{128, 1536} {
		for _, size := range []int{4, 8} {
			for _, k := range append(kernels(), reference, kernel{"copy", func(dst, src []byte) { copy(dst, src) }, func(dst, src []byte) { copy(dst, src) }}) {
				for _, off := range []int{0, 1} {
					b.Run(fmt.Sprintf("bytes=%d/n=%d/off=%d/impl=%s", size, n, off, k.name), func(b *testing.B) {
						dst, src := make([]byte, 64+size*n)[off:][:size*n], make([]byte, size*n)
						b.SetBytes(int64(size * n))
						swap := k.swap32
						if size == 8 {
							swap = k.swap64
						}
						if k.name == "reference" { // without the copy in the kernel form
							in32, in64 := make([]uint32, n), make([]uint64, n)
							swap = func(dst, _ []byte) { put32Reference(dst, in32) }
							if size == 8 {
								swap = func(dst, _ []byte) { put64Reference(dst, in64) }
							}
						}
						for b.Loop() {
							swap(dst, src)
						}
					})
				}
			}
		}
	}
}
