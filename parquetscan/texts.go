// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/decode"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Plain texts of the rows to read.

// hasTexts reports whether the next n rows of a column are plain texts of the current page, without NULLs.
func (c *chunk) hasTexts(n int) bool {
	return !c.values.Coded && c.leaf.Type.Kind.IsText() && c.leaf.Physical == parquet.Types.ByteArray && c.hasValues(n)
}

// within returns how many of the next n rows to read into a batch so that a filter finds plain texts in one page: all,
// if pages have few rows.
func (c *chunk) within(n int) int {
	if c.left == 0 || c.left >= n || !c.hasTexts(c.left) {
		return n
	}
	if next, err := c.pages.Peek(); c.left >= n/4 || err == nil && next.Rows(c.leaf) >= int64(n/4) {
		return c.left
	}
	return n
}

// filterTexts reduces sel to the rows that stage i, of one column, selects by the next n plain texts. It returns the
// page after them.
func (e *tester) filterTexts(i int, c *chunk, n int, sel []byte, all bool) (rest []byte, err error) {
	t, err := c.values.FindTexts(n)
	if err != nil {
		return nil, err
	}
	st := &e.P.Stages[i]
	e.Cols[st.Columns[0]] = &column.Column{Type: c.leaf.Type, Len: n, Values: t.Data, Offsets: t.At}
	e.Gap = decode.TextGap
	e.EvalStage(st, n, sel, all)
	e.Gap = 0
	return c.values.Data[t.At[n]:], nil
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
