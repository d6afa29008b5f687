// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// Executions of queries and batches.

// An execution is one run of a query or batch with its retry policy and observer.
type execution struct {
	api.Execution
	session *Session
	request RetryableQuery // the *Query or *Batch
	retry   RetryPolicy
}

// newExecution returns the execution of a request, nil if the request has neither a retry policy nor an observer.
func (s *Session) newExecution(request RetryableQuery, retry RetryPolicy, observed bool) *api.Execution {
	if retry == nil && !observed {
		return nil
	}
	r := &execution{session: s, request: request, retry: retry}
	return r.Begin(r, retry != nil, observed)
}

// Decide implements vecql.RetryPolicy.
func (r *execution) Decide(_ context.Context, a vecql.Attempt) vecql.Decision {
	r.Count(a.Number)
	if !r.retry.Attempt(r.request) {
		return vecql.Decision{}
	}
	d := vecql.Decision{Consistency: cql.Consistency(r.request.GetConsistency())}
	d.SetConsistency = d.Consistency != a.Consistency
	return r.Decided(d, r.retry.GetRetryType(plain(a.Err)))
}

// ObserveAttempt is the Observer of vecql's query or batch.
func (r *execution) ObserveAttempt(ctx context.Context, o vecql.ObservedAttempt) {
	switch request := r.request.(type) {
	case *Query:
		r.observeQuery(ctx, request, o)
	case *Batch:
		r.observeBatch(ctx, request, o)
	}
}

// seenQuery returns an attempt of a query for its observer.
func (r *execution) seenQuery(q *Query, o vecql.ObservedAttempt) ObservedQuery {
	host := r.session.hosts.Of(o.Host)
	attempt, metrics := r.Observe(api.AddressOf(host), o.Attempt, o.End.Sub(o.Start), o.Metrics)
	return ObservedQuery{
		Keyspace: o.Keyspace, Statement: o.Statements[0], Values: q.Values(), Start: o.Start, End: o.End, Rows: o.Rows,
		Host: host, Metrics: metrics, Err: attemptError(o.Err), Attempt: attempt,
	}
}

// seenBatch returns an attempt of a batch for its observer.
func (r *execution) seenBatch(b *Batch, o vecql.ObservedAttempt) ObservedBatch {
	host := r.session.hosts.Of(o.Host)
	attempt, metrics := r.Observe(api.AddressOf(host), o.Attempt, o.End.Sub(o.Start), o.Metrics)
	return ObservedBatch{
		Keyspace: o.Keyspace, Statements: o.Statements, Values: api.ValuesOf(b.Entries), Start: o.Start, End: o.End,
		Host: host, Err: attemptError(o.Err), Metrics: metrics, Attempt: attempt,
	}
}

func (r *execution) observeQuery(ctx context.Context, q *Query, o vecql.ObservedAttempt) {
	api.SettingsOf(q).Rare().Observer.(QueryObserver).ObserveQuery(ctx, r.seenQuery(q, o))
}

func (r *execution) observeBatch(ctx context.Context, b *Batch, o vecql.ObservedAttempt) {
	b.observer.ObserveBatch(ctx, r.seenBatch(b, o))
}

// attemptError returns the error of an attempt for an observer.
func attemptError(err error) error { return plain(err) }
