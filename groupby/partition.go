// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"sync"
	"sync/atomic"
)

// This file parts rows by the hash of their keys, so that the groups of each part fit into the cache, and so that each part can be folded, and
// spilled, alone.

const (
	partitionBits = 8
	partitions    = 1 << partitionBits
	// scatterRows is the number of rows that are parted at a time: so many that each partition gets some dozens.
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

// A partition holds the blocks of all workers whose keys have the same partition.
type partition struct {
	mu      sync.Mutex
	blocks  []*block
	rows    int64 // bytes of blocks of rows
	states  int64 // bytes of blocks of states
	spilled []extent
}

// A store is all partitions, and what their memory is limited by.
type store struct {
	*plan
	parts [partitions]partition
	held  atomic.Int64 // bytes of all blocks
	used  atomic.Bool  // something was put
	spill spill
}

// blockPool holds blocks of rows that have been folded: filling memory again is much cheaper than asking for it.
var blockPool sync.Pool

func (p *plan) newRows() *block {
	if b, ok := blockPool.Get().(*block); ok {
		b.begin(p, false)
		return b
	}
	return p.newBlock(false)
}

// reusedRows is the number of rows that a block's columns have room for, if they are to become a result's.
const reusedRows = 2048

// keepSpare takes the memory of a folded block for the result, and tells whether it did.
func (f *folder) keepSpare(b *block) bool {
	if !f.wordResults || b.states || cap(b.rows.w0) < reusedRows || len(f.spare) >= 4096 {
		return false
	}
	keep := func(w []uint64) {
		if cap(w) >= reusedRows {
			f.spare = append(f.spare, w[:0:reusedRows])
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
func (f *folder) takeSpare() []uint64 {
	last := len(f.spare) - 1
	w := f.spare[last]
	f.spare = f.spare[:last]
	return w
}

func recycle(blocks []*block) {
	for _, b := range blocks {
		if !b.states && b.size() < 1<<20 {
			blockPool.Put(b)
		}
	}
}

// put adds a block to a partition. If the partition has got large it is folded, with the folder that get returns, and if all memory is used
// it is spilled.
func (s *store) put(p int, b *block, get func() *folder) error {
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
	// Rows are folded when there are many of them, and more than states: so memory grows with groups rather than rows, and the time for
	// folding states again stays in proportion.
	fold := s.fold
	if s.MemoryLimit > 0 {
		fold = min(fold, s.MemoryLimit/4/partitions)
	}
	if part.rows > max(fold, part.states) {
		if err := s.compact(part, get()); err != nil {
			return err
		}
		held = s.held.Load()
	}
	if s.MemoryLimit > 0 && held > s.MemoryLimit {
		return s.spillPartition(part)
	}
	return nil
}

// compact folds all blocks of a partition into one of states.
func (s *store) compact(part *partition, f *folder) error {
	f.reset()
	for _, b := range part.blocks {
		if err := f.fold(b); err != nil {
			return err
		}
	}
	b, err := f.block()
	if err != nil {
		return err
	}
	s.held.Add(b.size() - part.rows - part.states)
	recycle(part.blocks)
	part.blocks = append(part.blocks[:0], b)
	part.rows, part.states = 0, b.size()
	return nil
}
