// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"math/bits"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Columns of text.

// A texts reads columns of text, from their page where it has plain texts.
type texts struct{ *Cursor }

// Ready implements Task.
func (c texts) Ready(row int64, n int) (int, error) { return c.ready(row, n) }

// Read implements Task.
func (c texts) Read(dst *column.Column, r Rows) error {
	c.reset(dst, false)
	out := (*buffer.Column)(dst)
	if r.Selected < r.N {
		if ok, err := c.atTexts(r.Row, r.N); err != nil {
			return err
		} else if ok {
			c.row += int64(r.N)
			return c.chunks[0].readTexts(out, r.Sel, r.N, r.Selected)
		}
		if ok, err := c.readCodes(c, out, r); ok || err != nil {
			return err
		}
	}
	runs := 8
	if k := c.chunks[0]; k.values.Coded && !k.text {
		runs = few
	}
	return c.readRows(c, out, r, runs)
}

// Finish implements Task.
func (c texts) Finish(dst *column.Column, read bool, r Rows) error {
	return finish(c, c.Cursor, dst, read, r)
}

// appendRows implements appender.
func (c texts) appendRows(dst *buffer.Column, n int) error { return c.chunks[0].readFlat(dst, n) }

// View implements Task.
func (c texts) View(row int64, n int) (View, error) { return c.view(row, n) }

// atTexts skips to a row and reports whether n rows from there on are plain texts of one page, which it loads.
func (c *Cursor) atTexts(row int64, n int) (bool, error) {
	k := c.chunks[0]
	if err := c.Skip(row); err != nil {
		return false, err
	}
	if k.left == 0 {
		h, err := k.pages.Peek()
		if err != nil || h.DictionaryCoded() || h.Rows(k.leaf) < int64(n) {
			return false, nil // the page may lack a selected row; an error occurs again
		}
		if err := k.must(); err != nil {
			return false, err
		}
	}
	return k.hasTexts(n), nil
}

// takeTexts returns the next n plain texts, and passes them.
func (c *chunk) takeTexts(n int) (decode.Texts, error) {
	if int64(n) > c.rows {
		return decode.Texts{}, failure.Corrupt("%d rows beyond the row group's end", n)
	}
	t, err := c.values.FindTexts(n)
	if err != nil {
		return decode.Texts{}, err
	}
	c.values.Data = c.values.Data[t.At[n]:]
	c.left -= n
	c.rows -= int64(n)
	return t, c.def.Skip(n)
}

// readTexts appends the selected of the next n plain texts to an empty column. They fit: a page is within c.limit.
func (c *chunk) readTexts(dst *buffer.Column, sel []byte, n, selected int) error {
	t, err := c.takeTexts(n)
	if err != nil {
		return err
	}
	dst.Offsets = buffer.Grow(dst.Offsets[:1], selected+1)
	dst.Values = buffer.GrowBytes(dst.Values[:0], int(t.At[n]))
	room, offsets, to, k := dst.Values[:len(dst.Values)+buffer.Slack], dst.Offsets, 0, 0
	for i, b := range sel[:(n+7)/8] {
		for ; b != 0; b &= b - 1 {
			row := 8*i + bits.TrailingZeros8(b)
			to += t.CopyText(room[to:], row)
			k++
			offsets[k] = int32(to)
		}
	}
	dst.Values, dst.Len = dst.Values[:to], selected
	return nil
}
