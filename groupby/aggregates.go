// SPDX-License-Identifier: Apache-2.0

package groupby

import "github.com/vecql/vecql/column"

// Counts, sums, means and extremes.

// Overflow selects what Sum does with a sum of integers that does not fit into 64 bits. Sums are exact, independent of
// the order of rows: only the final sum of a group can overflow.
type Overflow uint8

// Results of Sum beyond 64 bits.
const (
	OverflowFail  Overflow = iota // Finish fails with an *OverflowError
	OverflowWrap                  // the low 64 bits, as with Go's +; a Decimal64 of a Decimal64; 128 bits of a Decimal128
	OverflowFloat                 // all sums are float64
)

// Count counts rows: COUNT(*). Int64.
func Count() Aggregate {
	a := call("count", nil)
	a.New = func([]column.Type) (Accumulator, error) { return &count{}, nil }
	return a
}

// CountOf counts the values of a column of any kind that are not NULL. Int64.
func CountOf(name string) Aggregate {
	a := call("count", []string{name})
	a.parts = []Aggregate{Count(), nullsOf(name)}
	a.combine = func(_ string, accs []Accumulator) (column.Field, resultFunc) {
		rows, nulls := accs[0].(*count), accs[1].(*nulls)
		var out []int64
		return fieldOf(typeInt64), func(i, j int) (column.Column, error) {
			out = grown(out[:0], j-i)
			for k := range out {
				out[k] = nulls.values(rows, i+k)
			}
			return of(out), nil
		}
	}
	return a
}

func nullsOf(name string) Aggregate {
	return call("nulls", []string{name}).newWith(func(column.Type) (Accumulator, error) { return &nulls{}, nil })
}

// Sum sums a column of numbers or vectors. Signed integers sum to Int64, unsigned ones to Uint64, floats to Float64,
// and a Decimal64 or Decimal128 to a Decimal128 of 38 digits and the same scale. Vectors of numbers are summed element
// by element to vectors of Float64; a vector that is NULL is skipped as a whole. The result is NULL if all values are
// NULL. A sum of integers beyond 64 bits, or of decimals beyond 38 digits, is an error; see [SumOverflow]. Memory: 8
// bytes per group, 16 for a Decimal128; for vectors 8*dim + 8.
func Sum(name string) Aggregate { return sumAggregate(call("sum", []string{name}), OverflowFail) }

// SumOverflow sums numbers as Sum does, with a choice of the result of sums that are beyond the range of Sum.
func SumOverflow(name string, overflow Overflow) Aggregate {
	a := sumAggregate(call("sum", []string{name}), overflow)
	a.params = []any{overflow}
	return a
}

// sumAggregate returns a, which has a name and an argument, as a sum.
func sumAggregate(a Aggregate, overflow Overflow) Aggregate {
	a.parts = []Aggregate{sumOf(a.Args[0])}
	a.combine = func(name string, accs []Accumulator) (column.Field, resultFunc) {
		return combineSum(name, accs[0], overflow)
	}
	a.typed = func(args []column.Type) Aggregate {
		if args[0].Kind == column.Vector {
			return vectorAggregate(a, false)
		}
		return a
	}
	return a
}

// combineSum returns the result of a sum for the aggregate with this name.
func combineSum(name string, acc Accumulator, overflow Overflow) (column.Field, resultFunc) {
	if wide, ok := acc.(*sumWide); ok {
		return combineWide(name, wide, overflow)
	}
	s, ok := acc.(*sumInt)
	switch {
	case !ok:
		return fieldOf(typeFloat64), acc.Result
	case overflow == OverflowFloat:
		return fieldOf(typeFloat64), scaledFloats(s.floats, s.validity, s.typ.Scale)
	case overflow == OverflowWrap:
		return fieldOf(s.typ), s.Result
	case s.typ.Kind == column.Decimal64: // whose sums have less than 38 digits
		var out []column.Int128
		typ := sumDecimal(s.typ.Scale)
		return fieldOf(typ), func(i, j int) (column.Column, error) {
			out = s.wide(out, i, j)
			return columnOf(typ, j-i, out).WithValidity(s.validity(i, j)), nil
		}
	}
	return fieldOf(s.typ), func(i, j int) (column.Column, error) {
		if s.over.between(i, j) != nil {
			return column.Column{}, &OverflowError{Aggregate: name}
		}
		return s.Result(i, j)
	}
}

// SumCompensated sums floats with an error that does not grow with the number of rows (Neumaier's summation).
func SumCompensated(name string) Aggregate {
	return call("sum_compensated", []string{name}).newWith(func(t column.Type) (Accumulator, error) {
		if !isFloat(t.Kind) {
			return nil, refused(0, "a float")
		}
		return newSum(t, true)
	})
}

// sumOf is a sum without a choice about overflow.
func sumOf(name string) Aggregate {
	return call("sum", []string{name}).newWith(func(t column.Type) (Accumulator, error) { return newSum(t, false) })
}

// Mean computes the arithmetic mean of a column of numbers or vectors: AVG. Float64; NULL if all values are NULL.
// Integers and decimals are summed exactly, and the scale of decimals is applied.
//
// The mean of vectors is their centroid, element by element. Its elements have the type of the column for floats, and
// Float64 for integers. The sum is computed in Float64 and rounded once. The centroid of a column of floats can thus be
// compared with the column's vectors, and written back beside them. A vector that is NULL is skipped as a whole.
func Mean(name string) Aggregate {
	a := call("mean", []string{name})
	a.parts = []Aggregate{sumOf(name), Count(), nullsOf(name)}
	a.combine = func(_ string, accs []Accumulator) (column.Field, resultFunc) {
		rows, nulls := accs[1].(*count), accs[2].(*nulls)
		var out []float64
		return fieldOf(typeFloat64), func(i, j int) (column.Column, error) {
			one := 1.0
			var valid []byte
			switch s := accs[0].(type) {
			case *sumInt:
				out, valid = s.floats(out, i, j), s.validity(i, j)
				one = pow10(s.typ.Scale)
			case *sumWide:
				out, valid = s.floats(out, i, j), s.validity(i, j)
				one = pow10(s.typ.Scale)
			case *sumFloat:
				out, valid = append(out[:0], s.sum[i:j]...), s.validity(i, j)
			}
			for k, s := range out {
				out[k] = s / (float64(nulls.values(rows, i+k)) * one) // rounded once
			}
			return of(out).WithValidity(valid), nil
		}
	}
	a.typed = func(args []column.Type) Aggregate {
		if args[0].Kind == column.Vector {
			return vectorAggregate(a, true)
		}
		return a
	}
	return a
}

// Min finds the least value of a column, in its own type; NULL if all values are NULL. NaN is greater than all numbers,
// and true is greater than false. Decimals, varints, dates and times have their own order; all other kinds are ordered
// by their bytes. Decimal, vectors, and kinds with children have no order and are refused.
func Min(name string) Aggregate { return extremeOf("min", name, false) }

// Max finds the greatest value; see [Min].
func Max(name string) Aggregate { return extremeOf("max", name, true) }

func extremeOf(fn, name string, greatest bool) Aggregate {
	return call(fn, []string{name}).newWith(func(t column.Type) (Accumulator, error) { return newExtreme(t, greatest) })
}

// newSum returns the accumulator for the sum of a column of numbers. Results of integers and Decimal64 have 64 bits and
// carries, results of Decimal128 128 bits and carries, and results of floats are Float64.
func newSum(t column.Type, compensated bool) (Accumulator, error) {
	if t.Kind == column.Decimal128 {
		return &sumWide{typ: sumDecimal(t.Scale)}, nil
	}
	if !isNumber(t) {
		return nil, refused(0, wantNumber+"; or a decimal128, or a vector of numbers")
	}
	s := &sumInt{typ: typeInt64}
	switch t.Kind {
	case column.Int8:
		s.add = addSigned[int8]
	case column.Int16:
		s.add = addSigned[int16]
	case column.Int32:
		s.add = addSigned[int32]
	case column.Int64:
		s.add = addSigned[int64]
	case column.Decimal64:
		s.add, s.typ = addSigned[int64], column.Type{Kind: column.Decimal64, Precision: 18, Scale: t.Scale}
	case column.Uint8:
		s.add, s.unsigned = addUnsigned[uint8], true
	case column.Uint16:
		s.add, s.unsigned = addUnsigned[uint16], true
	case column.Uint32:
		s.add, s.unsigned = addUnsigned[uint32], true
	case column.Uint64:
		s.add, s.unsigned = addUnsigned[uint64], true
	case column.Float32:
		return &sumFloat{compensated: compensated, add: addFloat[float32]}, nil
	case column.Float64:
		return &sumFloat{compensated: compensated, add: addFloat[float64]}, nil
	}
	if s.unsigned {
		s.typ = typeUint64
	}
	return s, nil
}

// newExtreme returns the accumulator for the least or the greatest value. Numbers, and kinds stored as numbers, compare
// as such.
func newExtreme(t column.Type, greatest bool) (Accumulator, error) {
	switch storedAs(t) {
	case column.Int8:
		return &extreme[int8]{typ: t, max: greatest}, nil
	case column.Int16:
		return &extreme[int16]{typ: t, max: greatest}, nil
	case column.Int32:
		return &extreme[int32]{typ: t, max: greatest}, nil
	case column.Int64:
		return &extreme[int64]{typ: t, max: greatest}, nil
	case column.Uint8:
		return &extreme[uint8]{typ: t, max: greatest}, nil
	case column.Uint16:
		return &extreme[uint16]{typ: t, max: greatest}, nil
	case column.Uint32:
		return &extreme[uint32]{typ: t, max: greatest}, nil
	case column.Uint64:
		return &extreme[uint64]{typ: t, max: greatest}, nil
	case column.Float32:
		return &extreme[float32]{typ: t, max: greatest}, nil
	case column.Float64:
		return &extreme[float64]{typ: t, max: greatest}, nil
	}
	return newExtremeOrdered(t, greatest)
}
