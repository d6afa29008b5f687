// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Sums and means of vectors, element by element: a matrix of groups.

// vectorAggregate turns a sum or mean of numbers into one of vectors. Sum and mean share the sums.
func vectorAggregate(a Aggregate, mean bool) Aggregate {
	a.parts = []Aggregate{call("vector_sum", a.Args).newWith(newVectorSum)}
	a.combine = func(_ string, accs []Accumulator) (column.Field, resultFunc) {
		v := accs[0].(*vectorSum)
		if !mean {
			_, field := v.Types()
			return field, v.Result
		}
		t := v.types()
		if v.elem == column.Float32 {
			t.Elem = column.Float32
		}
		return fieldOf(t), v.mean
	}
	return a
}

// newVectorSum returns the accumulator for sums and means of vectors of numbers.
func newVectorSum(t column.Type) (Accumulator, error) {
	v := &vectorSum{dim: t.Dim, elem: t.Elem}
	switch t.Elem {
	case column.Float32:
		v.add = addVectors[float32]
	case column.Float64:
		v.add = addVectors[float64]
	case column.Int32:
		v.add = addVectors[int32]
	case column.Int64:
		v.add = addVectors[int64]
	default:
		return nil, refused(0, wantNumber+"; or a vector of numbers")
	}
	return v, nil
}

// vectorSum is a sum and a count of vectors by group. Columns are views of sum, a matrix.
type vectorSum struct {
	dim   int
	elem  column.Kind // of the column
	add   func(v *vectorSum, ids []uint32, col *column.Column)
	sum   []float64
	n     []int64
	out   []float64
	out32 []float32
}

// addVectors adds each row that is not NULL to the sum of its group.
func addVectors[T number](v *vectorSum, ids []uint32, col *column.Column) {
	if isZeros(col) { // the dimension is unknown: all are NULL
		return
	}
	x := view[T](col)
	if col.Nulls != 0 {
		forValid(col, func(i int) { addVector(v, ids[i], x[i*v.dim:(i+1)*v.dim]) })
		return
	}
	for i, id := range ids {
		addVector(v, id, x[i*v.dim:(i+1)*v.dim])
	}
}

func addVector[T number](v *vectorSum, id uint32, x []T) {
	if id == 0 {
		return
	}
	v.n[id]++
	addTo(v.sum[int(id)*v.dim:int(id+1)*v.dim], x)
}

// addTo adds x to sum, which has the same length, eight elements at a time.
func addTo[T number](sum []float64, x []T) {
	for len(x) >= 8 && len(sum) >= 8 {
		s, y := sum[:8], x[:8]
		s[0] += float64(y[0])
		s[1] += float64(y[1])
		s[2] += float64(y[2])
		s[3] += float64(y[3])
		s[4] += float64(y[4])
		s[5] += float64(y[5])
		s[6] += float64(y[6])
		s[7] += float64(y[7])
		sum, x = sum[8:], x[8:]
	}
	sum = sum[:len(x)]
	for j, y := range x {
		sum[j] += float64(y)
	}
}

// types returns the type of the sums.
func (v *vectorSum) types() column.Type { return column.VectorOf(column.Float64, v.dim) }

func (v *vectorSum) Types() ([]column.Type, column.Field) {
	return []column.Type{v.types(), typeInt64}, fieldOf(v.types())
}

func (v *vectorSum) Resize(n int)        { v.sum, v.n = grown(v.sum, n*v.dim), grown(v.n, n) }
func (v *vectorSum) Reset()              { v.sum, v.n = v.sum[:0], v.n[:0] }
func (v *vectorSum) Add(rows Rows) error { v.add(v, rows.IDs, &rows.Args[0]); return nil }

func (v *vectorSum) State(i, j int) ([]column.Column, error) {
	return []column.Column{columnOf(v.types(), j-i, v.sum[i*v.dim:j*v.dim]), of(v.n[i:j])}, nil
}

// Merge adds sums and counts. Sums that are all zeros need no addition.
func (v *vectorSum) Merge(ids []uint32, state []column.Column) error {
	n := view[int64](&state[1])
	if isZeros(&state[0]) {
		for i, id := range ids {
			v.n[id] += n[i]
		}
		return nil
	}
	x := view[float64](&state[0])
	for i, id := range ids {
		if id != 0 && n[i] != 0 {
			v.n[id] += n[i]
			addTo(v.sum[int(id)*v.dim:int(id+1)*v.dim], x[i*v.dim:(i+1)*v.dim])
		}
	}
	return nil
}

// validity returns the validity of groups [i, j): groups without vectors are NULL.
func (v *vectorSum) validity(i, j int) []byte {
	valid := make([]byte, (j-i+7)/8)
	for k, n := range v.n[i:j] {
		if n != 0 {
			valid[k>>3] |= 1 << (k & 7)
		}
	}
	return valid
}

func (v *vectorSum) Result(i, j int) (column.Column, error) {
	return columnOf(v.types(), j-i, v.sum[i*v.dim:j*v.dim]).WithValidity(v.validity(i, j)), nil
}

// mean returns the means of groups [i, j).
func (v *vectorSum) mean(i, j int) (column.Column, error) {
	t := v.types()
	if v.elem == column.Float32 {
		t.Elem = column.Float32
		v.out32 = grown(v.out32[:0], (j-i)*v.dim)
		meanOf(v, v.out32, i, j)
		return columnOf(t, j-i, v.out32).WithValidity(v.validity(i, j)), nil
	}
	v.out = grown(v.out[:0], (j-i)*v.dim)
	meanOf(v, v.out, i, j)
	return columnOf(t, j-i, v.out).WithValidity(v.validity(i, j)), nil
}

// meanOf writes the means of groups [i, j) to out. Rows of groups without vectors stay as they are.
func meanOf[T float](v *vectorSum, out []T, i, j int) {
	for id := i; id < j; id++ {
		n := v.n[id]
		if n == 0 {
			continue
		}
		sum := v.sum[id*v.dim : (id+1)*v.dim]
		for k, s := range sum {
			out[(id-i)*v.dim+k] = T(s / float64(n))
		}
	}
}
