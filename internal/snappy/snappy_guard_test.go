// SPDX-License-Identifier: Apache-2.0

//go:build linux

package snappy

import (
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDecodeStaysInside decodes blocks that end at a page that must not be accessed, to memory that ends at one and
// begins after one. Half of the blocks are invalid.
func TestDecodeStaysInside(t *testing.T) {
	page := syscall.Getpagesize()
	const pages = 16
	fenced := func() []byte {
		m, err := syscall.Mmap(-1, 0, (pages+2)*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { _ = syscall.Munmap(m) })
		require.NoError(t, syscall.Mprotect(m[:page], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(m[(pages+1)*page:], syscall.PROT_NONE))
		return m[page : (pages+1)*page : (pages+1)*page]
	}
	dst, src := fenced(), fenced()
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 4000 {
		block := elements(r, 1+r.IntN(80), i%2 == 0)
		n, _, err := Len(block)
		if err != nil || int(n) > len(dst)-dstSpare || len(block) > len(src) {
			continue
		}
		at := src[len(src)-len(block):]
		copy(at, block)
		want, wantErr := reference(block)
		for _, out := range [][]byte{dst[len(dst)-int(n):], dst[len(dst)-int(n)-80:][:n], dst[:n]} {
			err := Decode(out, at)
			require.Equal(t, wantErr == nil, err == nil, "%x", block)
			if err == nil && n > 0 {
				require.Equal(t, want, out)
			}
		}
	}
}
