// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Builders: growing columns. Rows in partitions, states and results are stored in them.

// A builder is a growing column. begin resets it and keeps its memory.
type builder struct {
	typ      column.Type
	width    int // bytes of a row, 0 for text and lists
	n        int
	fixed    []uint64 // the values of fixed-width kinds; words for alignment
	text     []byte   // the values of text
	offsets  []int32  // of text and lists; the first one is 0
	elem     *builder // the elements of lists
	validity []byte   // nil until the first NULL
	zeros    bool     // all rows so far are zero (see isZeros) and fixed is empty
}

func newBuilder(t column.Type) builder { return builder{typ: t, width: t.ValueWidth(), zeros: true} }

// newFieldBuilder is newBuilder with support for lists, the only kind with children.
func newFieldBuilder(f column.Field) builder {
	b := newBuilder(f.Type)
	if f.Type.Kind == column.List {
		elem := newFieldBuilder(f.Fields[0])
		b.elem = &elem
	}
	return b
}

// begin resets a builder. It may have served another type.
func (b *builder) begin(t column.Type) {
	b.typ, b.width, b.n, b.zeros = t, t.ValueWidth(), 0, true
	b.fixed, b.text, b.offsets, b.validity, b.elem = b.fixed[:0], b.text[:0], b.offsets[:0], nil, nil
}

func (b *builder) isText() bool { return b.typ.Kind.IsText() }

// size returns the bytes that the builder holds.
func (b *builder) size() int64 {
	return int64(8*cap(b.fixed) + cap(b.text) + 4*cap(b.offsets) + cap(b.validity))
}

// column returns the rows as a column: a view.
func (b *builder) column() column.Column {
	c := column.Column{Type: b.typ, Len: b.n}
	switch {
	case b.isText():
		c.Values, c.Offsets = b.text, b.offsets
	case b.elem != nil:
		elem := b.elem.column()
		elem.Name = column.ElementName
		c.Offsets, c.Children = b.offsets, []column.Column{elem}
	case !b.zeros:
		c.Values = bytesOf(b.fixed)
		c.Values = c.Values[: b.n*b.width : b.n*b.width]
	}
	if b.validity == nil {
		return c
	}
	if c.Nulls = b.n - bitmap.Count(b.validity, 0, b.n); c.Nulls > 0 {
		c.Validity = b.validity
	}
	return c
}

// maxText is the maximum number of bytes of text, or elements of lists, in one builder: offsets have 32 bits.
const maxText = math.MaxInt32

// check returns an error if offsets overflowed. It must be called before the builder's column is used.
func (b *builder) check() error {
	if len(b.text) > maxText || b.elem != nil && b.elem.n > maxText {
		return tooLarge(max(len(b.text), b.n))
	}
	if b.elem != nil {
		return b.elem.check()
	}
	return nil
}

func tooLarge(n int) error {
	return fmt.Errorf("groupby: %d bytes or elements in one column: %w", n, column.ErrTooLarge)
}

// fits reports whether rows [i, j) of a column can be appended without overflow of offsets.
func (b *builder) fits(c *column.Column, i, j int) bool {
	switch {
	case b.isText():
		return len(b.text)+textSize(c, i, j) <= maxText
	case b.elem != nil && i < j:
		from, to := int(c.Offsets[i]), int(c.Offsets[j])
		return b.elem.n+to-from <= maxText && b.elem.fits(&c.Children[0], from, to)
	}
	return true
}

// extend makes room for n more rows of a fixed-width kind and returns the address of the first; nil if n is 0. The
// caller writes all of them.
func (b *builder) extend(n int) unsafe.Pointer {
	if n == 0 { // avoids a pointer to the end of the memory
		return nil
	}
	if b.zeros { // the zeros have no memory yet
		b.zeros = false
		b.fixed = grown(b.fixed[:0], (b.n*b.width+7)/8)
	}
	if b.width == 0 { // vectors of unknown dimension
		return nil
	}
	b.fixed = extended(b.fixed, ((b.n+n)*b.width+7)/8)
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.fixed)), b.n*b.width)
}

// reserve makes room for n rows of a fixed-width kind in an empty builder.
func (b *builder) reserve(n int, mem *slab) {
	if words := (n*b.width + 7) / 8; cap(b.fixed) < words {
		b.fixed = mem.take(words)
	}
}

// gather appends the rows sel of a column.
func (b *builder) gather(c *column.Column, sel []uint32) {
	if len(sel) == 0 {
		return
	}
	b.gatherValidity(c, sel)
	n := len(sel)
	switch {
	case b.isText():
		b.gatherText(c, sel)
	case b.elem != nil:
		for _, i := range sel {
			b.appendLists(c, int(i), int(i)+1)
		}
	case isZeros(c) && b.zeros:
	case isZeros(c):
		clear(unsafe.Slice((*byte)(b.extend(n)), n*b.width))
	default:
		b.gatherFixed(b.extend(n), c, sel)
	}
	b.n += n
}

// gatherFixed writes the rows sel of a column of a fixed-width kind.
func (b *builder) gatherFixed(to unsafe.Pointer, c *column.Column, sel []uint32) {
	from := unsafe.Pointer(unsafe.SliceData(c.Values))
	switch w := b.width; w {
	case 0:
	case 1:
		gather((*uint8)(to), (*uint8)(from), c.Len, sel)
	case 2:
		gather((*uint16)(to), (*uint16)(from), c.Len, sel)
	case 4:
		gather((*uint32)(to), (*uint32)(from), c.Len, sel)
	case 8:
		gather((*uint64)(to), (*uint64)(from), c.Len, sel)
	case 16:
		gather((*[16]byte)(to), (*[16]byte)(from), c.Len, sel)
	default:
		for k, i := range sel {
			copy(unsafe.Slice((*byte)(unsafe.Add(to, k*w)), w), unsafe.Slice((*byte)(unsafe.Add(from, int(i)*w)), w))
		}
	}
}

func gather[T any](to, from *T, rows int, sel []uint32) {
	dst, src := unsafe.Slice(to, len(sel)), unsafe.Slice(from, rows)
	for k, i := range sel {
		dst[k] = src[i]
	}
}

// startOffsets adds the first offset if it is missing.
func (b *builder) startOffsets() {
	if len(b.offsets) == 0 {
		b.offsets = append(b.offsets, 0)
	}
}

func (b *builder) gatherText(c *column.Column, sel []uint32) {
	b.startOffsets()
	for _, i := range sel {
		if !c.Null(int(i)) {
			b.text = append(b.text, textAt(c, int(i))...)
		}
		b.offsets = append(b.offsets, int32(len(b.text)))
	}
}

// gatherValidity appends the validity of the rows sel of a column. The builder has none before its first NULL.
func (b *builder) gatherValidity(c *column.Column, sel []uint32) {
	if c.Nulls == 0 && b.validity == nil {
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

// startValidity extends the validity by n rows, all NULL. It creates the validity if there is none; earlier rows are
// then not NULL.
func (b *builder) startValidity(n int) {
	if b.validity == nil {
		b.validity = make([]byte, (b.n+7)/8, (b.n+n+7)/8+64)
		bitmap.Fill(b.validity, 0, b.n)
	}
	b.validity = grown(b.validity, (b.n+n+7)/8)
}

// append appends rows [i, j) of a column.
func (b *builder) append(c *column.Column, i, j int) {
	n := j - i
	if n == 0 {
		return
	}
	if c.Nulls != 0 || b.validity != nil {
		b.startValidity(n)
		if c.Nulls != 0 {
			bitmap.Copy(b.validity, b.n, c.Validity, i, n)
		} else {
			bitmap.Fill(b.validity, b.n, n)
		}
	}
	switch {
	case b.isText() && c.Dict == nil:
		b.startOffsets()
		shift := int32(len(b.text)) - c.Offsets[i]
		b.text = append(b.text, c.Values[c.Offsets[i]:c.Offsets[j]]...)
		for _, o := range c.Offsets[i+1 : j+1] {
			b.offsets = append(b.offsets, o+shift)
		}
	case b.isText():
		b.startOffsets()
		for k := i; k < j; k++ {
			b.text = append(b.text, textAt(c, k)...)
			b.offsets = append(b.offsets, int32(len(b.text)))
		}
	case b.elem != nil:
		b.appendLists(c, i, j)
	case isZeros(c) && b.zeros:
	case isZeros(c):
		clear(unsafe.Slice((*byte)(b.extend(n)), n*b.width))
	default:
		to := unsafe.Slice((*byte)(b.extend(n)), n*b.width)
		copy(to, c.Values[i*b.width:j*b.width])
	}
	b.n += n
}

// appendLists appends the elements and offsets of rows [i, j) of a column of lists.
func (b *builder) appendLists(c *column.Column, i, j int) {
	b.startOffsets()
	from := int(c.Offsets[i])
	shift := b.elem.n - from
	b.elem.append(&c.Children[0], from, int(c.Offsets[j]))
	for _, o := range c.Offsets[i+1 : j+1] {
		b.offsets = append(b.offsets, int32(int(o)+shift))
	}
}

// spread writes row i of a column of a fixed-width kind to row places[i]. The builder has all its rows, which are zero
// at these places.
func (b *builder) spread(c *column.Column, places []uint32) {
	if b.validity != nil {
		for i, p := range places {
			if !c.Null(i) {
				b.validity[p>>3] |= 1 << (p & 7)
			}
		}
	}
	if isZeros(c) || len(places) == 0 {
		return
	}
	to, from := unsafe.Pointer(unsafe.SliceData(b.fixed)), unsafe.Pointer(unsafe.SliceData(c.Values))
	switch w := b.width; w {
	case 0:
	case 1:
		spread((*uint8)(to), (*uint8)(from), b.n, places)
	case 2:
		spread((*uint16)(to), (*uint16)(from), b.n, places)
	case 4:
		spread((*uint32)(to), (*uint32)(from), b.n, places)
	case 8:
		spread((*uint64)(to), (*uint64)(from), b.n, places)
	default:
		for i, p := range places {
			copy(unsafe.Slice((*byte)(unsafe.Add(to, int(p)*w)), w), unsafe.Slice((*byte)(unsafe.Add(from, i*w)), w))
		}
	}
}

func spread[T any](to, from *T, rows int, places []uint32) {
	dst, src := unsafe.Slice(to, rows), unsafe.Slice(from, len(places))
	for i, p := range places {
		dst[p] = src[i]
	}
}
