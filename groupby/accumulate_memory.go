// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Memory of accumulators whose state is more than a number per group: texts has a text per group, lists a list per
// group, cells a value of any type per group. All of it is flat, so that the garbage collector has no pointers to
// follow, and is kept for reuse.

// texts are strings by group, in one arena. A new string that is no longer than the old one's room overwrites it.
// Otherwise the old room is lost; the arena is compacted when half of it is lost. Memory: 16 bytes per group and up to
// twice the strings.
type texts struct {
	of    []textPlace
	arena []byte
	lost  int // unused bytes in arena
	buf   textBuffer
}

// textPlace is the place of one text in the arena.
type textPlace struct {
	at      int
	n, room uint32 // bytes used and reserved
}

func (t *texts) resize(n int) { t.of = grown(t.of, n) }
func (t *texts) reset()       { t.of, t.arena, t.lost = t.of[:0], t.arena[:0], 0 }
func (t *texts) size() int64  { return int64(cap(t.arena)) + 16*int64(cap(t.of)) + t.buf.size() }

// get returns the string of a group: a view, valid until the next set.
func (t *texts) get(id uint32) string {
	p := t.of[id]
	return stringOf(t.arena[p.at : p.at+int(p.n)])
}

// set copies s. It returns an error for 2 GiB or more, beyond the offsets of text columns.
func (t *texts) set(id uint32, s string) error {
	if len(s) > math.MaxInt32 {
		return fmt.Errorf("groupby: string of %d bytes exceeds 2 GiB", len(s))
	}
	p := &t.of[id]
	if len(s) > int(p.room) {
		room := len(s)
		if p.room > 0 { // replaced before, so it probably will be again
			room += room / 2
		}
		t.lost += int(p.room)
		p.n, p.room = 0, 0
		if t.lost > 1<<16 && t.lost > len(t.arena)/2 {
			t.compact()
		}
		p.at, p.room = len(t.arena), uint32(room)
		t.arena = slices.Grow(t.arena, room)[:p.at+room]
	}
	copy(t.arena[p.at:], s)
	p.n = uint32(len(s))
	return nil
}

func (t *texts) compact() {
	arena := make([]byte, 0, len(t.arena)-t.lost/2)
	for id := range t.of {
		p := &t.of[id]
		at := len(arena)
		arena = append(arena, t.arena[p.at:p.at+int(p.room)]...)
		p.at = at
	}
	t.arena, t.lost = arena, 0
}

// column returns the texts of groups [i, j), valid until the next call.
func (t *texts) column(i, j int) (column.Column, error) {
	return t.buf.column(i, j, func(dst []byte, id uint32) []byte { return append(dst, t.get(id)...) })
}

// A lists holds a list per group. Each list has a span of 4, 8, 16, ... elements. A span that became too small is
// reused by the next list that needs its size. Memory: 16 bytes per group, and up to about three times the lists.
type lists[T any] struct {
	of   []span
	mem  []T
	free [32][]int // by class
}

// span is the place of one list in the memory of lists.
type span struct {
	at    int
	n     uint32 // elements used
	class uint8  // 0 means no span
}

// room returns the number of elements of a span: 0, 4, 8, ...
func (p span) room() int { return 2 << p.class &^ 2 }

func (b *lists[T]) resize(n int) { b.of = grown(b.of, n) }

func (b *lists[T]) reset() {
	b.of, b.mem = b.of[:0], b.mem[:0]
	for i := range b.free {
		b.free[i] = b.free[i][:0]
	}
}

func (b *lists[T]) size() int64 {
	var e T
	return int64(cap(b.mem))*int64(unsafe.Sizeof(e)) + 16*int64(cap(b.of))
}

// list returns the list of a group: a view, valid until a list grows.
func (b *lists[T]) list(id uint32) []T {
	p := b.of[id]
	return b.mem[p.at : p.at+int(p.n)]
}

// whole returns the span of a group, including the elements behind its list.
func (b *lists[T]) whole(id uint32) []T {
	p := b.of[id]
	return b.mem[p.at : p.at+p.room()]
}

// push appends to the list of a group.
func (b *lists[T]) push(id uint32, v T) {
	p := &b.of[id]
	if int(p.n) == p.room() {
		b.widen(id, p.class+1)
	}
	b.mem[p.at+int(p.n)] = v
	p.n++
}

// widen moves the list of a group to a span of another class. Elements behind the list are unspecified.
func (b *lists[T]) widen(id uint32, class uint8) {
	p := &b.of[id]
	old := *p
	p.class = class
	if free := b.free[class]; len(free) > 0 {
		p.at = free[len(free)-1]
		b.free[class] = free[:len(free)-1]
	} else {
		p.at = len(b.mem)
		b.mem = slices.Grow(b.mem, p.room())[:p.at+p.room()]
	}
	copy(b.mem[p.at:], b.mem[old.at:old.at+int(old.n)])
	if old.class > 0 {
		b.free[old.class] = append(b.free[old.class], old.at)
	}
}

// cells are values of one type by group; a group without a value is NULL.
type cells interface {
	resize(n int)
	reset()
	// held returns the validity by group. The caller may read and write it until the next resize.
	held() []bool
	// take sets the cell of group ids[r] to row r of the column, NULL or not, for each r of rows in turn. It may skip
	// group 0.
	take(rows, ids []uint32, col *column.Column) error
	// column returns the values of groups [i, j): a view, valid until the next call.
	column(i, j int) (column.Column, error)
	size() int64
}

// newCells returns cells for values of type t, which has no children.
func newCells(t column.Type) (cells, error) {
	if t.Kind.IsNested() {
		return nil, errors.New(wantFlat)
	}
	if t.Kind.IsText() {
		return &textCells{typ: t}, nil
	}
	elem, dim := t, 1
	if t.Kind == column.Vector {
		elem, dim = column.Type{Kind: t.Elem}, t.Dim
	}
	switch w := elem.ValueWidth(); w {
	case 1:
		return &fixedCells[uint8]{typ: t, dim: dim}, nil
	case 2:
		return &fixedCells[uint16]{typ: t, dim: dim}, nil
	case 4:
		return &fixedCells[uint32]{typ: t, dim: dim}, nil
	case 8:
		return &fixedCells[uint64]{typ: t, dim: dim}, nil
	case 16:
		return &fixedCells[[16]byte]{typ: t, dim: dim}, nil
	default:
		return &fixedCells[uint8]{typ: t, dim: w * dim}, nil
	}
}

// fixedCells are cells of dim elements of the width of T.
type fixedCells[T any] struct {
	typ  column.Type
	dim  int
	vals []T
	has  []bool
}

func (c *fixedCells[T]) resize(n int) { c.vals, c.has = grown(c.vals, n*c.dim), grown(c.has, n) }
func (c *fixedCells[T]) reset()       { c.vals, c.has = c.vals[:0], c.has[:0] }
func (c *fixedCells[T]) held() []bool { return c.has }
func (c *fixedCells[T]) size() int64  { return int64(cap(c.has)) }

// take copies the values, which include zeros for NULL rows. Vectors of group 0 are not copied, because they may be
// long.
func (c *fixedCells[T]) take(rows, ids []uint32, col *column.Column) error {
	if len(rows) == 0 {
		return nil
	}
	if isZeros(col) {
		for _, r := range rows {
			id := int(ids[r])
			clear(c.vals[id*c.dim : (id+1)*c.dim])
			c.has[id] = !col.Null(int(r))
		}
		return nil
	}
	x := view[T](col)
	if c.dim == 1 {
		for _, r := range rows {
			c.vals[ids[r]] = x[r]
		}
	} else {
		for _, r := range rows {
			if id := int(ids[r]); id != 0 {
				copy(c.vals[id*c.dim:(id+1)*c.dim], x[int(r)*c.dim:])
			}
		}
	}
	for _, r := range rows {
		c.has[ids[r]] = !col.Null(int(r))
	}
	return nil
}

func (c *fixedCells[T]) column(i, j int) (column.Column, error) {
	return columnOf(c.typ, j-i, c.vals[i*c.dim:j*c.dim]).WithValidity(bitsOf(c.has[i:j])), nil
}

// textCells are cells of strings.
type textCells struct {
	texts
	typ column.Type
	has []bool
}

func (c *textCells) resize(n int) { c.texts.resize(n); c.has = grown(c.has, n) }
func (c *textCells) reset()       { c.texts.reset(); c.has = c.has[:0] }
func (c *textCells) held() []bool { return c.has }

func (c *textCells) column(i, j int) (column.Column, error) {
	col, err := c.texts.column(i, j)
	col.Type = c.typ
	if err != nil {
		return col, err
	}
	return col.WithValidity(bitsOf(c.has[i:j])), nil
}

// take copies the text of each row to the memory of its group, except for group 0.
func (c *textCells) take(rows, ids []uint32, col *column.Column) error {
	for _, r := range rows {
		id := ids[r]
		if id == 0 {
			continue
		}
		null := col.Null(int(r))
		c.has[id] = !null
		if null {
			continue
		}
		if err := c.set(id, textAt(col, int(r))); err != nil {
			return err
		}
	}
	return nil
}

// bitsOf returns has as the validity of a column.
func bitsOf(has []bool) []byte {
	v := make([]byte, (len(has)+7)/8)
	for i, b := range has {
		if b {
			v[i>>3] |= 1 << (i & 7)
		}
	}
	return v
}

// orderKeys converts a column of numbers to words with the same order, NaN last and -0 equal to 0; the order is
// reversed if least is set. It returns dst with one word per row, reallocated if necessary. Words of NULLs are
// unspecified.
func orderKeys(dst []uint64, col *column.Column, least bool) []uint64 {
	dst = grown(dst[:0], col.Len)
	flip := flipIf(least)
	switch storedAs(col.Type) {
	case column.Int8:
		orderSigned(dst, view[int8](col), flip)
	case column.Int16:
		orderSigned(dst, view[int16](col), flip)
	case column.Int32:
		orderSigned(dst, view[int32](col), flip)
	case column.Int64:
		orderSigned(dst, view[int64](col), flip)
	case column.Uint8:
		orderUnsigned(dst, view[uint8](col), flip)
	case column.Uint16:
		orderUnsigned(dst, view[uint16](col), flip)
	case column.Uint32:
		orderUnsigned(dst, view[uint32](col), flip)
	case column.Uint64:
		orderUnsigned(dst, view[uint64](col), flip)
	case column.Float32:
		orderFloat(dst, view[float32](col), flip)
	case column.Float64:
		orderFloat(dst, view[float64](col), flip)
	}
	return dst
}

const signBit = 1 << 63

// flipIf returns the mask that reverses the order of words when they are xored with it, or 0.
func flipIf(around bool) uint64 {
	if around {
		return ^uint64(0)
	}
	return 0
}

func orderSigned[T signed](dst []uint64, x []T, flip uint64) {
	for i, v := range x[:len(dst)] {
		dst[i] = uint64(int64(v)) ^ signBit ^ flip
	}
}

func orderUnsigned[T unsigned](dst []uint64, x []T, flip uint64) {
	for i, v := range x[:len(dst)] {
		dst[i] = uint64(v) ^ flip
	}
}

func orderFloat[T float](dst []uint64, x []T, flip uint64) {
	for i, v := range x[:len(dst)] {
		b := canonical64(float64(v))
		dst[i] = b ^ (uint64(int64(b)>>63) | signBit) ^ flip
	}
}

// orderedFloat is the inverse of orderFloat with flip 0.
func orderedFloat(w uint64) float64 {
	if w&signBit != 0 {
		return math.Float64frombits(w ^ signBit)
	}
	return math.Float64frombits(^w)
}

// A textBuffer is the reusable memory of a column of bytes.
type textBuffer struct {
	data    []byte
	offsets []int32
}

func (b *textBuffer) size() int64 { return int64(cap(b.data)) + 4*int64(cap(b.offsets)) }

// column returns a column of the bytes that write appends for groups [i, j). It is valid until the next call. If the
// column is too large, the error wraps column.ErrTooLarge.
func (b *textBuffer) column(i, j int, write func(dst []byte, id uint32) []byte) (column.Column, error) {
	b.data, b.offsets = b.data[:0], append(b.offsets[:0], 0)
	for id := i; id < j; id++ {
		b.data = write(b.data, uint32(id))
		if len(b.data) > maxText {
			return column.Column{}, tooLarge(len(b.data))
		}
		b.offsets = append(b.offsets, int32(len(b.data)))
	}
	return column.Column{Type: typeBytes, Len: j - i, Values: b.data, Offsets: b.offsets}, nil
}
