// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// BenchmarkDecode compares decode, by the kernels if there are any for the processor, with the other decoder. Floats
// have literals alone. Words have short matches, and matches of integers overlap.
func BenchmarkDecode(b *testing.B) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithAllLitEntropyCompression(true))
	require.NoError(b, err)
	peer := newPeer(b)
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{4 << 10, 1 << 20} {
		for _, c := range []content{{"floats", floats(r, n)}, {"words", words(r, n)}, {"integers", integers(r, n)}} {
			src := e.EncodeAll(c.data, nil)
			dst := make([]byte, n, n+Spare)
			for impl, ok := range map[string]func() bool{
				"klauspost": func() bool { _, err := peer.DecodeAll(src, dst[:0]); return err == nil },
				"vecql":     func() bool { return decode(dst, src) },
			} {
				b.Run(fmt.Sprintf("content=%s/bytes=%d/impl=%s", c.name, n, impl), func(b *testing.B) {
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
}
