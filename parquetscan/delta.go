// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// Bounds for the delta encodings, in which a few bytes can expand to many (parquet-format, Encodings.md, "Delta
// Encoding" and the two sections after it). arrow-go decodes integers, and trusts the length of a block. Strings are
// decoded here, because each may repeat all bytes of the previous one.

// maxDeltaBlock bounds the values of a block of deltas. Writers use 128 to 2048.
const maxDeltaBlock = 1 << 16

// deltaEnd returns the length of delta-packed integers, from the headers of their blocks.
func deltaEnd(data []byte) (int, error) {
	r := thriftReader{b: data}
	block, minis, total := r.uvarint(), r.uvarint(), r.uvarint()
	r.uvarint() // the first value
	if block > maxDeltaBlock {
		return 0, fmt.Errorf("%w: delta blocks of %d values", ErrUnsupported, block)
	}
	if r.failed() || minis == 0 || block == 0 || block%minis != 0 || block/minis%32 != 0 || total > 1<<32 {
		return 0, corrupt("%d delta-packed values in blocks of %d of %d", total, block, minis)
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

// lengthColumn is the column as which lengths of strings are decoded.
var lengthColumn = schema.NewColumn(schema.NewInt32Node("length", parquet.Repetitions.Required, -1), 0, 0)

// deltaLengths decodes n lengths of 4 bytes each, and returns the bytes after them.
func deltaLengths(data []byte, n, limit int) (lengths, rest []byte, err error) {
	end, err := deltaEnd(data)
	if err != nil {
		return nil, nil, err
	}
	lengths, err = readPage(nil, lengthColumn, encodingDeltaPacked, data[:end], n, limit)
	return lengths, data[end:], err
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
