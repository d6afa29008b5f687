// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/vecql/vecql/internal/bitpack"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Decoding the values of a page (parquet-format, Encodings.md). PLAIN, RLE_DICTIONARY and runs of booleans, the
// encodings of nearly all pages, are decoded here; decodeOther decodes other encodings to PLAIN first.

// gatherBlock is the number of codes that are decoded before their values are looked up: few enough for the L1 cache.
const gatherBlock = 2048

// appendValues appends n values, none of them NULL, without changing Len.
func (c *chunk) appendValues(dst *builder, n int) error {
	if n == 0 {
		return nil
	}
	if int64(len(dst.Values))+int64(n)*int64(c.leaf.Width) > int64(c.limit) {
		return fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, c.limit)
	}
	text := dst.Type.Kind.IsText()
	switch {
	case c.coded && text:
		if dst.Dict != nil {
			return c.appendCodes(dst, n)
		}
		return c.appendEntries(dst, n)
	case c.coded:
		return c.gather(dst, n)
	case dst.Dict != nil:
		return failure.Corrupt("page without codes between pages with codes")
	case c.bools:
		return c.appendRuns(dst, n)
	case text:
		return c.appendText(dst, n)
	case c.leaf.Physical == parquet.Types.Boolean:
		return c.appendBools(dst, n)
	case c.leaf.Physical == parquet.Types.ByteArray:
		return c.appendVariable(dst, n)
	default:
		return c.appendFixed(dst, n)
	}
}

// take returns the next n bytes of the page.
func (c *chunk) take(n int) ([]byte, error) {
	if n > len(c.data) {
		return nil, failure.Corrupt("page ends %d bytes too early", n-len(c.data))
	}
	b := c.data[:n:n]
	c.data = c.data[n:]
	return b, nil
}

// appendFixed appends plain values of fixed width.
func (c *chunk) appendFixed(dst *builder, n int) error {
	if n > len(c.data)/max(1, c.leaf.Stored) {
		return failure.Corrupt("page ends %d bytes too early", n*c.leaf.Stored-len(c.data))
	}
	src, err := c.take(n * c.leaf.Stored)
	if err != nil {
		return err
	}
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n*c.leaf.Width)
	if c.convert == nil {
		copy(dst.Values[at:], src)
		return nil
	}
	return c.convert(dst.Values[at:], src, n)
}

// appendVariable appends values that are stored as byte arrays and read as numbers: decimals.
func (c *chunk) appendVariable(dst *builder, n int) error {
	at, w := len(dst.Values), c.leaf.Width
	dst.Values = buffer.GrowBytes(dst.Values, at+n*w)
	for i := range n {
		b, err := c.byteArray()
		if err != nil {
			return err
		}
		if err := decimal(dst.Values[at+i*w:at+(i+1)*w], b); err != nil {
			return failure.AtRow(i, err)
		}
	}
	return nil
}

// byteArray returns the next plain byte array.
func (c *chunk) byteArray() ([]byte, error) {
	head, err := c.take(4)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head)
	if uint64(n) > uint64(len(c.data)) {
		return nil, failure.Corrupt("string of %d bytes, but the page has %d left", n, len(c.data))
	}
	return c.take(int(n))
}

// appendBools appends plain booleans of one bit each.
func (c *chunk) appendBools(dst *builder, n int) error {
	if c.bit+n > len(c.data)*8 {
		return failure.Corrupt("page ends %d booleans too early", c.bit+n-len(c.data)*8)
	}
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n)
	for i := range n {
		dst.Values[at+i] = c.data[c.bit>>3] >> (c.bit & 7) & 1
		c.bit++
	}
	return nil
}

// appendRuns appends booleans in runs.
func (c *chunk) appendRuns(dst *builder, n int) error {
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n)
	for n > 0 {
		c.scratch = buffer.Grow(c.scratch[:0], min(n, gatherBlock))
		if err := c.codes.decode(c.scratch); err != nil {
			return err
		}
		for i, v := range c.scratch {
			dst.Values[at+i] = byte(v)
		}
		at += len(c.scratch)
		n -= len(c.scratch)
	}
	return nil
}

// appendCodes appends codes.
func (c *chunk) appendCodes(dst *builder, n int) error {
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+4*n)
	codes := buffer.SliceOf[uint32](dst.Values[at:], n)
	if err := c.codes.decode(codes); err != nil {
		return err
	}
	return c.checkCodes(codes)
}

// checkCodes returns an error if a code is outside the dictionary.
func (c *chunk) checkCodes(codes []uint32) error {
	greatest := uint32(0)
	for _, v := range codes {
		greatest = max(greatest, v)
	}
	if int64(greatest) >= int64(c.dictLen) {
		return badCode(greatest, c.dictLen)
	}
	return nil
}

// nextCodes decodes up to n codes to scratch, unchecked.
func (c *chunk) nextCodes(n int) ([]uint32, error) {
	c.scratch = buffer.Grow(c.scratch[:0], min(n, gatherBlock))
	return c.scratch, c.codes.decode(c.scratch)
}

// gather appends the dictionary's values for n codes.
func (c *chunk) gather(dst *builder, n int) error {
	w := c.leaf.Width
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n*w)
	out := dst.Values[at:]
	switch w {
	case 1:
		return lookUpValues[uint8](c, out, n)
	case 2:
		return lookUpValues[uint16](c, out, n)
	case 4:
		return lookUpValues[uint32](c, out, n)
	case 8:
		return lookUpValues[uint64](c, out, n)
	case 16:
		return lookUpValues[[16]byte](c, out, n)
	}
	for n > 0 {
		codes, err := c.nextCodes(n)
		if err != nil {
			return err
		}
		if err := c.checkCodes(codes); err != nil {
			return err
		}
		for i, code := range codes {
			copy(out[i*w:(i+1)*w], c.dictValues[int(code)*w:])
		}
		out = out[len(codes)*w:]
		n -= len(codes)
	}
	return nil
}

func lookUpValues[T any](c *chunk, out []byte, n int) error {
	return lookUp(&c.codes, buffer.SliceOf[T](out, n), buffer.SliceOf[T](c.dictValues, c.dictLen), &c.scratch)
}

// lookUp sets dst to the values of the next codes: of a run of equal codes at once, of others a block at a time. A code
// beyond the values is an error.
func lookUp[T any](h *hybrid, dst, values []T, scratch *[]uint32) error {
	for len(dst) > 0 {
		if h.left == 0 {
			if err := h.run(); err != nil {
				return err
			}
		}
		n := min(h.left, len(dst))
		if h.packed {
			n = min(n, gatherBlock)
			*scratch = buffer.Grow((*scratch)[:0], n)
			codes := *scratch
			bitpack.Unpack(codes, h.group(), h.bit, h.width)
			if !gather(dst[:n], values, codes) {
				return badCode(slices.Max(codes), len(values))
			}
			h.bit += n * int(h.width)
		} else {
			if int64(h.value) >= int64(len(values)) {
				return badCode(h.value, len(values))
			}
			fill(dst[:n], values[h.value])
		}
		h.left -= n
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

// appendEntries appends the dictionary's strings for n codes.
func (c *chunk) appendEntries(dst *builder, n int) error {
	data, offsets := c.dict.Buffers()
	for n > 0 {
		codes, err := c.nextCodes(n)
		if err != nil {
			return err
		}
		if err := c.checkCodes(codes); err != nil {
			return err
		}
		if err := c.appendStrings(dst, data, offsets, codes); err != nil {
			return err
		}
		n -= len(codes)
	}
	return nil
}

// appendStrings appends strings of a dictionary.
func (c *chunk) appendStrings(dst *builder, data []byte, from []int32, codes []uint32) error {
	total := int64(len(dst.Values))
	at := len(dst.Offsets)
	dst.Offsets = buffer.Grow(dst.Offsets, at+len(codes))
	for i, code := range codes {
		total += int64(from[code+1] - from[code])
		if total > int64(c.limit) {
			return tooLong(c.limit)
		}
		dst.Offsets[at+i] = int32(total)
	}
	pos := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, int(total))
	room := dst.Values[:len(dst.Values)+buffer.Slack]
	for _, code := range codes {
		start, end := int(from[code]), int(from[code+1])
		n := end - start
		if n <= 16 && start+16 <= len(data) {
			copy16(room[pos:], data[start:])
		} else {
			copy(room[pos:], data[start:end])
		}
		pos += n
	}
	return nil
}

// copy16 copies 16 bytes, which is cheaper than a copy of the exact length.
func copy16(dst, src []byte) {
	*(*[16]byte)(dst) = *(*[16]byte)(src)
}

func tooLong(limit int) error {
	return fmt.Errorf("%w: strings of more than %d bytes in a batch", failure.ErrTooLarge, limit)
}

// appendText appends plain strings.
func (c *chunk) appendText(dst *builder, n int) error {
	t, err := c.findTexts(n)
	if err != nil {
		return err
	}
	to := len(dst.Values)
	total := int64(to) + int64(t.at[n]) - 4*int64(n)
	if total > int64(c.limit) {
		return tooLong(c.limit)
	}
	at := len(dst.Offsets)
	dst.Offsets = buffer.Grow(dst.Offsets, at+n)
	dst.Values = buffer.GrowBytes(dst.Values, int(total))
	offsets, room := dst.Offsets[at:at+n], dst.Values[:int(total)+buffer.Slack]
	for i := range offsets {
		to += t.copyText(room[to:], i)
		offsets[i] = int32(to)
	}
	c.data = t.data[t.at[n]:]
	return nil
}

// integers are the physical types of DELTA_BINARY_PACKED.
var integers = []parquet.Type{parquet.Types.Int32, parquet.Types.Int64}

// decodeOther decodes n values of any other encoding, from a page without levels, and returns them as PLAIN; arrow-go
// decodes RLE. The result is valid until the next call.
func (c *chunk) decodeOther(encoding int32, data []byte, n int) (plain []byte, err error) {
	if n == 0 {
		return nil, nil
	}
	if encoding == page.ByteStreamSplit {
		if c.leaf.Stored == 0 || c.leaf.Physical == parquet.Types.Boolean || len(data) != n*c.leaf.Stored {
			return nil, failure.Corrupt("%d values of %v in %d bytes split into streams", n, c.leaf.Physical, len(data))
		}
		c.other = buffer.GrowBytes(c.other[:0], len(data))
		joinStreams(c.other, data, c.leaf.Stored)
		return c.other, nil
	}
	least := 4 // bytes of a value in PLAIN
	if c.leaf.Physical != parquet.Types.ByteArray {
		least = c.leaf.Stored
	}
	if int64(n)*int64(least) > int64(c.limit) {
		return nil, fmt.Errorf("%w: page of %d values", failure.ErrTooLarge, n)
	}
	text := c.leaf.Physical == parquet.Types.ByteArray || c.leaf.Physical == parquet.Types.FixedLenByteArray
	switch {
	case text && encoding == page.DeltaLength:
		return c.decodeStrings(data, n, false)
	case text && encoding == page.DeltaBytes:
		return c.decodeStrings(data, n, true)
	case encoding == page.DeltaPacked && slices.Contains(integers, c.leaf.Physical):
		if _, err := deltaEnd(data, n); err != nil {
			return nil, err
		}
		c.other = buffer.GrowBytes(c.other[:0], n*c.leaf.Stored)
		if c.leaf.Stored == 4 {
			decodeDeltas(buffer.SliceOf[uint32](c.other, n), data)
		} else {
			decodeDeltas(buffer.SliceOf[uint64](c.other, n), data)
		}
		return c.other, nil
	}
	column := schema.NewColumn(c.leaf.Desc.SchemaNode().(*schema.PrimitiveNode), 0, 0)
	c.other, err = readPage(c.other[:0], column, encoding, data, n, c.limit)
	return c.other, err
}

// joinStreams decodes BYTE_STREAM_SPLIT: src has the first bytes of all values, then the second bytes, and so on; dst
// gets values of w bytes.
func joinStreams(dst, src []byte, w int) {
	n := len(src) / w
	for k := range w {
		stream := src[k*n : (k+1)*n]
		for i, b := range stream {
			dst[i*w+k] = b
		}
	}
}
