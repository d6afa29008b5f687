// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

// distinctTextRows makes n rows with a distinct text of 20 bytes each, from number at.
func distinctTextRows(at, n int) *column.Batch {
	text, offsets := make([]byte, 0, 20*n), make([]int32, 1, n+1)
	for i := at; i < at+n; i++ {
		text = fmt.Appendf(text, "key-%016x", uint64(i)*golden)
		offsets = append(offsets, int32(len(text)))
	}
	return batchOf(0, cols(column.StringBuffers("", text, offsets)), cols(vals(make([]int64, n))))
}

// limited returns a Config with a memory limit.
func limited(t *testing.T, limit int64) Config {
	return Config{
		Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Order: Unordered, Workers: 2,
		MemoryLimit: limit, SpillDir: t.TempDir(), SpillCodec: plainCodec{},
	}
}

// liveBytes returns the number of live bytes of the heap.
func liveBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// While rows, and then a partial, are added, the live bytes of the heap do not exceed the memory limit.
func TestMemoryLimitBoundsLiveBytes(t *testing.T) {
	soak.NoRace(t)
	const groups, step, limit = 200_000, 50_000, int64(6 << 20)
	ctx := context.Background()
	base := liveBytes()
	check := func(g *Grouper) {
		live, held := liveBytes()-base, g.stages[0].store.held.Load()
		if live > limit {
			t.Errorf("%d bytes are live, %d counted, the limit is %d", live, held, limit)
		}
		for _, w := range g.stages[0].workers {
			for p, b := range w.out {
				if b != nil && b.counted != b.size() {
					t.Fatalf("%d of %d bytes of a block of partition %d are counted", b.counted, b.size(), p)
				}
			}
		}
	}
	g, err := limited(t, limit).New()
	require.NoError(t, err)
	for at := 0; at < groups; at += step {
		require.NoError(t, g.Add(ctx, distinctTextRows(at, step)))
		check(g)
	}
	require.Greater(t, g.stages[0].store.spill.size, limit/4)
	file, err := os.Create(t.TempDir() + "/partial")
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, g.WritePartial(file))
	_, err = file.Seek(0, io.SeekStart)
	require.NoError(t, err)
	merged, err := limited(t, limit).New()
	require.NoError(t, err)
	require.NoError(t, merged.MergePartial(file))
	check(merged)
	rows := 0
	for b, err := range merged.FinishBatches(ctx) {
		require.NoError(t, err)
		rows += b.Rows
	}
	require.Equal(t, groups, rows)
}

// Partials of the same groups are compacted: memory grows with the groups, not with the number of partials.
func TestMergedPartialsAreCompacted(t *testing.T) {
	c := Config{Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Workers: 1}
	var partial bytes.Buffer
	g, err := c.New()
	require.NoError(t, err)
	require.NoError(t, g.Add(context.Background(), distinctTextRows(0, 20_000)))
	require.NoError(t, g.WritePartial(&partial))
	merged, err := c.New()
	require.NoError(t, err)
	merged.limits.compactBytes = 1 << 14
	var once int64
	for n := range 10 {
		require.NoError(t, merged.MergePartial(bytes.NewReader(partial.Bytes())))
		if n == 0 {
			once = merged.stages[0].store.held.Load()
		}
	}
	require.Less(t, merged.stages[0].store.held.Load(), 5*once)
	b, err := merged.Finish(context.Background())
	require.NoError(t, err)
	require.Equal(t, 20_000, b.Rows)
	require.Equal(t, int64(10), ints(b, "count")[b.Rows-1])
}
