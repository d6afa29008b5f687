// SPDX-License-Identifier: Apache-2.0

// Package decode decodes the values of pages, and appends them to columns.
package decode

import (
	"encoding/binary"
	"fmt"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// The decoder of values (parquet-format, Encodings.md). It decodes PLAIN, RLE_DICTIONARY and runs of booleans, the
// encodings of nearly all pages; decodeOther decodes other encodings to PLAIN first.

// A Decoder decodes the values of the current page of a column chunk, and keeps its dictionary.
type Decoder struct {
	leaf    *footer.Leaf
	limit   int        // bytes of a page, or of a Column
	convert conversion // of the leaf; nil means none

	Dict       *column.Dictionary // of strings
	DictValues []byte             // of all other types: leaf.Width bytes each
	DictLen    int                // -1 if there is none
	Serial     int                // of the dictionary: it differs for each that the chunk has had

	Coded bool // values are codes
	Codes Hybrid
	bools bool // values are runs of booleans
	Data  []byte
	bit   int // of plain booleans

	found   []int32 // positions of the next texts in data, whose length was foundIn; -1 means none
	foundIn int

	Scratch []uint32
	other   []byte // values of other encodings, as PLAIN
}

// Open resets the decoder to a column chunk of a leaf.
func (c *Decoder) Open(leaf *footer.Leaf, limit int) {
	c.leaf, c.limit, c.convert = leaf, limit, conversionOf(leaf)
	c.Dict, c.DictValues, c.DictLen = nil, c.DictValues[:0], -1
}

// CountsValues reports whether start needs the number of values of a page, which is not the number of its levels.
func (c *Decoder) CountsValues(h *page.Header) bool {
	return c.leaf.MaxDef > 0 && !h.DictionaryCoded() && h.Encoding != format.Plain &&
		!(h.Encoding == format.RLE && c.leaf.Type.Kind == column.Bool)
}

// Start begins to decode the values of a page: n, if CountsValues.
func (c *Decoder) Start(h *page.Header, data []byte, n int) (err error) {
	c.Data, c.bit, c.Coded, c.bools, c.foundIn = data, 0, false, false, -1
	switch {
	case h.DictionaryCoded():
		if c.DictLen < 0 {
			return failure.Corrupt("codes without a dictionary")
		}
		if len(data) == 0 {
			return c.startCodes(nil, 1) // all values are NULL; reading a code is an error
		}
		return c.startCodes(data[1:], uint(data[0]))
	case h.Encoding == format.Plain:
	case h.Encoding == format.RLE && c.leaf.Type.Kind == column.Bool:
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return failure.Corrupt("page of booleans without its length")
		}
		c.bools = true
		return c.Codes.Start(data[4:4+binary.LittleEndian.Uint32(data)], 1)
	default:
		c.Data, err = c.decodeOther(h.Encoding, data, n)
	}
	return err
}

func (c *Decoder) startCodes(data []byte, width uint) error {
	c.Coded = true
	return c.Codes.Start(data, width)
}

// take returns the next n bytes of the page.
func (c *Decoder) take(n int) ([]byte, error) {
	if n > len(c.Data) {
		return nil, failure.Corrupt("page ends %d bytes too early", n-len(c.Data))
	}
	b := c.Data[:n:n]
	c.Data = c.Data[n:]
	return b, nil
}

// decodeOther decodes n values of any other encoding, from a page without levels, and returns them as PLAIN. The result
// is valid until the next call.
func (c *Decoder) decodeOther(encoding format.Encoding, data []byte, n int) (plain []byte, err error) {
	if n == 0 {
		return nil, nil
	}
	if encoding == format.ByteStreamSplit {
		if c.leaf.Stored == 0 || c.leaf.Physical == format.Boolean || len(data) != n*c.leaf.Stored {
			return nil, failure.Corrupt("%d values of %v in %d bytes split into streams", n, c.leaf.Physical, len(data))
		}
		c.other = buffer.GrowBytes(c.other[:0], len(data))
		joinStreams(c.other, data, c.leaf.Stored)
		return c.other, nil
	}
	least := 4 // bytes of a value in PLAIN
	if c.leaf.Physical != format.ByteArray {
		least = c.leaf.Stored
	}
	if int64(n)*int64(least) > int64(c.limit) {
		return nil, fmt.Errorf("%w: page of %d values", failure.ErrTooLarge, n)
	}
	text := c.leaf.Physical == format.ByteArray || c.leaf.Physical == format.FixedLenByteArray
	switch {
	case text && encoding == format.DeltaLength:
		return c.decodeStrings(data, n, false)
	case text && encoding == format.DeltaBytes:
		return c.decodeStrings(data, n, true)
	case encoding == format.DeltaPacked && (c.leaf.Physical == format.Int32 || c.leaf.Physical == format.Int64):
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
	return nil, failure.Corrupt("values of %v have the encoding %v", c.leaf.Physical, encoding)
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
