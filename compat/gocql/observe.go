// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"io"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Observers of queries and batches, and tracing.

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string
	Statement string
	Values    []any // as bound, not copied
	Start     time.Time
	End       time.Time
	Rows      int // of the page
	Host      *HostInfo
	Metrics   *api.HostMetrics // of the attempts on Host
	Err       error
	Attempt   int // from 0, over all executions of the query
}

// A QueryObserver observes the attempts of queries.
type QueryObserver interface {
	ObserveQuery(context.Context, ObservedQuery)
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *HostInfo
	Err        error
	Metrics    *api.HostMetrics // of the attempts on Host
	Attempt    int              // from 0, over all executions of the batch
}

// A BatchObserver observes the attempts of batches.
type BatchObserver interface {
	ObserveBatch(context.Context, ObservedBatch)
}

// queryObserver adapts the observer of a query.
type queryObserver struct {
	execution *execution
	query     *Query
}

// ObserveQuery implements vecql.QueryObserver.
func (q queryObserver) ObserveQuery(ctx context.Context, o vecql.ObservedQuery) {
	host := q.query.session.hosts.Of(o.Host)
	attempt, metrics := q.execution.Observe(api.AddressOf(host), o.Attempt, o.End.Sub(o.Start), o.Metrics)
	q.query.observer.ObserveQuery(ctx, ObservedQuery{
		Keyspace: o.Keyspace, Statement: o.Statement, Values: q.query.Values(), Start: o.Start, End: o.End, Rows: o.Rows,
		Host: host, Metrics: metrics, Err: plain(o.Err), Attempt: attempt,
	})
}

// batchObserver adapts the observer of a batch.
type batchObserver struct {
	execution *execution
	batch     *Batch
	session   *Session
}

// ObserveBatch implements vecql.BatchObserver.
func (b batchObserver) ObserveBatch(ctx context.Context, o vecql.ObservedBatch) {
	host := b.session.hosts.Of(o.Host)
	attempt, metrics := b.execution.Observe(api.AddressOf(host), o.Attempt, o.End.Sub(o.Start), o.Metrics)
	seen := ObservedBatch{
		Keyspace: o.Keyspace, Start: o.Start, End: o.End, Host: host, Err: plain(o.Err), Metrics: metrics, Attempt: attempt,
	}
	for _, e := range b.batch.Entries {
		seen.Statements = append(seen.Statements, e.Stmt)
		seen.Values = append(seen.Values, e.Args)
	}
	b.batch.observer.ObserveBatch(ctx, seen)
}

// NewTraceWriter returns a Tracer that reads each trace and writes it to w as text.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return vecql.NewTraceWriter(session.vecql, w)
}
