// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Observers of queries and batches.

// An ObservedQuery is one attempt of a query.
type ObservedQuery struct {
	Keyspace  string // of the session
	Statement string
	Values    []any
	Start     time.Time
	End       time.Time
	Rows      int
	Host      *HostInfo
	Metrics   *api.HostMetrics // of the attempts on Host
	Err       error
	Attempt   int // from 0
	Query     *Query
}

// An ObservedBatch is one attempt of a batch.
type ObservedBatch struct {
	Keyspace   string // of the session
	Statements []string
	Values     [][]any
	Start      time.Time
	End        time.Time
	Host       *HostInfo
	Err        error
	Metrics    *api.HostMetrics // of the attempts on Host
	Attempt    int              // from 0
	Batch      *Batch
}

type queryObserver struct {
	observer QueryObserver
	query    *Query
}

// observe is the Observer of vecql's query.
func (a queryObserver) observe(ctx context.Context, o vecql.ObservedAttempt) {
	s := a.query.session
	a.observer.ObserveQuery(ctx, ObservedQuery{
		Keyspace: s.cfg.Keyspace, Statement: o.Statements[0], Values: a.query.Values(), Start: o.Start, End: o.End,
		Rows: o.Rows, Host: s.hosts.Of(o.Host), Metrics: api.NewHostMetrics(o.Metrics), Err: plain(o.Err), Attempt: o.Attempt,
		Query: a.query,
	})
}

type batchObserver struct {
	observer BatchObserver
	batch    *Batch
}

// observe is the Observer of vecql's batch.
func (a batchObserver) observe(ctx context.Context, o vecql.ObservedAttempt) {
	s := a.batch.session
	a.observer.ObserveBatch(ctx, ObservedBatch{
		Keyspace: s.cfg.Keyspace, Statements: o.Statements, Values: api.ValuesOf(a.batch.Entries), Start: o.Start, End: o.End,
		Host: s.hosts.Of(o.Host), Err: plain(o.Err), Metrics: api.NewHostMetrics(o.Metrics), Attempt: o.Attempt,
		Batch: a.batch,
	})
}
