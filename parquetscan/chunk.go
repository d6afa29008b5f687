// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Reading a column chunk page by page into a column: the current page, its levels, its dictionary. decode.go turns
// bytes into values, and vectors.go and nested.go read repeated columns.

// A chunk is the unread rest of a column chunk. It belongs to one Reader.
type chunk struct {
	leaf  *footer.Leaf
	pages page.Pages
	rows  int64         // not yet read, by the row group's metadata
	limit int           // bytes of a page, or of a Column
	text  bool          // strings are read as text even if they are coded
	dim   *atomic.Int64 // of vectors: columnState.dim

	convert conversion // of the leaf; nil means none

	dict       *column.Dictionary // of strings
	dictValues []byte             // of all other types: leaf.width bytes each
	dictLen    int
	serial     int // of the dictionary: it differs for each that the chunk has had

	// The current page: left of n levels (of values, for columns without levels), and the state of decoding its values.
	left     int
	rep, def hybrid
	coded    bool // values are codes
	codes    hybrid
	bools    bool // values are runs of booleans
	data     []byte
	bit      int // of plain booleans

	found   []int32 // positions of the next texts in data, whose length was foundIn; -1 means none
	foundIn int

	scratch []uint32
	other   []byte // values of other encodings, as PLAIN
	repBuf  []uint32
	defBuf  []uint32
}

// open resets the chunk to another row group.
func (c *chunk) open(pages page.Pages, rows int64) {
	c.pages, c.rows, c.convert = pages, rows, conversionOf(c.leaf)
	c.dict, c.dictValues, c.dictLen = nil, c.dictValues[:0], -1
	c.left = 0
}

// load makes the next data page current. It returns io.EOF after the last one.
func (c *chunk) load() error {
	for {
		p, err := c.pages.Next()
		if err != nil {
			return err
		}
		if p.Type == page.Dictionary {
			if err := c.loadDictionary(p); err != nil {
				return err
			}
			continue
		}
		if p.NumValues == 0 {
			continue
		}
		return c.startPage(p)
	}
}

// must is load, but an error if there is no further page.
func (c *chunk) must() error {
	err := c.load()
	if errors.Is(err, io.EOF) {
		return failure.Corrupt("column chunk ends %d rows too early", c.rows)
	}
	return err
}

// startPage parses the part of the page before the values.
func (c *chunk) startPage(p *page.Page) error {
	n := int(p.NumValues)
	data := p.Data
	var err error
	if p.Type == page.DataV2 {
		rep, def := data[:p.RepLength], data[p.RepLength:p.RepLength+p.DefLength]
		data = data[p.RepLength+p.DefLength:]
		if err = c.rep.start(rep, levelWidth(c.leaf.MaxRep)); err == nil {
			err = c.def.start(def, levelWidth(c.leaf.MaxDef))
		}
	} else {
		if data, err = c.rep.startV1(data, p.RepEncoding, c.leaf.MaxRep, n); err == nil {
			data, err = c.def.startV1(data, p.DefEncoding, c.leaf.MaxDef, n)
		}
	}
	if err != nil {
		return err
	}
	c.left, c.data, c.bit, c.coded, c.bools, c.foundIn = n, data, 0, false, false, -1
	switch {
	case p.DictionaryCoded():
		if c.dictLen < 0 {
			return failure.Corrupt("codes without a dictionary")
		}
		if len(data) == 0 {
			return c.startCodes(nil, 1) // all values are NULL; reading a code is an error
		}
		return c.startCodes(data[1:], uint(data[0]))
	case p.Encoding == page.Plain:
	case p.Encoding == page.RLE && c.leaf.Type.Kind == column.Bool:
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return failure.Corrupt("page of booleans without its length")
		}
		c.bools = true
		return c.codes.start(data[4:4+binary.LittleEndian.Uint32(data)], 1)
	default:
		present := n
		if c.leaf.MaxDef > 0 {
			if present, err = c.countPresent(n); err != nil {
				return err
			}
		}
		c.data, err = c.decodeOther(p.Encoding, data, present)
	}
	return err
}

func (c *chunk) startCodes(data []byte, width uint) error {
	c.coded = true
	return c.codes.start(data, width)
}

// levelWidth returns the number of bits of levels up to most.
func levelWidth(most int) uint { return uint(bits.Len(uint(most))) }

// startV1 begins to decode the levels of a data page V1, and returns the bytes after them.
func (h *hybrid) startV1(data []byte, encoding int32, most, n int) (rest []byte, err error) {
	width := levelWidth(most)
	if most == 0 {
		return data, h.start(nil, 0)
	}
	switch encoding {
	case page.RLE:
		if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
			return nil, failure.Corrupt("levels are longer than their page")
		}
		length := int(binary.LittleEndian.Uint32(data))
		return data[4+length:], h.start(data[4:4+length:4+length], width)
	case page.BitPacked:
		if err := h.startPacked(data, width, n); err != nil {
			return nil, err
		}
		return data[(n*int(width)+7)/8:], nil
	default:
		return nil, fmt.Errorf("%w: levels of encoding %d", failure.ErrUnsupported, encoding)
	}
}

// countPresent returns how many of the next n definition levels are the maximum, without consuming them.
func (c *chunk) countPresent(n int) (int, error) {
	h, present := c.def, 0
	c.defBuf = buffer.Grow(c.defBuf[:0], min(n, levelBlock))
	for n > 0 {
		part := c.defBuf[:min(n, len(c.defBuf))]
		if err := h.decode(part); err != nil {
			return 0, err
		}
		for _, d := range part {
			if int(d) == c.leaf.MaxDef {
				present++
			}
		}
		n -= len(part)
	}
	return present, nil
}

// ready returns how many of the next n rows can be read into one Column: strings come either as codes or as text.
func (c *chunk) ready(n int) (int, error) {
	if !c.leaf.Type.Kind.IsText() || c.leaf.MaxRep > 0 {
		return n, nil
	}
	if c.left == 0 {
		if err := c.must(); err != nil {
			return 0, err
		}
	}
	if c.text {
		return c.mostText(n), nil
	}
	if n <= c.left {
		return n, nil
	}
	next, err := c.pages.Peek()
	switch {
	case errors.Is(err, io.EOF):
		return c.left, nil
	case err != nil:
		return 0, err
	case (next.Type == page.Data || next.Type == page.DataV2) && next.DictionaryCoded() == c.coded:
		return c.left + min(n-c.left, int(next.NumValues)), nil
	default:
		return c.left, nil
	}
}

// mostText returns how many of n rows surely fit into the text of a Column. Entries of a dictionary may repeat: the
// batch must stay within its limit even if all its rows are the longest entry.
func (c *chunk) mostText(n int) int {
	if c.dict != nil && int64(c.dict.Longest())*int64(n) > int64(c.limit) {
		return max(1, c.limit/c.dict.Longest())
	}
	return n
}

// readFlat appends n rows of a column that is not repeated. dst has the leaf's type.
func (c *chunk) readFlat(dst *builder, n int) error {
	if int64(n) > c.rows {
		return failure.Corrupt("%d rows beyond the row group's end", n)
	}
	for n > 0 {
		if c.left == 0 {
			if err := c.must(); err != nil {
				return err
			}
		}
		if dst.Len == 0 && c.coded && !c.text && c.leaf.Type.Kind.IsText() {
			dst.Dict = c.dict // ready guarantees that all rows are codes
		}
		k := min(n, c.left)
		var err error
		switch c.leaf.MaxDef {
		case 0:
			err = c.present(dst, k)
		case 1:
			err = c.optional(dst, k)
		default:
			err = c.levels(dst, k)
		}
		if err != nil {
			return err
		}
		c.left -= k
		c.rows -= int64(k)
		n -= k
	}
	return nil
}

// present appends n values.
func (c *chunk) present(dst *builder, n int) error {
	if err := c.appendValues(dst, n); err != nil {
		return failure.Moved(err, func(value int) int { return dst.Len + value })
	}
	dst.Len += n
	if dst.Nulls > 0 {
		dst.growValidity()
	}
	return nil
}

// optional appends n values or NULLs according to definition levels of one bit, run by run.
func (c *chunk) optional(dst *builder, n int) error {
	for n > 0 {
		if err := c.def.run(); err != nil {
			return err
		}
		k := min(n, c.def.left)
		var err error
		switch {
		case c.def.packed:
			err = c.spaced(dst, k, c.def.group(), c.def.bit)
		case c.def.value == 1:
			err = c.present(dst, k)
		default:
			dst.appendNulls(k)
		}
		if err != nil {
			return err
		}
		c.def.left -= k
		c.def.bit += k
		n -= k
	}
	return nil
}

// levels appends n values or NULLs according to wider definition levels.
func (c *chunk) levels(dst *builder, n int) error {
	for n > 0 {
		c.defBuf = buffer.Grow(c.defBuf[:0], min(n, levelBlock))
		if err := c.def.decode(c.defBuf); err != nil {
			return err
		}
		var valid [levelBlock / 8]byte
		for i, d := range c.defBuf {
			if int(d) > c.leaf.MaxDef {
				return failure.Corrupt("definition level %d, want at most %d", d, c.leaf.MaxDef)
			}
			if int(d) == c.leaf.MaxDef {
				valid[i>>3] |= 1 << (i & 7)
			}
		}
		if err := c.spaced(dst, len(c.defBuf), valid[:], 0); err != nil {
			return err
		}
		n -= len(c.defBuf)
	}
	return nil
}

// spaced appends n values or NULLs; a value has a 1 in valid, from position bit on.
func (c *chunk) spaced(dst *builder, n int, valid []byte, bit int) error {
	ones := bitmap.Count(valid, bit, n)
	switch ones {
	case n:
		return c.present(dst, n)
	case 0:
		dst.appendNulls(n)
		return nil
	}
	if err := c.appendValues(dst, ones); err != nil {
		return failure.Moved(err, func(value int) int {
			i := 0
			for ; value > 0 || valid[(bit+i)>>3]>>((bit+i)&7)&1 == 0; i++ {
				value -= int(valid[(bit+i)>>3] >> ((bit + i) & 7) & 1)
			}
			return dst.Len + i
		})
	}
	dst.spread(n, ones, valid, bit)
	return nil
}

// loadDictionary reads a dictionary page, whose values are plain.
func (c *chunk) loadDictionary(p *page.Page) error {
	if c.dictLen >= 0 {
		return failure.Corrupt("second dictionary in a column chunk")
	}
	if p.Encoding != page.Plain && p.Encoding != page.PlainDictionary {
		return fmt.Errorf("%w: dictionary of encoding %d", failure.ErrUnsupported, p.Encoding)
	}
	n := int(p.NumValues)
	least := (int64(n) + 7) / 8 // bytes of n booleans
	if c.leaf.Physical == parquet.Types.ByteArray {
		least = int64(n) * 4
	}
	if least > int64(len(p.Data)) {
		return failure.Corrupt("dictionary of %d values in %d bytes", n, len(p.Data))
	}
	c.data, c.bit, c.coded, c.bools, c.foundIn = p.Data, 0, false, false, -1
	// Columns keep a dictionary of strings, so it has its own memory.
	dst := builder{Type: c.leaf.Type, Values: c.dictValues[:0]}
	if dst.Type.Kind.IsText() {
		dst.Values, dst.Offsets = nil, make([]int32, 1, n+1)
	}
	if err := c.appendValues(&dst, n); err != nil {
		var e *failure.RowError
		if errors.As(err, &e) { // an entry, not a row
			err = fmt.Errorf("value %d of the dictionary: %w", e.Row, e.Err)
		}
		return err
	}
	c.dictLen = n
	c.serial++
	if !dst.Type.Kind.IsText() {
		c.dictValues = dst.Values
		return nil
	}
	c.dict = column.NewDictionary(dst.Values, dst.Offsets)
	return nil
}
