// SPDX-License-Identifier: Apache-2.0

//go:build linux

package zstd

import (
	"bytes"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// TestDecodeStaysInside places both sides at the edges of memory between two pages that must not be accessed, with
// valid and with damaged frames.
func TestDecodeStaysInside(t *testing.T) {
	soak.NoRace(t)
	page := syscall.Getpagesize()
	const room = 80 << 12
	fenced := func() []byte {
		m, err := syscall.Mmap(-1, 0, room+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		t.Cleanup(func() { _ = syscall.Munmap(m) })
		require.NoError(t, syscall.Mprotect(m[:page], syscall.PROT_NONE))
		require.NoError(t, syscall.Mprotect(m[page+room:], syscall.PROT_NONE))
		return m[page : page+room]
	}
	dst, src := fenced(), fenced()
	r := rand.New(rand.NewPCG(1, 1))
	e := encoders(t)[0] // without a checksum
	for _, n := range []int{64, 300, 1500, 5000, 20_000, 70_000, 128 << 10, 300_000} {
		for _, c := range contents(n) {
			encoded := e.EncodeAll(c.data, nil)
			for i := range 20 {
				b := bytes.Clone(encoded)
				for range i {
					b[r.IntN(min(len(b), 200))] = byte(r.Uint32())
				}
				each(func(string) {
					for _, at := range []int{0, room - len(b)} {
						copy(src[at:], b)
						for _, to := range []int{0, room - n} {
							decode(dst[to:to+n:to+n], src[at:at+len(b):at+len(b)])
						}
					}
				})
			}
		}
	}
}
