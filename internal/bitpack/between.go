// SPDX-License-Identifier: Apache-2.0

package bitpack

import "encoding/binary"

// Comparison of integers that are not unpacked.

// Between sets bit i of out, the lowest of each byte first, if integer i of n is at least lo and at most lo + span, and
// clears it otherwise; the other bits of the last byte become 0. It returns the greatest of the integers, which are as
// in Unpack. out has at least (n+7)/8 bytes.
func Between(out []byte, n int, src []byte, bit int, width uint, lo, span uint32) (greatest uint32) {
	if n == 0 {
		return 0
	}
	out = out[:(n+7)/8]
	first := 0 // integers before one that begins in a new byte
	for bit&7 != 0 && first < min(n, 8) {
		first, bit = first+1, bit+int(width)
	}
	greatest = betweenRest(out, n-first, src, bit, width, lo, span)
	if first == 0 {
		return greatest
	}
	word, most := betweenWord(first, src, bit-first*int(width), width, lo, span)
	for i := len(out) - 1; i > 0; i-- { // these bits come before the others
		out[i] = out[i]<<first | out[i-1]>>(8-first)
	}
	out[0] = out[0]<<first | byte(word)
	return max(greatest, most)
}

// betweenRest does what Between does, by the kernel for integers that begin at the start of a byte.
func betweenRest(out []byte, n int, src []byte, bit int, width uint, lo, span uint32) (greatest uint32) {
	clear(out[(n+7)/8:])
	if bit&7 == 0 {
		var done int
		done, greatest = betweenMany(out, n, src[min(bit>>3, len(src)):], width, lo, span)
		out, n, bit = out[done/8:], n-done, bit+done*int(width)
	}
	for n > 0 {
		k := min(n, 64)
		word, most := betweenWord(k, src, bit, width, lo, span)
		greatest = max(greatest, most)
		if len(out) >= 8 {
			binary.LittleEndian.PutUint64(out, word)
		} else {
			for i := range out {
				out[i] = byte(word >> (8 * i))
			}
		}
		out, n, bit = out[(k+7)/8:], n-k, bit+k*int(width)
	}
	return greatest
}

// betweenWord does what Between does for up to 64 integers.
func betweenWord(n int, src []byte, bit int, width uint, lo, span uint32) (word uint64, greatest uint32) {
	var integers [64]uint32
	Unpack(integers[:n], src, bit, width)
	for i, v := range integers[:n] {
		greatest = max(greatest, v)
		if v-lo <= span {
			word |= 1 << i
		}
	}
	return word, greatest
}
