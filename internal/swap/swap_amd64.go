// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package swap

import "golang.org/x/sys/cpu"

// This file chooses among the kernels of swap_amd64.s: once, by what the processor and the operating system support.

var (
	hasAVX2   = cpu.X86.HasAVX2
	hasAVX512 = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasBMI2
)

// kernelFrom is the least number of bytes for which a kernel pays.
const kernelFrom = 32

// mask32 and mask64 say from where in 16 bytes each byte comes.
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

// swap32 and swap64 call directly rather than through a variable, so that the compiler sees that their arguments do not escape.
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

// kernels returns all that can be used here, the fastest last.
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

// atLeast calls asm, or short where there are fewer than least bytes.
func atLeast(least int, asm func(dst, src *byte, n int, mask *[16]byte), short func(dst, src []byte), mask *[16]byte, dst, src []byte) {
	if len(src) < least {
		short(dst, src)
		return
	}
	asm(&dst[:len(src)][0], &src[0], len(src), mask)
}
