// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"sync"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// An execution is one run of a query or batch with its retry policy and observer.
type execution struct {
	api.Execution
	session *Session
	request retryable
	retry   RetryPolicy

	recordMu sync.Mutex
	cons     *Consistency // set by the retry policy; nil means that it is unchanged
	history  []AttemptMetric
}

// defaultRetryPolicy is the policy of requests without one.
var defaultRetryPolicy RetryPolicy = &SimpleRetryPolicy{NumRetries: 3}

// newExecution returns the execution of a request.
func (s *Session) newExecution(request retryable, retry RetryPolicy, observed bool) *api.Execution {
	if retry == nil {
		retry = defaultRetryPolicy
	}
	r := &execution{session: s, request: request, retry: retry}
	return r.Begin(r, retry != nil, observed)
}

// Finished sets the consistency that the retry policy has set.
func (r *execution) Finished() {
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

// retried is what copies of a request for a RetryPolicy have in addition.
type retried struct {
	attempted int32 // attempts of the execution
	lwt       bool  // the request is conditional
}

// attempts returns the attempts of all executions so far, in a copy for a RetryPolicy the attempts of the execution.
func (r *retried) attempts(all int) int {
	if r.attempted > 0 {
		return int(r.attempted)
	}
	return all
}

// scyllaVersion is the release of Cassandra that ScyllaDB reports.
const scyllaVersion = "3.0.8"

// marksConditional reports whether a node marks conditional statements. The API takes every statement that another node
// has prepared for conditional, because it looks for no bits of its flags.
func marksConditional(node *cql.Host) bool {
	return node == nil || node.Version == scyllaVersion
}

// isBound reports whether a function returns the values. The API does not ask for the flags of such a statement.
func (q *Query) isBound() bool { return api.BindingOf[ColumnInfo](api.SettingsOf(q).Rare()) != nil }

func (q *Query) after(a vecql.Attempt) RetryableQuery {
	c := *q
	c.attempted = int32(a.Number)
	c.lwt = a.LWT || !marksConditional(a.Host) && !q.isBound() && api.IsKnown(&q.query)
	c.SetConsistency(a.Consistency)
	return &c
}

func (b *Batch) after(a vecql.Attempt) RetryableQuery {
	c := *b
	c.Cons, c.attempted = a.Consistency, int32(a.Number)
	c.lwt = a.LWT || !marksConditional(a.Host) && api.BeginsKnown(&b.batch, b.content())
	return &c
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	r.Count(a.Number)
	request := r.request.after(a)
	attempt, decide := r.retry.Attempt, r.retry.GetRetryType
	if lwt, ok := r.retry.(LWTRetryPolicy); ok && request.IsLWT() {
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

func (r *execution) observeQuery(ctx context.Context, q *Query, o vecql.ObservedAttempt) {
	seen, observer := r.seenQuery(q, o), api.SettingsOf(q).Rare().Observer
	if full, ok := observer.(QueryObserverWithAttemptMetrics); ok {
		all := r.record(AttemptMetric{Host: seen.Host, Attempt: seen.Attempt, Latency: o.End.Sub(o.Start).Nanoseconds()})
		full.ObserveQueryWithAttemptMetrics(ctx, ObservedQueryWithAttemptMetrics{seen, all})
		return
	}
	observer.(QueryObserver).ObserveQuery(ctx, seen)
}

func (r *execution) observeBatch(ctx context.Context, b *Batch, o vecql.ObservedAttempt) {
	seen := r.seenBatch(b, o)
	if full, ok := b.observer.(BatchObserverWithAttemptMetrics); ok {
		all := r.record(AttemptMetric{Host: seen.Host, Attempt: seen.Attempt, Latency: o.End.Sub(o.Start).Nanoseconds()})
		full.ObserveBatchWithAttemptMetrics(ctx, ObservedBatchWithAttemptMetrics{seen, all})
		return
	}
	b.observer.ObserveBatch(ctx, seen)
}
