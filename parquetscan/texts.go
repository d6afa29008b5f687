// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Texts within a plain page: each follows its length, so that all of them are found before those that are selected are
// copied.

// hasTexts reports whether the next n rows of a column are plain texts of the current page, without NULLs.
func (c *chunk) hasTexts(n int) bool {
	return !c.coded && c.leaf.Type.Kind.IsText() && c.leaf.Physical == parquet.Types.ByteArray && c.hasValues(n)
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

// findTexts returns the next n plain texts without consuming them.
func (c *chunk) findTexts(n int) (textRun, error) {
	data := c.data
	if n > len(data)/4 {
		return textRun{}, failure.Corrupt("page ends within %d strings", n)
	}
	if c.foundIn != len(data) || len(c.found) <= n {
		c.found, c.foundIn = buffer.Grow(c.found[:0], n+1), len(data)
		if err := findTexts(c.found, data); err != nil {
			c.foundIn = -1
			return textRun{}, err
		}
	}
	return textRun{data, c.found[:n+1], 4}, nil
}

// findTexts sets at to the positions of texts' lengths in data, and of the end of the last text.
func findTexts(at []int32, data []byte) error {
	pos := 0
	at[0] = 0
	for i := range at[1:] {
		if pos+4 > len(data) {
			return failure.Corrupt("page ends within a string")
		}
		length := binary.LittleEndian.Uint32(data[pos:])
		if pos += 4; uint64(length) > uint64(len(data)-pos) {
			return failure.Corrupt("string of %d bytes, but the page has %d left", length, len(data)-pos)
		}
		pos += int(length)
		at[i+1] = int32(pos)
	}
	return nil
}

// filterTexts reduces sel to the rows that stage i, of one column, selects by the next n plain texts. It returns the
// page after them.
func (e *evaluator) filterTexts(i int, c *chunk, n int, sel []byte, all bool) (rest []byte, err error) {
	t, err := c.findTexts(n)
	if err != nil {
		return nil, err
	}
	st := &e.p.stages[i]
	e.cols[st.columns[0]] = &column.Column{Type: c.leaf.Type, Len: n, Values: t.data, Offsets: t.at}
	e.gap = t.gap
	e.evalStage(st, n, sel, all)
	e.gap = 0
	return c.data[t.at[n]:], nil
}

// copyText copies text i, and returns its length. It may overwrite up to 16 bytes.
func (t *textRun) copyText(dst []byte, i int) int {
	from, end := int(t.at[i]+t.gap), int(t.at[i+1])
	if end-from <= 16 && from+16 <= len(t.data) {
		copy16(dst, t.data[from:])
		return end - from
	}
	return copy(dst, t.data[from:end])
}

// takeTexts returns the next n plain texts, and passes them.
func (c *chunk) takeTexts(n int) (textRun, error) {
	if int64(n) > c.rows {
		return textRun{}, failure.Corrupt("%d rows beyond the row group's end", n)
	}
	t, err := c.findTexts(n)
	if err != nil {
		return textRun{}, err
	}
	c.data = c.data[t.at[n]:]
	c.left -= n
	c.rows -= int64(n)
	return t, c.def.skip(n)
}

// readTexts appends the selected of the next n plain texts to an empty column. They fit: a page is within c.limit.
func (c *chunk) readTexts(dst *builder, sel []byte, n, selected int) error {
	t, err := c.takeTexts(n)
	if err != nil {
		return err
	}
	dst.Offsets = buffer.Grow(dst.Offsets[:1], selected+1)
	dst.Values = buffer.GrowBytes(dst.Values[:0], int(t.at[n]))
	room, offsets, to, k := dst.Values[:len(dst.Values)+buffer.Slack], dst.Offsets, 0, 0
	for i, b := range sel[:(n+7)/8] {
		for ; b != 0; b &= b - 1 {
			row := 8*i + bits.TrailingZeros8(b)
			to += t.copyText(room[to:], row)
			k++
			offsets[k] = int32(to)
		}
	}
	dst.Values, dst.Len = dst.Values[:to], selected
	return nil
}
