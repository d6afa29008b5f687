// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"errors"
	"io"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/format"
)

// Rows of the current page of a flat column that are tested where they are: codes of a dictionary, or plain texts.

// A Kind is the kind of a View.
type Kind uint8

const (
	None  Kind = iota // the column must be read
	Codes             // codes of a dictionary that is not larger than the rest of the chunk
	Texts             // plain texts
)

// A View is rows of one page, none of them NULL. It is valid until the column is read or skipped.
type View struct {
	Kind   Kind
	cursor *Cursor
	chunk  *chunk
	n      int
	// The codes and the page after the rows.
	codes decode.Hybrid
	data  []byte
}

// A Dictionary identifies a dictionary of a Cursor.
type Dictionary struct {
	chunk  *chunk
	serial int
}

// view returns the next n rows from a row on, which it skips to.
func (c *Cursor) view(row int64, n int) (v View, err error) {
	k := c.chunks[0]
	if err := c.Skip(row); err != nil {
		return v, err
	}
	if k.left == 0 {
		if err := k.must(); err != nil {
			return v, err
		}
	}
	v = View{cursor: c, chunk: k, n: n, codes: k.values.Codes, data: k.values.Data}
	switch {
	case k.hasCodes(n):
		v.Kind = Codes
	case k.hasTexts(n):
		v.Kind = Texts
	}
	return v, nil
}

// Dictionary returns the dictionary of codes.
func (v *View) Dictionary() Dictionary { return Dictionary{v.chunk, v.chunk.values.Serial} }

// Entries returns the entries of the dictionary.
func (v *View) Entries() *column.Column {
	k := v.chunk
	entries := &column.Column{Type: k.leaf.Type, Len: k.values.DictLen, Values: k.values.DictValues}
	if k.leaf.Type.Kind.IsText() {
		entries.Values, entries.Offsets = k.values.Dict.Buffers()
	}
	return entries
}

// LookUp sets dst to the values of the rows, one for each entry of the dictionary.
func (v *View) LookUp(dst, values []byte) error {
	return decode.LookUp(&v.codes, dst, values, &v.chunk.values.Scratch)
}

// Between sets the bits of the rows whose codes are from lo to lo + span, and clears all other bits of sel.
func (v *View) Between(sel []byte, lo, span uint32) error {
	return v.codes.Between(sel, v.n, lo, span, v.chunk.values.DictLen)
}

// Keep clears the bits of sel, which has few, of the rows whose entry of the dictionary has no 1 in hits.
func (v *View) Keep(sel, hits []byte) error { return v.codes.Keep(sel, v.n, hits) }

// Column returns the plain texts. Between them are decode.TextGap bytes.
func (v *View) Column() (*column.Column, error) {
	t, err := v.chunk.values.FindTexts(v.n)
	if err != nil {
		return nil, err
	}
	v.data = v.chunk.values.Data[t.At[v.n]:]
	return &column.Column{Type: v.chunk.leaf.Type, Len: v.n, Values: t.Data, Offsets: t.At}, nil
}

// Pass skips the rows, which have been tested.
func (v *View) Pass() error {
	k := v.chunk
	err := k.def.Skip(v.n) // one run of levels, or none
	k.values.Codes, k.values.Data = v.codes, v.data
	k.left -= v.n
	k.rows -= int64(v.n)
	v.cursor.row += int64(v.n)
	return err
}

// Barren skips the rest of the page, and the pages after it that have codes of the dictionary, by their headers: no
// entry of the dictionary is selected. It returns the number of rows skipped. all means that every page of the chunk
// has codes.
func (v *View) Barren() (rows int64, all bool, err error) {
	k := v.chunk
	rows = int64(k.left)
	for {
		h, err := k.pages.Peek()
		if errors.Is(err, io.EOF) {
			all = !k.plain
			break
		}
		if err != nil {
			return 0, false, err
		}
		n := h.Rows(k.leaf)
		if (h.Type != format.DataPage && h.Type != format.DataPageV2) || !h.DictionaryCoded() || n < 0 || n > k.rows-rows {
			break
		}
		if err := k.pages.Skip(); err != nil {
			return 0, false, err
		}
		rows += n
	}
	k.left = 0
	k.rows -= rows
	v.cursor.row += rows
	return rows, all, nil
}

// HasNulls reports whether rows of the column may be NULL.
func (v *View) HasNulls() bool { return v.chunk.leaf.MaxDef > 0 }

// hasCodes reports whether the next n rows of a flat column are codes of the current page, without NULLs, and the
// dictionary is not larger than the rest of the chunk.
func (c *chunk) hasCodes(n int) bool {
	return c.values.Coded && int64(c.values.DictLen) <= c.rows && c.hasValues(n)
}

// hasValues reports whether the next n rows of a column are in the current page, one value each.
func (c *chunk) hasValues(n int) bool {
	if c.left < n || c.leaf.MaxRep > 0 {
		return false
	}
	switch c.leaf.MaxDef {
	case 0:
		return true
	case 1:
		def := c.def // a copy
		return def.Run() == nil && !def.Packed && def.Value == 1 && def.Left >= n
	}
	return false
}

// hasTexts reports whether the next n rows of a column are plain texts of the current page, without NULLs.
func (c *chunk) hasTexts(n int) bool {
	return !c.values.Coded && c.leaf.Type.Kind.IsText() && c.leaf.Physical == format.ByteArray && c.hasValues(n)
}

// within returns how many of the next n rows to read into a batch so that a filter finds codes or plain texts in one
// page: all, if pages have few rows.
func (c *chunk) within(n int) int {
	if c.left == 0 || c.left >= n {
		return n
	}
	switch {
	case c.hasCodes(c.left):
		if c.left >= n/4 {
			return c.left
		}
	case c.hasTexts(c.left):
		if next, err := c.pages.Peek(); c.left >= n/4 || err == nil && next.Rows(c.leaf) >= int64(n/4) {
			return c.left
		}
	}
	return n
}
