// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
	"github.com/vecql/vecql/internal/soak"
)

// All pairs of types of numbers at their boundaries, beside exact numbers.

// boundaries returns a column of a type of numbers with its boundary values, and the boundary values of the other
// types.
func boundaries(t column.Type) column.Column {
	ints := []int64{0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 32767, 32768, 65535, 65536, math.MaxInt32, math.MinInt32, math.MaxUint32, 1 << 32}
	ints = append(ints, 1<<53, 1<<53+1, -1<<53-1, math.MaxInt64-1, math.MaxInt64, math.MinInt64, math.MinInt64+1)
	switch t.Kind {
	case column.Int8:
		return ofBoundaries[int8](ints, func(v int64) (int8, bool) { return int8(v), int64(int8(v)) == v })
	case column.Int16:
		return ofBoundaries[int16](ints, func(v int64) (int16, bool) { return int16(v), int64(int16(v)) == v })
	case column.Int32:
		return ofBoundaries[int32](ints, func(v int64) (int32, bool) { return int32(v), int64(int32(v)) == v })
	case column.Uint8:
		return ofBoundaries[uint8](ints, func(v int64) (uint8, bool) { return uint8(v), int64(uint8(v)) == v })
	case column.Uint16:
		return ofBoundaries[uint16](ints, func(v int64) (uint16, bool) { return uint16(v), int64(uint16(v)) == v })
	case column.Uint32:
		return ofBoundaries[uint32](ints, func(v int64) (uint32, bool) { return uint32(v), int64(uint32(v)) == v })
	case column.Uint64:
		var values []uint64
		for _, v := range ints {
			if v >= 0 {
				values = append(values, uint64(v))
			}
		}
		return column.Of("", append(values, 1<<63, 1<<63+1, 1<<63+2048, math.MaxUint64-2047, math.MaxUint64-1, math.MaxUint64))
	case column.Float16: // 0, -0, 1, 1.5, 128, 255.875, 65504, -0.5, the least, infinities, NaN
		c := column.Of("", []uint16{0, 0x8000, 0x3c00, 0x3e00, 0x5800, 0x5bff, 0x7bff, 0xb800, 1, 0x7c00, 0xfc00, 0x7e00})
		return typed(c, t)
	case column.Float32:
		var values []float32
		for _, v := range ints {
			values = append(values, float32(v), float32(v)+0.5)
		}
		return column.Of("", append(values, 1<<63, 1<<64, -1<<63, math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0.1))
	case column.Float64:
		var values []float64
		for _, v := range ints {
			values = append(values, float64(v), float64(v)+0.5, float64(v)-0.25)
		}
		values = append(values, 1<<63, 1<<64, -1<<63, math.Nextafter(1<<63, 0), math.Nextafter(1<<64, 0), math.Nextafter(1<<63, 1e300),
			math.Nextafter(-1<<63, -1e300), math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1), 0.1)
		return column.Of("", values)
	case column.Decimal64:
		return typed(column.Of("", []int64{0, 1, -1, 99, 100, 101, 25500, 25550, -12800, 999_999_999_999_999_999, -999_999_999_999_999_999}), t)
	case column.Decimal128:
		var values []column.Int128
		for _, n := range []int{0, 2, 18, 19, 37, 38} {
			for _, near := range []int64{-1, 0, 5} {
				v, _ := int128.Add(int128.Pow10(n), int128.Of(near))
				minus, _ := int128.Sub(column.Int128{}, v)
				if int128.Within(v, t.Precision) {
					values = append(values, v, minus)
				}
			}
		}
		return typed(column.Of("", values), t)
	}
	return column.Of("", ints)
}

func ofBoundaries[T column.Value](ints []int64, of func(int64) (T, bool)) column.Column {
	var values []T
	for _, v := range ints {
		if n, ok := of(v); ok {
			values = append(values, n)
		}
	}
	return column.Of("", values)
}

var numberTypes = []column.Type{
	{Kind: column.Int8},
	{Kind: column.Int16},
	{Kind: column.Int32},
	{Kind: column.Int64},
	{Kind: column.Uint8},
	{Kind: column.Uint16},
	{Kind: column.Uint32},
	{Kind: column.Uint64},
	{Kind: column.Float16},
	{Kind: column.Float32},
	{Kind: column.Float64},
	{Kind: column.Decimal64, Precision: 18, Scale: 2},
	{Kind: column.Decimal64, Precision: 18, Scale: 18},
	{Kind: column.Decimal128, Precision: 38, Scale: 4},
	{Kind: column.Decimal128, Precision: 38, Scale: 38},
}

// exactNumber returns the value of a row: an exact number, or a float that is none.
func exactNumber(c *column.Column, row int) any {
	v := referenceColumn(c, row)
	if r, ok := exactOf(v, c.Type); ok {
		return r
	}
	return v
}

// besideFloats reports whether one type is a decimal and the other one a float: they are compared as floats.
func besideFloats(a, b column.Type) bool {
	return classOf(a).isDecimal() && classOf(b) == classFloat || classOf(b).isDecimal() && classOf(a) == classFloat
}

// exactOrder compares two values of the reference: exact numbers, and floats that are none. NaN is the greatest.
func exactOrder(a, b any) int {
	rank := func(v any) (int, *big.Rat) {
		switch v := v.(type) {
		case *big.Rat:
			return 0, v
		case float64:
			switch {
			case math.IsNaN(v):
				return 2, nil
			case math.IsInf(v, 0):
				return int(math.Copysign(1, v)), nil
			}
			return 0, new(big.Rat).SetFloat64(v)
		}
		panic(fmt.Sprintf("%T", v))
	}
	ra, x := rank(a)
	rb, y := rank(b)
	if ra != rb || x == nil {
		return cmp.Compare(ra, rb)
	}
	return x.Cmp(y)
}

// pairsOf returns a batch of all pairs of values of two columns, a and b, and a further one, c, of the values of b in
// another order.
func pairsOf(x, y column.Column) *column.Batch {
	var left, right, other []int32
	for i := range x.Len {
		for k := range y.Len {
			left, right, other = append(left, int32(i)), append(right, int32(k)), append(other, int32((k+i)%y.Len))
		}
	}
	take := func(name string, c column.Column, rows []int32) column.Column {
		b, err := column.NewBatch(c).Take(rows)
		if err != nil {
			panic(err)
		}
		b.Columns[0].Name = name
		return b.Columns[0]
	}
	x.Name, y.Name = "x", "y"
	return column.NewBatch(take("a", x, left), take("b", y, right), take("c", y, other))
}

func TestPairsOfNumbersCompareExactly(t *testing.T) {
	soak.NoRace(t)
	for _, ta := range numberTypes {
		for _, tb := range numberTypes {
			if besideFloats(ta, tb) {
				continue
			}
			b := pairsOf(boundaries(ta), boundaries(tb))
			at := func(name string, row int) any { return exactNumber(b.Column(name), row) }
			order := func(row int) int { return exactOrder(at("a", row), at("b", row)) }
			for text, want := range map[string]func(row int) bool{
				"a = b": func(r int) bool { return order(r) == 0 }, "a <> b": func(r int) bool { return order(r) != 0 },
				"a < b": func(r int) bool { return order(r) < 0 }, "a <= b": func(r int) bool { return order(r) <= 0 },
				"a > b": func(r int) bool { return order(r) > 0 }, "a >= b": func(r int) bool { return order(r) >= 0 },
				"a in (b, c)": func(r int) bool { return order(r) == 0 || exactOrder(at("a", r), at("c", r)) == 0 },
				"a between b and c": func(r int) bool {
					return order(r) >= 0 && exactOrder(at("a", r), at("c", r)) <= 0
				},
			} {
				requireSelects(t, b, text, want)
				requireSelects(t, b, "not ("+text+")", func(r int) bool { return !want(r) })
				requireSelects(t, b, "case when "+text+" then true else false end", want)
			}
		}
	}
}

func TestNumbersCompareWithLiteralsExactly(t *testing.T) {
	soak.NoRace(t)
	for _, ta := range numberTypes {
		x := boundaries(ta)
		x.Name = "a"
		b := column.NewBatch(x)
		for _, tb := range numberTypes {
			if besideFloats(ta, tb) || tb.Kind == column.Float16 {
				continue // 0.1 beside a decimal is a tenth
			}
			literals := boundaries(tb)
			for i := range literals.Len {
				value, exact := literals.Value(i), exactNumber(&literals, i)
				order := func(row int) int { return exactOrder(exactNumber(&x, row), exact) }
				l := Lit(value).String()
				for text, want := range map[string]func(row int) bool{
					"a = " + l: func(r int) bool { return order(r) == 0 }, "a <> " + l: func(r int) bool { return order(r) != 0 },
					"a < " + l: func(r int) bool { return order(r) < 0 }, l + " >= a": func(r int) bool { return order(r) <= 0 },
					"a > " + l: func(r int) bool { return order(r) > 0 }, l + " <= a": func(r int) bool { return order(r) >= 0 },
					"a <= " + l: func(r int) bool { return order(r) <= 0 }, l + " > a": func(r int) bool { return order(r) < 0 },
					"a >= " + l: func(r int) bool { return order(r) >= 0 }, l + " < a": func(r int) bool { return order(r) > 0 },
					l + " = a": func(r int) bool { return order(r) == 0 }, l + " <> a": func(r int) bool { return order(r) != 0 },
					"a in (" + l + ")":     func(r int) bool { return order(r) == 0 },
					"a not in (" + l + ")": func(r int) bool { return order(r) != 0 },
					l + " in (a)":          func(r int) bool { return order(r) == 0 },
				} {
					requireSelects(t, b, text, want)
				}
			}
		}
	}
}

// TestSetsOfIntegers has members at a distance around the number of bits of a word.
func TestSetsOfIntegers(t *testing.T) {
	for _, least := range []int64{0, -3, math.MinInt64, math.MaxInt64 - 70} {
		var values []int64
		for d := range int64(70) {
			values = append(values, least+d)
		}
		b := column.NewBatch(column.Of("a", values))
		for _, distance := range []int64{1, 62, 63, 64, 65, 69} {
			requireSelects(t, b, fmt.Sprintf("a in (%d, %d)", least+distance, least), func(r int) bool { return r == 0 || int64(r) == distance })
		}
	}
}

// TestArithmeticAtBoundaries compares arithmetic on all pairs of boundary values with the reference. A pair without an
// error follows each, so that only the error of the pair is found.
func TestArithmeticAtBoundaries(t *testing.T) {
	for _, types := range [][2]column.Kind{
		{column.Int64, column.Int64},
		{column.Uint64, column.Uint64},
		{column.Int64, column.Int8},
		{column.Uint32, column.Int32},
		{column.Uint64, column.Uint8},
		{column.Uint8, column.Uint64},
		{column.Float64, column.Int64},
		{column.Uint64, column.Float32},
		{column.Decimal64, column.Decimal64},
		{column.Decimal64, column.Int64},
		{column.Int8, column.Decimal64},
		{column.Decimal128, column.Decimal64},
		{column.Uint64, column.Decimal128},
		{column.Decimal128, column.Float64},
	} {
		x, y := boundaries(typeOfNumbers(types[0])), boundaries(typeOfNumbers(types[1]))
		pairs := pairsOf(x, y)
		for _, text := range []string{"a + b", "a - b", "a * b", "a / b", "a % b"} {
			p := compiled(t, text, pairs)
			for row := range pairs.Rows {
				two, err := pairs.Take([]int32{int32(row), int32(y.Len + 1)}) // the second value of both columns is positive
				require.NoError(t, err)
				requireReference(t, p, text, two)
			}
		}
	}
}

// typeOfNumbers returns the type of a kind, with digits if they are decimals.
func typeOfNumbers(k column.Kind) column.Type {
	switch k {
	case column.Decimal64:
		return decimalType(18, 2)
	case column.Decimal128:
		return decimalType(38, 4)
	}
	return column.Type{Kind: k}
}

// TestCastsAtBoundaries compares casts of boundary values between all types with the reference.
func TestCastsAtBoundaries(t *testing.T) {
	for _, from := range numberTypes {
		c := boundaries(from)
		c.Name = "a"
		b := column.NewBatch(c)
		for _, to := range slices.Concat(castTypes(), []column.Type{decimalType(3, 0), decimalType(9, 2), decimalType(18, 18), decimalType(38, 20)}) {
			e := Col("a").Cast(to)
			p, err := Compile(e, b.Schema())
			if err != nil {
				require.Contains(t, []column.Kind{column.Date, column.Timestamp}, to.Kind, e.String())
				continue
			}
			for row := range b.Rows {
				requireReference(t, p, e.String(), b.Slice(row, row+1))
			}
		}
	}
}

// castTypes are types of all kinds of casts.
func castTypes() (types []column.Type) {
	for _, k := range castKinds {
		types = append(types, typeOfNumbers(k))
	}
	return types
}

// TestDecimalsAreRoundedOnce casts decimals of up to 18 digits to float64, beside exact quotients.
func TestDecimalsAreRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for scale := range 19 {
		values := make([]int64, 200)
		for i := range values {
			values[i] = (r.Int64N(2e18) - 1e18) >> r.IntN(60)
		}
		c := typed(column.Of("a", values), column.Type{Kind: column.Decimal64, Precision: 18, Scale: scale})
		p := compiled(t, "cast(a as float64)", column.NewBatch(c))
		unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
		for i, v := range values {
			got, err := p.Eval(column.NewBatch(c).Slice(i, i+1)) // alone: the digits of another row have no effect
			require.NoError(t, err)
			want, _ := new(big.Rat).SetFrac(big.NewInt(v), unit).Float64()
			require.Equal(t, want, got.Value(0), "%d of scale %d", v, scale)
		}
	}
}

// TestFloat16 compares floats of 16 bits with numbers.
func TestFloat16(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0: 0, 1: 0x1p-24, 0x3ff: 1023 * 0x1p-24, 0x400: 0x1p-14, 0x401: 0x1p-14 + 0x1p-24, 0x3c00: 1, 0x3c01: 1 + 0x1p-10, 0x7bff: 65504,
		0x7c00: math.Inf(1), 0xfc00: math.Inf(-1), 0xbc00: -1, 0x8001: -0x1p-24,
	} {
		b := column.NewBatch(typed(column.Of("a", []uint16{bits}), column.Type{Kind: column.Float16}))
		got, err := compiled(t, "a * 1.0", b).Eval(b)
		require.NoError(t, err)
		require.Equal(t, want, got.Value(0), "%#x", bits)
	}
}

func compiled(t *testing.T, text string, b *column.Batch) *Program {
	t.Helper()
	e, err := Parse(text)
	require.NoError(t, err, text)
	p, err := Compile(e, b.Schema())
	require.NoError(t, err, text)
	return p
}

// requireReference compares the values of a batch, or the error of its first row that has one, with the reference.
func requireReference(t *testing.T, p *Program, text string, b *column.Batch) {
	t.Helper()
	want, faults, failed := make([]any, b.Rows), make([]error, b.Rows), false
	for i := range want {
		want[i], faults[i] = reference(p.root, b, i)
		failed = failed || faults[i] != nil
	}
	c, err := p.Eval(b)
	if err == nil && !failed {
		err = checkColumn(&c, want)
	} else {
		err = checkFault(err, faults)
	}
	require.NoError(t, err, "%s: %s", text, b)
}

// requireSelects compares the selected rows of a batch, and of each of its rows alone, with those that want selects.
func requireSelects(t *testing.T, b *column.Batch, text string, want func(row int) bool) {
	t.Helper()
	e, err := Parse(text)
	require.NoError(t, err, text)
	p, err := Compile(e, b.Schema())
	require.NoError(t, err, "%s of %v", text, b.Schema())
	var rows []int32
	for i := range b.Rows {
		if want(i) {
			rows = append(rows, int32(i))
		}
	}
	got, err := p.Select(b, nil)
	require.NoError(t, err, text)
	if slices.Equal(rows, got) {
		return
	}
	for i := range b.Rows {
		if want(i) != slices.Contains(got, int32(i)) {
			values := ""
			for k := range b.Columns {
				c := &b.Columns[k]
				values += fmt.Sprintf(" %s = %v %s", c.Name, c.Type, c.Format(i, math.MaxInt))
			}
			require.Fail(t, "a row", "%s: selected %v:%s", text, !want(i), values)
		}
	}
}
