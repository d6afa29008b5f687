// SPDX-License-Identifier: Apache-2.0

// Package literals decodes Zstandard frames without sequences (RFC 8878): frames whose blocks are stored, repeat one
// byte, or have literals alone. Encoders make such frames from floating-point numbers, whose bytes rarely repeat.
// Without sequences blocks do not depend on each other's content, so that the streams of two blocks are decoded
// together, directly to their destination.
package literals

import (
	"encoding/binary"
	"sync"

	"github.com/cespare/xxhash/v2"
)

const (
	maxBlock  = 128 << 10 // bytes of a block, compressed or not
	maxWindow = 512 << 20 // the default limit of github.com/klauspost/compress/zstd
)

// Decode decodes src to dst and returns true if src is one valid frame without sequences whose content has len(dst)
// bytes. Otherwise it returns false, dst is undefined, and the caller needs another decoder for the content or the
// error. If a frame has another form, Decode reads no more than the headers of its blocks. It always returns false
// where there is no kernel for the processor.
func Decode(dst, src []byte) bool {
	return hasKernel && decode(dst, src)
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

// decode decodes a frame, with or without the kernel.
func decode(dst, src []byte) bool {
	f, ok := parseFrame(src)
	if !ok || len(dst) == 0 || !f.matches(len(dst)) {
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
	window int    // bounds the size of each block
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

// matches reports whether the blocks of a frame have no sequences, and n bytes of content.
func (f *frame) matches(n int) bool {
	if f.size >= 0 && f.size != int64(n) {
		return false
	}
	total := 0
	for at := f.at; ; {
		b, next, ok := f.block(at)
		if !ok || b.size > n-total {
			return false
		}
		total += b.size
		at = next
		if b.last {
			return at == len(f.src) && total == n
		}
	}
}

// The kinds of literals (Literals_Block_Type). Blocks without a literals section have the kinds stored and repeated.
const (
	stored   = 0
	repeated = 1
	coded    = 2 // Huffman codes after their tree
	treeless = 3 // Huffman codes of the tree before
)

// A block is a block without sequences.
type block struct {
	last    bool
	kind    int
	streams int    // of coded blocks: 1 or 4
	size    int    // of the content
	data    []byte // after the headers: the content, the repeated byte, or tree and codes
	at      int    // position of data in the frame
}

// block parses the headers of the block at a position, and returns the position of the next one. It returns false for
// blocks with sequences and for invalid blocks.
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
	if b.kind == 2 && !b.section(f.window) { // Compressed_Block
		return b, 0, false
	}
	return b, at + length, true
}

// section parses the header of the literals section, which data begins with, and checks that the section ends where
// a block without sequences does. window bounds the content of the block.
func (b *block) section(window int) bool {
	if len(b.data) < 5 {
		return false // no encoder saves anything with such a block
	}
	h := uint64(binary.LittleEndian.Uint32(b.data)) | uint64(b.data[4])<<32
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
	// The section is followed by one byte, which is the number of sequences: 0.
	if b.size > min(maxBlock, window) || header+length+1 != len(b.data) || b.data[header+length] != 0 {
		return false
	}
	b.data = b.data[header : header+length]
	b.at += header
	return true
}
