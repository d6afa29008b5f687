// SPDX-License-Identifier: Apache-2.0

package column

import (
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql/internal/bitmap"
)

// Take: copies of selected rows.

// Take returns some rows of the batch, by their numbers and in the order of these, as a batch in new memory. A row may
// occur several times. The batch shares dictionaries, which are immutable, and has the Source of b. The error wraps
// [ErrTooLarge].
func (b *Batch) Take(rows []int32) (*Batch, error) {
	dst := new(Batch)
	return dst, b.TakeInto(dst, rows)
}

// TakeInto stores the result of Take in dst: the zero Batch, or one that an earlier TakeInto filled, whose memory it
// uses again.
func (b *Batch) TakeInto(dst *Batch, rows []int32) error {
	dst.Columns = slices.Grow(dst.Columns[:0], len(b.Columns))[:len(b.Columns)]
	for i := range b.Columns {
		if err := dst.Columns[i].take(&b.Columns[i], rows); err != nil {
			return err
		}
	}
	dst.Rows, dst.Source = len(rows), b.Source
	return nil
}

// take replaces the column by rows of another one.
func (c *Column) take(from *Column, rows []int32) error {
	old := *c
	*c = Column{Name: from.Name, Type: from.Type, Len: len(rows), Dict: from.Dict, Children: old.Children}
	if from.Nulls > 0 {
		c.takeValidity(from, rows, old.Validity)
	}
	switch kind := from.Type.Kind; {
	case kind == Struct || kind == Tuple:
		return c.takeChildren(from, rows)
	case kind.IsList():
		elements, err := c.takeElements(from, rows, old.Offsets)
		if err != nil {
			return err
		}
		return c.takeChildren(from, elements)
	case kind.IsText() && from.Dict == nil:
		return c.takeText(from, rows, old)
	}
	c.Children = nil
	width := from.width()
	if width > 0 && len(rows) > math.MaxInt/width {
		return fmt.Errorf("column: %s: %d rows of %d bytes: %w", from.Name, len(rows), width, ErrTooLarge)
	}
	c.Values = grownBytes(old.Values, len(rows)*width)
	takeFixed(c.Values, from.Values, rows, width)
	return nil
}

// grownBytes returns n bytes, aligned to 8, in the memory of b if there is room.
func grownBytes(b []byte, n int) []byte {
	if cap(b) < n {
		b = make([]byte, (n+7)&^7)
	}
	return b[:n]
}

func (c *Column) takeValidity(from *Column, rows []int32, old []byte) {
	bits := grownBytes(old, (len(rows)+7)/8)
	clear(bits)
	valid := 0
	for i, r := range rows {
		v := bitmap.Get(from.Validity, int(r))
		bits[i>>3] |= v << (i & 7)
		valid += int(v)
	}
	c.Validity, c.Nulls = bits, len(rows)-valid
}

// takeFixed copies the values of rows of width bytes.
func takeFixed(dst, src []byte, rows []int32, width int) {
	switch n := len(src) / max(width, 1); width {
	case 0:
	case 1:
		pick(dst, src, rows)
	case 2:
		pick(cast[uint16](dst, len(rows)), cast[uint16](src, n), rows)
	case 4:
		pick(cast[uint32](dst, len(rows)), cast[uint32](src, n), rows)
	case 8:
		pick(cast[uint64](dst, len(rows)), cast[uint64](src, n), rows)
	default:
		for i, r := range rows {
			copy(dst[i*width:(i+1)*width], src[int(r)*width:])
		}
	}
}

func pick[T any](dst, src []T, rows []int32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

func (c *Column) takeText(from *Column, rows []int32, old Column) error {
	c.Children = nil
	size := 0
	for _, r := range rows {
		size += int(from.Offsets[r+1] - from.Offsets[r])
	}
	if size > maxOffset {
		return fmt.Errorf("column: %s: %d bytes: %w", from.Name, size, ErrTooLarge)
	}
	c.Values = grownBytes(old.Values, size)[:0]
	c.Offsets = append(slices.Grow(old.Offsets[:0], len(rows)+1), 0)
	for _, r := range rows {
		c.Values = append(c.Values, from.Values[from.Offsets[r]:from.Offsets[r+1]]...)
		c.Offsets = append(c.Offsets, int32(len(c.Values)))
	}
	return nil
}

// takeElements sets the offsets of a list column, and returns the elements of the rows in order.
func (c *Column) takeElements(from *Column, rows, old []int32) ([]int32, error) {
	total := 0
	for _, r := range rows {
		i, j := from.Elements(int(r))
		total += j - i
	}
	if total > maxOffset {
		return nil, fmt.Errorf("column: %s: %d elements: %w", from.Name, total, ErrTooLarge)
	}
	c.Offsets = append(slices.Grow(old[:0], len(rows)+1), 0)
	elements := make([]int32, 0, total)
	for _, r := range rows {
		for i, j := from.Elements(int(r)); i < j; i++ {
			elements = append(elements, int32(i))
		}
		c.Offsets = append(c.Offsets, int32(len(elements)))
	}
	return elements, nil
}

func (c *Column) takeChildren(from *Column, rows []int32) error {
	c.Children = slices.Grow(c.Children[:0], len(from.Children))[:len(from.Children)]
	for i := range from.Children {
		if err := c.Children[i].take(&from.Children[i], rows); err != nil {
			return err
		}
	}
	return nil
}
