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
			waited, err := q.Acquire(ctx, 0)
			require.NoError(t, err)
			require.False(t, waited)
		}
		var mu sync.Mutex
		var order []int
		for i := range 5 {
			go func() {
				waited, err := q.Acquire(ctx, 0)
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
			q.Release()
			synctest.Wait()
		}
		require.Equal(t, []int{0, 1, 2, 3, 4}, order)
		require.Zero(t, q.Waiting())
	})
}

// occupy admits a request, which must not wait.
func occupy(t *testing.T, q *Queue) {
	t.Helper()
	waited, err := q.Acquire(t.Context(), 0)
	require.NoError(t, err)
	require.False(t, waited)
}

func TestQueueWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(Limits{Requests: 1, Waiting: 2}, errRefused)
		occupy(t, q)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		errs := make(chan error, 2)
		began := time.Now()
		go func() { _, err := q.Acquire(ctx, 0); errs <- err }()
		go func() { _, err := q.Acquire(context.Background(), 2*time.Second); errs <- err }()
		synctest.Wait()
		_, err := q.Acquire(context.Background(), 0)
		require.ErrorIs(t, err, errRefused)
		require.ErrorContains(t, err, "2 requests are waiting")
		require.Zero(t, time.Since(began), "a full line is reported at once")
		err = <-errs
		require.ErrorIs(t, err, errRefused)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, errRefused, <-errs)
		require.Equal(t, 2*time.Second, time.Since(began))
		q.Release()
		require.Zero(t, q.requests)
		none := New(Limits{Requests: 1, Waiting: -1}, errRefused)
		occupy(t, none)
		_, err = none.Acquire(ctx, 0)
		require.ErrorIs(t, err, errRefused)
	})
}

func TestQueueNeverExceeds(t *testing.T) {
	const requests = 5
	q := New(Limits{Requests: requests}, errRefused)
	var n, gaveUp atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
				if _, err := q.Acquire(ctx, 0); err != nil {
					gaveUp.Add(1)
					cancel()
					continue
				}
				if a := n.Add(1); a > requests {
					t.Errorf("%d requests", a)
				}
				n.Add(-1)
				q.Release()
				cancel()
			}
		})
	}
	wg.Wait()
	require.Zero(t, q.requests)
	require.Zero(t, q.Waiting())
	require.Equal(t, line{}, q.line)
	require.Less(t, gaveUp.Load(), int64(50*200))
}

func TestQueueAllocatesNothingWithoutWait(t *testing.T) {
	q := New(Limits{Requests: 1}, errRefused)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = q.Acquire(t.Context(), time.Second)
		q.Release()
	}))
}

// A request that is admitted just as its context ends releases its place.
func TestQueueLeftAfterAdmission(t *testing.T) {
	q := New(Limits{Requests: 1}, errRefused)
	occupy(t, q)
	w, err := q.enqueue()
	require.NoError(t, err)
	q.Release() // admits w
	require.Equal(t, 1, q.requests)
	require.True(t, q.Busy())
	q.leave(w)
	require.Zero(t, q.requests)
	require.False(t, q.Busy())
	occupy(t, q)
}
