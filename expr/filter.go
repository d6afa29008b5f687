// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"math"
)

// Filters: predicates as functions from rows to the rows for which they are true. There is no filter for not: the
// compiler makes the filter of the opposite (build_filter.go). Both are false for NULL.

// A filter selects rows. keep returns the rows for which the predicate is true, in out, which has room for all of
// them and may be the memory of rows.
type filter interface {
	keep(rows, out []int32) ([]int32, error)
}

// An andFilter evaluates each predicate on the rows that the ones before kept.
type andFilter []filter

func (f andFilter) keep(rows, out []int32) ([]int32, error) {
	for _, g := range f {
		kept, err := g.keep(rows, out)
		if err != nil || len(kept) == 0 {
			return nil, err
		}
		rows = kept
	}
	if len(f) == 0 {
		rows = out[:copy(out[:len(rows)], rows)]
	}
	return rows, nil
}

// An orFilter evaluates each predicate on the rows that the ones before did not keep.
type orFilter struct {
	filters    []filter
	rest, kept [blockRows]int32
	rowSet
}

// keep returns the rows that are not in the rest.
func (f *orFilter) keep(rows, out []int32) ([]int32, error) {
	rest := f.rest[:copy(f.rest[:], rows)]
	for _, g := range f.filters {
		if len(rest) == 0 {
			break
		}
		kept, err := g.keep(rest, f.kept[:])
		if err != nil {
			return nil, err
		}
		rest = f.remove(rest, kept)
	}
	return f.remove(out[:copy(out[:len(rows)], rows)], rest), nil
}

// A rowSet removes rows from lists of rows. It is zero between calls.
type rowSet struct{ marks [blockRows]byte }

// remove removes some of the rows, in place. some may be the same list.
func (s *rowSet) remove(rows, some []int32) []int32 {
	switch len(some) {
	case 0:
		return rows
	case len(rows):
		return rows[:0]
	}
	for _, r := range some {
		s.marks[r] = 1
	}
	k := 0
	for _, r := range rows {
		rows[k] = r
		k += 1 - int(s.marks[r])
	}
	for _, r := range some {
		s.marks[r] = 0
	}
	return rows[:k]
}

// A nullFilter selects rows by their validity.
type nullFilter struct {
	valid func(rows []int32) ([]byte, error)
	want  byte // 1 selects the rows that are not NULL
}

func (f *nullFilter) keep(rows, out []int32) ([]int32, error) {
	valid, err := f.valid(rows)
	if err != nil {
		return nil, err
	}
	if valid == nil {
		return out[:copy(out[:len(rows)*int(f.want)], rows)], nil
	}
	k := 0
	for _, r := range rows {
		out[k] = r
		k += bit(valid[r>>3]>>(r&7)&1 == f.want)
	}
	return out[:k], nil
}

// validity returns a function for nullFilter that evaluates a lane.
func validity[T any](l lane[T]) func(rows []int32) ([]byte, error) {
	return func(rows []int32) ([]byte, error) {
		v, err := l.eval(rows)
		return v.valid, err
	}
}

// A truthFilter selects the rows of a boolean lane with a value.
type truthFilter struct {
	arg  lane[bool]
	want bool
}

func (f *truthFilter) keep(rows, out []int32) ([]int32, error) {
	v, err := f.arg.eval(rows)
	if err != nil {
		return nil, err
	}
	k := 0
	for _, r := range validRows(v.valid, rows, out) {
		out[k] = r
		k += bit(v.values[r] == f.want)
	}
	return out[:k], nil
}

type signed interface {
	~int8 | ~int16 | ~int32 | ~int64
}

type whole interface {
	signed | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

type number interface {
	whole | ~float32 | ~float64
}

// A span is the integers from base to base+width, in the arithmetic of 64 bits, or all others.
type span struct {
	base, width uint64
	none        bool // no integer
	invert      bool
}

// A spanFilter selects integers in a span. One subtraction and one comparison serve all widths and signs, because the
// integers are extended to 64 bits.
type spanFilter[T whole] struct {
	b   *block
	arg lane[T]
	span
}

// keep has a loop for all rows and for some rows, each for the span and for all others.
func (f *spanFilter[T]) keep(rows, out []int32) ([]int32, error) {
	v, err := f.arg.eval(rows)
	if err != nil {
		return nil, err
	}
	rows = validRows(v.valid, rows, out)
	k, base, width := 0, f.base, f.width
	switch {
	case f.none && !f.invert:
	case f.none:
		k = copy(out[:len(rows)], rows)
	case len(rows) == f.b.n && f.invert:
		for i, x := range v.values[:len(rows)] {
			out[k] = int32(i)
			k += bit(uint64(int64(x))-base > width)
		}
	case len(rows) == f.b.n:
		for i, x := range v.values[:len(rows)] {
			out[k] = int32(i)
			k += bit(uint64(int64(x))-base <= width)
		}
	case f.invert:
		for _, r := range rows {
			out[k] = r
			k += bit(uint64(int64(v.values[r]))-base > width)
		}
	default:
		for _, r := range rows {
			out[k] = r
			k += bit(uint64(int64(v.values[r]))-base <= width)
		}
	}
	return out[:k], nil
}

// A floatSpan is the floats from lo to hi, with or without NaN, or all others.
type floatSpan struct {
	lo, hi float64
	nan    bool
	invert bool
}

// A floatFilter selects floats in a span.
type floatFilter[T ~float32 | ~float64] struct {
	b   *block
	arg lane[T]
	floatSpan
}

// keep has a loop for all rows and one for some rows.
func (f *floatFilter[T]) keep(rows, out []int32) ([]int32, error) {
	v, err := f.arg.eval(rows)
	if err != nil {
		return nil, err
	}
	rows = validRows(v.valid, rows, out)
	k, lo, hi, nan, flip := 0, f.lo, f.hi, bit(f.nan), bit(f.invert)
	if len(rows) == f.b.n {
		for i, x := range v.values[:len(rows)] {
			y := float64(x)
			out[k] = int32(i)
			k += bit(y >= lo)&bit(y <= hi) | nan&bit(y != y) ^ flip
		}
		return out[:k], nil
	}
	for _, r := range rows {
		y := float64(v.values[r])
		out[k] = r
		k += bit(y >= lo)&bit(y <= hi) | nan&bit(y != y) ^ flip
	}
	return out[:k], nil
}

// A compareFilter selects rows by the order of two values.
type compareFilter[A, B any] struct {
	b       *block
	x       lane[A]
	y       lane[B]
	compare func(A, B) int
	want    [3]int // for less, equal, greater: 1 selects the row
	valid   [blockRows / 8]byte
}

func (f *compareFilter[A, B]) keep(rows, out []int32) ([]int32, error) {
	x, y, valid, err := both(f.b, f.x, f.y, rows, f.valid[:])
	if err != nil {
		return nil, err
	}
	k := 0
	for _, r := range validRows(valid, rows, out) {
		out[k] = r
		k += f.want[f.compare(x[r], y[r])+1]
	}
	return out[:k], nil
}

// An orderFilter is a compareFilter of integers, without a call per row.
type orderFilter[T whole] struct {
	b     *block
	x, y  lane[T]
	want  [3]int
	valid [blockRows / 8]byte
}

func (f *orderFilter[T]) keep(rows, out []int32) ([]int32, error) {
	x, y, valid, err := both(f.b, f.x, f.y, rows, f.valid[:])
	if err != nil {
		return nil, err
	}
	k, want := 0, f.want
	for _, r := range validRows(valid, rows, out) {
		out[k] = r
		k += want[bit(x[r] >= y[r])+bit(x[r] > y[r])]
	}
	return out[:k], nil
}

// compareFloats is the order of floats: NaN equals NaN and is greater than all numbers, -0 equals 0.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	}
	return bit(a != a) - bit(b != b)
}

// compareIntFloat compares an integer with a float exactly.
func compareIntFloat(a int64, b float64) int {
	switch {
	case b != b || b >= 1<<63:
		return -1
	case b < -1<<63:
		return 1
	}
	floor := math.Floor(b)
	if c := cmp.Compare(a, int64(floor)); c != 0 {
		return c
	}
	return -bit(floor < b)
}

func compareUintFloat(a uint64, b float64) int {
	switch {
	case b != b || b >= 1<<64:
		return -1
	case b < 0:
		return 1
	}
	floor := math.Floor(b)
	if c := cmp.Compare(a, uint64(floor)); c != 0 {
		return c
	}
	return -bit(floor < b)
}

func compareIntUint(a int64, b uint64) int {
	if a < 0 {
		return -1
	}
	return cmp.Compare(uint64(a), b)
}

// A matchFilter selects texts by a function.
type matchFilter[T any] struct {
	arg   lane[T]
	match func(T) bool
	want  bool
}

func (f *matchFilter[T]) keep(rows, out []int32) ([]int32, error) {
	v, err := f.arg.eval(rows)
	if err != nil {
		return nil, err
	}
	k := 0
	for _, r := range validRows(v.valid, rows, out) {
		out[k] = r
		k += bit(f.match(v.values[r]) == f.want)
	}
	return out[:k], nil
}

// A textFilter selects the texts that equal a literal.
type textFilter struct {
	arg  lane[string]
	text string
	want bool
}

func (f *textFilter) keep(rows, out []int32) ([]int32, error) {
	v, err := f.arg.eval(rows)
	if err != nil {
		return nil, err
	}
	k := 0
	for _, r := range validRows(v.valid, rows, out) {
		out[k] = r
		k += bit((v.values[r] == f.text) == f.want)
	}
	return out[:k], nil
}
