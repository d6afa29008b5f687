// SPDX-License-Identifier: Apache-2.0

package groupby

import "math"

// This file holds variances and standard deviations. Rows are added by Welford's recurrence (B. P. Welford, Note on a method for calculating
// corrected sums of squares and products, Technometrics 4, 1962), states are merged by the formula of T. F. Chan, G. H. Golub and R. J.
// LeVeque (Updating formulae and a pairwise algorithm for computing sample variances, 1979): neither loses digits when the mean is large.

// Variance is the sample variance of a column of numbers, the sum of squared deviations divided by n-1: VAR_SAMP. float64; NULL if fewer than
// two values are not NULL. NaN and infinities make it NaN. Integers count as the nearest float64. 24 bytes per group.
func Variance(value int) Aggregate { return newMoments("var_samp", value, moments{}) }

// VariancePop is the variance of a population, divided by n: VAR_POP. float64; 0 for one value, NULL for none; see [Variance].
func VariancePop(value int) Aggregate { return newMoments("var_pop", value, moments{pop: true}) }

// StdDev is the square root of [Variance]: STDDEV_SAMP. float64; NULL if fewer than two values are not NULL.
func StdDev(value int) Aggregate { return newMoments("stddev_samp", value, moments{root: true}) }

// StdDevPop is the square root of [VariancePop]: STDDEV_POP. float64; 0 for one value, NULL for none.
func StdDevPop(value int) Aggregate {
	return newMoments("stddev_pop", value, moments{pop: true, root: true})
}

func newMoments(name string, value int, kind moments) Aggregate {
	return Aggregate{
		Name: name, Args: []int{value}, reference: referenceMoments(kind.pop, kind.root),
		New: func(args []Type) (Accumulator, error) {
			m := &moments{pop: kind.pop, root: kind.root}
			switch args[0] {
			case Int8:
				m.add = addMoments[int8]
			case Int16:
				m.add = addMoments[int16]
			case Int32:
				m.add = addMoments[int32]
			case Int64:
				m.add = addMoments[int64]
			case Uint8:
				m.add = addMoments[uint8]
			case Uint16:
				m.add = addMoments[uint16]
			case Uint32:
				m.add = addMoments[uint32]
			case Uint64:
				m.add = addMoments[uint64]
			case Float32:
				m.add = addMoments[float32]
			case Float64:
				m.add = addMoments[float64]
			default:
				return nil, badArgs(name, args, "numbers")
			}
			return m, nil
		},
	}
}

// moments are the first two moments by group.
type moments struct {
	pop, root bool
	add       func(groups []moment, ids []uint32, col *Column)
	groups    []moment
	n         []int64
	mean, m2  []float64 // as columns
}

// A moment is n values, their mean, and the sum of their squared deviations from it. They lie together, as each row touches all three.
type moment struct{ n, mean, m2 float64 }

func addMoments[T number](groups []moment, ids []uint32, col *Column) {
	x := view[T](col)[:len(ids)]
	if col.validity != nil {
		forValid(col, func(i int) { groups[ids[i]].add(float64(x[i])) })
		return
	}
	for i, id := range ids {
		groups[id].add(float64(x[i]))
	}
}

func (m *moment) add(x float64) {
	n := m.n + 1
	d := x - m.mean
	mean := m.mean + d/n
	m.n, m.mean = n, mean
	m.m2 += d * (x - mean)
}

func (m *moment) merge(o moment) {
	switch {
	case o.n == 0:
	case m.n == 0:
		*m = o
	default:
		n := m.n + o.n
		d := o.mean - m.mean
		m.mean += d * (o.n / n)
		m.m2 += o.m2 + d*d*(m.n*(o.n/n))
		m.n = n
	}
}

func (m *moments) Types() ([]Type, Type) { return []Type{Int64, Float64, Float64}, Float64 }
func (m *moments) Resize(n int)          { m.groups = grown(m.groups, n) }
func (m *moments) Reset()                { m.groups = m.groups[:0] }
func (m *moments) Add(rows Rows) error   { m.add(m.groups, rows.IDs, &rows.Args[0]); return nil }

func (m *moments) State() ([]Column, error) {
	n := len(m.groups)
	m.n, m.mean, m.m2 = grown(m.n[:0], n), grown(m.mean[:0], n), grown(m.m2[:0], n)
	for id, g := range m.groups {
		m.n[id], m.mean[id], m.m2[id] = int64(g.n), g.mean, g.m2
	}
	return []Column{Values(m.n), Values(m.mean), Values(m.m2)}, nil
}

func (m *moments) Merge(ids []uint32, state []Column) error {
	n, mean, m2 := view[int64](&state[0]), view[float64](&state[1]), view[float64](&state[2])
	for i, id := range ids {
		m.groups[id].merge(moment{float64(n[i]), mean[i], m2[i]})
	}
	return nil
}

func (m *moments) Result() (Column, error) {
	m.m2 = grown(m.m2[:0], len(m.groups))
	valid := make([]byte, (len(m.groups)+7)/8)
	for id, g := range m.groups {
		n := g.n
		if !m.pop {
			n--
		}
		if n <= 0 {
			m.m2[id] = 0
			continue
		}
		valid[id>>3] |= 1 << (id & 7)
		m.m2[id] = g.m2 / n
		if m.root {
			m.m2[id] = math.Sqrt(m.m2[id])
		}
	}
	return Values(m.m2).WithValidity(valid), nil
}
