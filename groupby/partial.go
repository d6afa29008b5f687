// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/vecql/vecql/column"
)

// Partials: the groups of a Grouper with their states, for merging by another Grouper, perhaps on another machine. The
// format is
//
//	magic     8 bytes, "vecqlgby"
//	version   1 byte, 1
//	chunks    length, 4 bytes; CRC-32C of the content, 4 bytes; content
//	...
//	end       a chunk without content
//
// The content of the first chunk is the signature (signature.go), which is empty if no batch was added. The content of
// each other chunk is one frame of groups (see encode.go). The order of groups is unspecified.

const (
	partialMagic   = "vecqlgby"
	partialVersion = 1
	maxChunk       = 1 << 30
)

// A CorruptError means that a partial or a temporary file was damaged or cut off.
type CorruptError struct{ Detail string }

func (e *CorruptError) Error() string { return "groupby: corrupt: " + e.Detail }

// A MismatchError means that a partial has another format version, or was written with another Config or other types of
// columns. Detail names the difference.
type MismatchError struct{ Detail string }

func (e *MismatchError) Error() string { return "groupby: partial does not match: " + e.Detail }

// WritePartial writes all groups with their states to w and ends the Grouper, as Finish does. Any Grouper with the same
// Keys, Aggregates and DropNulls can merge the partial; the names of the Aggregates may differ. Both sides must also
// agree on whether rows are numbered, which FirstAppearance requires; the other options need not be equal.
func (g *Grouper) WritePartial(w io.Writer) error {
	s, err := g.end()
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, partialMagic+string(rune(partialVersion))); err != nil {
		return err
	}
	if s == nil { // no batch, no types
		if err := writeChunk(w, nil); err != nil {
			return err
		}
		return writeChunk(w, nil)
	}
	defer s.store.spill.close()
	if err := writeChunk(w, s.plan.signature().append(nil)); err != nil {
		return err
	}
	var buf []byte
	err = s.eachFrame(func(cols []column.Column, n int) error {
		for i := 0; i < n; {
			end := frameEnd(cols, i, n)
			buf = appendFrame(buf[:0], cols, true, i, end)
			i = end
			if err := writeChunk(w, buf); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return writeChunk(w, nil)
}

// writeChunk writes a length, a CRC-32C, and the content.
func writeChunk(w io.Writer, content []byte) error {
	if len(content) > maxChunk {
		return fmt.Errorf("groupby: partial: chunk of %d bytes exceeds the limit of %d", len(content), maxChunk)
	}
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(content)))
	binary.LittleEndian.PutUint32(head[4:], crc32.Checksum(content, castagnoli))
	if _, err := w.Write(head[:]); err != nil {
		return err
	}
	_, err := w.Write(content)
	return err
}

// readChunk reads a chunk into buf. It allocates in steps, so that a false length costs at most 1 MiB.
func readChunk(r io.Reader, buf []byte) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, short(err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxChunk {
		return nil, &CorruptError{fmt.Sprintf("chunk of %d bytes exceeds the limit", n)}
	}
	buf = buf[:0]
	for len(buf) < int(n) {
		step := min(int(n)-len(buf), 1<<20)
		buf = grown(buf, len(buf)+step)
		if _, err := io.ReadFull(r, buf[len(buf)-step:]); err != nil {
			return nil, short(err)
		}
	}
	if crc32.Checksum(buf, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, &CorruptError{"checksum mismatch"}
	}
	return buf, nil
}

func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &CorruptError{errShort.Error()}
	}
	return err
}

// MergePartial adds the groups of a partial that WritePartial wrote. It reads to the end of the partial and no
// further. Several partials may be merged, before and after rows are added. Row numbers come from the Grouper that
// wrote the partial. For FirstAppearance, or aggregates that depend on the order of rows, pass batches to
// [Worker.Add] whose Source.FirstRow counts through the input of all Groupers.
//
// After an error some groups may have been merged, and the Grouper is finished. The error is a *CorruptError, a
// *MismatchError, or an error of r.
func (g *Grouper) MergePartial(r io.Reader) error {
	g.adding.Lock()
	defer g.adding.Unlock()
	if err := g.begin(); err != nil {
		return err
	}
	if err := g.mergePartial(r); err != nil {
		return g.fail(err)
	}
	return nil
}

// mergePartial reads the partial from r: magic number, version, signature, chunks of groups, and an empty chunk. A
// worker adds the groups of each chunk, so memory is bounded as for rows.
func (g *Grouper) mergePartial(r io.Reader) error {
	head := make([]byte, len(partialMagic)+1)
	if _, err := io.ReadFull(r, head); err != nil {
		return short(err)
	}
	if string(head[:len(partialMagic)]) != partialMagic {
		return &CorruptError{"not a partial: the magic number is wrong"}
	}
	if v := head[len(partialMagic)]; v != partialVersion {
		return &MismatchError{fmt.Sprintf("version is %d, want %d", v, partialVersion)}
	}
	buf, err := readChunk(r, nil)
	if err != nil {
		return err
	}
	if len(buf) == 0 { // no batch was added
		buf, err = readChunk(r, buf)
		if err == nil && len(buf) > 0 {
			err = &CorruptError{"groups follow an empty signature"}
		}
		return err
	}
	s, err := g.stageOfPartial(buf)
	if err != nil {
		return err
	}
	w := g.worker(s)
	s.store.pace.merge()
	var out [partitions]*block
	for {
		if buf, err = readChunk(r, buf); err != nil {
			return err
		}
		if len(buf) == 0 {
			return w.put(&out)
		}
		s.store.pace.allocated(2 * int64(len(buf)))
		cols, n, states, rest, err := s.plan.cutFrame(buf)
		if err == nil && (len(rest) > 0 || !states) {
			err = errors.New("chunk is not one frame of groups")
		}
		if err != nil {
			return &CorruptError{err.Error()}
		}
		if err := w.addGroups(cols, n, &out); err != nil {
			return err
		}
	}
}

// stageOfPartial returns a stage with the same signature. The types of a partial are checked like the types of a
// batch.
func (g *Grouper) stageOfPartial(content []byte) (*stage, error) {
	sig, err := cutSignature(content)
	if err != nil {
		return nil, err
	}
	own := signature{names: g.names, keys: len(g.config.Keys), dropNulls: g.config.DropNulls}
	if err := sig.sameColumns(&own); err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.stageOf(slices.Clone(sig.types))
	if err != nil {
		return nil, &MismatchError{err.Error()}
	}
	if !slices.Equal(sig.types, s.plan.types) { // a dimension was unknown to the writer
		p, err := newPlan(g.config, g.limits, sig.types)
		if err != nil {
			return nil, &MismatchError{err.Error()}
		}
		s = &stage{plan: p, store: newStore(p)}
		g.stages = slices.Insert(g.stages, len(g.stages)-1, s)
	}
	own = s.plan.signature()
	if err := sig.sameStates(&own); err != nil {
		return nil, err
	}
	return s, nil
}

// addGroups adds the columns of a frame of groups to the blocks of out, and puts full blocks into the partitions. The
// caller puts the others.
func (w *worker) addGroups(cols []column.Column, n int, out *[partitions]*block) error {
	w.mode = modeScatter
	nk := len(w.plan.Keys)
	part := make([]column.Column, len(cols))
	for i := 0; i < n; i += scatterRows {
		j := min(i+scatterRows, n)
		for k := range cols {
			part[k] = sliceRows(&cols[k], i, j)
		}
		w.maker.make(part[:nk], 0, j-i)
		states, numbers := part[nk:], []int64(nil)
		if w.plan.rowNumbers {
			numbers = view[int64](&part[len(part)-1])
			states = states[:len(states)-1]
		}
		sel, ends := w.sort(&w.maker.keys, nil, 0)
		start := 0
		for p, end := range ends {
			if end > start {
				if err := w.addStates(p, out, states, numbers, sel[start:end]); err != nil {
					return err
				}
			}
			start = end
		}
	}
	return nil
}

// addStates adds rows sel of the states of the maker's keys to the block of a partition in out.
func (w *worker) addStates(
	p int, out *[partitions]*block, states []column.Column, numbers []int64, sel []uint32,
) error {
	if b := out[p]; b != nil && b.size() >= w.plan.blockStates {
		out[p] = nil
		if err := w.store.put(p, b, w.merger); err != nil {
			return err
		}
	}
	if out[p] == nil {
		out[p] = w.plan.newBlock(true)
	}
	out[p].gather(&w.maker.keys, states, numbers, 0, sel)
	w.store.count(out[p])
	return nil
}
