// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync/atomic"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Retry policies.

// The decisions of a RetryPolicy. Ignore ends the request as a success without rows.
const (
	Retry         = api.Retry
	RetryNextHost = api.RetryNextHost
	Ignore        = api.Ignore
	Rethrow       = api.Rethrow
)

// GetRetryType implements RetryPolicy.
func (d *DowngradingConsistencyRetryPolicy) GetRetryType(err error) RetryType {
	switch e := err.(type) { //nolint:errorlint // the driver passes errors that are not wrapped
	case *RequestErrUnavailable:
		return api.DowngradeAfterUnavailable(e.Alive)
	case *RequestErrReadTimeout:
		return Retry
	case *RequestErrWriteTimeout:
		return api.DowngradeAfterWriteTimeout(e.WriteType, e.Received)
	}
	return RetryNextHost
}

// never is the policy of sessions: requests that are not idempotent, or have no policy, are not sent again. build sets
// the policies of all others.
var never vecql.RetryPolicy = vecql.SimpleRetryPolicy{}

// retryAdapter adapts a RetryPolicy to vecql, for the first page of a request.
type retryAdapter struct {
	policy  RetryPolicy
	unknown atomic.Bool // the policy has returned an unknown RetryType
}

// err returns the error of the policy in place of err, the request's error. p may be nil.
func (p *retryAdapter) err(err error) error {
	if p != nil && p.unknown.Load() {
		return ErrUnknownRetryType
	}
	return err
}

// Decide implements vecql.RetryPolicy.
func (p *retryAdapter) Decide(ctx context.Context, a vecql.Attempt) vecql.Decision {
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
	case Rethrow:
		return vecql.Decision{}
	default:
		p.unknown.Store(true)
		return vecql.Decision{}
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
