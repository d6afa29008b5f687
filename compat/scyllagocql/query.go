// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"fmt"
	"time"
)

// Query: a statement with its values and options. query_run.go has its verbs.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	session *Session
	stmt    string
	values  []any
	binding func(q *QueryInfo) ([]any, error) // returns the values; nil means that values holds them
	options
	pageSize       int
	pageState      []byte
	manualPaging   bool
	prefetch       float64
	routingKey     []byte
	idempotent     bool
	payload        map[string][]byte
	observer       QueryObserver
	noSkipMetadata bool
	quiet          bool // warnings are not handled
}

// options are the options that Query and Batch share.
type options struct {
	cons       Consistency
	serialCons Consistency
	trace      Tracer
	retry      RetryPolicy
	spec       SpeculativeExecutionPolicy // nil means none
	timestamps bool                       // the client sets the time of a write
	timestamp  int64                      // in microseconds; 0 means the current time
	ctx        context.Context            // nil means context.Background
	metrics    *metrics                   // shared by copies
	hostID     string                     // of the node to use; "" means any
	keyspace   string                     // "" means that of the session
	timeout    time.Duration              // of an attempt; 0 means none
	attempted  int                        // attempts of the execution, in a copy for a RetryPolicy
	lwt        bool                       // the request is conditional, in a copy for a RetryPolicy
	now        *int                       // in seconds, for the expiration of cells; nil means the time of the server
}

func (o *options) context() context.Context {
	if o.ctx == nil {
		return context.Background()
	}
	return o.ctx
}

// attempts returns the attempts of all executions so far, in a copy for a RetryPolicy those of the execution.
func (o *options) attempts() int {
	if o.attempted > 0 {
		return o.attempted
	}
	return o.metrics.attempts()
}

// A QueryInfo describes a prepared statement.
type QueryInfo struct {
	Id          []byte
	Args        []ColumnInfo
	Rval        []ColumnInfo
	PKeyColumns []int
}

// Query returns a query of stmt. values are the values of its bind markers.
func (s *Session) Query(stmt string, values ...any) *Query {
	made := &struct {
		q Query
		m metrics
	}{} // one allocation
	q := &made.q
	q.session, q.stmt, q.values = s, stmt, values
	q.metrics = &made.m
	q.timestamps, q.idempotent = s.cfg.DefaultTimestamp, s.cfg.DefaultIdempotence
	q.retry, q.serialCons, q.observer = s.cfg.RetryPolicy, s.cfg.SerialConsistency, s.cfg.QueryObserver
	q.noSkipMetadata, q.timeout = s.cfg.DisableSkipMetadata, s.cfg.Timeout
	s.mu.RLock()
	q.cons, q.pageSize, q.prefetch, q.trace = s.cons, s.pageSize, s.prefetch, s.trace
	s.mu.RUnlock()
	return q
}

// QueryWithContext is Query with a context.
func (s *Session) QueryWithContext(ctx context.Context, stmt string, values ...any) *Query {
	q := s.Query(stmt, values...)
	q.ctx = ctx
	return q
}

// Bind returns a query of stmt that calls b for its values each time it runs.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = b
	return q
}

// Statement returns the text.
func (q Query) Statement() string { return q.stmt }

// Values returns the bound values.
func (q Query) Values() []any { return q.values }

// String returns the statement, its values and its consistency.
func (q Query) String() string {
	return fmt.Sprintf("[query statement=%q values=%+v consistency=%s]", q.stmt, q.values, q.cons)
}

// Bind replaces the values. It also ends manual paging's position: the query begins at the first page.
func (q *Query) Bind(v ...any) *Query {
	q.values, q.pageState = v, nil
	return q
}

// Consistency sets the consistency.
func (q *Query) Consistency(c Consistency) *Query { q.cons = c; return q }

// SetConsistency is Consistency without a result.
func (q *Query) SetConsistency(c Consistency) { q.cons = c }

// GetConsistency returns the consistency.
func (q *Query) GetConsistency() Consistency { return q.cons }

// SerialConsistency sets the consistency of the Paxos phase of a conditional statement.
func (q *Query) SerialConsistency(cons Consistency) *Query { q.serialCons = cons; return q }

// CustomPayload sets the custom payload of the request.
func (q *Query) CustomPayload(customPayload map[string][]byte) *Query {
	q.payload = customPayload
	return q
}

// Context returns the context of the query.
func (q *Query) Context() context.Context { return q.context() }

// WithContext returns a copy of the query with the context.
func (q *Query) WithContext(ctx context.Context) *Query {
	c := *q
	c.ctx = ctx
	return &c
}

// Cancel does nothing.
//
// Deprecated: cancel the context.
func (q *Query) Cancel() {}

// Release does nothing: the query needs no release, and may be used after it.
func (q *Query) Release() {}

// Trace enables tracing by the server.
func (q *Query) Trace(trace Tracer) *Query { q.trace = trace; return q }

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { q.observer = observer; return q }

// PageSize sets the number of rows of a page; 0 or less means no paging.
func (q *Query) PageSize(n int) *Query { q.pageSize = n; return q }

// PageState sets the page at which the result begins, and limits the result to that page.
func (q *Query) PageState(state []byte) *Query {
	q.pageState, q.manualPaging = state, true
	return q
}

// Prefetch sets the share of a page that is left when the next page is requested.
func (q *Query) Prefetch(p float64) *Query { q.prefetch = p; return q }

// NoSkipMetadata makes the server send the metadata of the result with each page.
func (q *Query) NoSkipMetadata() *Query { q.noSkipMetadata = true; return q }

// DefaultTimestamp sets whether the client sets the time of a write.
func (q *Query) DefaultTimestamp(enable bool) *Query { q.timestamps = enable; return q }

// WithTimestamp sets the time of the write, in microseconds since the epoch.
func (q *Query) WithTimestamp(timestamp int64) *Query {
	q.timestamps, q.timestamp = true, timestamp
	return q
}

// RetryPolicy sets the retry policy; nil means SimpleRetryPolicy with 3 retries.
func (q *Query) RetryPolicy(r RetryPolicy) *Query { q.retry = r; return q }

// SetSpeculativeExecutionPolicy sets the policy of further executions.
func (q *Query) SetSpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Query {
	q.spec = sp
	return q
}

// Idempotent sets whether the statement is safe to execute twice.
func (q *Query) Idempotent(value bool) *Query { q.idempotent = value; return q }

// IsIdempotent reports whether the query is marked idempotent.
func (q *Query) IsIdempotent() bool { return q.idempotent }

// RoutingKey sets the serialized partition key.
func (q *Query) RoutingKey(routingKey []byte) *Query { q.routingKey = routingKey; return q }

// Attempts returns the number of attempts of all executions of the query so far.
func (q *Query) Attempts() int { return q.attempts() }

// AddAttempts adds to the number of attempts on a node.
func (q *Query) AddAttempts(i int, host *HostInfo) { q.metrics.observe(host, i, 0) }

// Latency returns the mean latency of the attempts in nanoseconds.
func (q *Query) Latency() int64 { return q.metrics.latency() }

// AddLatency adds to the latency of the attempts on a node, in nanoseconds.
func (q *Query) AddLatency(l int64, host *HostInfo) { q.metrics.observe(host, 0, l) }

// GetSession returns the session.
func (q *Query) GetSession() *Session { return q.session }

// SetHostID sends the query to the node with this id only; "" means any node.
func (q *Query) SetHostID(hostID string) *Query { q.hostID = hostID; return q }

// GetHostID returns what SetHostID set.
func (q *Query) GetHostID() string { return q.hostID }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (q *Query) SetRequestTimeout(timeout time.Duration) *Query { q.timeout = timeout; return q }

// GetRequestTimeout returns the timeout of an attempt.
func (q *Query) GetRequestTimeout() time.Duration { return q.timeout }

// SetKeyspace sets the keyspace of the query. It needs version 5 of the protocol.
func (q *Query) SetKeyspace(keyspace string) *Query { q.keyspace = keyspace; return q }

// WithNowInSeconds sets the time at which the server evaluates the expiration of cells. It needs version 5 of the
// protocol.
func (q *Query) WithNowInSeconds(now int) *Query { q.now = &now; return q }
