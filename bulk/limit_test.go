// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"math/rand/v2"
	"slices"
	"testing"
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
