// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/vecql/vecql"
)

// Executions of v1.7 and the fork: one run of a query or batch with its retry policy and observer.

// An Execution counts the attempts of one run. Pages after the first one are requests of their own. A nil Execution is
// one without a retry policy and an observer. A module's execution, a Run, embeds it.
type Execution struct {
	observer vecql.Observer // counts the attempts; nil means none
	policy   Run            // decides what follows them; nil means none
	metrics  *Metrics

	mu      sync.Mutex
	counted int   // attempts
	ended   bool  // the first page, or the batch
	err     error // of the retry policy
}

// A Run is a module's execution: it calls the retry policy and the observer of the program.
type Run interface {
	vecql.RetryPolicy
	ObserveAttempt(ctx context.Context, a vecql.ObservedAttempt)
	// Finished is called after the first page or the batch.
	Finished()
}

// Finished does nothing.
func (r *Execution) Finished() {}

// Begin returns r, the Execution of a module's execution, after it has set what the program has.
func (r *Execution) Begin(of Run, retried, observed bool) *Execution {
	if retried {
		r.policy = of
	}
	if observed {
		r.observer = of.ObserveAttempt
	}
	return r
}

// countIn sets where the attempts are counted. r may be nil.
func (r *Execution) countIn(m *Metrics) {
	if r != nil {
		r.metrics = m
	}
}

// Count counts attempts up to a total, without their latency, unless the observer counts them.
func (r *Execution) Count(total int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if more := total - r.counted; more > 0 && !r.ended && r.observer == nil {
		r.counted = total
		r.metrics.Count(more, 0)
	}
}

// finish ends the first page or the batch after a number of attempts. It returns the error of the retry policy.
func (r *Execution) finish(m *Metrics, attempts int, latency time.Duration) error {
	total := int64(attempts) * latency.Nanoseconds()
	if r == nil {
		m.Count(attempts, total)
		return nil
	}
	if r.observer == nil {
		r.Count(attempts)
		m.Count(0, total)
	}
	if r.policy != nil {
		r.policy.Finished()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
	return r.err
}

// spentOn returns the number of attempts of a request that failed, and their mean latency.
func spentOn(err error) (attempts int, latency time.Duration) {
	var failure *vecql.RequestFailure
	if errors.As(err, &failure) {
		return failure.Attempts, failure.Elapsed / time.Duration(max(failure.Attempts, 1))
	}
	return 0, 0
}

// Observe counts an observed attempt on the node at an address. It returns the number of attempts before and the
// metrics of the node.
func (r *Execution) Observe(address string, attempt int, latency time.Duration, of vecql.HostMetrics,
) (int, *HostMetrics) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return attempt, NewHostMetrics(of)
	}
	before, m := r.metrics.Observe(address, 1, latency.Nanoseconds())
	return before, &m
}

// Decided returns d with the decision of a policy. Ignore and Rethrow both return the error.
func (r *Execution) Decided(d vecql.Decision, t RetryType) vecql.Decision {
	switch t {
	case Retry:
		d.Type = vecql.Retry
	case RetryNextHost:
		d.Type = vecql.RetryNextHost
	case Ignore, Rethrow:
		return vecql.Decision{}
	default:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.err = ErrUnknownRetryType
		return vecql.Decision{}
	}
	return d
}
