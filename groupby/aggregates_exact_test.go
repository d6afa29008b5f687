// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
)

func TestMedianExactMerged(t *testing.T) {
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, MedianExact("v0"), []column.Type{typ}, few, nulls, 0)
			}
		}
	}
}

// quantilesOf returns exact quantiles of one group.
func quantilesOf(t *testing.T, c Config, x []float64, qs ...float64) []any {
	t.Helper()
	for _, q := range qs {
		c.Aggregates = append(c.Aggregates, QuantileExact("v0", q))
	}
	got, err := c.Aggregate(t.Context(), batchOf(0, nil, cols(vals(x))))
	require.NoError(t, err)
	var results []any
	for i := range got.Columns {
		require.Equal(t, c.Aggregates[i].Name, got.Columns[i].Name)
		results = append(results, referenceValues(got.Columns[i])[0])
	}
	return results
}

// TestQuantilesExact has far more values than a sketch keeps, and quantiles by hand. NaN is skipped, and -0 is 0.
func TestQuantilesExact(t *testing.T) {
	r := newRand(t)
	x := make([]float64, 100_001)
	for i := range x {
		x[i] = float64(i)
	}
	r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
	for _, workers := range []int{1, 3} {
		require.Equal(t, []any{0.0, 25_000.0, 50_000.0, 99_999.0, 100_000.0, 1.5},
			quantilesOf(t, Config{Workers: workers}, x, 0, 0.25, 0.5, 0.99999, 1, 0.000015))
	}
	inf, nan := math.Inf(1), math.NaN()
	require.Equal(t, []any{2.5}, quantilesOf(t, Config{}, []float64{4, nan, 1, 3, 2}, 0.5))
	require.Equal(t, []any{nil}, quantilesOf(t, Config{}, []float64{nan, nan}, 0.5))
	require.Equal(t, []any{-inf, inf}, quantilesOf(t, Config{}, []float64{inf, 0, -inf}, 0, 1))
	require.False(t, math.Signbit(quantilesOf(t, Config{}, []float64{math.Copysign(0, -1)}, 0.5)[0].(float64)))
}

// TestValuesAddedBetweenResults adds values and groups after a result and after a state, more than the chunks that are
// kept have room for.
func TestValuesAddedBetweenResults(t *testing.T) {
	r := newRand(t)
	acc, err := MedianExact("v0").New([]column.Type{typeFloat64})
	require.NoError(t, err)
	f, byGroup := newFeed(acc), map[int][]float64{}
	for round := range 12 {
		n := []int{1, 300, 5000, 200_000}[round%4]
		x, groups := make([]float64, n), make([]int, n)
		for i := range x {
			x[i], groups[i] = r.NormFloat64(), r.IntN(1+10*round)
			byGroup[groups[i]] = append(byGroup[groups[i]], x[i])
		}
		f.add(t, cols(vals(x)), groups, nil)
		if round%3 == 0 {
			_, err := acc.State(0, len(f.ids))
			require.NoError(t, err)
			continue
		}
		for g, got := range f.results(t) {
			sorted := slices.Sorted(slices.Values(byGroup[g]))
			require.Equal(t, quantileOf(sorted, 0.5), got, "round %d, group %d", round, g)
		}
		requireSize(t, &Aggregate{Name: "median_exact"}, acc.(Sizer))
	}
}

// TestQuantilesExactShareValues requires one accumulator for the median and all quantiles of a column.
func TestQuantilesExactShareValues(t *testing.T) {
	c, err := Config{Aggregates: []Aggregate{MedianExact("a"), QuantileExact("a", 0.1), QuantileExact("a", 0.9)}}.check()
	require.NoError(t, err)
	p, err := newPlan(c, defaultLimits, []column.Type{typeInt32})
	require.NoError(t, err)
	require.Len(t, p.parts, 1)
}

// TestQuantilesExactSpilled groups many values per group within a memory limit.
func TestQuantilesExactSpilled(t *testing.T) {
	r := newRand(t)
	const n, groups = 200_000, 3000
	keys, x := make([]int64, n), make([]float64, n)
	byKey := make([][]float64, groups)
	for i := range keys {
		k := r.IntN(groups)
		keys[i], x[i] = int64(k), float64(r.IntN(1000))
		byKey[k] = append(byKey[k], x[i])
	}
	c := Config{
		Keys: By("k0"), Aggregates: []Aggregate{MedianExact("v0")}, Workers: 2, Order: ByKeys,
		MemoryLimit: 1 << 20, SpillDir: t.TempDir(),
	}
	g, err := c.New()
	require.NoError(t, err)
	g.limits.local = 100
	for i := 0; i < n; i += 10_000 {
		require.NoError(t, g.Add(t.Context(), batchOf(int64(i), cols(vals(keys[i:i+10_000])), cols(vals(x[i:i+10_000])))))
	}
	require.Positive(t, g.stages[0].store.spill.size)
	got, err := g.Finish(t.Context())
	require.NoError(t, err)
	medians := referenceValues(got.Columns[1])
	require.Len(t, medians, groups)
	for k, x := range byKey {
		slices.Sort(x)
		require.Equal(t, quantileOf(x, 0.5), medians[k])
	}
}

// TestQuantilesOnGoroutines distributes and selects values on several goroutines: values that were settled before,
// values of another accumulator, NaNs, values of group 0, and groups without values.
func TestQuantilesOnGoroutines(t *testing.T) {
	r := newRand(t)
	for _, groups := range []int{2, 9, 500, 20_000} {
		for _, goroutines := range []int{1, 2, 7} {
			byGroup := make([][]float64, groups)
			renumbered := make([]uint32, groups)
			for id := range renumbered {
				renumbered[id] = uint32((groups - id) % groups)
			}
			fill := func(v *valueLists, n int, of []uint32) {
				v.Resize(groups)
				for range n {
					id, x := uint32(r.IntN(groups)), float64(r.IntN(1000))
					if r.IntN(50) == 0 {
						x = math.NaN()
					}
					if to := of[id]; to != 0 && x == x && id%11 != 10 {
						byGroup[to] = append(byGroup[to], x)
					}
					if id%11 != 10 {
						v.push(id, x)
					}
				}
			}
			same := make([]uint32, groups)
			for id := range same {
				same[id] = uint32(id)
			}
			v, other := &valueLists{goroutines: goroutines}, &valueLists{}
			fill(v, 50_000, same)
			v.settle()
			fill(other, 40_000, renumbered)
			if goroutines == 7 {
				other.settle()
				fill(other, 10_000, renumbered)
			}
			v.join(other, renumbered)
			fill(v, 30_000, same)
			got, err := v.Result(1, groups)
			require.NoError(t, err)
			for id, x := range byGroup[1:] {
				if len(x) == 0 {
					require.True(t, got.Null(id))
					continue
				}
				slices.Sort(x)
				if want := quantileOf(x, 0.5); got.Value(id) != any(want) { // reflection takes most of the time
					require.Equal(t, want, got.Value(id), "group %d of %d", id+1, groups)
				}
			}
		}
	}
}

func TestQuantileExactConfig(t *testing.T) {
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		_, err := New(nil, QuantileExact("x", q))
		require.ErrorContains(t, err, "want 0 to 1")
	}
	_, err := MedianExact("x").New([]column.Type{typeString})
	require.Error(t, err)
	acc, err := MedianExact("x").New([]column.Type{typeInt8})
	require.NoError(t, err)
	acc.Resize(2)
	require.Error(t, acc.Merge([]uint32{1}, []column.Column{vals([]string{"1234567"})}))
	require.NoError(t, acc.Merge([]uint32{1, 0}, []column.Column{vals([]string{string(appendFloat(appendFloat(nil, math.NaN()), 7)), "x"})}))
	got, err := acc.Result(1, 2)
	require.NoError(t, err)
	require.Equal(t, 7.0, got.Value(0), "a NaN in a state is skipped")
}

func TestMedianExactAllocs(t *testing.T) {
	acc, err := MedianExact("v0").New([]column.Type{typeInt32})
	require.NoError(t, err)
	acc.Resize(100)
	ids, x := make([]uint32, 2000), make([]int32, 2000)
	for i := range ids {
		ids[i] = uint32(i % 100)
	}
	rows := Rows{IDs: ids, Args: cols(vals(x))}
	allocs := testing.AllocsPerRun(200, func() { require.NoError(t, acc.Add(rows)) })
	require.Less(t, allocs, 1.0, "a chunk has the values of several calls")
}

// checkSelected compares selection with sorting, at some places and quantiles.
func checkSelected(t *testing.T, x []float64) {
	t.Helper()
	sorted := slices.Clone(x)
	slices.Sort(sorted)
	for _, q := range []float64{0, 0.1, 0.5, 0.77, 1} {
		moved := slices.Clone(x)
		require.True(t, near(quantileSelected(moved, q), quantileOf(sorted, q), 0), "quantile %v of %v", q, x)
		n := int(q * float64(len(x)-1))
		selectNth(moved, n)
		require.Equal(t, sorted[n]+0, moved[n]+0, "place %d of %v", n, x)
		require.LessOrEqual(t, slices.Max(moved[:n+1]), moved[n])
		require.GreaterOrEqual(t, slices.Min(moved[n:]), moved[n])
		slices.Sort(moved)
		require.Equal(t, sorted, moved)
	}
}

// TestSelectNth has values in orders that are hard for quickselect.
func TestSelectNth(t *testing.T) {
	r := newRand(t)
	for _, n := range []int{1, 2, 3, 23, 24, 25, 26, 100, 1000} {
		for _, value := range []func(i int) float64{
			func(i int) float64 { return float64(i) },
			func(i int) float64 { return float64(-i) },
			func(int) float64 { return 7 },
			func(i int) float64 { return float64(i % 3) },
			func(i int) float64 { return float64(min(i, n-i)) },
			func(i int) float64 { return float64(i ^ 1) },
			func(int) float64 { return r.NormFloat64() },
			func(int) float64 { return math.Inf(r.IntN(2)*2 - 1) },
		} {
			x := make([]float64, n)
			for i := range x {
				x[i] = value(i)
			}
			checkSelected(t, x)
		}
	}
}

func FuzzSelectNth(f *testing.F) {
	f.Add([]byte{1, 2, 3}, uint8(1))
	f.Add(bytes.Repeat([]byte{9, 1, 5, 5}, 40), uint8(1))
	f.Add(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 1, 0, 0, 0, 0, 0, 0xf0, 0xbf}, 30), uint8(8))
	f.Fuzz(func(t *testing.T, data []byte, width uint8) {
		w := 1 + int(width)%8
		var x []float64
		for ; len(data) >= w && len(x) < 2000; data = data[w:] {
			var b [8]byte
			copy(b[8-w:], data[:w])
			if v := math.Float64frombits(binary.LittleEndian.Uint64(b[:])); v == v {
				x = append(x, v+0)
			}
		}
		if len(x) > 0 {
			checkSelected(t, x)
		}
	})
}
