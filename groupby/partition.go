// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Partitions: rows are partitioned by the hash of their keys. The groups of one partition fit into the cache, and each
// partition can be merged and spilled alone.

const (
	partitionBits = 8
	partitions    = 1 << partitionBits
	// scatterRows is the number of rows that are partitioned at a time, enough for some dozens per partition.
	scatterRows = 8192
)

// partitionOf writes the partition of each key to parts.
func (p *keyPlan) partitionOf(k *keys, parts []uint8) {
	parts = parts[:len(k.w0)]
	switch {
	case p.form == keyWord && k.mask == nil:
		for i, w := range k.w0 {
			parts[i] = uint8(p.hash1(w, 0) >> (64 - partitionBits))
		}
	case p.form == keyWord:
		for i, w := range k.w0 {
			parts[i] = uint8(p.hash1(w, k.mask[i]) >> (64 - partitionBits))
		}
	default:
		for i, w := range k.w0 {
			parts[i] = uint8(p.hash2(w, k.w1[i], k.maskOf(uint32(i))) >> (64 - partitionBits))
		}
	}
}

// A partition holds the blocks of all workers for one value of the partition bits.
type partition struct {
	mu       sync.Mutex
	blocks   []*block
	fresh    int64 // bytes of blocks that were put since the last compaction
	states   int64 // bytes of the blocks of states that compactions made
	merging  int64 // bytes of such blocks that running compactions merge
	distinct int64 // bytes of fresh blocks up to which nearly all keys are taken to differ
	spilled  []extent
	bytes    int64 // of the spilled blocks, in memory
}

// A store has all partitions, and counts their memory.
type store struct {
	plan  *plan
	parts [partitions]partition
	held  atomic.Int64 // bytes of all blocks and of the workers' mergers; approximate
	used  atomic.Bool  // set by the first put
	spill spill
	pace  *pacer
}

func newStore(p *plan) *store { return &store{plan: p, pace: newPacer(p.MemoryLimit)} }

// blockPool holds merged blocks of rows: reusing memory is much cheaper than allocating it.
var blockPool sync.Pool

func (p *plan) newRows() *block {
	if p.MemoryLimit == 0 {
		if b, ok := blockPool.Get().(*block); ok {
			b.begin(p, false)
			return b
		}
	}
	return p.newBlock(false)
}

// count updates the bytes of a block in held.
func (s *store) count(b *block) {
	size := b.size()
	s.held.Add(size - b.counted)
	b.counted = size
}

// countMerger updates the bytes of a worker's merger in held; free means that the worker drops it.
func (s *store) countMerger(m *merger, free bool) {
	size := int64(0)
	if !free {
		size = m.size()
	}
	s.held.Add(size - m.counted)
	m.counted = size
}

// reusedRows is the capacity, in rows, of block columns that are reused for a result.
const reusedRows = 2048

// keepSpare keeps the memory of a merged block for the result, and reports whether it did.
func (m *merger) keepSpare(b *block) bool {
	if !m.plan.wordResults || b.states || cap(b.rows.w0) < reusedRows || len(m.spare) >= 4096 {
		return false
	}
	keep := func(w []uint64) {
		if cap(w) >= reusedRows {
			m.spare = append(m.spare, w[:0:reusedRows])
		}
	}
	keep(b.rows.w0)
	keep(b.rows.w1)
	for i := range b.cols {
		keep(b.cols[i].fixed)
	}
	return true
}

// takeSpare returns memory for reusedRows words.
func (m *merger) takeSpare() []uint64 {
	last := len(m.spare) - 1
	w := m.spare[last]
	m.spare = m.spare[:last]
	return w
}

// release removes blocks from held, and keeps blocks of rows for reuse. With a memory limit it keeps none, since
// blocks in the pool would not be counted.
func (s *store) release(blocks []*block) {
	for _, b := range blocks {
		s.held.Add(-b.counted)
		b.counted = 0
		if !b.states && s.plan.MemoryLimit == 0 && b.size() < 1<<20 {
			blockPool.Put(b)
		}
	}
}

// put adds a block to a partition. It compacts a partition that has become large with the merger that get returns, and
// spills it if the memory limit is reached.
func (s *store) put(p int, b *block, get func() *merger) error {
	if err := b.check(); err != nil {
		return err
	}
	s.used.Store(true)
	part := &s.parts[p]
	s.count(b)
	s.pace.allocated(b.counted)
	part.mu.Lock()
	defer part.mu.Unlock()
	part.blocks = append(part.blocks, b)
	part.fresh += b.counted
	// Blocks are compacted when they exceed both a limit and the states of the partition. Memory then grows with the
	// groups instead of the rows or partials, and the cost of merging states repeatedly stays proportional. States of
	// partials may have all groups in common, so that they are compacted sooner.
	limit := s.plan.compactBytes
	if s.plan.MemoryLimit > 0 {
		limit = min(limit, s.plan.MemoryLimit/4/partitions)
	}
	least, states := limit, part.states+part.merging
	if b.states {
		least, states = limit/4, states/2
	}
	switch {
	case part.fresh <= max(least, states, part.distinct):
	case s.plan.MemoryLimit == 0 && mostlyDistinct(part.blocks):
		part.distinct = 2 * part.fresh
	default:
		if err := s.compact(part, get()); err != nil {
			return err
		}
	}
	if limit := s.plan.MemoryLimit; limit > 0 && s.held.Load() > limit-limit/4 {
		return s.spillPartition(part, get())
	}
	return nil
}

// Numbers of keys that mostlyDistinct looks at: some runs, since equal keys may follow each other.
const (
	sampledRuns = 32
	sampledRun  = 32
)

// mostlyDistinct estimates from some keys whether blocks of rows have nearly as many groups as rows, so that their
// states would take as much memory. It returns false if a block has states.
func mostlyDistinct(blocks []*block) bool {
	rows := 0
	for _, b := range blocks {
		if b.states {
			return false
		}
		rows += b.n()
	}
	if rows < 4*sampledRuns*sampledRun {
		return false
	}
	seen := make(map[[2]uint64]struct{}, sampledRuns*sampledRun)
	keys, next := 0, 0 // next is a row of the block, or behind it
	for _, b := range blocks {
		for ; next < b.n(); next += rows / sampledRuns {
			for i := next; i < min(next+sampledRun, b.n()); i++ {
				key := [2]uint64{b.rows.w0[i]}
				if len(b.rows.w1) > 0 {
					key[1] = b.rows.w1[i]
				}
				seen[key] = struct{}{}
				keys++
			}
		}
		next -= b.n()
	}
	return groupsOf(keys, keys-len(seen)) > rows-rows/4
}

// compact merges all blocks of a partition into one block of states. The caller holds part.mu, which compact unlocks
// while it merges: other workers put further blocks meanwhile.
func (s *store) compact(part *partition, m *merger) error {
	blocks, states := part.blocks, part.states
	part.blocks, part.fresh, part.states, part.distinct = nil, 0, 0, 0
	part.merging += states
	b, err := part.unlocked(func() (*block, error) { return s.mergeBlocks(blocks, m) })
	part.merging -= states
	if err != nil {
		return err
	}
	part.blocks = slices.Insert(part.blocks, 0, b) // an empty merger adopts the keys of the first block
	part.states += b.counted
	return nil
}

// unlocked calls f without the lock, which the caller holds.
func (p *partition) unlocked(f func() (*block, error)) (*block, error) {
	p.mu.Unlock()
	defer p.mu.Lock()
	return f()
}

// mergeBlocks merges blocks into one block of states.
func (s *store) mergeBlocks(blocks []*block, m *merger) (*block, error) {
	m.reset()
	for _, b := range blocks {
		if err := m.merge(b); err != nil {
			return nil, err
		}
	}
	b, err := m.block()
	if err != nil {
		return nil, err
	}
	s.release(blocks)
	s.count(b)
	s.pace.allocated(b.counted)
	s.countMerger(m, false)
	return b, nil
}

// take merges a partition, calls emit with the merger, and empties the partition. If the partition exceeds the memory,
// take merges and emits it in parts.
func (s *store) take(p int, m *merger, emit func(*merger) error) error {
	part := &s.parts[p]
	part.mu.Lock()
	defer part.mu.Unlock()
	var v sieve
	if len(part.spilled) > 0 {
		bytes := part.fresh + part.states + part.bytes
		for v.bits < 16 && bytes>>v.bits > s.plan.MemoryLimit/2/int64(s.plan.Workers) {
			v.bits++
		}
		if v.bits > 0 { // each part reads all blocks; move them to the file, too
			if err := s.spillPartition(part, m); err != nil {
				return err
			}
		}
	}
	for v.n = 0; v.n < 1<<v.bits; v.n++ {
		m.reset()
		for i, b := range part.blocks {
			if err := m.merge(b); err != nil {
				return err
			}
			if m.keepSpare(b) {
				s.held.Add(-b.counted)
			} else {
				s.release(part.blocks[i : i+1])
			}
			part.blocks[i] = nil
		}
		for _, e := range part.spilled {
			if err := s.read(e, m); err != nil {
				return err
			}
			if err := m.mergeFrames(m.raw, v); err != nil {
				return err
			}
		}
		if err := emit(m); err != nil {
			return err
		}
		s.pace.allocated(m.t.size())
	}
	part.blocks, part.fresh, part.states, part.distinct, part.spilled, part.bytes = nil, 0, 0, 0, nil, 0
	return nil
}
