// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// BenchmarkSpill groups 100 million rows by 50 million keys with a limit of 768 MiB for keys and states, and checks
// every group. At -benchtime 1x it takes about ten seconds; -short makes it a hundred times smaller.
func BenchmarkSpill(b *testing.B) {
	rows, groups, limit := 100_000_000, uint64(50_000_000), int64(768<<20)
	if testing.Short() {
		rows, groups, limit = rows/100, groups/100, limit/100
	}
	const batch = 1 << 20
	keys, values := make([]uint64, batch), make([]int64, batch)
	counts := make([]uint8, groups)
	ctx := context.Background()
	for b.Loop() {
		clear(counts)
		g, err := Config{
			Keys: By("k0"), Aggregates: []Aggregate{Count(), Sum("v0")}, Order: Unordered, MemoryLimit: limit, SpillDir: b.TempDir(),
		}.New()
		require.NoError(b, err)
		r := rand.New(rand.NewPCG(1, 2))
		start := time.Now()
		for at := 0; at < rows; at += batch {
			n := min(batch, rows-at)
			for i := range n {
				id := r.Uint64N(groups)
				counts[id]++
				keys[i], values[i] = id*golden, int64(id) // a bijection of ids
			}
			require.NoError(b, g.Add(ctx, batchOf(0, cols(vals(keys[:n])), cols(vals(values[:n])))))
		}
		added := time.Since(start)
		var inverse uint64 = 1 // of golden, modulo 2^64
		for range 6 {
			inverse *= 2 - golden*inverse
		}
		for p, err := range g.FinishBatches(ctx) {
			require.NoError(b, err)
			keys, err := column.Slice[uint64](p.Column("k0"))
			require.NoError(b, err)
			n, sum := ints(p, "count"), ints(p, "sum(v0)")
			for i, k := range keys {
				id := k * inverse
				if id >= groups || int64(counts[id]) != n[i] || n[i]*int64(id) != sum[i] || n[i] == 0 {
					b.Fatalf("group %d: count %d, sum %d, want %d", id, n[i], sum[i], counts[id])
				}
				counts[id] = 0
			}
		}
		for id, n := range counts {
			if n != 0 {
				b.Fatalf("group %d is missing", id)
			}
		}
		b.ReportMetric(float64(rows)/time.Since(start).Seconds(), "rows/s")
		b.ReportMetric(added.Seconds(), "s-adding")
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") {
			b.Log(strings.TrimSpace(line))
		}
	}
}
