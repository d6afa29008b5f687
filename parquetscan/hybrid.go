// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"math"
	"math/bits"

	"github.com/vecql/vecql/internal/bitpack"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// The RLE/bit-packing hybrid, the encoding of levels, dictionary codes and booleans (parquet-format, Encodings.md,
// "RLE/Bit-Packing Hybrid").

// A hybrid decodes the rest of hybrid-encoded integers of one width. Missing data is an error when its values are
// decoded. Positions are numbers, since stores of slices while the garbage collector runs cost as much as a short run.
type hybrid struct {
	data  []byte
	next  int  // position of the next run in data
	width uint // bits per value, 0 to 32

	// The current run: left values. All are equal to value, or they are packed: from bit position bit of group on.
	left   int
	value  uint32
	packed bool
	at     int // position of the group in data
	bit    int
}

// group returns the values of a packed run. It does not end with the run, so that 8 bytes can be loaded at nearly every
// value.
func (h *hybrid) group() []byte { return h.data[h.at:] }

// start begins to decode. Widths beyond 32 are errors.
func (h *hybrid) start(data []byte, width uint) error {
	if width > 32 {
		return failure.Corrupt("integers of %d bits", width)
	}
	*h = hybrid{data: data, width: width}
	return nil
}

// startPacked begins to decode values of the deprecated BIT_PACKED encoding of levels: one group without a header, the
// first value in the highest bits. Their bits are reversed here, so that all other code sees the order of the hybrid.
func (h *hybrid) startPacked(data []byte, width uint, n int) error {
	length := (int64(n)*int64(width) + 7) / 8
	if width > 32 || length > int64(len(data)) {
		return failure.Corrupt("%d levels of %d bits in %d bytes", n, width, len(data))
	}
	turned := make([]byte, (n*int(width)+7)/8)
	for i := range n {
		for b := range int(width) {
			from := i*int(width) + b
			if data[from>>3]>>(7-from&7)&1 == 1 {
				to := i*int(width) + int(width) - 1 - b
				turned[to>>3] |= 1 << (to & 7)
			}
		}
	}
	*h = hybrid{data: turned, next: len(turned), width: width, left: n, packed: width > 0}
	return nil
}

// run makes sure that there is a current run.
func (h *hybrid) run() error {
	for h.left == 0 {
		if h.width == 0 {
			h.left = 1 << 30 // values of width 0 have no bytes: any number of zeros
			return nil
		}
		rest := h.data[h.next:]
		head, n := binary.Uvarint(rest)
		if n <= 0 || head > math.MaxUint32 { // a run has at most 1<<31 - 1 values
			return failure.Corrupt("runs end too early")
		}
		rest = rest[n:]
		h.next += n
		if head&1 == 0 {
			size := int(h.width+7) / 8
			if len(rest) < size {
				return failure.Corrupt("runs end too early")
			}
			v := uint32(0)
			for i, b := range rest[:size] {
				v |= uint32(b) << (8 * i)
			}
			if bits.Len32(v) > int(h.width) {
				return failure.Corrupt("value %d has more than %d bits", v, h.width)
			}
			h.next += size
			h.left, h.value, h.packed = int(head>>1), v, false
			continue
		}
		// Groups of 8. The last group may omit bytes that are only padding.
		size := min(int64(head>>1)*int64(h.width), int64(len(rest)))
		h.left = int(min(int64(head>>1)*8, size*8/int64(h.width)))
		if h.left == 0 {
			return failure.Corrupt("runs end too early")
		}
		h.packed, h.at, h.bit = true, h.next, 0
		h.next += int(size)
	}
	return nil
}

// decode fills dst with the next values.
func (h *hybrid) decode(dst []uint32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.run(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if !h.packed {
			fill(dst[:n], h.value)
		} else {
			bitpack.Unpack(dst[:n], h.group(), h.bit, h.width)
			h.bit += n * int(h.width)
		}
		h.left -= n
		dst = dst[n:]
	}
	return nil
}

// skip skips n values.
func (h *hybrid) skip(n int) error {
	for n > 0 {
		if err := h.run(); err != nil {
			return err
		}
		k := min(h.left, n)
		h.left -= k
		h.bit += k * int(h.width)
		n -= k
	}
	return nil
}
