// SPDX-License-Identifier: Apache-2.0

package encoder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"

	"github.com/vecql/vecql/parquetscan/internal/buffer"
	"github.com/vecql/vecql/parquetscan/internal/format"
	"github.com/vecql/vecql/parquetscan/internal/thrift"
)

// Statistics: minimum and maximum of pages and column chunks (parquet.thrift, Statistics and ColumnOrder).

// An Order is the order of a column's values.
type Order uint8

// The orders. Texts are compared as unsigned bytes, Decimals as big-endian two's complement of one length.
const (
	Bools Order = iota
	Ints32
	Ints64
	Uints32
	Uints64
	Floats16
	Floats32
	Floats64
	Texts
	Decimals
)

// isSigned reports whether the deprecated fields of Statistics have this order.
func (o Order) isSigned() bool { return o != Uints32 && o != Uints64 && o != Texts }

// mostBound is the greatest length of a minimum or maximum in a file. A longer one is omitted.
const mostBound = 4096

// bounds are the least and the greatest of some values, as they are stored, without the length of a text.
type bounds struct {
	min, max []byte
	known    bool // false: there are no values, or only NaN
}

// less reports whether a value is less than another one.
func (o Order) less(a, b []byte) bool {
	switch o {
	case Ints32:
		return int32(binary.LittleEndian.Uint32(a)) < int32(binary.LittleEndian.Uint32(b))
	case Uints32:
		return binary.LittleEndian.Uint32(a) < binary.LittleEndian.Uint32(b)
	case Ints64:
		return int64(binary.LittleEndian.Uint64(a)) < int64(binary.LittleEndian.Uint64(b))
	case Uints64:
		return binary.LittleEndian.Uint64(a) < binary.LittleEndian.Uint64(b)
	case Floats16:
		return orderOfFloat16(binary.LittleEndian.Uint16(a)) < orderOfFloat16(binary.LittleEndian.Uint16(b))
	case Floats32:
		return math.Float32frombits(binary.LittleEndian.Uint32(a)) < math.Float32frombits(binary.LittleEndian.Uint32(b))
	case Floats64:
		return math.Float64frombits(binary.LittleEndian.Uint64(a)) < math.Float64frombits(binary.LittleEndian.Uint64(b))
	case Decimals:
		if a[0] != b[0] {
			return int8(a[0]) < int8(b[0])
		}
	}
	return bytes.Compare(a, b) < 0
}

// orderOfFloat16 returns an integer in the order of a float, 0 for both zeros.
func orderOfFloat16(bits uint16) int {
	if bits&0x8000 != 0 {
		return -int(bits & 0x7fff)
	}
	return int(bits)
}

// merge adds other values.
func (b *bounds) merge(o Order, least, greatest []byte) {
	if !b.known || o.less(least, b.min) {
		b.min = append(b.min[:0], least...)
	}
	if !b.known || o.less(b.max, greatest) {
		b.max = append(b.max[:0], greatest...)
	}
	b.known = true
}

// add adds values of a fixed width.
func (b *bounds) add(o Order, values []byte, width int) {
	n := len(values) / width
	if n == 0 {
		return
	}
	var least, greatest [8]byte
	switch o {
	case Bools:
		lo, hi := extremes(values)
		putNumbers(&least, &greatest, uint64(lo), uint64(hi))
	case Ints32:
		lo, hi := extremes(buffer.SliceOf[int32](values, n))
		putNumbers(&least, &greatest, uint64(lo), uint64(hi))
	case Uints32:
		lo, hi := extremes(buffer.SliceOf[uint32](values, n))
		putNumbers(&least, &greatest, uint64(lo), uint64(hi))
	case Ints64:
		lo, hi := extremes(buffer.SliceOf[int64](values, n))
		putNumbers(&least, &greatest, uint64(lo), uint64(hi))
	case Uints64:
		lo, hi := extremes(buffer.SliceOf[uint64](values, n))
		putNumbers(&least, &greatest, lo, hi)
	case Floats32:
		lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
		lo, hi = extremesOfFloats(buffer.SliceOf[float32](values, n), lo, hi)
		if !(lo <= hi) {
			return
		}
		putNumbers(&least, &greatest, uint64(math.Float32bits(zeroAs(lo, -1))), uint64(math.Float32bits(zeroAs(hi, 1))))
	case Floats64:
		lo, hi := extremesOfFloats(buffer.SliceOf[float64](values, n), math.Inf(1), math.Inf(-1))
		if !(lo <= hi) {
			return
		}
		putNumbers(&least, &greatest, math.Float64bits(zeroAs(lo, -1)), math.Float64bits(zeroAs(hi, 1)))
	case Floats16:
		lo, hi := extremesOfFloats16(buffer.SliceOf[uint16](values, n))
		if orderOfFloat16(lo) > orderOfFloat16(hi) {
			return
		}
		putNumbers(&least, &greatest, uint64(lo), uint64(hi))
	default:
		b.addBytes(o, values, width)
		return
	}
	b.merge(o, least[:width], greatest[:width])
}

// addBytes adds values that are compared as bytes.
func (b *bounds) addBytes(o Order, values []byte, width int) {
	lo, hi := values[:width], values[:width]
	for v := values[width:]; len(v) > 0; v = v[width:] {
		switch x := v[:width]; {
		case o.less(x, lo):
			lo = x
		case o.less(hi, x):
			hi = x
		}
	}
	b.merge(o, lo, hi)
}

func putNumbers(least, greatest *[8]byte, lo, hi uint64) {
	binary.LittleEndian.PutUint64(least[:], lo)
	binary.LittleEndian.PutUint64(greatest[:], hi)
}

// extremes returns the least and the greatest of integers. Four pairs hide the latency of comparisons.
func extremes[T cmp.Ordered](v []T) (lo, hi T) {
	lo, hi = v[0], v[0]
	l1, h1, l2, h2, l3, h3 := lo, lo, lo, lo, lo, lo
	for ; len(v) >= 4; v = v[4:] {
		lo, hi = min(lo, v[0]), max(hi, v[0])
		l1, h1 = min(l1, v[1]), max(h1, v[1])
		l2, h2 = min(l2, v[2]), max(h2, v[2])
		l3, h3 = min(l3, v[3]), max(h3, v[3])
	}
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return min(lo, l1, l2, l3), max(hi, h1, h2, h3)
}

// extremesOfFloats returns the least and the greatest of floats and of lo and hi. It ignores NaN, for which all
// comparisons are false.
func extremesOfFloats[T float32 | float64](v []T, lo, hi T) (T, T) {
	for _, x := range v {
		if x < lo {
			lo = x
		}
		if x > hi {
			hi = x
		}
	}
	return lo, hi
}

// zeroAs gives a zero the sign of the second argument: a minimum must be -0 and a maximum +0, because the order of the
// two zeros is not defined.
func zeroAs[T float32 | float64](v, sign T) T {
	if v == 0 {
		return T(math.Copysign(0, float64(sign)))
	}
	return v
}

// extremesOfFloats16 is extremesOfFloats for the bits of floats of 16 bits, with the signs of zeroAs.
func extremesOfFloats16(v []uint16) (lo, hi uint16) {
	const infinity, negative = 0x7c00, 0x8000
	lo, hi = infinity, infinity|negative
	for _, x := range v {
		if x&^negative > infinity {
			continue // NaN
		}
		if orderOfFloat16(x) < orderOfFloat16(lo) {
			lo = x
		}
		if orderOfFloat16(x) > orderOfFloat16(hi) {
			hi = x
		}
	}
	if lo == 0 {
		lo = negative
	}
	if hi == negative {
		hi = 0
	}
	return lo, hi
}

// isWhole reports whether both bounds are known and short enough for a file.
func (b *bounds) isWhole() bool { return b.known && len(b.min) <= mostBound && len(b.max) <= mostBound }

// append appends a Statistics as a field.
func (b *bounds) append(w *thrift.Writer, id int16, o Order, nulls int64) {
	hasMin, hasMax := b.known && len(b.min) <= mostBound, b.known && len(b.max) <= mostBound
	w.Open(id)
	if o.isSigned() && hasMax {
		w.Binary(1, b.max)
	}
	if o.isSigned() && hasMin {
		w.Binary(2, b.min)
	}
	w.I64(3, nulls)
	if hasMax {
		w.Binary(5, b.max)
	}
	if hasMin {
		w.Binary(6, b.min)
	}
	if hasMax {
		w.Bool(7, true)
	}
	if hasMin {
		w.Bool(8, true)
	}
	w.Close()
}

// orderOfPages returns the order of the bounds of pages.
func orderOfPages(o Order, pages []bounds) format.BoundaryOrder {
	ascending, descending := len(pages) > 0, len(pages) > 0
	for i := 1; i < len(pages); i++ {
		a, b := &pages[i-1], &pages[i]
		ascending = ascending && !o.less(b.min, a.min) && !o.less(b.max, a.max)
		descending = descending && !o.less(a.min, b.min) && !o.less(a.max, b.max)
	}
	switch {
	case ascending:
		return format.Ascending
	case descending:
		return format.Descending
	}
	return format.Unordered
}
