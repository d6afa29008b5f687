// SPDX-License-Identifier: Apache-2.0

package queue

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

// newBudget returns a budget that is open until the end of the test.
func newBudget(t *testing.T, limit int64) *Budget {
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	return NewBudget(limit, ctx.Done())
}

// inLine waits for a budget in a goroutine and returns a channel for the outcome.
func inLine(ctx context.Context, b *Budget, size int64, page bool, timeout time.Duration) <-chan error {
	admitted := make(chan error, 1)
	go func() { _, err := b.Acquire(ctx, size, page, timeout); admitted <- err }()
	synctest.Wait()
	return admitted
}

// acquire acquires memory without a wait.
func acquire(t *testing.T, b *Budget, size int64, page bool) {
	t.Helper()
	waited, err := b.Acquire(context.Background(), size, page, time.Nanosecond)
	require.NoError(t, err)
	require.Zero(t, waited)
}

// unused fails the test if anything is counted or in line.
func unused(t *testing.T, b *Budget) {
	t.Helper()
	use := b.Usage()
	require.Zero(t, use.InFlight)
	require.Zero(t, use.Held)
	require.Zero(t, use.Waiting)
	require.Equal(t, [kinds]line{}, b.lines)
}

func TestBudgetIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		b := newBudget(t, 100)
		acquire(t, b, 1000, false) // a request above the budget is admitted alone
		large := inLine(ctx, b, 80, false, 0)
		small := inLine(ctx, b, 10, false, 0)
		last := inLine(ctx, b, 20, false, 0)
		require.True(t, b.Full(1, false))
		b.Answered(1000, 0)
		synctest.Wait()
		require.Len(t, large, 1)
		require.Len(t, small, 1)
		require.Empty(t, last, "110 of 100 bytes")
		late := inLine(ctx, b, 1, false, 0)
		require.Empty(t, late, "a request that would fit does not overtake another one")
		time.Sleep(time.Second)
		b.Answered(10, 0)
		synctest.Wait()
		require.Len(t, last, 1)
		require.Empty(t, late, "100 of 100 bytes")
		b.Answered(100, 0)
		synctest.Wait()
		require.Len(t, late, 1)
		b.Answered(1, 0)
		unused(t, b)
		use := b.Usage()
		require.EqualValues(t, 4, use.Waits)
		require.EqualValues(t, 1000, use.Peak)
		require.InDelta(t, 2, use.Waited.Seconds(), .001)
		require.Zero(t, use.Overdrawn)
	})
}

func TestBudgetWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		closed, closeBudget := context.WithCancel(context.Background())
		b := NewBudget(100, closed.Done())
		acquire(t, b, 100, false)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		began := time.Now()
		canceled, late := inLine(ctx, b, 90, false, 0), inLine(context.Background(), b, 90, false, 2*time.Second)
		blocked, next := inLine(context.Background(), b, 90, false, 3*time.Second), inLine(context.Background(), b, 10, false, 0)
		require.ErrorIs(t, <-canceled, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, ErrFull, <-late)
		require.Equal(t, 2*time.Second, time.Since(began))
		b.Answered(80, 0)
		synctest.Wait()
		require.Empty(t, next, "it is behind a request that does not fit")
		require.Equal(t, ErrFull, <-blocked)
		require.NoError(t, <-next)
		ended := inLine(context.Background(), b, 90, false, 0)
		closeBudget()
		require.Equal(t, ErrClosed, <-ended)
		b.Answered(30, 0)
		unused(t, b)
	})
}

// A request that is admitted just as its context ends releases its memory.
func TestBudgetLeftAfterAdmission(t *testing.T) {
	b := newBudget(t, 10)
	acquire(t, b, 8, false)
	w := &waiter{size: 5, page: true}
	require.False(t, b.enqueue(w, largePage))
	b.Answered(8, 0)
	require.True(t, w.admitted())
	require.EqualValues(t, 5, b.Usage().InFlight)
	b.leave(w, largePage, 1, context.Canceled)
	unused(t, b)
}

// Requests without a page never wait for pages that the program holds, also behind requests that do.
func TestBudgetPassesPages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		b := newBudget(t, 100)
		acquire(t, b, 70, true)
		page := inLine(ctx, b, 70, true, 0)
		behind := inLine(ctx, b, 40, false, 0)
		require.Empty(t, behind, "the memory in flight comes to an end by itself: the order of arrival is kept")
		b.Answered(70, 70)
		synctest.Wait()
		require.Empty(t, page)
		require.Len(t, behind, 1)
		acquire(t, b, 60, false)
		require.True(t, b.Full(30, true))
		b.Answered(100, 0)
		b.ReleaseHeld(70)
		synctest.Wait()
		require.Len(t, page, 1)
		b.Answered(70, 0)
		unused(t, b)
	})
}

// Large pages leave a quarter of the budget to small ones.
func TestBudgetReserve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		b := newBudget(t, 160)
		acquire(t, b, 100, true)
		b.Answered(100, 100)
		require.True(t, b.Full(21, true))
		large := inLine(ctx, b, 21, true, 0)
		for range 6 {
			acquire(t, b, 10, true)
			b.Answered(10, 10)
		}
		small := inLine(ctx, b, 10, true, 0)
		require.Empty(t, small)
		require.Empty(t, large)
		b.ReleaseHeld(160)
		synctest.Wait()
		require.Len(t, large, 1)
		require.Len(t, small, 1)
		b.Answered(31, 0)
		unused(t, b)
	})
}

// When the program holds everything and releases nothing, one request a second goes beyond the budget.
func TestBudgetOverdraws(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := context.Background()
		b := newBudget(t, 100)
		acquire(t, b, 75, true)
		slow := inLine(ctx, b, 50, true, 0)
		time.Sleep(10 * patience)
		require.Empty(t, slow, "what it waits for is in flight")
		b.Answered(75, 75)
		began := time.Now()
		next := inLine(ctx, b, 50, true, 0)
		require.NoError(t, <-slow)
		require.LessOrEqual(t, time.Since(began), 2*patience)
		require.EqualValues(t, 125, b.Usage().Peak)
		require.Empty(t, next)
		for range 8 { // as long as pages are released, nothing is overdrawn
			time.Sleep(patience / 2)
			b.ReleaseHeld(1)
		}
		require.Empty(t, next)
		require.EqualValues(t, 1, b.Usage().Overdrawn)
		b.Answered(50, 50)
		require.NoError(t, <-next)
		require.EqualValues(t, 2, b.Usage().Overdrawn)
		b.Answered(50, 0)
		b.ReleaseHeld(67 + 50)
		unused(t, b)
	})
}

// Random requests with random ends: the bound holds, and nothing is left.
func TestBudgetNeverExceeds(t *testing.T) {
	const limit = 1000
	b := newBudget(t, limit)
	var used, gaveUp atomic.Int64
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(i)))
			for range 200 {
				ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rng.IntN(300))*time.Microsecond)
				size, page := int64(1+rng.IntN(300)), rng.IntN(2) == 0
				if _, err := b.Acquire(ctx, size, page, 0); err != nil {
					gaveUp.Add(1)
				} else {
					if n := used.Add(size); n > limit {
						t.Errorf("%d bytes", n)
					}
					used.Add(-size)
					if answer := int64(rng.IntN(2)) * size; page && answer > 0 {
						b.Answered(size, answer)
						b.ReleaseHeld(answer)
					} else {
						b.Answered(size, 0)
					}
				}
				cancel()
			}
		})
	}
	wg.Wait()
	unused(t, b)
	require.Less(t, gaveUp.Load(), int64(50*200))
}

func TestBudgetAllocatesNothingWithoutWait(t *testing.T) {
	b := newBudget(t, 100)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, _ = b.Acquire(t.Context(), 10, true, time.Second)
		b.Add(10)
		b.Answered(20, 10)
		b.ReleaseHeld(10)
	}))
	unused(t, b)
}
