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

// NewTraceWriter returns a Tracer that reads each trace and writes it to w as text.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return vecql.NewTraceWriter(session.vecql, w)
}
