// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"sync"

	"github.com/vecql/vecql/column"
)

// Spilling: blocks move to a temporary file at the memory limit.

// A spill is one temporary file that all partitions share. Where the system allows it, the file is unlinked while open,
// so that it cannot outlive the process.
type spill struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// An extent is the location of frames of a partition in the file.
type extent struct {
	at   int64
	size int // in the file
	crc  uint32
}

// extentBytes is the number of bytes of frames from which on they are written. A partition is written and read in
// several extents, which bounds the memory of their copies.
const extentBytes = 1 << 20

// spillPartition writes all blocks of a partition to the file, with the buffers of m.
func (s *store) spillPartition(part *partition, m *merger) error {
	if s.plan.SpillDir == "" {
		return fmt.Errorf("%w: %d bytes, and Config.SpillDir is empty", ErrMemoryLimit, s.plan.MemoryLimit)
	}
	m.raw = m.raw[:0]
	for _, b := range part.blocks {
		for i, n := 0, b.n(); i < n; {
			end := min(i+frameRows, n)
			if err := s.spillRows(part, b, i, end, m); err != nil {
				return err
			}
			i = end
		}
	}
	if err := s.spillFrames(part, m); err != nil {
		return err
	}
	part.bytes += part.fresh + part.states
	s.release(part.blocks)
	clear(part.blocks)
	part.blocks, part.fresh, part.states = part.blocks[:0], 0, 0
	s.countMerger(m, false)
	return nil
}

// spillRows appends rows [i, j) of a block to the frames of m, and writes these when they are large.
func (s *store) spillRows(part *partition, b *block, i, j int, m *merger) error {
	values := make([]column.Column, len(b.cols))
	for k := range values {
		c := b.cols[k].column()
		values[k] = sliceRows(&c, i, j)
	}
	cols := s.plan.frameColumns(&b.rows, values, b.numbers, i, j)
	for at, n := 0, j-i; at < n; {
		end := frameEnd(cols, at, n)
		m.raw = appendFrame(m.raw, cols, b.states, at, end)
		at = end
		if len(m.raw) >= extentBytes {
			if err := s.spillFrames(part, m); err != nil {
				return err
			}
		}
	}
	return nil
}

// spillFrames writes the frames of m to the file as one extent.
func (s *store) spillFrames(part *partition, m *merger) error {
	if len(m.raw) == 0 {
		return nil
	}
	s.pace.allocated(2 * int64(len(m.raw))) // the frames are copies of copies
	packed, err := s.plan.SpillCodec.Compress(m.packed[:0], m.raw)
	if err != nil {
		return fmt.Errorf("groupby: spill: compress: %w", err)
	}
	at, err := s.spill.write(s.plan.SpillDir, packed)
	if err != nil {
		return fmt.Errorf("groupby: spill: %w", err)
	}
	part.spilled = append(part.spilled, extent{at, len(packed), crc32.Checksum(packed, castagnoli)})
	m.raw, m.packed = m.raw[:0], packed
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write appends b to the file and returns its offset. The first call creates the file.
func (s *spill) write(dir string, b []byte) (int64, error) {
	s.mu.Lock()
	if s.file == nil {
		f, err := os.CreateTemp(dir, "groupby-*.spill")
		if err != nil {
			s.mu.Unlock()
			return 0, err
		}
		os.Remove(f.Name()) // some systems refuse while the file is open; close removes it then
		s.file = f
	}
	at := s.size
	s.size += int64(len(b))
	s.mu.Unlock()
	_, err := s.file.WriteAt(b, at)
	return at, err
}

// close removes the file.
func (s *spill) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
		s.file = nil
	}
}

// read reads the frames of an extent into m.raw.
func (s *store) read(e extent, m *merger) error {
	m.packed = slices.Grow(m.packed[:0], e.size)[:e.size]
	if _, err := s.spill.file.ReadAt(m.packed, e.at); err != nil {
		return fmt.Errorf("groupby: spill: %w", err)
	}
	if crc32.Checksum(m.packed, castagnoli) != e.crc {
		return fmt.Errorf("groupby: spill: %w", &CorruptError{Detail: "checksum mismatch in the temporary file"})
	}
	raw, err := s.plan.SpillCodec.Decompress(m.raw[:0], m.packed)
	if err != nil {
		return fmt.Errorf("groupby: spill: decompress: %w", err)
	}
	m.raw = raw
	s.pace.allocated(2 * int64(len(raw)))
	return nil
}

// A sieve selects the keys of one part of a partition: those whose hash has n in the bits below the partition's.
type sieve struct{ bits, n int }

// mergeFrames merges the keys of frames that the sieve selects.
func (m *merger) mergeFrames(raw []byte, v sieve) error {
	for len(raw) > 0 {
		cols, n, states, rest, err := m.plan.cutFrame(raw)
		if err != nil {
			return &CorruptError{Detail: err.Error()}
		}
		raw = rest
		if err := m.mergeColumns(cols, n, states, v); err != nil {
			return err
		}
	}
	return nil
}

// mergeColumns merges the columns of a frame of n rows.
func (m *merger) mergeColumns(cols []column.Column, n int, states bool, v sieve) error {
	if m.maker == nil {
		m.maker = newKeyMaker(m.plan.keys)
	}
	nk := len(m.plan.Keys)
	part := make([]column.Column, len(cols))
	for i := 0; i < n; i += chunkRows {
		j := min(i+chunkRows, n)
		for k := range cols {
			part[k] = sliceRows(&cols[k], i, j)
		}
		here := part
		if v.bits > 0 {
			m.maker.make(part[:nk], 0, j-i)
			sel := m.maker.sift(v)
			if len(sel) == 0 {
				continue
			}
			here = make([]column.Column, len(part))
			for k := range part {
				b := newBuilder(part[k].Type)
				b.gather(&part[k], sel)
				here[k] = b.column()
			}
		}
		rows := j - i
		if len(here) > 0 {
			rows = here[0].Len
		}
		m.maker.make(here[:nk], 0, rows)
		c := chunk{keys: &m.maker.keys, values: here[nk:]}
		if m.plan.rowNumbers {
			c.numbers = view[int64](&here[len(here)-1])
			c.values = c.values[:len(c.values)-1]
		}
		if err := m.add(&c, states); err != nil {
			return err
		}
	}
	return nil
}

// sift returns the rows of the maker's keys that the sieve selects.
func (m *keyMaker) sift(v sieve) []uint32 {
	var sel []uint32
	for i := range m.w0 {
		var h uint64
		if m.form == keyWord {
			h = m.hash1(m.w0[i], m.maskOf(uint32(i)))
		} else {
			h = m.hash2(m.w0[i], m.w1[i], m.maskOf(uint32(i)))
		}
		if int(h<<partitionBits>>(64-v.bits)) == v.n {
			sel = append(sel, uint32(i))
		}
	}
	return sel
}
