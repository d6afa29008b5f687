// SPDX-License-Identifier: Apache-2.0

// Package zstd decodes frames of Zstandard (RFC 8878) whose content has a known length: the pages of files. On amd64
// kernels decode literals, which are Huffman codes, and sequences, which copy literals and content that is already
// there. Everything that has room for whole registers goes through the kernels; the ends go through plain code.
package zstd

import (
	"encoding/binary"
	"sync"

	"github.com/cespare/xxhash/v2"
)

const (
	maxBlock  = 128 << 10 // bytes of a block, compressed or not
	maxWindow = 512 << 20 // the default limit of github.com/klauspost/compress/zstd
)

// Spare is the spare capacity of a destination with which the kernels decode to its end.
const Spare = 32

// Decode decodes src to dst and returns true if src is one valid frame whose content has len(dst) bytes. Otherwise it
// returns false, dst is undefined, and the caller needs another decoder for the content or the error. It may write to
// the spare capacity of dst. It always returns false where there is no kernel for the processor.
func Decode(dst, src []byte) bool {
	return hasKernel && decode(dst, src)
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode decodes a frame, with or without the kernels.
func decode(dst, src []byte) bool {
	f, ok := parseFrame(src)
	if !ok || len(dst) == 0 || f.size >= 0 && f.size != int64(len(dst)) {
		return false
	}
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	d.reset(dst, src)
	return d.decode(f) && (!f.sum || binary.LittleEndian.Uint32(src[len(src)-4:]) == uint32(xxhash.Sum64(dst)))
}

// A frame is a frame header.
type frame struct {
	src    []byte // the frame, without its checksum
	at     int    // of the first block
	window int    // bounds the size of each block, and the offset of each copy
	size   int64  // of the content, or -1 if the header does not have it
	sum    bool   // the frame ends with a checksum
}

// parseFrame parses the header of the frame that src consists of. It returns false for frames of other forms: skippable
// frames, dictionaries.
func parseFrame(src []byte) (f frame, ok bool) {
	if len(src) < 9 || binary.LittleEndian.Uint32(src) != 0xfd2fb528 { // Magic_Number
		return f, false
	}
	d := src[4]
	single := d&0x20 != 0
	if d&0x0b != 0 { // the reserved bit, Dictionary_ID_Flag
		return f, false
	}
	f = frame{src: src, at: 5, size: -1, sum: d&4 != 0}
	if f.sum {
		f.src = src[:len(src)-4]
	}
	if !single {
		w := src[5] // Window_Descriptor
		base := int64(1) << (10 + w>>3)
		window := base + base/8*int64(w&7)
		if window > maxWindow {
			return f, false
		}
		f.window = int(window)
		f.at++
	}
	field := [...]int{0, 2, 4, 8}[d>>6]
	if single && field == 0 {
		field = 1
	}
	if f.at+field > len(f.src) {
		return f, false
	}
	if field > 0 {
		var b [8]byte // Frame_Content_Size
		copy(b[:], src[f.at:f.at+field])
		size := binary.LittleEndian.Uint64(b[:])
		if field == 2 {
			size += 256
		}
		if size > maxWindow {
			return f, false
		}
		f.size = int64(size)
		f.at += field
	}
	if single {
		f.window = max(int(f.size), 1<<10)
	}
	return f, true
}

// The kinds of literals (Literals_Block_Type). Blocks without a literals section have the kinds stored and repeated.
const (
	stored   = 0
	repeated = 1
	coded    = 2 // Huffman codes after their tree
	treeless = 3 // Huffman codes of the tree before
)

// A block is the headers of a block.
type block struct {
	last    bool
	kind    int    // of the literals
	streams int    // of coded literals: 1 or 4
	size    int    // of the literals
	data    []byte // the literals after their header: themselves, the repeated byte, or tree and codes
	at      int    // position of data in the frame

	sequences []byte // the section of sequences, without their number
	number    int    // of sequences
	start     int    // position of sequences in the frame
}

// block parses the headers of the block at a position, and returns the position of the next one. It returns false for
// invalid blocks.
func (f *frame) block(at int) (b block, next int, ok bool) {
	if len(f.src)-at < 3 {
		return b, 0, false
	}
	h := int(f.src[at]) | int(f.src[at+1])<<8 | int(f.src[at+2])<<16
	at += 3
	size := h >> 3 // Block_Size
	length := size
	b = block{last: h&1 != 0, kind: h >> 1 & 3, size: size, at: at}
	if b.kind == repeated {
		length = 1
	}
	if b.kind == 3 || size > min(maxBlock, f.window) || length > len(f.src)-at {
		return b, 0, false
	}
	b.data = f.src[at : at+length]
	if b.kind == 2 && !b.sections(f.window) { // Compressed_Block
		return b, 0, false
	}
	return b, at + length, true
}

// sections parses the header of the literals section, which data begins with, and the number of sequences, which
// follows it. window bounds the literals.
func (b *block) sections(window int) bool {
	var head [8]byte
	copy(head[:5], b.data)
	h := binary.LittleEndian.Uint64(head[:])
	b.kind = int(h & 3)
	format := int(h >> 2 & 3) // Size_Format
	var length, header int    // of the section, without and of its header
	if b.kind == coded || b.kind == treeless {
		bits := [...]int{10, 10, 14, 18}[format]
		header = [...]int{3, 3, 4, 5}[format]
		b.size = int(h >> 4 & (1<<bits - 1))
		length = int(h >> (4 + bits) & (1<<bits - 1))
		b.streams = 4
		if format == 0 {
			b.streams = 1
		}
	} else {
		switch format {
		case 1:
			header, b.size = 2, int(h>>4&0xfff)
		case 3:
			header, b.size = 3, int(h>>4&0xfffff)
		default:
			header, b.size = 1, int(h>>3&0x1f)
		}
		length = b.size
		if b.kind == repeated {
			length = 1
		}
	}
	end := header + length
	if b.size > min(maxBlock, window) || end >= len(b.data) || !b.readNumber(b.data[end:]) {
		return false
	}
	b.start = b.at + len(b.data) - len(b.sequences)
	b.data = b.data[header:end]
	b.at += header
	return true
}

// readNumber reads the number of sequences, which a section begins with. Without sequences the section has ended
// (RFC 8878, 3.1.1.3.2.1).
func (b *block) readNumber(section []byte) bool {
	n, head := int(section[0]), 1
	switch {
	case n == 0:
		return len(section) == 1
	case n == 255:
		head = 3
	case n >= 128:
		head = 2
	}
	if len(section) <= head {
		return false
	}
	switch head {
	case 2:
		n = (n-128)<<8 | int(section[1])
	case 3:
		n = 0x7f00 + int(binary.LittleEndian.Uint16(section[1:]))
	}
	b.number, b.sequences = n, section[head:]
	return n > 0
}
