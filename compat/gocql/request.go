// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"io"
	"unsafe"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

//compat:copy gocqlv2 scyllagocql

// What all editions have of queries, batches and their observers.

// Bind adds a statement. Each execution of the batch calls bind for its values.
func (b *Batch) Bind(stmt string, bind func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, api.BoundEntry(stmt, bind))
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.Cons }

// SetConsistency sets the consistency.
func (b *Batch) SetConsistency(c Consistency) { b.Cons = c }

// Observer sets the observer of the batch's attempts.
func (b *Batch) Observer(observer BatchObserver) *Batch { b.observer = observer; return b }

// IsIdempotent reports whether all statements are marked idempotent.
func (b *Batch) IsIdempotent() bool { return api.AllIdempotent(b.Entries) }

const _ = -unsafe.Offsetof(Query{}.query) - unsafe.Offsetof(Batch{}.batch) // does not compile unless it is 0

// Bind returns a query of stmt that calls b for its values each time it runs.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	api.BindBy(q, b)
	return q
}

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { api.SetObserver(q, observer); return q }

// A QueryObserver observes the attempts of queries.
type QueryObserver interface {
	ObserveQuery(context.Context, ObservedQuery)
}

// A BatchObserver observes the attempts of batches.
type BatchObserver interface {
	ObserveBatch(context.Context, ObservedBatch)
}

// NewTraceWriter returns a Tracer that reads each trace and writes it to w as text.
func NewTraceWriter(session *Session, w io.Writer) Tracer {
	return vecql.NewTraceWriter(session.Vecql(), w)
}
