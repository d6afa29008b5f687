// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Selected rows of a flat column of codes.

// few is the number of rows among which one run is selected, or fewer, so that rows of codes are read run by run.
const few = 256

// readCodes reads the selected rows of a column if they are many runs, but not most of the rows, and the column has
// codes: it looks up theirs only. false means that it read no rows.
func (c *Cursor) readCodes(a appender, dst *buffer.Column, r Rows) (bool, error) {
	if r.Selected > r.N/2 || buffer.CountRuns(r.Sel) <= r.N/few {
		return false, nil
	}
	k := c.chunks[0]
	if err := c.Skip(r.Row); err != nil {
		return false, err
	}
	if k.left == 0 {
		if err := k.must(); err != nil {
			return false, err
		}
	}
	if !k.values.Coded || !k.hasValues(min(r.N, k.left)) {
		return false, nil
	}
	for at := 0; at < r.N; {
		if k.left == 0 {
			if err := k.must(); err != nil {
				return false, err
			}
		}
		n := min(r.N-at, k.left)
		var err error
		if k.values.Coded && k.hasValues(n) {
			err = k.readOnes(dst, r.Sel, at, n)
			c.row += int64(n)
		} else {
			if err = c.readRuns(a, dst, r, at, at+n); err == nil {
				err = c.Skip(r.Row + int64(at+n))
			}
		}
		if err != nil {
			return false, err
		}
		at += n
	}
	return true, nil
}

// readOnes appends the values of the next n rows of codes of the page whose bits in sel, from bit at on, are 1.
func (c *chunk) readOnes(dst *buffer.Column, sel []byte, at, n int) error {
	if int64(n) > c.rows {
		return failure.Corrupt("%d rows beyond the row group's end", n)
	}
	if dst.Len == 0 && !c.text && c.leaf.Type.Kind.IsText() {
		dst.Dict = c.values.Dict
	}
	ones, err := c.values.AppendOnes(dst, sel, at, n)
	if err != nil {
		return err
	}
	if dst.Len += ones; dst.Nulls > 0 {
		dst.GrowValidity()
	}
	c.left -= n
	c.rows -= int64(n)
	return c.def.Skip(n)
}
