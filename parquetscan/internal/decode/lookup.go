// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"math/bits"
	"slices"

	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/internal/bitpack"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Dictionary codes and their values.

// gatherBlock is the number of codes that are decoded before their values are looked up: few enough for the L1 cache.
const gatherBlock = 2048

// LookUp sets dst to the values of the next codes: of a run of equal codes at once, of others a block at a time. A code
// beyond the values is an error.
func LookUp[T any](h *Hybrid, dst, values []T, scratch *[]uint32) error {
	for len(dst) > 0 {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return err
			}
		}
		n := min(h.Left, len(dst))
		if h.Packed {
			n = min(n, gatherBlock)
			*scratch = buffer.Grow((*scratch)[:0], n)
			codes := *scratch
			bitpack.Unpack(codes, h.Group(), h.Bit, h.width)
			if !gather(dst[:n], values, codes) {
				return badCode(slices.Max(codes), len(values))
			}
			h.Bit += n * int(h.width)
		} else {
			if int64(h.Value) >= int64(len(values)) {
				return badCode(h.Value, len(values))
			}
			fill(dst[:n], values[h.Value])
		}
		h.Left -= n
		dst = dst[n:]
	}
	return nil
}

// Between sets bit i of sel, the lowest of each byte first, if code i of the next n is from lo to lo + span, and clears
// all other bits. A code that is not less than entries is an error.
func (h *Hybrid) Between(sel []byte, n int, lo, span uint32, entries int) error {
	clear(sel)
	var block [gatherBlock / 8]byte
	for at := 0; at < n; {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return err
			}
		}
		k, greatest := min(h.Left, n-at), h.Value
		switch {
		case !h.Packed:
			if h.Value-lo <= span {
				bitmap.Fill(sel, at, k)
			}
		case at&7 == 0:
			greatest = bitpack.Between(sel[at>>3:], k, h.Group(), h.Bit, h.width, lo, span)
		default:
			k = min(k, gatherBlock)
			greatest = bitpack.Between(block[:], k, h.Group(), h.Bit, h.width, lo, span)
			bitmap.Copy(sel, at, block[:], 0, k)
		}
		if int64(greatest) >= int64(entries) {
			return badCode(greatest, entries)
		}
		h.Bit += k * int(h.width)
		h.Left -= k
		at += k
	}
	return nil
}

// Keep clears the bits of sel, one for each of the next n codes, whose codes have no 1 in hits. A code that is not less
// than the number of hits is an error if its bit is set or it is of a run. It is for few bits: runs without one are
// passed.
func (h *Hybrid) Keep(sel []byte, n int, hits []byte) error {
	one := nextOne(sel, 0, n)
	for at := 0; at < n; {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return err
			}
		}
		k := min(h.Left, n-at)
		for one < at+k {
			code, end := h.Value, at+k
			if h.Packed {
				code, end = bitpack.Get(h.Group(), h.Bit+(one-at)*int(h.width), h.width), one+1
			}
			if int64(code) >= int64(len(hits)) {
				return badCode(code, len(hits))
			}
			if hits[code] == 0 {
				bitmap.Clear(sel, one, end-one)
			}
			one = nextOne(sel, end, n)
		}
		h.Bit += k * int(h.width)
		h.Left -= k
		at += k
	}
	return nil
}

// nextOne returns the first of the bits from i to n that is 1, or n.
func nextOne(sel []byte, i, n int) int {
	for i < n {
		if word := buffer.Word(sel[i>>3:]) >> (i & 7); word != 0 {
			return min(i+bits.TrailingZeros64(word), n)
		}
		i = i&^7 + 64
	}
	return n
}

func badCode(code uint32, entries int) error {
	return failure.Corrupt("code %d of a dictionary of %d values", code, entries)
}

// gather sets dst to the values of codes. It returns false if a code is outside the values.
func gather[T any](dst, values []T, codes []uint32) bool {
	dst = dst[:len(codes)]
	for i, code := range codes {
		if uint64(code) >= uint64(len(values)) {
			return false
		}
		dst[i] = values[code]
	}
	return true
}
