// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"

	"github.com/vecql/vecql/column"
)

// Correlations and covariances. Rows are added and states are merged as in aggregates_moments.go, with the sum of
// products of the deviations of two columns beside the sums of their squares.

// Corr computes Pearson's correlation coefficient of two columns of numbers: CORR. Float64, from -1 to 1. Rows where
// one of the two is NULL are skipped; the result is NULL if no row is left. It is NaN if all values of one column are
// equal, such as the values of a single row, and if there is a NaN or an infinity. Integers are converted to the
// nearest float64; the scale of a Decimal64 is applied. Memory: 48 bytes per group.
func Corr(x, y string) Aggregate { return pairsAggregate("corr", x, y, (*pairMoment).corr) }

// CovarPop computes the covariance of two columns of numbers in a population: COVAR_POP. It is 0 of one row, otherwise
// as [Corr].
func CovarPop(x, y string) Aggregate {
	return pairsAggregate("covar_pop", x, y, (*pairMoment).covarPop)
}

// CovarSamp computes the covariance of two columns of numbers in a sample: COVAR_SAMP. It is NULL of one row, otherwise
// as [Corr].
func CovarSamp(x, y string) Aggregate {
	return pairsAggregate("covar_samp", x, y, (*pairMoment).covarSamp)
}

// pairsAggregate returns the aggregate of two columns with this result of their moments, which is NULL if ok is false.
func pairsAggregate(name, x, y string, result func(m *pairMoment) (v float64, ok bool)) Aggregate {
	a := call(name, []string{x, y})
	a.New = func(args []column.Type) (Accumulator, error) {
		for i, t := range args {
			if !isNumber(t) {
				return nil, refused(i, wantNumber)
			}
		}
		return &correlations{result: result}, nil
	}
	return a
}

// correlations are the moments of pairs by group.
type correlations struct {
	result func(m *pairMoment) (v float64, ok bool)
	groups []pairMoment
	x, y   []float64 // arguments as floats
	n      []int64
	cols   [5][]float64 // columns of states and results
}

// A pairMoment is n pairs: their means, the sums of the squares of their deviations, and the sum of the products.
type pairMoment struct{ n, meanX, meanY, xx, yy, xy float64 }

func (m *pairMoment) add(x, y float64) {
	m.n++
	part := 1 / m.n
	dx, dy := x-m.meanX, y-m.meanY
	m.meanX += dx * part
	m.meanY += dy * part
	m.xx += dx * (x - m.meanX)
	m.yy += dy * (y - m.meanY)
	m.xy += dx * (y - m.meanY)
}

// merge adds the pairs of o, by the formula of Chan, Golub and LeVeque for the union of two samples.
func (m *pairMoment) merge(o pairMoment) {
	switch {
	case o.n == 0:
	case m.n == 0:
		*m = o
	default:
		n := m.n + o.n
		dx, dy, part := o.meanX-m.meanX, o.meanY-m.meanY, o.n/n
		m.meanX += dx * part
		m.meanY += dy * part
		m.xx += o.xx + dx*dx*(m.n*part)
		m.yy += o.yy + dy*dy*(m.n*part)
		m.xy += o.xy + dx*dy*(m.n*part)
		m.n = n
	}
}

// corr returns the coefficient. Rounding may take it beyond 1.
func (m *pairMoment) corr() (float64, bool) {
	return min(max(m.xy/math.Sqrt(m.xx)/math.Sqrt(m.yy), -1), 1), m.n > 0
}

func (m *pairMoment) covarPop() (float64, bool)  { return m.xy / m.n, m.n > 0 }
func (m *pairMoment) covarSamp() (float64, bool) { return m.xy / (m.n - 1), m.n > 1 }

func (c *correlations) Types() ([]column.Type, column.Field) {
	return []column.Type{
		typeInt64, typeFloat64, typeFloat64, typeFloat64, typeFloat64, typeFloat64,
	}, fieldOf(typeFloat64)
}

func (c *correlations) Resize(n int) { c.groups = grown(c.groups, n) }
func (c *correlations) Reset()       { c.groups = c.groups[:0] }

func (c *correlations) Add(rows Rows) error {
	a, b, groups, ids := &rows.Args[0], &rows.Args[1], c.groups, rows.IDs
	c.x, c.y = asFloat64(c.x, a), asFloat64(c.y, b)
	x, y := c.x[:len(ids)], c.y[:len(ids)]
	switch {
	case a.Nulls == 0 && b.Nulls == 0:
		for i, id := range ids {
			groups[id].add(x[i], y[i])
		}
	default:
		forValid(a, func(i int) {
			if !b.Null(i) {
				groups[ids[i]].add(x[i], y[i])
			}
		})
	}
	return nil
}

// asFloat64 converts a column of numbers. It uses the memory of dst if there is enough.
func asFloat64(dst []float64, col *column.Column) []float64 {
	if col.Type.Kind == column.Decimal64 {
		return scaled(dst, col)
	}
	dst = grown(dst[:0], col.Len)
	switch col.Type.Kind {
	case column.Int8:
		convert(dst, view[int8](col))
	case column.Int16:
		convert(dst, view[int16](col))
	case column.Int32:
		convert(dst, view[int32](col))
	case column.Int64:
		convert(dst, view[int64](col))
	case column.Uint8:
		convert(dst, view[uint8](col))
	case column.Uint16:
		convert(dst, view[uint16](col))
	case column.Uint32:
		convert(dst, view[uint32](col))
	case column.Uint64:
		convert(dst, view[uint64](col))
	case column.Float32:
		convert(dst, view[float32](col))
	case column.Float64:
		copy(dst, view[float64](col))
	}
	return dst
}

func convert[T number](dst []float64, x []T) {
	for i, v := range x[:len(dst)] {
		dst[i] = float64(v)
	}
}

func (c *correlations) State(i, j int) ([]column.Column, error) {
	n := j - i
	c.n = grown(c.n[:0], n)
	for k := range c.cols {
		c.cols[k] = grown(c.cols[k][:0], n)
	}
	for k, g := range c.groups[i:j] {
		c.n[k] = int64(g.n)
		c.cols[0][k], c.cols[1][k], c.cols[2][k], c.cols[3][k], c.cols[4][k] = g.meanX, g.meanY, g.xx, g.yy, g.xy
	}
	state := []column.Column{of(c.n)}
	for _, v := range c.cols {
		state = append(state, of(v))
	}
	return state, nil
}

func (c *correlations) Merge(ids []uint32, state []column.Column) error {
	n := view[int64](&state[0])
	var v [5][]float64
	for k := range v {
		v[k] = view[float64](&state[k+1])
	}
	for i, id := range ids {
		c.groups[id].merge(pairMoment{float64(n[i]), v[0][i], v[1][i], v[2][i], v[3][i], v[4][i]})
	}
	return nil
}

// Result returns the coefficients or covariances.
func (c *correlations) Result(i, j int) (column.Column, error) {
	c.cols[0] = grown(c.cols[0][:0], j-i)
	valid := make([]byte, (j-i+7)/8)
	for k := range c.groups[i:j] {
		if v, ok := c.result(&c.groups[i+k]); ok {
			valid[k>>3] |= 1 << (k & 7)
			c.cols[0][k] = v
		}
	}
	return of(c.cols[0]).WithValidity(valid), nil
}
