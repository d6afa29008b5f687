// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/fakecql"
)

// Histograms of latencies.

func TestLatencyBuckets(t *testing.T) {
	last := time.Duration(0)
	for b := range latencyBuckets {
		upper := latencyBound(b)
		require.Greater(t, upper, last)
		require.Equal(t, b, latencyBucket(int64(last)), "the bounds of bucket %d", b)
		require.Equal(t, b, latencyBucket(int64(upper)-1), "the bounds of bucket %d", b)
		if b >= latencySteps {
			require.LessOrEqual(t, upper-last, last/latencySteps, "the relative error")
		}
		last = upper
	}
	require.Equal(t, time.Duration(1<<37), last)
	require.Equal(t, latencyBuckets-1, latencyBucket(1<<62))
}

// TestLatencyQuantiles compares quantiles with those of the sorted values.
func TestLatencyQuantiles(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var l latencies
	var values []time.Duration
	var sum time.Duration
	for range 10_000 {
		v := time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
		l.record(int64(v))
		values = append(values, v)
		sum += v
	}
	slices.Sort(values)
	var h LatencyHistogram
	h.add(&l)
	require.EqualValues(t, len(values), h.Count())
	require.Equal(t, sum, h.Sum())
	require.Equal(t, sum/10_000, h.Mean())
	for _, q := range []float64{0, 0.001, 0.5, 0.9, 0.99, 0.999, 1} {
		want := values[max(int(q*10_000)-1, 0)]
		got := h.Quantile(q)
		require.GreaterOrEqual(t, got, want, "q=%v", q)
		require.LessOrEqual(t, got, max(want+want/latencySteps, want+1024)+1, "q=%v", q)
	}
	total := uint64(0)
	for _, b := range h.Buckets() {
		total += b.Count
	}
	require.Equal(t, h.Count(), total)

	require.Equal(t, "count=10000 mean=3.01ms p50<=2.36ms p99<=14.7ms p999<=21ms", h.String())

	earlier := h.clone()
	l.record(int64(time.Second))
	var later LatencyHistogram
	later.add(&l)
	all := later.Buckets()
	between := later.Since(earlier)
	require.EqualValues(t, 1, between.Count())
	require.Equal(t, time.Second, between.Sum())
	require.Equal(t, between, later.Since(earlier), "neither is modified")
	require.Equal(t, all, later.Buckets())
	require.Equal(t, later, later.Since(LatencyHistogram{}))
	var none LatencyHistogram
	require.Zero(t, none.Count()+uint64(none.Mean()+none.Quantile(0.5)))
	require.Empty(t, none.Buckets())
}

// TestLatencyHistogramOfFewValues requires the exact numbers of a few latencies, also of a negative and of a very long
// one, and of shares beyond 0 and 1.
func TestLatencyHistogramOfFewValues(t *testing.T) {
	const us = 1024 * time.Nanosecond
	var l latencies
	var h LatencyHistogram
	for _, took := range []time.Duration{-5, 0, us - 1, us, 7 * us, 8*us - 1, 8 * us, 15 * us, 16 * us, 1 << 38} {
		l.record(int64(took))
	}
	h.add(&l)
	require.Equal(t, []LatencyBucket{
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

	var one latencies
	one.record(int64(5 * us))
	var earlier LatencyHistogram
	earlier.add(&one)
	require.Equal(t, 6*us, earlier.Quantile(0.5))
	require.Equal(t, 5*us, earlier.Mean())
	one.record(int64(20 * us))
	var later LatencyHistogram
	later.add(&one)
	between := later.Since(earlier)
	require.EqualValues(t, 1, between.Count())
	require.Equal(t, 20*us, between.Sum())
	require.Equal(t, []LatencyBucket{{22 * us, 1}}, between.Buckets())
	require.Zero(t, earlier.Since(later).Count(), "the node was replaced meanwhile")
	require.Zero(t, earlier.Since(later).Sum())
	both := later
	both.counts = slices.Clone(later.counts)
	both.add(&l)
	require.EqualValues(t, 12, both.Count())
	require.Equal(t, sum+25*us, both.Sum())
}

// TestLatencyOfNodes has a node that answers after 40 ms, also to a request that has timed out.
func TestLatencyOfNodes(t *testing.T) {
	bubble(t, 2, func(t *testing.T, c *fakecql.Cluster) {
		s := sessionOn(c)
		slow := c.Nodes[1]
		c.On(func(r *fakecql.Request) bool {
			if r.Stmt == "SLOW" {
				time.Sleep(40 * time.Millisecond)
			}
			return false
		})
		for range 3 {
			require.NoError(t, s.Query("SLOW").HostID(slow.ID.String()).Exec(t.Context()))
		}
		at := func() LatencyHistogram { return s.Stats().Nodes[1].Latency }
		require.EqualValues(t, 3, at().Count())
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Error(t, s.Query("SLOW").HostID(slow.ID.String()).RequestTimeout(20*time.Millisecond).Exec(t.Context()))
		time.Sleep(time.Second)
		require.EqualValues(t, 4, at().Count(), "an answer counts even if its caller has left")
		require.Equal(t, 40*time.Millisecond, at().Mean())
		require.Zero(t, s.Stats().Nodes[0].Latency.Count(), "statements of the driver are not counted")
		before := at()
		poolOf(s, slow).pick().close(ErrConnectionClosed)
		time.Sleep(time.Second)
		require.Equal(t, before, at(), "latencies outlive their connections")
	})
}

// TestLatencyOfAnAnswer requires that the latency of an answer is in the histogram and in the usual latency of the
// connection, and nothing if the request has not read the clock.
func TestLatencyOfAnAnswer(t *testing.T) {
	for _, m := range []struct{ began, readAt, want, usual int64 }{
		{0, 1000, 0, 0}, {1, 1601, 1600, 100}, {2000, 1000, 0, -62},
	} {
		c := newIdleConn()
		c.readAt = m.readAt
		require.EqualValues(t, m.want, c.recordLatency(&slot{began: m.began}))
		var h LatencyHistogram
		h.add(&c.latencies)
		require.Equal(t, m.began != 0, h.Count() == 1)
		require.EqualValues(t, m.want, h.Sum())
		require.Equal(t, m.usual, c.usual.Load())
	}
}

func TestLatencyRecordDoesNotAllocate(t *testing.T) {
	var l latencies
	require.Zero(t, testing.AllocsPerRun(100, func() { l.record(12345) }))
}

func BenchmarkLatencyRecord(b *testing.B) {
	var l latencies
	b.ReportAllocs()
	for i := range b.N {
		l.record(int64(i&0xFFFF) << 8)
	}
}

// BenchmarkRoundTripLatency is a request on a connection with and without the recording of its latency.
func BenchmarkRoundTripLatency(b *testing.B) {
	for _, inFlight := range []int{1, 256} {
		for _, latency := range []bool{false, true} {
			b.Run(fmt.Sprintf("inflight=%d/latency=%v", inFlight, latency), func(b *testing.B) {
				c := connectTo(b, &fakecql.Server{Version: protoV5, Handle: fakecql.EchoForever})
				body := getBuffer(1024)
				defer body.release()
				b.ReportAllocs()
				var left atomic.Int64
				left.Store(int64(b.N))
				var wg sync.WaitGroup
				b.ResetTimer()
				for range inFlight {
					wg.Go(func() {
						for left.Add(-1) >= 0 {
							req := request{op: opExecute, body: body}
							if latency {
								req.began = time.Now() // in place of the connection
							}
							resp, err := c.roundTrip(context.Background(), &req)
							if err != nil {
								b.Error(err)
								return
							}
							resp.body.release()
						}
					})
				}
				wg.Wait()
			})
		}
	}
}
