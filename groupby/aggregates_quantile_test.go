// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/soak"
)

func newDigest(t testing.TB, typ column.Type, qs ...float64) *testFeed {
	acc, err := Quantiles("v0", qs...).New([]column.Type{typ})
	require.NoError(t, err)
	return newFeed(acc)
}

// TestQuantileExact checks groups with few values, which are interpolated exactly, in any order of insertion.
func TestQuantileExact(t *testing.T) {
	for _, typ := range numberTypes {
		for _, nulls := range []bool{false, true} {
			for _, few := range []bool{false, true} {
				checkAggregate(t, Quantiles("v0", 0, 0.25, 0.5, 0.99, 1), []column.Type{typ}, few, nulls, 1e-15)
				checkAggregate(t, Median("v0"), []column.Type{typ}, few, nulls, 1e-15)
			}
		}
	}
	require.Equal(t, 2.5, quantileOf([]float64{1, 2, 3, 4}, 0.5))
	require.Equal(t, 4.0, quantileOf([]float64{4}, 0.9))
}

// TestLastValueOfADigestCounts, also if it is the only one that is not in a centroid.
func TestLastValueOfADigestCounts(t *testing.T) {
	for n := 1; n <= 600; n++ {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		acc, err := QuantilesCompression("v0", 20, 0, 1).New([]column.Type{typeFloat64})
		require.NoError(t, err)
		f := newFeed(acc)
		f.add(t, []column.Column{vals(x)}, make([]int, n), nil)
		require.Equal(t, []float64{0, float64(n - 1)}, f.results(t)[0])
	}
}

// TestQuantilesAreVectors, also of one quantile; Quantile and Median are numbers.
func TestQuantilesAreVectors(t *testing.T) {
	for _, row := range []struct {
		a    Aggregate
		want column.Type
	}{
		{Quantiles("v0", 0.5), column.VectorOf(column.Float64, 1)},
		{Quantiles("v0", 0.5, 1), column.VectorOf(column.Float64, 2)},
		{QuantilesCompression("v0", 50, 0.5), column.VectorOf(column.Float64, 1)},
		{Quantile("v0", 0.5), typeFloat64},
		{Median("v0"), typeFloat64},
	} {
		got, err := Config{Aggregates: []Aggregate{row.a}}.Aggregate(t.Context(), batchOf(0, nil, cols(vals([]int64{1, 2, 3}))))
		require.NoError(t, err)
		require.Equal(t, row.want, got.Columns[0].Type, row.a.Name)
	}
}

// TestQuantileRankError checks the rank of estimates in several distributions, added to one digest and merged from
// several.
func TestQuantileRankError(t *testing.T) {
	soak.NoRace(t)
	r := rand.New(rand.NewPCG(1, 2)) // fixed: the bounds are statistical
	qs := []float64{0, 0.001, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 0.999, 1}
	const n = 100000
	for name, f := range map[string]func(i int) float64{
		"uniform":     func(int) float64 { return r.Float64() },
		"normal":      func(int) float64 { return r.NormFloat64() },
		"exponential": func(int) float64 { return math.Exp(20 * r.Float64()) },
		"ascending":   func(i int) float64 { return float64(i) },
		"descending":  func(i int) float64 { return -float64(i) },
		"few values":  func(i int) float64 { return float64(i % 7) },
	} {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i)
		}
		whole, total := newDigest(t, typeFloat64, qs...), newDigest(t, typeFloat64, qs...)
		for at := 0; at < n; at += n / 10 {
			c := []column.Column{vals(x[at : at+n/10])}
			whole.add(t, c, make([]int, n/10), nil)
			part := newDigest(t, typeFloat64, qs...)
			part.add(t, c, make([]int, n/10), nil)
			total.merge(t, part)
		}
		sorted := slices.Clone(x)
		slices.Sort(sorted)
		for how, got := range map[string][]float64{"whole": whole.results(t)[0].([]float64), "merged": total.results(t)[0].([]float64)} {
			require.Equal(t, sorted[0], got[0], name)
			require.Equal(t, sorted[n-1], got[len(got)-1], name)
			require.True(t, slices.IsSorted(got))
			for i, q := range qs {
				// The least and greatest rank of the estimate; between two equal values any rank is correct.
				low := float64(sort.SearchFloat64s(sorted, got[i])) / n
				high := float64(sort.SearchFloat64s(sorted, math.Nextafter(got[i], math.Inf(1)))) / n
				e := max(0, low-q, q-high)
				if name == "few values" { // estimates lie between values, and ranks jump there
					e = max(0, math.Abs(got[i]-sorted[int(q*(n-1))])-0.5) / 7
				}
				require.LessOrEqual(t, e, 0.0005+math.Pi/defaultCompression*math.Sqrt(q*(1-q)), "%s %s, q = %v", name, how, q)
			}
		}
		require.LessOrEqual(t, total.acc.(*digests).centroids[1], uint32(defaultCompression+3))
		require.Less(t, total.acc.(Sizer).Size(), int64(200000))
	}
}

func TestQuantileMergedState(t *testing.T) {
	r := newRand(t)
	whole := newDigest(t, typeFloat64, 0.1, 0.5)
	for range 30 {
		x := make([]float64, 500)
		groups := make([]int, len(x))
		for i := range x {
			x[i], groups[i] = r.NormFloat64(), r.IntN(5)
		}
		whole.add(t, []column.Column{vals(x)}, groups, nil)
	}
	other := newDigest(t, typeFloat64, 0.1, 0.5)
	other.merge(t, whole)
	require.Equal(t, whole.results(t), other.results(t))
	require.Equal(t, stateOf(t, whole.acc, int(whole.ids[3])), stateOf(t, other.acc, int(other.ids[3])))
	whole.acc.Reset()
	again := newFeed(whole.acc)
	again.add(t, []column.Column{vals([]float64{1, 2, 3})}, []int{0, 0, 0}, nil)
	require.InDeltaSlice(t, []float64{1.2, 2}, again.results(t)[0], 1e-15)
}

func TestQuantileInfinite(t *testing.T) {
	f := newDigest(t, typeFloat64, 0, 0.05, 0.5, 0.95, 1)
	x := make([]float64, 9000)
	for i := range x {
		switch i % 9 {
		case 0:
			x[i] = math.Inf(-1)
		case 1:
			x[i] = math.Inf(1)
		case 2:
			x[i] = math.NaN()
		default:
			x[i] = math.MaxFloat64 * (2*rand.Float64() - 1)
		}
	}
	f.add(t, []column.Column{vals(x)}, make([]int, len(x)), nil)
	got := f.results(t)[0].([]float64)
	require.Equal(t, []float64{math.Inf(-1), math.Inf(-1), got[2], math.Inf(1), math.Inf(1)}, got)
	require.Less(t, math.Abs(got[2]), math.MaxFloat64/5)
}

func TestQuantileConfig(t *testing.T) {
	for _, agg := range []Aggregate{
		Quantile("x", -0.1), Quantile("x", math.NaN()), Quantiles("x"), QuantilesCompression("x", 19, 0.5), QuantilesCompression("x", 10001, 0.5),
	} {
		_, err := New(nil, agg)
		require.Error(t, err)
	}
	_, err := Median("x").New([]column.Type{typeString})
	require.Error(t, err)
	acc, err := QuantilesCompression("x", 500, 0.5).New([]column.Type{typeInt8})
	require.NoError(t, err)
	require.Equal(t, 4096, acc.(*digests).limit)
}

// digestState returns a state of kind 2.
func digestState(least, greatest float64, centroids ...float64) string {
	b := appendFloat(appendFloat([]byte{sketchVersion, digestCentroids}, least), greatest)
	for i := 0; i < len(centroids); i += 2 {
		b = append(appendFloat(b, centroids[i]), byte(centroids[i+1]))
	}
	return string(b)
}

func TestQuantileMalformed(t *testing.T) {
	f := newDigest(t, typeFloat64, 0.5)
	f.acc.Resize(2)
	nan := math.NaN()
	for _, s := range []string{
		"\x01", "\x02\x01", "\x01\x03", "\x01\x01234", string(appendFloat([]byte{1, 1}, nan)), digestState(0, 1), digestState(0, 1, 2, 1),
		digestState(0, 1, 0.5, 0), digestState(0, 2, 2, 1, 1, 1), digestState(nan, 2, 2, 1), digestState(0, nan, 2, 1), digestState(0, 2, nan, 1),
		digestState(0, 1, 0.5, 1) + "1", digestState(0, 1, 0.5, 128), digestState(0, 1, 0.5, 255) + "\xff\xff\xff\xff\xff\xff\xff\x01",
	} {
		require.Error(t, f.acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}), "%q", s)
	}
	require.NoError(t, f.acc.Merge([]uint32{1}, []column.Column{vals([]string{digestState(0, 1, 0.5, 100)})}))
}

// FuzzTDigestMerge merges arbitrary bytes. The result is an error, or a digest with ordered quantiles and a state that
// can be merged.
func FuzzTDigestMerge(f *testing.F) {
	for _, n := range []int{1, 5, 600} {
		feed := newDigest(f, typeFloat64, 0.5)
		for i := range n {
			feed.add(f, []column.Column{vals([]float64{float64(i)})}, []int{0}, nil)
		}
		f.Add(stateOf(f, feed.acc, 1))
	}
	f.Add(digestState(math.Inf(-1), math.Inf(1), -1, 3, 0, 1, 7, 100))
	f.Fuzz(func(t *testing.T, s string) {
		feed := newDigest(t, typeFloat64, 0, 0.3, 0.5, 1)
		feed.id(0)
		feed.acc.Resize(2)
		if feed.acc.Merge([]uint32{1}, []column.Column{vals([]string{s})}) != nil {
			return
		}
		other := newDigest(t, typeFloat64, 0, 0.3, 0.5, 1)
		other.merge(t, feed)
		a, b := feed.results(t)[0], other.results(t)[0]
		require.True(t, near(a, b, 0), "%v, then %v", a, b)
		if a != nil {
			x := slices.DeleteFunc(slices.Clone(a.([]float64)), math.IsNaN) // between infinities
			require.True(t, slices.IsSorted(x), "%v", a)
		}
	})
}

// TestQuantileOfTheLastValue adds a few values more than a group keeps apart: the last one counts, as a result and as a
// state.
func TestQuantileOfTheLastValue(t *testing.T) {
	for _, n := range []int{511, 512, 513, 514, 1023, 1025} {
		x := make([]float64, n)
		for i := range x {
			x[i] = float64(i)
		}
		x[n-1] = 1e6
		whole, merged := newDigest(t, typeFloat64, 0, 1), newDigest(t, typeFloat64, 0, 1)
		whole.add(t, []column.Column{vals(x)}, make([]int, n), nil)
		merged.merge(t, whole)
		require.Equal(t, []float64{0, 1e6}, merged.results(t)[0], "%d values", n)
		whole = newDigest(t, typeFloat64, 0, 1)
		whole.add(t, []column.Column{vals(x)}, make([]int, n), nil)
		require.Equal(t, []float64{0, 1e6}, whole.results(t)[0], "%d values", n)
	}
}
