// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/vecql/vecql/column"
)

// Exact quantiles: all values of a group are kept, and quickselect finds the two neighbors of a quantile.

// MedianExact computes QuantileExact(name, 0.5).
func MedianExact(name string) Aggregate { return valuesOf(name) }

// QuantileExact computes [Quantile] from all values, 0 <= q <= 1: PERCENTILE_CONT, interpolated between neighbors.
// Float64; NULL if all values are NULL. NaNs are skipped, like NULLs; -0 becomes 0. Integers are converted to the
// nearest float64; the scale of a Decimal64 is applied.
//
// Memory: 16 bytes per group, and 8 to 24 per value. Quantiles of the same column share it. A group may have up to
// 268 million values in a state that is spilled or written to a partial.
func QuantileExact(name string, q float64) Aggregate {
	a := call("quantile_exact", []string{name}, q)
	a.err = checkQuantiles(defaultCompression, []float64{q})
	a.parts = []Aggregate{valuesOf(name)}
	a.combine = func(_ string, accs []Accumulator) (column.Field, resultFunc) {
		v := accs[0].(*valueLists)
		var out []float64
		return fieldOf(typeFloat64), func(i, j int) (column.Column, error) {
			out = grown(out[:0], j-i)
			return v.quantiles(out, q, i, j), nil
		}
	}
	return a
}

// valuesOf is the aggregate whose accumulator has all values.
func valuesOf(name string) Aggregate {
	return call("median_exact", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		if !isNumber(t) {
			return nil, refused(0, wantNumber)
		}
		return &valueLists{}, nil
	})
}

// valueLists are the values of each group in any order. Results are medians.
type valueLists struct {
	data   lists[float64]
	floats []float64 // the argument
	buf    textBuffer
	out    []float64
}

func (v *valueLists) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(typeFloat64)
}

func (v *valueLists) Resize(n int) { v.data.resize(n) }
func (v *valueLists) Reset()       { v.data.reset() }

func (v *valueLists) Size() int64 {
	return v.data.size() + v.buf.size() + 8*int64(cap(v.floats)+cap(v.out))
}

func (v *valueLists) Add(rows Rows) error {
	col, ids := &rows.Args[0], rows.IDs
	v.floats = asFloat64(v.floats, col)
	x := v.floats[:len(ids)]
	if col.Nulls != 0 {
		forValid(col, func(i int) { v.push(ids[i], x[i]) })
		return nil
	}
	for i, id := range ids {
		v.push(id, x[i])
	}
	return nil
}

// push adds a value.
func (v *valueLists) push(id uint32, x float64) {
	if id != 0 && x == x {
		v.data.push(id, x)
	}
}

// join appends the lists of another accumulator.
func (v *valueLists) join(other Accumulator, groups []uint32) {
	o := other.(*valueLists)
	for id := 1; id < len(groups); id++ {
		if to := groups[id]; to != 0 {
			v.data.extend(to, o.data.list(uint32(id)))
		}
	}
}

// The state of a group is its values, 8 bytes each, little-endian, in any order.
func (v *valueLists) State(i, j int) ([]column.Column, error) {
	c, err := v.buf.column(i, j, func(dst []byte, id uint32) []byte {
		for _, x := range v.data.list(id) {
			dst = appendFloat(dst, x)
		}
		return dst
	})
	return []column.Column{c}, err
}

// Merge appends the values of the states, which may come from a file.
func (v *valueLists) Merge(ids []uint32, state []column.Column) error {
	for i, id := range ids {
		if id == 0 || state[0].Null(i) {
			continue
		}
		s := textAt(&state[0], i)
		b := unsafe.Slice(unsafe.StringData(s), len(s))
		if len(b)%8 != 0 {
			return fmt.Errorf("groupby: state of exact quantiles: %d bytes are not a multiple of 8", len(b))
		}
		for ; len(b) > 0; b = b[8:] {
			x := math.Float64frombits(binary.LittleEndian.Uint64(b))
			if x != x {
				return errors.New("groupby: state of exact quantiles: value is NaN")
			}
			v.data.push(id, x)
		}
	}
	return nil
}

func (v *valueLists) Result(i, j int) (column.Column, error) {
	v.out = grown(v.out[:0], j-i)
	return v.quantiles(v.out, 0.5, i, j), nil
}

// quantiles writes the quantiles of groups [i, j) to out and returns the column. Groups without a value are NULL.
func (v *valueLists) quantiles(out []float64, q float64, i, j int) column.Column {
	valid := make([]byte, (j-i+7)/8)
	for k := range out {
		if x := v.data.list(uint32(i + k)); len(x) > 0 {
			valid[k>>3] |= 1 << (k & 7)
			out[k] = quantileSelected(x, q)
		}
	}
	return of(out).WithValidity(valid)
}

// quantileSelected is quantileOf for values in any order, which it moves.
func quantileSelected(x []float64, q float64) float64 {
	at := q * float64(len(x)-1)
	i := min(int(at), len(x)-1)
	selectNth(x, i)
	if i+1 == len(x) {
		return x[i] + 0 // not -0
	}
	return between(x[i], slices.Min(x[i+1:]), at-float64(i)) + 0
}

// sortedAtMost is the number of values that are sorted instead of partitioned.
const sortedAtMost = 24

// selectNth moves values so that x[n] is the value that it has in the sorted x, no value before it is greater, and none
// behind it is less: quickselect (C. A. R. Hoare, Algorithm 65: Find, Communications of the ACM 4, 1961) with the
// median of three as the pivot. Values that defeat the pivots are sorted. There is no NaN.
func selectNth(x []float64, n int) {
	first, last := 0, len(x)-1
	for rounds := 2 * bits.Len(uint(len(x))); last-first >= sortedAtMost && rounds > 0; rounds-- {
		a, b, c := x[first], x[first+(last-first)/2], x[last]
		pivot := max(min(a, b), min(max(a, b), c))
		i, j := first, last
		for i <= j {
			for x[i] < pivot {
				i++
			}
			for pivot < x[j] {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i, j = i+1, j-1
			}
		}
		switch { // x[first:j+1] <= x[j+1:i] == pivot <= x[i:last+1]
		case n <= j:
			last = j
		case n >= i:
			first = i
		default:
			return
		}
	}
	slices.Sort(x[first : last+1])
}
