// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"bytes"
	"context"
	"fmt"
	"time"
	"unsafe"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/compat"
	"github.com/vecql/vecql/cql"
)

// The setters of queries and batches. A module's Query embeds Query as its first field, its Batch embeds Options. S is
// that type, which a setter returns, R the module's RetryPolicy, C its Consistency. The fields are reached by
// functions, because exported ones would be fields of the module's types.

// Settings are the options of a query or a batch. They are small, because each query of a program is on the heap.
type Settings[R any] struct {
	Ctx        context.Context // nil means context.Background
	Shared     *Rare[R]        // immutable; nil means the zero value
	Serial     cql.Consistency
	Timestamps bool // the client sets the time of a write
}

// Rare are the options that most requests share with their session. The options below Timestamp are of queries only,
// except for HostID, Timeout and Now, and Keyspace, which batches of v1.7 and the fork have too.
type Rare[R any] struct {
	Retry     R
	Trace     vecql.Tracer
	Spec      vecql.SpeculativeExecutionPolicy // nil means none
	Timestamp int64                            // in microseconds; 0 means the current time

	Observer     any // a module's QueryObserver; nil means none
	Binding      any // a Binding, which returns the values; nil means that the query has them
	PageSize     int
	Prefetch     float64
	PageState    []byte
	RoutingKey   []byte
	Payload      map[string][]byte
	ManualPaging bool
	AllMetadata  bool // each page has the metadata of the result

	HostID   string         // of the node to use; "" means any
	Keyspace string         // "" means the session's
	Timeout  *time.Duration // of an attempt, 0 for none; nil means the session's
	Now      *int           // in seconds, for the expiration of cells; nil means the time of the server
}

// Rare returns the rare options, which must not be changed.
func (s *Settings[R]) Rare() *Rare[R] {
	if s.Shared == nil {
		return new(Rare[R])
	}
	return s.Shared
}

// Change calls set on a copy of the rare options and stores the copy.
func (s *Settings[R]) Change(set func(o *Rare[R])) {
	o := *s.Rare()
	set(&o)
	s.Shared = &o
}

// Options are the setters that queries and batches share.
type Options[S, R any] = options[S, R]

type options[S, R any] struct{ set Settings[R] }

// A Set is a query or a batch. R is the module's RetryPolicy.
type Set[R any] interface{ settings() *Settings[R] }

func (o *options[S, R]) settings() *Settings[R] { return &o.set }

// SettingsOf returns the options of a query or a batch.
func SettingsOf[R any](o Set[R]) *Settings[R] { return o.settings() }

// whole returns the query or batch whose first field is o.
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
func (o *options[S, R]) Trace(trace vecql.Tracer) *S {
	o.set.Change(func(r *Rare[R]) { r.Trace = trace })
	return o.whole()
}

// DefaultTimestamp sets whether the client sets the time of a write.
func (o *options[S, R]) DefaultTimestamp(enable bool) *S { o.set.Timestamps = enable; return o.whole() }

// WithTimestamp sets the time of the write, in microseconds since the epoch.
func (o *options[S, R]) WithTimestamp(timestamp int64) *S {
	o.set.Timestamps = true
	o.set.Change(func(r *Rare[R]) { r.Timestamp = timestamp })
	return o.whole()
}

// RetryPolicy sets the retry policy. The package comment of the module describes nil.
func (o *options[S, R]) RetryPolicy(r R) *S {
	o.set.Change(func(o *Rare[R]) { o.Retry = r })
	return o.whole()
}

// A Statement is what a query has besides its Settings.
type Statement[C any] struct {
	Text       string
	Values     compat.Values
	Cons       C
	Idempotent bool
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

// WithContext returns a copy with the context.
func (q *query[S, R, C]) WithContext(ctx context.Context) *S {
	c := q.options.WithContext(ctx)
	(*query[S, R, C])(unsafe.Pointer(c)).st.Values.Own()
	return c
}

// Statement returns the text.
func (q query[S, R, C]) Statement() string { return q.st.Text }

// Values returns the bound values.
func (q query[S, R, C]) Values() []any { return q.st.Values.Get() }

// String returns the statement, its values and its consistency.
func (q query[S, R, C]) String() string {
	return fmt.Sprintf("[query statement=%q values=%+v consistency=%v]", q.st.Text, q.Values(), q.st.Cons)
}

// Consistency sets the consistency.
func (q *query[S, R, C]) Consistency(c C) *S { q.st.Cons = c; return q.whole() }

// SetConsistency sets the consistency level.
func (q *query[S, R, C]) SetConsistency(c C) { q.st.Cons = c }

// GetConsistency returns the consistency.
func (q *query[S, R, C]) GetConsistency() C { return q.st.Cons }

// CustomPayload sets the custom payload of the request.
func (q *query[S, R, C]) CustomPayload(customPayload map[string][]byte) *S {
	q.set.Change(func(o *Rare[R]) { o.Payload = customPayload })
	return q.whole()
}

// PageSize sets the number of rows of a page; 0 or less means no paging.
func (q *query[S, R, C]) PageSize(n int) *S {
	q.set.Change(func(o *Rare[R]) { o.PageSize = n })
	return q.whole()
}

// PageState sets the page at which the result begins, and limits the result to that page. A state without bytes is the
// first page.
func (q *query[S, R, C]) PageState(state []byte) *S {
	if len(state) == 0 {
		state = nil
	}
	q.set.Change(func(o *Rare[R]) { o.PageState, o.ManualPaging = state, true })
	return q.whole()
}

// Prefetch sets the share of a page that is left when the next page is requested.
func (q *query[S, R, C]) Prefetch(p float64) *S {
	q.set.Change(func(o *Rare[R]) { o.Prefetch = p })
	return q.whole()
}

// NoSkipMetadata makes the server send the metadata of the result with each page.
func (q *query[S, R, C]) NoSkipMetadata() *S {
	q.set.Change(func(o *Rare[R]) { o.AllMetadata = true })
	return q.whole()
}

// SetSpeculativeExecutionPolicy sets the policy of further executions, which applies to an idempotent query.
func (q *query[S, R, C]) SetSpeculativeExecutionPolicy(sp vecql.SpeculativeExecutionPolicy) *S {
	q.set.Change(func(o *Rare[R]) { o.Spec = sp })
	return q.whole()
}

// Idempotent sets whether the statement is safe to execute twice.
func (q *query[S, R, C]) Idempotent(value bool) *S { q.st.Idempotent = value; return q.whole() }

// IsIdempotent reports whether the query is marked idempotent.
func (q *query[S, R, C]) IsIdempotent() bool { return q.st.Idempotent }

// RoutingKey sets the serialized partition key.
func (q *query[S, R, C]) RoutingKey(routingKey []byte) *S {
	q.set.Change(func(o *Rare[R]) { o.RoutingKey = routingKey })
	return q.whole()
}

// ConfigureQuery applies the settings of a query to a query of vecql, except for its policies and observer.
func ConfigureQuery[S, R any, C ~uint16](q *Query[S, R, C], v *vecql.Query) {
	o := q.set.Rare()
	v.Consistency(cql.Consistency(q.st.Cons)).SerialConsistency(q.set.Serial).PageSize(o.PageSize).Prefetch(o.Prefetch).
		CustomPayload(o.Payload).ServerTimestamps(!q.set.Timestamps)
	if q.set.Timestamps && o.Timestamp != 0 {
		v.Timestamp(o.Timestamp)
	}
	if o.ManualPaging {
		v.PageState(o.PageState)
	}
	if o.RoutingKey != nil {
		v.RoutingKey(o.RoutingKey)
	}
	if o.AllMetadata {
		v.SkipMetadata(false)
	}
	if o.Trace != nil {
		v.Trace(o.Trace)
	}
	if o.HostID != "" {
		v.HostID(nodeOf(o.HostID))
	}
}

// ConfigureBatch applies the settings of a batch to a batch of vecql, except for its policies and observer.
func ConfigureBatch[S, R any](b *Options[S, R], v *vecql.Batch) {
	o := b.set.Rare()
	v.SerialConsistency(b.set.Serial).ServerTimestamps(!b.set.Timestamps)
	if b.set.Timestamps && o.Timestamp != 0 {
		v.Timestamp(o.Timestamp)
	}
	if o.Trace != nil {
		v.Trace(o.Trace)
	}
}

// nodeOf returns the id of a node from its text, zero from an empty one. No node has the id of another text.
func nodeOf(text string) cql.UUID {
	if text == "" {
		return cql.UUID{}
	}
	id, err := cql.ParseUUID(text)
	if err != nil || id == (cql.UUID{}) {
		return noNode
	}
	return id
}

// noNode is a host id that no node has.
var noNode = cql.UUID(bytes.Repeat([]byte{0xFF}, 16))
