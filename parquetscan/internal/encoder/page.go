// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Pages: levels, values, compression, headers (parquet.thrift, PageHeader).

// A written is what a column chunk has so far.
type written struct {
	body    blocks // data pages with their headers
	pages   []pageInfo
	bounds  bounds
	entries int64
	values  int64
	rows    int64
	raw     int64 // bytes of the pages without compression, headers included
	coded   int   // pages with codes
}

// A pageInfo is a page's entry in the page index.
type pageInfo struct {
	bounds   bounds
	entries  int
	values   int
	location format.PageLocation // from the start of the body
}

// levelWidth returns the bits of a level.
func levelWidth(most int16) uint { return uint(bits.Len(uint(most))) }

// flush ends the page.
func (c *Chunk) flush() error {
	encoding := format.Plain
	if c.coded {
		encoding = format.RLEDictionary
		c.appendCodes()
		c.written.coded++
	}
	rep, def := c.levels(c.column.MaxRep, &c.Rep), c.levels(c.column.MaxDef, &c.Def)
	// A page V1 is compressed as a whole, of a page V2 only the values.
	plain := c.values[c.room:]
	var levels []byte
	c.scraps.levels = append(append(c.scraps.levels[:0], rep...), def...)
	if c.options.V2 {
		levels = c.scraps.levels
	} else {
		plain = c.withLevels()
	}
	if err := c.checkSize("page", len(levels)+len(plain)); err != nil {
		return err
	}
	codec := c.options.Codec
	if len(plain) == 0 { // a page V2 of NULLs
		codec = format.Uncompressed
	}
	data, err := c.compress(codec, plain)
	if err != nil {
		return err
	}
	w := c.openHeader(format.DataPage, len(levels)+len(plain), len(levels)+len(data))
	if c.options.V2 {
		c.appendDetailV2(w, encoding, len(def), len(rep), codec != format.Uncompressed)
	} else {
		c.appendDetail(w, encoding)
	}
	w.Close()
	c.keep(w.B, levels, data, len(levels)+len(plain))
	c.beginPage()
	return nil
}

// appendCodes appends the codes to the values: their width, then the codes.
func (c *Chunk) appendCodes() {
	width := c.dict.codeWidth()
	c.scraps.hybrid.reset(width)
	appendHybrid(&c.scraps.hybrid, c.codes)
	c.values = append(append(c.values, byte(width)), c.scraps.hybrid.finish()...)
}

// levels returns the levels of the page; in pages V1 their length comes first.
func (c *Chunk) levels(most int16, h *Hybrid) []byte {
	if most == 0 {
		return nil
	}
	data := h.finish()
	if c.options.V2 {
		return data
	}
	return slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(data))), data)
}

// withLevels returns the levels and the values. The levels are copied to the room before the values, which grows to the
// levels of a page.
func (c *Chunk) withLevels() []byte {
	levels := c.scraps.levels
	if grow := len(levels) - c.room; grow > 0 {
		n := len(c.values)
		c.values = buffer.Grow(c.values, n+grow)
		copy(c.values[c.room+grow:], c.values[c.room:n])
		c.room += grow
	}
	from := c.room - len(levels)
	copy(c.values[from:], levels)
	return c.values[from:]
}

func (c *Chunk) compress(codec format.Codec, plain []byte) ([]byte, error) {
	data, err := compress(codec, c.scraps.compressed, plain)
	if err != nil {
		return nil, fmt.Errorf("compress a page with %v: %w", codec, err)
	}
	if codec != format.Uncompressed {
		c.scraps.compressed = data
	}
	return data, c.checkSize("compressed page", len(data))
}

// checkSize returns an error for a page whose header cannot have its size.
func (c *Chunk) checkSize(what string, size int) error {
	if size > c.mostPage {
		return fmt.Errorf("%s of %d bytes, of at most %d: a row is too large", what, size, c.mostPage)
	}
	return nil
}

// openHeader returns the start of a page header.
func (c *Chunk) openHeader(typ format.PageType, plain, compressed int) *thrift.Writer {
	if typ == format.DataPage && c.options.V2 {
		typ = format.DataPageV2
	}
	w := &thrift.Writer{B: c.scraps.header[:0]}
	w.Open(0)
	w.I32(1, int32(typ))
	w.I32(2, int32(plain))
	w.I32(3, int32(compressed))
	return w
}

// appendDetail appends the DataPageHeader.
func (c *Chunk) appendDetail(w *thrift.Writer, encoding format.Encoding) {
	w.Open(5)
	w.I32(1, int32(c.entries))
	w.I32(2, int32(encoding))
	w.I32(3, int32(format.RLE))
	w.I32(4, int32(format.RLE))
	c.appendBounds(w, 5)
	w.Close()
}

// appendDetailV2 appends the DataPageHeaderV2.
func (c *Chunk) appendDetailV2(w *thrift.Writer, encoding format.Encoding, def, rep int, compressed bool) {
	w.Open(8)
	w.I32(1, int32(c.entries))
	w.I32(2, int32(c.entries-c.count))
	w.I32(3, int32(c.rows))
	w.I32(4, int32(encoding))
	w.I32(5, int32(def))
	w.I32(6, int32(rep))
	w.Bool(7, compressed)
	c.appendBounds(w, 8)
	w.Close()
}

// appendBounds appends the statistics of the page, unless the page index has them.
func (c *Chunk) appendBounds(w *thrift.Writer, id int16) {
	if !c.options.PageIndex {
		c.bounds.append(w, id, c.column.Order, int64(c.entries-c.count))
	}
}

// keep appends the page to the column chunk.
func (c *Chunk) keep(header, levels, data []byte, plain int) {
	c.scraps.header = header
	out := &c.written
	info := pageInfo{entries: c.entries, values: c.count, location: format.PageLocation{
		Offset: out.body.size, Size: int32(len(header) + len(levels) + len(data)), FirstRow: out.rows,
	}}
	if c.bounds.known {
		out.bounds.merge(c.column.Order, c.bounds.min, c.bounds.max)
	}
	if c.options.PageIndex && c.bounds.isWhole() {
		info.bounds = bounds{min: slices.Clone(c.bounds.min), max: slices.Clone(c.bounds.max), known: true}
	}
	out.pages = append(out.pages, info)
	out.body.append(header)
	out.body.append(levels)
	out.body.append(data)
	out.raw += int64(len(header) + plain)
	out.entries += int64(c.entries)
	out.values += int64(c.count)
	out.rows += int64(c.rows)
}

// dictionaryPage returns the dictionary page with its header, and its size without compression.
func (c *Chunk) dictionaryPage() (page []byte, raw int, err error) {
	plain := c.dict.appendAll(nil)
	data, err := c.compress(c.options.Codec, plain)
	if err != nil {
		return nil, 0, err
	}
	w := c.openHeader(format.DictionaryPage, len(plain), len(data))
	w.Open(7)
	w.I32(1, int32(len(c.dict.keys)))
	w.I32(2, int32(format.Plain))
	w.Bool(3, false)
	w.Close()
	w.Close()
	return slices.Concat(w.B, data), len(w.B) + len(plain), nil
}

// blocks is a sequence of bytes in several slices, so that a long sequence grows without a copy.
type blocks struct {
	all  [][]byte
	size int64
}

// mostBlock is the size of blocks of long sequences.
const mostBlock = 1 << 20

func (b *blocks) append(data []byte) {
	for len(data) > 0 {
		last := len(b.all) - 1
		if last < 0 || len(b.all[last]) == cap(b.all[last]) {
			size := max(int64(len(data)), b.size)
			b.all = append(b.all, make([]byte, 0, min(max(size, 1<<9), mostBlock)))
			last++
		}
		block := b.all[last]
		n := min(len(data), cap(block)-len(block))
		b.all[last] = append(block, data[:n]...)
		data = data[n:]
		b.size += int64(n)
	}
}
