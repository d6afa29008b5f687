// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"unsafe"

	"github.com/vecql/vecql/internal/snappy"
)

// Memory of columns. Slices of bytes have spare capacity, so that short strings are copied in whole words.

// slack is the spare capacity of a slice of growBytes, in bytes: what the decoder of Snappy uses.
const slack = snappy.Spare

// growBytes returns b extended to length n. New bytes are undefined. The memory is aligned to 8 bytes.
func growBytes(b []byte, n int) []byte {
	if cap(b)-slack >= n {
		return b[:n]
	}
	words := make([]uint64, (max(n, min(2*cap(b), n+n/4+(4<<20)))+slack+7)/8)
	fresh := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	copy(fresh, b)
	return fresh[:n]
}

// grow returns s extended to length n. New elements are undefined.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	fresh := make([]T, n, max(n, min(2*cap(s), n+n/4)))
	copy(fresh, s)
	return fresh
}

// sliceOf returns the first n values of T in b. It panics if b is too short.
func sliceOf[T any](b []byte, n int) []T {
	if n == 0 {
		return []T{}
	}
	var zero T
	_ = b[n*int(unsafe.Sizeof(zero))-1]
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
