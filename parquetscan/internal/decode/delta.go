// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"github.com/vecql/vecql/internal/bitpack"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// The delta encodings, in which a few bytes can expand to many (parquet-format, Encodings.md, "Delta Encoding" and the
// two sections after it). Deltas of 4-byte integers may need more than 32 bits: DuckDB writes them.

// maxDeltaBlock bounds the values of a block of deltas. Writers use 128 to 2048.
const maxDeltaBlock = 1 << 16

// deltaEnd returns the length of n delta-packed integers, from the headers of their blocks.
func deltaEnd(data []byte, n int) (int, error) {
	r := thrift.Reader{B: data}
	block, minis, total := r.Uvarint(), r.Uvarint(), r.Uvarint()
	r.Uvarint() // the first value
	if block > maxDeltaBlock {
		return 0, fmt.Errorf("%w: delta blocks of %d values", failure.ErrUnsupported, block)
	}
	if r.Failed() || minis == 0 || block == 0 || block%minis != 0 || block/minis%32 != 0 || total > 1<<32 {
		return 0, failure.Corrupt("%d delta-packed values in blocks of %d of %d", total, block, minis)
	}
	if total != uint64(n) {
		return 0, failure.Corrupt("%d delta-packed values instead of %d", total, n)
	}
	per := int64(block / minis)
	for left := int64(total) - 1; left > 0; {
		r.Uvarint() // the least delta
		widths := r.Pos
		r.Advance(minis)
		for i := 0; i < int(minis) && left > 0 && !r.Failed(); i++ { // unused miniblocks may be absent
			width := int64(data[widths+i])
			if width > 64 {
				return 0, failure.Corrupt("deltas of %d bits", width)
			}
			r.Advance(uint64(per * width / 8))
			left -= per
		}
		if r.Failed() {
			return 0, failure.Corrupt("deltas end too early")
		}
	}
	return r.Pos, nil
}

// decodeDeltas stores integers in DELTA_BINARY_PACKED, which end by deltaEnd, in dst. Sums wrap around, as the format
// requires. data may have further bytes.
func decodeDeltas[T uint32 | uint64](dst []T, data []byte) {
	r := thrift.Reader{B: data}
	block, minis := r.Uvarint(), r.Uvarint()
	r.Uvarint() // the number of values
	per := int(block / minis)
	value := T(r.I64())
	dst[0] = value
	for dst = dst[1:]; len(dst) > 0; {
		least, widths := T(r.I64()), r.B[r.Pos:]
		r.Advance(minis)
		for i := 0; i < int(minis) && len(dst) > 0; i++ { // unused miniblocks may be absent
			width := int(widths[i])
			n := min(per, len(dst))
			value = addDeltas(dst[:n], value, least, r.B[r.Pos:], width)
			r.Advance(uint64(per * width / 8))
			dst = dst[n:]
		}
	}
}

// addDeltas stores the integers of a miniblock in dst, and returns the last of them. value is the integer before them,
// and each of packed is the difference from one to the next less least.
func addDeltas[T uint32 | uint64](dst []T, value, least T, packed []byte, width int) T {
	switch {
	case width == 0:
		for i := range dst {
			value += least
			dst[i] = value
		}
	case width <= 32:
		// The differences go to the end of dst: an integer of dst never overwrites the differences of later ones.
		words := unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(dst))), len(dst)*int(unsafe.Sizeof(value))/4)
		deltas := words[len(words)-len(dst):]
		bitpack.Unpack(deltas, packed, 0, uint(width))
		dst = dst[:len(deltas)]
		for i, d := range deltas {
			value += least + T(d)
			dst[i] = value
		}
	default:
		mask := ^uint64(0) >> (64 - width)
		for i := range dst {
			value += least + T(bitsAt(packed, i*width, mask))
			dst[i] = value
		}
	}
	return value
}

// decodeStrings returns n byte arrays in DELTA_LENGTH_BYTE_ARRAY, or in DELTA_BYTE_ARRAY if they are prefixed, as
// PLAIN. The result is valid until the next call.
func (c *Decoder) decodeStrings(data []byte, n int, prefixed bool) (_ []byte, err error) {
	if int64(n)*4 > int64(c.limit) {
		return nil, fmt.Errorf("%w: page of %d values", failure.ErrTooLarge, n)
	}
	start := 0 // of the lengths of suffixes
	if prefixed {
		if start, err = deltaEnd(data, n); err != nil {
			return nil, err
		}
	}
	end, err := deltaEnd(data[start:], n)
	if err != nil {
		return nil, err
	}
	c.Scratch = buffer.Grow(c.Scratch[:0], 2*n) // the page has as many lengths
	prefixes, suffixes := c.Scratch[:n], c.Scratch[n:]
	clear(prefixes)
	if prefixed {
		decodeDeltas(prefixes, data)
	}
	decodeDeltas(suffixes, data[start:])
	data = data[start+end:]
	total, err := c.checkStrings(prefixes, suffixes, len(data))
	if err != nil {
		return nil, err
	}
	c.other = buffer.GrowBytes(c.other[:0], total)
	joinStrings(c.other, data, prefixes, suffixes, c.leaf.Physical == format.ByteArray)
	return c.other, nil
}

// checkStrings checks the lengths of strings whose suffixes have size bytes, and returns the bytes of the strings as
// PLAIN.
func (c *Decoder) checkStrings(prefixes, suffixes []uint32, size int) (total int, err error) {
	head := 4 // of a string in PLAIN
	if c.leaf.Physical != format.ByteArray {
		head = 0
	}
	length := uint64(0) // of the previous string
	for i, suffix := range suffixes {
		prefix := uint64(prefixes[i])
		if prefix > length || uint64(suffix) > uint64(size) {
			return 0, failure.Corrupt("string of a prefix of %d bytes (the previous string has %d) and a suffix of %d (the page has %d)",
				int32(prefix), length, int32(suffix), size)
		}
		size -= int(suffix)
		length = prefix + uint64(suffix)
		if head == 0 && length != uint64(c.leaf.Stored) {
			return 0, failure.Corrupt("value of %d bytes instead of %d", length, c.leaf.Stored)
		}
		if uint64(total)+uint64(head)+length > uint64(c.limit) {
			return 0, fmt.Errorf("%w: page of more than %d bytes", failure.ErrTooLarge, c.limit)
		}
		total += head + int(length)
	}
	return total, nil
}

// joinStrings stores strings in dst, each a prefix of the previous one and the next suffix in data, and before it its
// length if strings are of variable length. The lengths are checked, and dst is a slice of buffer.GrowBytes.
func joinStrings(dst, data []byte, prefixes, suffixes []uint32, variable bool) {
	room, at, before := dst[:len(dst)+buffer.Slack], 0, 0
	for i, suffix := range suffixes {
		prefix, n := int(prefixes[i]), int(suffix)
		if variable {
			binary.LittleEndian.PutUint32(room[at:], uint32(prefix+n))
			at += 4
		}
		start := at
		if prefix <= 16 {
			buffer.Copy16(room[at:], room[before:])
		} else {
			copy(room[at:], room[before:before+prefix])
		}
		at += prefix
		if n <= 16 && len(data) >= 16 {
			buffer.Copy16(room[at:], data)
		} else {
			copy(room[at:], data[:n])
		}
		at += n
		data, before = data[n:], start
	}
}

// bitsAt returns an integer of up to 64 bits that begins at a bit of b, counted from the lowest of each byte. mask has
// its bits.
func bitsAt(b []byte, at int, mask uint64) uint64 {
	bytes := b[at>>3:]
	if len(bytes) < 9 {
		var end [9]byte
		copy(end[:], bytes)
		bytes = end[:]
	}
	shift := at & 7
	return (binary.LittleEndian.Uint64(bytes)>>shift | uint64(bytes[8])<<1<<(63-shift)) & mask
}
