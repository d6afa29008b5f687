// SPDX-License-Identifier: Apache-2.0

package parquetscan

import "math/bits"

// This file leaves out of columns what a filter does not select.

// take keeps the values of the column whose bit in sel is 1: selected of n. They move to the front.
func (c *Column) take(sel []byte, n, selected int) {
	if c.nulls > 0 {
		c.takeValidity(sel, n, selected)
	}
	switch {
	case c.Type.Kind == Struct:
		for i := range c.children {
			c.children[i].take(sel, n, selected)
		}
	case c.Type.Kind == List || c.Type.Kind == Map:
		c.takeElements(sel, n)
	case c.Type.Kind.text() && c.dict == nil:
		c.takeStrings(sel, n)
	default:
		c.takeFixed(sel, n, selected)
	}
	c.n = selected
}

// ones calls f for runs of bits that are 1: positions from to to-1, in order.
func ones(sel []byte, n int, f func(from, to int)) {
	from := -1
	for i := 0; i < n; i++ {
		if b := sel[i>>3]; i&7 == 0 && (b == 0 || b == 0xff) && i+8 <= n {
			if b == 0 && from >= 0 {
				f(from, i)
				from = -1
			} else if b == 0xff && from < 0 {
				from = i
			}
			i += 7
			continue
		}
		switch on := sel[i>>3]>>(i&7)&1 == 1; {
		case on && from < 0:
			from = i
		case !on && from >= 0:
			f(from, i)
			from = -1
		}
	}
	if from >= 0 {
		f(from, n)
	}
}

func (c *Column) takeValidity(sel []byte, n, selected int) {
	at := 0
	ones(sel, n, func(from, to int) {
		for i := from; i < to; i++ { // from is never before at
			setBit(c.validity, at, c.validity[i>>3]>>(i&7)&1)
			at++
		}
	})
	c.nulls = selected - countBits(c.validity, 0, selected)
}

func (c *Column) takeFixed(sel []byte, n, selected int) {
	switch w := c.width(); w {
	case 4:
		takeNumbers(sliceOf[uint32](c.values, n), sel)
	case 8:
		takeNumbers(sliceOf[uint64](c.values, n), sel)
	default:
		at := 0
		ones(sel, n, func(from, to int) {
			at += copy(c.values[at:], c.values[from*w:to*w])
		})
	}
	c.values = c.values[:selected*c.width()]
}

// takeNumbers moves the selected numbers to the front.
func takeNumbers[T any](v []T, sel []byte) {
	at := 0
	for i, b := range sel {
		for ; b != 0; b &= b - 1 {
			v[at] = v[i*8+bits.TrailingZeros8(b)]
			at++
		}
	}
}

func (c *Column) takeStrings(sel []byte, n int) {
	rows, bytes := 0, int32(0)
	ones(sel, n, func(from, to int) {
		start, end := c.offsets[from], c.offsets[to]
		copy(c.values[bytes:], c.values[start:end])
		for i := from; i < to; i++ {
			next := bytes + c.offsets[i+1] - start
			rows++
			c.offsets[rows] = next
		}
		bytes += end - start
	})
	c.values, c.offsets = c.values[:bytes], c.offsets[:rows+1]
}

// takeElements takes the elements of the lists that are taken.
func (c *Column) takeElements(sel []byte, n int) {
	total := int(c.offsets[n])
	inner := make([]byte, (total+7)/8)
	kept, rows := 0, 0
	ones(sel, n, func(from, to int) {
		start, end := c.offsets[from], c.offsets[to]
		for i := start; i < end; i++ {
			inner[i>>3] |= 1 << (i & 7)
		}
		for i := from; i < to; i++ {
			rows++
			c.offsets[rows] = int32(kept) + c.offsets[i+1] - start
		}
		kept += int(end - start)
	})
	c.offsets = c.offsets[:rows+1]
	for i := range c.children {
		c.children[i].take(inner, total, kept)
	}
}
