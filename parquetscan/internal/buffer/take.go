// SPDX-License-Identifier: Apache-2.0

package buffer

import (
	"encoding/binary"
	"math/bits"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Removal of rows that a filter does not select.

// Take keeps the values whose bit in sel is 1: selected of n. They move to the front.
func (c *Column) Take(sel []byte, n, selected int) {
	if c.Nulls > 0 {
		c.takeValidity(sel, n, selected)
	}
	switch {
	case c.Type.Kind == column.Struct || c.Type.Kind == column.Tuple:
		for i := range c.Children {
			c.Child(i).Take(sel, n, selected)
		}
	case c.Type.Kind.IsList():
		c.takeElements(sel, n)
	case c.Type.Kind.IsText() && c.Dict == nil:
		c.takeStrings(sel, n)
	default:
		c.takeFixed(sel, n, selected)
	}
	c.Len = selected
}

// Ones calls f for runs of bits that are 1: positions [from, to), in order.
func Ones(sel []byte, n int, f func(from, to int)) {
	from := -1        // of the run that has not ended
	last := uint64(0) // the bit before the word
	for at := 0; at < n; at += 64 {
		word := Word(sel[at>>3:])
		if left := n - at; left < 64 {
			word &= 1<<left - 1
		}
		changes := word ^ (word<<1 | last) // positions where runs begin and end, in turn
		last = word >> 63
		for ; changes != 0; changes &= changes - 1 {
			i := at + bits.TrailingZeros64(changes)
			if from < 0 {
				from = i
				continue
			}
			f(from, i)
			from = -1
		}
	}
	if from >= 0 {
		f(from, n)
	}
}

// Word returns the first 64 bits of sel; 0 for bits after the end.
func Word(sel []byte) uint64 {
	if len(sel) >= 8 {
		return binary.LittleEndian.Uint64(sel)
	}
	word := uint64(0)
	for i, b := range sel {
		word |= uint64(b) << (8 * i)
	}
	return word
}

// CountRuns returns the number of runs of bits that are 1.
func CountRuns(sel []byte) int {
	runs, before := 0, byte(0)
	for _, b := range sel {
		runs += bits.OnesCount8(b &^ (b<<1 | before>>7))
		before = b
	}
	return runs
}

func (c *Column) takeValidity(sel []byte, n, selected int) {
	at := 0
	Ones(sel, n, func(from, to int) {
		for i := from; i < to; i++ { // from is never before at
			bitmap.Set(c.Validity, at, c.Validity[i>>3]>>(i&7)&1)
			at++
		}
	})
	c.Nulls = selected - bitmap.Count(c.Validity, 0, selected)
}

// takeFixed moves the values of selected rows to the front of a fixed-width column. sel has a bit for each of n rows.
func (c *Column) takeFixed(sel []byte, n, selected int) {
	switch w := c.Width(); w {
	case 1:
		takeNumbers(c.Values[:n], sel)
	case 2:
		takeNumbers(SliceOf[uint16](c.Values, n), sel)
	case 4:
		takeNumbers(SliceOf[uint32](c.Values, n), sel)
	case 8:
		takeNumbers(SliceOf[uint64](c.Values, n), sel)
	default:
		at := 0
		Ones(sel, n, func(from, to int) {
			at += copy(c.Values[at:], c.Values[from*w:to*w])
		})
	}
	c.Values = c.Values[:selected*c.Width()]
}

// takeNumbers moves the selected numbers to the front: runs of 8 at once, others one by one.
func takeNumbers[T any](v []T, sel []byte) {
	at := 0
	for i := 0; i < len(sel); i++ {
		if sel[i] == 0xff {
			from := i
			for i+1 < len(sel) && sel[i+1] == 0xff {
				i++
			}
			at += copy(v[at:], v[8*from:8*i+8])
			continue
		}
		for b := sel[i]; b != 0; b &= b - 1 {
			v[at] = v[i*8+bits.TrailingZeros8(b)]
			at++
		}
	}
}

// takeStrings moves the texts of selected rows to the front of a column with offsets.
func (c *Column) takeStrings(sel []byte, n int) {
	rows, bytes := 0, int32(0)
	Ones(sel, n, func(from, to int) {
		start, end := c.Offsets[from], c.Offsets[to]
		copy(c.Values[bytes:], c.Values[start:end])
		for i := from; i < to; i++ {
			next := bytes + c.Offsets[i+1] - start
			rows++
			c.Offsets[rows] = next
		}
		bytes += end - start
	})
	c.Values, c.Offsets = c.Values[:bytes], c.Offsets[:rows+1]
}

// takeElements takes the elements of the selected lists.
func (c *Column) takeElements(sel []byte, n int) {
	total := int(c.Offsets[n])
	inner := make([]byte, (total+7)/8)
	kept, rows := 0, 0
	Ones(sel, n, func(from, to int) {
		start, end := c.Offsets[from], c.Offsets[to]
		for i := start; i < end; i++ {
			inner[i>>3] |= 1 << (i & 7)
		}
		for i := from; i < to; i++ {
			rows++
			c.Offsets[rows] = int32(kept) + c.Offsets[i+1] - start
		}
		kept += int(end - start)
	})
	c.Offsets = c.Offsets[:rows+1]
	for i := range c.Children {
		c.Child(i).Take(inner, total, kept)
	}
}
