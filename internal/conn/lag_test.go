// SPDX-License-Identifier: Apache-2.0

package conn

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/stream"
)

func TestConnLags(t *testing.T) {
	c := &Conn{Streams: stream.New(100), Born: time.Now()}
	at := func(d time.Duration) time.Time { return c.Born.Add(d) }
	start := func(d time.Duration) {
		_, ok := c.Streams.Claim()
		require.True(t, ok)
		c.waitBegan(int64(d))
	}
	c.answered.Store(int64(time.Second))
	start(10 * time.Second)
	require.False(t, c.Lags(at(20*time.Second)), "a single request may be slow")
	start(20 * time.Second)
	require.True(t, c.Lags(at(20*time.Second)), "the first one waits since 10 s")
	c.answered.Store(int64(20 * time.Second))
	require.False(t, c.Lags(at(20*time.Second+lagLeast-1)))
	require.True(t, c.Lags(at(20*time.Second+lagLeast)))
	require.False(t, c.Lags(time.Time{}), "the time is unknown")
	c.usual.Store(int64(lagLeast))
	require.False(t, c.Lags(at(20*time.Second+lagLeast)), "the usual latency is as long")
	require.True(t, c.Lags(at(20*time.Second+lagFactor*lagLeast)))
	c.Orphans.Store(1)
	require.False(t, c.Lags(at(30*time.Second)), "an orphan may never be answered")
}

// TestIdleConnDoesNotLag requires that the time without requests does not count: after a pause the first requests have
// their own time, also beside requests that were given up.
func TestIdleConnDoesNotLag(t *testing.T) {
	for _, orphans := range []int{0, 2} {
		c := &Conn{Streams: stream.New(100), Born: time.Now()}
		c.answered.Store(int64(time.Second))
		var ids []int
		start := func(d time.Duration) {
			id, ok := c.Streams.Claim()
			require.True(t, ok)
			ids = append(ids, id)
			c.waitBegan(int64(d))
		}
		for range orphans {
			start(time.Second)
		}
		c.Orphans.Store(int32(orphans))
		for _, pause := range []time.Duration{time.Minute, time.Hour} {
			for i := range time.Duration(3) {
				start(pause + i)
			}
			require.False(t, c.Lags(c.Born.Add(pause+lagLeast-1)), "%d orphans, after %v", orphans, pause)
			require.True(t, c.Lags(c.Born.Add(pause+lagLeast)))
			c.answered.Store(int64(pause + lagLeast))
			for range 3 {
				c.Streams.Release(ids[len(ids)-1])
				ids = ids[:len(ids)-1]
			}
		}
	}
}

// TestConnUsualLatency: the usual latency follows the latencies, and one pause changes it little.
func TestConnUsualLatency(t *testing.T) {
	var c Conn
	for range 1000 {
		c.smooth(int64(2 * time.Millisecond))
	}
	require.InDelta(t, 2*time.Millisecond, c.usual.Load(), 1e5)
	for range 3 {
		c.smooth(int64(2 * time.Second))
	}
	require.Less(t, time.Duration(c.usual.Load()), 20*time.Millisecond)
	for range 1000 {
		c.smooth(int64(2 * time.Millisecond))
	}
	require.InDelta(t, 2*time.Millisecond, c.usual.Load(), 1e5)
}

// TestUsualLatencyMovesByASixteenth requires the weight of one latency, and the bound of what a pause adds.
func TestUsualLatencyMovesByASixteenth(t *testing.T) {
	var c Conn
	c.smooth(1600)
	require.EqualValues(t, 100, c.usual.Load())
	c.smooth(1700)
	require.EqualValues(t, 200, c.usual.Load())
	c.smooth(200)
	require.EqualValues(t, 200, c.usual.Load())
	c.smooth(40)
	require.EqualValues(t, 190, c.usual.Load())
	c.smooth(int64(time.Hour))
	require.EqualValues(t, 190+(16*190+int64(time.Millisecond)-190)/16, c.usual.Load())
}
