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

// TestTableOfDistinctKeysIsAbandonedEarly adds batches that are too small for a sample. A table stays only if its
// groups fit, which is seen at its first mark, 4096 groups.
func TestTableOfDistinctKeysIsAbandonedEarly(t *testing.T) {
	for _, test := range []struct {
		name         string
		groups, rows int
		mode         mode
		most         int // groups in the table
		key          func(random *rand.Rand, row int) int64
	}{
		{"distinct", 1 << 20, 6000, modeScatter, 6000, drawn(1 << 20)},
		{"many", 10_000, 20_000, modeTable, 10_000, drawn(10_000)},
		{"few", 1000, 20_000, modeTable, 1000, drawn(1000)},
		{"seen before", 5000, 100_000, modeTable, 5000, func(random *rand.Rand, row int) int64 {
			if row < 75_000 {
				return drawn(1000)(random, row)
			}
			return drawn(5000)(random, row)
		}},
		{"counter", 20_000, 60_000, modeTable, 20_000, func(_ *rand.Rand, row int) int64 { return int64(row % 20_000) }},
	} {
		for _, text := range []bool{false, true} {
			if text && test.name == "counter" {
				continue // texts have no range
			}
			random := rand.New(rand.NewPCG(1, uint64(test.groups)))
			c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Workers: 1}
			g, err := c.New()
			require.NoError(t, err)
			g.limits.local = 1 << 15
			w := g.Worker()
			for at := 0; at < test.rows; at += 500 {
				numbers, texts := make([]int64, 500), make([]string, 500)
				for i := range numbers {
					numbers[i] = test.key(random, at+i)
					texts[i] = fmt.Sprint(numbers[i])
				}
				key := vals(numbers)
				if text {
					key = vals(texts)
				}
				require.NoError(t, w.Add(t.Context(), batchOf(0, cols(key), nil)))
				if w.in.mode == modeTable {
					require.LessOrEqual(t, w.in.local.groups()-1, test.most)
				}
			}
			require.Equal(t, test.mode, w.in.mode, "%s, text %v", test.name, text)
			b, err := g.Finish(t.Context())
			require.NoError(t, err)
			require.Greater(t, b.Rows, test.groups/1000)
		}
	}
}

// drawn returns a function that draws one of n keys, which are far from each other.
func drawn(n int64) func(*rand.Rand, int) int64 {
	return func(random *rand.Rand, _ int) int64 { return random.Int64N(n) * 1_000_003 }
}

// TestTableOfSampledKeysStays adds one batch whose sample shows that the groups fit, in the order of a counter: none of
// the rows until the first mark repeats a key.
func TestTableOfSampledKeysStays(t *testing.T) {
	const groups, rows = 20_000, 80_000
	keys := make([]int64, rows)
	for i := range keys {
		keys[i] = int64(i%groups) * 1_000_003
	}
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Workers: 1}
	g, err := c.New()
	require.NoError(t, err)
	g.limits.local = 1 << 15
	w := g.Worker()
	require.NoError(t, w.Add(t.Context(), batchOf(0, cols(vals(keys)), nil)))
	require.Equal(t, modeTable, w.in.mode)
	b, err := g.Finish(t.Context())
	require.NoError(t, err)
	require.Equal(t, groups, b.Rows)
}

// TestMissesOfFrozenTableAreCollected has a table that freezes: rows of other groups wait until they are enough for the
// partitions, or until their text is, and none is lost or out of order.
func TestMissesOfFrozenTableAreCollected(t *testing.T) {
	for _, test := range []struct {
		name   string
		size   int // bytes of each text
		limit  int64
		waited bool // rows wait after a batch
	}{{"numbers", 0, 0, true}, {"short texts", 10, 0, true}, {"long texts", 1200, 0, false}, {"limited", 0, 1 << 20, false}} {
		random := rand.New(rand.NewPCG(5, 6))
		c := Config{
			Keys: By("k0"), Aggregates: []Aggregate{Count(), Max("v0"), First("v0")}, Workers: 1, Order: FirstAppearance,
			MemoryLimit: test.limit, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
		}
		g, err := c.New()
		require.NoError(t, err)
		g.limits.local, g.limits.sample = 64, 1<<30
		w := g.Worker()
		var batches []*column.Batch
		waited := 0
		for at := range 12 {
			numbers, texts := make([]int64, 2000), make([]string, 2000)
			for i := range numbers {
				numbers[i] = random.Int64N(40)
				if at > 0 && random.IntN(8) == 0 {
					numbers[i] = random.Int64N(3000)
				}
				texts[i] = fmt.Sprintf("%0*d", test.size, random.IntN(1000))
			}
			b := batchOf(int64(2000*at), cols(vals(numbers)), cols(vals(texts)))
			batches = append(batches, b)
			require.NoError(t, w.Add(t.Context(), b))
			if w.in.missed != nil && w.in.missed.n() > 0 {
				waited++
			}
		}
		require.Equal(t, modeFrozen, w.in.mode, test.name)
		require.Equal(t, test.waited, waited > 6, "%s: rows waited after %d batches", test.name, waited)
		require.NoError(t, w.in.finish())
		requireCounted(t, w.in)
		got, err := g.Finish(t.Context())
		require.NoError(t, err)
		want, err := reference(c, batches...)
		require.NoError(t, err)
		equalResults(t, c, want, got, false)
	}
}

// TestMissesAreAtMostTheRowsOfAScatter has one miss more than a chunk, and then chunks of misses.
func TestMissesAreAtMostTheRowsOfAScatter(t *testing.T) {
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count()}, Workers: 1}
	g, err := c.New()
	require.NoError(t, err)
	g.limits.local, g.limits.sample = 64, 1<<30
	w := g.Worker()
	next := int64(1000)
	add := func(known, misses int) {
		t.Helper()
		keys := make([]int64, known, known+misses)
		for i := range keys {
			keys[i] = int64(i % 40)
		}
		for range misses {
			keys, next = append(keys, next), next+1_000_003
		}
		require.NoError(t, w.Add(t.Context(), batchOf(0, cols(vals(keys)), nil)))
		if w.in.missed != nil {
			require.LessOrEqual(t, w.in.missed.n()+chunkRows, scatterRows)
		}
	}
	for range 4 {
		add(2000, 0)
	}
	add(2000, 100)
	require.Equal(t, modeFrozen, w.in.mode)
	add(2000, chunkRows+1-w.in.missed.n())
	require.Equal(t, chunkRows+1, w.in.missed.n())
	for range 20 {
		add(3*chunkRows, 0)
		add(0, chunkRows)
	}
	require.Equal(t, modeFrozen, w.in.mode)
	require.NotNil(t, w.in.missed)
	w.in.store.held.Add(100)
	w.in.missed.counted = 100
	w.in.dropMissed()
	require.Zero(t, w.in.store.held.Load(), "memory that is dropped is not held")
	require.Nil(t, w.in.missed)
	require.NoError(t, g.Close())
}

// TestKeysOnlyRepeated checks that rows that repeat a key do not go to the partitions if there is nothing to aggregate.
func TestKeysOnlyRepeated(t *testing.T) {
	const rows = 10 * scatterRows
	keys := make([]int64, rows)
	for i := range keys {
		keys[i] = int64(i / 8)
	}
	for _, counted := range []bool{false, true} {
		c := Config{Keys: By("k0"), Order: Unordered, Workers: 1}
		want := rows / 8
		if counted {
			c.Aggregates = []Aggregate{Count()}
			want = rows
		}
		g, err := c.New()
		require.NoError(t, err)
		g.limits.local = 1
		w := g.Worker()
		require.NoError(t, w.Add(context.Background(), batchOf(0, cols(vals(keys)), nil)))
		require.Equal(t, modeScatter, w.in.mode)
		sent := 0
		for _, n := range w.in.sent {
			sent += n
		}
		require.InDelta(t, want, sent, scatterRows)
		res, err := g.Finish(context.Background())
		require.NoError(t, err)
		require.Equal(t, rows/8, res.Rows)
	}
}

// requireCounted requires that the bytes held are the size of the blocks in the partitions and of the worker's mergers.
func requireCounted(t *testing.T, w *worker) {
	t.Helper()
	want := int64(0)
	for i := range w.store.parts {
		for _, b := range w.store.parts[i].blocks {
			want += b.counted
		}
	}
	for _, m := range []*merger{w.local, w.merging} {
		if m != nil {
			want += m.counted
		}
	}
	require.Equal(t, want, w.store.held.Load())
}

// TestTableOfSmallBatchesIsNarrowed adds batches that are too small for a sample. Once enough rows were added, keys
// that are close to each other have a direct table, in which the groups are the same.
func TestTableOfSmallBatchesIsNarrowed(t *testing.T) {
	const rows, size = 40_000, 500
	at := func(i int) int64 { return int64(i*7919%5000) - 700 }
	numbers, far, bytes := make([]int64, rows), make([]int64, rows), make([]int8, rows)
	for i := range rows {
		numbers[i], far[i], bytes[i] = at(i), at(i)*1_000_003, int8(at(i)>>6)
	}
	validity := make([]byte, rows/8)
	for i := range validity {
		validity[i] = 0xfe
	}
	above := make([]int64, rows) // no negative number, which is far from zero
	for i, x := range numbers {
		above[i] = x + 1_000_000
	}
	for _, test := range []struct {
		name         string
		keys         []column.Column
		direct, null bool
	}{
		{"close", cols(vals(above)), true, false},
		{"close with NULL", cols(vals(above).WithValidity(validity)), true, true},
		{"around zero", cols(vals(numbers)), false, false},
		{"far", cols(vals(far)), false, false},
		{"two columns", cols(vals(bytes), vals(bytes)), true, false},
		{"two columns with NULL", cols(vals(bytes), vals(bytes).WithValidity(validity)), false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1, Order: FirstAppearance}
			if len(test.keys) > 1 {
				c.Keys = By("k0", "k1")
			}
			all := batchOf(0, test.keys, cols(vals(numbers)))
			want, err := c.Aggregate(t.Context(), all)
			require.NoError(t, err)
			g, err := c.New()
			require.NoError(t, err)
			w := g.Worker()
			for at := 0; at < rows; at += size {
				part := all.Slice(at, at+size)
				part.Source.FirstRow = int64(at)
				require.NoError(t, w.Add(t.Context(), part))
				direct := &w.in.local.t.direct
				require.Equal(t, test.direct && at+size >= g.limits.sample, direct.ids != nil, "row %d", at)
				require.Equal(t, test.null && direct.ids != nil, direct.null != 0)
			}
			got, err := g.Finish(t.Context())
			require.NoError(t, err)
			require.Empty(t, column.Diff(got, want))
		})
	}
}
