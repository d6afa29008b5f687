// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
)

// Sets: the members of IN as the values of columns.

const opInSet = "in set"

// A Set is a set of values of one type, perhaps with NULL, for [Expr.InSet]. It must not change while an expression
// with it is in use.
type Set struct {
	typ     column.Type
	hasNull bool
	bits    map[uint64]struct{} // integers, times, booleans, narrow decimals, and floats by floatKey
	wides   map[column.Int128]struct{}
	texts   map[string]struct{}
	bytes   int64 // of texts
	few     []any // the values as Bound documents them; nil if there are more than mostFew
}

// mostFew is the maximum number of values of a set that Bound returns. A source compares each of these values.
const mostFew = 64

// NewSet returns an empty set of values of a type: booleans, numbers of up to 128 bits, texts, bytes, dates and times.
func NewSet(t column.Type) (*Set, error) {
	if class := classOf(t); class == classNone || class == classVector {
		return nil, fmt.Errorf("expr: a set of %v, which has no order here", t)
	}
	return &Set{
		typ: t, few: []any{},
		bits: map[uint64]struct{}{}, wides: map[column.Int128]struct{}{}, texts: map[string]struct{}{},
	}, nil
}

// Add adds the values of a column, which it copies. The column has the type of the set, else the error is a
// *column.TypeError, and satisfies column.Column.Check.
func (s *Set) Add(c *column.Column) error {
	if c.Type != s.typ {
		return &column.TypeError{Column: c.Name, Type: c.Type, Want: s.typ.String() + " as the set"}
	}
	s.hasNull = s.hasNull || c.Nulls > 0
	switch class := classOf(s.typ); {
	case class.isTexts():
		return addTo(s, c, (*builder).texts, func(v string) bool {
			if _, known := s.texts[v]; known {
				return false
			}
			s.bytes += int64(len(v))
			return put(s.texts, strings.Clone(v))
		})
	case class == classWide:
		return addTo(s, c, (*builder).wides, func(v column.Int128) bool { return put(s.wides, v) })
	case class == classUint:
		return addTo(s, c, (*builder).uints, func(v uint64) bool { return put(s.bits, v) })
	case class == classFloat:
		return addTo(s, c, (*builder).floats, func(v float64) bool { return put(s.bits, floatKey(v)) })
	}
	return addTo(s, c, (*builder).ints, func(v int64) bool { return put(s.bits, uint64(v)) })
}

// put adds a value to a set and reports whether it is new.
func put[T comparable](set map[T]struct{}, v T) bool {
	before := len(set)
	set[v] = struct{}{}
	return len(set) > before
}

// addTo calls add, which reports whether a value is new, for the values of a column that are not NULL.
func addTo[T any](s *Set, c *column.Column, build func(*builder, *term) lane[T], add func(T) bool) error {
	t := &term{op: opColumn}
	t.set(s.typ)
	b := newBuilder(&block{}, []*source{{field: column.Field{Name: c.Name, Type: c.Type}, column: c}})
	values := build(b, t)
	for lo := 0; lo < c.Len; lo += blockRows {
		b.block.move(lo, c.Len)
		v, err := values.eval(identity[:b.block.n])
		if err != nil {
			return err
		}
		for i, x := range v.values[:b.block.n] {
			if !c.Null(lo+i) && add(x) {
				s.note(c, lo+i)
			}
		}
	}
	return nil
}

// note records a new value among few.
func (s *Set) note(c *column.Column, row int) {
	if s.few == nil {
		return
	}
	t, err := (&checker{}).term(LitAs(c.Value(row), s.typ))
	if err != nil || len(s.few) == mostFew { // such as a year that no literal has
		s.few = nil
		return
	}
	s.few = append(s.few, t.goValue())
}

// Len returns the number of values, without NULL.
func (s *Set) Len() int { return len(s.bits) + len(s.wides) + len(s.texts) }

// Size returns the bytes of memory of the set, with about 16 more for each value.
func (s *Set) Size() int64 {
	return 24*int64(len(s.bits)) + 32*int64(len(s.wides)) + 32*int64(len(s.texts)) + s.bytes
}

// String returns the number of values.
func (s *Set) String() string { return fmt.Sprintf("%d values", s.Len()) }

// InSet is true if e equals a value of the set; otherwise false if the set has neither a value nor NULL; otherwise NULL
// if e or a value of the set is NULL; otherwise false. e has the type of the set. All programs share the set. The text
// of the expression has the number of the values, and [Parse] does not read it.
func (e Expr) InSet(s *Set) Expr {
	in := call(opInSet, e)
	in.n.value = s
	return in
}

// inSet checks in with a set.
func (c *checker) inSet(t *term) error {
	s, a := t.e.n.value.(*Set), t.args[0]
	if a.untyped() {
		if err := c.settle(a, s.typ); err != nil {
			return err
		}
	}
	if a.typ != s.typ {
		return fault(t.e, "%s, and the values of the set are %v: cast one of them", a.describe(), s.typ)
	}
	t.set(typeBool)
	return nil
}

// inSet returns the filter of in with a set, or of its opposite.
func (b *builder) inSet(t *term, not bool) filter {
	s, first := t.e.n.value.(*Set), t.args[0]
	if s.Len() == 0 && !s.hasNull && not {
		return andFilter{} // true, also of NULL
	}
	all := not && s.hasNull // the opposite is NULL or false for all rows
	switch want := !not; {
	case first.class.isTexts():
		return &matchFilter[string]{b.texts(first), holds(s.texts, all), want}
	case first.class == classWide:
		return &matchFilter[column.Int128]{b.wides(first), holds(s.wides, all), want}
	case first.class == classUint:
		return &matchFilter[uint64]{b.uints(first), holds(s.bits, all), want}
	case first.class == classFloat:
		has := holds(s.bits, all)
		return &matchFilter[float64]{b.floats(first), func(v float64) bool { return has(floatKey(v)) }, want}
	default:
		has := holds(s.bits, all)
		return &matchFilter[int64]{b.ints(first), func(v int64) bool { return has(uint64(v)) }, want}
	}
}

// holds returns a function that reports whether a set has a value, or true for all.
func holds[T comparable](set map[T]struct{}, all bool) func(T) bool {
	return func(v T) bool {
		_, ok := set[v]
		return ok || all
	}
}
