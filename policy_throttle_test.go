// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/internal/conn"
	"github.com/vecql/vecql/internal/fakecql"
	"github.com/vecql/vecql/stats"
)

// Tests of Throttle and MaxRequestsPerConn. Package queue tests the queue itself.

func TestThrottleOff(t *testing.T) {
	require.Nil(t, newThrottle(Throttle{}))
	require.Nil(t, newThrottle(Throttle{MaxWaiting: 5}), "without a bound no request waits")
}

func TestSessionThrottles(t *testing.T) {
	bubble(t, 3, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Limits.Throttle = Throttle{MaxRequests: 4, MaxWaiting: 100}
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		var under, most atomic.Int32
		c.Answer(func(r *fakecql.Request, _ int) {
			n := under.Add(1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			under.Add(-1)
			r.Void()
		})
		began := time.Now()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() { require.NoError(t, s.Query(idempotentInsert).Exec(t.Context())) })
		}
		synctest.Wait()
		require.Equal(t, 16, s.Stats().Waiting)
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		err := s.Query(idempotentInsert).Exec(ctx)
		require.ErrorIs(t, err, ErrThrottled)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.False(t, MayHaveApplied(err))
		require.Equal(t, stats.ClassThrottled, ErrorClassOf(err))
		require.ErrorIs(t, s.Query(idempotentInsert).RequestTimeout(time.Millisecond).Exec(t.Context()), ErrThrottled)
		wg.Wait()
		require.Equal(t, 5*time.Second, time.Since(began))
		require.EqualValues(t, 4, most.Load())
		require.EqualValues(t, 2, s.Stats().Errors[stats.ClassThrottled])
		require.EqualValues(t, 2, s.Stats().Failed)
	})
}

func TestMaxRequestsPerConn(t *testing.T) {
	bubble(t, 1, func(t *testing.T, c *fakecql.Cluster) {
		cfg := configOf(c)
		cfg.Pool.MaxRequestsPerConn = 2
		s := openSession(t, cfg)
		require.NoError(t, s.Query(idempotentInsert).Exec(t.Context()))
		c.Answer(func(r *fakecql.Request, _ int) {
			time.Sleep(4 * time.Second)
			r.Void()
		})
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { require.NoError(t, s.Query(idempotentInsert).Exec(t.Context())) })
		}
		synctest.Wait()
		began := time.Now()
		err := s.Query(idempotentInsert).Idempotent(true).RequestTimeout(time.Second).Exec(t.Context())
		require.ErrorIs(t, err, conn.ErrNoStreams)
		require.InDelta(t, 1, time.Since(began).Seconds(), 0.001)
		require.False(t, MayHaveApplied(err))
		require.NoError(t, s.Query(idempotentInsert).RequestTimeout(10*time.Second).Exec(t.Context()), "a stream id became free")
		wg.Wait()
		sent, _ := c.Count(idempotentInsert)
		require.Equal(t, 4, sent)
	})
}
