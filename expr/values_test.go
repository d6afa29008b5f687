// SPDX-License-Identifier: Apache-2.0

package expr_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
)

// Values beyond the values of random expressions: all numbers of 16 bits, vectors of every length, unsigned
// arithmetic, sets of every size.

// evaluated returns the column of a text.
func evaluated(t *testing.T, b *column.Batch, text string) (column.Column, error) {
	t.Helper()
	e, err := expr.Parse(text)
	require.NoError(t, err)
	p, err := expr.Compile(e, b.Schema())
	require.NoError(t, err)
	return p.Eval(b)
}

// TestAllFloat16 has every number of 16 bits.
func TestAllFloat16(t *testing.T) {
	all := make([]uint16, 1<<16)
	for i := range all {
		all[i] = uint16(i)
	}
	b := column.NewBatch(typed(t, column.Of("h", all), column.Type{Kind: column.Float16}))
	got, err := evaluated(t, b, "h * 1")
	require.NoError(t, err)
	values, err := column.Slice[float64](&got)
	require.NoError(t, err)
	for i, v := range values {
		want := float64(b.Columns[0].Value(i).(float32))
		require.True(t, v == want && math.Signbit(v) == math.Signbit(want) || v != v && want != want, "%x: %v, want %v", i, v, want) //nolint:gocritic // NaN
	}
}

// TestVectorsOfEveryLength compares products, distances and norms with plain loops.
func TestVectorsOfEveryLength(t *testing.T) {
	const rows = 7
	r := rand.New(rand.NewPCG(5, 5))
	for dim := 1; dim <= 18; dim++ {
		x, ints, longs := make([]float32, rows*dim), make([]int32, rows*dim), make([]int64, rows*dim)
		y := make([]float64, rows*dim)
		for i := range x {
			x[i], ints[i], longs[i], y[i] = r.Float32()-0.5, r.Int32N(99)-49, r.Int64N(99)-49, r.Float64()-0.5
		}
		b := column.NewBatch(column.Matrix("x", x, dim), column.Matrix("ints", ints, dim), column.Matrix("longs", longs, dim), column.Matrix("y", y, dim))
		at := func(name string, i int) float64 {
			switch name {
			case "x":
				return float64(x[i])
			case "ints":
				return float64(ints[i])
			case "longs":
				return float64(longs[i])
			}
			return y[i]
		}
		for _, left := range []string{"x", "ints", "longs", "y"} {
			for _, right := range []string{"x", "ints", "longs", "y"} {
				for _, function := range []string{"dot", "l2", "cosine", "norm"} {
					text := fmt.Sprintf("%s(%s, %s)", function, left, right)
					if function == "norm" {
						text = "norm(" + left + ")"
					}
					got, err := evaluated(t, b, text)
					require.NoError(t, err)
					for row := range rows {
						var product, distance, squares, others float64
						for i := row * dim; i < (row+1)*dim; i++ {
							a, c := at(left, i), at(right, i)
							product, distance, squares, others = product+a*c, distance+(a-c)*(a-c), squares+a*a, others+c*c
						}
						want := map[string]float64{
							"dot": product, "l2": math.Sqrt(distance), "cosine": product / math.Sqrt(squares*others), "norm": math.Sqrt(squares),
						}[function]
						require.InDelta(t, want, got.Value(row), 1e-9*(1+math.Abs(want)), "%s of %d elements", text, dim)
					}
				}
			}
		}
	}
}

// TestUnsignedArithmetic has unsigned integers near their bounds, alone and beside NULL.
func TestUnsignedArithmetic(t *testing.T) {
	values := []uint64{0, 1, 2, 3, 7, 1 << 32, 1<<32 + 1, 1 << 63, math.MaxUint64 - 1, math.MaxUint64}
	for _, x := range values {
		for _, y := range values {
			null := []bool{false, true, false}
			for _, c := range [][]column.Column{
				{column.Of("x", []uint64{x, 5, x}), column.Of("y", []uint64{y, 9, y})},
				{column.Of("x", []uint64{x, 5, x}).WithNulls(null), column.Of("y", []uint64{y, 9, y})},
			} {
				b := column.NewBatch(c...)
				if c[0].Nulls == 0 {
					b = b.Slice(0, 1)
				}
				sum, carry := bits.Add64(x, y, 0)
				difference, borrow := bits.Sub64(x, y, 0)
				high, product := bits.Mul64(x, y)
				for text, want := range map[string]struct {
					value uint64
					fits  bool
				}{"x + y": {sum, carry == 0}, "x - y": {difference, borrow == 0}, "x * y": {product, high == 0}} {
					got, err := evaluated(t, b, text)
					if !want.fits {
						require.ErrorIs(t, err, expr.ErrOverflow, "%d, %d: %s", x, y, text)
						continue
					}
					require.NoError(t, err)
					require.Equal(t, want.value, got.Value(b.Rows-1), "%d, %d: %s", x, y, text)
					require.Equal(t, want.value, got.Value(0))
				}
			}
		}
	}
}

// TestSetsOfEverySize selects integers, floats and texts that are members of sets of any size and range.
func TestSetsOfEverySize(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	const rows = 300
	x, f, s := make([]int64, rows), make([]float64, rows), make([]string, rows)
	for i := range x {
		x[i] = int64(i - 150)
		f[i], s[i] = float64(x[i])/2, fmt.Sprint("text", x[i])
	}
	b := column.NewBatch(column.Of("x", x), column.Of("f", f), column.Strings("s", s))
	for size := 1; size < 40; size++ {
		for _, width := range []int{size, 63, 64, 65, 140} {
			least := r.IntN(100) - 120
			members := []int{least + r.IntN(width), least + width - 1, least}
			for len(members) < size {
				members = append(members, least+r.IntN(width))
			}
			r.Shuffle(len(members), func(i, k int) { members[i], members[k] = members[k], members[i] })
			members = members[:size]
			for name, literal := range map[string]func(v int) string{
				"x": func(v int) string { return fmt.Sprint(v) }, "f": func(v int) string { return fmt.Sprint(float64(v) / 2) },
				"s": func(v int) string { return fmt.Sprintf("'text%d'", v) },
			} {
				var literals []string
				for _, m := range members {
					literals = append(literals, literal(m))
				}
				for _, not := range []bool{false, true} {
					text := fmt.Sprintf("%s in (%s)", name, strings.Join(literals, ", "))
					if not {
						text = fmt.Sprintf("%s not in (%s)", name, strings.Join(literals, ", "))
					}
					e, err := expr.Parse(text)
					require.NoError(t, err)
					p, err := expr.Compile(e, b.Schema())
					require.NoError(t, err)
					selected, err := p.Select(b, nil)
					require.NoError(t, err)
					want := []int32{}
					for i, v := range x {
						if slices.Contains(members, int(v)) != not {
							want = append(want, int32(i))
						}
					}
					require.Equal(t, want, selected, text)
				}
			}
		}
	}
}

// TestTypesOfLiteralsBesideOthers requires the common type, whatever the order of the operands.
func TestTypesOfLiteralsBesideOthers(t *testing.T) {
	b := column.NewBatch(column.Of("i", []int64{1}), column.Of("u", []uint64{1}), column.Of("f", []float64{1}), column.Of("g", []float32{1}))
	utc := column.Type{Kind: column.Timestamp, Unit: column.Micros, UTC: true}
	for text, want := range map[string]column.Type{
		"i, u, f":    column.TypeOf[float64](),
		"u, i, 1.5":  column.TypeOf[float64](),
		"i, f, u":    column.TypeOf[float64](),
		"i, u, g":    column.TypeOf[float64](),
		"1.5, i, u":  column.TypeOf[float64](),
		"i, 1, null": column.TypeOf[int64](),
		"null, g":    column.TypeOf[float32](),
		"null, 'a'":  {Kind: column.String},
		"date '2026-01-01', null, date '2025-01-01'":                        {Kind: column.Date},
		"date '2026-01-01', timestamp '2026-01-01T00:00:00Z'":               utc,
		"timestamp '2026-01-01T00:00:00Z', date '2026-01-01'":               utc,
		"timestamp '2026-01-01T00:00:00', timestamp '2026-01-01T00:00:00Z'": utc,
		"timestamp '2026-01-01T00:00:00Z', timestamp '2026-01-01T00:00:00'": utc,
		"timestamp '2026-01-01T00:00:00', date '2026-01-01'":                {Kind: column.Timestamp, Unit: column.Micros},
	} {
		e, err := expr.Parse("coalesce(" + text + ")")
		require.NoError(t, err)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err, text)
		if want.Kind == column.Timestamp {
			want.Unit = p.Type().Unit
		}
		require.Equal(t, want, p.Type(), text)
	}
}

// TestShortNumbersHaveSigns casts texts of numbers with a sign.
func TestShortNumbersHaveSigns(t *testing.T) {
	b := column.NewBatch(column.Strings("s", []string{"+5"}), column.Strings("t", []string{"-5"}))
	for _, kind := range []string{"int64", "int8", "uint64", "uint8", "float64", "float32"} {
		got, err := evaluated(t, b, "cast(cast(s as "+kind+") as float64)")
		require.NoError(t, err, kind)
		require.InDelta(t, 5.0, got.Value(0), 0, kind)
		if kind[0] == 'u' {
			continue
		}
		got, err = evaluated(t, b, "cast(cast(t as "+kind+") as float64)")
		require.NoError(t, err, kind)
		require.InDelta(t, -5.0, got.Value(0), 0, kind)
	}
}

// TestExpressionsThatAreColumns requires the name of a column alone; the zero Expr is none.
func TestExpressionsThatAreColumns(t *testing.T) {
	name, ok := expr.Col("x").Column()
	require.True(t, ok)
	require.Equal(t, "x", name)
	for _, e := range []expr.Expr{{}, expr.Lit(1), expr.Col("x").Not(), expr.Col("x").Eq(1)} {
		name, ok := e.Column()
		require.False(t, ok)
		require.Empty(t, name)
	}
}

// TestConjunctsHaveThePlaceOfTheirText requires the place of an error in a conjunct made from another operation.
func TestConjunctsHaveThePlaceOfTheirText(t *testing.T) {
	b := column.NewBatch(column.Of("v", []int64{1}), column.Of("w", []int64{0}))
	for text, part := range map[string]string{
		"v > 0 and not (w = 1 or 5 / w < 2)":        "5 / w",
		"v > 0 and 5 / w between 1 and 2":           "5 / w",
		"v = 1 and w + 9223372036854775807 + v > 3": "w + 9",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		var failure *expr.RowError
		for _, c := range expr.Conjuncts(e) {
			p, err := expr.Compile(c, b.Schema())
			require.NoError(t, err)
			if _, err = p.Select(b, nil); err != nil {
				require.ErrorAs(t, err, &failure)
				break
			}
		}
		require.NotNil(t, failure, text)
		require.GreaterOrEqual(t, failure.Offset, strings.Index(text, part), text)
	}
	for _, text := range []string{"v > 0 and not (w = 1 or v < 'a')", "v > 0 and v between 'a' and 2", "v > 0 and not (v = 'a')"} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		_, err = expr.Compile(e, b.Schema())
		var want *expr.CompileError
		require.ErrorAs(t, err, &want)
		var got *expr.CompileError
		for _, c := range expr.Conjuncts(e) {
			if _, err = expr.Compile(c, b.Schema()); err != nil {
				require.ErrorAs(t, err, &got)
				break
			}
		}
		require.NotNil(t, got)
		require.Equal(t, want.Offset, got.Offset, text)
	}
}

// TestPatternsOfWildcards has patterns of wildcards alone.
func TestPatternsOfWildcards(t *testing.T) {
	texts := []string{"", "a", "ab", "abc", "é", "éa", "日本語", "_", "%"}
	b := column.NewBatch(column.Strings("s", texts))
	for pattern, want := range map[string]func(n int) bool{
		"_": func(n int) bool { return n == 1 }, "__": func(n int) bool { return n == 2 }, "_%": func(n int) bool { return n >= 1 },
		"%_": func(n int) bool { return n >= 1 }, "%_%": func(n int) bool { return n >= 1 }, "__%": func(n int) bool { return n >= 2 },
		"%": func(int) bool { return true }, "%%": func(int) bool { return true }, "": func(n int) bool { return n == 0 },
	} {
		for _, op := range []string{"like", "ilike"} {
			got, err := evaluated(t, b, "s "+op+" '"+pattern+"'")
			require.NoError(t, err)
			for i, s := range texts {
				require.Equal(t, want(len([]rune(s))), got.Value(i), "%q %s %q", s, op, pattern)
			}
		}
	}
}

// TestVectorsThatAreAllNULL has batches whose vectors are all NULL and have no dimension, beside a schema with one.
func TestVectorsThatAreAllNULL(t *testing.T) {
	none := column.NewBatch(column.Column{Name: "v", Type: column.VectorOf(column.Float32, 0), Len: 2, Nulls: 2, Validity: []byte{0}})
	require.NoError(t, none.Check())
	schema := column.NewBatch(column.Matrix("v", []float32{1, 2, 3}, 3)).Schema()
	for text, want := range map[string]any{"v": nil, "slice(v, 2, 2)": nil, "norm(v)": nil, "v is null": true, "element(v, 2)": nil} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		p, err := expr.Compile(e, schema)
		require.NoError(t, err)
		got, err := p.Eval(none)
		require.NoError(t, err, text)
		require.NoError(t, got.Check())
		require.Equal(t, []any{want, want}, []any{got.Value(0), got.Value(1)}, text)
	}
}

// TestIntervalsOfLiterals requires the unit that a sum of a literal and an interval needs.
func TestIntervalsOfLiterals(t *testing.T) {
	b := column.NewBatch(column.Of("i", []int64{1}))
	for text, want := range map[string]column.Type{
		"date '2026-01-01' + interval '1d'":                    {Kind: column.Date},
		"date '2026-01-01' + interval '1h'":                    {Kind: column.Timestamp, Unit: column.Micros},
		"date '2026-01-01' - interval '1us'":                   {Kind: column.Timestamp, Unit: column.Micros},
		"date '2026-01-01' + interval '1ns'":                   {Kind: column.Timestamp, Unit: column.Nanos},
		"timestamp '2026-01-01T00:00:00Z' + interval '1ns'":    {Kind: column.Timestamp, Unit: column.Nanos, UTC: true},
		"timestamp '2026-01-01T00:00:00Z' - interval '1500us'": {Kind: column.Timestamp, Unit: column.Micros, UTC: true},
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err, text)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err, text)
		require.Equal(t, want, p.Type(), text)
	}
}

// TestTimesOfDay requires that a literal of a time of day is one.
func TestTimesOfDay(t *testing.T) {
	b := column.NewBatch(typed(t, column.Of("clock", []int64{45000e6}), column.Type{Kind: column.Time, Unit: column.Micros}))
	for text, want := range map[string]bool{
		"clock = time '12:30'": true, "clock = time '12:30:00'": true, "clock = '12:30'": true, "clock < time '12:30:00.000001'": true, "clock = time '00:00'": false,
	} {
		got, err := evaluated(t, b, text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.Value(0), text)
	}
	for _, text := range []string{"time 'noon'", "time ''", "time '25:00'", "time '12'", "time '12:61'", "time '-1:00'"} {
		e, err := expr.Parse("clock = " + text)
		if err == nil {
			_, err = expr.Compile(e, b.Schema())
		}
		require.Error(t, err, text)
	}
}

// TestCasesOfManyRows has cases and coalesce over several blocks, with rows without a value.
func TestCasesOfManyRows(t *testing.T) {
	const rows = 9000
	x := make([]int64, rows)
	for i := range x {
		x[i] = int64(i)
	}
	b := column.NewBatch(column.Of("x", x))
	for text, want := range map[string]func(x int64) any{
		"case when x % 3 = 0 then x end": func(x int64) any {
			if x%3 == 0 {
				return x
			}
			return nil
		},
		"coalesce(case when x % 3 = 0 then x end, -x)": func(x int64) any {
			if x%3 == 0 {
				return x
			}
			return -x
		},
		"case when x < 4000 then 'a' when x > 5000 then 'b' end": func(x int64) any {
			switch {
			case x < 4000:
				return "a"
			case x > 5000:
				return "b"
			}
			return nil
		},
	} {
		got, err := evaluated(t, b, text)
		require.NoError(t, err)
		require.NoError(t, got.Check())
		for i, v := range x {
			if w := want(v); w != got.Value(i) {
				t.Fatalf("%s: row %d: %v, want %v", text, i, got.Value(i), w)
			}
		}
	}
}

// TestErrorsWithinCasts requires the error of an operand of a cast.
func TestErrorsWithinCasts(t *testing.T) {
	price := typed(t, column.Of("price", []int64{1, 2}), column.Type{Kind: column.Decimal64, Precision: 9, Scale: 2})
	b := column.NewBatch(column.Of("x", []int64{1, 0}), price)
	for _, text := range []string{
		"cast(case when 1 / x > 0 then price else price end as float64)",
		"case when 1 / x > 0 then price end > 0.01", "cast(1 / x as string)", "cast(1 / x as bool)", "cast(-(1 / x) as uint8)",
		"length(cast(1 / x as string)) > 3", "coalesce(1 / x, 2)",
	} {
		e, err := expr.Parse(text)
		require.NoError(t, err)
		p, err := expr.Compile(e, b.Schema())
		require.NoError(t, err, text)
		_, err = p.Eval(b)
		require.ErrorIs(t, err, expr.ErrDivision, text)
	}
}
