// SPDX-License-Identifier: Apache-2.0

package zstd

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/soak"
)

// randomFrame returns a frame of blocks with random sequences, which most are valid, and the length of its content if
// it is. In a block all lengths and offsets have one code each (RLE_Mode), and their bits are random.
func randomFrame(r *rand.Rand) (src []byte, n int) {
	src = []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 8 << 3}
	n = 16 + r.IntN(100)
	src = appendHeader(src, 0, false, n)
	src = append(src, few(r, n, 256, true)...)
	for range 1 + r.IntN(6) {
		number := 1 + r.IntN(200)
		length, match, offset := byte(r.IntN(1+r.IntN(20))), byte(r.IntN(1+r.IntN(40))), byte(r.IntN(3+r.IntN(4)))
		var bits []byte // from the last that is read to the first
		lits := r.IntN(4)
		for range number {
			l := r.IntN(1 << lengthKind.bits[length])
			m := r.IntN(1 << matchKind.bits[match])
			bits = appendBits(bits, l, int(lengthKind.bits[length]))
			bits = appendBits(bits, m, int(matchKind.bits[match]))
			bits = appendBits(bits, r.IntN(1<<offset), int(offset))
			lits += l + int(lengthKind.base[length])
			n += m + int(matchKind.base[match])
		}
		n += lits
		block := binary.LittleEndian.AppendUint32(nil, uint32(lits)<<4|3<<2)[:3] // Raw_Literals_Block
		block = append(block, few(r, lits, 256, true)...)
		if number < 128 && r.IntN(4) > 0 { // a small number may have two bytes, too
			block = append(block, byte(number))
		} else {
			block = append(block, byte(number>>8+128), byte(number))
		}
		block = append(block, 1<<6|1<<4|1<<2, length, offset, match)
		bits = append(bits, 1)
		block = append(block, packed(bits)...)
		src = append(appendHeader(src, 2, false, len(block)), block...)
	}
	return appendHeader(src, 0, true, 0), n
}

// appendBits appends the lowest n bits of v, from the lowest on.
func appendBits(bits []byte, v, n int) []byte {
	for i := range n {
		bits = append(bits, byte(v>>i&1))
	}
	return bits
}

// packed returns bytes of bits, from the lowest bit of the first byte on.
func packed(bits []byte) []byte {
	b := make([]byte, (len(bits)+7)/8)
	for i, bit := range bits {
		b[i/8] |= bit << (i % 8)
	}
	return b
}

// appendHeader appends the header of a block.
func appendHeader(src []byte, kind int, last bool, size int) []byte {
	h := uint32(size<<3 | kind<<1)
	if last {
		h |= 1
	}
	return append(src, byte(h), byte(h>>8), byte(h>>16))
}

// TestSequences decodes frames of random sequences: offsets of all kinds, with and without literals, and matches that
// overlap with their copies. The other decoder accepts some that have no valid offset.
func TestSequences(t *testing.T) {
	soak.NoRace(t)
	peer := newPeer(t)
	r := rand.New(rand.NewPCG(1, 1))
	decoded := 0
	for range 3000 {
		src, n := randomFrame(r)
		compare(t, peer, src, n, true)
		each(func(string) {
			if decode(make([]byte, n, n+Spare), src) {
				decoded++
			}
		})
	}
	require.Greater(t, decoded, 2000)
}

// TestManySequences has a block with so many sequences that their number has three bytes: matches of three bytes, with
// no bits.
func TestManySequences(t *testing.T) {
	const number = 0x7f00 + 261
	src := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 8 << 3}
	src = append(appendHeader(src, 0, false, 16), few(rand.New(rand.NewPCG(1, 1)), 16, 256, true)...)
	block := binary.LittleEndian.AppendUint16([]byte{0, 255}, number-0x7f00)
	block = append(block, 1<<6|1<<4|1<<2, 0, 0, 0, 1)
	src = append(appendHeader(src, 2, true, len(block)), block...)
	n := 16 + 3*number
	compare(t, newPeer(t), src, n, false)
	require.True(t, decode(make([]byte, n), src))
}

// TestWindow refuses an offset beyond the window.
func TestWindow(t *testing.T) {
	frame := func(window byte) []byte {
		src := []byte{0x28, 0xb5, 0x2f, 0xfd, 0, window}
		for i := range 3 {
			src = append(appendHeader(src, 0, false, 1000), few(rand.New(rand.NewPCG(1, uint64(i))), 1000, 256, true)...)
		}
		// No literals, one sequence, all codes in RLE_Mode: no literals, a match of 3 bytes, the offset 2045.
		block := []byte{0, 1, 1<<6 | 1<<4 | 1<<2, 0, 11, 0, 0, 8}
		return append(appendHeader(src, 2, true, len(block)), block...)
	}
	peer := newPeer(t)
	for window, want := range map[byte]bool{0: false, 1 << 3: true} {
		src := frame(window)
		compare(t, peer, src, 3003, false)
		require.Equal(t, want, decode(make([]byte, 3003), src))
	}
}
