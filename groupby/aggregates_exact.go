// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"encoding/binary"
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
// Memory: 16 bytes per group and 12 per value, and 8 per value more for the result. Quantiles of the same column share
// it. A group may have up to 268 million values in a state that is spilled or written to a partial.
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

// valueLists are the values of each group in any order. Rows are appended with their groups to chunks, which costs no
// access to the memory of a group; settle distributes them to the groups by counting sort. Results are medians.
type valueLists struct {
	n      int // groups
	chunks []valueChunk
	last   int       // the chunk that has room; those before it are full, those behind it empty
	values []float64 // of settled groups: group id has values[starts[id]:starts[id+1]]
	starts []int
	// goroutines of settle and of results; 0 means one. The accumulator is used by one goroutine otherwise.
	goroutines int
	places     []int     // memory of settle
	old        []float64 // the same
	floats     []float64 // the argument
	buf        textBuffer
	out        []float64
}

// A valueChunk has values with their groups.
type valueChunk struct {
	ids    []uint32
	values []float64
}

// Numbers of values of the first chunk, and of the largest ones.
const (
	firstChunkValues = 256
	mostChunkValues  = 1 << 14
)

func (v *valueLists) Types() ([]column.Type, column.Field) {
	return []column.Type{typeBytes}, fieldOf(typeFloat64)
}

func (v *valueLists) Resize(n int) { v.n = n }

func (v *valueLists) Reset() {
	v.n, v.values, v.starts = 0, v.values[:0], v.starts[:0]
	v.empty()
}

func (v *valueLists) Size() int64 {
	size := 48*int64(cap(v.chunks)) + v.buf.size() + 8*int64(cap(v.starts)+cap(v.places)) +
		8*int64(cap(v.values)+cap(v.old)+cap(v.floats)+cap(v.out))
	for _, c := range v.chunks {
		size += 4*int64(cap(c.ids)) + 8*int64(cap(c.values))
	}
	return size
}

func (v *valueLists) Add(rows Rows) error {
	col, ids := &rows.Args[0], rows.IDs
	v.floats = asFloat64(v.floats, col)
	x := v.floats[:len(ids)]
	if col.Nulls != 0 {
		forValid(col, func(i int) { v.push(ids[i], x[i]) })
		return nil
	}
	v.append(ids, x)
	return nil
}

// chunk returns a chunk that has room.
func (v *valueLists) chunk() *valueChunk {
	for v.last < len(v.chunks) && len(v.chunks[v.last].ids) == cap(v.chunks[v.last].ids) {
		v.last++
	}
	if v.last == len(v.chunks) {
		n := min(mostChunkValues, firstChunkValues<<min(v.last, 6))
		v.chunks = append(v.chunks, valueChunk{make([]uint32, 0, n), make([]float64, 0, n)})
	}
	return &v.chunks[v.last]
}

// append adds values with their groups.
func (v *valueLists) append(ids []uint32, x []float64) {
	for len(ids) > 0 {
		c := v.chunk()
		n := min(len(ids), cap(c.ids)-len(c.ids))
		c.ids, c.values = append(c.ids, ids[:n]...), append(c.values, x[:n]...)
		ids, x = ids[n:], x[n:]
	}
}

// push adds a value.
func (v *valueLists) push(id uint32, x float64) {
	c := v.chunk()
	c.ids, c.values = append(c.ids, id), append(c.values, x)
}

// empty removes the values in chunks. It keeps the memory of few.
func (v *valueLists) empty() {
	if v.last > 16 {
		v.chunks = nil
	}
	for i := range v.chunks {
		v.chunks[i].ids, v.chunks[i].values = v.chunks[i].ids[:0], v.chunks[i].values[:0]
	}
	v.last = 0
}

// settle distributes the values in chunks to their groups. Values of group 0 and NaNs are left out.
func (v *valueLists) settle() {
	if len(v.used()) > 0 {
		v.distribute()
		v.empty()
	}
	for len(v.starts) <= v.n { // groups without values
		v.starts = append(v.starts, len(v.values))
	}
}

// used returns the chunks that have values.
func (v *valueLists) used() []valueChunk {
	n := min(v.last+1, len(v.chunks))
	for n > 0 && len(v.chunks[n-1].ids) == 0 {
		n--
	}
	return v.chunks[:n]
}

// distribute is counting sort on several goroutines, each with a part of the chunks: places has the numbers of values
// of the groups for each goroutine at first, then the places of their next values.
func (v *valueLists) distribute() {
	chunks := v.used()
	parts := max(1, min(v.goroutines, len(chunks)*mostChunkValues/v.n/4, len(chunks)))
	places := grown(v.places[:0], parts*v.n)
	part := func(k int) ([]valueChunk, []int) {
		return chunks[k*len(chunks)/parts : (k+1)*len(chunks)/parts], places[k*v.n : (k+1)*v.n]
	}
	onGoroutines(parts, func(k int) {
		chunks, counts := part(k)
		for _, c := range chunks {
			for i, id := range c.ids {
				if x := c.values[i]; x == x {
					counts[id]++
				}
			}
		}
	})
	starts, total := v.starts, 0
	v.starts = make([]int, 1, v.n+1)
	for id := range v.n {
		if id+1 < len(starts) { // settled before; group 0 has none
			total += starts[id+1] - starts[id]
		}
		for k := range parts {
			at := &places[k*v.n+id]
			n := *at
			if *at = total; id != 0 {
				total += n
			}
		}
		v.starts = append(v.starts, total)
	}
	v.old, v.values, v.places = v.values, extended(v.old, total), places
	for id := range max(0, len(starts)-1) {
		copy(v.values[v.starts[id]:], v.old[starts[id]:starts[id+1]])
	}
	onGoroutines(parts, func(k int) {
		chunks, places := part(k)
		for _, c := range chunks {
			for i, id := range c.ids {
				if x := c.values[i]; id != 0 && x == x {
					v.values[places[id]] = x
					places[id]++
				}
			}
		}
	})
}

// onGoroutines calls f with 0 to n-1, each on a goroutine of its own if there are several.
func onGoroutines(n int, f func(k int)) {
	_ = parallel(n, func(k int) error {
		f(k)
		return nil
	})
}

// list returns the values of a settled group.
func (v *valueLists) list(id uint32) []float64 { return v.values[v.starts[id]:v.starts[id+1]] }

// join takes the chunks of another accumulator, and appends its settled values.
func (v *valueLists) join(other Accumulator, groups []uint32) {
	o := other.(*valueLists)
	chunks := o.used()
	for _, c := range chunks {
		for i, id := range c.ids {
			c.ids[i] = groups[id]
		}
	}
	v.chunks = append(v.used(), chunks...)
	v.last = max(0, len(v.chunks)-1)
	o.chunks, o.last = nil, 0
	for id := 1; id < len(o.starts)-1; id++ {
		for _, x := range o.list(uint32(id)) {
			v.push(groups[id], x)
		}
	}
}

// The state of a group is its values, 8 bytes each, little-endian, in any order.
func (v *valueLists) State(i, j int) ([]column.Column, error) {
	v.settle()
	c, err := v.buf.column(i, j, func(dst []byte, id uint32) []byte {
		for _, x := range v.list(id) {
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
			v.push(id, math.Float64frombits(binary.LittleEndian.Uint64(b)))
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
	v.settle()
	valid := make([]byte, (j-i+7)/8)
	parts := max(1, min(v.goroutines, len(valid), (v.starts[j]-v.starts[i])/mostChunkValues))
	onGoroutines(parts, func(part int) {
		end := v.bound(i, j, part+1, parts)
		for k := v.bound(i, j, part, parts); k < end; k++ {
			if x := v.list(uint32(i + k)); len(x) > 0 {
				valid[k>>3] |= 1 << (k & 7)
				out[k] = quantileSelected(x, q)
			}
		}
	})
	return of(out).WithValidity(valid)
}

// bound returns the row of the result of groups [i, j) at which a part of several begins. Parts have about as many
// values, and bytes of validity of their own.
func (v *valueLists) bound(i, j, part, parts int) int {
	if part == parts {
		return j - i
	}
	from, to := v.starts[i], v.starts[j]
	k, _ := slices.BinarySearch(v.starts[i:j], from+(to-from)/parts*part)
	return k &^ 7
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
