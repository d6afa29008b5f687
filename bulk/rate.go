// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"time"
)

// A bucket is a token bucket of one second. It is used by one goroutine at a time.
type bucket struct {
	rate   float64 // tokens per second; 0 means no limit
	tokens float64
	filled time.Time
	timer  *time.Timer
}

// minRateWait is the shortest wait: a shorter debt is paid with a later one.
const minRateWait = time.Millisecond

// take takes n tokens and waits until they are there. It may overdraw the bucket, so that n may exceed its size.
func (b *bucket) take(ctx context.Context, n float64) error {
	if b.rate == 0 {
		return nil
	}
	now := time.Now()
	if b.filled.IsZero() {
		b.filled = now
	}
	b.tokens = min(b.rate/10, b.tokens+b.rate*now.Sub(b.filled).Seconds()) - n // a burst is a tenth of a second
	b.filled = now
	wait := time.Duration(-b.tokens / b.rate * float64(time.Second))
	if wait < minRateWait {
		return nil
	}
	if b.timer == nil {
		b.timer = time.NewTimer(wait)
	} else {
		b.timer.Reset(wait)
	}
	select {
	case <-b.timer.C:
		return nil
	case <-ctx.Done():
		b.timer.Stop()
		return ctx.Err()
	}
}
