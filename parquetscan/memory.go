// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"bytes"
	"io"
	"unsafe"
)

// This file grows slices: columns have room for some bytes more than they need, so that short strings are copied in whole words.

// slack is how many bytes beyond its length a slice of growBytes has.
const slack = 32

// growBytes returns b with the length n, and what it held. New bytes are not set. The memory is aligned to 8 bytes.
func growBytes(b []byte, n int) []byte {
	if cap(b)-slack >= n {
		return b[:n]
	}
	words := make([]uint64, (max(n, min(2*cap(b), n+n/4+(4<<20)))+slack+7)/8)
	fresh := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	copy(fresh, b)
	return fresh[:n]
}

// grow returns s with the length n, and what it held. New elements are not set.
func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	fresh := make([]T, n, max(n, min(2*cap(s), n+n/4)))
	copy(fresh, s)
	return fresh
}

// newByteReader hides that src is a slice: some decoders read whole slices at once, in memory without bound.
func newByteReader(src []byte) io.Reader { return struct{ io.Reader }{bytes.NewReader(src)} }
