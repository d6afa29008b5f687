// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
)

// Sums of decimals, which have 38 digits.

// sumDecimal returns the type of sums of decimals of a scale.
func sumDecimal(scale int) column.Type {
	return column.Type{Kind: column.Decimal128, Precision: int128.MaxDigits, Scale: scale}
}

// wide returns the sums of groups [i, j) in 128 bits, in the memory of dst if there is enough.
func (s *sums) wide(dst []column.Int128, i, j int) []column.Int128 {
	dst = grown(dst[:0], j-i)
	for k := range dst {
		dst[k] = int128.Of(s.low[i+k])
		dst[k].Hi += s.over.of(i + k)
	}
	return dst
}

// sumWide is the sum of Decimal128 in 192 bits: low holds the low 128 bits of each, and over the carries. The final sum
// does not depend on the order of rows.
type sumWide struct {
	seen
	low  []column.Int128
	over carries
	typ  column.Type
}

func (s *sumWide) Types() ([]column.Type, column.Field) {
	return []column.Type{s.typ, typeInt64}, fieldOf(s.typ)
}

func (s *sumWide) Resize(n int) {
	s.low = grown(s.low, n)
	s.seen.resize(n)
}

func (s *sumWide) Reset() {
	s.low, s.over = s.low[:0], carries{}
	s.seen.reset()
}

func (s *sumWide) Add(rows Rows) error {
	s.add(rows.IDs, &rows.Args[0])
	return nil
}

// add adds values to their groups, and counts the sums that leave the range.
func (s *sumWide) add(ids []uint32, col *column.Column) {
	x := view[column.Int128](col)[:len(ids)]
	s.begin(ids, col.Nulls != 0)
	one := func(i int) {
		id, v := ids[i], x[i]
		sum, ok := int128.Add(s.low[id], v)
		if s.low[id] = sum; !ok {
			s.over.add(id, 1|v.Hi>>63)
		}
	}
	if col.Nulls == 0 {
		for i := range ids {
			one(i)
		}
	} else {
		for _, i := range s.valid(col) {
			one(int(i))
			s.bits[ids[i]] = true
		}
	}
	s.end()
}

func (s *sumWide) State(i, j int) ([]column.Column, error) {
	over := zeroColumn(typeInt64, j-i)
	if o := s.over.between(i, j); o != nil {
		over = of(o)
	}
	low, err := s.Result(i, j)
	return []column.Column{low, over}, err
}

func (s *sumWide) Merge(ids []uint32, state []column.Column) error {
	s.add(ids, &state[0])
	if !isZeros(&state[1]) {
		for i, n := range view[int64](&state[1]) {
			if n != 0 {
				s.over.add(ids[i], n)
			}
		}
	}
	return nil
}

// Result returns the low 128 bits.
func (s *sumWide) Result(i, j int) (column.Column, error) {
	return columnOf(s.typ, j-i, s.low[i:j]).WithValidity(s.validity(i, j)), nil
}

// floats returns the sums of groups [i, j) as floats, without the scale, in the memory of dst if there is enough.
func (s *sumWide) floats(dst []float64, i, j int) []float64 {
	dst = grown(dst[:0], j-i)
	for k := range dst {
		dst[k] = int128.Float(s.low[i+k], 0) + float64(s.over.of(i+k))*0x1p128
	}
	return dst
}

// fits reports whether all sums of groups [i, j) have at most 38 digits.
func (s *sumWide) fits(i, j int) bool {
	if s.over.between(i, j) != nil {
		return false
	}
	valid := s.validity(i, j)
	for k, v := range s.low[i:j] {
		if !int128.Within(v, int128.MaxDigits) && (valid == nil || valid[k>>3]>>(k&7)&1 == 1) {
			return false
		}
	}
	return true
}

// combineWide returns the result of a sum of Decimal128 for the aggregate with this name.
func combineWide(name string, s *sumWide, overflow Overflow) (column.Field, resultFunc) {
	switch overflow {
	case OverflowFloat:
		return fieldOf(typeFloat64), scaledFloats(s.floats, s.validity, s.typ.Scale)
	case OverflowWrap:
		return fieldOf(s.typ), s.Result
	default:
		return fieldOf(s.typ), func(i, j int) (column.Column, error) {
			if !s.fits(i, j) {
				return column.Column{}, &OverflowError{Aggregate: name}
			}
			return s.Result(i, j)
		}
	}
}

// scaledFloats returns the result of sums as floats, with the scale of decimals applied.
func scaledFloats(floats func(dst []float64, i, j int) []float64, valid func(i, j int) []byte, scale int) resultFunc {
	var out []float64
	return func(i, j int) (column.Column, error) {
		out = floats(out, i, j)
		one := pow10(scale)
		for k := range out {
			out[k] /= one
		}
		return of(out).WithValidity(valid(i, j)), nil
	}
}
