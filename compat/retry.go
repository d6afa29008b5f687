// SPDX-License-Identifier: Apache-2.0

package compat

import (
	"context"
	"math"
	"math/rand/v2"
	"time"

	"github.com/vecql/vecql"
)

// Retry policies in gocql's form. The driver's rule holds above all of them: a statement that is not idempotent and may
// have been executed is not sent again.

// RetryType is the fate of a request after a failed attempt. The zero value is Retry, as in gocql.
type RetryType uint16

// The decisions of a policy.
const (
	Retry         RetryType = iota // on the same node
	RetryNextHost                  // on the next node
	Ignore                         // no retry
	Rethrow                        // no retry: the attempt's error is that of the request
)

// RetryableQuery describes a request to a policy.
type RetryableQuery = vecql.RetryableQuery

// A RetryPolicy decides whether and where a request is sent again.
type RetryPolicy interface {
	Attempt(q RetryableQuery) bool
	GetRetryType(err error) RetryType
}

// AdaptRetryPolicy adapts p to the driver. nil means that no request is sent again. ignore reports whether the request
// succeeds after Ignore; otherwise it ends with the attempt's error. The policy receives errors as Error returns them.
func AdaptRetryPolicy(p RetryPolicy, ignore bool) vecql.RetryPolicy {
	return adaptedPolicy{p, ignore}
}

type adaptedPolicy struct {
	policy RetryPolicy
	ignore bool
}

// lwtRetryPolicy is the optional interface of the fork's policies.
type lwtRetryPolicy interface {
	AttemptLWT(q RetryableQuery) bool
	GetRetryTypeLWT(err error) RetryType
}

// Decide implements vecql.RetryPolicy.
func (p adaptedPolicy) Decide(ctx context.Context, a vecql.Attempt) vecql.Decision {
	if p.policy == nil {
		return vecql.Decision{}
	}
	q := &retryableQuery{ctx: ctx, attempts: a.Number, consistency: a.Consistency}
	attempt, retryType := p.policy.Attempt, p.policy.GetRetryType
	if lwt, ok := p.policy.(lwtRetryPolicy); ok && a.LWT {
		attempt, retryType = lwt.AttemptLWT, lwt.GetRetryTypeLWT
	}
	if !attempt(q) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: q.consistency, SetConsistency: q.consistency != a.Consistency}
	switch retryType(Error(a.Err)) {
	case Retry:
		d.Type = vecql.Retry
	case RetryNextHost:
		d.Type = vecql.RetryNextHost
	case Ignore:
		if p.ignore {
			d.Type = vecql.Ignore
		}
	}
	return d
}

// retryableQuery passes an attempt to a policy and stores the consistency that the policy sets.
type retryableQuery struct {
	ctx         context.Context
	attempts    int
	consistency vecql.Consistency
}

func (q *retryableQuery) Attempts() int                      { return q.attempts }
func (q *retryableQuery) SetConsistency(c vecql.Consistency) { q.consistency = c }
func (q *retryableQuery) GetConsistency() vecql.Consistency  { return q.consistency }
func (q *retryableQuery) Context() context.Context           { return q.ctx }

// SimpleRetryPolicy sends a request again on the next node, at most NumRetries times.
type SimpleRetryPolicy struct {
	NumRetries int
}

// Attempt implements RetryPolicy.
func (s *SimpleRetryPolicy) Attempt(q RetryableQuery) bool { return q.Attempts() <= s.NumRetries }

// GetRetryType implements RetryPolicy.
func (s *SimpleRetryPolicy) GetRetryType(err error) RetryType { return RetryNextHost }

// ExponentialBackoffRetryPolicy is SimpleRetryPolicy with a wait before each retry.
type ExponentialBackoffRetryPolicy struct {
	NumRetries int
	Min, Max   time.Duration
}

// Attempt implements RetryPolicy. It waits, at most until the context of the request ends.
func (e *ExponentialBackoffRetryPolicy) Attempt(q RetryableQuery) bool {
	if q.Attempts() > e.NumRetries {
		return false
	}
	timer := time.NewTimer(e.wait(q.Attempts()))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-q.Context().Done():
		return false
	}
}

// GetRetryType implements RetryPolicy.
func (e *ExponentialBackoffRetryPolicy) GetRetryType(err error) RetryType { return RetryNextHost }

// wait returns the wait before the given retry, from 1: Min doubled each time, within half of Min at random, at most
// Max.
func (e *ExponentialBackoffRetryPolicy) wait(attempts int) time.Duration {
	least, most := e.Min, e.Max
	if least <= 0 {
		least = 100 * time.Millisecond
	}
	if most <= 0 {
		most = 10 * time.Second
	}
	wait := float64(least)*math.Pow(2, float64(attempts-1)) + (rand.Float64()-0.5)*float64(least)
	return time.Duration(min(wait, float64(most)))
}

// DowngradingConsistencyRetryPolicy retries with the consistencies of its list, one after the other.
type DowngradingConsistencyRetryPolicy struct {
	ConsistencyLevelsToTry []vecql.Consistency
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
	switch err := err.(type) { //nolint:errorlint // a policy receives errors that are not wrapped
	case *vecql.RequestErrUnavailable:
		if err.Alive > 0 {
			return Retry
		}
		return Rethrow
	case *vecql.RequestErrWriteTimeout:
		switch err.WriteType {
		case "SIMPLE", "BATCH", "COUNTER":
			if err.Received > 0 {
				return Ignore
			}
		case "UNLOGGED_BATCH":
			return Retry
		}
		return Rethrow
	case *vecql.RequestErrReadTimeout:
		return Retry
	}
	return RetryNextHost
}
