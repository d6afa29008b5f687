// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package snappy

import (
	"unsafe"

	"golang.org/x/sys/cpu"

	"github.com/vecql/vecql/internal/pattern"
)

// hasKernel reports whether the processor has the instructions of kernel.
var hasKernel = cpu.X86.HasBMI2 && cpu.X86.HasSSSE3

// kernel decodes elements from src on to dstAt. It stops before an element that begins after srcLimit, that would be
// written after dstLimit, that is a literal with a length after its tag, or that is invalid, and returns its place in
// the output and in the block. dst is the start of the output. srcRoom bytes from srcLimit on are read, Spare bytes
// from dstLimit on written.
//
//go:noescape
func kernel(dst, dstLimit, dstAt, src, srcLimit *byte, tags *[256]tagEntry, patterns *[16]pattern.Pattern) (d, s *byte)

// srcRoom is a tag, 64 bytes that are copied, and the next tag.
const srcRoom = 66

// A tagEntry describes the elements with a tag. The offset of a copy is the bytes after the tag, little-endian, masked,
// plus high.
type tagEntry struct {
	length uint8 // more than 64 for literals whose length follows the tag
	next   uint8 // bytes between the tag and the next one
	high   uint16
	mask   uint32
}

var tagEntries = func() *[256]tagEntry {
	var entries [256]tagEntry
	for tag := range entries {
		e := &entries[tag]
		upper := tag >> 2
		e.length, e.next = uint8(upper+1), 1<<(tag&3)>>1
		switch tag & 3 {
		case literal:
			e.next = e.length
			if upper >= longLiteral {
				e.length = 255
			}
		case copy1:
			e.length, e.high, e.mask = uint8(upper&7+4), uint16(upper>>3<<8), 0xff
		case copy2:
			e.mask = 0xffff
		case copy4:
			e.mask = 0xffffffff
		}
	}
	return &entries
}()

// decodeMany decodes elements from src[s] on to dst[d] on, as many as the kernel takes, and returns the new positions.
// It may write to the spare capacity of dst.
func decodeMany(dst []byte, d int, src []byte, s int) (int, int) {
	dstLimit, srcLimit := cap(dst)-Spare, len(src)-srcRoom
	if !hasKernel || d > dstLimit || s > srcLimit {
		return d, s
	}
	base := &dst[:1][0]
	to, from := kernel(base, at(dst, dstLimit), at(dst, d), &src[s], &src[srcLimit], tagEntries, pattern.Patterns)
	return distance(base, to), distance(&src[0], from)
}

// at returns the address of b[i], which may be in the spare capacity.
func at(b []byte, i int) *byte { return &b[:i+1][i] }

func distance(from, to *byte) int {
	return int(uintptr(unsafe.Pointer(to)) - uintptr(unsafe.Pointer(from)))
}
