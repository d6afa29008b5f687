// SPDX-License-Identifier: Apache-2.0

// Package swap copies slices of 4-, 8- and 16-byte elements to and from big-endian bytes, the form that every CQL value of fixed size has
// on the wire. Only bits are moved: NaN payloads and the sign of zero stay as they are.
package swap

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"unsafe"
)

// Element32 is an element of 4 bytes.
type Element32 interface{ ~int32 | ~uint32 | ~float32 }

// Element64 is an element of 8 bytes.
type Element64 interface{ ~int64 | ~uint64 | ~float64 }

// Element128 is an element of 16 bytes that is in the order of the wire already, as a UUID is.
type Element128 interface{ ~[16]byte }

// Append32 appends src to dst, 4 bytes an element. dst grows at most once; src is not retained.
func Append32[T Element32](dst []byte, src []T) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 4*len(src))[:n+4*len(src)]
	put32(dst[n:], view[uint32](src))
	return dst
}

// Append64 appends src to dst, 8 bytes an element. dst grows at most once; src is not retained.
func Append64[T Element64](dst []byte, src []T) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 8*len(src))[:n+8*len(src)]
	put64(dst[n:], view[uint64](src))
	return dst
}

// Append128 appends src to dst, 16 bytes an element. dst grows at most once; src is not retained.
func Append128[T Element128](dst []byte, src []T) []byte {
	return append(dst, asBytes(src)...)
}

// Decode32 reads len(dst) elements from src. len(src) must be 4*len(dst): it panics otherwise.
func Decode32[T Element32](dst []T, src []byte) {
	check(len(dst), 4, src)
	get32(view[uint32](dst), src)
}

// Decode64 reads len(dst) elements from src. len(src) must be 8*len(dst): it panics otherwise.
func Decode64[T Element64](dst []T, src []byte) {
	check(len(dst), 8, src)
	get64(view[uint64](dst), src)
}

// Decode128 reads len(dst) elements from src. len(src) must be 16*len(dst): it panics otherwise.
func Decode128[T Element128](dst []T, src []byte) {
	check(len(dst), 16, src)
	copy(asBytes(dst), src)
}

func check(n, size int, src []byte) {
	if len(src) != n*size {
		panic(fmt.Sprintf("swap: %d bytes for %d elements of %d", len(src), n, size))
	}
}

// view returns s as a slice of an element type of the same size.
func view[To, From any](s []From) []To {
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s))
}

// asBytes returns the memory of s.
func asBytes[T Element128](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 16*len(s))
}

// bigEndian is set where memory is in the order of the wire already.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// swap2x32 reverses the bytes of both 4-byte halves of v and leaves the halves where they are.
func swap2x32(v uint64) uint64 { return bits.RotateLeft64(bits.ReverseBytes64(v), 32) }

// put32 writes src to dst, two elements per 8-byte load and store, which is what makes plain Go memory bound on whole pages.
// The first half of a pair is at the lower address on a little-endian machine, in memory and in the word alike.
func put32(dst []byte, src []uint32) {
	if bigEndian {
		put32Generic(dst, src)
		return
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(src))), 4*len(src))
	swap32(dst, raw)
}

// get32 is put32 the other way: swapping is its own inverse.
func get32(dst []uint32, src []byte) {
	if bigEndian {
		get32Generic(dst, src)
		return
	}
	raw := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 4*len(dst))
	swap32(raw, src)
}

// swap32 copies src to dst, reversing each 4 bytes. Both have the same length, a multiple of 4.
func swap32(dst, src []byte) {
	dst = dst[:len(src)]
	for len(src) >= 32 && len(dst) >= 32 {
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

// put64 writes src to dst.
func put64(dst []byte, src []uint64) {
	for len(src) >= 4 && len(dst) >= 32 {
		binary.BigEndian.PutUint64(dst[0:8], src[0])
		binary.BigEndian.PutUint64(dst[8:16], src[1])
		binary.BigEndian.PutUint64(dst[16:24], src[2])
		binary.BigEndian.PutUint64(dst[24:32], src[3])
		src, dst = src[4:], dst[32:]
	}
	put64Generic(dst, src)
}

// get64 reads dst from src.
func get64(dst []uint64, src []byte) {
	for len(dst) >= 4 && len(src) >= 32 {
		dst[0] = binary.BigEndian.Uint64(src[0:8])
		dst[1] = binary.BigEndian.Uint64(src[8:16])
		dst[2] = binary.BigEndian.Uint64(src[16:24])
		dst[3] = binary.BigEndian.Uint64(src[24:32])
		dst, src = dst[4:], src[32:]
	}
	get64Generic(dst, src)
}
