// SPDX-License-Identifier: Apache-2.0

package swap

import (
	"encoding/binary"
	"math/bits"
)

// This file swaps in plain Go, a machine word at a time: on machines without a kernel of their own, under the tag purego, and what is too
// short for a kernel. On whole pages, which do not fit into a cache, it is as fast as memory.

// kernel is one way to swap: it copies src to dst, reversing the bytes of each element. Both have the same length, whole elements, and do
// not overlap.
type kernel struct {
	name           string
	swap32, swap64 func(dst, src []byte)
}

var wordKernel = kernel{"word", swap32Word, swap64Word}

// swap2x32 reverses the bytes of both 4-byte halves of v and leaves the halves where they are.
func swap2x32(v uint64) uint64 { return bits.RotateLeft64(bits.ReverseBytes64(v), 32) }

func swap32Word(dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) >= 32 && len(dst) >= 32 { // the second condition is for the compiler: it then checks no bounds
		a := binary.LittleEndian.Uint64(src[0:8])
		b := binary.LittleEndian.Uint64(src[8:16])
		c := binary.LittleEndian.Uint64(src[16:24])
		d := binary.LittleEndian.Uint64(src[24:32])
		binary.LittleEndian.PutUint64(dst[0:8], swap2x32(a))
		binary.LittleEndian.PutUint64(dst[8:16], swap2x32(b))
		binary.LittleEndian.PutUint64(dst[16:24], swap2x32(c))
		binary.LittleEndian.PutUint64(dst[24:32], swap2x32(d))
		src, dst = src[32:], dst[32:]
	}
	for len(src) >= 4 && len(dst) >= 4 {
		binary.LittleEndian.PutUint32(dst, bits.ReverseBytes32(binary.LittleEndian.Uint32(src)))
		src, dst = src[4:], dst[4:]
	}
}

func swap64Word(dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) >= 32 && len(dst) >= 32 {
		a := binary.LittleEndian.Uint64(src[0:8])
		b := binary.LittleEndian.Uint64(src[8:16])
		c := binary.LittleEndian.Uint64(src[16:24])
		d := binary.LittleEndian.Uint64(src[24:32])
		binary.BigEndian.PutUint64(dst[0:8], a)
		binary.BigEndian.PutUint64(dst[8:16], b)
		binary.BigEndian.PutUint64(dst[16:24], c)
		binary.BigEndian.PutUint64(dst[24:32], d)
		src, dst = src[32:], dst[32:]
	}
	for len(src) >= 8 && len(dst) >= 8 {
		binary.BigEndian.PutUint64(dst, binary.LittleEndian.Uint64(src))
		src, dst = src[8:], dst[8:]
	}
}
