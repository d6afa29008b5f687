// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"fmt"
	"math"
	"slices"
	"unsafe"
)

// This file holds the memory of accumulators whose state is more than a number per group: a string per group (texts), a list per group
// (lists), a value of any type per group (cells). All of it is flat, so that the garbage collector has nothing to follow, and kept for reuse.

// texts are strings by group, in one arena. A string that is replaced by one as long or shorter stays where it is; otherwise its place is lost,
// until half of the arena is. Memory: 16 bytes per group and the strings, up to twice.
type texts struct {
	of    []textPlace
	arena []byte
	lost  int // bytes of the arena that belong to no group
	out   []string
}

type textPlace struct {
	at      int
	n, room uint32
}

func (t *texts) resize(n int) { t.of = grown(t.of, n) }
func (t *texts) reset()       { t.of, t.arena, t.lost = t.of[:0], t.arena[:0], 0 }
func (t *texts) size() int64  { return int64(cap(t.arena)) + 16*int64(cap(t.of)) + 16*int64(cap(t.out)) }

// get returns the string of a group: a view, valid until the next set.
func (t *texts) get(id uint32) string {
	p := t.of[id]
	b := t.arena[p.at : p.at+int(p.n)]
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// set copies s. Strings of 2 GiB or more are an error: columns of text have no offsets for them.
func (t *texts) set(id uint32, s string) error {
	if len(s) > math.MaxInt32 {
		return fmt.Errorf("groupby: a string of %d bytes", len(s))
	}
	p := &t.of[id]
	if len(s) > int(p.room) {
		room := len(s)
		if p.room > 0 { // it was replaced once, and will be again
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

// column returns the strings, valid until the next set.
func (t *texts) column() Column {
	t.out = grown(t.out[:0], len(t.of))
	for id := range t.out {
		t.out[id] = t.get(uint32(id))
	}
	return Values(t.out)
}

// A lists holds a list per group. A list lies in a span of 4, 8, 16, ... elements; spans that became too small go to the next list that needs one of
// their size. Memory: 16 bytes per group, and the lists, up to about thrice.
type lists[T any] struct {
	of   []span
	mem  []T
	free [32][]int // by class
}

type span struct {
	at    int
	n     uint32
	class uint8 // 0: no span yet
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

// whole returns the span of a group, with what lies behind its list.
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

// widen moves the list of a group to a span of another class. What lies behind the list is unspecified.
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

// cells are values of one type by group; those without are NULL.
type cells interface {
	resize(n int)
	reset()
	// held tells which groups have a value that is not NULL. It is valid, and may be written, until the next resize.
	held() []bool
	// take sets the cell of group ids[r] to row r of the column, NULL or not, for each r of rows in turn. Group 0 may be left out.
	take(rows, ids []uint32, col *Column) error
	// column returns the values: a view, valid until the next take.
	column() Column
	size() int64
}

// newCells returns cells for values of type t, which must be valid.
func newCells(t Type) cells {
	if t == String {
		return &textCells{}
	}
	if t == ID {
		return &fixedCells[[16]byte]{typ: t, dim: 1}
	}
	dim := max(1, t.Dim())
	switch t.Elem().width() {
	case 1:
		return &fixedCells[uint8]{typ: t, dim: dim}
	case 2:
		return &fixedCells[uint16]{typ: t, dim: dim}
	case 4:
		return &fixedCells[uint32]{typ: t, dim: dim}
	}
	return &fixedCells[uint64]{typ: t, dim: dim}
}

// fixedCells are cells of dim elements of the width of T.
type fixedCells[T any] struct {
	typ  Type
	dim  int
	vals []T
	has  []bool
}

func (c *fixedCells[T]) resize(n int) { c.vals, c.has = grown(c.vals, n*c.dim), grown(c.has, n) }
func (c *fixedCells[T]) reset()       { c.vals, c.has = c.vals[:0], c.has[:0] }
func (c *fixedCells[T]) held() []bool { return c.has }
func (c *fixedCells[T]) size() int64  { return int64(cap(c.has)) }

func (c *fixedCells[T]) take(rows, ids []uint32, col *Column) error {
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

func (c *fixedCells[T]) column() Column {
	return Column{typ: c.typ, n: len(c.has), data: unsafe.Pointer(unsafe.SliceData(c.vals)), validity: bitsOf(c.has)}
}

// textCells are cells of strings.
type textCells struct {
	texts
	has []bool
}

func (c *textCells) resize(n int)   { c.texts.resize(n); c.has = grown(c.has, n) }
func (c *textCells) reset()         { c.texts.reset(); c.has = c.has[:0] }
func (c *textCells) held() []bool   { return c.has }
func (c *textCells) column() Column { return c.texts.column().WithValidity(bitsOf(c.has)) }

func (c *textCells) take(rows, ids []uint32, col *Column) error {
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
		if err := c.set(id, col.text(int(r))); err != nil {
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

// orderKeys writes to dst the values of a column of numbers as words whose order is theirs, NaN last and -0 being 0; in the opposite order if
// least is set. It returns dst with one word per row, and grows it if need be. Words of NULLs are unspecified.
func orderKeys(dst []uint64, col *Column, least bool) []uint64 {
	dst = grown(dst[:0], col.n)
	flip := flipIf(least)
	switch col.typ {
	case Int8:
		orderSigned(dst, view[int8](col), flip)
	case Int16:
		orderSigned(dst, view[int16](col), flip)
	case Int32:
		orderSigned(dst, view[int32](col), flip)
	case Int64:
		orderSigned(dst, view[int64](col), flip)
	case Uint8:
		orderUnsigned(dst, view[uint8](col), flip)
	case Uint16:
		orderUnsigned(dst, view[uint16](col), flip)
	case Uint32:
		orderUnsigned(dst, view[uint32](col), flip)
	case Uint64:
		orderUnsigned(dst, view[uint64](col), flip)
	case Float32:
		orderFloat(dst, view[float32](col), flip)
	case Float64:
		orderFloat(dst, view[float64](col), flip)
	}
	return dst
}

const signBit = 1 << 63

// flipIf returns what turns the order of words around when they are xored with it, or does not.
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

// orderedFloat returns the float that orderFloat made a word of, flip being 0.
func orderedFloat(w uint64) float64 {
	if w&signBit != 0 {
		return math.Float64frombits(w ^ signBit)
	}
	return math.Float64frombits(^w)
}

// A textBuffer is memory for a column of strings that are made at once.
type textBuffer struct {
	data []byte
	ends []int
	out  []string
}

func (b *textBuffer) size() int64 {
	return int64(cap(b.data)) + 8*int64(cap(b.ends)) + 16*int64(cap(b.out))
}

// column returns a column of n strings, string id being what write appends. It is valid until the next call.
func (b *textBuffer) column(n int, write func(dst []byte, id uint32) []byte) Column {
	b.data, b.ends, b.out = b.data[:0], grown(b.ends[:0], n), grown(b.out[:0], n)
	for id := range b.ends {
		b.data = write(b.data, uint32(id))
		b.ends[id] = len(b.data)
	}
	start := 0
	for id, end := range b.ends {
		s := b.data[start:end]
		b.out[id] = unsafe.String(unsafe.SliceData(s), len(s))
		start = end
	}
	return Values(b.out)
}
