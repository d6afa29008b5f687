// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// simulate runs a limiter with a node that executes width requests at a time, each in took, for d: the latency grows
// with the requests in flight. It returns the limits.
func simulate(l *limiter, now *time.Time, width float64, took, d time.Duration) (limits []float64) {
	for end := now.Add(d); now.Before(end); {
		n := int(l.limit)
		latency := time.Duration(float64(took) * max(1, float64(n)/width))
		began := *now
		*now = now.Add(latency)
		for range n {
			l.succeed(began, *now, true)
		}
		limits = append(limits, l.limit)
	}
	return limits
}

func TestLimiter(t *testing.T) {
	now := time.Unix(1000, 0)
	l := newLimiter(1000)
	require.EqualValues(t, 16, l.limit)
	simulate(&l, &now, 1e9, 5*time.Millisecond, 40*time.Millisecond)
	require.EqualValues(t, 1000, l.limit, "a fast start without trouble")
	l.fail(now.Add(-time.Second), now)
	l.fail(now.Add(-time.Second), now)
	require.EqualValues(t, 500, l.limit, "requests of one round trip count once")
	for range 20 {
		now = now.Add(time.Second)
		l.fail(now.Add(-time.Millisecond), now)
	}
	require.EqualValues(t, 1, l.limit)
	simulate(&l, &now, 1e9, 5*time.Millisecond, time.Second)
	require.Greater(t, l.limit, 50.)
	l.succeed(now, now.Add(time.Millisecond), false)

	// A node with a width of 40 gets a small multiple of it, and again after its latency has become ten times as high.
	l = newLimiter(1000)
	for _, took := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond} {
		simulate(&l, &now, 40, took, 30*time.Second)
		limits := simulate(&l, &now, 40, took, 30*time.Second)
		slices.Sort(limits)
		require.Greater(t, limits[len(limits)/4], 40.)
		require.Less(t, limits[len(limits)*9/10], 250.)
	}
	before := l.limit
	l.succeed(now, now.Add(100*time.Millisecond), false)
	require.LessOrEqual(t, l.limit, before, "a limit that is not reached does not grow")
}

func TestHistogram(t *testing.T) {
	var h histogram
	require.Zero(t, h.quantile(.5))
	r := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	for range 1000 {
		d := time.Duration(r.Int64N(1 << r.IntN(40)))
		h.record(d)
		all = append(all, max(d, 4))
	}
	slices.Sort(all)
	for _, q := range []float64{0, .5, .99, 1} {
		want := all[int(q*999)]
		require.Greater(t, h.quantile(q), want)
		require.LessOrEqual(t, h.quantile(q), want+want/4+1)
	}
}

// A limiterReference follows the rules of a limiter from all events so far. All times are in nanoseconds.
type limiterReference struct {
	limit, most, threshold float64
	latency                float64
	epochs                 [][]float64 // latencies of the requests that began and ended within an epoch, by epoch
	starts                 []time.Time // of the epochs
	cut                    time.Time
	sinceCut               int // responses
}

// response is a response to a request that began then.
func (l *limiterReference) response(began, now time.Time, full bool) {
	took := float64(now.Sub(began))
	if l.latency == 0 {
		l.latency = took
	} else {
		l.latency = l.latency*15/16 + took/16
	}
	l.sinceCut++
	if len(l.starts) == 0 {
		l.starts, l.epochs = []time.Time{began}, [][]float64{nil}
	}
	if now.Sub(l.starts[len(l.starts)-1]) >= 5*time.Second {
		l.starts, l.epochs = append(l.starts, now), append(l.epochs, nil)
		l.threshold, l.cut = l.limit, now
		l.limit = max(l.limit/4, min(l.limit, 16))
	}
	last := len(l.epochs) - 1
	if !began.Before(l.starts[last]) {
		l.epochs[last] = append(l.epochs[last], took)
	}
	samples := slices.Concat(l.epochs[max(last-1, 0):]...)
	base := 0.
	if len(samples) > 0 {
		base = slices.Min(samples)
	}
	slow := base > 0 && l.latency > 3*base+2e6
	switch {
	case slow && l.sinceCut >= 16 && began.After(l.cut):
		l.lower(now, max(.7*l.limit, min(l.limit, 16)))
	case full && !began.Before(l.cut) && l.limit < l.threshold:
		l.limit = min(l.limit+1, l.most)
	case full && !began.Before(l.cut):
		l.limit = min(l.limit+1/l.limit, l.most)
	}
}

// failure is a request that the target did not handle.
func (l *limiterReference) failure(began, now time.Time) {
	if took := float64(now.Sub(began)); took > l.latency {
		l.latency = l.latency*15/16 + took/16
	}
	if began.After(l.cut) {
		l.lower(now, l.limit/2)
	}
}

func (l *limiterReference) lower(now time.Time, limit float64) {
	l.limit = max(1, limit)
	l.threshold, l.cut, l.sinceCut = l.limit, now, 0
}

// TestLimiterReference compares a limiter with the reference on random responses, whose latencies change now and then.
func TestLimiterReference(t *testing.T) {
	r := newRand(t)
	for range 100 {
		most := 1 + r.IntN(60)
		l, want := newLimiter(most), limiterReference{limit: float64(min(16, most)), most: float64(most), threshold: float64(most)}
		now := time.Unix(1000, 0)
		typical := 10
		fails := r.IntN(2) * (5 + r.IntN(100))
		lowered := 0
		for range 2000 {
			if r.IntN(100) == 0 {
				typical = []int{1 + r.IntN(200), 12_000}[r.IntN(5)/4]
			}
			now = now.Add(time.Duration(r.IntN(1+2*typical)) * time.Millisecond / time.Duration(1+r.IntN(10)))
			if next := l.epoch.Add(baseEpoch); r.IntN(100) == 0 && next.After(now) {
				now = next
			}
			// requests of one round trip begin at the time of the last decrease, too
			began := now.Add(-time.Duration(1+typical/2+r.IntN(typical)) * time.Millisecond)
			if r.IntN(20) == 0 && !l.cut.IsZero() && l.cut.Before(now) {
				began = l.cut
			}
			before := l.limit
			if fails > 0 && r.IntN(fails) == 0 {
				l.fail(began, now)
				want.failure(began, now)
			} else {
				full := r.IntN(4) > 0
				l.succeed(began, now, full)
				want.response(began, now, full)
			}
			if l.limit < before {
				lowered++
			}
			if math.Abs(want.limit-l.limit) > 1e-6 || math.Abs(want.threshold-l.threshold) > 1e-6 ||
				math.Abs(want.latency-l.latency) > 1+want.latency*1e-9 || l.limit < 1 || l.limit > float64(most) {
				t.Fatalf("%+v, want %+v", l, want)
			}
		}
		if fails > 0 && most > 1 || most > 2*leastLimit {
			require.Positive(t, lowered)
		}
	}
}

// TestLimiterLowersOncePerRoundTrip has responses of requests that began before a decrease: they do not show it yet, so
// that the limit stays, whether they are slow or failed.
func TestLimiterLowersOncePerRoundTrip(t *testing.T) {
	start := time.Unix(1000, 0)
	l := newLimiter(100)
	at := start
	for range 100 {
		l.succeed(at, at.Add(time.Millisecond), true)
		at = at.Add(time.Millisecond)
	}
	require.EqualValues(t, 100, l.limit)
	slow := at.Add(100 * time.Millisecond)
	for range 200 { // the requests in flight end slowly, all at the same time
		l.succeed(at, slow, true)
	}
	require.InDelta(t, 70, l.limit, 1e-9)
	for range 200 {
		l.succeed(slow.Add(-time.Millisecond), slow.Add(100*time.Millisecond), true)
		l.fail(slow.Add(-time.Millisecond), slow.Add(100*time.Millisecond))
	}
	require.InDelta(t, 70, l.limit, 1e-9)
}

// TestLimiterBase takes the least latency of two epochs: one slow epoch alone is no new base.
func TestLimiterBase(t *testing.T) {
	for least, want := range map[[2]float64]float64{{0, 0}: 0, {5, 0}: 5, {0, 7}: 7, {5, 7}: 5, {9, 7}: 7} {
		require.InDelta(t, want, (&limiter{least: least}).base(), 0, "%v", least)
	}
}

// TestBucket takes from a bucket after pauses: a burst has at most a tenth of a second, a debt is paid before the next
// call returns, and nothing waits longer.
func TestBucket(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRand(t)
		for range 50 {
			rate := []float64{3, 40, 1000, 50_000}[r.IntN(4)]
			b := bucket{rate: rate}
			require.NoError(t, b.take(t.Context(), 0))
			// level is the content of the bucket at the time at, in tokens; it may be negative
			level, at := 0., time.Now()
			for range 200 {
				if r.IntN(10) == 0 {
					time.Sleep(time.Duration(r.Int64N(int64(3 * time.Second))))
				}
				n := float64(1 + r.IntN(4))
				if r.IntN(10) == 0 {
					n = rate / 5
				}
				level = min(rate/10, level+rate*time.Since(at).Seconds()) - n
				at = time.Now()
				require.NoError(t, b.take(t.Context(), n))
				waited := time.Since(at).Seconds()
				if debt := -level / rate; debt >= .001 {
					require.InDelta(t, debt, waited, 1e-6)
				} else {
					require.Zero(t, waited)
				}
			}
		}
		unlimited := bucket{}
		began := time.Now()
		require.NoError(t, unlimited.take(t.Context(), 1e12))
		require.Zero(t, time.Since(began))
		slow := bucket{rate: 1}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, slow.take(ctx, 10), context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.NoError(t, slow.take(t.Context(), 0))
		require.Equal(t, 10*time.Second, time.Since(began), "the debt of a call that was given up remains")
	})
}

// TestBurst writes after a pause: at most the rows of a tenth of a second follow at once.
func TestBurst(t *testing.T) {
	inShop(t, 1, func(t *testing.T, s *shop) {
		w, err := Insert(t.Context(), s.Session, "shop.items", Options{BatchPartitions: 1, RowsPerSecond: 1000})
		require.NoError(t, err)
		require.NoError(t, w.Write(t.Context(), items(0, 1)))
		time.Sleep(10 * time.Second)
		began := time.Now()
		require.NoError(t, w.Write(t.Context(), items(1, 900)))
		require.InDelta(t, .8, time.Since(began).Seconds(), .01)
		require.NoError(t, w.Close(t.Context()))
	})
}
