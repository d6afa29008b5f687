// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/internal/bitpack"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// The RLE/bit-packing hybrid, the encoding of levels, dictionary codes and booleans (parquet-format, Encodings.md,
// "RLE/Bit-Packing Hybrid").

// A Hybrid decodes the rest of hybrid-encoded integers of one width. Missing data is an error when its values are
// decoded. Positions are numbers, since stores of slices while the garbage collector runs cost as much as a short run.
type Hybrid struct {
	data  []byte
	next  int  // position of the next run in data
	width uint // bits per value, 0 to 32

	// The current run: left values. All are equal to value, or they are packed: from bit position bit of group on.
	Left   int
	Value  uint32
	Packed bool
	at     int // position of the group in data
	Bit    int
}

// Group returns the values of a packed run. It does not end with the run, so that 8 bytes can be loaded at nearly every
// value.
func (h *Hybrid) Group() []byte { return h.data[h.at:] }

// Start begins to decode. Widths beyond 32 are errors.
func (h *Hybrid) Start(data []byte, width uint) error {
	if width > 32 {
		return failure.Corrupt("integers of %d bits", width)
	}
	*h = Hybrid{data: data, width: width}
	return nil
}

// startPacked begins to decode values of the deprecated BIT_PACKED encoding of levels: one group without a header, the
// first value in the highest bits. Their bits are reversed here, so that all other code sees the order of the hybrid.
func (h *Hybrid) startPacked(data []byte, width uint, n int) error {
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
	*h = Hybrid{data: turned, next: len(turned), width: width, Left: n, Packed: width > 0}
	return nil
}

// Run makes sure that there is a current run.
func (h *Hybrid) Run() error {
	for h.Left == 0 {
		if h.width == 0 {
			h.Left = 1 << 30 // values of width 0 have no bytes: any number of zeros
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
			h.Left, h.Value, h.Packed = int(head>>1), v, false
			continue
		}
		// Groups of 8. The last group may omit bytes that are only padding.
		size := min(int64(head>>1)*int64(h.width), int64(len(rest)))
		h.Left = int(min(int64(head>>1)*8, size*8/int64(h.width)))
		if h.Left == 0 {
			return failure.Corrupt("runs end too early")
		}
		h.Packed, h.at, h.Bit = true, h.next, 0
		h.next += int(size)
	}
	return nil
}

// Decode fills dst with the next values.
func (h *Hybrid) Decode(dst []uint32) error {
	for len(dst) > 0 {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return err
			}
		}
		n := min(h.Left, len(dst))
		if !h.Packed {
			fill(dst[:n], h.Value)
		} else {
			bitpack.Unpack(dst[:n], h.Group(), h.Bit, h.width)
			h.Bit += n * int(h.width)
		}
		h.Left -= n
		dst = dst[n:]
	}
	return nil
}

// DecodeOnes fills dst with the selected ones of the next n values: their bits in sel, from bit at on, are 1.
func (h *Hybrid) DecodeOnes(dst []uint32, sel []byte, at, n int) error {
	for end := at + n; at < end; {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return err
			}
		}
		k := min(h.Left, end-at)
		if h.Packed {
			dst = h.unpackOnes(dst, sel, at, k)
		} else {
			ones := bitmap.Count(sel, at, k)
			fill(dst[:ones], h.Value)
			dst = dst[ones:]
		}
		h.Bit += k * int(h.width)
		h.Left -= k
		at += k
	}
	return nil
}

// unpackOnes is DecodeOnes in a packed run. It returns the rest of dst.
func (h *Hybrid) unpackOnes(dst []uint32, sel []byte, at, n int) []uint32 {
	group, bit, filled := h.Group(), h.Bit, 0
	for n > 0 {
		shift := at & 7
		k := min(n, 64-shift)
		word := buffer.Word(sel[at>>3:]) >> shift
		if k < 64 {
			word &= 1<<k - 1
		}
		for ; word != 0; word &= word - 1 {
			dst[filled] = bitpack.Get(group, bit+bits.TrailingZeros64(word)*int(h.width), h.width)
			filled++
		}
		bit += k * int(h.width)
		at += k
		n -= k
	}
	return dst[filled:]
}

// Skip skips n values.
func (h *Hybrid) Skip(n int) error {
	for n > 0 {
		if err := h.Run(); err != nil {
			return err
		}
		k := min(h.Left, n)
		h.Left -= k
		h.Bit += k * int(h.width)
		n -= k
	}
	return nil
}

// LevelWidth returns the number of bits of levels up to most.
func LevelWidth(most int) uint { return uint(bits.Len(uint(most))) }

// StartV1 begins to decode the levels of a data page V1, and returns the bytes after them.
func (h *Hybrid) StartV1(data []byte, encoding format.Encoding, most, n int) (rest []byte, err error) {
	width := LevelWidth(most)
	if most == 0 {
		return data, h.Start(nil, 0)
	}
	switch encoding {
	case format.RLE:
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return nil, failure.Corrupt("levels are longer than their page")
		}
		length := int(binary.LittleEndian.Uint32(data))
		return data[4+length:], h.Start(data[4:4+length:4+length], width)
	case format.BitPacked:
		if err := h.startPacked(data, width, n); err != nil {
			return nil, err
		}
		return data[(n*int(width)+7)/8:], nil
	default:
		return nil, fmt.Errorf("%w: levels of encoding %d", failure.ErrUnsupported, encoding)
	}
}

// SkipOnes skips n values of one bit, and returns how many of them are 1.
func (h *Hybrid) SkipOnes(n int) (ones int, err error) {
	for n > 0 {
		if err := h.Run(); err != nil {
			return 0, err
		}
		k := min(h.Left, n)
		switch {
		case h.Packed:
			ones += bitmap.Count(h.Group(), h.Bit, k)
		case h.Value == 1:
			ones += k
		}
		h.Left -= k
		h.Bit += k
		n -= k
	}
	return ones, nil
}

// Peek reports whether the next value is v.
func (h *Hybrid) Peek(v uint32) (bool, error) {
	if err := h.Run(); err != nil {
		return false, err
	}
	if !h.Packed {
		return h.Value == v, nil
	}
	var next [1]uint32
	bitpack.Unpack(next[:], h.Group(), h.Bit, h.width)
	return next[0] == v, nil
}

// Same skips up to n values while they equal v, and returns how many.
func (h *Hybrid) Same(v uint32, n int) (int, error) {
	done := 0
	for done < n {
		if h.Left == 0 {
			if err := h.Run(); err != nil {
				return done, err
			}
		}
		k := min(h.Left, n-done)
		if !h.Packed {
			if h.Value != v {
				return done, nil
			}
		} else if same := h.samePacked(v, k); same < k {
			h.Left -= same
			h.Bit += same * int(h.width)
			return done + same, nil
		}
		h.Left -= k
		h.Bit += k * int(h.width)
		done += k
	}
	return done, nil
}

// samePacked returns how many of the next n packed values equal v before the first other value.
func (h *Hybrid) samePacked(v uint32, n int) int {
	if h.width > 1 {
		var next [64]uint32
		for i := 0; i < n; i += len(next) {
			part := next[:min(len(next), n-i)]
			bitpack.Unpack(part, h.Group(), h.Bit+i*int(h.width), h.width)
			for j, x := range part {
				if x != v {
					return i + j
				}
			}
		}
		return n
	}
	flip := uint64(0) - uint64(v) // values equal to v become zeros: the lowest 1 bit is the first other value
	group, i := h.Group(), 0
	for i < n {
		at := h.Bit + i
		var word uint64
		if at>>3+8 <= len(group) {
			word = binary.LittleEndian.Uint64(group[at>>3:])
		} else {
			for j, b := range group[at>>3:] {
				word |= uint64(b) << (8 * j)
			}
		}
		valid := 64 - at&7
		word = (word ^ flip) >> (at & 7)
		if first := bits.TrailingZeros64(word); first < valid {
			return min(i+first, n)
		}
		i += valid
	}
	return n
}

// fill sets all of dst to v: the first elements one by one, then by copies that double.
func fill[T any](dst []T, v T) {
	const first = 16
	for i := range dst[:min(len(dst), first)] {
		dst[i] = v
	}
	for n := first; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}
