// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"hash/crc32"
	"os"
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
	at    int64
	size  int   // in the file
	bytes int64 // approximate bytes in memory
	crc   uint32
}

// spillPartition writes all blocks of a partition to the file.
func (s *store) spillPartition(part *partition) error {
	if s.plan.SpillDir == "" {
		return fmt.Errorf("%w: %d bytes, and Config.SpillDir is empty", ErrMemoryLimit, s.plan.MemoryLimit)
	}
	var raw []byte
	for _, b := range part.blocks {
		cols := s.plan.frameColumns(b)
		for i := 0; i < b.n(); {
			end := frameEnd(cols, i, b.n())
			raw = appendFrame(raw, cols, b.states, i, end)
			i = end
		}
	}
	if len(raw) == 0 {
		return nil
	}
	packed, err := s.plan.SpillCodec.Compress(nil, raw)
	if err != nil {
		return fmt.Errorf("groupby: spill: compress: %w", err)
	}
	at, err := s.spill.write(s.plan.SpillDir, packed)
	if err != nil {
		return fmt.Errorf("groupby: spill: %w", err)
	}
	part.spilled = append(part.spilled,
		extent{at, len(packed), part.rows + part.states, crc32.Checksum(packed, castagnoli)})
	s.held.Add(-part.rows - part.states)
	recycle(part.blocks)
	part.blocks, part.rows, part.states = nil, 0, 0
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

// read returns the frames of an extent.
func (s *store) read(e extent) ([]byte, error) {
	packed := make([]byte, e.size)
	if _, err := s.spill.file.ReadAt(packed, e.at); err != nil {
		return nil, fmt.Errorf("groupby: spill: %w", err)
	}
	if crc32.Checksum(packed, castagnoli) != e.crc {
		return nil, fmt.Errorf("groupby: spill: %w", &CorruptError{Detail: "checksum mismatch in the temporary file"})
	}
	raw, err := s.plan.SpillCodec.Decompress(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("groupby: spill: decompress: %w", err)
	}
	return raw, nil
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
