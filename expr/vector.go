// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"math"

	"github.com/vecql/vecql/column"
)

// Vectors.

// An element is a Go type of the elements of vectors of numbers.
type element interface {
	float32 | float64 | int32 | int64
}

// A matrix is the vectors of a block: row r is data[r*stride+from:][:dim]. A literal has the stride 0.
type matrix[E element] struct {
	data              []E
	stride, from, dim int
	valid             []byte
}

func (m *matrix[E]) row(r int32) []E {
	at := int(r)*m.stride + m.from
	return m.data[at : at+m.dim]
}

// A vectorLane returns the vectors of a block.
type vectorLane[E element] interface {
	vectors(rows []int32) (matrix[E], error)
}

// A matrixLane is a vector column, or a slice of one: its elements from number from on, dim of them, or all if dim is
// 0.
type matrixLane[E element] struct {
	b         *block
	s         *source
	from, dim int
}

func (l *matrixLane[E]) vectors([]int32) (matrix[E], error) {
	stride := l.s.column.Type.Dim
	m := matrix[E]{stride: stride, from: l.from, dim: l.dim, valid: l.s.bits(l.b)}
	if m.dim == 0 || stride == 0 {
		m.dim = stride
	}
	if c := l.s.column; l.from+l.dim > stride && c.Nulls < c.Len { // the schema had no dimension
		want := fmt.Sprintf("a vector of %d elements or more", l.from+l.dim)
		return m, &column.TypeError{Column: c.Name, Type: c.Type, Want: want}
	}
	if stride > 0 { // otherwise all rows are NULL
		m.data = view[E](l.s.column)[l.b.lo*stride : (l.b.lo+l.b.n)*stride]
	}
	return m, nil
}

// A vectorLiteral is the same vector in each row.
type vectorLiteral struct{ v []float64 }

func (l vectorLiteral) vectors([]int32) (matrix[float64], error) {
	return matrix[float64]{data: l.v, dim: len(l.v)}, nil
}

// A floatVectors converts the elements of vectors to float64.
type floatVectors[E element] struct {
	arg vectorLane[E]
	out []float64
}

func (l *floatVectors[E]) vectors(rows []int32) (matrix[float64], error) {
	m, err := l.arg.vectors(rows)
	if err != nil {
		return matrix[float64]{}, err
	}
	if n := blockRows * m.dim; len(l.out) < n {
		l.out = make([]float64, n)
	}
	for _, r := range rows {
		if m.valid != nil && m.valid[r>>3]>>(r&7)&1 == 0 {
			continue
		}
		out := l.out[int(r)*m.dim:]
		for i, x := range m.row(r) {
			out[i] = float64(x)
		}
	}
	return matrix[float64]{data: l.out, stride: m.dim, dim: m.dim, valid: m.valid}, nil
}

// A productLane computes a number from two vectors, or from one if y is nil.
type productLane[E element] struct {
	t     *term
	b     *block
	x     vectorLane[E]
	y     vectorLane[float64]
	of    func(x []E, y []float64) float64
	out   []float64
	valid [blockRows / 8]byte
	rows  [blockRows]int32
}

// eval computes the numbers of rows whose vectors are not NULL.
func (l *productLane[E]) eval(rows []int32) (vec[float64], error) {
	x, err := l.x.vectors(rows)
	if err != nil {
		return vec[float64]{}, err
	}
	valid, y := x.valid, matrix[float64]{dim: x.dim}
	if l.y != nil {
		if y, err = l.y.vectors(rows); err != nil {
			return vec[float64]{}, err
		}
		valid = andBits(x.valid, y.valid, l.valid[:], l.b.n)
	}
	for _, r := range validRows(valid, rows, l.rows[:]) {
		if x.dim != y.dim {
			return vec[float64]{}, l.t.failed(l.b, r, fmt.Errorf("%w: dimensions %d and %d", ErrCast, x.dim, y.dim))
		}
		var other []float64
		if l.y != nil {
			other = y.row(r)
		}
		l.out[r] = l.of(x.row(r), other)
	}
	return vec[float64]{l.out[:l.b.n], valid}, nil
}

// sums has four sums, of the elements whose number has the same remainder by 4. The processor adds them in parallel,
// and the order is fixed, so that the result does not depend on the machine. The conversions of products forbid fused
// operations for the same reason.
type sums [4]float64

func (s *sums) total() float64 { return s[0] + s[1] + (s[2] + s[3]) }

func dot[E element](x []E, y []float64) float64 {
	var s sums
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		s[0] += float64(float64(x[i]) * y[i])
		s[1] += float64(float64(x[i+1]) * y[i+1])
		s[2] += float64(float64(x[i+2]) * y[i+2])
		s[3] += float64(float64(x[i+3]) * y[i+3])
	}
	for ; i < len(x); i++ {
		s[i&3] += float64(float64(x[i]) * y[i])
	}
	return s.total()
}

func l2[E element](x []E, y []float64) float64 {
	var s sums
	y = y[:len(x)]
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a, b, c, d := float64(x[i])-y[i], float64(x[i+1])-y[i+1], float64(x[i+2])-y[i+2], float64(x[i+3])-y[i+3]
		s[0] += float64(a * a)
		s[1] += float64(b * b)
		s[2] += float64(c * c)
		s[3] += float64(d * d)
	}
	for ; i < len(x); i++ {
		d := float64(x[i]) - y[i]
		s[i&3] += float64(d * d)
	}
	return math.Sqrt(s.total())
}

func norm[E element](x []E, _ []float64) float64 { return math.Sqrt(square(x)) }

func square[E element](x []E) float64 {
	var s sums
	for i, v := range x {
		s[i&3] += float64(float64(v) * float64(v))
	}
	return s.total()
}

func cosine[E element](x []E, y []float64) float64 {
	return dot(x, y) / math.Sqrt(square(x)) / math.Sqrt(square(y))
}

// vectorFloats returns the lane of a number from vectors. A literal comes second: all functions are symmetric.
func (b *builder) vectorFloats(t *term) lane[float64] {
	args := t.args
	if len(args) == 2 && args[0].op == opLiteral {
		args = []*term{args[1], args[0]}
	}
	switch args[0].typ.Elem {
	case column.Float32:
		return productOf[float32](b, t, args)
	case column.Int32:
		return productOf[int32](b, t, args)
	case column.Int64:
		return productOf[int64](b, t, args)
	}
	return productOf[float64](b, t, args)
}

func productOf[E element](b *builder, t *term, args []*term) lane[float64] {
	l := &productLane[E]{t: t, b: b.block, x: vectorsOf[E](b, args[0]), out: room[float64](b.block)}
	if len(args) == 2 {
		l.y = b.floatVectors(args[1])
	}
	switch t.op {
	case "dot":
		l.of = dot[E]
	case "cosine":
		l.of = cosine[E]
	case "l2":
		l.of = l2[E]
	default:
		l.of = norm[E]
	}
	return l
}

// floatVectors returns vectors with elements of float64.
func (b *builder) floatVectors(t *term) vectorLane[float64] {
	switch t.typ.Elem {
	case column.Float32:
		return &floatVectors[float32]{arg: vectorsOf[float32](b, t)}
	case column.Int32:
		return &floatVectors[int32]{arg: vectorsOf[int32](b, t)}
	case column.Int64:
		return &floatVectors[int64]{arg: vectorsOf[int64](b, t)}
	}
	return vectorsOf[float64](b, t)
}

// vectorsOf returns the vectors of a column, a slice of one, or a literal, whose elements have the type E.
func vectorsOf[E element](b *builder, t *term) vectorLane[E] { return elementsOf[E](b, t, 0, 0) }

// elementsOf returns the vectors of vectorsOf without the elements before index from and after the next dim; dim 0
// keeps all that follow.
func elementsOf[E element](b *builder, t *term, from, dim int) vectorLane[E] {
	for ; t.op == "slice"; t = t.args[0] { // the slice of a slice begins within the inner one
		if dim == 0 {
			dim = int(t.args[2].value.(int64))
		}
		from += int(t.args[1].value.(int64)) - 1
	}
	if t.op == opColumn {
		return &matrixLane[E]{b.block, b.sources[t.index], from, dim}
	}
	v := t.value.([]float64)
	if dim > 0 {
		v = v[from : from+dim]
	}
	return any(vectorLiteral{v}).(vectorLane[E]) // literals have elements of float64
}

// An elementLane reads the element of vectors of dimension 1.
type elementLane[E element] struct {
	b    *block
	arg  vectorLane[E]
	out  []E
	rows [blockRows]int32
}

func elementOf[E element](b *builder, t *term) lane[E] {
	index := int(t.args[1].value.(int64)) - 1
	return &elementLane[E]{b: b.block, arg: elementsOf[E](b, t.args[0], index, 1), out: room[E](b.block)}
}

func (l *elementLane[E]) eval(rows []int32) (vec[E], error) {
	m, err := l.arg.vectors(rows)
	if err != nil {
		return vec[E]{}, err
	}
	for _, r := range validRows(m.valid, rows, l.rows[:]) {
		l.out[r] = m.row(r)[0]
	}
	return vec[E]{l.out[:l.b.n], m.valid}, nil
}
