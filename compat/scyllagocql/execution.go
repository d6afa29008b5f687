// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Execution: one run of a query or batch with its retry policy and observer.

// An execution counts the attempts of one run and asks the retry policy. Pages after the first one are requests of
// their own.
type execution struct {
	request  retryable
	retry    RetryPolicy
	metrics  *metrics
	observed bool // the observer counts the attempts

	mu      sync.Mutex
	counted int          // attempts
	ended   bool         // the first page, or the batch
	err     error        // of the retry policy
	cons    *Consistency // set by the retry policy; nil means that it is unchanged
	history []AttemptMetric
}

// newExecution returns the execution of a request, nil if the request has neither a retry policy nor an observer.
func newExecution(request retryable, o *options, observed bool) *execution {
	if o.retry == nil && !observed {
		return nil
	}
	return &execution{request: request, retry: o.retry, metrics: o.metrics, observed: observed}
}

// retryable is a *Query or a *Batch.
type retryable interface {
	SetConsistency(c Consistency)
	// after returns a copy of the request after an attempt, for a RetryPolicy.
	after(a vecql.Attempt) RetryableQuery
}

func (q *Query) after(a vecql.Attempt) RetryableQuery {
	c := *q
	c.cons, c.attempted, c.lwt = Consistency(a.Consistency), a.Number, a.LWT
	return &c
}

func (b *Batch) after(a vecql.Attempt) RetryableQuery {
	c := *b
	c.Cons, c.attempted, c.lwt = Consistency(a.Consistency), a.Number, a.LWT
	return &c
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	if !r.observed {
		r.count(a.Number)
	}
	request := r.request.after(a)
	attempt, decide := r.retry.Attempt, r.retry.GetRetryType
	if lwt, ok := r.retry.(LWTRetryPolicy); ok && a.LWT {
		attempt, decide = lwt.AttemptLWT, lwt.GetRetryTypeLWT
	}
	if !attempt(request) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: cql.Consistency(request.GetConsistency())}
	d.SetConsistency = d.Consistency != a.Consistency
	if d.SetConsistency {
		r.setConsistency(request.GetConsistency())
	}
	failed := &QueryError{err: plain(a.Err), potentiallyExecuted: a.MayHaveApplied, isIdempotent: a.Idempotent}
	switch decide(failed) {
	case Retry:
		d.Type = vecql.Retry
	case RetryNextHost:
		d.Type = vecql.RetryNextHost
	case Rethrow, Ignore: // both return the error
		return vecql.Decision{}
	default:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = ErrUnknownRetryType
		return vecql.Decision{}
	}
	return d
}

// setConsistency stores the consistency that the retry policy has set.
func (r *execution) setConsistency(c Consistency) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cons = &c
}

// count counts attempts up to a total, without their latency.
func (r *execution) count(total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := total - r.counted; more > 0 && !r.ended {
		r.counted = total
		r.metrics.count(more, 0)
	}
}

// finish ends the first page or the batch. r may be nil.
func (r *execution) finish(o *options, it *Iter) {
	n := it.it.Attempts()
	if r == nil {
		o.metrics.count(n, int64(n)*it.it.Latency().Nanoseconds())
		return
	}
	if !r.observed {
		r.count(n)
		o.metrics.count(0, int64(n)*it.it.Latency().Nanoseconds())
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	it.err = r.err
	if r.cons != nil {
		r.request.SetConsistency(*r.cons)
	}
}

// observe counts an observed attempt. It returns the number of attempts before and the metrics of the node.
func (r *execution) observe(host *HostInfo, attempt int, nanoseconds int64, of vecql.HostMetrics) (int, *hostMetrics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return attempt, &hostMetrics{Attempts: of.Attempts, TotalLatency: of.TotalLatency.Nanoseconds()}
	}
	before, m := r.metrics.observe(host, 1, nanoseconds)
	return before, &m
}
