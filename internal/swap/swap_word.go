// SPDX-License-Identifier: Apache-2.0

package swap

import (
	"encoding/binary"
	"math/bits"
)

// Swapping in plain Go, a machine word at a time: for machines without a kernel, under the tag purego, and for inputs
// too short for a kernel. On whole pages, which exceed the caches, it is as fast as memory.

// kernel is one implementation of swapping: it copies src to dst and reverses the bytes of each element. src and dst
// have the same length, a whole number of elements, and do not overlap.
type kernel struct {
	name           string
	swap32, swap64 func(dst, src []byte)
}

var wordKernel = kernel{"word", swap32Word, swap64Word}

// swap2x32 reverses the bytes of both 4-byte halves of v; the halves keep their places.
func swap2x32(v uint64) uint64 { return bits.RotateLeft64(bits.ReverseBytes64(v), 32) }

// swap32Word reverses the bytes of each 4-byte element of src into dst, 32 bytes an iteration.
func swap32Word(dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) >= 32 && len(dst) >= 32 { // the second condition lets the compiler remove bounds checks
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

// swap64Word reverses the bytes of each 8-byte element of src into dst, 32 bytes an iteration.
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
