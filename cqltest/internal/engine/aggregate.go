// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"math"
	"math/big"

	"github.com/vecql/vecql/cqltest/internal/cql"
)

// Aggregates: count, sum, avg, min, max.

// aggregator accumulates the values of a group.
type aggregator interface {
	add(b []byte) error // nil is NULL
	result() ([]byte, error)
}

// aggregateCall compiles a call of an aggregate: the node returns the result of an aggregator of x.sums, which gets the
// values of the argument. A counter is aggregated as a bigint.
func (c *compiler) aggregateCall(name string, e *cql.Call) (*node, error) {
	if c.aggregate {
		return nil, invalid("aggregate functions cannot be used as arguments of aggregate functions")
	}
	if c.t == nil {
		return nil, invalid("Aggregate functions are not supported here: %s", e)
	}
	var arg *node
	literal := false
	if len(e.Args) == 1 {
		_, literal = e.Args[0].(*cql.Literal)
	}
	switch {
	case name == "count" && (e.Star || literal):
	case len(e.Args) != 1 || e.Star:
		return nil, invalid("Invalid call to function %s, none of its type signatures match (known type signatures: those of %s)", name, name)
	default:
		c.aggregate = true
		var err error
		arg, err = c.selector(e.Args[0], nil)
		c.aggregate = false
		if err != nil {
			return nil, err
		}
		if (name == "sum" || name == "avg") && !isNumber(arg.typ) {
			return nil, invalid("Invalid call to function %s, none of its type signatures match (known type signatures: those of %s)", name, name)
		}
	}
	t := Native("bigint")
	if arg != nil && name != "count" {
		t = arg.typ
	}
	make := newAggregator(name, t)
	i := len(c.aggs)
	c.aggs = append(c.aggs, func() aggregator { return &argument{arg, make()} })
	return &node{typ: t, agg: true, eval: func(x *env) ([]byte, error) { return x.sums[i].result() }}, nil
}

// argument evaluates the argument of an aggregate. Callers use addRow, not add.
type argument struct {
	of *node // nil means count(*)
	aggregator
}

func (a *argument) addRow(x *env) error {
	if a.of == nil {
		return a.add([]byte{})
	}
	b, err := a.of.eval(x)
	if err != nil {
		return err
	}
	return a.add(b)
}

// newAggregator returns the constructor of the aggregate's accumulator for values of type t. Names are count, sum, avg,
// min and max.
func newAggregator(name string, t *Type) func() aggregator {
	switch name {
	case "count":
		return func() aggregator { return new(counted) }
	case "sum", "avg":
		return func() aggregator { return &summed{t: t, average: name == "avg"} }
	}
	sign := 1
	if name == "min" {
		sign = -1
	}
	return func() aggregator { return &extreme{t: t, sign: sign} }
}

type counted struct{ n int64 }

func (c *counted) add(b []byte) error {
	c.n += int64(btoi(b != nil))
	return nil
}

func (c *counted) result() ([]byte, error) { return int64Bytes(c.n), nil }

// extreme is min or max.
type extreme struct {
	t    *Type
	sign int    // 1 for max, -1 for min
	best []byte // nil means no value yet
}

func (m *extreme) add(b []byte) error {
	if b != nil && (m.best == nil || m.t.compare(b, m.best)*m.sign > 0) {
		m.best = b
	}
	return nil
}

func (m *extreme) result() ([]byte, error) { return m.best, nil }

// summed accumulates sums and averages. Integers wrap around at the end, with the same result as at every step; an
// average uses the exact sum.
type summed struct {
	t       *Type
	average bool
	n       int64
	whole   big.Int
	float   float64
	lost    float64 // compensation of a float sum (Kahan)
	scaled  []byte  // sum of decimals
}

// add adds a value. NULL and empty values are not counted.
func (s *summed) add(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	s.n++
	v := toNumber(s.t, b)
	switch v.k {
	case 'i':
		s.whole.Add(&s.whole, v.i)
	case 'f':
		y := v.f - s.lost
		t := s.float + y
		if s.lost = t - s.float - y; math.IsInf(t, 0) || math.IsNaN(s.lost) {
			s.lost = 0
		}
		s.float = t
	case 'd':
		old := number{i: new(big.Int), k: 'd'}
		if s.scaled != nil {
			old = toNumber(s.t, s.scaled)
		}
		if s.average {
			// The running average moves by a share of the difference, with as many digits as the difference has, like
			// Cassandra's.
			b, err := calculateDecimal('-', v, old)
			if err != nil {
				return err
			}
			d, scale := splitDecimal(b)
			v = number{i: divideHalfEven(d, big.NewInt(s.n)), s: scale, k: 'd'}
		}
		var err error
		s.scaled, err = calculateDecimal('+', old, v)
		return err
	}
	return nil
}

// result returns the sum or average in the type of the values. Without values it is 0.
func (s *summed) result() ([]byte, error) {
	zero := s.n == 0
	switch s.t.Kind {
	case KindFloat, KindDouble:
		f := s.float
		if s.average && !zero {
			f /= float64(s.n)
		}
		return number{f: f, k: 'f'}.to(s.t)
	case KindDecimal:
		if zero {
			return decimalBytes(new(big.Int), 0), nil
		}
		return s.scaled, nil
	}
	v := new(big.Int).Set(&s.whole)
	if s.average && !zero {
		v.Quo(v, big.NewInt(s.n))
	}
	return number{i: v, k: 'i'}.to(s.t)
}

// divideHalfEven rounds to the nearest integer, ties to even.
func divideHalfEven(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	twice := new(big.Int).Abs(r)
	if c := twice.Lsh(twice, 1).CmpAbs(b); c > 0 || c == 0 && q.Bit(0) == 1 {
		q.Add(q, big.NewInt(int64(a.Sign()*b.Sign())))
	}
	return q
}
