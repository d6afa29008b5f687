// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"math/bits"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/decode"
)

// Lengths of texts in place of the texts: lengths of plain texts are found within their page, and no text is copied.

// A lengths reads columns of text as the lengths of the texts.
type lengths struct{ texts }

// Raw implements Task: the texts are no output.
func (c lengths) Raw(*column.Column) *column.Column { return &c.extra }

// Finish implements Task.
func (c lengths) Finish(dst *column.Column, read bool, r Rows) error {
	*dst = column.Column{
		Name: c.Name, Type: column.TypeOf[int64](), Len: r.Selected, Validity: dst.Validity[:0],
		Values: buffer.GrowBytes(dst.Values[:0], 8*r.Selected),
	}
	out := buffer.SliceOf[int64](dst.Values, r.Selected)
	if !read {
		if ok, err := c.atTexts(r.Row, r.N); err != nil {
			return err
		} else if ok {
			c.Shared.Used.Store(true)
			c.row += int64(r.N)
			return c.chunks[0].readLengths(out, r.Sel, r.N)
		}
		if err := c.Read(&c.extra, r); err != nil {
			return err
		}
	}
	if dst.Nulls = c.extra.Nulls; dst.Nulls > 0 {
		dst.Validity = append(dst.Validity, c.extra.Validity...)
	}
	lengthsOf(out, &c.extra)
	return nil
}

// readLengths sets out to the lengths of the selected of the next n plain texts; of all if out has n values.
func (c *chunk) readLengths(out []int64, sel []byte, n int) error {
	t, err := c.takeTexts(n)
	if err != nil {
		return err
	}
	if len(out) == n {
		from := t.At[0]
		for i, end := range t.At[1:] {
			out[i], from = int64(end-from-decode.TextGap), end
		}
		return nil
	}
	k := 0
	for i, b := range sel[:(n+7)/8] {
		for ; b != 0; b &= b - 1 {
			row := 8*i + bits.TrailingZeros8(b)
			out[k] = int64(t.At[row+1] - t.At[row] - decode.TextGap)
			k++
		}
	}
	return nil
}

// lengthsOf sets out to the lengths of the texts of a column, 0 of NULL.
func lengthsOf(out []int64, c *column.Column) {
	if c.Dict == nil {
		for i := range out {
			out[i] = int64(c.Offsets[i+1] - c.Offsets[i])
		}
		return
	}
	_, offsets := c.Dict.Buffers()
	for i, code := range buffer.SliceOf[uint32](c.Values, len(out)) {
		if out[i] = 0; c.Nulls == 0 || !c.Null(i) {
			out[i] = int64(offsets[code+1] - offsets[code])
		}
	}
}
