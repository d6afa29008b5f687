// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"

	"github.com/vecql/vecql"
)

// Query: a statement with its values and options. query_run.go runs it.

// A Query is a statement with its values and options.
type Query struct {
	session *Session
	stmt    string
	values  []any
	binding func(q *QueryInfo) ([]any, error)
	options
	pageSize     int
	pageState    []byte
	manualPaging bool
	prefetch     float64
	allMetadata  bool // NoSkipMetadata
	routingKey   []byte
	hostID       string
	idempotent   bool
	payload      map[string][]byte
	consistency  Consistency
	observer     QueryObserver
	keyspace     string
}

// options are the options that queries and batches have in common.
type options struct {
	ctx               context.Context // of WithContext; nil means none
	serialConsistency Consistency
	defaultTimestamp  bool
	timestamp         int64 // microseconds; 0 means the clock
	nowInSeconds      *int
	trace             Tracer
	retry             RetryPolicy
	speculative       SpeculativeExecutionPolicy
}

func (s *Session) options() options {
	return options{
		serialConsistency: s.cfg.SerialConsistency, defaultTimestamp: s.cfg.DefaultTimestamp, trace: s.cfg.Tracer,
		retry: s.cfg.RetryPolicy,
	}
}

// Query returns a query with the session's options.
func (s *Session) Query(stmt string, values ...any) *Query {
	return &Query{
		session: s, stmt: stmt, values: values, options: s.options(), pageSize: s.cfg.PageSize,
		prefetch: s.cfg.NextPagePrefetch, idempotent: s.cfg.DefaultIdempotence, consistency: s.cfg.Consistency,
		observer: s.cfg.QueryObserver,
	}
}

// Bind returns a query whose values the function b returns when the statement has been prepared.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = b
	return q
}

// Statement returns the text of the statement.
func (q Query) Statement() string { return q.stmt }

// Values returns the bound values.
func (q Query) Values() []any { return q.values }

func (q Query) String() string {
	return fmt.Sprintf("[query statement=%q values=%+v consistency=%s]", q.stmt, q.values, q.consistency)
}

// Consistency sets the consistency.
func (q *Query) Consistency(c Consistency) *Query { q.consistency = c; return q }

// GetConsistency returns the consistency.
func (q *Query) GetConsistency() Consistency { return q.consistency }

// SetConsistency sets the consistency.
//
// Deprecated: use Consistency.
func (q *Query) SetConsistency(c Consistency) { q.consistency = c }

// CustomPayload sets the custom payload of the request.
func (q *Query) CustomPayload(customPayload map[string][]byte) *Query {
	q.payload = customPayload
	return q
}

// Context returns the context of WithContext.
//
// Deprecated: pass a context to the verbs.
func (q *Query) Context() context.Context { return orBackground(q.ctx) }

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Trace enables tracing and passes the tracing id to trace.
func (q *Query) Trace(trace Tracer) *Query { q.trace = trace; return q }

// Observer sets the observer of the query.
func (q *Query) Observer(observer QueryObserver) *Query { q.observer = observer; return q }

// PageSize sets the number of rows in a page; 0 means no paging.
func (q *Query) PageSize(n int) *Query { q.pageSize = n; return q }

// DefaultTimestamp sets whether the request carries the client's clock.
func (q *Query) DefaultTimestamp(enable bool) *Query { q.defaultTimestamp = enable; return q }

// WithTimestamp sets the write time in microseconds.
func (q *Query) WithTimestamp(timestamp int64) *Query {
	q.defaultTimestamp, q.timestamp = true, timestamp
	return q
}

// RoutingKey sets the key whose replicas receive the request.
func (q *Query) RoutingKey(routingKey []byte) *Query { q.routingKey = routingKey; return q }

// WithContext returns a copy of q that runs with ctx.
//
// Deprecated: pass a context to the verbs.
func (q *Query) WithContext(ctx context.Context) *Query {
	with := *q
	with.ctx = ctx
	return &with
}

// Keyspace returns the keyspace of the query or the session.
func (q *Query) Keyspace() string {
	if q.keyspace == "" && q.session != nil {
		return q.session.cfg.Keyspace
	}
	return q.keyspace
}

// Prefetch sets the share of a page that is left when the next page is requested.
func (q *Query) Prefetch(p float64) *Query { q.prefetch = p; return q }

// RetryPolicy sets the retry policy, which applies if the query is idempotent.
func (q *Query) RetryPolicy(r RetryPolicy) *Query { q.retry = r; return q }

// SetSpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the query is idempotent.
func (q *Query) SetSpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Query {
	q.speculative = sp
	return q
}

// IsIdempotent reports whether the query is marked idempotent.
func (q *Query) IsIdempotent() bool { return q.idempotent }

// Idempotent marks the query safe to execute twice.
func (q *Query) Idempotent(value bool) *Query { q.idempotent = value; return q }

// Bind sets the values.
func (q *Query) Bind(v ...any) *Query { q.values = v; return q }

// SerialConsistency sets the consistency of the Paxos phase. It panics for another level than Serial and LocalSerial.
func (q *Query) SerialConsistency(cons Consistency) *Query {
	q.serialConsistency = serial(cons)
	return q
}

func serial(c Consistency) Consistency {
	if !c.IsSerial() {
		panic("gocql: the serial consistency must be SERIAL or LOCAL_SERIAL, not " + c.String())
	}
	return c
}

// GetSerialConsistency returns the serial consistency and reports whether one is set.
func (q *Query) GetSerialConsistency() (Consistency, bool) {
	return q.serialConsistency, q.serialConsistency.IsSerial()
}

// PageState sets where the page begins and turns the following of pages off. nil is the first page.
func (q *Query) PageState(state []byte) *Query {
	q.pageState, q.manualPaging = state, true
	return q
}

// NoSkipMetadata requests the metadata of the result with each page.
func (q *Query) NoSkipMetadata() *Query { q.allMetadata = true; return q }

// SetHostID sends the query only to the node with that HostInfo.HostID.
func (q *Query) SetHostID(hostID string) *Query { q.hostID = hostID; return q }

// GetHostID returns the host id set by SetHostID.
func (q *Query) GetHostID() string { return q.hostID }

// SetKeyspace sets the keyspace of the query (protocol v5).
func (q *Query) SetKeyspace(keyspace string) *Query { q.keyspace = keyspace; return q }

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (q *Query) WithNowInSeconds(now int) *Query { q.nowInSeconds = &now; return q }

// timeout returns the timeout of each attempt for a context with a deadline beyond it; 0 means that the deadline or
// ClusterConfig.Timeout bounds the attempts.
func (s *Session) timeout(ctx context.Context) time.Duration {
	if end, ok := ctx.Deadline(); ok && s.cfg.Timeout > 0 && time.Until(end) > s.cfg.Timeout {
		return s.cfg.Timeout
	}
	return 0
}

// hasOptionsOfV5 reports whether the session's protocol version has keyspaces and clocks of requests. The API ignores
// both options with an older version.
func (s *Session) hasOptionsOfV5() bool { return s.driver.ProtoVersion() >= 5 }

// build returns the query of vecql.
func (q *Query) build(ctx context.Context) *vecql.Query {
	s := q.session
	var d *vecql.Query
	if q.binding != nil {
		d = s.driver.Bind(q.stmt, s.binding(q.binding))
	} else {
		d = s.driver.Query(q.stmt, s.bind(q.values)...)
	}
	q.configure(ctx, d)
	return d
}

// configure applies the options of the query to that of vecql.
func (q *Query) configure(ctx context.Context, d *vecql.Query) {
	s := q.session
	d.Consistency(q.consistency).SerialConsistency(q.serialConsistency).ServerTimestamps(!q.defaultTimestamp).
		Idempotent(q.idempotent).PageSize(q.pageSize).Prefetch(q.prefetch).HostID(q.hostID).CustomPayload(q.payload).
		SkipMetadata(!q.allMetadata && !s.cfg.DisableSkipMetadata).RoutingKey(q.routingKey)
	if q.defaultTimestamp && q.timestamp != 0 {
		d.Timestamp(q.timestamp)
	}
	if q.manualPaging {
		d.PageState(q.pageState)
	}
	if q.trace != nil {
		d.Trace(q.trace)
	}
	if s.hasOptionsOfV5() {
		if q.keyspace != s.cfg.Keyspace {
			d.Keyspace(q.keyspace)
		}
		if q.nowInSeconds != nil {
			d.NowInSeconds(int32(*q.nowInSeconds))
		}
	}
	if q.idempotent && q.retry != nil {
		d.RetryPolicy(retryAdapter{q.retry})
	}
	if q.speculative != nil && q.speculative.Attempts() > 0 {
		d.SpeculativeExecutionPolicy(q.speculative)
	}
	if q.observer != nil {
		d.Observer(queryObserver{q.observer, q})
	}
	if t := s.timeout(ctx); t > 0 {
		d.RequestTimeout(t)
	}
}
