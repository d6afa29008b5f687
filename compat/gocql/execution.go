// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Execution: one run of a query or batch with its retry policy and observer.

// An execution counts the attempts of one run and asks the retry policy. Pages after the first one are requests of
// their own.
type execution struct {
	request  RetryableQuery // the *Query or *Batch
	retry    RetryPolicy
	metrics  *metrics
	observed bool // the observer counts the attempts

	mu      sync.Mutex
	counted int   // attempts
	ended   bool  // the first page, or the batch
	err     error // of the retry policy
}

// newExecution returns the execution of a request, nil if the request has neither a retry policy nor an observer.
func newExecution(request RetryableQuery, o *options, observed bool) *execution {
	if o.retry == nil && !observed {
		return nil
	}
	return &execution{request: request, retry: o.retry, metrics: o.metrics, observed: observed}
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	if !r.observed {
		r.count(a.Number)
	}
	if !r.retry.Attempt(r.request) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: cql.Consistency(r.request.GetConsistency())}
	d.SetConsistency = d.Consistency != a.Consistency
	switch r.retry.GetRetryType(plain(a.Err)) {
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

// count counts attempts up to a total, without their latency.
func (r *execution) count(total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := total - r.counted; more > 0 && !r.ended {
		r.counted = total
		r.metrics.count(more, 0)
	}
}

// finish ends the first page or the batch after a number of attempts. It returns the error of the retry policy. r may
// be nil.
func (r *execution) finish(m *metrics, attempts int, latency time.Duration) error {
	total := int64(attempts) * latency.Nanoseconds()
	if r == nil {
		m.count(attempts, total)
		return nil
	}
	if !r.observed {
		r.count(attempts)
		m.count(0, total)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.err
}

// attempts returns the number of attempts of an execution without rows that ended with err. r may be nil.
func (r *execution) attempts(err error) int {
	var failure *vecql.RequestFailure
	switch {
	case errors.As(err, &failure):
		return failure.Attempts
	case err != nil:
		return 0
	case r == nil:
		return 1
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counted + 1
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
