// SPDX-License-Identifier: Apache-2.0

package swap

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestStreamEqualsDecode compares stores that bypass the caches with the others, for all lengths and alignments around
// a step, and checks the bounds.
func TestStreamEqualsDecode(t *testing.T) {
	const most = 700
	r := rand.New(rand.NewPCG(1, 1))
	src := make([]byte, 8*most+64)
	for i := range src {
		src[i] = byte(r.Uint32())
	}
	for _, at := range []int{0, 1, 3, 8} {
		for n := range most {
			compareStream(t, n, src[at:], Decode32[uint32], Stream32[uint32])
			compareStream(t, n, src[at:], Decode64[uint64], Stream64[uint64])
		}
	}
	Fence()
}

// compareStream decodes n elements by both, to an aligned and an unaligned destination.
func compareStream[T uint32 | uint64](t *testing.T, n int, src []byte, decode, stream func(dst []T, src []byte)) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	want, got := make([]T, n+16), make([]T, n+16)
	for _, at := range []int{0, 1, 5, 8} {
		for i := range got {
			want[i], got[i] = 0xdb, 0xdb
		}
		decode(want[at:at+n], src[:n*size])
		stream(got[at:at+n], src[:n*size])
		if !slices.Equal(want, got) {
			require.Equal(t, want, got, "%d elements of %d bytes at %d", n, size, at)
		}
	}
}

func TestStreamPanics(t *testing.T) {
	require.Panics(t, func() { Stream32(make([]uint32, 2), make([]byte, 7)) })
	require.Panics(t, func() { Stream64(make([]uint64, 2), make([]byte, 17)) })
}
