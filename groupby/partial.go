// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// This file writes partials: the groups of a Grouper with their states, to be merged by another one, on another machine perhaps. The form is
//
//	magic     8 bytes, "vecqlgby"
//	version   1 byte, 1
//	chunks    length, 4 bytes; CRC-32C of the content, 4 bytes; content
//	...
//	end       a chunk without content
//
// The content of the first chunk says what the states are of, and must be the same on both sides: the types of keys, the kind and the types of states of each
// accumulator, whether rows are numbered, and whether NULL keys are dropped. That of the others is one frame each (see encode.go), of
// groups. The order of groups has no meaning.

const (
	partialMagic   = "vecqlgby"
	partialVersion = 1
	maxChunk       = 1 << 30
)

// A CorruptError says that a partial, or a temporary file, is not what was written.
type CorruptError struct{ Detail string }

func (e *CorruptError) Error() string { return "groupby: corrupt: " + e.Detail }

// A MismatchError says that a partial is of another version, or of another Config.
type MismatchError struct{ Detail string }

func (e *MismatchError) Error() string { return "groupby: another kind of partial: " + e.Detail }

// signature returns what both sides of a partial must agree on.
func (p *plan) signature() []byte {
	var b []byte
	b = binary.AppendUvarint(b, uint64(len(p.Keys)))
	for _, t := range p.Keys {
		b = binary.AppendUvarint(b, uint64(t))
	}
	b = binary.AppendUvarint(b, uint64(len(p.parts)))
	for _, m := range p.parts {
		name := m.kind
		if name == "" {
			name = m.Name
		}
		b = appendText(b, name)
		b = binary.AppendUvarint(b, uint64(len(m.state)))
		for _, t := range m.state {
			b = binary.AppendUvarint(b, uint64(t))
		}
	}
	var flags byte
	if p.rowNumbers {
		flags |= 1
	}
	if p.DropNulls {
		flags |= 2
	}
	return append(b, flags)
}

// WritePartial writes all groups with their states, and ends the Grouper as Finish does. What Config.Order, Limit and memory say has no
// bearing on it. Any Grouper of the same Keys, Aggregates and DropNulls can merge it.
func (g *Grouper) WritePartial(w io.Writer) error {
	workers, err := g.end()
	if err != nil {
		return err
	}
	defer g.store.spill.close()
	if err := parallel(len(workers), func(k int) error { return workers[k].finish() }); err != nil {
		return err
	}
	if _, err := io.WriteString(w, partialMagic+string(rune(partialVersion))); err != nil {
		return err
	}
	if err := writeChunk(w, g.plan.signature()); err != nil {
		return err
	}
	f := newFolder(g.plan)
	var buf []byte
	for p := range g.store.parts {
		err := g.store.take(p, f, func(f *folder) error {
			if f.groups() == 1 {
				return nil
			}
			b, err := f.block()
			if err != nil {
				return err
			}
			cols := g.plan.frameColumns(b)
			for i := 0; i < b.n(); {
				end := frameEnd(cols, i, b.n())
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
	}
	return writeChunk(w, nil)
}

func writeChunk(w io.Writer, content []byte) error {
	if len(content) > maxChunk {
		return fmt.Errorf("groupby: partial: %d bytes in one chunk: at most %d", len(content), maxChunk)
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

// readChunk reads into buf, and no more of it than there is.
func readChunk(r io.Reader, buf []byte) ([]byte, error) {
	var head [8]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, short(err)
	}
	n := binary.LittleEndian.Uint32(head[:])
	if n > maxChunk {
		return nil, &CorruptError{fmt.Sprintf("a chunk of %d bytes", n)}
	}
	buf = buf[:0]
	for len(buf) < int(n) { // a length that lies costs no more than a megabyte
		step := min(int(n)-len(buf), 1<<20)
		buf = grown(buf, len(buf)+step)
		if _, err := io.ReadFull(r, buf[len(buf)-step:]); err != nil {
			return nil, short(err)
		}
	}
	if crc32.Checksum(buf, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return nil, &CorruptError{"checksum"}
	}
	return buf, nil
}

func short(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &CorruptError{errShort.Error()}
	}
	return err
}

// MergePartial adds the groups of a partial that WritePartial wrote, reading up to its end and no further. Several may be merged, before and
// after rows are added. The numbers of rows are those of the Grouper that wrote it: for results in order of first appearance, or aggregates
// that depend on the order of rows, give [Worker.Add] batches with a Start that counts through all of them.
//
// After an error some groups may have been merged, and the Grouper is finished: a *CorruptError, a *MismatchError, or one of r.
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

func (g *Grouper) mergePartial(r io.Reader) error {
	head := make([]byte, len(partialMagic)+1)
	if _, err := io.ReadFull(r, head); err != nil {
		return short(err)
	}
	if string(head[:len(partialMagic)]) != partialMagic {
		return &CorruptError{"it does not begin as a partial"}
	}
	if v := head[len(partialMagic)]; v != partialVersion {
		return &MismatchError{fmt.Sprintf("version %d, not %d", v, partialVersion)}
	}
	buf, err := readChunk(r, nil)
	if err != nil {
		return err
	}
	if string(buf) != string(g.plan.signature()) {
		return &MismatchError{"other keys, aggregates or options"}
	}
	if g.merger == nil {
		g.merger = g.Worker()
	}
	for {
		if buf, err = readChunk(r, buf); err != nil || len(buf) == 0 {
			return err
		}
		cols, n, states, rest, err := g.plan.cutFrame(buf)
		if err == nil && (len(rest) > 0 || !states) {
			err = errors.New("a chunk is not one frame of groups")
		}
		if err != nil {
			return &CorruptError{err.Error()}
		}
		if err := g.merger.mergeColumns(cols, n); err != nil {
			return err
		}
	}
}

// mergeColumns adds the columns of a frame of groups to the partitions.
func (w *Worker) mergeColumns(cols []Column, n int) error {
	w.mode = modeScatter
	nk := len(w.plan.Keys)
	var out [partitions]*block
	part := make([]Column, len(cols))
	for i := 0; i < n; i += scatterRows {
		j := min(i+scatterRows, n)
		for k := range cols {
			part[k] = cols[k].Slice(i, j)
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
				if out[p] == nil {
					out[p] = w.plan.newBlock(true)
				}
				out[p].gather(&w.maker.keys, states, numbers, 0, sel[start:end])
			}
			start = end
		}
	}
	return w.put(&out)
}
