// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/vecql/vecql"
)

// Retry policies.

// RetryType is the fate of a request after a failed attempt.
type RetryType uint16

// The decisions of a retry policy.
const (
	Retry         RetryType = iota // send the request again to the same node
	RetryNextHost                  // send the request to the next node
	Ignore                         // end the request as a success without rows
	Rethrow                        // end the request with the error
)

// RetryableQuery describes a request to a RetryPolicy.
type RetryableQuery interface {
	Attempts() int
	SetConsistency(c Consistency)
	GetConsistency() Consistency
	Context() context.Context
}

// A RetryPolicy decides whether an idempotent request is sent again. Attempt is called first, then GetRetryType.
type RetryPolicy interface {
	Attempt(RetryableQuery) bool
	GetRetryType(error) RetryType
}

// SimpleRetryPolicy sends a request again to the next node, at most NumRetries times.
type SimpleRetryPolicy struct {
	NumRetries int
}

// Attempt implements RetryPolicy.
func (s *SimpleRetryPolicy) Attempt(q RetryableQuery) bool { return q.Attempts() <= s.NumRetries }

// GetRetryType implements RetryPolicy.
func (s *SimpleRetryPolicy) GetRetryType(error) RetryType { return RetryNextHost }

// ExponentialBackoffRetryPolicy is SimpleRetryPolicy with exponential backoff from Min to Max. Attempt sleeps.
type ExponentialBackoffRetryPolicy struct {
	NumRetries int
	Min, Max   time.Duration
}

// Attempt implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy) Attempt(q RetryableQuery) bool {
	if q.Attempts() > e.NumRetries {
		return false
	}
	wait := time.NewTimer(backoff(e.Min, e.Max, q.Attempts()))
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-q.Context().Done():
	}
	return true
}

// GetRetryType implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy) GetRetryType(error) RetryType { return RetryNextHost }

// backoff returns the wait before a retry: least doubled for each attempt after the first, give or take half of least.
func backoff(least, most time.Duration, attempts int) time.Duration {
	if least <= 0 {
		least = 100 * time.Millisecond
	}
	if most <= 0 {
		most = 10 * time.Second
	}
	wait := float64(least) * (math.Pow(2, float64(attempts-1)) + rand.Float64() - 0.5)
	return time.Duration(min(wait, float64(most)))
}

// DowngradingConsistencyRetryPolicy sends a request again with the consistencies of its list, one after the other.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []Consistency
}

// Attempt implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) Attempt(q RetryableQuery) bool {
	n := q.Attempts()
	if n > len(d.ConsistencyLevelsToTry) {
		return false
	}
	if n > 0 {
		q.SetConsistency(d.ConsistencyLevelsToTry[n-1])
	}
	return true
}

// GetRetryType implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) GetRetryType(err error) RetryType {
	switch e := err.(type) { //nolint:errorlint // the driver passes errors that are not wrapped
	case *RequestErrUnavailable:
		if e.Alive > 0 {
			return Retry
		}
		return Rethrow
	case *RequestErrReadTimeout:
		return Retry
	case *RequestErrWriteTimeout:
		switch e.WriteType {
		case "SIMPLE", "BATCH", "COUNTER":
			if e.Received > 0 {
				return Ignore
			}
		case "UNLOGGED_BATCH":
			return Retry
		}
		return Rethrow
	}
	return RetryNextHost
}

// never is the policy of sessions: requests that are not idempotent, or have no policy, are not sent again. build sets
// the policies of all others.
var never vecql.RetryPolicy = vecql.SimpleRetryPolicy{}

// retryAdapter adapts a RetryPolicy to vecql.
type retryAdapter struct{ policy RetryPolicy }

// Decide implements vecql.RetryPolicy.
func (p retryAdapter) Decide(ctx context.Context, a vecql.Attempt) vecql.Decision {
	q := retryable{ctx: ctx, attempts: a.Number, consistency: a.Consistency}
	again := p.policy.Attempt(&q)
	d := vecql.Decision{Consistency: q.consistency, SetConsistency: q.consistency != a.Consistency}
	switch p.policy.GetRetryType(plain(a.Err)) {
	case Ignore:
		return vecql.Decision{Type: vecql.Ignore}
	case Retry:
		d.Type = vecql.Retry
	case RetryNextHost:
		d.Type = vecql.RetryNextHost
	}
	if !again {
		return vecql.Decision{}
	}
	return d
}

// retryable describes an attempt to a policy and stores the consistency that the policy sets.
type retryable struct {
	ctx         context.Context
	attempts    int
	consistency Consistency
}

func (q *retryable) Attempts() int                { return q.attempts }
func (q *retryable) SetConsistency(c Consistency) { q.consistency = c }
func (q *retryable) GetConsistency() Consistency  { return q.consistency }
func (q *retryable) Context() context.Context     { return q.ctx }
