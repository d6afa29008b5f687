// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// attempted is a request after a number of attempts.
type attempted struct {
	ctx      context.Context
	attempts int
	cons     string
}

func (a *attempted) Attempts() int            { return a.attempts }
func (a *attempted) Context() context.Context { return a.ctx }
func (a *attempted) SetConsistency(c string)  { a.cons = c }
func (a *attempted) GetConsistency() string   { return a.cons }

func TestRetriesAreBounded(t *testing.T) {
	simple := &SimpleRetryPolicy[*attempted]{NumRetries: 2}
	backoff := &ExponentialBackoffRetryPolicy[*attempted]{NumRetries: 2, Min: 1, Max: 1}
	for attempts, want := range []bool{true, true, true, false} {
		q := &attempted{ctx: t.Context(), attempts: attempts}
		require.Equal(t, want, simple.Attempt(q), attempts)
		require.Equal(t, want, backoff.Attempt(q), attempts)
	}
	require.Equal(t, RetryNextHost, simple.GetRetryType(nil))
	require.Equal(t, RetryNextHost, backoff.GetRetryType(nil))
}

// TestBackoffDoublesAfterEachAttempt, from the least wait to the most, with a jitter of half of the least.
func TestBackoffDoublesAfterEachAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, test := range []struct {
			least, most time.Duration
			attempt     int
			low, high   time.Duration
		}{
			{time.Second, time.Hour, 0, 500 * time.Millisecond, 1500 * time.Millisecond},
			{time.Second, time.Hour, 1, 500 * time.Millisecond, 1500 * time.Millisecond},
			{time.Second, time.Hour, 3, 3500 * time.Millisecond, 4500 * time.Millisecond},
			{time.Second, 2 * time.Second, 3, 2 * time.Second, 2 * time.Second},
			{0, 0, 1, 50 * time.Millisecond, 150 * time.Millisecond},
			{0, 0, 50, 10 * time.Second, 10 * time.Second},
			{1, time.Hour, 50, time.Hour, time.Hour},
			{time.Second, math.MaxInt64, 60, math.MaxInt64/2 - time.Second/2, math.MaxInt64/2 + time.Second/2},
		} {
			low, high := test.high, test.low
			for range 500 {
				wait := backoff(test.least, test.most, test.attempt)
				low, high = min(low, wait), max(high, wait)
			}
			require.GreaterOrEqual(t, low, test.low, "%+v", test)
			require.LessOrEqual(t, high, test.high, "%+v", test)
			if spread := test.high - test.low; spread > 0 {
				require.Greater(t, high-low, spread/2, "%+v", test)
			}
		}
		began := time.Now()
		e := &ExponentialBackoffRetryPolicy[*attempted]{NumRetries: 9, Min: time.Second, Max: time.Minute}
		require.True(t, e.Attempt(&attempted{ctx: t.Context(), attempts: 4}))
		require.InDelta(t, 8*time.Second, time.Since(began), float64(500*time.Millisecond))
	})
}

func TestBackoffEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		e := &ExponentialBackoffRetryPolicy[*attempted]{NumRetries: 3, Min: time.Hour, Max: time.Hour}
		require.False(t, e.Attempt(&attempted{ctx: ctx, attempts: 1}))
		require.Equal(t, time.Second, time.Since(began))
	})
}

func TestDowngradedConsistencyIsTheNextOfTheList(t *testing.T) {
	levels := []string{"two", "one"}
	for attempts, want := range []string{"three", "two", "one"} {
		q := &attempted{attempts: attempts, cons: "three"}
		require.True(t, AttemptDowngraded(q, levels))
		require.Equal(t, want, q.cons)
	}
	q := &attempted{attempts: 3, cons: "three"}
	require.False(t, AttemptDowngraded(q, levels))
	require.Equal(t, "three", q.cons)
	require.Equal(t, Retry, DowngradeAfterUnavailable(1))
	require.Equal(t, Rethrow, DowngradeAfterUnavailable(0))
	for _, writeType := range []string{"SIMPLE", "BATCH", "COUNTER"} {
		require.Equal(t, Ignore, DowngradeAfterWriteTimeout(writeType, 1))
		require.Equal(t, Rethrow, DowngradeAfterWriteTimeout(writeType, 0))
	}
	require.Equal(t, Retry, DowngradeAfterWriteTimeout("UNLOGGED_BATCH", 0))
	require.Equal(t, Rethrow, DowngradeAfterWriteTimeout("CAS", 1))
}
