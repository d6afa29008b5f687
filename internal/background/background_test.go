// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var ran atomic.Int32
		ready := make(chan struct{})
		g.Go(func() { <-ready; ran.Add(1) })
		require.True(t, g.Enter())
		done := g.Done()
		g.End()
		require.False(t, g.Enter())
		g.Go(func() { t.Error("the group has ended") })
		g.Leave()
		synctest.Wait()
		select {
		case <-done:
			t.Error("a goroutine runs")
		default:
		}
		close(ready)
		<-done
		require.EqualValues(t, 1, ran.Load())

		var empty Group
		empty.End()
		<-empty.Done()
	})
}

func TestGroupTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g Group
		var ran atomic.Int32
		timer := g.NewTimer(func() { ran.Add(1) })
		time.Sleep(2 * time.Hour)
		require.Zero(t, ran.Load(), "a new timer is stopped")
		timer.Reset(time.Second)
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, ran.Load())
		timer.Reset(time.Second)
		g.End()
		require.False(t, timer.timer.Stop(), "End has stopped the timer")
		timer.Reset(time.Second)
		require.False(t, timer.timer.Stop(), "the timer of a group that has ended is not set")
		time.Sleep(time.Minute)
		require.EqualValues(t, 1, ran.Load(), "the group has ended")
		<-g.Done()
	})
}

func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		never := make(chan struct{})
		require.ErrorIs(t, Await(ctx, never), context.DeadlineExceeded)
		require.Equal(t, 5*time.Second, time.Since(began))
		began = time.Now()
		require.Error(t, Await(ctx, never))
		require.Equal(t, Grace, time.Since(began), "Await waits for Grace after ctx has ended")
		close(never)
		require.NoError(t, Await(ctx, never))
		var wg sync.WaitGroup
		wg.Go(func() { time.Sleep(Grace / 2) })
		require.NoError(t, AwaitAll(ctx, &wg))
	})
}

func TestRecover(t *testing.T) {
	f := func() (err error) {
		defer Recover(&err)
		panic("boom")
	}
	require.EqualError(t, f(), "panic: boom")
}

func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		require.True(t, Sleep(t.Context(), time.Hour))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		require.False(t, Sleep(ctx, time.Hour))
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestJitter(t *testing.T) {
	for _, d := range []time.Duration{0, 1, 2, 3, time.Second} {
		low, high := d, time.Duration(0)
		for range 1000 {
			j := Jitter(d)
			low, high = min(low, j), max(high, j)
		}
		require.GreaterOrEqual(t, low, d/2)
		require.LessOrEqual(t, high, d)
		if d == time.Second {
			require.Less(t, low, 600*time.Millisecond)
			require.Greater(t, high, 900*time.Millisecond)
		}
	}
}

func TestExponential(t *testing.T) {
	for retry, want := range []time.Duration{100, 200, 400, 800, 1000, 1000} {
		require.Equal(t, want, Exponential(100, 1000, retry))
	}
	require.EqualValues(t, 1000, Exponential(100, 1000, 1<<30))
	require.EqualValues(t, 50, Exponential(100, 50, 0))
	require.EqualValues(t, math.MaxInt64, Exponential(time.Second, math.MaxInt64, 200), "no overflow")
	require.EqualValues(t, 100, Double(0, 100, 350))
	require.EqualValues(t, 200, Double(100, 100, 350))
	require.EqualValues(t, 350, Double(200, 100, 350))
}

func TestBackoff(t *testing.T) {
	b := Backoff{First: 100, Most: 400, Forget: 1000}
	now := time.Unix(1, 0)
	require.Zero(t, b.Wait(now))
	require.True(t, b.Last().IsZero())
	for _, most := range []time.Duration{100, 200, 400, 400} {
		b.Fail(now)
		require.Equal(t, now, b.Last())
		require.GreaterOrEqual(t, b.Wait(now), most/2)
		require.LessOrEqual(t, b.Wait(now), most)
		require.Zero(t, b.Wait(now.Add(most)))
		now = now.Add(most)
	}
	b.Fail(now)
	b.Forgive()
	require.Zero(t, b.Wait(now))
	require.Equal(t, now, b.Last())
	now = now.Add(1000)
	b.Fail(now)
	require.GreaterOrEqual(t, b.Wait(now), time.Duration(200), "a failure after as long as it is remembered counts")
	now = now.Add(1001)
	b.Fail(now)
	require.LessOrEqual(t, b.Wait(now), time.Duration(100), "the backoff starts over")
}
