// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package swap

// kernelFrom is the smallest number of bytes for which a kernel pays.
const kernelFrom = 64

// swap32NEON and swap64NEON copy n bytes, a positive multiple of 64, and reverse each 4 or 8 of them. Every arm64
// processor supports them.
//
//go:noescape
func swap32NEON(dst, src *byte, n int)

//go:noescape
func swap64NEON(dst, src *byte, n int)

func swap32(dst, src []byte) {
	if n := len(src) &^ (kernelFrom - 1); n > 0 {
		swap32NEON(&dst[:n][0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	swap32Word(dst, src)
}

func swap64(dst, src []byte) {
	if n := len(src) &^ (kernelFrom - 1); n > 0 {
		swap64NEON(&dst[:n][0], &src[0], n)
		dst, src = dst[n:], src[n:]
	}
	swap64Word(dst, src)
}

func stream32(dst, src []byte) { swap32(dst, src) }
func stream64(dst, src []byte) { swap64(dst, src) }
func fence()                   {}

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel { return []kernel{wordKernel, {"neon", swap32, swap64}} }
