// SPDX-License-Identifier: Apache-2.0

// Package bitmap implements operations on validity bitmaps, whose bits are counted from the lowest of each byte, as in
// Arrow.
package bitmap

import (
	"encoding/binary"
	"math/bits"
)

// Get returns bit i as 0 or 1.
func Get(b []byte, i int) byte { return b[i>>3] >> (i & 7) & 1 }

// Set sets bit i to v, 0 or 1.
func Set(b []byte, i int, v byte) { b[i>>3] = b[i>>3]&^(1<<(i&7)) | v<<(i&7) }

// Count returns the number of 1 bits among the n bits from bit i on.
func Count(b []byte, i, n int) int {
	ones := 0
	for ; n > 0 && i&7 != 0; n, i = n-1, i+1 {
		ones += int(Get(b, i))
	}
	at := i >> 3
	for ; n >= 64; n, at = n-64, at+8 {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(b[at:]))
	}
	for ; n >= 8; n, at = n-8, at+1 {
		ones += bits.OnesCount8(b[at])
	}
	if n > 0 {
		ones += bits.OnesCount8(b[at] & (1<<n - 1))
	}
	return ones
}

// Copy copies n bits of src, from bit from on, to dst at bit to. The two must not overlap.
func Copy(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0 && to&7 != 0; n, from, to = n-1, from+1, to+1 {
		Set(dst, to, Get(src, from))
	}
	shift := from & 7
	for ; n >= 8; n, from, to = n-8, from+8, to+8 {
		v := src[from>>3] >> shift
		if shift > 0 {
			v |= src[from>>3+1] << (8 - shift)
		}
		dst[to>>3] = v
	}
	for ; n > 0; n, from, to = n-1, from+1, to+1 {
		Set(dst, to, Get(src, from))
	}
}

// Slice returns n bits of b from bit i on as a bitmap that begins at bit 0. It shares the memory of b if i is a
// multiple of 8, otherwise it is new. Bits beyond n are undefined.
func Slice(b []byte, i, n int) []byte {
	if i&7 == 0 {
		return b[i>>3 : (i+n+7)>>3 : (i+n+7)>>3]
	}
	s := make([]byte, (n+7)/8)
	Copy(s, 0, b, i, n)
	return s
}

// Clear sets n bits to 0, from bit i on.
func Clear(b []byte, i, n int) {
	for ; n > 0 && i&7 != 0; n, i = n-1, i+1 {
		b[i>>3] &^= 1 << (i & 7)
	}
	clear(b[i>>3 : i>>3+n>>3])
	for k := n &^ 7; k < n; k++ {
		b[(i+k)>>3] &^= 1 << ((i + k) & 7)
	}
}

// Fill sets n bits to 1, from bit i on.
func Fill(b []byte, i, n int) {
	for ; n > 0 && i&7 != 0; n, i = n-1, i+1 {
		b[i>>3] |= 1 << (i & 7)
	}
	for k := i >> 3; k < i>>3+n>>3; k++ {
		b[k] = 0xff
	}
	for k := n &^ 7; k < n; k++ {
		b[(i+k)>>3] |= 1 << ((i + k) & 7)
	}
}
