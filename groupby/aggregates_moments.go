// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"

	"github.com/vecql/vecql/column"
)

// Variances and standard deviations. Rows are added by Welford's recurrence (B. P. Welford, Note on a method for
// calculating corrected sums of squares and products, Technometrics 4, 1962). States are merged by the formula of T. F.
// Chan, G. H. Golub and R. J. LeVeque (Updating formulae and a pairwise algorithm for computing sample variances,
// 1979). Both keep their digits when the mean is large.

// Variance computes the sample variance of a column of numbers, the sum of squared deviations divided by n-1: VAR_SAMP.
// Float64; NULL if fewer than two values are not NULL. NaN and infinities make it NaN. Integers are converted to the
// nearest float64; the scale of a Decimal64 is applied. Memory: 24 bytes per group.
func Variance(name string) Aggregate { return newMoments("variance", name, moments{}) }

// VariancePop computes the population variance, the sum of squared deviations divided by n: VAR_POP. Float64; 0 for one
// value, NULL for none. See [Variance].
func VariancePop(name string) Aggregate { return newMoments("variance_pop", name, moments{pop: true}) }

// StdDev computes the square root of [Variance]: STDDEV_SAMP. Float64; NULL if fewer than two values are not NULL.
func StdDev(name string) Aggregate { return newMoments("stddev", name, moments{root: true}) }

// StdDevPop computes the square root of [VariancePop]: STDDEV_POP. Float64; 0 for one value, NULL for none.
func StdDevPop(name string) Aggregate {
	return newMoments("stddev_pop", name, moments{pop: true, root: true})
}

// newMoments returns the aggregate fn of a column of numbers; kind selects population or sample, and whether to take
// the root.
func newMoments(fn, name string, kind moments) Aggregate {
	return call(fn, []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		m := &moments{pop: kind.pop, root: kind.root}
		switch t.Kind {
		case column.Int8:
			m.add = addMoments[int8]
		case column.Int16:
			m.add = addMoments[int16]
		case column.Int32:
			m.add = addMoments[int32]
		case column.Int64:
			m.add = addMoments[int64]
		case column.Uint8:
			m.add = addMoments[uint8]
		case column.Uint16:
			m.add = addMoments[uint16]
		case column.Uint32:
			m.add = addMoments[uint32]
		case column.Uint64:
			m.add = addMoments[uint64]
		case column.Float32:
			m.add = addMoments[float32]
		case column.Float64:
			m.add = addMoments[float64]
		case column.Decimal64:
			m.add = func(groups []moment, ids []uint32, col *column.Column) {
				m.mean = scaled(m.mean, col)
				addMoments[float64](groups, ids, asFloats(col, m.mean))
			}
		default:
			return nil, refused(0, wantNumber)
		}
		return m, nil
	})
}

// scaled returns the values of a column of Decimal64 as floats. It uses the memory of dst if there is enough.
func scaled(dst []float64, col *column.Column) []float64 {
	dst = grown(dst[:0], col.Len)
	one := pow10(col.Type.Scale)
	for i, x := range view[int64](col) {
		dst[i] = float64(x) / one
	}
	return dst
}

// asFloats returns a Float64 column with these values and the validity of col.
func asFloats(col *column.Column, values []float64) *column.Column {
	c := columnOf(typeFloat64, col.Len, values)
	c.Nulls, c.Validity = col.Nulls, col.Validity
	return &c
}

// moments are the number of values, their mean and the sum of squared deviations, by group.
type moments struct {
	pop, root bool
	add       func(groups []moment, ids []uint32, col *column.Column)
	groups    []moment
	n         []int64
	mean, m2  []float64 // as columns
}

// A moment is n values, their mean, and the sum of their squared deviations from it. The three lie together because
// each row updates all of them.
type moment struct{ n, mean, m2 float64 }

func addMoments[T number](groups []moment, ids []uint32, col *column.Column) {
	x := view[T](col)[:len(ids)]
	if col.Nulls != 0 {
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

// merge adds the values of o, by the formula of Chan, Golub and LeVeque for the union of two samples.
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

func (m *moments) Types() ([]column.Type, column.Field) {
	return []column.Type{typeInt64, typeFloat64, typeFloat64}, fieldOf(typeFloat64)
}

func (m *moments) Resize(n int)        { m.groups = grown(m.groups, n) }
func (m *moments) Reset()              { m.groups = m.groups[:0] }
func (m *moments) Add(rows Rows) error { m.add(m.groups, rows.IDs, &rows.Args[0]); return nil }

func (m *moments) State(i, j int) ([]column.Column, error) {
	n := j - i
	m.n, m.mean, m.m2 = grown(m.n[:0], n), grown(m.mean[:0], n), grown(m.m2[:0], n)
	for k, g := range m.groups[i:j] {
		m.n[k], m.mean[k], m.m2[k] = int64(g.n), g.mean, g.m2
	}
	return []column.Column{of(m.n), of(m.mean), of(m.m2)}, nil
}

func (m *moments) Merge(ids []uint32, state []column.Column) error {
	n, mean, m2 := view[int64](&state[0]), view[float64](&state[1]), view[float64](&state[2])
	for i, id := range ids {
		m.groups[id].merge(moment{float64(n[i]), mean[i], m2[i]})
	}
	return nil
}

// Result returns the variance or its root. Groups with too few values are NULL: none for the population, fewer than two
// for a sample.
func (m *moments) Result(i, j int) (column.Column, error) {
	m.m2 = grown(m.m2[:0], j-i)
	valid := make([]byte, (j-i+7)/8)
	for k, g := range m.groups[i:j] {
		n := g.n
		if !m.pop {
			n--
		}
		if n <= 0 {
			continue
		}
		valid[k>>3] |= 1 << (k & 7)
		m.m2[k] = g.m2 / n
		if m.root {
			m.m2[k] = math.Sqrt(m.m2[k])
		}
	}
	return of(m.m2).WithValidity(valid), nil
}
