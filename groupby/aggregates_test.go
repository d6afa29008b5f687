// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
)

// Sums at the limits of their types.

func TestSumOverflow(t *testing.T) {
	ctx := context.Background()
	const maxInt, minInt = math.MaxInt64, math.MinInt64
	for _, row := range []struct {
		name     string
		column   column.Column
		fails    bool
		wrap     any
		asFloat  float64
		repeated int
	}{
		{"beyond on the way alone", vals([]int64{maxInt, maxInt, minInt, minInt, 7}), false, int64(5), 5, 1},
		{"greatest", vals([]int64{maxInt - 1, 1}), false, int64(maxInt), maxInt, 1},
		{"one beyond", vals([]int64{maxInt, 1}), true, int64(minInt), 1 << 63, 1},
		{"one below", vals([]int64{minInt, -1}), true, int64(maxInt), minInt, 1},
		{"unsigned greatest", vals([]uint64{math.MaxUint64 - 1, 1}), false, uint64(math.MaxUint64), math.MaxUint64, 1},
		{"unsigned beyond", vals([]uint64{math.MaxUint64, 1}), true, uint64(0), 1 << 64, 1},
		{"far beyond", vals([]int64{maxInt, maxInt, maxInt}), true, int64(maxInt - 2), 3 * 0x1p63, 1},
		{"narrow", vals([]int8{-128, -128, 127}), false, int64(-129), -129, 1},
		{"narrow unsigned", vals([]uint8{255, 255, 255}), false, uint64(765), 765, 1},
	} {
		for _, workers := range []int{1, 4} {
			n := row.column.Len
			for _, overflow := range []Overflow{OverflowFail, OverflowWrap, OverflowFloat} {
				c := Config{Aggregates: []Aggregate{SumOverflow("v0", overflow), Mean("v0")}}
				g, err := c.New()
				require.NoError(t, err)
				var ws []*Worker
				for range workers {
					ws = append(ws, g.Worker())
				}
				for i := range n { // each row to the next worker, so that states are merged in another order
					require.NoError(t, ws[i%workers].Add(ctx, batchOf(int64(i), nil, cols(row.column.Slice(i, i+1)))))
				}
				r, err := g.Finish(ctx)
				if overflow == OverflowFail && row.fails {
					var oe *OverflowError
					require.ErrorAs(t, err, &oe, row.name)
					require.Equal(t, "sum(v0)", oe.Aggregate)
					require.EqualError(t, err, oe.Error(), "the aggregate is named once")
					continue
				}
				require.NoError(t, err, row.name)
				got := referenceValues(r.Columns[0])[0]
				switch {
				case overflow == OverflowFloat:
					require.Equal(t, row.asFloat, got, row.name)
				default:
					require.Equal(t, row.wrap, got, row.name)
				}
				mean := referenceValues(*r.Column("mean(v0)"))[0]
				require.InEpsilon(t, row.asFloat/float64(n), mean, 1e-12, row.name)
			}
		}
	}
}

// TestDecimals checks that sums are decimals, that the scale is applied to means, and that aggregates sharing a sum
// have separate results.
func TestDecimals(t *testing.T) {
	prices, err := vals([]int64{1050, 2, -3}).WithType(typeDecimal64)
	require.NoError(t, err)
	c := Config{Aggregates: []Aggregate{
		Sum("v0"), SumOverflow("v0", OverflowFloat).As("float"), Mean("v0"), Max("v0"), Median("v0"), TopK("v0", 1), VariancePop("v0"),
	}}
	b, err := c.Aggregate(t.Context(), batchOf(0, nil, cols(prices)))
	require.NoError(t, err)
	require.Equal(t, column.Type{Kind: column.Decimal128, Precision: 38, Scale: 2}, b.Column("sum(v0)").Type)
	require.Equal(t, "[{1049 0} 10.49 3.4966666666666666 1050 0.02 [1050]]", fmt.Sprint(rowsOf(b)[0][:6]))
	require.InDelta(t, 24.523756, rowsOf(b)[0][6], 1e-5)
}

// TestSumsOfDecimals has sums beyond 18 digits, beyond 64 bits, of 38 digits, and one digit more.
func TestSumsOfDecimals(t *testing.T) {
	nines := func(n int) string { return strings.Repeat("9", n) }
	for _, c := range []struct {
		typ    column.Type
		values []string
		want   string // "" means an OverflowError
	}{
		{typeDecimal64, []string{nines(18), nines(18), "-1"}, "19999999999999999.97"},
		{typeDecimal64, slices.Repeat([]string{nines(18)}, 100), "999999999999999999.00"},
		{typeDecimal64, slices.Repeat([]string{"-" + nines(18)}, 100), "-999999999999999999.00"},
		{typeWide, []string{nines(37), "1"}, "1" + strings.Repeat("0", 34) + ".000"},
		{typeWide, []string{nines(38), "-" + nines(38), "5"}, "0.005"},
		{typeWide, append(slices.Repeat([]string{nines(38)}, 9), slices.Repeat([]string{"-" + nines(38)}, 9)...), "0.000"},
		{typeWide, []string{nines(38)}, nines(35) + ".999"},
		{typeWide, []string{nines(38), "1"}, ""},
		{typeWide, slices.Repeat([]string{"-" + nines(38)}, 5), ""},
	} {
		wide, narrow := make([]column.Int128, len(c.values)), make([]int64, len(c.values))
		for i, digits := range c.values {
			v, ok := int128.Parse(digits, 0)
			require.True(t, ok)
			wide[i], narrow[i] = v, int64(v.Lo)
		}
		col := column.Of("v0", wide)
		if c.typ == typeDecimal64 {
			col = column.Of("v0", narrow)
		}
		col, err := col.WithType(c.typ)
		require.NoError(t, err)
		config := Config{Aggregates: []Aggregate{Sum("v0"), Mean("v0"), SumOverflow("v0", OverflowFloat).As("float")}}
		b, err := config.Aggregate(t.Context(), batchOf(0, nil, cols(col)))
		if c.want == "" {
			require.ErrorAs(t, err, new(*OverflowError))
			continue
		}
		require.NoError(t, err)
		require.Equal(t, c.want, b.Columns[0].Format(0, 100))
		exact, ok := new(big.Rat).SetString(c.want)
		require.True(t, ok)
		sum, _ := exact.Float64()
		require.InDelta(t, sum, b.Columns[2].Value(0), 1e-12*math.Abs(sum))
		require.InDelta(t, sum/float64(len(c.values)), b.Columns[1].Value(0), 1e-12*math.Abs(sum))
	}
}

// TestSumCompensated checks that small values are not lost beside large ones.
func TestSumCompensated(t *testing.T) {
	values := []float64{1, 1e100, 1, -1e100}
	var keys []int64
	var all []float64
	for i := range 10000 {
		keys, all = append(keys, int64(i/4)), append(all, values[i%4])
	}
	gc := groupCase{limits: defaultLimits, config: Config{Keys: By("k0"), Aggregates: []Aggregate{SumCompensated("v0")}}}
	for i := 0; i < len(keys); i += 1000 {
		gc.batches = append(gc.batches, batchOf(int64(i), cols(vals(keys[i:i+1000])), cols(vals(all[i:i+1000]))))
	}
	for _, workers := range []int{0, 1, 3} {
		for _, local := range []int{1, 100, 1 << 20} {
			gc.workers, gc.limits.local = workers, local
			require.NoError(t, gc.check(nil))
		}
	}
}

// floatSum is a sum of integers whose result is a float, with the bits beyond 64.
type floatSum struct{ *sumInt }

func (s floatSum) Types() ([]column.Type, column.Field) {
	state, _ := s.sumInt.Types()
	return state, fieldOf(typeFloat64)
}

func (s floatSum) Result(i, j int) (column.Column, error) {
	return of(s.floats(nil, i, j)).WithValidity(s.validity(i, j)), nil
}

// nullCount is nulls whose result has values also if there are none.
type nullCount struct{ *nulls }

func (c nullCount) Result(i, j int) (column.Column, error) {
	r, err := c.nulls.Result(i, j)
	if isZeros(&r) {
		return of(make([]int64, j-i)), err
	}
	return r, err
}

func newNullCount(column.Type) (Accumulator, error) { return nullCount{&nulls{}}, nil }

// TestSumsMerged checks the accumulators of counts and sums.
func TestSumsMerged(t *testing.T) {
	for _, nulls := range []bool{false, true} {
		checkAggregate(t, Count(), nil, false, nulls, 0)
		for _, typ := range append(slices.Clone(numberTypes), typeWide) {
			types := []column.Type{typ}
			checkAggregate(t, nullsOf("v0").newWith(newNullCount), types, false, nulls, 0)
			for _, few := range []bool{false, true} {
				if isFloat(typ.Kind) {
					checkAggregate(t, SumCompensated("v0"), types, few, nulls, 1e-9)
					checkAggregate(t, sumOf("v0"), types, few, nulls, 1e-6)
					continue
				}
				checkAggregate(t, sumAs(OverflowWrap), types, few, nulls, 0)
				if typ.Scale == 0 {
					checkAggregate(t, sumAs(OverflowFloat), types, few, nulls, 1e-9)
				}
			}
		}
	}
}

// sumAs returns Sum of integers as an aggregate of one accumulator.
func sumAs(overflow Overflow) Aggregate {
	return SumOverflow("v0", overflow).newWith(func(t column.Type) (Accumulator, error) {
		acc, err := newSum(t, false)
		if err == nil && overflow == OverflowFloat {
			acc = floatSum{acc.(*sumInt)}
		}
		return acc, err
	})
}

// TestSumsBeyond64BitsOfManyGroups has more groups than have an element of their own for the bits beyond 64.
func TestSumsBeyond64BitsOfManyGroups(t *testing.T) {
	const groups = 3 * firstCarries
	for _, extreme := range []int64{math.MaxInt64, math.MinInt64} {
		accs := make([]Accumulator, 3)
		ids, values := make([]uint32, groups), make([]int64, groups)
		for i := range ids {
			ids[i], values[i] = uint32(i), extreme
		}
		for k := range accs {
			var err error
			accs[k], err = sumAs(OverflowFloat).New([]column.Type{typeInt64})
			require.NoError(t, err)
			accs[k].Resize(groups)
			for range 4 {
				require.NoError(t, accs[k].Add(Rows{IDs: ids, Args: []column.Column{vals(values)}}))
			}
		}
		for _, part := range accs[1:] {
			state, err := part.State(0, groups)
			require.NoError(t, err)
			require.NoError(t, accs[0].Merge(ids, state))
		}
		c, err := accs[0].Result(0, groups)
		require.NoError(t, err)
		for id := 1; id < groups; id++ {
			require.InEpsilon(t, 12*float64(extreme), c.Value(id), 1e-12, "group %d", id)
		}
	}
}

// TestExtremesOfBounds has groups of one value, the least or the greatest of its type, and one of NULL.
func TestExtremesOfBounds(t *testing.T) {
	for _, c := range []column.Column{
		vals([]int8{0, math.MinInt8, math.MaxInt8, 0}), vals([]int16{0, math.MinInt16, math.MaxInt16, 0}),
		vals([]int32{0, math.MinInt32, math.MaxInt32, 0}), vals([]int64{0, math.MinInt64, math.MaxInt64, 0}),
		vals([]uint8{0, 0, math.MaxUint8, 0}), vals([]uint16{0, 0, math.MaxUint16, 0}), vals([]uint32{0, 0, math.MaxUint32, 0}),
		vals([]uint64{0, 0, math.MaxUint64, 0}), vals([]float32{0, float32(math.Inf(-1)), float32(math.Inf(1)), 0}),
		vals([]float64{0, math.Inf(-1), math.Inf(1), 0}),
	} {
		c = c.WithValidity([]byte{0b0111})
		for _, a := range []Aggregate{Min("v0"), Max("v0")} {
			acc, err := a.New([]column.Type{c.Type})
			require.NoError(t, err)
			acc.Resize(4)
			require.NoError(t, acc.Add(Rows{IDs: []uint32{0, 1, 2, 3}, Args: []column.Column{c}}))
			got, err := acc.Result(0, 4)
			require.NoError(t, err)
			for id := 1; id < 4; id++ {
				require.Equal(t, c.Value(id), got.Value(id), "%s of %v", a.Name, c.Type)
			}
		}
	}
}

// TestFunctionsAreNamed requires the name of the function of built-in aggregates, without arguments.
func TestFunctionsAreNamed(t *testing.T) {
	for want, a := range map[string]Aggregate{
		"count": CountOf("x"), "sum": Sum("x").As("y"), "mean": Mean("x"), "min": Min("x"), "max": Max("x"), "count_distinct": CountDistinct("x"),
		"first": First("x"), "top_k": TopK("x", 3), "": {Name: "mine"},
	} {
		require.Equal(t, want, a.Function())
	}
}
