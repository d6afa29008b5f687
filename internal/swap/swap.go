// SPDX-License-Identifier: Apache-2.0

// Package swap copies slices of 4-, 8- and 16-byte elements to and from big-endian bytes, the wire form of CQL values
// of fixed size. It moves only bits, so NaN payloads and the sign of zero are preserved.
package swap

import (
	"encoding/binary"
	"fmt"
	"slices"
	"unsafe"
)

// Element32 is an element of 4 bytes.
type Element32 interface{ ~int32 | ~uint32 | ~float32 }

// Element64 is an element of 8 bytes.
type Element64 interface{ ~int64 | ~uint64 | ~float64 }

// Element128 is an element of 16 bytes whose memory is already in wire order, such as a UUID.
type Element128 interface{ ~[16]byte }

// Append32 appends src to dst, 4 bytes per element. dst grows at most once; src is not retained.
func Append32[T Element32](dst []byte, src []T) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 4*len(src))[:n+4*len(src)]
	put32(dst[n:], view[uint32](src))
	return dst
}

// Append64 appends src to dst, 8 bytes per element. dst grows at most once; src is not retained.
func Append64[T Element64](dst []byte, src []T) []byte {
	n := len(dst)
	dst = slices.Grow(dst, 8*len(src))[:n+8*len(src)]
	put64(dst[n:], view[uint64](src))
	return dst
}

// Append128 appends src to dst, 16 bytes per element. dst grows at most once; src is not retained.
func Append128[T Element128](dst []byte, src []T) []byte {
	return append(dst, asBytes(src)...)
}

// Decode32 reads len(dst) elements from src. It panics unless len(src) is 4*len(dst).
func Decode32[T Element32](dst []T, src []byte) {
	check(len(dst), 4, src)
	get32(view[uint32](dst), src)
}

// Decode64 reads len(dst) elements from src. It panics unless len(src) is 8*len(dst).
func Decode64[T Element64](dst []T, src []byte) {
	check(len(dst), 8, src)
	get64(view[uint64](dst), src)
}

// Stream32 decodes as Decode32 does, to destinations larger than all caches. Where the processor supports it, the
// stores bypass the caches, so that memory is not read before it is written and other data stays in the caches. Call
// [Fence] before another goroutine may read dst.
func Stream32[T Element32](dst []T, src []byte) {
	check(len(dst), 4, src)
	if bigEndian || len(src) == 0 {
		get32(view[uint32](dst), src)
		return
	}
	stream32(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(src)), src)
}

// Stream64 decodes as Stream32 does, elements of 8 bytes.
func Stream64[T Element64](dst []T, src []byte) {
	check(len(dst), 8, src)
	if bigEndian || len(src) == 0 {
		get64(view[uint64](dst), src)
		return
	}
	stream64(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), len(src)), src)
}

// Fence orders the stores of Stream32 and Stream64 before all later stores of the goroutine.
func Fence() { fence() }

// Decode128 reads len(dst) elements from src. It panics unless len(src) is 16*len(dst).
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

// bigEndian is true if memory is already in wire order.
var bigEndian = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// put32 writes src to dst. On a little-endian machine an element in memory and on the wire differ in byte order only,
// so both directions are the same operation on bytes.
func put32(dst []byte, src []uint32) {
	if bigEndian {
		put32Reference(dst, src)
		return
	}
	swap32(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(src))), 4*len(src)))
}

// get32 is the inverse of put32. Swapping is its own inverse.
func get32(dst []uint32, src []byte) {
	if bigEndian {
		get32Reference(dst, src)
		return
	}
	swap32(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 4*len(dst)), src)
}

// put64 is put32 for elements of 8 bytes.
func put64(dst []byte, src []uint64) {
	if bigEndian {
		put64Reference(dst, src)
		return
	}
	swap64(dst, unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(src))), 8*len(src)))
}

// get64 is the inverse of put64.
func get64(dst []uint64, src []byte) {
	if bigEndian {
		get64Reference(dst, src)
		return
	}
	swap64(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(dst))), 8*len(dst)), src)
}
