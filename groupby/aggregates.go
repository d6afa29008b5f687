// SPDX-License-Identifier: Apache-2.0

package groupby

// This file makes the aggregates that are sums, counts and extremes. reference.go computes each of them from plain lists of values.

// Overflow says what Sum does with a sum of integers beyond 64 bits. Sums are exact whatever the order of rows: only the outcome counts.
type Overflow uint8

// What Sum does beyond 64 bits.
const (
	OverflowFail  Overflow = iota // Finish fails with an *OverflowError
	OverflowWrap                  // the low 64 bits, as Go's own +
	OverflowFloat                 // all sums are float64
)

// Count counts rows: COUNT(*). int64.
func Count() Aggregate {
	return Aggregate{Name: "count(*)", kind: "count", reference: referenceCount, New: func([]Type) (Accumulator, error) { return &count{}, nil }}
}

// CountOf counts the values of a column that are not NULL. int64.
func CountOf(value int) Aggregate {
	a := Aggregate{Name: "count", Args: []int{value}, parts: []Aggregate{Count(), nullsOf(value)}, reference: referenceCountOf}
	a.combine = func(accs []Accumulator) (Type, func() (Column, error)) {
		rows, nulls := accs[0].(*count), accs[1].(*nulls)
		var out []int64
		return Int64, func() (Column, error) {
			out = grown(out[:0], len(rows.n))
			for id := range out {
				out[id] = nulls.values(rows, id)
			}
			return Values(out), nil
		}
	}
	return a
}

func nullsOf(value int) Aggregate {
	return Aggregate{Name: "nulls", kind: "nulls", Args: []int{value}, New: func([]Type) (Accumulator, error) { return &nulls{}, nil }}
}

// Sum sums a column of numbers: int64 for signed integers, uint64 for unsigned, float64 for floats. NULL if all values are. A sum beyond 64
// bits is an error; see SumOverflow.
func Sum(value int) Aggregate { return SumOverflow(value, OverflowFail) }

// SumOverflow is Sum with a choice of what happens to sums of integers beyond 64 bits.
func SumOverflow(value int, overflow Overflow) Aggregate {
	a := Aggregate{Name: "sum", Args: []int{value}, parts: []Aggregate{sumOf("sum", value)}, reference: referenceSum("sum", overflow)}
	a.combine = func(accs []Accumulator) (Type, func() (Column, error)) {
		s, ok := accs[0].(*sumInt)
		switch {
		case !ok:
			return Float64, accs[0].Result
		case overflow == OverflowFloat:
			return Float64, s.floatResult
		case overflow == OverflowWrap:
			return s.low64(), s.Result
		}
		return s.low64(), func() (Column, error) {
			for id, n := range s.over {
				if n != 0 && id != 0 {
					return Column{}, &OverflowError{Aggregate: "sum"}
				}
			}
			return s.Result()
		}
	}
	return a
}

// SumCompensated is Sum of floats with an error that does not grow with the number of rows (Neumaier's summation).
func SumCompensated(value int) Aggregate {
	return Aggregate{
		Name: "sum", Args: []int{value}, reference: referenceSum("sum", OverflowFail),
		New: func(args []Type) (Accumulator, error) { return newSum("sum", args, true) },
	}
}

// sumOf is a sum without a decision about overflow, for an aggregate of that name.
func sumOf(name string, value int) Aggregate {
	return Aggregate{Name: name, kind: "sum", Args: []int{value}, New: func(args []Type) (Accumulator, error) { return newSum(name, args, false) }}
}

// Mean is the arithmetic mean: AVG. float64; NULL if all values are. Integers are summed exactly.
func Mean(value int) Aggregate {
	parts := []Aggregate{sumOf("avg", value), Count(), nullsOf(value)}
	a := Aggregate{Name: "avg", Args: []int{value}, parts: parts, reference: referenceMean}
	a.combine = func(accs []Accumulator) (Type, func() (Column, error)) {
		rows, nulls := accs[1].(*count), accs[2].(*nulls)
		sum := accs[0].Result
		if s, ok := accs[0].(*sumInt); ok {
			sum = s.floatResult
		}
		var out []float64
		return Float64, func() (Column, error) {
			c, err := sum()
			if err != nil {
				return Column{}, err
			}
			out = grown(out[:0], c.n)
			for id, s := range view[float64](&c) {
				out[id] = s / float64(nulls.values(rows, id))
			}
			return Values(out).WithValidity(c.validity), nil
		}
	}
	return a
}

// Min is the least value of a column, in its own type; NULL if all values are. NaN counts as greater than all numbers, true than false; strings and ids
// are compared by their bytes.
func Min(value int) Aggregate {
	return Aggregate{Name: "min", kind: "min", Args: []int{value}, reference: referenceExtreme(-1), New: func(args []Type) (Accumulator, error) { return newExtreme("min", args, false) }}
}

// Max is the greatest value; see Min.
func Max(value int) Aggregate {
	return Aggregate{Name: "max", kind: "max", Args: []int{value}, reference: referenceExtreme(1), New: func(args []Type) (Accumulator, error) { return newExtreme("max", args, true) }}
}

func newSum(name string, args []Type, compensated bool) (Accumulator, error) {
	var s *sumInt
	switch args[0] {
	case Int8:
		s = &sumInt{add: addSigned[int8]}
	case Int16:
		s = &sumInt{add: addSigned[int16]}
	case Int32:
		s = &sumInt{add: addSigned[int32]}
	case Int64:
		s = &sumInt{add: addSigned[int64]}
	case Uint8:
		s = &sumInt{add: addUnsigned[uint8], unsigned: true}
	case Uint16:
		s = &sumInt{add: addUnsigned[uint16], unsigned: true}
	case Uint32:
		s = &sumInt{add: addUnsigned[uint32], unsigned: true}
	case Uint64:
		s = &sumInt{add: addUnsigned[uint64], unsigned: true}
	case Float32:
		return &sumFloat{compensated: compensated, add: addFloat[float32]}, nil
	case Float64:
		return &sumFloat{compensated: compensated, add: addFloat[float64]}, nil
	default:
		return nil, badArgs(name, args, "numbers")
	}
	if compensated {
		return nil, badArgs(name, args, "floats, to be compensated")
	}
	return s, nil
}

func newExtreme(name string, args []Type, greatest bool) (Accumulator, error) {
	switch args[0] {
	case Int8:
		return &extreme[int8]{max: greatest}, nil
	case Int16:
		return &extreme[int16]{max: greatest}, nil
	case Int32:
		return &extreme[int32]{max: greatest}, nil
	case Int64:
		return &extreme[int64]{max: greatest}, nil
	case Uint8:
		return &extreme[uint8]{max: greatest}, nil
	case Uint16:
		return &extreme[uint16]{max: greatest}, nil
	case Uint32:
		return &extreme[uint32]{max: greatest}, nil
	case Uint64:
		return &extreme[uint64]{max: greatest}, nil
	case Float32:
		return &extreme[float32]{max: greatest}, nil
	case Float64:
		return &extreme[float64]{max: greatest}, nil
	}
	return newExtremeOrdered(name, args, greatest)
}
