// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"unsafe"
)

// This file holds what columns are made of that the package owns: rows waiting in partitions, states kept, results.

// A builder is a column that grows. Its memory is reused after reset.
type builder struct {
	typ      Type
	n        int
	fixed    []uint64 // the values of fixed types; words, for their alignment
	text     []byte   // the values of strings
	offsets  []int32  // of strings; the first is 0
	validity []byte   // nil as long as no row is NULL
	zeros    bool     // all rows so far are zeros of formZero: fixed holds nothing
}

func newBuilder(t Type) builder { return builder{typ: t, zeros: true} }

// begin makes an empty builder of one that may have served another type.
func (b *builder) begin(t Type) {
	b.typ, b.n, b.zeros = t, 0, true
	b.fixed, b.text, b.offsets, b.validity = b.fixed[:0], b.text[:0], b.offsets[:0], nil
}

// size returns the bytes that the builder holds.
func (b *builder) size() int64 {
	return int64(8*cap(b.fixed) + cap(b.text) + 4*cap(b.offsets) + cap(b.validity))
}

// column returns the rows as a column: a view.
func (b *builder) column() Column {
	c := Column{typ: b.typ, n: b.n, validity: b.validity}
	switch {
	case b.typ == String:
		c.form, c.data, c.offsets = formText, unsafe.Pointer(unsafe.SliceData(b.text)), b.offsets
	case b.zeros:
		c.form = formZero
	default:
		c.data = unsafe.Pointer(unsafe.SliceData(b.fixed))
	}
	return c
}

// maxText is the most bytes of text in one builder: offsets have 32 bits.
const maxText = 1<<31 - 1

// check returns an error if there is more text than offsets can tell. It is asked before a builder's column is used.
func (b *builder) check() error {
	if len(b.text) > maxText {
		return fmt.Errorf("groupby: %d bytes of text in one column: at most %d", len(b.text), maxText)
	}
	return nil
}

// extend makes room for n more rows of a fixed type, and returns where they are to be written, nil if n is 0.
func (b *builder) extend(n int) unsafe.Pointer {
	if n == 0 { // a pointer must not point at the end of its memory
		return nil
	}
	w := b.typ.width()
	if b.zeros { // zeros so far have no memory yet
		b.zeros = false
		b.fixed = grown(b.fixed[:0], (b.n*w+7)/8)
	}
	b.fixed = grown(b.fixed, ((b.n+n)*w+7)/8)
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.fixed)), b.n*w)
}

// reserve makes room for n rows of a fixed type in an empty builder; if mem is not nil, of its memory.
func (b *builder) reserve(n int, mem *slab) {
	words := (n*b.typ.width() + 7) / 8
	switch {
	case cap(b.fixed) >= words:
	case mem != nil:
		b.fixed = mem.take(words)
	default:
		b.fixed = makeWords(words)[:0]
	}
}

// gather appends the rows sel of a column.
func (b *builder) gather(c *Column, sel []uint32) {
	if len(sel) == 0 {
		return
	}
	b.gatherValidity(c, sel)
	n := len(sel)
	switch {
	case b.typ == String:
		b.gatherText(c, sel)
	case c.form == formZero && b.zeros:
	case c.form == formZero:
		clear(unsafe.Slice((*byte)(b.extend(n)), n*b.typ.width()))
	default:
		to := b.extend(n)
		switch b.typ.width() {
		case 1:
			gather((*uint8)(to), (*uint8)(c.data), c.n, sel)
		case 2:
			gather((*uint16)(to), (*uint16)(c.data), c.n, sel)
		case 4:
			gather((*uint32)(to), (*uint32)(c.data), c.n, sel)
		case 8:
			gather((*uint64)(to), (*uint64)(c.data), c.n, sel)
		case 16:
			gather((*[16]byte)(to), (*[16]byte)(c.data), c.n, sel)
		default:
			w := b.typ.width()
			for k, i := range sel {
				copy(unsafe.Slice((*byte)(unsafe.Add(to, k*w)), w), unsafe.Slice((*byte)(unsafe.Add(c.data, int(i)*w)), w))
			}
		}
	}
	b.n += n
}

func gather[T any](to, from *T, rows int, sel []uint32) {
	dst, src := unsafe.Slice(to, len(sel)), unsafe.Slice(from, rows)
	for k, i := range sel {
		dst[k] = src[i]
	}
}

func (b *builder) gatherText(c *Column, sel []uint32) {
	if len(b.offsets) == 0 {
		b.offsets = append(b.offsets, 0)
	}
	for _, i := range sel {
		if !c.Null(int(i)) {
			b.text = append(b.text, c.text(int(i))...)
		}
		b.offsets = append(b.offsets, int32(len(b.text)))
	}
}

func (b *builder) gatherValidity(c *Column, sel []uint32) {
	if c.validity == nil && b.validity == nil {
		return
	}
	b.startValidity(len(sel))
	for k, i := range sel {
		if !c.Null(int(i)) {
			at := b.n + k
			b.validity[at>>3] |= 1 << (at & 7)
		}
	}
}

// startValidity makes the bits of n more rows, 0; those of the rows so far are 1 if there were none.
func (b *builder) startValidity(n int) {
	if b.validity == nil {
		b.validity = make([]byte, (b.n+7)/8, (b.n+n+7)/8+64)
		for i := range b.validity {
			b.validity[i] = 0xff
		}
		if b.n&7 != 0 {
			b.validity[b.n>>3] = 1<<(b.n&7) - 1
		}
	}
	b.validity = grown(b.validity, (b.n+n+7)/8)
}

// append appends rows i to j of a column.
func (b *builder) append(c *Column, i, j int) {
	n := j - i
	if n == 0 {
		return
	}
	if c.validity != nil || b.validity != nil {
		b.startValidity(n)
		for k := range n {
			if !c.Null(i + k) {
				at := b.n + k
				b.validity[at>>3] |= 1 << (at & 7)
			}
		}
	}
	switch {
	case b.typ == String && c.form == formText && len(c.offsets) > 0:
		if len(b.offsets) == 0 {
			b.offsets = append(b.offsets, 0)
		}
		shift := int32(len(b.text)) - c.offsets[i]
		b.text = append(b.text, unsafe.Slice((*byte)(c.data), c.offsets[j])[c.offsets[i]:]...)
		for _, o := range c.offsets[i+1 : j+1] {
			b.offsets = append(b.offsets, o+shift)
		}
	case b.typ == String:
		if len(b.offsets) == 0 {
			b.offsets = append(b.offsets, 0)
		}
		for k := i; k < j; k++ {
			if !c.Null(k) {
				b.text = append(b.text, c.text(k)...)
			}
			b.offsets = append(b.offsets, int32(len(b.text)))
		}
	case c.form == formZero && b.zeros:
	case c.form == formZero:
		clear(unsafe.Slice((*byte)(b.extend(n)), n*b.typ.width()))
	default:
		w := b.typ.width()
		copy(unsafe.Slice((*byte)(b.extend(n)), n*w), unsafe.Slice((*byte)(unsafe.Add(c.data, i*w)), n*w))
	}
	b.n += n
}

// spread writes row i of a column of a fixed type to row places[i], of a builder that has all its rows and is zero there.
func (b *builder) spread(c *Column, places []uint32) {
	if b.validity != nil {
		for i, p := range places {
			if !c.Null(i) {
				b.validity[p>>3] |= 1 << (p & 7)
			}
		}
	}
	if c.form == formZero {
		return
	}
	to := unsafe.Pointer(unsafe.SliceData(b.fixed))
	switch w := b.typ.width(); w {
	case 1:
		spread((*uint8)(to), (*uint8)(c.data), b.n, places)
	case 2:
		spread((*uint16)(to), (*uint16)(c.data), b.n, places)
	case 4:
		spread((*uint32)(to), (*uint32)(c.data), b.n, places)
	case 8:
		spread((*uint64)(to), (*uint64)(c.data), b.n, places)
	default:
		for i, p := range places {
			copy(unsafe.Slice((*byte)(unsafe.Add(to, int(p)*w)), w), unsafe.Slice((*byte)(unsafe.Add(c.data, i*w)), w))
		}
	}
}

func spread[T any](to, from *T, rows int, places []uint32) {
	dst, src := unsafe.Slice(to, rows), unsafe.Slice(from, len(places))
	for i, p := range places {
		dst[p] = src[i]
	}
}

// textSize returns the bytes of text of rows i to j of a column, 0 for other types.
func textSize(c *Column, i, j int) int {
	if c.typ != String {
		return 0
	}
	if c.form == formText && len(c.offsets) > 0 {
		return int(c.offsets[j] - c.offsets[i])
	}
	n := 0
	for k := i; k < j; k++ {
		n += len(c.text(k))
	}
	return n
}
