// SPDX-License-Identifier: Apache-2.0

package literals

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"
)

// BenchmarkDecode compares Decode with the other decoder.
func BenchmarkDecode(b *testing.B) {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithAllLitEntropyCompression(true))
	require.NoError(b, err)
	peer := newPeer(b)
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{4 << 10, 1 << 20} {
		for _, c := range []content{{"floats", floats(r, n)}} {
			src := e.EncodeAll(c.data, nil)
			dst := make([]byte, n, n+32)
			if !decode(dst, src) {
				b.Fatalf("%s has sequences", c.name)
			}
			for _, impl := range []string{"klauspost", "vecql"} {
				b.Run(fmt.Sprintf("content=%s/bytes=%d/impl=%s", c.name, n, impl), func(b *testing.B) {
					if impl == "vecql" && !hasKernel {
						b.Skip("no kernel")
					}
					b.SetBytes(int64(n))
					for b.Loop() {
						if impl == "vecql" {
							Decode(dst, src)
						} else if _, err := peer.DecodeAll(src, dst[:0]); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}
