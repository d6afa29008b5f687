// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"errors"
	"io"
	"sync/atomic"

	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/failure"
	"github.com/vecql/vecql/parquetscan/internal/footer"
	"github.com/vecql/vecql/parquetscan/internal/page"
)

// Reading a column chunk page by page into a column: the current page, its levels, its dictionary. decode.go turns
// bytes into values, and vectors.go and nested.go read repeated columns.

// A chunk is the unread rest of a column chunk. It belongs to one Reader.
type chunk struct {
	leaf   *footer.Leaf
	pages  page.Pages
	rows   int64         // not yet read, by the row group's metadata
	limit  int           // bytes of a page, or of a Column
	text   bool          // strings are read as text even if they are coded
	dim    *atomic.Int64 // of vectors: columnState.dim
	values decode.Decoder

	// The levels of the current page: left of n levels (of values, for columns without levels).
	left     int
	rep, def decode.Hybrid

	repBuf []uint32
	defBuf []uint32
}

// open resets the chunk to another row group.
func (c *chunk) open(pages page.Pages, rows int64) {
	c.pages, c.rows, c.left = pages, rows, 0
	c.values.Open(c.leaf, c.limit)
}

// load makes the next data page current. It returns io.EOF after the last one.
func (c *chunk) load() error {
	for {
		p, err := c.pages.Next()
		if err != nil {
			return err
		}
		if p.Type == page.Dictionary {
			if err := c.values.LoadDictionary(p); err != nil {
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
		if err = c.rep.Start(rep, decode.LevelWidth(c.leaf.MaxRep)); err == nil {
			err = c.def.Start(def, decode.LevelWidth(c.leaf.MaxDef))
		}
	} else {
		if data, err = c.rep.StartV1(data, p.RepEncoding, c.leaf.MaxRep, n); err == nil {
			data, err = c.def.StartV1(data, p.DefEncoding, c.leaf.MaxDef, n)
		}
	}
	if err != nil {
		return err
	}
	c.left = n
	if c.values.CountsValues(&p.Header) {
		if n, err = c.countPresent(n); err != nil {
			return err
		}
	}
	return c.values.Start(&p.Header, data, n)
}

// countPresent returns how many of the next n definition levels are the maximum, without consuming them.
func (c *chunk) countPresent(n int) (int, error) {
	h, present := c.def, 0
	c.defBuf = buffer.Grow(c.defBuf[:0], min(n, levelBlock))
	for n > 0 {
		part := c.defBuf[:min(n, len(c.defBuf))]
		if err := h.Decode(part); err != nil {
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
	case (next.Type == page.Data || next.Type == page.DataV2) && next.DictionaryCoded() == c.values.Coded:
		return c.left + min(n-c.left, int(next.NumValues)), nil
	default:
		return c.left, nil
	}
}

// mostText returns how many of n rows surely fit into the text of a Column. Entries of a dictionary may repeat: the
// batch must stay within its limit even if all its rows are the longest entry.
func (c *chunk) mostText(n int) int {
	if c.values.Dict != nil && int64(c.values.Dict.Longest())*int64(n) > int64(c.limit) {
		return max(1, c.limit/c.values.Dict.Longest())
	}
	return n
}

// readFlat appends n rows of a column that is not repeated. dst has the leaf's type.
func (c *chunk) readFlat(dst *buffer.Column, n int) error {
	if int64(n) > c.rows {
		return failure.Corrupt("%d rows beyond the row group's end", n)
	}
	for n > 0 {
		if c.left == 0 {
			if err := c.must(); err != nil {
				return err
			}
		}
		if dst.Len == 0 && c.values.Coded && !c.text && c.leaf.Type.Kind.IsText() {
			dst.Dict = c.values.Dict // ready guarantees that all rows are codes
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
func (c *chunk) present(dst *buffer.Column, n int) error {
	if err := c.values.Append(dst, n); err != nil {
		return failure.Moved(err, func(value int) int { return dst.Len + value })
	}
	dst.Len += n
	if dst.Nulls > 0 {
		dst.GrowValidity()
	}
	return nil
}

// optional appends n values or NULLs according to definition levels of one bit, run by run.
func (c *chunk) optional(dst *buffer.Column, n int) error {
	for n > 0 {
		if err := c.def.Run(); err != nil {
			return err
		}
		k := min(n, c.def.Left)
		var err error
		switch {
		case c.def.Packed:
			err = c.spaced(dst, k, c.def.Group(), c.def.Bit)
		case c.def.Value == 1:
			err = c.present(dst, k)
		default:
			dst.AppendNulls(k)
		}
		if err != nil {
			return err
		}
		c.def.Left -= k
		c.def.Bit += k
		n -= k
	}
	return nil
}

// levels appends n values or NULLs according to wider definition levels.
func (c *chunk) levels(dst *buffer.Column, n int) error {
	for n > 0 {
		c.defBuf = buffer.Grow(c.defBuf[:0], min(n, levelBlock))
		if err := c.def.Decode(c.defBuf); err != nil {
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
func (c *chunk) spaced(dst *buffer.Column, n int, valid []byte, bit int) error {
	ones := bitmap.Count(valid, bit, n)
	switch ones {
	case n:
		return c.present(dst, n)
	case 0:
		dst.AppendNulls(n)
		return nil
	}
	if err := c.values.Append(dst, ones); err != nil {
		return failure.Moved(err, func(value int) int {
			i := 0
			for ; value > 0 || valid[(bit+i)>>3]>>((bit+i)&7)&1 == 0; i++ {
				value -= int(valid[(bit+i)>>3] >> ((bit + i) & 7) & 1)
			}
			return dst.Len + i
		})
	}
	dst.Spread(n, ones, valid, bit)
	return nil
}
