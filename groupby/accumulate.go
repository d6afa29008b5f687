// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"math/bits"
)

// This file holds the loops of phase 2 that most aggregates are made of: count, sum, min, max. Each has one loop for rows without NULLs,
// which does nothing but the aggregate, and one that walks the set bits of the validity. reference.go says the same in plain words.

// grown returns s with n elements, the new ones being zero.
func grown[T any](s []T, n int) []T {
	if n <= cap(s) {
		old := len(s)
		s = s[:n]
		if old < n {
			clear(s[old:])
		}
		return s
	}
	t := make([]T, n, max(n, 2*cap(s), 64))
	copy(t, s)
	return t
}

// forValid calls f for each row of the column that is not NULL.
func forValid(c *Column, f func(i int)) {
	for at := 0; at < c.n; at += 64 {
		for w := c.validWord(at); w != 0; w &= w - 1 {
			f(at + bits.TrailingZeros64(w))
		}
	}
}

// seen tells which groups had a value that is not NULL. As long as no NULL has come it has no bits, and all had one: a group has rows.
type seen struct {
	bits  []bool
	n     int
	known int // groups that had rows before the rows at hand
}

func (s *seen) resize(n int) {
	s.n = n
	if s.bits != nil {
		s.bits = grown(s.bits, n)
	}
}

func (s *seen) reset() { *s = seen{} }

// begin is called before rows are added, with what is known of their values, and end after. Between them the loops for values that are NULL
// mark groups one by one; for the others begin does it.
func (s *seen) begin(ids []uint32, nulls bool) {
	if nulls && s.bits == nil {
		s.bits = make([]bool, s.n)
		for i := range s.bits[:s.known] {
			s.bits[i] = true
		}
	}
	if !nulls && s.bits != nil {
		for _, id := range ids {
			s.bits[id] = true
		}
	}
}

func (s *seen) end() { s.known = s.n }

// validity returns the bits as a column has them, nil if all are set.
func (s *seen) validity() []byte {
	if s.bits == nil {
		return nil
	}
	v := make([]byte, (s.n+7)/8)
	for i, b := range s.bits {
		if b {
			v[i>>3] |= 1 << (i & 7)
		}
	}
	return v
}

// Few groups are added to in lanes: one row after the other into another copy of the states. Otherwise rows of the same group that follow each other
// would wait for each other's sum to be stored and loaded again.
const (
	laneGroups = 64
	laneCount  = 4
)

// count counts rows.
type count struct{ n []int64 }

func (c *count) Types() ([]Type, Type)    { return []Type{Int64}, Int64 }
func (c *count) Resize(n int)             { c.n = grown(c.n, n) }
func (c *count) Reset()                   { c.n = c.n[:0] }
func (c *count) State() ([]Column, error) { return []Column{Values(c.n)}, nil }
func (c *count) Result() (Column, error)  { return Values(c.n), nil }

func (c *count) Add(rows Rows) error {
	n, ids := c.n, rows.IDs
	if len(n) <= laneGroups {
		var lanes [laneCount][laneGroups]int64
		i := 0
		for ; i+laneCount <= len(ids); i += laneCount {
			lanes[0][ids[i]%laneGroups]++
			lanes[1][ids[i+1]%laneGroups]++
			lanes[2][ids[i+2]%laneGroups]++
			lanes[3][ids[i+3]%laneGroups]++
		}
		for id := range n {
			n[id] += lanes[0][id] + lanes[1][id] + lanes[2][id] + lanes[3][id]
		}
		ids = ids[i:]
	}
	for _, id := range ids {
		n[id]++
	}
	return nil
}

func (c *count) Merge(ids []uint32, state []Column) error {
	from := view[int64](&state[0])
	for i, id := range ids {
		c.n[id] += from[i]
	}
	return nil
}

// nulls counts the NULLs of a column: values are counted as rows less NULLs, as one count of rows does for all columns, and most have no NULL.
type nulls struct {
	n      []int64 // nil as long as there is none
	groups int
}

func (c *nulls) Types() ([]Type, Type) { return []Type{Int64}, Int64 }
func (c *nulls) Reset()                { *c = nulls{} }

func (c *nulls) Resize(n int) {
	c.groups = n
	if c.n != nil {
		c.n = grown(c.n, n)
	}
}

func (c *nulls) start() {
	if c.n == nil {
		c.n = make([]int64, c.groups)
	}
}

func (c *nulls) Add(rows Rows) error {
	col := &rows.Args[0]
	if col.validity == nil {
		return nil
	}
	c.start()
	for at := 0; at < col.n; at += 64 {
		w := ^col.validWord(at)
		if left := col.n - at; left < 64 {
			w &= 1<<left - 1
		}
		for ; w != 0; w &= w - 1 {
			c.n[rows.IDs[at+bits.TrailingZeros64(w)]]++
		}
	}
	return nil
}

func (c *nulls) State() ([]Column, error) { r, err := c.Result(); return []Column{r}, err }

func (c *nulls) Merge(ids []uint32, state []Column) error {
	if state[0].form == formZero {
		return nil
	}
	c.start()
	from := view[int64](&state[0])
	for i, id := range ids {
		c.n[id] += from[i]
	}
	return nil
}

func (c *nulls) Result() (Column, error) {
	if c.n == nil {
		return zeroColumn(Int64, c.groups), nil
	}
	return Values(c.n), nil
}

// values returns the number of values of a group that are not NULL.
func (c *nulls) values(rows *count, id int) int64 {
	if c.n == nil {
		return rows.n[id]
	}
	return rows.n[id] - c.n[id]
}

type (
	signed   interface{ int8 | int16 | int32 | int64 }
	unsigned interface {
		uint8 | uint16 | uint32 | uint64
	}
	float  interface{ float32 | float64 }
	number interface{ signed | unsigned | float }
)

// sums are sums of integers in 128 bits: the low 64 of each, and in over what is beyond, for the few groups where there is something. So a sum does not
// depend on the order of its rows, even if it leaves 64 bits on its way.
type sums struct {
	seen
	low  []int64
	over map[uint32]int64
}

func (s *sums) Resize(n int) {
	s.low = grown(s.low, n)
	s.seen.resize(n)
}

func (s *sums) Reset() {
	s.low, s.over = s.low[:0], nil
	s.seen.reset()
}

func (s *sums) carry(id uint32, n int64) {
	if s.over == nil {
		s.over = map[uint32]int64{}
	}
	s.over[id] += n
}

// addSigned adds values to their groups. A carry is as good as never there, so that its branch costs next to nothing.
func addSigned[T signed](s *sums, ids []uint32, col *Column) {
	low := s.low
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.validity != nil)
	if col.validity == nil {
		for i, id := range ids {
			v, old := int64(x[i]), low[id]
			sum := old + v
			low[id] = sum
			if (old^sum)&(v^sum) < 0 {
				s.carry(id, 1|v>>63)
			}
		}
	} else {
		forValid(col, func(i int) {
			id := ids[i]
			v, old := int64(x[i]), low[id]
			sum := old + v
			low[id] = sum
			s.bits[id] = true
			if (old^sum)&(v^sum) < 0 {
				s.carry(id, 1|v>>63)
			}
		})
	}
	s.end()
}

func addUnsigned[T unsigned](s *sums, ids []uint32, col *Column) {
	low := s.low
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.validity != nil)
	add := func(i int) {
		id := ids[i]
		v := uint64(x[i])
		sum := uint64(low[id]) + v
		low[id] = int64(sum)
		if sum < v {
			s.carry(id, 1)
		}
	}
	if col.validity == nil {
		for i := range ids {
			add(i)
		}
	} else {
		forValid(col, func(i int) { add(i); s.bits[ids[i]] = true })
	}
	s.end()
}

// state returns the sums as two columns, and merge merges them.
func (s *sums) state(t Type) []Column {
	over := zeroColumn(Int64, len(s.low))
	if len(s.over) > 0 {
		o := make([]int64, len(s.low))
		for id, n := range s.over {
			o[id] = n
		}
		over = Values(o)
	}
	low := Values(s.low)
	low.typ = t
	return []Column{low.WithValidity(s.validity()), over}
}

func (s *sums) merge(ids []uint32, state []Column) {
	if state[0].typ == Uint64 {
		addUnsigned[uint64](s, ids, &state[0])
	} else {
		addSigned[int64](s, ids, &state[0])
	}
	if state[1].form != formZero {
		for i, n := range view[int64](&state[1]) {
			if n != 0 {
				s.carry(ids[i], n)
			}
		}
	}
}

// float returns the sum of a group as the nearest float, or nearly so.
func (s *sums) float(id int, unsigned bool) float64 {
	f := float64(s.low[id])
	if unsigned {
		f = float64(uint64(s.low[id]))
	}
	if n := s.over[uint32(id)]; n != 0 {
		f += float64(n) * (1 << 64)
	}
	return f
}

// sumInt is the sum of integers; what it is beyond 64 bits is for sumResult to say.
type sumInt struct {
	sums
	add      func(*sums, []uint32, *Column)
	unsigned bool
	floats   []float64
}

func (s *sumInt) low64() Type {
	if s.unsigned {
		return Uint64
	}
	return Int64
}

func (s *sumInt) Types() ([]Type, Type) { return []Type{s.low64(), Int64}, s.low64() }

func (s *sumInt) Add(rows Rows) error                      { s.add(&s.sums, rows.IDs, &rows.Args[0]); return nil }
func (s *sumInt) State() ([]Column, error)                 { return s.state(s.low64()), nil }
func (s *sumInt) Merge(ids []uint32, state []Column) error { s.merge(ids, state); return nil }

func (s *sumInt) Result() (Column, error) {
	c := Values(s.low)
	c.typ = s.low64()
	return c.WithValidity(s.validity()), nil
}

// floatResult returns the sums as floats.
func (s *sumInt) floatResult() (Column, error) {
	s.floats = grown(s.floats[:0], len(s.low))
	for id := range s.floats {
		s.floats[id] = s.float(id, s.unsigned)
	}
	return Values(s.floats).WithValidity(s.validity()), nil
}

// sumFloat is SUM of floats, in float64; compensated by Neumaier's method if comp is asked for (A. Neumaier, Rundungsfehleranalyse einiger
// Verfahren zur Summation endlicher Summen, ZAMM 54, 1974): the error does not grow with the number of rows.
type sumFloat struct {
	seen
	sum, comp   []float64
	compensated bool
	add         func(*sumFloat, []uint32, *Column)
	out         []float64
}

func addFloat[T float](s *sumFloat, ids []uint32, col *Column) {
	sum := s.sum
	x := view[T](col)[:len(ids)]
	s.begin(ids, col.validity != nil)
	switch {
	case s.compensated:
		forValid(col, func(i int) {
			s.addCompensated(ids[i], float64(x[i]))
			if s.bits != nil {
				s.bits[ids[i]] = true
			}
		})
	case col.validity == nil:
		i := 0
		if len(sum) <= laneGroups && len(ids) > laneGroups {
			var lanes [laneCount][laneGroups]float64
			for ; i+laneCount <= len(ids); i += laneCount {
				lanes[0][ids[i]%laneGroups] += float64(x[i])
				lanes[1][ids[i+1]%laneGroups] += float64(x[i+1])
				lanes[2][ids[i+2]%laneGroups] += float64(x[i+2])
				lanes[3][ids[i+3]%laneGroups] += float64(x[i+3])
			}
			for id := range sum {
				sum[id] += lanes[0][id] + lanes[1][id] + (lanes[2][id] + lanes[3][id])
			}
		}
		for ; i < len(ids); i++ {
			sum[ids[i]] += float64(x[i])
		}
	default:
		forValid(col, func(i int) {
			sum[ids[i]] += float64(x[i])
			s.bits[ids[i]] = true
		})
	}
	s.end()
}

func (s *sumFloat) addCompensated(id uint32, v float64) {
	old := s.sum[id]
	t := old + v
	switch {
	case math.IsInf(t, 0) || t != t: // there is no error to keep, and Inf - Inf would spoil the sum
	case math.Abs(old) >= math.Abs(v):
		s.comp[id] += (old - t) + v
	default:
		s.comp[id] += (v - t) + old
	}
	s.sum[id] = t
}

func (s *sumFloat) Types() ([]Type, Type) {
	if s.compensated {
		return []Type{Float64, Float64}, Float64
	}
	return []Type{Float64}, Float64
}

func (s *sumFloat) Resize(n int) {
	s.sum = grown(s.sum, n)
	if s.compensated {
		s.comp = grown(s.comp, n)
	}
	s.resize(n)
}

func (s *sumFloat) Reset() {
	s.sum, s.comp = s.sum[:0], s.comp[:0]
	s.reset()
}

func (s *sumFloat) Add(rows Rows) error { s.add(s, rows.IDs, &rows.Args[0]); return nil }

func (s *sumFloat) State() ([]Column, error) {
	state := []Column{Values(s.sum).WithValidity(s.validity())}
	if s.compensated {
		state = append(state, Values(s.comp))
	}
	return state, nil
}

func (s *sumFloat) Merge(ids []uint32, state []Column) error {
	addFloat[float64](s, ids, &state[0])
	if s.compensated {
		for i, c := range view[float64](&state[1]) {
			s.comp[ids[i]] += c
		}
	}
	return nil
}

func (s *sumFloat) Result() (Column, error) {
	out := s.sum
	if s.compensated {
		s.out = grown(s.out[:0], len(s.sum))
		for id := range s.out {
			s.out[id] = s.sum[id] + s.comp[id]
		}
		out = s.out
	}
	return Values(out).WithValidity(s.validity()), nil
}

// extreme is MIN or MAX. NaN is greater than all numbers, as in the order of keys.
type extreme[T number] struct {
	seen
	best []T
	max  bool
}

func (e *extreme[T]) Types() ([]Type, Type) { t := TypeOf[T](); return []Type{t}, t }

// first returns what the best of an empty group is: every value is better, or equal.
func (e *extreme[T]) first() T {
	lo, hi := bounds[T]()
	if e.max {
		return lo
	}
	return hi
}

func (e *extreme[T]) Resize(n int) {
	old := len(e.best)
	e.best = grown(e.best, n)
	first := e.first()
	for i := range e.best[old:] {
		e.best[old+i] = first
	}
	e.resize(n)
}

func (e *extreme[T]) Reset() { e.best = e.best[:0]; e.reset() }

func (e *extreme[T]) Add(rows Rows) error {
	col := &rows.Args[0]
	best, ids := e.best, rows.IDs
	x := view[T](col)[:len(ids)]
	e.begin(ids, col.validity != nil)
	switch {
	case col.validity != nil:
		forValid(col, func(i int) {
			id := ids[i]
			if e.max {
				best[id] = maxOf(best[id], x[i])
			} else {
				best[id] = minOf(best[id], x[i])
			}
			e.bits[id] = true
		})
	case e.max:
		for i, id := range ids {
			best[id] = maxOf(best[id], x[i])
		}
	default:
		for i, id := range ids {
			best[id] = minOf(best[id], x[i])
		}
	}
	e.end()
	return nil
}

// minOf and maxOf order NaN above all numbers.
func minOf[T number](a, b T) T {
	if b < a || a != a {
		return b
	}
	return a
}

func maxOf[T number](a, b T) T {
	if b > a || b != b {
		return b
	}
	return a
}

func (e *extreme[T]) State() ([]Column, error) { c, err := e.Result(); return []Column{c}, err }

func (e *extreme[T]) Merge(ids []uint32, state []Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}

func (e *extreme[T]) Result() (Column, error) { return Values(e.best).WithValidity(e.validity()), nil }

// bounds returns the least and the greatest value of T in the order of keys.
func bounds[T number]() (least, greatest T) {
	switch p := any(&greatest).(type) {
	case *float32:
		*p = float32(math.NaN())
	case *float64:
		*p = math.NaN()
	case *int8:
		*p = math.MaxInt8
	case *int16:
		*p = math.MaxInt16
	case *int32:
		*p = math.MaxInt32
	case *int64:
		*p = math.MaxInt64
	default:
		greatest-- // unsigned: all ones
	}
	switch p := any(&least).(type) {
	case *float32:
		*p = float32(math.Inf(-1))
	case *float64:
		*p = math.Inf(-1)
	case *int8:
		*p = math.MinInt8
	case *int16:
		*p = math.MinInt16
	case *int32:
		*p = math.MinInt32
	case *int64:
		*p = math.MinInt64
	}
	return least, greatest
}
