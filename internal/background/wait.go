// SPDX-License-Identifier: Apache-2.0

package background

import (
	"context"
	"math/rand/v2"
	"time"
)

// Sleep blocks for d and reports true. It reports false if ctx ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Jitter returns a random duration between d/2 and d, so that clients of a restarted node do not reconnect at once.
func Jitter(d time.Duration) time.Duration {
	return d - time.Duration(rand.Int64N(int64(d/2)+1))
}

// Exponential returns the wait before a retry by exponential backoff: first for retry 0, doubled for each further
// retry, at most most.
func Exponential(first, most time.Duration, retry int) time.Duration {
	wait := first
	for range retry {
		if wait >= most/2 {
			return most
		}
		wait *= 2
	}
	return min(wait, most)
}

// Double returns the wait after last: twice last, limited to first and most. A last of 0 means that there was no wait
// before.
func Double(last, first, most time.Duration) time.Duration { return min(max(2*last, first), most) }

// A Backoff delays attempts after consecutive failures. The caller synchronizes access.
type Backoff struct {
	First, Most time.Duration // see Exponential
	Forget      time.Duration // after this long without a failure the backoff starts over

	failures int
	last     time.Time
	until    time.Time
}

// Fail records a failure at now and delays the next attempt.
func (b *Backoff) Fail(now time.Time) {
	if now.Sub(b.last) > b.Forget {
		b.failures = 0
	}
	b.failures++
	b.last = now
	b.until = now.Add(Jitter(Exponential(b.First, b.Most, b.failures-1)))
}

// Forgive ends the delay after the last failure, which still counts.
func (b *Backoff) Forgive() { b.until = time.Time{} }

// Last returns the time of the last failure, the zero time before the first.
func (b *Backoff) Last() time.Time { return b.last }

// Wait returns the remaining delay of the next attempt, 0 if none.
func (b *Backoff) Wait(now time.Time) time.Duration { return max(b.until.Sub(now), 0) }
