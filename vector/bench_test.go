// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkNearest searches float32 rows of 768 elements. bench/vector measures larger matrices beside other libraries.
func BenchmarkNearest(b *testing.B) {
	const dim, rows = 768, 20_000
	r := rand.New(rand.NewPCG(1, 2))
	m := MatrixOf(randomFloats(r, rows*dim), dim)
	for _, queries := range []int{1, 4, 8, 16, 32} {
		q := randomFloats(r, queries*dim)
		for _, metric := range []Metric{Dot, SquaredL2, Cosine} {
			for _, k := range kernels() {
				b.Run(fmt.Sprintf("metric=%v/dim=%d/rows=%d/queries=%d/impl=%s", metric, dim, rows, queries, k.name), func(b *testing.B) {
					old := best
					defer func() { best = old }()
					best = &k
					b.SetBytes(4 * dim * rows)
					for b.Loop() {
						if _, err := Nearest(b.Context(), m, q, 10, metric, Options{}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			if queries == 1 {
				b.Run(fmt.Sprintf("metric=%v/dim=%d/rows=%d/queries=%d/impl=reference", metric, dim, rows, queries), func(b *testing.B) {
					b.SetBytes(4 * dim * rows)
					values := m.Row(nil, 0)
					for b.Loop() {
						for i := range rows {
							values = m.Row(values[:0], i)
							Reference(metric, q, values)
						}
					}
				})
			}
		}
	}
}
