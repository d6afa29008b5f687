// SPDX-License-Identifier: Apache-2.0

// Package bitpack unpacks integers of a fixed number of bits, the first in the lowest bits (parquet-format,
// Encodings.md, "RLE/Bit-Packing Hybrid").
package bitpack

import "encoding/binary"

// Unpack writes len(dst) integers of width bits, 0 to 32, the first one at bit position bit of src. Bits after the end
// of src are 0.
func Unpack(dst []uint32, src []byte, bit int, width uint) {
	for align := min(7, len(dst)); align > 0 && bit&7 != 0; align-- {
		unpackLast(dst[:1], src, bit, width)
		dst, bit = dst[1:], bit+int(width)
	}
	if bit&7 == 0 {
		n := unpackMany(dst, src[min(bit>>3, len(src)):], width)
		dst, bit = dst[n:], bit+n*int(width)
	}
	unpackRest(dst, src, bit, width)
}

// unpackRest unpacks without the kernel.
func unpackRest(dst []uint32, src []byte, bit int, width uint) {
	mask := uint64(1)<<width - 1
	// A value lies within 8 bytes from its first one. A group of 8 values takes width bytes, so shifts repeat. Up to 16
	// bits, 8 bytes hold half a group; the second half of an odd width begins in the middle of a byte.
	i := 0
	if bit&7 == 0 && width <= 16 {
		at, half := bit>>3, int(width>>1)
		odd, s1, s2, s3 := 4*(width&1), width&63, 2*width&63, 3*width&63
		for ; i+8 <= len(dst) && at+half+8 <= len(src); i += 8 {
			v := binary.LittleEndian.Uint64(src[at:])
			u := binary.LittleEndian.Uint64(src[at+half:]) >> odd
			d := dst[i : i+8 : i+8]
			d[0] = uint32(v & mask)
			d[1] = uint32(v >> s1 & mask)
			d[2] = uint32(v >> s2 & mask)
			d[3] = uint32(v >> s3 & mask)
			d[4] = uint32(u & mask)
			d[5] = uint32(u >> s1 & mask)
			d[6] = uint32(u >> s2 & mask)
			d[7] = uint32(u >> s3 & mask)
			at += int(width)
		}
		bit = at << 3
	}
	for ; i+4 <= len(dst) && (bit+3*int(width))>>3+8 <= len(src); i += 4 {
		d := dst[i : i+4 : i+4]
		b1, b2, b3 := bit+int(width), bit+2*int(width), bit+3*int(width)
		d[0] = uint32(binary.LittleEndian.Uint64(src[bit>>3:]) >> (uint(bit) & 7) & mask)
		d[1] = uint32(binary.LittleEndian.Uint64(src[b1>>3:]) >> (uint(b1) & 7) & mask)
		d[2] = uint32(binary.LittleEndian.Uint64(src[b2>>3:]) >> (uint(b2) & 7) & mask)
		d[3] = uint32(binary.LittleEndian.Uint64(src[b3>>3:]) >> (uint(b3) & 7) & mask)
		bit += 4 * int(width)
	}
	unpackLast(dst[i:], src, bit, width)
}

// unpackLast unpacks values within less than 8 bytes of the end of src.
func unpackLast(dst []uint32, src []byte, bit int, width uint) {
	mask := uint64(1)<<width - 1
	for i := range dst {
		var last [8]byte
		word := last[:]
		if at := bit >> 3; at+8 <= len(src) {
			word = src[at:]
		} else {
			copy(last[:], src[min(at, len(src)):])
		}
		dst[i] = uint32(binary.LittleEndian.Uint64(word) >> (uint(bit) & 7) & mask)
		bit += int(width)
	}
}

// Get returns the integer of width bits, 0 to 32, at bit position bit of src. Bits after the end of src are 0.
func Get(src []byte, bit int, width uint) uint32 {
	if bit>>3+8 <= len(src) {
		return uint32(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)) & uint32(uint64(1)<<width-1)
	}
	return getLast(src, bit, width)
}

// getLast is Get within less than 8 bytes of the end of src.
func getLast(src []byte, bit int, width uint) uint32 {
	var v [1]uint32
	unpackLast(v[:], src, bit, width)
	return v[0]
}
