// SPDX-License-Identifier: Apache-2.0

//go:build purego || (!amd64 && !arm64)

package swap

func swap32(dst, src []byte) { swap32Word(dst, src) }
func swap64(dst, src []byte) { swap64Word(dst, src) }

func stream32(dst, src []byte) { swap32(dst, src) }
func stream64(dst, src []byte) { swap64(dst, src) }
func fence()                   {}

// kernels returns all kernels that this machine supports, the fastest last.
func kernels() []kernel { return []kernel{wordKernel} }
