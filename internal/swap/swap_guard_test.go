// SPDX-License-Identifier: Apache-2.0

//go:build linux

package swap

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestKernelsStayInside places both sides at the edges of a page between two pages that must not be accessed.
func TestKernelsStayInside(t *testing.T) {
	page := syscall.Getpagesize()
	fenced := func() []byte {
		m, err := syscall.Mmap(-1, 0, 3*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { _ = syscall.Munmap(m) })
		require.NoError(t, syscall.Mprotect(m[:page], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(m[2*page:], syscall.PROT_NONE))
		return m[page : 2*page]
	}
	dst, src := fenced(), fenced()
	for n := 0; n <= 1024; n += 4 {
		for _, k := range all() {
			if n%8 == 0 {
				k.swap64(dst[:n], src[:n])
				k.swap64(dst[page-n:], src[page-n:])
			}
			k.swap32(dst[:n], src[:n])
			k.swap32(dst[page-n:], src[page-n:])
		}
	}
}
