// SPDX-License-Identifier: Apache-2.0

//go:build !purego

package substring

import (
	"math/bits"

	"golang.org/x/sys/cpu"
)

// hasKernel reports whether the processor has the instructions of kernel.
var hasKernel = cpu.X86.HasAVX2

// blockBytes is the number of positions in a block.
const blockBytes = 32

// kernel looks for a byte that is first, and has last at a distance after it, in blocks of 32 positions. It returns the
// bytes before the first block with such a byte and a bit for each of its positions, or all bytes and 0. It reads the
// bytes of all blocks, and as many at the distance.
//
//go:noescape
func kernel(s *byte, blocks int, first, last byte, distance int) (before int, found uint32)

// indexMany searches whole blocks. It returns the position of the text, or the first one that it did not try and false.
func indexMany(s, text []byte) (at int, ok bool) {
	distance := len(text) - 1
	if !hasKernel {
		return 0, false
	}
	for blocks := (len(s) - distance) / blockBytes; blocks > 0; {
		before, found := kernel(&s[at], blocks, text[0], text[distance], distance)
		at += before
		if found == 0 {
			break
		}
		for ; found != 0; found &= found - 1 {
			i := at + bits.TrailingZeros32(found)
			if string(s[i:i+len(text)]) == string(text) {
				return i, true
			}
		}
		at += blockBytes
		blocks -= before/blockBytes + 1
	}
	return at, false
}
