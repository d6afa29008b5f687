// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// TestCodedKeys adds batches that share dictionaries for a while. Cached groups must stay correct when the dictionary
// changes, when rows are NULL, and when the table is frozen or abandoned.
func TestCodedKeys(t *testing.T) {
	batches := 5
	if raceEnabled {
		batches = 2 // one goroutine: nothing can race
	}
	for _, entries := range []int{1, 10, 3000, 60_000} {
		for _, limit := range []int64{0, 1 << 20} {
			t.Run(fmt.Sprintf("entries=%d/limit=%d", entries, limit), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(uint64(entries), uint64(limit)))
				config := Config{
					Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1, Order: ByKeys,
					MemoryLimit: limit, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
				}
				g, err := config.New()
				require.NoError(t, err)
				defer func() { require.NoError(t, g.Close()) }()
				w := g.Worker()
				counts, sums := map[string]int64{}, map[string]int64{}
				cached, start := 0, int64(0)
				for d := range 6 {
					texts := make([]string, entries)
					for i := range texts {
						texts[i] = fmt.Sprintf("%0*d", 1+rng.IntN(30), (i+d*entries/3)%(2*entries))
					}
					dict := dictionaryOf(boxed(texts))
					for range batches {
						const rows = 10_000
						codes, values, bits := make([]uint32, rows), make([]int64, rows), make([]byte, (rows+7)/8)
						nulls := rng.IntN(3) == 0
						for i := range codes {
							// The lower codes are far more frequent, so that a table with them freezes.
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
						col := column.Codes("", codes, dict)
						if nulls {
							col = col.WithValidity(bits)
						}
						require.NoError(t, w.Add(context.Background(), batchOf(start, cols(col), cols(vals(values)))))
						start += rows
						if w.in.local != nil && w.in.coded.dicts[0] == dict {
							cached++
						}
					}
				}
				require.True(t, cached > 0 || w.in.mode == modeScatter)
				res, err := g.Finish(context.Background())
				require.NoError(t, err)
				require.Equal(t, len(counts), res.Rows)
				count, sum := ints(res, "count"), ints(res, "sum(v0)")
				for i, name := range textsOf(res, "k0") {
					if res.Columns[0].Null(i) {
						name = "NULL"
					}
					if count[i] != counts[name] || sum[i] != sums[name] {
						t.Fatalf("%s: count %d, sum %d, want %d, %d", name, count[i], sum[i], counts[name], sums[name])
					}
				}
			})
		}
	}
}

// TestCombinedCodes groups by two dictionary columns with NULLs, whose dictionaries change one after the other.
func TestCombinedCodes(t *testing.T) {
	const rows = 3 * chunkRows
	dicts := []*column.Dictionary{
		dictionaryOf(boxed([]string{"a", "b", "a longer text"})), dictionaryOf(boxed([]string{"b", "c", "a"})),
	}
	for _, drop := range []bool{false, true} {
		gc := groupCase{
			config: Config{Keys: By("k0", "k1"), Aggregates: []Aggregate{Count(), Sum("v0")}, DropNulls: drop, Workers: 1},
			limits: defaultLimits,
		}
		for n := range 6 {
			one, two, values, validity := make([]uint32, rows), make([]uint32, rows), make([]int64, rows), make([]byte, rows/8)
			for i := range one {
				one[i], two[i], values[i] = uint32(i/3%3), uint32(i*(n+1)%3), int64(i)
				if i%5 > 0 {
					validity[i>>3] |= 1 << (i & 7)
				} else {
					two[i] = 99 // the code of a NULL is unspecified
				}
			}
			keys := cols(column.Codes("", one, dicts[n&1]), column.Codes("", one, dicts[n>>1&1]))
			keys[1].Values = bytesOf(two)
			keys[1] = keys[1].WithValidity(validity)
			gc.batches = append(gc.batches, batchOf(0, keys, cols(vals(values))))
		}
		require.NoError(t, gc.check(nil))
		g, err := gc.config.New()
		require.NoError(t, err)
		w := g.Worker()
		for _, b := range gc.batches {
			require.NoError(t, w.Add(t.Context(), b))
			codes := w.in.codesOf(b.Columns[:2], 0, chunkRows)
			require.Equal(t, drop, codes == nil)
			require.Equal(t, drop, w.in.known(codes) == nil, "the groups are cached")
		}
	}
}

// TestCodesBesideOffsets has columns of codes with offsets, which are left from texts that were read into them before.
func TestCodesBesideOffsets(t *testing.T) {
	codes := column.Codes("phrase", []uint32{1, 0, 1}, column.NewDictionary([]byte("deskchair"), []int32{0, 4, 9}))
	codes.Offsets = []int32{0, 0, 0, 0}
	b := column.NewBatch(column.Of("engine", []int32{7, 8, 7}), codes)
	r, err := Config{Keys: By("engine", "phrase"), Aggregates: []Aggregate{Count()}}.Aggregate(t.Context(), b)
	require.NoError(t, err)
	require.Equal(t, []string{"chair", "desk"}, textsOf(r, "phrase"))
	require.Equal(t, []int64{2, 1}, ints(r, "count"))
}
