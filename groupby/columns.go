// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"unsafe"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/bitmap"
)

// Views and slices of columns, and classes of their kinds.

// isZeros reports whether a column of a fixed-width kind has rows but no values: all are zero. Some states are
// represented like this because they are usually zero for all groups; they then take neither memory nor loops. Columns
// of batches never are.
func isZeros(c *column.Column) bool {
	return c.Values == nil && c.Len > 0 && c.Offsets == nil && c.Dict == nil
}

// zeroColumn returns n zeros without memory; see isZeros.
func zeroColumn(t column.Type, n int) column.Column { return column.Column{Type: t, Len: n} }

// of returns a column of v without a name.
func of[T column.Value](v []T) column.Column { return column.Of("", v) }

// columnOf returns n rows of a fixed-width type that share the memory of v.
func columnOf[T any](t column.Type, n int, v []T) column.Column {
	return column.Column{Type: t, Len: n, Values: bytesOf(v)}
}

// bytesOf returns the memory of v.
func bytesOf[T any](v []T) []byte {
	if len(v) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(v[0])))
}

// view returns the values of a fixed-width kind as a slice of T. The width of T divides the width of a row.
func view[T any](c *column.Column) []T {
	var zero T
	n := c.Len * c.Type.ValueWidth() / int(unsafe.Sizeof(zero))
	if c.Values == nil {
		return make([]T, n)
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(c.Values))), n)
}

// codesOf returns the codes of a column that has a dictionary.
func codesOf(c *column.Column) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(c.Values))), c.Len)
}

// textAt returns the bytes of row i of a text or fixed-width kind, "" for NULL in a column of codes. The string shares
// the column's memory.
func textAt(c *column.Column, i int) string {
	var b []byte
	switch {
	case c.Dict != nil:
		if c.Null(i) { // its code is unspecified
			return ""
		}
		b = c.Dict.Bytes(codesOf(c)[i])
	case c.Offsets != nil:
		b = c.Values[c.Offsets[i]:c.Offsets[i+1]]
	default:
		w := c.Type.ValueWidth()
		if c.Values == nil {
			return string(make([]byte, w))
		}
		b = c.Values[i*w : (i+1)*w]
	}
	return stringOf(b)
}

// stringOf returns b as a string that shares its memory.
func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// textSize returns the number of bytes of text in rows [i, j), 0 for other kinds.
func textSize(c *column.Column, i, j int) int {
	if !c.Type.Kind.IsText() || i == j {
		return 0
	}
	if c.Dict == nil {
		return int(c.Offsets[j] - c.Offsets[i])
	}
	n := 0
	for k := i; k < j; k++ {
		n += len(textAt(c, k))
	}
	return n
}

// sliceRows is column.Column.Slice with support for columns of isZeros.
func sliceRows(c *column.Column, i, j int) column.Column {
	if !isZeros(c) {
		return c.Slice(i, j)
	}
	s := *c
	s.Len, s.Nulls, s.Validity = j-i, 0, nil
	if c.Nulls > 0 {
		if s.Nulls = s.Len - bitmap.Count(c.Validity, i, s.Len); s.Nulls > 0 {
			s.Validity = bitmap.Slice(c.Validity, i, s.Len)
		}
	}
	return s
}

// validWord returns the validity of rows i to i+63, where i is a multiple of 64 and less than the number of rows. Bits
// beyond the last row are 0.
func validWord(c *column.Column, i int) uint64 {
	n := c.Len - i
	w := ^uint64(0)
	if c.Nulls != 0 {
		if b := c.Validity[i>>3:]; len(b) >= 8 {
			w = binary.LittleEndian.Uint64(b)
		} else {
			w = 0
			for k, x := range b {
				w |= uint64(x) << (8 * k)
			}
		}
	}
	if n < 64 {
		w &= 1<<n - 1
	}
	return w
}

// storedAs returns the kind of the integers that store dates, times, timestamps and Decimal64, and other kinds
// unchanged.
func storedAs(t column.Type) column.Kind {
	switch t.Kind {
	case column.Date:
		return column.Int32
	case column.Time, column.Timestamp, column.Decimal64:
		return column.Int64
	}
	return t.Kind
}

func isSigned(k column.Kind) bool  { return k >= column.Int8 && k <= column.Int64 }
func isInteger(k column.Kind) bool { return k >= column.Int8 && k <= column.Uint64 }
func isFloat(k column.Kind) bool   { return k == column.Float32 || k == column.Float64 }

// isNumber reports whether values of a type can be added: integers, floats and Decimal64.
func isNumber(t column.Type) bool {
	return isInteger(t.Kind) || isFloat(t.Kind) || t.Kind == column.Decimal64
}

// isSortable reports whether a word of 64 bits can represent the order of a type: numbers, dates, times and timestamps.
// See orderKeys.
func isSortable(t column.Type) bool { return isInteger(storedAs(t)) || isFloat(t.Kind) }

// Descriptions of accepted types, for errors.
const (
	wantNumber   = "a number: an integer, a float32, a float64 or a decimal64"
	wantSortable = "a number, a date, a time or a timestamp"
	wantFlat     = "a kind without children"
)

// pow10 returns 10^n, the divisor of a Decimal64 of scale n.
func pow10(n int) float64 {
	p := 1.0
	for range n {
		p *= 10 // exact up to 10^22
	}
	return p
}
