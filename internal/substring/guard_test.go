// SPDX-License-Identifier: Apache-2.0

//go:build linux

package substring

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIndexStaysInside searches bytes that end at a page that must not be accessed.
func TestIndexStaysInside(t *testing.T) {
	page := syscall.Getpagesize()
	m, err := syscall.Mmap(-1, 0, 2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	t.Cleanup(func() { _ = syscall.Munmap(m) })
	require.NoError(t, syscall.Mprotect(m[page:], syscall.PROT_NONE))
	for n := range 200 {
		for k := range 70 {
			require.Equal(t, n >= k, Index(m[page-n:page:page], make([]byte, k)) == 0)
		}
	}
	m[page-1] = 1
	for n := 1; n < 200; n++ {
		require.Equal(t, n-2, Index(m[page-n:page:page], []byte{0, 1}))
	}
}
