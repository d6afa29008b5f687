// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// compare decodes src, as n bytes, by all decoders. What decode accepts, the other decoder accepts too, with the same
// content; what the other decoder accepts, decode accepts, unless loose.
func compare(t *testing.T, peer *zstd.Decoder, src []byte, n int, loose bool) {
	t.Helper()
	want, err := peer.DecodeAll(src, make([]byte, 0, n))
	valid := err == nil && len(want) == n
	each(func(name string) {
		got := make([]byte, n)
		ok := decode(got, src)
		if ok {
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(want, got), name)
			reference, err := decodeReference(src)
			require.NoError(t, err, name)
			require.True(t, bytes.Equal(reference, got), name)
		}
		if valid && !loose {
			require.Equal(t, n > 0, ok, name)
		}
	})
}

// TestReference compares with the reference and the other decoder, also contents of other encoders.
func TestReference(t *testing.T) {
	soak.NoRace(t)
	peer := newPeer(t)
	for i, e := range encoders(t) {
		for _, n := range []int{1, 300, 1023, 5000, 140_000} {
			if i > 0 && n > 5000 {
				continue // the reference takes long
			}
			for _, c := range contents(n) {
				compare(t, peer, e.EncodeAll(c.data, nil), n, false)
			}
		}
	}
	files, err := filepath.Glob("testdata/*.zst")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		src, err := os.ReadFile(name)
		require.NoError(t, err)
		f, ok := parseFrame(src)
		require.True(t, ok, name)
		compare(t, peer, src, int(f.size), false)
	}
}

// TestDamaged changes bytes of frames, without their checksum.
func TestDamaged(t *testing.T) {
	soak.NoRace(t)
	peer := newPeer(t)
	for _, e := range encoders(t)[:2] {
		for _, n := range []int{400, 3000} {
			for _, c := range contents(n)[:6] {
				src := e.EncodeAll(c.data, nil)
				for i := range min(len(src), 500) {
					for _, flip := range []byte{1, 2, 16, 128, 255} {
						src[i] ^= flip
						compare(t, peer, src, n, true)
						src[i] ^= flip
					}
					compare(t, peer, src[:i], n, true)
				}
			}
		}
	}
}

// TestOtherLength decodes to destinations of another length.
func TestOtherLength(t *testing.T) {
	for _, e := range encoders(t)[:2] {
		src := e.EncodeAll(contents(5000)[0].data, nil)
		each(func(string) {
			for _, n := range []int{0, 1, 4999, 5001, 10000} {
				require.False(t, decode(make([]byte, n), src))
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	soak.NoRace(f)
	for _, e := range encoders(f)[:2] {
		for _, n := range []int{40, 300, 1500, 6000} {
			for _, c := range contents(n) {
				f.Add(e.EncodeAll(c.data, nil), n)
			}
		}
	}
	peer, err := zstd.NewReader(nil, zstd.WithDecodeAllCapLimit(true), zstd.WithDecoderConcurrency(1))
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, src []byte, n int) {
		if n < 0 || n > 1<<20 {
			return
		}
		compare(t, peer, src, n, true)
		compare(t, peer, repaired(src), n, true)
	})
}

// repaired returns src without a checksum, so that changed bytes are not refused for it.
func repaired(src []byte) []byte {
	if len(src) < 9 || binary.LittleEndian.Uint32(src) != 0xfd2fb528 || src[4]&4 == 0 {
		return src
	}
	src = bytes.Clone(src[:len(src)-4])
	src[4] &^= 4
	return src
}
