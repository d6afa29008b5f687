// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"encoding/binary"
	"math/bits"
)

// Decoding blocks. Without sequences their literals are the content, so that blocks do not depend on each other. Then
// the four streams of a block, and of the next one if it has the same size, are decoded together, directly to their
// destination.

// A stream is a stream of Huffman codes that is being decoded, from its end to its start. The kernel knows the layout
// of its first two fields.
type stream struct {
	used int // of the 64 bits at in, the number of bits from the highest on that are used; at most 7 before a step
	in   int // position in src of the 8 bytes

	start int // of the stream in src
	out   int // position in the destination
	end   int // of its content in the destination
	table *table
}

const (
	stepSymbols = 5 // of each stream, in a step of the kernel: 5 codes of 11 bits and the used bits are less than 64 bits
	stepBytes   = 7 // the most bytes by which in moves in a step
)

// A decoder is the state of one call of decode.
type decoder struct {
	dst, src []byte
	to       []byte    // that streams are decoded to: dst or lits
	tables   [2]table  // of the blocks whose streams are decoded together
	streams  [8]stream // of one or two blocks
	blocks   int       // whose streams have begun
	part     int       // bytes between the contents of the streams
	latest   int       // index of the table of the latest tree, or -1
	tree     treeReader

	readers tableReader
	copies  sequences
	lits    [maxBlock + Spare]byte // literals of a block with sequences
}

func (d *decoder) reset(dst, src []byte) {
	d.dst, d.src, d.to, d.blocks, d.latest = dst, src, dst, 0, -1
	d.readers.reset()
	d.copies.repeat = [4]uint32{1, 4, 8}
}

// decode decodes the blocks of a frame.
func (d *decoder) decode(f frame) bool {
	defer d.reset(nil, nil)
	out := 0
	for at := f.at; ; {
		b, next, ok := f.block(at)
		if !ok {
			return false
		}
		at = next
		if b.number > 0 {
			ok = d.run() && d.literals(&b)
			if ok {
				out, ok = d.sequences(&b, f.window, out)
			}
		} else {
			ok = b.size <= len(d.dst)-out && d.fill(&b, out)
			out += b.size
		}
		if !ok {
			return false
		}
		if b.last {
			return d.run() && at == len(f.src) && out == len(d.dst)
		}
	}
}

// literals decodes the literals of a block with sequences to d.lits.
func (d *decoder) literals(b *block) bool {
	d.to = d.lits[:]
	defer func() { d.to = d.dst }()
	return d.fill(b, 0) && d.run()
}

// fill writes the literals of a block to d.to, or begins to.
func (d *decoder) fill(b *block, out int) bool {
	to := d.to[out : out+b.size]
	switch b.kind {
	case stored:
		copy(to, b.data)
	case repeated:
		for i := range to {
			to[i] = b.data[0]
		}
	default:
		return d.coded(b, out)
	}
	return true
}

// coded begins to decode a block of Huffman codes, and decodes the block before it.
func (d *decoder) coded(b *block, out int) bool {
	part := (b.size + 3) / 4
	together := d.blocks == 1 && part == d.part && b.streams == 4 && out == d.streams[0].out+4*part
	if !together && !d.run() {
		return false
	}
	data, at := b.data, b.at
	n, ok := d.readTree(b)
	if !ok || b.size == 0 {
		return false
	}
	data, at = data[n:], at+n
	if b.streams == 1 {
		return d.start(0, at, at+len(data), out, out+b.size) && d.finish(&d.streams[0])
	}
	if len(data) < 10 || 3*part >= b.size {
		return false
	}
	end := at + len(data)
	at += 6 // Jump_Table
	first := 4 * d.blocks
	for i := range 3 {
		n := int(binary.LittleEndian.Uint16(data[2*i:]))
		if n >= end-at || !d.start(first+i, at, at+n, out+i*part, out+(i+1)*part) {
			return false
		}
		at += n
	}
	d.blocks++
	d.part = part
	return d.start(first+3, at, end, out+3*part, out+b.size) && (d.blocks < 2 || d.run())
}

// readTree makes the table of a block, and returns the length of its tree.
func (d *decoder) readTree(b *block) (n int, ok bool) {
	t := &d.tables[d.blocks]
	switch {
	case b.kind == coded:
		if n, ok = d.tree.read(t, b.data); !ok {
			return 0, false
		}
	case d.latest < 0:
		return 0, false
	case d.latest != d.blocks:
		*t = d.tables[d.latest]
	}
	d.latest = d.blocks
	return n, true
}

// start begins to decode the stream of codes in src[start:end], whose content is d.to[out:to].
func (d *decoder) start(i, start, end, out, to int) bool {
	if start >= end || d.src[end-1] == 0 {
		return false
	}
	// The highest 1 of the last byte marks the end of the codes. In front of each stream are at least 8 bytes of headers.
	used := 1 + bits.LeadingZeros8(d.src[end-1])
	d.streams[i] = stream{
		used: used & 7, in: end - 8 - used/8, start: start, out: out, end: to, table: &d.tables[d.latest],
	}
	return true
}

// run decodes the streams that have begun.
func (d *decoder) run() bool {
	streams := d.streams[:4*d.blocks]
	if d.blocks == 2 {
		d.steps(streams[4:], leadSteps)
	}
	for len(streams) > 0 && d.steps(streams, maxBlock) {
	}
	for i := range streams {
		if !d.finish(&streams[i]) {
			return false
		}
	}
	d.blocks = 0
	return true
}

// leadSteps is the number of steps by which the streams of the second block are ahead. Without a lead the places of the
// eight streams of whole blocks would be in one set of the processor's cache, and would evict each other.
const leadSteps = 16

// steps decodes by the kernel the steps that all streams surely have room for, at most most. It returns false if there
// are none.
func (d *decoder) steps(streams []stream, most int) bool {
	n := most
	for i := range streams {
		s := &streams[i]
		n = min(n, (s.in-s.start)/stepBytes, (s.end-s.out)/stepSymbols)
	}
	if !hasKernel || n <= 0 {
		return false
	}
	kernel(d.to, d.src, streams, d.part, &d.tables, n)
	for i := range streams {
		streams[i].out += n * stepSymbols
	}
	return true
}

// finish decodes the rest of a stream, and reports whether the codes end where the stream does.
func (d *decoder) finish(s *stream) bool {
	position, start := 8*s.in+64-s.used, 8*s.start // of the bit after the next one, and of the last one
	for out := s.out; out < s.end; out++ {
		if position <= start {
			return false
		}
		in := (position+7)/8 - 8
		next := binary.LittleEndian.Uint64(d.src[in:]) << (-position & 7) // also bits in front of the stream
		e := s.table[next>>(64-tableBits)]
		d.to[out] = byte(e >> 8)
		position -= int(e & 0xff)
	}
	return position == start
}
