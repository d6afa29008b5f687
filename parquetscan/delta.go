// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
)

// The delta encodings, in which a few bytes can expand to many (parquet-format, Encodings.md, "Delta Encoding" and the
// two sections after it). arrow-go trusts the length of a block, lets each string repeat all bytes of the previous one,
// and rejects deltas of 4-byte integers that need more than 32 bits, which DuckDB writes.

// maxDeltaBlock bounds the values of a block of deltas. Writers use 128 to 2048.
const maxDeltaBlock = 1 << 16

// deltaEnd returns the length of n delta-packed integers, from the headers of their blocks.
func deltaEnd(data []byte, n int) (int, error) {
	r := thriftReader{b: data}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	r.uvarint() // the first value
	if block > maxDeltaBlock {
		return 0, fmt.Errorf("%w: delta blocks of %d values", ErrUnsupported, block)
	}
	if r.failed() || minis == 0 || block == 0 || block%minis != 0 || block/minis%32 != 0 || total > 1<<32 {
		return 0, corrupt("%d delta-packed values in blocks of %d of %d", total, block, minis)
	}
	if total != uint64(n) {
		return 0, corrupt("%d delta-packed values instead of %d", total, n)
	}
	per := int64(block / minis)
	for left := int64(total) - 1; left > 0; {
		r.uvarint() // the least delta
		widths := r.pos
		r.advance(minis)
		for i := 0; i < int(minis) && left > 0 && !r.failed(); i++ { // unused miniblocks may be absent
			width := int64(data[widths+i])
			if width > 64 {
				return 0, corrupt("deltas of %d bits", width)
			}
			r.advance(uint64(per * width / 8))
			left -= per
		}
		if r.failed() {
			return 0, corrupt("deltas end too early")
		}
	}
	return r.pos, nil
}

// decodeDeltas stores integers in DELTA_BINARY_PACKED, which end by deltaEnd, as PLAIN in dst, of size bytes each. Sums
// wrap around, as the format requires.
func decodeDeltas(dst, data []byte, size int) {
	r := thriftReader{b: data}
	block, minis := r.uvarint(), r.uvarint()
	r.uvarint() // the number of values
	per := int(block / minis)
	value := uint64(r.i64())
	putInt(dst, value, size)
	for dst = dst[size:]; len(dst) > 0; {
		least, widths := uint64(r.i64()), r.b[r.pos:]
		r.advance(minis)
		for i := 0; i < int(minis) && len(dst) > 0; i++ { // unused miniblocks may be absent
			width := int(widths[i])
			packed := r.b[r.pos:][:per*width/8]
			r.advance(uint64(len(packed)))
			for k := range min(per, len(dst)/size) {
				value += least + bitsAt(packed, k*width, width)
				putInt(dst[k*size:], value, size)
			}
			dst = dst[min(per*size, len(dst)):]
		}
	}
}

// deltaLengths decodes n lengths of 4 bytes each, and returns the bytes after them.
func deltaLengths(data []byte, n, limit int) (lengths, rest []byte, err error) {
	end, err := deltaEnd(data, n)
	switch {
	case int64(n)*4 > int64(limit):
		return nil, nil, fmt.Errorf("%w: page of %d values", ErrTooLarge, n)
	case err != nil:
		return nil, nil, err
	}
	lengths = make([]byte, 4*n)
	decodeDeltas(lengths, data[:end], 4)
	return lengths, data[end:], nil
}

// decodeStrings returns n byte arrays in DELTA_LENGTH_BYTE_ARRAY, or in DELTA_BYTE_ARRAY if they are prefixed, as
// PLAIN.
func (c *chunk) decodeStrings(data []byte, n int, prefixed bool) ([]byte, error) {
	var prefixes, suffixes []byte
	var err error
	if prefixed {
		if prefixes, data, err = deltaLengths(data, n, c.limit); err != nil {
			return nil, err
		}
	}
	if suffixes, data, err = deltaLengths(data, n, c.limit); err != nil {
		return nil, err
	}
	out := c.other[:0]
	start, length := 0, 0 // of the previous value
	for i := range n {
		prefix, suffix := 0, int(int32(binary.LittleEndian.Uint32(suffixes[4*i:])))
		if prefixed {
			prefix = int(int32(binary.LittleEndian.Uint32(prefixes[4*i:])))
		}
		if prefix < 0 || prefix > length || suffix < 0 || suffix > len(data) {
			return nil, corrupt("string of a prefix of %d bytes (the previous string has %d) and a suffix of %d (the page has %d)", prefix, length, suffix, len(data))
		}
		if len(out)+4+prefix+suffix > c.limit {
			return nil, fmt.Errorf("%w: page of more than %d bytes", ErrTooLarge, c.limit)
		}
		if c.leaf.physical == parquet.Types.ByteArray {
			out = binary.LittleEndian.AppendUint32(out, uint32(prefix+suffix))
		} else if prefix+suffix != c.leaf.stored {
			return nil, corrupt("value of %d bytes instead of %d", prefix+suffix, c.leaf.stored)
		}
		at := len(out)
		out = append(out, out[start:start+prefix]...)
		out = append(out, data[:suffix]...)
		data = data[suffix:]
		start, length = at, prefix+suffix
	}
	c.other = out
	return out, nil
}

// putInt stores the lower 4 or 8 bytes of an integer.
func putInt(dst []byte, v uint64, size int) {
	if size == 4 {
		binary.LittleEndian.PutUint32(dst, uint32(v))
	} else {
		binary.LittleEndian.PutUint64(dst, v)
	}
}

// bitsAt returns an integer of up to 64 bits that begins at a bit of b, counted from the lowest of each byte.
func bitsAt(b []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	var end [9]byte // of b, with zeros after it
	bytes := b[at>>3:]
	if len(bytes) < len(end) {
		copy(end[:], bytes)
		bytes = end[:]
	}
	shift := at & 7
	v := binary.LittleEndian.Uint64(bytes)>>shift | uint64(bytes[8])<<(64-shift)
	return v & (1<<width - 1)
}
