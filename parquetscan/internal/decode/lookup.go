// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"slices"

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
