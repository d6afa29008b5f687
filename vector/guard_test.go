// SPDX-License-Identifier: Apache-2.0

//go:build linux

package vector

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestKernelsStayInside places all arguments at the edges of a page between two pages that must not be accessed.
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
	rows, queries, results := fenced(), fenced(), fenced()
	at := func(b []byte, n int) *float32 { return (*float32)(unsafe.Pointer(&b[len(b)-n])) } // the last n bytes
	for _, k := range kernels() {
		for _, dim := range dims()[:70] {
			for _, f := range floatFormats {
				size := f.Size(dim)
				for o := range ops {
					s := &sums{
						dst: at(results, 12), src: &rows[page-3*size], stride: uintptr(size), rows: 3, query: &queries[page-4*dim],
						dim: uintptr(dim), scales: at(queries, 12),
					}
					if run := k.sums[f][o]; run != nil {
						run(s)
					}
				}
				for which, run := range k.together[f] {
					if run == nil || 8*dim > page {
						continue
					}
					s := &sums{
						dst: at(results, 24), src: &rows[page-3*size], stride: uintptr(size), rows: 3, query: &queries[page-8*dim],
						dim: uintptr(dim), scales: at(queries, 12), pairs: 1,
					}
					if together(which) == togetherSquares {
						s.dst, s.query, s.pairs, s.squares = at(results, 12), &queries[page-4*dim], 0, at(results, 24)
					}
					run(s)
				}
				k.widen[f](at(results, 4*dim), &rows[page-size], uintptr(dim), 1)
			}
			for n := 1; n <= 5; n++ {
				s := &sums{
					dst: at(results, 4*n), src: &rows[page-n*dim], stride: uintptr(dim), rows: uintptr(n), query: &queries[page-dim],
					dim: uintptr(dim),
				}
				k.hamming(s)
				k.integers(s)
				k.integerSquares(s)
			}
			if size := 4 * dim * k.rows; k.tile != nil && size <= page && 4*dim*lanes <= page {
				k.tile(&tile{
					src: &rows[page-size], stride: uintptr(4 * dim), panel: at(queries, 4*dim*lanes), dim: uintptr(dim),
					limits: &limits{}, params: &make([]params, k.rows)[0], from: &noScores[0], to: at(results, 4*k.rows*lanes),
				})
			}
		}
	}
}

// TestSearchStaysInside searches rows whose last byte is the last one that may be accessed.
func TestSearchStaysInside(t *testing.T) {
	withKernel(t, func(t *testing.T, k *kernel) {
		r := rand.New(rand.NewPCG(25, 26))
		page := syscall.Getpagesize()
		m, err := syscall.Mmap(-1, 0, 1025*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
		require.NoError(t, err)
		defer func() { _ = syscall.Munmap(m) }()
		require.NoError(t, syscall.Mprotect(m[1024*page:], syscall.PROT_NONE))
		last := unsafe.Slice((*float32)(unsafe.Pointer(&m[1024*page-200])), 50)
		_, err = Distance(Cosine, last, last)
		require.NoError(t, err)
		for _, f := range floatFormats {
			for _, dim := range []int{7, 64, 100, longRow + 9} {
				e := encode(f, dim, randomFloats(r, 85*dim), 5)
				e.Data = e.Data[:len(e.Data)-e.Stride+f.Size(dim)] // no gap after the last row
				e.Data = m[1024*page-len(e.Data) : 1024*page : 1024*page]
				for _, queries := range []int{1, 6} {
					_, err := Nearest(t.Context(), e, randomFloats(r, queries*dim), 3, Dot, Options{})
					require.NoError(t, err)
				}
			}
		}
	})
}
