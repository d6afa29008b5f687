// SPDX-License-Identifier: Apache-2.0

package parquetscan_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// benchmarkBatches returns batches of one column by name, of 8192 rows each, or of 512 vectors.
func benchmarkBatches() map[string][]*column.Batch {
	r := rand.New(rand.NewPCG(5, 6))
	const rows, dim = 8192, 384
	out := map[string][]*column.Batch{}
	add := func(name string, columns ...column.Column) {
		out[name] = append(out[name], column.NewBatch(columns...))
	}
	for n := range 32 {
		ids, few, floats, texts, words := make([]int64, rows), make([]int64, rows), make([]float64, rows), make([]string, rows), make([]string, rows)
		validity := make([]byte, rows/8)
		codes := make([]uint32, rows)
		for i := range rows {
			ids[i], few[i], floats[i] = int64(n*rows+i), r.Int64N(1000), r.NormFloat64()
			texts[i], words[i] = fmt.Sprintf("text number %d of many", r.IntN(1<<30)), fmt.Sprint("word ", r.IntN(500))
			validity[i/8] |= byte(min(1, r.IntN(4))) << (i % 8)
			codes[i] = r.Uint32N(3)
		}
		vectors := make([]float32, 512*dim)
		for i := range vectors {
			vectors[i] = float32(r.NormFloat64())
		}
		add("ints", column.Of("n", ids))
		add("few ints", column.Of("n", few))
		add("floats", column.Of("f", floats))
		add("texts", column.Strings("s", texts))
		add("few texts", column.Strings("s", words))
		add("vectors", column.Matrix("v", vectors, dim))
		add("mixed with NULLs", column.Of("n", ids).WithValidity(validity), column.Of("f", floats).WithValidity(validity),
			column.Strings("s", words).WithValidity(validity), column.Codes("c", codes, column.NewDictionary([]byte("abc"), []int32{0, 1, 2, 3})))
	}
	return out
}

func BenchmarkWriter(b *testing.B) {
	for name, batches := range benchmarkBatches() {
		for _, codec := range []parquetscan.Codec{parquetscan.Snappy, parquetscan.Uncompressed} {
			b.Run(fmt.Sprintf("%s/%v", name, codec), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					w, err := parquetscan.NewWriter(io.Discard, batches[0].Schema(), parquetscan.WriterOptions{Codec: codec})
					require.NoError(b, err)
					for _, batch := range batches {
						require.NoError(b, w.Write(batch))
					}
					require.NoError(b, w.Close())
				}
			})
		}
	}
}
