// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"encoding/binary"
	"math"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Column chunks: values are collected until a page is full. Compressed pages stay in memory until the row group ends.

// Options are the options of all column chunks of a file.
type Options struct {
	Codec     format.Codec
	PageBytes int // of values as PLAIN, at which a page ends
	V2        bool
	PageIndex bool
}

// A Column describes a leaf of a schema.
type Column struct {
	Path           []string
	Type           format.PhysicalType
	Width          int // bytes of a value in memory, 0 for ByteArray
	Order          Order
	MaxDef, MaxRep int16
	Dictionary     bool // dictionary codes as long as the dictionary is small
	Bloom          bool
}

// mostDictionary is the size of a dictionary at which its column chunk continues without codes.
const mostDictionary = 1 << 20

// A Chunk encodes column chunks, one after the other.
type Chunk struct {
	Def, Rep Hybrid // the levels of the page
	column   *Column
	options  *Options
	mostPage int // bytes of a page, which headers have as an i32

	// The page.
	values  []byte // as PLAIN, behind room bytes for levels
	room    int
	bits    int // values of Boolean
	dict    *dictionary
	codes   []uint32 // the values, while the chunk has codes
	raw     int      // bytes of codes as PLAIN
	coded   bool     // the chunk has codes
	bounds  bounds
	entries int // levels
	count   int // values
	rows    int

	seen   []uint32 // by dictionary entry: the page that has it, for bounds
	page   uint32   // the number of the page, from 1 on
	remap  []uint32 // by code of a batch's dictionary: the entry plus 1
	scraps *scraps

	written written
	bloom   *bloomFilter
}

// scraps is memory that the pages of all columns reuse.
type scraps struct {
	levels, compressed, header []byte
	texts                      [][]byte
	hybrid                     Hybrid
}

// NewChunks returns a Chunk for each column. They share memory: one goroutine uses them at a time.
func NewChunks(columns []*Column, o *Options) []*Chunk {
	shared := &scraps{}
	out := make([]*Chunk, len(columns))
	for i, c := range columns {
		out[i] = newChunk(c, o, shared)
	}
	return out
}

func newChunk(c *Column, o *Options, shared *scraps) *Chunk {
	out := &Chunk{column: c, options: o, mostPage: math.MaxInt32, scraps: shared}
	if c.MaxDef > 0 {
		out.room = 256
	}
	if c.Dictionary && c.Type != format.Boolean {
		out.dict = &dictionary{width: c.Width}
	}
	if c.Bloom {
		out.bloom = &bloomFilter{words: make([]uint32, mostFilter/4)}
	}
	out.begin()
	return out
}

// begin begins a column chunk.
func (c *Chunk) begin() {
	c.coded, c.page = c.dict != nil, 0
	if c.coded {
		c.dict.reset()
		clear(c.seen)
	}
	c.written = written{}
	c.beginPage()
}

func (c *Chunk) beginPage() {
	c.Def.reset(levelWidth(c.column.MaxDef))
	c.Rep.reset(levelWidth(c.column.MaxRep))
	c.values = buffer.Grow(c.values[:0], c.room)
	c.codes, c.raw, c.bits = c.codes[:0], 0, 0
	c.bounds.known, c.entries, c.count, c.rows = false, 0, 0, 0
	c.page++
}

// PutFixed appends values of a fixed width, as PLAIN.
func (c *Chunk) PutFixed(values []byte) {
	width := c.column.Width
	c.bounds.add(c.column.Order, values, width)
	c.count += len(values) / width
	if c.coded {
		c.codes = c.dict.appendFixed(c.codes, values)
		c.raw += len(values)
		return
	}
	c.values = append(c.values, values...)
	if c.bloom != nil {
		for ; len(values) > 0; values = values[width:] {
			c.bloom.insert(values[:width])
		}
	}
}

// PutBools appends values of Boolean, a byte each, which is 0 or 1.
func (c *Chunk) PutBools(values []byte) {
	c.bounds.add(c.column.Order, values, 1)
	c.count += len(values)
	for len(values) > 0 {
		switch {
		case c.bits&7 > 0:
			c.values[len(c.values)-1] |= values[0] << (c.bits & 7)
			values, c.bits = values[1:], c.bits+1
		case len(values) < 8:
			c.values = append(c.values, values[0])
			values, c.bits = values[1:], c.bits+1
		default:
			// Byte i has bit i of the result, which the product has from bit 56 on.
			const gatherBits = 0x0102040810204080
			c.values = append(c.values, byte(binary.LittleEndian.Uint64(values)*gatherBits>>56))
			values, c.bits = values[8:], c.bits+8
		}
	}
}

// PutTexts appends values that differ in length.
func (c *Chunk) PutTexts(values [][]byte) {
	c.count += len(values)
	if c.coded {
		for _, v := range values {
			c.putCode(c.dict.text(v), v)
		}
		return
	}
	size := 4 * len(values)
	for _, v := range values {
		size += len(v)
	}
	at := len(c.values)
	c.values = buffer.Grow(c.values, at+size)[:at]
	for _, v := range values {
		c.values = appendPlain(c.values, 0, v)
		if c.bloom != nil {
			c.bloom.insert(v)
		}
	}
	c.addTexts(values)
}

// addTexts adds texts to the bounds of the page.
func (c *Chunk) addTexts(values [][]byte) {
	if len(values) == 0 {
		return
	}
	lo, hi := values[0], values[0]
	for _, v := range values[1:] {
		switch {
		case string(v) < string(lo):
			lo = v
		case string(v) > string(hi):
			hi = v
		}
	}
	c.bounds.merge(c.column.Order, lo, hi)
}

// putCode appends a text by its entry in the dictionary.
func (c *Chunk) putCode(code uint32, v []byte) {
	c.codes = append(c.codes, code)
	c.raw += 4 + len(v)
	for int(code) >= len(c.seen) {
		c.seen = append(c.seen, 0)
	}
	if c.seen[code] != c.page {
		c.seen[code] = c.page
		c.bounds.merge(c.column.Order, v, v)
	}
}

// PutCodes appends texts that a column has as codes.
func (c *Chunk) PutCodes(codes []uint32, dict *column.Dictionary) {
	if c.coded && dict.Len() <= len(codes) {
		c.count += len(codes)
		c.remap = buffer.Grow(c.remap, dict.Len())
		clear(c.remap)
		for _, code := range codes {
			v := dict.Bytes(code)
			if c.remap[code] == 0 {
				c.remap[code] = c.dict.text(v) + 1
			}
			c.putCode(c.remap[code]-1, v)
		}
		return
	}
	texts := c.scraps.texts[:0]
	for _, code := range codes {
		texts = append(texts, dict.Bytes(code))
	}
	c.PutTexts(texts)
	clear(texts) // they are the caller's
	c.scraps.texts = texts
}

// End ends a piece of whole rows, whose levels and values were appended. It ends the page if the page is full.
func (c *Chunk) End(entries, rows int) error {
	c.entries += entries
	c.rows += rows
	size := len(c.values) - c.room
	if c.coded {
		size = c.raw
	}
	if size >= c.options.PageBytes {
		if err := c.flush(); err != nil {
			return err
		}
	}
	if c.coded && c.costsMore() {
		c.fallBack()
	}
	return nil
}

// costsMore reports whether the dictionary is too large, or, without compression, not smaller than the values of the
// first page are without it.
func (c *Chunk) costsMore() bool {
	size := c.dict.size()
	if size >= mostDictionary {
		return true
	}
	codes := 2 + (len(c.codes)+7)/8*int(c.dict.codeWidth()) + len(c.codes)/(groupValues*mostGroups)
	return c.options.Codec == format.Uncompressed && len(c.written.pages) == 0 && size+codes >= c.raw
}

// fallBack continues the column chunk without codes. The dictionary stays if a page has codes.
func (c *Chunk) fallBack() {
	for _, code := range c.codes {
		c.values = c.dict.appendEntry(c.values, int(code))
	}
	c.codes, c.raw, c.coded = c.codes[:0], 0, false
	c.insertEntries()
}

// insertEntries adds the entries of the dictionary to the Bloom filter.
func (c *Chunk) insertEntries() {
	if c.bloom == nil {
		return
	}
	var scratch []byte
	for i := range c.dict.keys {
		scratch = c.dict.appendEntry(scratch[:0], i)
		if c.column.Width == 0 {
			scratch = append(scratch[:0], scratch[4:]...)
		}
		c.bloom.insert(scratch)
	}
}
