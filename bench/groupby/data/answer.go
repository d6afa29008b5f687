// SPDX-License-Identifier: Apache-2.0

package data

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Answers, computed with a Go map, and their checksums, which peers.py computes in the same way.

// An Answer has the groups in any order: their keys and, in the order of the case, the aggregates.
type Answer struct {
	Keys, Values []*Column
}

// Len returns the number of groups.
func (a *Answer) Len() int {
	for _, c := range append(append([]*Column(nil), a.Keys...), a.Values...) {
		return c.Len()
	}
	return 0
}

// A Checksum identifies an answer, independent of the order of groups. The hash of a group covers its keys and
// aggregates; Xor and Sum combine all hashes. Totals are the sums modulo 2^64 of each aggregate's words (see aggWord),
// for the diagnosis of differences.
type Checksum struct {
	Groups int      `json:"groups"`
	Xor    uint64   `json:"xor"`
	Sum    uint64   `json:"sum"`
	Totals []uint64 `json:"totals"`
}

// Equal reports whether two checksums are equal.
func (c *Checksum) Equal(o *Checksum) bool {
	return c.Groups == o.Groups && c.Xor == o.Xor && c.Sum == o.Sum
}

func (c *Checksum) String() string {
	return fmt.Sprintf("%d groups, xor %016x, sum %016x, totals %d", c.Groups, c.Xor, c.Sum, c.Totals)
}

const (
	// NullWord is the hashed form of NULL.
	NullWord = 0x6c6c756e6c6c756e

	golden = 0x9e3779b97f4a7c15
	prime  = 0x100000001b3
)

// word returns the hashed form of row i of a column: the integer, the bits of a float with one NaN and one zero, or a
// polynomial of a string.
func word(c *Column, i int) uint64 {
	if c.Null(i) {
		return NullWord
	}
	switch c.Type {
	case Int64:
		return uint64(c.Ints[i])
	case Float64:
		return floatBits(c.Floats[i])
	}
	return TextWord(c.Bytes(i))
}

// TextWord returns the hashed form of a string, a polynomial of its bytes.
func TextWord(s []byte) uint64 {
	h, p := uint64(len(s))*golden, uint64(1)
	for _, b := range s {
		h += (uint64(b) + 1) * p
		p *= prime
	}
	return h
}

func floatBits(f float64) uint64 {
	switch {
	case f != f:
		return nanBits[0]
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}

// aggWord is word for an aggregate. Means are rounded, since they may differ in their last bits; the offset keeps exact
// values away from the rounding boundaries.
func aggWord(agg Agg, c *Column, i int, nullIsZero bool) uint64 {
	switch {
	case nullIsZero && agg.Func == "sum" && c.Null(i):
		return 0
	case agg.Func == "avg" && !c.Null(i):
		return uint64(int64(math.Floor(c.Floats[i]*(1<<20) + 0.3183)))
	}
	return word(c, i)
}

// Sum returns the checksum of an answer. With nullIsZero, sums that are NULL count as 0.
func Sum(c *Case, a *Answer, nullIsZero bool) *Checksum {
	s := &Checksum{Groups: a.Len(), Totals: make([]uint64, len(a.Values))}
	for i := range s.Groups {
		var h, j uint64
		for _, col := range a.Keys {
			j++
			h = Mix((h ^ word(col, i)) + j*golden)
		}
		for k, col := range a.Values {
			j++
			w := aggWord(c.Aggs[k], col, i, nullIsZero)
			s.Totals[k] += w
			h = Mix((h ^ w) + j*golden)
		}
		s.Xor ^= h
		s.Sum += h
	}
	return s
}

// Columns are the columns of a table by name.
type Columns map[string]*Column

// A state aggregates the values of one column and one group.
type state struct {
	n                int64
	sumInt, min, max int64
	sum, fmin, fmax  float64
}

// A Reference is a grouping with a Go map. Cases with the same keys share it.
type Reference struct {
	keys   []*Column
	first  []int // by group, the number of one of its rows
	rows   []int64
	types  map[string]string
	states map[string][]state // by value column
}

// Group groups a table by the keys of a case and aggregates the given columns.
func Group(t Columns, keys, values []string) *Reference {
	r := &Reference{states: map[string][]state{}, types: map[string]string{}}
	for _, k := range keys {
		r.keys = append(r.keys, t[k])
	}
	groups := map[string]int{}
	var buf []byte
	for _, v := range values {
		r.types[v] = t[v].Type
	}
	ids := make([]int, r.keys[0].Len())
	for i := range ids {
		buf = r.appendKey(buf[:0], i)
		id, ok := groups[string(buf)]
		if !ok {
			id = len(r.rows)
			groups[string(buf)] = id
			r.first, r.rows = append(r.first, i), append(r.rows, 0)
		}
		ids[i] = id
		r.rows[id]++
	}
	for _, name := range values {
		v, states := t[name], make([]state, len(r.rows))
		for i, id := range ids {
			if !v.Null(i) {
				states[id].add(v, i)
			}
		}
		r.states[name] = states
	}
	return r
}

// appendKey appends an encoding of the key of row i that is unique to the key.
func (r *Reference) appendKey(b []byte, i int) []byte {
	for _, k := range r.keys {
		switch {
		case k.Null(i):
			b = append(b, 0)
		case k.Type == String:
			s := k.Bytes(i)
			b = append(b, 1)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(s)))
			b = append(b, s...)
		default:
			b = append(b, 1)
			b = binary.LittleEndian.AppendUint64(b, word(k, i))
		}
	}
	return b
}

func (s *state) add(v *Column, i int) {
	if v.Type == Int64 {
		x := v.Ints[i]
		if s.n == 0 {
			s.min, s.max = x, x
		}
		s.sumInt, s.min, s.max = s.sumInt+x, min(s.min, x), max(s.max, x)
		s.sum += float64(x)
	} else {
		x := v.Floats[i]
		if s.n == 0 {
			s.fmin, s.fmax = x, x
		}
		s.sum, s.fmin, s.fmax = s.sum+x, min(s.fmin, x), max(s.fmax, x)
	}
	s.n++
}

// Answer returns the answer for some aggregates of the columns given to Group.
func (r *Reference) Answer(aggs []Agg) *Answer {
	a := &Answer{}
	for _, k := range r.keys {
		c := &Column{Type: k.Type}
		for _, i := range r.first {
			c.Append(k, i)
		}
		a.Keys = append(a.Keys, c)
	}
	for _, agg := range aggs {
		if agg.Func == "count" {
			a.Values = append(a.Values, &Column{Type: Int64, Ints: r.rows})
			continue
		}
		c := &Column{Type: r.types[agg.Column]}
		if agg.Func == "avg" {
			c.Type = Float64
		}
		for i, s := range r.states[agg.Column] {
			if c.Type == Int64 {
				c.Ints = append(c.Ints, map[string]int64{"sum": s.sumInt, "min": s.min, "max": s.max}[agg.Func])
			} else {
				c.Floats = append(c.Floats, map[string]float64{
					"sum": s.sum, "min": s.fmin, "max": s.fmax,
					"avg": s.sum / float64(max(1, s.n)),
				}[agg.Func])
			}
			if c.grow(); s.n == 0 {
				c.SetNull(i)
			}
		}
		a.Values = append(a.Values, c)
	}
	return a
}

// Diff describes the first difference between two answers; "" means that they are equal. Unlike Sum, it compares every
// group.
func Diff(c *Case, want, got *Answer) string {
	row := func(a *Answer, i int) (string, []uint64) {
		r := Reference{keys: a.Keys}
		words := make([]uint64, len(a.Values))
		for k, col := range a.Values {
			words[k] = aggWord(c.Aggs[k], col, i, false)
		}
		return string(r.appendKey(nil, i)), words
	}
	if len(want.Keys) != len(got.Keys) || len(want.Values) != len(got.Values) {
		return fmt.Sprintf("%d keys and %d aggregates, want %d and %d", len(got.Keys), len(got.Values), len(want.Keys),
			len(want.Values))
	}
	left := map[string][]uint64{}
	for i := range want.Len() {
		key, words := row(want, i)
		left[key] = words
	}
	for i := range got.Len() {
		key, words := row(got, i)
		w, ok := left[key]
		if !ok {
			return fmt.Sprintf("group %d, key %q: unexpected or duplicate", i, key)
		}
		for k := range w {
			if w[k] != words[k] {
				return fmt.Sprintf("group %d, key %q: %s(%s) is %d, want %d", i, key, c.Aggs[k].Func, c.Aggs[k].Column, words[k],
					w[k])
			}
		}
		delete(left, key)
	}
	for key := range left {
		return fmt.Sprintf("%d groups missing, one has key %q", len(left), key)
	}
	return ""
}
