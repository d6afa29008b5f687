// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"

	"github.com/vecql/vecql/column"
)

// Minimum and maximum of numbers.

// extreme is MIN or MAX. NaN is greater than all numbers, as in the order of keys.
type extreme[T number] struct {
	seen
	typ  column.Type
	best []T
	max  bool
}

func (e *extreme[T]) Types() ([]column.Type, column.Field) {
	return []column.Type{e.typ}, fieldOf(e.typ)
}

// first returns the initial best of an empty group, which no value loses against.
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

// Add compares each row with the best value of its group, which Resize sets to the worst value of the type, so that
// groups without a value need no case.
func (e *extreme[T]) Add(rows Rows) error {
	col := &rows.Args[0]
	best, ids := e.best, rows.IDs
	x := view[T](col)[:len(ids)]
	e.begin(ids, col.Nulls != 0)
	switch {
	case col.Nulls != 0:
		for _, i := range e.valid(col) {
			id := ids[i]
			if e.max {
				best[id] = maxOf(best[id], x[i])
			} else {
				best[id] = minOf(best[id], x[i])
			}
			e.bits[id] = true
		}
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

func (e *extreme[T]) State(i, j int) ([]column.Column, error) {
	c, err := e.Result(i, j)
	return []column.Column{c}, err
}

func (e *extreme[T]) Merge(ids []uint32, state []column.Column) error {
	return e.Add(Rows{IDs: ids, Args: state})
}

func (e *extreme[T]) Result(i, j int) (column.Column, error) {
	return columnOf(e.typ, j-i, e.best[i:j]).WithValidity(e.validity(i, j)), nil
}

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
