// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// An execution is one run of a query or batch with its retry policy and observer.
type execution struct {
	api.Execution
	request retryable
	retry   RetryPolicy

	recordMu sync.Mutex
	cons     *Consistency // set by the retry policy; nil means that it is unchanged
	history  []AttemptMetric
}

// newExecution returns the execution of a request, nil if the request has neither a retry policy nor an observer.
func newExecution(request retryable, set *api.Settings[RetryPolicy], c *counted, observed bool) *execution {
	if set.Retry == nil && !observed {
		return nil
	}
	r := &execution{request: request, retry: set.Retry}
	r.Begin(api.MetricsOf(c), observed)
	return r
}

// counts returns what counts the attempts of r, which may be nil.
func (r *execution) counts() *api.Execution {
	if r == nil {
		return nil
	}
	return &r.Execution
}

// finish ends the execution after a number of attempts. r may be nil.
func (r *execution) finish(c *counted, attempts int, latency time.Duration) error {
	defer r.setConsistency()
	return r.counts().Finish(api.MetricsOf(c), attempts, latency)
}

// setConsistency sets the consistency that the retry policy has set. r may be nil.
func (r *execution) setConsistency() {
	if r == nil {
		return
	}
	r.recordMu.Lock()
	defer r.recordMu.Unlock()
	if r.cons != nil {
		r.request.SetConsistency(*r.cons)
	}
}

// retryable is a *Query or a *Batch.
type retryable interface {
	SetConsistency(c Consistency)
	// after returns a copy of the request after an attempt, for a RetryPolicy.
	after(a vecql.Attempt) RetryableQuery
}

func (q *Query) after(a vecql.Attempt) RetryableQuery {
	c := *q
	c.attempted, c.lwt = a.Number, a.LWT
	c.SetConsistency(a.Consistency)
	return &c
}

func (b *Batch) after(a vecql.Attempt) RetryableQuery {
	c := *b
	c.Cons, c.attempted, c.lwt = a.Consistency, a.Number, a.LWT
	return &c
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	r.Count(a.Number)
	request := r.request.after(a)
	attempt, decide := r.retry.Attempt, r.retry.GetRetryType
	if lwt, ok := r.retry.(LWTRetryPolicy); ok && a.LWT {
		attempt, decide = lwt.AttemptLWT, lwt.GetRetryTypeLWT
	}
	if !attempt(request) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: request.GetConsistency()}
	d.SetConsistency = d.Consistency != a.Consistency
	if d.SetConsistency {
		r.recordMu.Lock()
		r.cons = &d.Consistency
		r.recordMu.Unlock()
	}
	failed := &QueryError{err: plain(a.Err), potentiallyExecuted: a.MayHaveApplied, isIdempotent: a.Idempotent}
	return r.Decided(d, decide(failed))
}
