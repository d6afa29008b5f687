// SPDX-License-Identifier: Apache-2.0

package chunk

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/failure"
)

// Flat columns: those that are not repeated.

// A flat reads columns of values of a fixed width.
type flat struct{ *Cursor }

// Ready implements Task.
func (c flat) Ready(row int64, n int) (int, error) {
	if c.Late {
		return n, nil
	}
	if err := c.Skip(row); err != nil || !c.Paged {
		return n, err
	}
	return c.chunks[0].within(n), nil
}

// Read implements Task.
func (c flat) Read(dst *column.Column, r Rows) error {
	c.reset(dst, false)
	if ok, err := c.readCodes(c, (*buffer.Column)(dst), r); ok || err != nil {
		return err
	}
	return c.readRows(c, (*buffer.Column)(dst), r, few)
}

// Finish implements Task.
func (c flat) Finish(dst *column.Column, read bool, r Rows) error {
	return finish(c, c.Cursor, dst, read, r)
}

// appendRows implements appender.
func (c flat) appendRows(dst *buffer.Column, n int) error { return c.chunks[0].readFlat(dst, n) }

// View implements Task.
func (c flat) View(row int64, n int) (View, error) { return c.view(row, n) }

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
		c.defBuf = buffer.Grow(c.defBuf[:0], min(n, LevelBlock))
		if err := c.def.Decode(c.defBuf); err != nil {
			return err
		}
		var valid [LevelBlock / 8]byte
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
