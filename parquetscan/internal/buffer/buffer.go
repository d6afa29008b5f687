// SPDX-License-Identifier: Apache-2.0

// Package buffer grows the memory of columns, and views it as values.
package buffer

import (
	"unsafe"

	"github.com/vecql/vecql/internal/snappy"
)

// Slices of bytes have spare capacity, so that short strings are copied in whole words.

// Slack is the spare capacity of a slice of GrowBytes, in bytes: what the decoder of Snappy uses.
const Slack = snappy.Spare

// GrowBytes returns b extended to length n. New bytes are undefined. The memory is aligned to 8 bytes.
func GrowBytes(b []byte, n int) []byte {
	if cap(b)-Slack >= n {
		return b[:n]
	}
	words := make([]uint64, (max(n, min(2*cap(b), n+n/4+(4<<20)))+Slack+7)/8)
	fresh := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	copy(fresh, b)
	return fresh[:n]
}

// Grow returns s extended to length n. New elements are undefined.
func Grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	fresh := make([]T, n, max(n, min(2*cap(s), n+n/4)))
	copy(fresh, s)
	return fresh
}

// SliceOf returns the first n values of T in b. It panics if b is too short.
func SliceOf[T any](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	var zero T
	_ = b[n*int(unsafe.Sizeof(zero))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// Copy16 copies 16 bytes, which is cheaper than a copy of the exact length.
func Copy16(dst, src []byte) {
	*(*[16]byte)(dst) = *(*[16]byte)(src)
}
