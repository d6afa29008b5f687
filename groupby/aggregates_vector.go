// SPDX-License-Identifier: Apache-2.0

package groupby

import "unsafe"

// This file holds the aggregates of columns of vectors: their sum and their mean, element by element, as a matrix of groups.

// VectorSum sums a column of vectors, element by element, in float64. Vector(Float64, dim); NULL if all vectors of a group are. A NULL vector is
// left out as a whole. 8*dim + 8 bytes per group.
func VectorSum(value int) Aggregate { return newVectorSum("vector_sum", value, false) }

// VectorMean is the arithmetic mean of a column of vectors, element by element: their centroid. Vector(Float64, dim); NULL if all vectors of
// a group are. Memory as [VectorSum].
func VectorMean(value int) Aggregate { return newVectorSum("vector_mean", value, true) }

func newVectorSum(name string, value int, mean bool) Aggregate {
	return Aggregate{
		Name: name, Args: []int{value}, reference: referenceVector(mean),
		New: func(args []Type) (Accumulator, error) {
			t := args[0]
			if t.Dim() == 0 {
				return nil, badArgs(name, args, "vectors")
			}
			v := &vectorSum{dim: t.Dim(), mean: mean, add: addVectors[float64]}
			if t.Elem() == Float32 {
				v.add = addVectors[float32]
			}
			return v, nil
		},
	}
}

// vectorSum is a sum and a count of vectors by group. Columns are of sum itself, a matrix.
type vectorSum struct {
	dim  int
	mean bool
	add  func(v *vectorSum, ids []uint32, col *Column)
	sum  []float64
	n    []int64
	out  []float64
}

func addVectors[T float](v *vectorSum, ids []uint32, col *Column) {
	x := view[T](col)
	if col.validity != nil {
		forValid(col, func(i int) { addVector(v, ids[i], x[i*v.dim:(i+1)*v.dim]) })
		return
	}
	for i, id := range ids {
		addVector(v, id, x[i*v.dim:(i+1)*v.dim])
	}
}

func addVector[T float](v *vectorSum, id uint32, x []T) {
	if id == 0 {
		return
	}
	v.n[id]++
	addTo(v.sum[int(id)*v.dim:int(id+1)*v.dim], x)
}

// addTo adds x to sum, which is as long, eight elements at a time.
func addTo[T float](sum []float64, x []T) {
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

func (v *vectorSum) Types() ([]Type, Type) {
	t := Vector(Float64, v.dim)
	return []Type{t, Int64}, t
}

func (v *vectorSum) Resize(n int)        { v.sum, v.n = grown(v.sum, n*v.dim), grown(v.n, n) }
func (v *vectorSum) Reset()              { v.sum, v.n = v.sum[:0], v.n[:0] }
func (v *vectorSum) Add(rows Rows) error { v.add(v, rows.IDs, &rows.Args[0]); return nil }

func (v *vectorSum) State() ([]Column, error) {
	return []Column{v.matrix(v.sum), Values(v.n)}, nil
}

func (v *vectorSum) matrix(x []float64) Column {
	return Column{typ: Vector(Float64, v.dim), n: len(v.n), data: unsafe.Pointer(unsafe.SliceData(x))}
}

func (v *vectorSum) Merge(ids []uint32, state []Column) error {
	x, n := view[float64](&state[0]), view[int64](&state[1])
	for i, id := range ids {
		if id != 0 && n[i] != 0 {
			v.n[id] += n[i]
			addTo(v.sum[int(id)*v.dim:int(id+1)*v.dim], x[i*v.dim:(i+1)*v.dim])
		}
	}
	return nil
}

func (v *vectorSum) Result() (Column, error) {
	valid := make([]byte, (len(v.n)+7)/8)
	out := v.sum
	if v.mean {
		v.out = grown(v.out[:0], len(v.sum))
		out = v.out
	}
	for id, n := range v.n {
		if n == 0 {
			continue
		}
		valid[id>>3] |= 1 << (id & 7)
		if v.mean {
			for j := id * v.dim; j < (id+1)*v.dim; j++ {
				out[j] = v.sum[j] / float64(n)
			}
		}
	}
	return v.matrix(out).WithValidity(valid), nil
}
