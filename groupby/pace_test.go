// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

// Tests of the pacer, with the collections of the runtime switched off.

// collections returns the number of completed collections of garbage.
func collections() uint32 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.NumGC
}

// garbage is the last allocation of litter.
var garbage []byte

// litter makes bytes of garbage.
func litter(bytes int) {
	garbage = make([]byte, bytes)
	garbage = nil
}

// TestPacerCollectsGarbage requires a collection when the garbage exceeds the part of the limit, or of the live bytes
// while partials are merged, and none otherwise.
func TestPacerCollectsGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for _, row := range []struct {
		name    string
		limit   int64
		merging bool
		bytes   int
		want    uint32
	}{
		{"no limit", 0, false, 64 << 20, 0},
		{"merging, little", 0, true, 8 << 20, 0},
		{"merging, much", 0, true, 64 << 20, 1},
		{"the least limit, little", 1, false, 2 << 20, 0},
		{"the least limit, much", 1, false, 8 << 20, 1},
		{"limit, little", 64 << 20, false, 8 << 20, 0},
		{"limit, much", 64 << 20, false, 32 << 20, 1},
	} {
		p := newPacer(row.limit)
		if row.merging {
			p.merge()
		}
		require.Equal(t, row.limit > 0 || row.merging, p.active(), row.name)
		runtime.GC()
		before := collections()
		litter(row.bytes)
		p.allocated(int64(row.bytes))
		require.Equal(t, row.want, collections()-before, row.name)
	}
}

// TestPacerAddsUp requires that small allocations are counted until they are worth a look at the heap: a 64th of the
// limit, at least 256 KiB, or 2 MiB without a limit.
func TestPacerAddsUp(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for limit, step := range map[int64]int64{0: 2 << 20, 1: 256 << 10, 64 << 20: 1 << 20} {
		p := newPacer(limit)
		p.merge()
		runtime.GC()
		litter(64 << 20)
		before := collections()
		p.allocated(step - 1)
		require.Equal(t, before, collections(), "limit %d", limit)
		p.allocated(1)
		require.Equal(t, before+1, collections(), "limit %d", limit)
		require.Zero(t, p.bytes)
	}
}

// TestBlocksOfPartitionsArePaced requires that the bytes of blocks of rows and of compacted blocks are counted.
func TestBlocksOfPartitionsArePaced(t *testing.T) {
	for _, compact := range []int64{0, 1 << 20} {
		c, err := Config{Keys: By("k0"), Workers: 1}.check()
		require.NoError(t, err)
		l := defaultLimits
		l.compactBytes = compact
		p, err := newPlan(c, l, []column.Type{typeInt64})
		require.NoError(t, err)
		s, b := newStore(p), p.newBlock(false)
		b.gather(&keys{w0: []uint64{1, 2, 3}}, nil, nil, 0, []uint32{0, 1, 2})
		want := b.size()
		require.Positive(t, want)
		require.NoError(t, s.put(0, b, func() *merger { return newMerger(p) }))
		left := s.parts[0].blocks[0]
		require.Equal(t, compact == 0, left.states)
		if left.states {
			want += left.size()
		}
		require.Equal(t, want, s.pace.bytes)
	}
}
