// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestBuckets(t *testing.T) {
	last := time.Duration(0)
	for b := range buckets {
		upper := upperBound(b)
		require.Greater(t, upper, last)
		require.Equal(t, b, bucketOf(int64(last)), "the bounds of bucket %d", b)
		require.Equal(t, b, bucketOf(int64(upper)-1), "the bounds of bucket %d", b)
		if b >= steps {
			require.LessOrEqual(t, upper-last, last/steps, "the relative error")
		}
		last = upper
	}
	require.Equal(t, time.Duration(1<<37), last)
	require.Equal(t, buckets-1, bucketOf(1<<62))
}

// TestQuantiles compares quantiles with the quantiles of the sorted values.
func TestQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l Recorder
	var values []time.Duration
	var sum time.Duration
	for range 10_000 {
		v := time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
		l.Record(v)
		values = append(values, v)
		sum += v
	}
	slices.Sort(values)
	var h Histogram
	h.Add(&l)
	require.EqualValues(t, len(values), h.Count())
	require.Equal(t, sum, h.Sum())
	require.Equal(t, sum/10_000, h.Mean())
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := values[max(int(q*10_000)-1, 0)]
		got := h.Quantile(q)
		require.GreaterOrEqual(t, got, want, "q=%v", q)
		require.LessOrEqual(t, got, max(want+want/steps, want+1024)+1, "q=%v", q)
	}
	total := uint64(0)
	for _, b := range h.Buckets() {
		total += b.Count
	}
	require.Equal(t, h.Count(), total)

	require.Equal(t, "count=10000 mean=3.01ms p50<=2.36ms p99<=14.7ms p999<=21ms", h.String())

	earlier := h.Clone()
	l.Record(time.Second)
	var later Histogram
	later.Add(&l)
	all := later.Buckets()
	between := later.Since(earlier)
	require.EqualValues(t, 1, between.Count())
	require.Equal(t, time.Second, between.Sum())
	require.Equal(t, between, later.Since(earlier), "neither is modified")
	require.Equal(t, all, later.Buckets())
	require.Equal(t, later, later.Since(Histogram{}))
	var none Histogram
	require.Zero(t, none.Count()+uint64(none.Mean()+none.Quantile(0.5)))
	require.Empty(t, none.Buckets())
}

// TestHistogramOfFewValues requires the exact numbers of a few latencies, also of a negative and of a very long
// one, and of shares beyond 0 and 1.
func TestHistogramOfFewValues(t *testing.T) {
	const us = 1024 * time.Nanosecond
	var l Recorder
	var h Histogram
	for _, took := range []time.Duration{-5, 0, us - 1, us, 7 * us, 8*us - 1, 8 * us, 15 * us, 16 * us, 1 << 38} {
		l.Record(took)
	}
	h.Add(&l)
	require.Equal(t, []Bucket{
		{us, 3}, {2 * us, 1}, {8 * us, 2}, {9 * us, 1}, {16 * us, 1}, {18 * us, 1}, {1 << 37, 1},
	}, h.Buckets())
	require.EqualValues(t, 10, h.Count())
	sum := 56*us - 2 + 1<<38
	require.Equal(t, sum, h.Sum())
	require.Equal(t, sum/10, h.Mean())
	for q, want := range map[float64]time.Duration{
		-1: us, 0: us, 0.3: us, 0.31: 2 * us, 0.4: 2 * us, 0.5: 8 * us, 0.9: 18 * us, 0.91: 1 << 37, 1: 1 << 37, 2: 1 << 37,
	} {
		require.Equal(t, want, h.Quantile(q), "%v", q)
	}
	require.Equal(t, []uint64{0, 0}, []uint64{h.Since(h).Count(), uint64(h.Since(h).Sum())})
	require.Empty(t, h.Since(h).Buckets())

	var one Recorder
	one.Record(5 * us)
	var earlier Histogram
	earlier.Add(&one)
	require.Equal(t, 6*us, earlier.Quantile(0.5))
	require.Equal(t, 5*us, earlier.Mean())
	one.Record(20 * us)
	var later Histogram
	later.Add(&one)
	between := later.Since(earlier)
	require.EqualValues(t, 1, between.Count())
	require.Equal(t, 20*us, between.Sum())
	require.Equal(t, []Bucket{{22 * us, 1}}, between.Buckets())
	require.Zero(t, earlier.Since(later).Count(), "the node was replaced meanwhile")
	require.Zero(t, earlier.Since(later).Sum())
	both := later.Clone()
	both.Add(&l)
	require.EqualValues(t, 12, both.Count())
	require.EqualValues(t, 2, later.Count(), "a clone has counts of its own")
	require.Equal(t, sum+25*us, both.Sum())
}

func TestRecordDoesNotAllocate(t *testing.T) {
	var l Recorder
	require.Zero(t, testing.AllocsPerRun(100, func() { l.Record(12345) }))
}

func BenchmarkRecord(b *testing.B) {
	var l Recorder
	b.ReportAllocs()
	for i := range b.N {
		l.Record(time.Duration(i&0xFFFF) << 8)
	}
}
