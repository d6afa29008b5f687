// SPDX-License-Identifier: Apache-2.0

package literals

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// BenchmarkDecode compares decode, by the kernel if there is one for the processor, with the other decoder.
func BenchmarkDecode(b *testing.B) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithAllLitEntropyCompression(true))
	require.NoError(b, err)
	peer := newPeer(b)
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{4 << 10, 1 << 20} {
		src := e.EncodeAll(floats(r, n), nil)
		dst := make([]byte, n, n+32)
		for impl, ok := range map[string]func() bool{
			"klauspost": func() bool { _, err := peer.DecodeAll(src, dst[:0]); return err == nil },
			"vecql":     func() bool { return decode(dst, src) },
		} {
			b.Run(fmt.Sprintf("content=floats/bytes=%d/impl=%s", n, impl), func(b *testing.B) {
				b.SetBytes(int64(n))
				for b.Loop() {
					if !ok() {
						b.Fatal("not decoded")
					}
				}
			})
		}
	}
}
