// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package swap

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// Choice among the kernels of swap_amd64.s, made once by the features of the processor and the operating system.

var (
	hasAVX2   = cpu.X86.HasAVX2
	hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2
)

// kernelFrom is the smallest number of bytes for which a kernel pays.
const kernelFrom = 32

// mask32 and mask64 are the source positions of 16 bytes that are moved together.
var (
	mask32 = [16]byte{3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12}
	mask64 = [16]byte{7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8}
)

// swapAVX2 copies n bytes, at least 32, taking the bytes of each 16 in the order of mask.
//
//go:noescape
func swapAVX2(dst, src *byte, n int, mask *[16]byte)

// swapAVX512 copies n bytes, at least 1, taking the bytes of each 16 in the order of mask.
//
//go:noescape
func swapAVX512(dst, src *byte, n int, mask *[16]byte)

// streamAVX2 is swapAVX2 with stores that bypass the caches. dst is aligned to 32 bytes, and n is a multiple of 128.
//
//go:noescape
func streamAVX2(dst, src *byte, n int, mask *[16]byte)

// fence orders the stores of streamAVX2 before all later stores.
func fence()

// streamStep is the unit of the lengths that streamAVX2 accepts.
const streamStep = 128

// stream swaps the first part of src by streamAVX2 and returns its length; the caller swaps the rest.
func stream(dst, src []byte, mask *[16]byte) int {
	n := len(src) &^ (streamStep - 1)
	if !hasAVX2 || n == 0 || uintptr(unsafe.Pointer(&dst[0]))%32 != 0 {
		return 0
	}
	streamAVX2(&dst[:n][0], &src[0], n, mask)
	return n
}

func stream32(dst, src []byte) {
	n := stream(dst, src, &mask32)
	swap32(dst[n:], src[n:])
}

func stream64(dst, src []byte) {
	n := stream(dst, src, &mask64)
	swap64(dst[n:], src[n:])
}

// swap32 and swap64 call directly rather than through a variable, so that the compiler sees that their arguments do not
// escape.
func swap32(dst, src []byte) {
	switch {
	case len(src) < kernelFrom:
		swap32Word(dst, src)
	case hasAVX512:
		swapAVX512(&dst[:len(src)][0], &src[0], len(src), &mask32)
	case hasAVX2:
		swapAVX2(&dst[:len(src)][0], &src[0], len(src), &mask32)
	default:
		swap32Word(dst, src)
	}
}

// swap64 reverses the bytes of each 8-byte element of src into dst with the widest kernel that the processor has. Below
// kernelFrom bytes the call of a kernel costs more than it saves.
func swap64(dst, src []byte) {
	switch {
	case len(src) < kernelFrom:
		swap64Word(dst, src)
	case hasAVX512:
		swapAVX512(&dst[:len(src)][0], &src[0], len(src), &mask64)
	case hasAVX2:
		swapAVX2(&dst[:len(src)][0], &src[0], len(src), &mask64)
	default:
		swap64Word(dst, src)
	}
}

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel {
	list := []kernel{wordKernel}
	if hasAVX2 {
		list = append(list, kernel{
			"avx2",
			func(dst, src []byte) { atLeast(32, swapAVX2, swap32Word, &mask32, dst, src) },
			func(dst, src []byte) { atLeast(32, swapAVX2, swap64Word, &mask64, dst, src) },
		})
	}
	if hasAVX512 {
		list = append(list, kernel{
			"avx512",
			func(dst, src []byte) { atLeast(1, swapAVX512, swap32Word, &mask32, dst, src) },
			func(dst, src []byte) { atLeast(1, swapAVX512, swap64Word, &mask64, dst, src) },
		})
	}
	return list
}

// atLeast calls asm, or short for fewer than least bytes.
func atLeast(least int, asm func(dst, src *byte, n int, mask *[16]byte), short func(dst, src []byte), mask *[16]byte,
	dst, src []byte,
) {
	if len(src) < least {
		short(dst, src)
		return
	}
	asm(&dst[:len(src)][0], &src[0], len(src), mask)
}
