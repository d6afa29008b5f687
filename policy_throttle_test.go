// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// This file tests that requests are held back, in line, and no longer than they want.

func TestThrottleOff(t *testing.T) {
	require.Nil(t, newThrottle(Throttle{}))
	require.Nil(t, newThrottle(Throttle{MaxWaiting: 5}), "nothing is bounded, so nobody waits")
}

func TestThrottleIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(Throttle{MaxRequests: 2})
		ctx := context.Background()
		for range 2 {
			waited, err := th.acquire(ctx, 1, 0)
			require.NoError(t, err)
			require.False(t, waited)
		}
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			go func() {
				waited, err := th.acquire(ctx, 1, 0)
				require.NoError(t, err)
				require.True(t, waited)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		require.Equal(t, 5, th.waits())
		for range 5 {
			th.release(1)
			synctest.Wait()
		}
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
		require.Zero(t, th.waits())
	})
}

func TestThrottleBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(Throttle{MaxBytes: 100})
		require.True(t, th.tryAcquire(1000), "larger than the limit, but alone")
		require.False(t, th.tryAcquire(1))
		th.release(1000)
		require.True(t, th.tryAcquire(60))
		require.True(t, th.tryAcquire(40))
		require.False(t, th.tryAcquire(1))
		// A large one at the head of the line is not overtaken by a small one that would fit.
		large := make(chan error, 1)
		go func() { _, err := th.acquire(context.Background(), 80, time.Second); large <- err }()
		synctest.Wait()
		th.release(40)
		require.False(t, th.tryAcquire(1))
		require.True(t, th.busy(1))
		small := make(chan error, 1)
		go func() { _, err := th.acquire(context.Background(), 1, 0); small <- err }()
		synctest.Wait()
		require.Empty(t, small)
		require.ErrorIs(t, <-large, ErrThrottled, "its second is over")
		require.NoError(t, <-small, "who left let the next one in")
		th.release(60)
		th.release(1)
		require.Zero(t, th.bytes)
		require.Zero(t, th.requests)
	})
}

func TestThrottleWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		th := newThrottle(Throttle{MaxRequests: 1, MaxWaiting: 2})
		require.True(t, th.tryAcquire(1))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs := make(chan error, 2)
		began := time.Now()
		go func() { _, err := th.acquire(ctx, 1, 0); errs <- err }()
		go func() { _, err := th.acquire(context.Background(), 1, 2*time.Second); errs <- err }()
		synctest.Wait()
		_, err := th.acquire(context.Background(), 1, 0)
		require.ErrorIs(t, err, ErrThrottled)
		require.ErrorContains(t, err, "2 waiting")
		require.Zero(t, time.Since(began), "the line is full: at once")
		err = <-errs
		require.ErrorIs(t, err, ErrThrottled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, ErrThrottled, <-errs)
		require.Equal(t, 2*time.Second, time.Since(began))
		th.release(1)
		require.Zero(t, th.requests)
		none := newThrottle(Throttle{MaxRequests: 1, MaxWaiting: -1})
		require.True(t, none.tryAcquire(1))
		_, err = none.acquire(ctx, 1, 0)
		require.ErrorIs(t, err, ErrThrottled)
	})
}

func TestThrottleNeverExceeds(t *testing.T) {
	const requests, bytes = 5, 1000
	th := newThrottle(Throttle{MaxRequests: requests, MaxBytes: bytes})
	var n, size, gaveUp atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
				mine := int64(rng.IntN(600))
				if _, err := th.acquire(ctx, mine, 0); err != nil {
					gaveUp.Add(1)
					cancel()
					continue
				}
				if a, b := n.Add(1), size.Add(mine); a > requests || b > bytes {
					t.Errorf("%d requests, %d bytes", a, b)
				}
				n.Add(-1)
				size.Add(-mine)
				th.release(mine)
				cancel()
			}
		})
	}
	wg.Wait()
	require.Zero(t, th.requests)
	require.Zero(t, th.bytes)
	require.Zero(t, th.waits())
	require.Nil(t, th.first)
	require.Nil(t, th.last)
	require.Less(t, gaveUp.Load(), int64(50*200))
}

func TestSessionThrottles(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.Throttle = Throttle{MaxRequests: 4, MaxWaiting: 100}
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		var under, most atomic.Int32
		c.answer(func(r *fakeRequest, _ int) {
			n := under.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			under.Add(-1)
			r.void()
		})
		began := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { require.NoError(t, s.Query(idempotentInsert).Exec()) })
		}
		synctest.Wait()
		require.Equal(t, 16, s.Stats().Waiting)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := s.Query(idempotentInsert).ExecContext(ctx)
		require.ErrorIs(t, err, ErrThrottled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, MayHaveApplied(err))
		require.Equal(t, ClassThrottled, ErrorClassOf(err))
		require.ErrorIs(t, s.Query(idempotentInsert).SetRequestTimeout(time.Millisecond).Exec(), ErrThrottled)
		wg.Wait()
		require.Equal(t, 5*time.Second, time.Since(began))
		require.EqualValues(t, 4, most.Load())
		require.EqualValues(t, 2, s.Stats().Errors[ClassThrottled])
		require.EqualValues(t, 2, s.Stats().Failed)
	})
}

func TestMaxRequestsPerConn(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakeCluster) {
		cfg := c.config()
		cfg.MaxRequestsPerConn = 2
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec())
		c.answer(func(r *fakeRequest, _ int) {
			time.Sleep(4 * time.Second)
			r.void()
		})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { require.NoError(t, s.Query(idempotentInsert).Exec()) })
		}
		synctest.Wait()
		began := time.Now()
		err := s.Query(idempotentInsert).Idempotent(true).SetRequestTimeout(time.Second).Exec()
		require.ErrorIs(t, err, ErrNoStreams)
		require.InDelta(t, 1, time.Since(began).Seconds(), 0.001)
		require.False(t, MayHaveApplied(err))
		require.NoError(t, s.Query(idempotentInsert).SetRequestTimeout(10*time.Second).Exec(), "a stream became free")
		wg.Wait()
		sent, _ := c.count(idempotentInsert)
		require.Equal(t, 4, sent)
	})
}
