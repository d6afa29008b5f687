// SPDX-License-Identifier: Apache-2.0

package parquetscan

import (
	"encoding/binary"
	"math/bits"
)

// This file holds validity: bits, counted from the lowest of each byte.

// countBits returns how many of n bits are 1, from bit position bit on.
func countBits(b []byte, bit, n int) int {
	ones := 0
	for ; n > 0 && bit&7 != 0; n, bit = n-1, bit+1 {
		ones += int(b[bit>>3] >> (bit & 7) & 1)
	}
	at := bit >> 3
	for ; n >= 64; n, at = n-64, at+8 {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(b[at:]))
	}
	for ; n >= 8; n, at = n-8, at+1 {
		ones += bits.OnesCount8(b[at])
	}
	if n > 0 {
		ones += bits.OnesCount8(b[at] & (1<<n - 1))
	}
	return ones
}

// copyBits writes n bits of src, from position from on, to dst at position to.
func copyBits(dst []byte, to int, src []byte, from, n int) {
	for ; n > 0 && to&7 != 0; n, from, to = n-1, from+1, to+1 {
		setBit(dst, to, src[from>>3]>>(from&7)&1)
	}
	shift := from & 7
	for ; n >= 8; n, from, to = n-8, from+8, to+8 {
		v := src[from>>3] >> shift
		if shift > 0 {
			v |= src[from>>3+1] << (8 - shift)
		}
		dst[to>>3] = v
	}
	for ; n > 0; n, from, to = n-1, from+1, to+1 {
		setBit(dst, to, src[from>>3]>>(from&7)&1)
	}
}

func setBit(b []byte, i int, v byte) {
	b[i>>3] = b[i>>3]&^(1<<(i&7)) | v<<(i&7)
}

// clearBits sets n bits from position bit on to 0.
func clearBits(b []byte, bit, n int) {
	for ; n > 0 && bit&7 != 0; n, bit = n-1, bit+1 {
		b[bit>>3] &^= 1 << (bit & 7)
	}
	clear(b[bit>>3 : bit>>3+n>>3])
	for i := n &^ 7; i < n; i++ {
		b[(bit+i)>>3] &^= 1 << ((bit + i) & 7)
	}
}

// growValidity makes room for the bits of all values. New ones are 1. It is called only once there is a NULL.
func (c *Column) growValidity() {
	have := len(c.validity)
	need := (c.n + 7) / 8
	if need <= have {
		return
	}
	c.validity = grow(c.validity, need)
	for i := have; i < need; i++ {
		c.validity[i] = 0xff
	}
}

// appendNulls appends n NULLs.
func (c *Column) appendNulls(n int) {
	at := c.n
	c.appendZeros(n)
	c.startValidity()
	c.n += n
	c.nulls += n
	c.growValidity()
	clearBits(c.validity, at, n)
}

// startValidity is called before the first NULL: so far all values are there.
func (c *Column) startValidity() {
	if c.nulls == 0 {
		c.validity = c.validity[:0]
		c.growValidity()
	}
}

// appendZeros appends n zeros, or empty strings, without counting them.
func (c *Column) appendZeros(n int) {
	if c.Type.Kind.text() && c.dict == nil {
		at := len(c.offsets)
		last := c.offsets[at-1]
		c.offsets = grow(c.offsets, at+n)
		for i := range n {
			c.offsets[at+i] = last
		}
		return
	}
	at := len(c.values)
	c.values = growBytes(c.values, at+n*c.width())
	clear(c.values[at:])
}

// width returns the bytes of one value as it lies in values, codes included.
func (c *Column) width() int {
	switch {
	case c.Type.Kind.text():
		return 4
	case c.Type.Kind == Vector:
		return c.dim * c.Type.width()
	default:
		return c.Type.width()
	}
}

// spread moves the last ones values, which were just appended, to where n bits from bit position bit on are 1, puts zeros elsewhere, and
// counts all n.
func (c *Column) spread(n, ones int, bitmap []byte, bit int) {
	from := c.n
	c.startValidity()
	c.n += n
	c.nulls += n - ones
	c.growValidity()
	copyBits(c.validity, from, bitmap, bit, n)
	if c.Type.Kind.text() && c.dict == nil {
		c.offsets = grow(c.offsets, from+n+1)
		spreadOffsets(c.offsets[from:], n, ones, bitmap, bit)
		return
	}
	w := c.width()
	c.values = growBytes(c.values, (from+n)*w)
	v := c.values[from*w:]
	switch w {
	case 1:
		spread(sliceOf[uint8](v, n), ones, bitmap, bit)
	case 2:
		spread(sliceOf[uint16](v, n), ones, bitmap, bit)
	case 4:
		spread(sliceOf[uint32](v, n), ones, bitmap, bit)
	case 8:
		spread(sliceOf[uint64](v, n), ones, bitmap, bit)
	default:
		spreadWide(v, w, n, ones, bitmap, bit)
	}
}

// spread is the loop of Column.spread: from the end, so that nothing is written over. v begins with the values.
func spread[T uint8 | uint16 | uint32 | uint64](v []T, ones int, bitmap []byte, bit int) {
	j := ones - 1
	i := len(v) - 1
	for ; j >= 0; i-- {
		at := bit + i
		b := T(bitmap[at>>3] >> (at & 7) & 1)
		v[i] = v[j] & -b // no branch: NULLs come at random
		j -= int(b)
	}
	clear(v[:i+1])
}

// spreadWide is spread for values of w bytes.
func spreadWide(v []byte, w, n, ones int, bitmap []byte, bit int) {
	j := ones - 1
	for i := n - 1; i >= 0; i-- {
		at := bit + i
		if bitmap[at>>3]>>(at&7)&1 == 0 {
			clear(v[i*w : (i+1)*w])
			continue
		}
		if i != j {
			copy(v[i*w:(i+1)*w], v[j*w:(j+1)*w])
		}
		j--
	}
}

// spreadOffsets is spread for the ends of strings: offsets[0] is where the first one starts.
func spreadOffsets(offsets []int32, n, ones int, bitmap []byte, bit int) {
	j := ones
	for i := n - 1; i >= 0; i-- {
		at := bit + i
		offsets[i+1] = offsets[j]
		j -= int(bitmap[at>>3] >> (at & 7) & 1)
	}
}
