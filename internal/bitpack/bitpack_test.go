// SPDX-License-Identifier: Apache-2.0

package bitpack

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// reference is Unpack bit by bit.
func reference(dst []uint32, src []byte, bit int, width uint) {
	for i := range dst {
		v := uint32(0)
		for b := range width {
			if bit>>3 < len(src) {
				v |= uint32(src[bit>>3]>>(bit&7)&1) << b
			}
			bit++
		}
		dst[i] = v
	}
}

func randomBytes(n int) []byte {
	r, b := rand.New(rand.NewPCG(1, 2)), make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// TestUnpack compares Unpack with the reference for all widths, at all bits of a byte, up to the end of the bytes and
// after it.
func TestUnpack(t *testing.T) {
	src := randomBytes(400)
	for width := range uint(33) {
		for bit := range 8 {
			n := (8*len(src)-bit)/int(max(width, 1)) + 3
			got, want := make([]uint32, n), make([]uint32, n)
			reference(want, src, bit, width)
			for _, part := range []int{n, n / 2, n / 3, 9, 8, 7, 1, 0} { // from the start, and up to the end
				part = min(part, n)
				Unpack(got[:part], src, bit, width)
				require.Equal(t, want[:part], got[:part], "width %d, bit %d", width, bit)
				at := n - part
				Unpack(got[at:], src, bit+at*int(width), width)
				require.Equal(t, want[at:], got[at:], "width %d, bit %d", width, bit)
			}
		}
	}
}

// FuzzUnpack compares Unpack with the reference. Integers after those that are asked for must stay.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9}, uint16(0), uint8(3), uint16(20))
	f.Add(randomBytes(100), uint16(17*5), uint8(17), uint16(40))
	f.Add(randomBytes(30), uint16(999), uint8(32), uint16(9))
	f.Fuzz(func(t *testing.T, src []byte, bit uint16, width uint8, n uint16) {
		w, count := uint(width%33), int(n%5000)
		got, want := make([]uint32, count+8), make([]uint32, count)
		for i := range got {
			got[i] = 0xa5a5a5a5
		}
		reference(want, src, int(bit), w)
		Unpack(got[:count], src[:len(src):len(src)], int(bit), w)
		require.Equal(t, want, got[:count])
		for i, v := range want {
			require.Equal(t, v, Get(src[:len(src):len(src)], int(bit)+i*int(w), w))
		}
		for _, v := range got[count:] {
			require.Equal(t, uint32(0xa5a5a5a5), v)
		}
	})
}

// referenceBetween is Between by integers that are unpacked.
func referenceBetween(out []byte, n int, src []byte, bit int, width uint, lo, span uint32) (greatest uint32) {
	clear(out[:(n+7)/8])
	integers := make([]uint32, n)
	reference(integers, src, bit, width)
	for i, v := range integers {
		greatest = max(greatest, v)
		if uint64(v) >= uint64(lo) && uint64(v) <= uint64(lo)+uint64(span) || uint64(v)+1<<32 <= uint64(lo)+uint64(span) {
			out[i>>3] |= 1 << (i & 7)
		}
	}
	return greatest
}

// FuzzBetween compares Between with the reference. Bytes after the last one must stay.
func FuzzBetween(f *testing.F) {
	for width := range uint8(33) {
		for _, bit := range []uint16{0, uint16(width), uint16(5 * width), 3} {
			for _, n := range []uint16{3, 64, 90, 300} {
				f.Add(randomBytes(200), bit, width, n, uint32(1)<<width/3, uint32(1)<<width/2)
			}
		}
		f.Add(randomBytes(90), uint16(0), width, uint16(100), uint32(1)<<31, uint32(math.MaxUint32-5))
	}
	f.Fuzz(func(t *testing.T, src []byte, bit uint16, width uint8, n uint16, lo, span uint32) {
		w, count := uint(width%33), int(n%5000)
		got, want := bytes.Repeat([]byte{0xa5}, count/8+9), make([]byte, count/8+9)
		copy(want, got)
		greatest := referenceBetween(want, count, src, int(bit), w, lo, span)
		require.Equal(t, greatest, Between(got, count, src[:len(src):len(src)], int(bit), w, lo, span))
		require.Equal(t, want, got)
	})
}

func BenchmarkUnpack(b *testing.B) {
	src, dst := randomBytes(2048*4), make([]uint32, 2048)
	for _, width := range []uint{1, 3, 8, 13, 17, 21, 25, 30} {
		run := func(impl string, unpack func([]uint32, []byte, int, uint)) {
			b.Run(fmt.Sprintf("width=%d/impl=%s", width, impl), func(b *testing.B) {
				b.SetBytes(int64(4 * len(dst)))
				for b.Loop() {
					unpack(dst, src, 0, width)
				}
			})
		}
		run("kernel", Unpack)
		run("go", unpackRest)
	}
}

// BenchmarkBetween compares integers in turn with unpacking them first.
func BenchmarkBetween(b *testing.B) {
	src, dst, out := randomBytes(2048*4), make([]uint32, 2048), make([]byte, 256)
	for _, width := range []uint{1, 3, 8, 13, 17, 21, 25, 30} {
		b.Run(fmt.Sprintf("width=%d/impl=kernel", width), func(b *testing.B) {
			b.SetBytes(int64(4 * len(dst)))
			for b.Loop() {
				Between(out, len(dst), src, 0, width, 5, 9)
			}
		})
		b.Run(fmt.Sprintf("width=%d/impl=go", width), func(b *testing.B) {
			b.SetBytes(int64(4 * len(dst)))
			for b.Loop() {
				for at := 0; at < len(dst); at += 64 {
					word, _ := betweenWord(64, src, at*int(width), width, 5, 9)
					binary.LittleEndian.PutUint64(out[at/8:], word)
				}
			}
		})
	}
}
