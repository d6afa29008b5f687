// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/vecql/vecql/internal/background"
)

// Retry policies. Whatever a policy decides, a request that may have been executed is sent again only if it is
// idempotent: marked so, or a SELECT.

// RetryType is the decision of a RetryPolicy.
type RetryType uint16

// The decisions.
const (
	Retry         RetryType = 0x00 // on the same node
	RetryNextHost RetryType = 0x01
	Ignore        RetryType = 0x02
	Rethrow       RetryType = 0x03
)

// A RetryableQuery is a request as a RetryPolicy sees it.
type RetryableQuery[C any] interface {
	Attempts() int
	SetConsistency(c C)
	GetConsistency() C
	Context() context.Context
}

// A RetryPolicy decides whether and where a failed request is sent again. Q is a module's RetryableQuery.
type RetryPolicy[Q any] interface {
	Attempt(Q) bool
	GetRetryType(error) RetryType
}

// Attempted is what the policies ask of a request.
type Attempted interface {
	Attempts() int
	Context() context.Context
}

// SimpleRetryPolicy retries on the next node, at most NumRetries times.
type SimpleRetryPolicy[Q Attempted] struct {
	NumRetries int
}

// Attempt implements RetryPolicy.
func (s *SimpleRetryPolicy[Q]) Attempt(q Q) bool { return q.Attempts() <= s.NumRetries }

// GetRetryType implements RetryPolicy.
func (s *SimpleRetryPolicy[Q]) GetRetryType(err error) RetryType { return RetryNextHost }

// ExponentialBackoffRetryPolicy retries as SimpleRetryPolicy does, with exponential backoff.
type ExponentialBackoffRetryPolicy[Q Attempted] struct {
	NumRetries int
	Min, Max   time.Duration // default 100 ms and 10 s
}

// Attempt implements RetryPolicy. It waits, at most until the context of the request ends.
func (e *ExponentialBackoffRetryPolicy[Q]) Attempt(q Q) bool {
	return AttemptAfterBackoff(q, e.NumRetries, e.Min, e.Max)
}

// GetRetryType implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy[Q]) GetRetryType(err error) RetryType { return RetryNextHost }

// AttemptAfterBackoff is ExponentialBackoffRetryPolicy.Attempt.
func AttemptAfterBackoff(q Attempted, retries int, least, most time.Duration) bool {
	return q.Attempts() <= retries && background.Sleep(q.Context(), backoff(least, most, q.Attempts()))
}

// backoff returns the wait after an attempt, counted from 1: least, doubled after each attempt, with a jitter of half
// of least to either side, at most most.
func backoff(least, most time.Duration, attempt int) time.Duration {
	if least <= 0 {
		least = 100 * time.Millisecond
	}
	if most <= 0 {
		most = 10 * time.Second
	}
	const bound = math.MaxInt64 / 2 // the jitter is added below most
	wait := background.Exponential(least, bound, max(attempt-1, 0))
	return min(wait+time.Duration((rand.Float64()-0.5)*float64(least)), most)
}

// AttemptDowngraded is DowngradingConsistencyRetryPolicy.Attempt.
func AttemptDowngraded[C any](q RetryableQuery[C], levels []C) bool {
	n := q.Attempts()
	if n > len(levels) {
		return false
	}
	if n > 0 {
		q.SetConsistency(levels[n-1])
	}
	return true
}

// DowngradeAfterUnavailable is the decision of DowngradingConsistencyRetryPolicy after too few replicas were alive.
func DowngradeAfterUnavailable(alive int) RetryType {
	if alive > 0 {
		return Retry
	}
	return Rethrow
}

// DowngradeAfterWriteTimeout is the decision of DowngradingConsistencyRetryPolicy after too few replicas acknowledged a
// write in time.
func DowngradeAfterWriteTimeout(writeType string, received int) RetryType {
	switch {
	case writeType == "UNLOGGED_BATCH":
		return Retry
	case received > 0 && slices.Contains([]string{"SIMPLE", "BATCH", "COUNTER"}, writeType):
		return Ignore
	}
	return Rethrow
}
