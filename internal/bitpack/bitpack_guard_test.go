// SPDX-License-Identifier: Apache-2.0

//go:build linux

package bitpack

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestUnpackStaysInside unpacks and compares bytes that end at a page that must not be accessed.
func TestUnpackStaysInside(t *testing.T) {
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	require.NoError(t, syscall.Mprotect(m[page:], syscall.PROT_NONE))
	dst, out := make([]uint32, 1600), make([]byte, 200)
	for n := range 200 {
		src := m[page-n : page : page]
		for width := range uint(33) {
			Unpack(dst[:8*n/int(max(width, 1))], src, 0, width)
			Unpack(dst, src, 3, width)
			Between(out, 8*n/int(max(width, 1)), src, 0, width, 1, 2)
			Between(out, len(dst), src, 3, width, 1, 2)
		}
	}
}
