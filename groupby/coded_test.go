// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCodedKeys adds batches that share dictionaries for a while: groups of entries that are kept must stay right when the dictionary changes, when
// rows are NULL, when the table is frozen and when it is given up.
func TestCodedKeys(t *testing.T) {
	for _, entries := range []int{1, 10, 3000, 60_000} {
		for _, limit := range []int64{0, 1 << 20} {
			t.Run(fmt.Sprintf("entries=%d/limit=%d", entries, limit), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(entries), uint64(limit)))
				config := Config{
					Keys: []Type{String}, Values: []Type{Int64}, Aggregates: []Aggregate{Count(), Sum(0)}, Workers: 1, Order: ByKeys,
					MemoryLimit: limit, SpillDir: t.TempDir(),
				}
				g, err := New(config)
				require.NoError(t, err)
				defer func() { require.NoError(t, g.Close()) }()
				w := g.Worker()
				counts, sums := map[string]int64{}, map[string]int64{}
				learned, start := 0, int64(0)
				for d := range 6 {
					texts := make([]string, entries)
					for i := range texts {
						texts[i] = fmt.Sprintf("%0*d", 1+rng.IntN(30), (i+d*entries/3)%(2*entries))
					}
					dict := NewDictionary(Values(texts))
					for range 5 {
						const rows = 10_000
						codes, values, bits := make([]uint32, rows), make([]int64, rows), make([]byte, (rows+7)/8)
						nulls := rng.IntN(3) == 0
						for i := range codes {
							// The lower codes come far more often: a table freezes with them in it.
							codes[i] = uint32(float64(entries) * rng.Float64() * rng.Float64() * rng.Float64())
							values[i] = rng.Int64N(1000)
							key := texts[codes[i]]
							if nulls && rng.IntN(10) == 0 {
								key = "NULL"
							} else {
								bits[i>>3] |= 1 << (i & 7)
							}
							counts[key]++
							sums[key] += values[i]
						}
						col := Codes(codes, dict)
						if nulls {
							col = col.WithValidity(bits)
						}
						require.NoError(t, w.Add(context.Background(), Batch{Keys: []Column{col}, Values: []Column{Values(values)}, Start: start}))
						start += rows
						if w.local != nil && w.coded.dict == dict && !nulls {
							learned++
						}
					}
				}
				require.True(t, learned > 0 || w.mode == modeScatter)
				res, err := g.Finish(context.Background())
				require.NoError(t, err)
				require.Equal(t, len(counts), res.Len())
				for b := range res.Batches() {
					names, _ := SliceOf[string](b.Keys[0])
					count, _ := SliceOf[int64](b.Values[0])
					sum, _ := SliceOf[int64](b.Values[1])
					for i, name := range names {
						if b.Keys[0].Null(i) {
							name = "NULL"
						}
						require.Equal(t, counts[name], count[i], name)
						require.Equal(t, sums[name], sum[i], name)
					}
				}
			})
		}
	}
}
