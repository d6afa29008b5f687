// SPDX-License-Identifier: Apache-2.0

package queue

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errRefused = errors.New("refused")

func TestQueueIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Requests: 2}, errRefused)
		ctx := context.Background()
		for range 2 {
			waited, err := q.Acquire(ctx, 1, 0)
			require.NoError(t, err)
			require.False(t, waited)
		}
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			go func() {
				waited, err := q.Acquire(ctx, 1, 0)
				require.NoError(t, err)
				require.True(t, waited)
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
			}()
			synctest.Wait()
		}
		require.Equal(t, 5, q.Waiting())
		for range 5 {
			q.Release(1)
			synctest.Wait()
		}
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
		require.Zero(t, q.Waiting())
	})
}

func TestQueueBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Bytes: 100}, errRefused)
		require.True(t, q.TryAcquire(1000), "a request above the limit is admitted alone")
		require.False(t, q.TryAcquire(1))
		q.Release(1000)
		require.True(t, q.TryAcquire(60))
		require.True(t, q.TryAcquire(40))
		require.False(t, q.TryAcquire(1))
		// A large request at the head of the line is not overtaken by a small one that would fit.
		large := make(chan error, 1)
		go func() { _, err := q.Acquire(context.Background(), 80, time.Second); large <- err }()
		synctest.Wait()
		q.Release(40)
		require.False(t, q.TryAcquire(1))
		require.True(t, q.Busy(1))
		small := make(chan error, 1)
		go func() { _, err := q.Acquire(context.Background(), 1, 0); small <- err }()
		synctest.Wait()
		require.Empty(t, small)
		require.ErrorIs(t, <-large, errRefused, "the timeout of one second has passed")
		require.NoError(t, <-small, "the next request is admitted when the large one leaves")
		q.Release(60)
		q.Release(1)
		require.Zero(t, q.bytes)
		require.Zero(t, q.requests)
	})
}

func TestQueueWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Requests: 1, Waiting: 2}, errRefused)
		require.True(t, q.TryAcquire(1))
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs := make(chan error, 2)
		began := time.Now()
		go func() { _, err := q.Acquire(ctx, 1, 0); errs <- err }()
		go func() { _, err := q.Acquire(context.Background(), 1, 2*time.Second); errs <- err }()
		synctest.Wait()
		_, err := q.Acquire(context.Background(), 1, 0)
		require.ErrorIs(t, err, errRefused)
		require.ErrorContains(t, err, "2 requests are waiting")
		require.Zero(t, time.Since(began), "a full line is reported at once")
		err = <-errs
		require.ErrorIs(t, err, errRefused)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, errRefused, <-errs)
		require.Equal(t, 2*time.Second, time.Since(began))
		q.Release(1)
		require.Zero(t, q.requests)
		none := New(Limits{Requests: 1, Waiting: -1}, errRefused)
		require.True(t, none.TryAcquire(1))
		_, err = none.Acquire(ctx, 1, 0)
		require.ErrorIs(t, err, errRefused)
	})
}

func TestQueueNeverExceeds(t *testing.T) {
	const requests, bytes = 5, 1000
	q := New(Limits{Requests: requests, Bytes: bytes}, errRefused)
	var n, size, gaveUp atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
				mine := int64(rng.IntN(600))
				if _, err := q.Acquire(ctx, mine, 0); err != nil {
					gaveUp.Add(1)
					cancel()
					continue
				}
				if a, b := n.Add(1), size.Add(mine); a > requests || b > bytes {
					t.Errorf("%d requests, %d bytes", a, b)
				}
				n.Add(-1)
				size.Add(-mine)
				q.Release(mine)
				cancel()
			}
		})
	}
	wg.Wait()
	require.Zero(t, q.requests)
	require.Zero(t, q.bytes)
	require.Zero(t, q.Waiting())
	require.Nil(t, q.head)
	require.Nil(t, q.tail)
	require.Less(t, gaveUp.Load(), int64(50*200))
}

func TestQueueAllocatesNothingWithoutWait(t *testing.T) {
	q := New(Limits{Requests: 1}, errRefused)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = q.Acquire(t.Context(), 1, time.Second)
		q.Release(1)
	}))
}

// A request that is admitted just as its context ends gives its room back.
func TestQueueLeftAfterAdmission(t *testing.T) {
	q := New(Limits{Requests: 1}, errRefused)
	require.True(t, q.TryAcquire(3))
	w, err := q.enqueue(2)
	require.NoError(t, err)
	q.Release(3) // admits w
	require.Equal(t, 1, q.requests)
	q.leave(w)
	require.Zero(t, q.requests)
	require.Zero(t, q.bytes)
	require.True(t, q.TryAcquire(1))
}
