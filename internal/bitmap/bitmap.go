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
	if to&7 != 0 && n > 0 {
		k := min(n, 8-to&7)
		mask := byte(1<<k-1) << (to & 7)
		dst[to>>3] = dst[to>>3]&^mask | load(src, from, k)<<(to&7)&mask
		n, from, to = n-k, from+k, to+k
	}
	at, shift := from>>3, from&7
	for i := range dst[to>>3 : to>>3+n>>3] {
		v := src[at+i] >> shift
		if shift > 0 {
			v |= src[at+i+1] << (8 - shift)
		}
		dst[to>>3+i] = v
	}
	if k := n & 7; k > 0 {
		last := &dst[(to+n)>>3]
		*last = *last>>k<<k | load(src, from+n-k, k)&(1<<k-1)
	}
}

// load returns n bits of b, 1 to 8, from bit i on. Its other bits are undefined.
func load(b []byte, i, n int) byte {
	v := b[i>>3] >> (i & 7)
	if i&7+n > 8 {
		v |= b[i>>3+1] << (8 - i&7)
	}
	return v
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
	if n <= 0 {
		return
	}
	first, last, from, to := ends(i, n)
	if first == last {
		b[first] &^= from & to
		return
	}
	b[first] &^= from
	clear(b[first+1 : last])
	b[last] &^= to
}

// Fill sets n bits to 1, from bit i on.
func Fill(b []byte, i, n int) {
	if n <= 0 {
		return
	}
	first, last, from, to := ends(i, n)
	if first == last {
		b[first] |= from & to
		return
	}
	b[first] |= from
	for k := range b[first+1 : last] {
		b[first+1+k] = 0xff
	}
	b[last] |= to
}

// ends returns the first and the last byte of n bits from bit i on, and the bits of them.
func ends(i, n int) (first, last int, from, to byte) {
	end := i + n - 1
	return i >> 3, end >> 3, 0xff << (i & 7), 0xff >> (7 - end&7)
}
