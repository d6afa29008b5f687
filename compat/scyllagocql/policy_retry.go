// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Retry policies. Whatever a policy decides, a request that may have been executed is sent again only if it is
// idempotent: marked so, or a SELECT.

// A RetryableQuery is a request as a RetryPolicy sees it: a copy of the *Query or the *Batch.
type RetryableQuery interface {
	api.RetryableQuery[Consistency]
	// IsLWT reports whether the request is conditional.
	IsLWT() bool
}

// NoReconnectionPolicy makes one attempt.
type NoReconnectionPolicy = api.NoReconnectionPolicy

// An LWTRetryPolicy is a RetryPolicy with other decisions for conditional requests.
type LWTRetryPolicy interface {
	AttemptLWT(RetryableQuery) bool
	GetRetryTypeLWT(error) RetryType
}

// unlessExecuted returns t, or Rethrow if a request that is not idempotent may have been executed.
func unlessExecuted(err error, t RetryType) RetryType {
	var e *QueryError
	if errors.As(err, &e) && e.potentiallyExecuted && !e.isIdempotent {
		return Rethrow
	}
	return t
}

// SimpleRetryPolicy retries on the next node, at most NumRetries times.
type SimpleRetryPolicy struct {
	NumRetries int
}

// Attempt implements RetryPolicy.
func (s *SimpleRetryPolicy) Attempt(q RetryableQuery) bool { return q.Attempts() <= s.NumRetries }

// GetRetryType implements RetryPolicy.
func (s *SimpleRetryPolicy) GetRetryType(err error) RetryType {
	return unlessExecuted(err, RetryNextHost)
}

// AttemptLWT implements LWTRetryPolicy.
func (s *SimpleRetryPolicy) AttemptLWT(q RetryableQuery) bool { return s.Attempt(q) }

// GetRetryTypeLWT implements LWTRetryPolicy: the same node, whose Paxos ballots do not compete with the ballots of
// another.
func (s *SimpleRetryPolicy) GetRetryTypeLWT(err error) RetryType { return unlessExecuted(err, Retry) }

// ExponentialBackoffRetryPolicy retries as SimpleRetryPolicy does, with exponential backoff.
type ExponentialBackoffRetryPolicy struct {
	NumRetries int
	Min, Max   time.Duration // default 100 ms and 10 s
}

// Attempt implements RetryPolicy. It waits, at most until the context of the request ends.
func (e *ExponentialBackoffRetryPolicy) Attempt(q RetryableQuery) bool {
	return api.AttemptAfterBackoff(q, e.NumRetries, e.Min, e.Max)
}

// GetRetryType implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy) GetRetryType(err error) RetryType {
	return unlessExecuted(err, RetryNextHost)
}

// AttemptLWT implements LWTRetryPolicy.
func (e *ExponentialBackoffRetryPolicy) AttemptLWT(q RetryableQuery) bool { return e.Attempt(q) }

// GetRetryTypeLWT implements LWTRetryPolicy: the same node, whose Paxos ballots do not compete with the ballots of
// another.
func (e *ExponentialBackoffRetryPolicy) GetRetryTypeLWT(err error) RetryType {
	return unlessExecuted(err, Retry)
}

// Attempt implements RetryPolicy. A conditional request is not sent again.
func (d *DowngradingConsistencyRetryPolicy) Attempt(q RetryableQuery) bool {
	if n := q.Attempts(); n > 0 && n <= len(d.ConsistencyLevelsToTry) && q.IsLWT() {
		return false
	}
	return api.AttemptDowngraded[Consistency](q, d.ConsistencyLevelsToTry)
}

// GetRetryType implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) GetRetryType(err error) RetryType {
	if unlessExecuted(err, Retry) == Rethrow {
		return Rethrow
	}
	return downgrade(err)
}
