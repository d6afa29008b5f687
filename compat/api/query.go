// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// The setters of queries and batches. A module's Query embeds Query as its first field, its Batch embeds Options. S is
// that type, which a setter returns, R the module's RetryPolicy, C its Consistency. The fields are reached by
// functions, because exported ones would be fields of the module's types.

// Settings are the options of a query or a batch.
type Settings[R any] struct {
	Ctx        context.Context // nil means context.Background
	Serial     cql.Consistency
	Trace      vecql.Tracer
	Retry      R
	Spec       vecql.SpeculativeExecutionPolicy // nil means none
	Timestamps bool                             // the client sets the time of a write
	Timestamp  int64                            // in microseconds; 0 means the current time
}

// Options are the setters that queries and batches share.
type Options[S, R any] = options[S, R]

type options[S, R any] struct{ set Settings[R] }

// A Set is a query or a batch. R is the module's RetryPolicy.
type Set[R any] interface{ settings() *Settings[R] }

func (o *options[S, R]) settings() *Settings[R] { return &o.set }

// SettingsOf returns the options of a query or a batch.
func SettingsOf[R any](o Set[R]) *Settings[R] { return o.settings() }

// whole returns the query or batch of which o is the first field.
func (o *options[S, R]) whole() *S { return (*S)(unsafe.Pointer(o)) }

// Context returns the context.
func (o *options[S, R]) Context() context.Context {
	if o.set.Ctx == nil {
		return context.Background()
	}
	return o.set.Ctx
}

// WithContext returns a copy with the context.
func (o *options[S, R]) WithContext(ctx context.Context) *S {
	c := *o.whole()
	(*options[S, R])(unsafe.Pointer(&c)).set.Ctx = ctx
	return &c
}

// Trace enables tracing by the server.
func (o *options[S, R]) Trace(trace vecql.Tracer) *S { o.set.Trace = trace; return o.whole() }

// DefaultTimestamp sets whether the client sets the time of a write.
func (o *options[S, R]) DefaultTimestamp(enable bool) *S { o.set.Timestamps = enable; return o.whole() }

// WithTimestamp sets the time of the write, in microseconds since the epoch.
func (o *options[S, R]) WithTimestamp(timestamp int64) *S {
	o.set.Timestamps, o.set.Timestamp = true, timestamp
	return o.whole()
}

// RetryPolicy sets the retry policy. The package comment of the module describes nil.
func (o *options[S, R]) RetryPolicy(r R) *S { o.set.Retry = r; return o.whole() }

// A Statement is what a query has besides its Settings.
type Statement[C any] struct {
	Text         string
	Values       []any
	Cons         C
	PageSize     int
	PageState    []byte
	ManualPaging bool
	Prefetch     float64
	RoutingKey   []byte
	Payload      map[string][]byte
	Idempotent   bool
	AllMetadata  bool // each page has the metadata of the result
}

// Query are the setters of queries.
type Query[S, R, C any] = query[S, R, C]

type query[S, R, C any] struct {
	options[S, R]

	st  Statement[C]
	run func(*S) RowReader // runs the query; nil for a query that no session made
}

// StatementOf returns what a query has besides its settings.
func StatementOf[S, R, C any](q *Query[S, R, C]) *Statement[C] { return &q.st }

// SetRun sets the function that runs a query.
func SetRun[S, R, C any](q *Query[S, R, C], run func(*S) RowReader) { q.run = run }

// Statement returns the text.
func (q query[S, R, C]) Statement() string { return q.st.Text }

// Values returns the bound values.
func (q query[S, R, C]) Values() []any { return q.st.Values }

// String returns the statement, its values and its consistency.
func (q query[S, R, C]) String() string {
	return fmt.Sprintf("[query statement=%q values=%+v consistency=%v]", q.st.Text, q.st.Values, q.st.Cons)
}

// Consistency sets the consistency.
func (q *query[S, R, C]) Consistency(c C) *S { q.st.Cons = c; return q.whole() }

// SetConsistency is Consistency without a result.
func (q *query[S, R, C]) SetConsistency(c C) { q.st.Cons = c }

// GetConsistency returns the consistency.
func (q *query[S, R, C]) GetConsistency() C { return q.st.Cons }

// CustomPayload sets the custom payload of the request.
func (q *query[S, R, C]) CustomPayload(customPayload map[string][]byte) *S {
	q.st.Payload = customPayload
	return q.whole()
}

// PageSize sets the number of rows of a page; 0 or less means no paging.
func (q *query[S, R, C]) PageSize(n int) *S { q.st.PageSize = n; return q.whole() }

// PageState sets the page at which the result begins, and limits the result to that page. nil is the first page.
func (q *query[S, R, C]) PageState(state []byte) *S {
	q.st.PageState, q.st.ManualPaging = state, true
	return q.whole()
}

// Prefetch sets the share of a page that is left when the next page is requested.
func (q *query[S, R, C]) Prefetch(p float64) *S { q.st.Prefetch = p; return q.whole() }

// NoSkipMetadata makes the server send the metadata of the result with each page.
func (q *query[S, R, C]) NoSkipMetadata() *S { q.st.AllMetadata = true; return q.whole() }

// SetSpeculativeExecutionPolicy sets the policy of further executions, which applies to an idempotent query.
func (q *query[S, R, C]) SetSpeculativeExecutionPolicy(sp vecql.SpeculativeExecutionPolicy) *S {
	q.set.Spec = sp
	return q.whole()
}

// Idempotent sets whether the statement is safe to execute twice.
func (q *query[S, R, C]) Idempotent(value bool) *S { q.st.Idempotent = value; return q.whole() }

// IsIdempotent reports whether the query is marked idempotent.
func (q *query[S, R, C]) IsIdempotent() bool { return q.st.Idempotent }

// RoutingKey sets the serialized partition key.
func (q *query[S, R, C]) RoutingKey(routingKey []byte) *S {
	q.st.RoutingKey = routingKey
	return q.whole()
}

// ConfigureQuery applies the settings of a query to a query of vecql, except for its policies and observer.
func ConfigureQuery[S, R any, C ~uint16](q *Query[S, R, C], v *vecql.Query) {
	o, s := &q.set, &q.st
	v.Consistency(cql.Consistency(s.Cons)).SerialConsistency(o.Serial).PageSize(s.PageSize).Prefetch(s.Prefetch).
		CustomPayload(s.Payload).ServerTimestamps(!o.Timestamps)
	if o.Timestamps && o.Timestamp != 0 {
		v.Timestamp(o.Timestamp)
	}
	if s.ManualPaging {
		v.PageState(s.PageState)
	}
	if s.RoutingKey != nil {
		v.RoutingKey(s.RoutingKey)
	}
	if s.AllMetadata {
		v.SkipMetadata(false)
	}
	if o.Trace != nil {
		v.Trace(o.Trace)
	}
}

// ConfigureBatch applies the settings of a batch to a batch of vecql, except for its policies and observer.
func ConfigureBatch[S, R any](b *Options[S, R], v *vecql.Batch) {
	o := &b.set
	v.SerialConsistency(o.Serial).ServerTimestamps(!o.Timestamps)
	if o.Timestamps && o.Timestamp != 0 {
		v.Timestamp(o.Timestamp)
	}
	if o.Trace != nil {
		v.Trace(o.Trace)
	}
}
