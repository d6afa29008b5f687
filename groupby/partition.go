// SPDX-License-Identifier: Apache-2.0

package groupby

import (
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
	mu      sync.Mutex
	blocks  []*block
	rows    int64 // bytes of blocks of rows
	states  int64 // bytes of blocks of states
	spilled []extent
}

// A store has all partitions, and counts their memory.
type store struct {
	plan  *plan
	parts [partitions]partition
	held  atomic.Int64 // bytes of all blocks
	used  atomic.Bool  // set by the first put
	spill spill
}

// blockPool holds merged blocks of rows: reusing memory is much cheaper than allocating it.
var blockPool sync.Pool

func (p *plan) newRows() *block {
	if b, ok := blockPool.Get().(*block); ok {
		b.begin(p, false)
		return b
	}
	return p.newBlock(false)
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

func recycle(blocks []*block) {
	for _, b := range blocks {
		if !b.states && b.size() < 1<<20 {
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
	size := b.size()
	part.mu.Lock()
	defer part.mu.Unlock()
	part.blocks = append(part.blocks, b)
	if b.states {
		part.states += size
	} else {
		part.rows += size
	}
	held := s.held.Add(size)
	// Rows are compacted when they exceed both a limit and the states of the partition. Memory then grows with the
	// groups instead of the rows, and the cost of merging states repeatedly stays proportional.
	limit := s.plan.compactBytes
	if s.plan.MemoryLimit > 0 {
		limit = min(limit, s.plan.MemoryLimit/4/partitions)
	}
	if part.rows > max(limit, part.states) {
		if err := s.compact(part, get()); err != nil {
			return err
		}
		held = s.held.Load()
	}
	if s.plan.MemoryLimit > 0 && held > s.plan.MemoryLimit {
		return s.spillPartition(part)
	}
	return nil
}

// compact merges all blocks of a partition into one block of states.
func (s *store) compact(part *partition, m *merger) error {
	m.reset()
	for _, b := range part.blocks {
		if err := m.merge(b); err != nil {
			return err
		}
	}
	b, err := m.block()
	if err != nil {
		return err
	}
	s.held.Add(b.size() - part.rows - part.states)
	recycle(part.blocks)
	part.blocks = append(part.blocks[:0], b)
	part.rows, part.states = 0, b.size()
	return nil
}

// take merges a partition, calls emit with the merger, and empties the partition. If the partition exceeds the memory,
// take merges and emits it in parts.
func (s *store) take(p int, m *merger, emit func(*merger) error) error {
	part := &s.parts[p]
	part.mu.Lock()
	defer part.mu.Unlock()
	var v sieve
	if len(part.spilled) > 0 {
		bytes := part.rows + part.states
		for _, e := range part.spilled {
			bytes += e.bytes
		}
		for v.bits < 16 && bytes>>v.bits > s.plan.MemoryLimit/2/int64(s.plan.Workers) {
			v.bits++
		}
		if v.bits > 0 { // each part reads all blocks; move them to the file, too
			if err := s.spillPartition(part); err != nil {
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
			if !m.keepSpare(b) {
				recycle(part.blocks[i : i+1])
			}
			part.blocks[i] = nil
		}
		for _, e := range part.spilled {
			raw, err := s.read(e)
			if err != nil {
				return err
			}
			if err := m.mergeFrames(raw, v); err != nil {
				return err
			}
		}
		if err := emit(m); err != nil {
			return err
		}
	}
	s.held.Add(-part.rows - part.states)
	part.blocks, part.rows, part.states, part.spilled = nil, 0, 0, nil
	return nil
}
