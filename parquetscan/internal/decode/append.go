// SPDX-License-Identifier: Apache-2.0

package decode

import (
	"encoding/binary"
	"fmt"

	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Values of a page, appended to a column.

// Append appends n values, none of them NULL, without changing Len.
func (c *Decoder) Append(dst *buffer.Column, n int) error {
	if n == 0 {
		return nil
	}
	if int64(len(dst.Values))+int64(n)*int64(c.leaf.Width) > int64(c.limit) {
		return fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, c.limit)
	}
	text := dst.Type.Kind.IsText()
	switch {
	case c.Coded && text:
		if dst.Dict != nil {
			return c.appendCodes(dst, n)
		}
		return c.appendEntries(dst, n)
	case c.Coded:
		return c.gather(dst, n)
	case dst.Dict != nil:
		return failure.Corrupt("page without codes between pages with codes")
	case c.bools:
		return c.appendRuns(dst, n)
	case text:
		return c.appendText(dst, n)
	case c.leaf.Physical == format.Boolean:
		return c.appendBools(dst, n)
	case c.leaf.Physical == format.ByteArray:
		return c.appendVariable(dst, n)
	default:
		return c.appendFixed(dst, n)
	}
}

// AppendOnes appends the values of the next n codes whose bits in sel, from bit at on, are 1, without changing Len, and
// returns their number.
func (c *Decoder) AppendOnes(dst *buffer.Column, sel []byte, at, n int) (ones int, err error) {
	ones = bitmap.Count(sel, at, n)
	if int64(len(dst.Values))+int64(ones)*int64(c.leaf.Width) > int64(c.limit) {
		return 0, fmt.Errorf("%w: more than %d bytes in a batch", failure.ErrTooLarge, c.limit)
	}
	var codes []uint32
	if dst.Dict != nil {
		from := len(dst.Values)
		dst.Values = buffer.GrowBytes(dst.Values, from+4*ones)
		codes = buffer.SliceOf[uint32](dst.Values[from:], ones)
	} else {
		c.Scratch = buffer.Grow(c.Scratch[:0], ones)
		codes = c.Scratch
	}
	if err := c.Codes.DecodeOnes(codes, sel, at, n); err != nil {
		return 0, err
	}
	if err := c.checkCodes(codes); err != nil || dst.Dict != nil {
		return ones, err
	}
	if dst.Type.Kind.IsText() {
		data, offsets := c.Dict.Buffers()
		return ones, c.appendStrings(dst, data, offsets, codes)
	}
	from := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, from+ones*c.leaf.Width)
	c.takeEntries(dst.Values[from:], codes)
	return ones, nil
}

// takeEntries sets dst to the entries of the dictionary of values of a fixed width.
func (c *Decoder) takeEntries(dst []byte, codes []uint32) {
	switch w := c.leaf.Width; w {
	case 1:
		takeEntries[uint8](c, dst, codes)
	case 2:
		takeEntries[uint16](c, dst, codes)
	case 4:
		takeEntries[uint32](c, dst, codes)
	case 8:
		takeEntries[uint64](c, dst, codes)
	default:
		for i, code := range codes {
			copy(dst[i*w:(i+1)*w], c.DictValues[int(code)*w:])
		}
	}
}

func takeEntries[T any](c *Decoder, dst []byte, codes []uint32) {
	gather(buffer.SliceOf[T](dst, len(codes)), buffer.SliceOf[T](c.DictValues, c.DictLen), codes)
}

// appendFixed appends plain values of fixed width.
func (c *Decoder) appendFixed(dst *buffer.Column, n int) error {
	if n > len(c.Data)/max(1, c.leaf.Stored) {
		return failure.Corrupt("page ends %d bytes too early", n*c.leaf.Stored-len(c.Data))
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
func (c *Decoder) appendVariable(dst *buffer.Column, n int) error {
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
func (c *Decoder) byteArray() ([]byte, error) {
	head, err := c.take(4)
	if err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(head)
	if uint64(n) > uint64(len(c.Data)) {
		return nil, failure.Corrupt("string of %d bytes, but the page has %d left", n, len(c.Data))
	}
	return c.take(int(n))
}

// appendBools appends plain booleans of one bit each.
func (c *Decoder) appendBools(dst *buffer.Column, n int) error {
	if c.bit+n > len(c.Data)*8 {
		return failure.Corrupt("page ends %d booleans too early", c.bit+n-len(c.Data)*8)
	}
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n)
	for i := range n {
		dst.Values[at+i] = c.Data[c.bit>>3] >> (c.bit & 7) & 1
		c.bit++
	}
	return nil
}

// appendRuns appends booleans in runs.
func (c *Decoder) appendRuns(dst *buffer.Column, n int) error {
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+n)
	for n > 0 {
		c.Scratch = buffer.Grow(c.Scratch[:0], min(n, gatherBlock))
		if err := c.Codes.Decode(c.Scratch); err != nil {
			return err
		}
		for i, v := range c.Scratch {
			dst.Values[at+i] = byte(v)
		}
		at += len(c.Scratch)
		n -= len(c.Scratch)
	}
	return nil
}

// appendCodes appends codes.
func (c *Decoder) appendCodes(dst *buffer.Column, n int) error {
	at := len(dst.Values)
	dst.Values = buffer.GrowBytes(dst.Values, at+4*n)
	codes := buffer.SliceOf[uint32](dst.Values[at:], n)
	if err := c.Codes.Decode(codes); err != nil {
		return err
	}
	return c.checkCodes(codes)
}

// checkCodes returns an error if a code is outside the dictionary.
func (c *Decoder) checkCodes(codes []uint32) error {
	greatest := uint32(0)
	for _, v := range codes {
		greatest = max(greatest, v)
	}
	if int64(greatest) >= int64(c.DictLen) {
		return badCode(greatest, c.DictLen)
	}
	return nil
}

// nextCodes decodes up to n codes to scratch, unchecked.
func (c *Decoder) nextCodes(n int) ([]uint32, error) {
	c.Scratch = buffer.Grow(c.Scratch[:0], min(n, gatherBlock))
	return c.Scratch, c.Codes.Decode(c.Scratch)
}

// gather appends the dictionary's values for n codes.
func (c *Decoder) gather(dst *buffer.Column, n int) error {
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
		c.takeEntries(out, codes)
		out = out[len(codes)*w:]
		n -= len(codes)
	}
	return nil
}

func lookUpValues[T any](c *Decoder, out []byte, n int) error {
	return LookUp(&c.Codes, buffer.SliceOf[T](out, n), buffer.SliceOf[T](c.DictValues, c.DictLen), &c.Scratch)
}

// appendEntries appends the dictionary's strings for n codes.
func (c *Decoder) appendEntries(dst *buffer.Column, n int) error {
	data, offsets := c.Dict.Buffers()
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
func (c *Decoder) appendStrings(dst *buffer.Column, data []byte, from []int32, codes []uint32) error {
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
			buffer.Copy16(room[pos:], data[start:])
		} else {
			copy(room[pos:], data[start:end])
		}
		pos += n
	}
	return nil
}

func tooLong(limit int) error {
	return fmt.Errorf("%w: strings of more than %d bytes in a batch", failure.ErrTooLarge, limit)
}

// appendText appends plain strings.
func (c *Decoder) appendText(dst *buffer.Column, n int) error {
	t, err := c.FindTexts(n)
	if err != nil {
		return err
	}
	to := len(dst.Values)
	total := int64(to) + int64(t.At[n]) - 4*int64(n)
	if total > int64(c.limit) {
		return tooLong(c.limit)
	}
	at := len(dst.Offsets)
	dst.Offsets = buffer.Grow(dst.Offsets, at+n)
	dst.Values = buffer.GrowBytes(dst.Values, int(total))
	offsets, room := dst.Offsets[at:at+n], dst.Values[:int(total)+buffer.Slack]
	for i := range offsets {
		to += t.CopyText(room[to:], i)
		offsets[i] = int32(to)
	}
	c.Data = t.Data[t.At[n]:]
	return nil
}
