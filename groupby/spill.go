// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"hash/crc32"
	"os"
	"sync"
)

// This file keeps blocks in a temporary file when they are too much for the memory.

// A spill is one temporary file, which all partitions share. It has no name any more where the system allows that, so that nothing is left of it
// whatever happens.
type spill struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// An extent is where frames of a partition lie in the file.
type extent struct {
	at    int64
	size  int   // in the file
	bytes int64 // about as much in memory
	crc   uint32
}

// spillPartition writes all blocks of a partition to the file.
func (s *store) spillPartition(part *partition) error {
	if s.SpillDir == "" {
		return ErrMemoryLimit
	}
	var raw []byte
	for _, b := range part.blocks {
		cols := s.frameColumns(b)
		for i := 0; i < b.n(); {
			end := frameEnd(cols, i, b.n())
			raw = appendFrame(raw, cols, b.states, i, end)
			i = end
		}
	}
	if len(raw) == 0 {
		return nil
	}
	packed, err := s.SpillCodec.Compress(nil, raw)
	if err != nil {
		return fmt.Errorf("groupby: spill: compress: %w", err)
	}
	at, err := s.spill.write(s.SpillDir, packed)
	if err != nil {
		return fmt.Errorf("groupby: spill: %w", err)
	}
	part.spilled = append(part.spilled, extent{at, len(packed), part.rows + part.states, crc32.Checksum(packed, castagnoli)})
	s.held.Add(-part.rows - part.states)
	recycle(part.blocks)
	part.blocks, part.rows, part.states = nil, 0, 0
	return nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write appends b to the file, making it if there is none, and returns where it is.
func (s *spill) write(dir string, b []byte) (int64, error) {
	s.mu.Lock()
	if s.file == nil {
		f, err := os.CreateTemp(dir, "groupby-*.spill")
		if err != nil {
			s.mu.Unlock()
			return 0, err
		}
		os.Remove(f.Name()) // where that fails because the file is open, close does it
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
		return nil, fmt.Errorf("groupby: spill: %w", &CorruptError{Detail: "checksum of what was spilled"})
	}
	raw, err := s.SpillCodec.Decompress(nil, packed)
	if err != nil {
		return nil, fmt.Errorf("groupby: spill: decompress: %w", err)
	}
	return raw, nil
}

// A sieve lets through the keys of one part of a partition: those whose hash has n in the bits below those of the partition.
type sieve struct{ bits, n int }

// foldFrames folds the keys of frames that the sieve lets through.
func (f *folder) foldFrames(raw []byte, v sieve) error {
	for len(raw) > 0 {
		cols, n, states, rest, err := f.cutFrame(raw)
		if err != nil {
			return &CorruptError{Detail: err.Error()}
		}
		raw = rest
		if err := f.foldColumns(cols, n, states, v); err != nil {
			return err
		}
	}
	return nil
}

// foldColumns folds the columns of a frame of n rows.
func (f *folder) foldColumns(cols []Column, n int, states bool, v sieve) error {
	if f.maker == nil {
		f.maker = newKeyMaker(f.keys)
	}
	nk := len(f.Keys)
	part := make([]Column, len(cols))
	for i := 0; i < n; i += chunkRows {
		j := min(i+chunkRows, n)
		for k := range cols {
			part[k] = cols[k].Slice(i, j)
		}
		here := part
		if v.bits > 0 {
			f.maker.make(part[:nk], 0, j-i)
			sel := f.maker.sift(v)
			if len(sel) == 0 {
				continue
			}
			here = make([]Column, len(part))
			for k := range part {
				b := newBuilder(part[k].typ)
				b.gather(&part[k], sel)
				here[k] = b.column()
			}
		}
		rows := j - i
		if len(here) > 0 {
			rows = here[0].n
		}
		f.maker.make(here[:nk], 0, rows)
		c := chunk{keys: &f.maker.keys, values: here[nk:]}
		if f.rowNumbers {
			c.numbers = view[int64](&here[len(here)-1])
			c.values = c.values[:len(c.values)-1]
		}
		if err := f.add(&c, states); err != nil {
			return err
		}
	}
	return nil
}

// sift returns the rows of the maker's keys that the sieve lets through.
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

// take folds everything of a partition, calls emit with the folder, and forgets it. If it is too much for the memory it does so part by part.
func (s *store) take(p int, f *folder, emit func(*folder) error) error {
	part := &s.parts[p]
	part.mu.Lock()
	defer part.mu.Unlock()
	var v sieve
	if len(part.spilled) > 0 {
		bytes := part.rows + part.states
		for _, e := range part.spilled {
			bytes += e.bytes
		}
		for v.bits < 16 && bytes>>v.bits > s.MemoryLimit/2/int64(s.Workers) {
			v.bits++
		}
		if v.bits > 0 { // then blocks had better be in the file, too
			if err := s.spillPartition(part); err != nil {
				return err
			}
		}
	}
	for v.n = 0; v.n < 1<<v.bits; v.n++ {
		f.reset()
		for i, b := range part.blocks {
			if err := f.fold(b); err != nil {
				return err
			}
			if !f.keepSpare(b) {
				recycle(part.blocks[i : i+1])
			}
			part.blocks[i] = nil
		}
		for _, e := range part.spilled {
			raw, err := s.read(e)
			if err != nil {
				return err
			}
			if err := f.foldFrames(raw, v); err != nil {
				return err
			}
		}
		if err := emit(f); err != nil {
			return err
		}
	}
	s.held.Add(-part.rows - part.states)
	part.blocks, part.rows, part.states, part.spilled = nil, 0, 0, nil
	return nil
}
