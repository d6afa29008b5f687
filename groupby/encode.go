// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/vecql/vecql/column"
)

// Encoding of columns, for temporary files and partials. All integers are little-endian. The type is known to both
// sides. A column of n rows is
//
//	flags     1 byte: 1 it has a validity, 2 all values are zero
//	validity  (n+7)/8 bytes, if it has one: bit 1 for a value
//	values    of fixed-width kinds: n times their width, nothing if all are zero
//	          of text: n lengths of 4 bytes each, then the bytes of all

const (
	flagValidity = 1
	flagZero     = 2
)

// appendColumn appends rows [i, j) of a column.
func appendColumn(dst []byte, c *column.Column, i, j int) []byte {
	n := j - i
	var flags byte
	if c.Nulls != 0 {
		flags |= flagValidity
	}
	if isZeros(c) {
		flags |= flagZero
	}
	dst = append(dst, flags)
	if c.Nulls != 0 {
		at := len(dst)
		dst = append(dst, make([]byte, (n+7)/8)...)
		for k := range n {
			if !c.Null(i + k) {
				dst[at+k>>3] |= 1 << (k & 7)
			}
		}
	}
	if c.Type.Kind.IsText() {
		text := func(k int) string {
			if c.Null(k) {
				return ""
			}
			return textAt(c, k)
		}
		for k := i; k < j; k++ {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(len(text(k))))
		}
		for k := i; k < j; k++ {
			dst = append(dst, text(k)...)
		}
		return dst
	}
	if isZeros(c) || n == 0 {
		return dst
	}
	w := c.Type.ValueWidth()
	at := len(dst)
	dst = append(dst, c.Values[i*w:j*w]...)
	swapToLittle(dst[at:], c.Type)
	return dst
}

// littleEndian reports the byte order of this machine.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// swapToLittle reverses the bytes of values on machines that are not little-endian. The operation is its own inverse.
func swapToLittle(b []byte, t column.Type) {
	if littleEndian {
		return
	}
	kind := t.Kind
	if kind == column.Vector {
		kind = t.Elem
	}
	parts := []int{column.Type{Kind: kind}.ValueWidth()}
	switch kind {
	case column.UUID, column.Fixed:
		return
	case column.Decimal128, column.Decimal256:
		parts = []int{8}
	case column.Duration:
		parts = []int{4, 4, 8}
	}
	for at := 0; len(b) >= parts[at]; at = (at + 1) % len(parts) {
		w := parts[at]
		for i, j := 0, w-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
		b = b[w:]
	}
}

var errShort = errors.New("data is cut off")

// cutColumn splits a column of n rows off src. The column does not share memory with src. Allocations are bounded by
// the length of src, except for columns that are all zero.
func cutColumn(src []byte, t column.Type, n int) (column.Column, []byte, error) {
	if len(src) < 1 {
		return column.Column{}, nil, errShort
	}
	flags := src[0]
	src = src[1:]
	if flags&^(flagValidity|flagZero) != 0 || flags&flagZero != 0 && t.Kind.IsText() {
		return column.Column{}, nil, fmt.Errorf("invalid column flags %#x", flags)
	}
	b := newBuilder(t)
	b.n = n
	if flags&flagValidity != 0 {
		size := (n + 7) / 8
		if len(src) < size {
			return column.Column{}, nil, errShort
		}
		b.validity = append([]byte(nil), src[:size]...)
		src = src[size:]
	}
	switch {
	case t.Kind.IsText():
		if len(src)/4 < n {
			return column.Column{}, nil, errShort
		}
		lengths, rest := src[:4*n], src[4*n:]
		b.offsets = make([]int32, n+1)
		at := 0
		for k := range n {
			at += int(binary.LittleEndian.Uint32(lengths[4*k:]))
			if at > len(rest) || at > maxText {
				return column.Column{}, nil, errShort
			}
			b.offsets[k+1] = int32(at)
		}
		b.text = append([]byte(nil), rest[:at]...)
		src = rest[at:]
	case flags&flagZero != 0:
	default:
		size := n * b.width
		if b.width > math.MaxInt/max(1, n) || len(src) < size {
			return column.Column{}, nil, errShort
		}
		b.zeros = false
		b.fixed = make([]uint64, (size+7)/8)
		to := bytesOf(b.fixed)[:size]
		copy(to, src)
		swapToLittle(to, t)
		if t.Kind == column.Bool {
			for _, x := range to {
				if x > 1 {
					return column.Column{}, nil, fmt.Errorf("value of a bool is %d, want 0 or 1", x)
				}
			}
		}
		src = src[size:]
	}
	return b.column(), src, nil
}

// A frame is a number of rows, or of groups with their states, as columns: keys, then values or states, then numbers if
// the plan needs them.
//
//	rows      4 bytes
//	states    1 byte: 0 rows, 1 groups
//	columns   as above

// maxFrame is the maximum number of rows in a frame. It bounds the memory of columns that are all zero.
const maxFrame = 1 << 16

// frameTypes returns the types of the columns of a frame.
func (p *plan) frameTypes(states bool) []column.Type {
	types := append([]column.Type(nil), p.keys.types...)
	if states {
		types = append(types, p.stateTypes...)
	} else {
		types = append(types, p.rowTypes...)
	}
	if p.rowNumbers {
		types = append(types, column.Type{Kind: column.Int64})
	}
	return types
}

// frameEnd returns the end of a frame that begins at row i: after maxFrame rows, or about 4 MiB.
func frameEnd(cols []column.Column, i, n int) int {
	width := 0
	for k := range cols {
		width += cols[k].Type.ValueWidth()
	}
	n = min(n, i+maxFrame)
	for j, size := i, 0; j < n; j++ {
		size += width
		for k := range cols {
			if cols[k].Type.Kind.IsText() {
				size += 4 + textSize(&cols[k], j, j+1)
			}
		}
		if size > 4<<20 {
			return j + 1
		}
	}
	return n
}

// appendFrame appends a frame of rows [i, j) of the columns.
func appendFrame(dst []byte, cols []column.Column, states bool, i, j int) []byte {
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

// cutFrame splits a frame off src.
func (p *plan) cutFrame(src []byte) (cols []column.Column, n int, states bool, rest []byte, err error) {
	if len(src) < 5 {
		return nil, 0, false, nil, errShort
	}
	n = int(binary.LittleEndian.Uint32(src))
	if n > maxFrame || src[4] > 1 {
		return nil, 0, false, nil, fmt.Errorf("invalid frame of %d rows and kind %d", n, src[4])
	}
	states = src[4] == 1
	src = src[5:]
	for _, t := range p.frameTypes(states) {
		var c column.Column
		if c, src, err = cutColumn(src, t, n); err != nil {
			return nil, 0, false, nil, err
		}
		cols = append(cols, c)
	}
	return cols, n, states, src, nil
}

// frameRows is the number of rows that are converted to the columns of frames at a time. It bounds the memory of these
// copies.
const frameRows = 1 << 13

// frameColumns returns the columns of a frame of rows [i, j) of r. values are the other columns of these rows.
func (p *plan) frameColumns(r *keyRows, values []column.Column, numbers []int64, i, j int) []column.Column {
	keys := make([]builder, len(p.keys.types))
	for k, t := range p.keys.types {
		keys[k] = newBuilder(t)
		keys[k].reserve(j-i, nil)
		if keys[k].isText() {
			keys[k].text = make([]byte, 0, r.textBytes(i, j)+15*(j-i)+1)
			keys[k].offsets = make([]int32, 0, j-i+1)
		}
	}
	p.keys.unpack(r, i, j, keys)
	cols := make([]column.Column, 0, len(keys)+len(values)+1)
	for k := range keys {
		cols = append(cols, keys[k].column())
	}
	cols = append(cols, values...)
	if p.rowNumbers {
		cols = append(cols, of(numbers[i:j]))
	}
	return cols
}
