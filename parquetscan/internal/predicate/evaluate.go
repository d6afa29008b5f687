// SPDX-License-Identifier: Apache-2.0

package predicate

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan/internal/buffer"
)

// Evaluation of predicates on columns: a bit per row.

// An Evaluator evaluates a predicate on batches, in one goroutine. It keeps scratch memory, and for each leaf the
// results for the entries of the last dictionary.
type Evaluator struct {
	P       *Predicate
	leaves  []leafState
	scratch [][]byte // of nodes, by depth
	Cols    []*column.Column
	some    []byte // a bit for each row whose result is needed; nil means all
	Gap     int32  // bytes between the texts of the column of a stage: 4 in a plain page
}

// A leafState is the state of an evaluator for one leaf.
type leafState struct {
	points map[string]struct{} // of several texts
	keys   []uint64            // of several integers: their distances from the first one, in the column's width
	dict   *column.Dictionary
	hits   []byte // 1 for each entry of dict that passes
}

// NewEvaluator returns an evaluator for one Reader. Points of a column, from Eq and In, become a set of texts or a
// sorted list of keys relative to the least.
func NewEvaluator(p *Predicate) *Evaluator {
	e := &Evaluator{P: p, leaves: make([]leafState, len(p.leaves)), Cols: make([]*column.Column, len(p.Paths))}
	for i := range p.leaves {
		l, state := p.leaves[i], &e.leaves[i]
		if len(l.spans.texts) > 1 {
			state.points = make(map[string]struct{}, len(l.spans.texts))
			for _, s := range l.spans.texts {
				state.points[s.lo] = struct{}{}
			}
		}
		if ints := l.spans.ints; len(ints) > 1 && l.typ.ValueWidth() <= 8 {
			for _, s := range ints {
				state.keys = append(state.keys, (s.lo[0]-ints[0].lo[0])&(1<<(8*l.typ.ValueWidth())-1))
			}
		}
	}
	return e
}

// Eval sets bit i of sel, lowest bit of each byte first, if row i is selected, and returns the number of selected rows.
// cols are the columns of Predicate.Paths, all of n rows; sel has (n+7)/8 bytes; bits from n on become zero.
func (e *Evaluator) Eval(cols []*column.Column, n int, sel []byte) int {
	sel = sel[:(n+7)/8]
	e.node(&e.P.root, cols, n, sel, 0)
	return CountBits(sel)
}

// CountBits returns the number of bits that are set.
func CountBits(sel []byte) int {
	count := 0
	for ; len(sel) >= 8; sel = sel[8:] {
		count += bits.OnesCount64(binary.LittleEndian.Uint64(sel))
	}
	for _, b := range sel {
		count += bits.OnesCount8(b)
	}
	return count
}

// node sets out to the rows that a node selects.
func (e *Evaluator) node(node *term, cols []*column.Column, n int, out []byte, depth int) {
	if node.leaf != nil {
		e.leaf(node.leaf, cols[node.leaf.column], n, out)
		return
	}
	if len(node.args) == 0 {
		clear(out)
		if node.op == And {
			invertBits(out, n)
		}
		return
	}
	e.node(&node.args[0], cols, n, out, depth+1)
	for i := range node.args[1:] {
		// No later argument of And selects a row that an earlier one rejected.
		if node.op == And && zeroBits(out) {
			return
		}
		other := e.scratchOf(depth, len(out))
		e.node(&node.args[i+1], cols, n, other, depth+1)
		if node.op == And {
			for j, b := range other {
				out[j] &= b
			}
		} else {
			for j, b := range other {
				out[j] |= b
			}
		}
	}
}

func (e *Evaluator) scratchOf(depth, size int) []byte {
	for len(e.scratch) <= depth {
		e.scratch = append(e.scratch, nil)
	}
	e.scratch[depth] = slices.Grow(e.scratch[depth][:0], size)[:size]
	return e.scratch[depth]
}

// leaf sets out to the rows that a leaf selects.
func (e *Evaluator) leaf(l *leafTerm, c *column.Column, n int, out []byte) {
	switch {
	case l.isNull:
		clear(out)
		if c.Nulls != 0 {
			copy(out, c.Validity)
			invertBits(out, n)
		}
		return
	case l.spans.len() == 0 && l.part == nil:
		clear(out)
	case l.spans.ints != nil:
		e.leaves[l.number].ints(l, c, n, out)
	case l.spans.floats != nil:
		l.floats(c, n, out)
	default:
		e.texts(l, c, n, out)
	}
	if l.invert {
		invertBits(out, n)
	}
	if c.Nulls != 0 {
		for j, b := range c.Validity[:len(out)] {
			out[j] &= b
		}
	}
}

// ints tests the values of columns of integers, booleans, dates, times and decimals.
func (state *leafState) ints(l *leafTerm, c *column.Column, n int, out []byte) {
	s := l.spans.ints[0]
	switch l.typ.ValueWidth() {
	case 1:
		wordBits(buffer.SliceOf[uint8](c.Values, n), uint8(s.lo[0]), uint8(s.hi[0]), state.keys, out)
	case 2:
		wordBits(buffer.SliceOf[uint16](c.Values, n), uint16(s.lo[0]), uint16(s.hi[0]), state.keys, out)
	case 4:
		wordBits(buffer.SliceOf[uint32](c.Values, n), uint32(s.lo[0]), uint32(s.hi[0]), state.keys, out)
	case 8:
		wordBits(buffer.SliceOf[uint64](c.Values, n), s.lo[0], s.hi[0], state.keys, out)
	case 16:
		v := buffer.SliceOf[column.Int128](c.Values, n)
		packBits(out, n, func(i int) bool { return l.spans.hasInt(wideOf128(v[i])) })
	default:
		v := buffer.SliceOf[wide](c.Values, n)
		packBits(out, n, func(i int) bool { return l.spans.hasInt(v[i]) })
	}
}

// wordBits sets out to the values between lo and hi or, if there are keys, to the values at a distance in keys above
// lo. The distance above lo, modulo the word size, is the same for signed and unsigned integers.
func wordBits[T uint8 | uint16 | uint32 | uint64](v []T, lo, hi T, keys []uint64, out []byte) {
	if keys != nil {
		packBits(out, len(v), func(i int) bool {
			_, found := slices.BinarySearch(keys, uint64(v[i]-lo))
			return found
		})
		return
	}
	width := hi - lo
	for ; len(v) >= 8 && len(out) > 0; v, out = v[8:], out[1:] {
		out[0] = boolBit(v[0]-lo <= width) | boolBit(v[1]-lo <= width)<<1 | boolBit(v[2]-lo <= width)<<2 |
			boolBit(v[3]-lo <= width)<<3 | boolBit(v[4]-lo <= width)<<4 | boolBit(v[5]-lo <= width)<<5 |
			boolBit(v[6]-lo <= width)<<6 | boolBit(v[7]-lo <= width)<<7
	}
	for i := range out {
		out[i] = 0
		for j, x := range v {
			out[i] |= boolBit(x-lo <= width) << j
		}
	}
}

// floats tests the values of columns of floats.
func (l *leafTerm) floats(c *column.Column, n int, out []byte) {
	switch l.typ.Kind {
	case column.Float16:
		v := buffer.SliceOf[uint16](c.Values, n)
		packBits(out, n, func(i int) bool { return l.spans.hasFloat(float64(float16Value(v[i]))) })
	case column.Float32:
		floatBits(buffer.SliceOf[float32](c.Values, n), l, out)
	default:
		floatBits(buffer.SliceOf[float64](c.Values, n), l, out)
	}
}

// floatBits sets bit i of out if v[i] lies in a span of the leaf. NaN is greater than all numbers, so a span whose
// upper end is NaN has no upper end.
func floatBits[T float32 | float64](v []T, l *leafTerm, out []byte) {
	s := l.spans.floats[0]
	switch {
	case len(l.spans.floats) > 1 || s.lo != s.lo:
		packBits(out, len(v), func(i int) bool { return l.spans.hasFloat(float64(v[i])) })
	case s.hi != s.hi: // hi is NaN: NaN passes, too
		for i := range out {
			b := byte(0)
			for j, x := range v[8*i : min(8*i+8, len(v))] {
				b |= boolBit(!(float64(x) < s.lo)) << j
			}
			out[i] = b
		}
	default:
		for i := range out {
			b := byte(0)
			for j, x := range v[8*i : min(8*i+8, len(v))] {
				b |= (boolBit(float64(x) >= s.lo) & boolBit(float64(x) <= s.hi)) << j
			}
			out[i] = b
		}
	}
}

// hasInt reports whether the integer is in one of the spans.
func (s *leafSpans) hasInt(v wide) bool {
	i, _ := slices.BinarySearchFunc(s.ints, v, func(s span[wide], v wide) int { return compareInts(s.hi, v) })
	return i < len(s.ints) && compareInts(s.ints[i].lo, v) <= 0
}

// hasFloat reports whether the float is in one of the spans.
func (s *leafSpans) hasFloat(v float64) bool {
	i, _ := slices.BinarySearchFunc(s.floats, v, func(s span[float64], v float64) int { return compareFloats(s.hi, v) })
	return i < len(s.floats) && compareFloats(s.floats[i].lo, v) <= 0
}

// packBits sets bit i of out to f(i), and bits from n on to zero.
func packBits(out []byte, n int, f func(i int) bool) {
	for i := range out {
		b := byte(0)
		for j := range min(8, n-8*i) {
			b |= boolBit(f(8*i+j)) << j
		}
		out[i] = b
	}
}

// invertBits inverts the first n bits and clears the remaining bits of the last byte.
func invertBits(b []byte, n int) {
	for i := range b {
		b[i] = ^b[i]
	}
	if n%8 != 0 {
		b[len(b)-1] &= 1<<(n%8) - 1
	}
}

// zeroBits reports whether no bit is set.
func zeroBits(b []byte) bool {
	return len(bytes.TrimLeft(b, "\x00")) == 0
}

// EvalStage removes the rows that a stage does not select from sel, and returns the number of rows that are left. all
// means that sel is undefined yet and has all rows.
func (e *Evaluator) EvalStage(st *Stage, n int, sel []byte, all bool) int {
	sel = sel[:(n+7)/8]
	for _, node := range st.nodes {
		if all {
			e.node(node, e.Cols, n, sel, 0)
			all = false
			continue
		}
		other := e.scratchOf(0, len(sel))
		e.some = sel
		e.node(node, e.Cols, n, other, 1)
		e.some = nil
		for i, b := range other {
			sel[i] &= b
		}
	}
	return CountBits(sel)
}
