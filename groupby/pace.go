// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"runtime"
	"runtime/metrics"
	"sync"
)

// Garbage under a memory limit. By default the heap grows to twice its live bytes before garbage is collected, so that
// live bytes within the limit would need twice the limit. Most of what a Grouper allocates is garbage soon: blocks that
// were merged or spilled, and copies of frames. So with a limit, and while partials are merged, it collects garbage
// itself. Blocks and tables have no pointers, which makes a collection cheap.

// A pacer collects garbage when the heap has grown by a quarter of the memory limit. Without a limit it does so from
// merge on, when the heap has grown by a quarter of its live bytes.
type pacer struct {
	limit int64

	mu      sync.Mutex
	merging bool
	bytes   int64 // allocated since the last look at the heap
	samples [2]metrics.Sample
}

func newPacer(limit int64) *pacer {
	p := &pacer{limit: limit}
	p.samples[0].Name = "/memory/classes/heap/objects:bytes" // live objects and garbage
	p.samples[1].Name = "/gc/heap/live:bytes"                // live objects at the last collection
	return p
}

// merge is called before a partial is merged.
func (p *pacer) merge() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.merging = true
}

// active reports whether the pacer collects garbage.
func (p *pacer) active() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.limit > 0 || p.merging
}

// The numbers of bytes by which the heap grows at least before a collection, with and without a limit.
const (
	leastLimited = 4 << 20
	leastGrowth  = 16 << 20
)

// allocated is called after about n bytes were allocated. The collection runs in the caller, and holds up others that
// allocate, which would otherwise be ahead of it.
func (p *pacer) allocated(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	step := max(p.limit, 4*leastLimited) / 64
	if p.limit <= 0 {
		step = leastGrowth / 8
	}
	if p.bytes += n; p.bytes < step || p.limit <= 0 && !p.merging {
		return
	}
	p.bytes = 0
	metrics.Read(p.samples[:])
	for i := range p.samples {
		if p.samples[i].Value.Kind() != metrics.KindUint64 {
			return // not known to this runtime
		}
	}
	heap, live := int64(p.samples[0].Value.Uint64()), int64(p.samples[1].Value.Uint64())
	most := max(p.limit/4, leastLimited)
	if p.limit <= 0 {
		most = live/4 + leastGrowth
	}
	if heap-live > most {
		runtime.GC()
	}
}
