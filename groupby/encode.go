// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"
)

// This file writes columns as bytes and reads them again, for temporary files and for partials. Everything is little-endian. A column of n
// rows, whose type both sides know, is
//
//	flags     1 byte: 1 it has a validity, 2 all values are zero
//	validity  (n+7)/8 bytes, if it has one: bit 1 for a value
//	values    of fixed types: n times their width, nothing if all are zero
//	          of strings: n lengths of 4 bytes each, then the bytes of all

const (
	flagValidity = 1
	flagZero     = 2
)

// appendColumn appends rows i to j of a column.
func appendColumn(dst []byte, c *Column, i, j int) []byte {
	n := j - i
	var flags byte
	if c.validity != nil {
		flags |= flagValidity
	}
	if c.form == formZero {
		flags |= flagZero
	}
	dst = append(dst, flags)
	if c.validity != nil {
		at := len(dst)
		dst = append(dst, make([]byte, (n+7)/8)...)
		for k := range n {
			if !c.Null(i + k) {
				dst[at+k>>3] |= 1 << (k & 7)
			}
		}
	}
	if c.typ == String {
		text := func(k int) string {
			if c.Null(k) {
				return ""
			}
			return c.text(k)
		}
		for k := i; k < j; k++ {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text(k))))
		}
		for k := i; k < j; k++ {
			dst = append(dst, text(k)...)
		}
		return dst
	}
	if c.form == formZero || n == 0 {
		return dst
	}
	w := c.typ.width()
	at := len(dst)
	dst = append(dst, unsafe.Slice((*byte)(unsafe.Add(c.data, i*w)), n*w)...)
	swapToLittle(dst[at:], c.typ)
	return dst
}

// littleEndian is the byte order of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// swapToLittle turns values around on machines that are not little-endian.
func swapToLittle(b []byte, t Type) {
	if littleEndian || t == ID {
		return
	}
	w := int(typeWidths[t.Elem()])
	for ; len(b) >= w; b = b[w:] {
		for i, j := 0, w-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
}

var errShort = errors.New("it ends too early")

// cutColumn takes a column of n rows off src. It is made in memory of its own. The memory asked for is bounded by that of src, but for columns that
// are all zero.
func cutColumn(src []byte, t Type, n int) (Column, []byte, error) {
	if len(src) < 1 {
		return Column{}, nil, errShort
	}
	flags := src[0]
	src = src[1:]
	if flags&^(flagValidity|flagZero) != 0 || flags&flagZero != 0 && t == String {
		return Column{}, nil, fmt.Errorf("column flags %#x", flags)
	}
	b := builder{typ: t, n: n}
	if flags&flagValidity != 0 {
		size := (n + 7) / 8
		if len(src) < size {
			return Column{}, nil, errShort
		}
		b.validity = append([]byte(nil), src[:size]...)
		src = src[size:]
	}
	switch {
	case t == String:
		if len(src)/4 < n {
			return Column{}, nil, errShort
		}
		lengths, rest := src[:4*n], src[4*n:]
		b.offsets = make([]int32, n+1)
		at := 0
		for k := range n {
			at += int(binary.LittleEndian.Uint32(lengths[4*k:]))
			if at > len(rest) || at > maxText {
				return Column{}, nil, errShort
			}
			b.offsets[k+1] = int32(at)
		}
		b.text = append([]byte(nil), rest[:at]...)
		src = rest[at:]
	case flags&flagZero != 0:
		b.zeros = true
	default:
		w := t.width()
		if len(src)/w < n {
			return Column{}, nil, errShort
		}
		to := unsafe.Slice((*byte)(b.take(n)), n*w)
		copy(to, src)
		swapToLittle(to, t)
		if t == Bool {
			for _, x := range to {
				if x > 1 {
					return Column{}, nil, fmt.Errorf("a bool is %d", x)
				}
			}
		}
		src = src[n*w:]
	}
	return b.column(), src, nil
}

// take makes the memory of n rows of a fixed type.
func (b *builder) take(n int) unsafe.Pointer {
	b.fixed = make([]uint64, (n*b.typ.width()+7)/8)
	return unsafe.Pointer(unsafe.SliceData(b.fixed))
}

// A frame is some rows, or groups with their states, as columns: keys, then values or states, then the numbers if they are kept.
//
//	rows      4 bytes
//	states    1 byte: 0 rows, 1 groups
//	columns   as above

// maxFrame is the number of rows in a frame: a reader can be sure to have memory for so many zeros.
const maxFrame = 1 << 16

// frameTypes returns the types of the columns of a frame.
func (p *plan) frameTypes(states bool) []Type {
	types := append([]Type(nil), p.Keys...)
	if states {
		types = append(types, p.stateTypes...)
	} else {
		types = append(types, p.rowTypes...)
	}
	if p.rowNumbers {
		types = append(types, Int64)
	}
	return types
}

// frameEnd returns where a frame that begins at row i ends: after maxFrame rows, or about 4 MiB.
func frameEnd(cols []Column, i, n int) int {
	width := 0
	for k := range cols {
		width += cols[k].typ.width()
	}
	n = min(n, i+maxFrame)
	for j, size := i, 0; j < n; j++ {
		size += width
		for k := range cols {
			if cols[k].typ == String {
				size += 4 + textSize(&cols[k], j, j+1)
			}
		}
		if size > 4<<20 {
			return j + 1
		}
	}
	return n
}

// appendFrame appends rows i to j of a frame's columns.
func appendFrame(dst []byte, cols []Column, states bool, i, j int) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(j-i))
	if states {
		dst = append(dst, 1)
	} else {
		dst = append(dst, 0)
	}
	for k := range cols {
		dst = appendColumn(dst, &cols[k], i, j)
	}
	return dst
}

// cutFrame takes a frame off src.
func (p *plan) cutFrame(src []byte) (cols []Column, n int, states bool, rest []byte, err error) {
	if len(src) < 5 {
		return nil, 0, false, nil, errShort
	}
	n = int(binary.LittleEndian.Uint32(src))
	if n > maxFrame || src[4] > 1 {
		return nil, 0, false, nil, fmt.Errorf("a frame of %d rows and kind %d", n, src[4])
	}
	states = src[4] == 1
	src = src[5:]
	for _, t := range p.frameTypes(states) {
		var c Column
		if c, src, err = cutColumn(src, t, n); err != nil {
			return nil, 0, false, nil, err
		}
		cols = append(cols, c)
	}
	return cols, n, states, src, nil
}

// frameColumns returns the columns of a block's frame.
func (p *plan) frameColumns(b *block) []Column {
	keys := make([]builder, len(p.Keys))
	for i, t := range p.Keys {
		keys[i] = newBuilder(t)
	}
	p.keys.unpack(&b.rows, 0, keys)
	cols := make([]Column, 0, len(keys)+len(b.cols)+1)
	for i := range keys {
		cols = append(cols, keys[i].column())
	}
	for i := range b.cols {
		cols = append(cols, b.cols[i].column())
	}
	if p.rowNumbers {
		cols = append(cols, Values(b.numbers))
	}
	return cols
}
