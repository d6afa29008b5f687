// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// Retry policies. Whatever a policy decides, a request that may have been executed is sent again only if it is
// idempotent: marked so, or a SELECT.

// RetryableQuery is a request as a RetryPolicy sees it: a copy of the *Query or the *Batch.
type RetryableQuery interface {
	Attempts() int
	SetConsistency(c Consistency)
	GetConsistency() Consistency
	// IsLWT reports whether the request is conditional.
	IsLWT() bool
	Context() context.Context
}

// RetryType is the decision of a RetryPolicy.
type RetryType uint16

// The decisions.
const (
	Retry         RetryType = 0x00 // on the same node
	RetryNextHost RetryType = 0x01
	Ignore        RetryType = 0x02 // the same as Rethrow
	Rethrow       RetryType = 0x03
)

// A RetryPolicy decides whether and where a failed request is sent again.
type RetryPolicy interface {
	Attempt(RetryableQuery) bool
	GetRetryType(error) RetryType
}

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

// GetRetryTypeLWT implements LWTRetryPolicy: the same node, whose Paxos ballots do not compete with those of another.
func (s *SimpleRetryPolicy) GetRetryTypeLWT(err error) RetryType { return unlessExecuted(err, Retry) }

// ExponentialBackoffRetryPolicy is SimpleRetryPolicy with exponential backoff.
type ExponentialBackoffRetryPolicy struct {
	NumRetries int
	Min, Max   time.Duration // default 100 ms and 10 s
}

// Attempt implements RetryPolicy. It waits, at most until the context of the request ends.
func (e *ExponentialBackoffRetryPolicy) Attempt(q RetryableQuery) bool {
	if q.Attempts() > e.NumRetries {
		return false
	}
	timer := time.NewTimer(backoff(e.Min, e.Max, q.Attempts()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-q.Context().Done():
		return false
	}
}

// GetRetryType implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy) GetRetryType(err error) RetryType {
	return unlessExecuted(err, RetryNextHost)
}

// AttemptLWT implements LWTRetryPolicy.
func (e *ExponentialBackoffRetryPolicy) AttemptLWT(q RetryableQuery) bool { return e.Attempt(q) }

// GetRetryTypeLWT implements LWTRetryPolicy: the same node, whose Paxos ballots do not compete with those of another.
func (e *ExponentialBackoffRetryPolicy) GetRetryTypeLWT(err error) RetryType {
	return unlessExecuted(err, Retry)
}

// backoff returns the wait after an attempt, counted from 1: least, doubled after each attempt, give or take half of
// least, at most most.
func backoff(least, most time.Duration, attempt int) time.Duration {
	if least <= 0 {
		least = 100 * time.Millisecond
	}
	if most <= 0 {
		most = 10 * time.Second
	}
	wait := float64(least) * (math.Pow(2, float64(attempt-1)) + rand.Float64() - 0.5)
	return time.Duration(min(wait, float64(most)))
}

// DowngradingConsistencyRetryPolicy retries with the consistencies of its list, one after the other.
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
	if unlessExecuted(err, Retry) == Rethrow {
		return Rethrow
	}
	var unavailable *RequestErrUnavailable
	var write *RequestErrWriteTimeout
	var read *RequestErrReadTimeout
	switch {
	case errors.As(err, &unavailable):
		if unavailable.Alive > 0 {
			return Retry
		}
		return Rethrow
	case errors.As(err, &write):
		switch {
		case write.WriteType == "UNLOGGED_BATCH":
			return Retry
		case write.Received > 0 && slices.Contains([]string{"SIMPLE", "BATCH", "COUNTER"}, write.WriteType):
			return Ignore
		}
		return Rethrow
	case errors.As(err, &read):
		return Retry
	}
	return RetryNextHost
}

// A SpeculativeExecutionPolicy sets the number and the delay of further executions of an idempotent request.
type SpeculativeExecutionPolicy interface {
	Attempts() int
	Delay() time.Duration
}

// NonSpeculativeExecution executes a request once.
type NonSpeculativeExecution struct{}

// Attempts implements SpeculativeExecutionPolicy.
func (sp NonSpeculativeExecution) Attempts() int { return 0 }

// Delay implements SpeculativeExecutionPolicy. A ticker needs a positive duration.
func (sp NonSpeculativeExecution) Delay() time.Duration { return 1 }

// SimpleSpeculativeExecution starts NumAttempts further executions, one after each TimeoutDelay.
type SimpleSpeculativeExecution struct {
	NumAttempts  int
	TimeoutDelay time.Duration
}

// Attempts implements SpeculativeExecutionPolicy.
func (sp *SimpleSpeculativeExecution) Attempts() int { return sp.NumAttempts }

// Delay implements SpeculativeExecutionPolicy.
func (sp *SimpleSpeculativeExecution) Delay() time.Duration { return sp.TimeoutDelay }
