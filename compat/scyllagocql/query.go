// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"
	"unsafe"

	api "github.com/vecql/vecql/compat/api"
)

// Query: a statement with its values and options. query_run.go has its verbs.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query // the first field: see package api
	counted
	options

	session  *Session
	binding  func(q *QueryInfo) ([]any, error) // returns the values; nil means that the query has them
	observer QueryObserver
	quiet    bool // warnings are not handled
}

type (
	query   = api.Query[Query, RetryPolicy, Consistency]
	counted = api.Counted[*HostInfo]
)

const _ = -unsafe.Offsetof(Query{}.query) - unsafe.Offsetof(Batch{}.batch) // does not compile unless it is 0

// options are the options of queries and batches that this API has beside those of package api.
type options struct {
	hostID    string        // of the node to use; "" means any
	timeout   time.Duration // of an attempt; 0 means none
	keyspace  string        // "" means that of the session
	now       *int          // in seconds, for the expiration of cells; nil means the time of the server
	attempted int           // attempts of the execution, in a copy for a RetryPolicy
	lwt       bool          // the request is conditional, in a copy for a RetryPolicy
}

// attempts returns the attempts of all executions so far, in a copy for a RetryPolicy those of the execution.
func (o *options) attempts(c *counted) int {
	if o.attempted > 0 {
		return o.attempted
	}
	return c.Attempts()
}

// timeoutFor returns the timeout of an attempt and reports whether it is not that of vecql's session, which applies to
// contexts without a deadline only.
func (o *options) timeoutFor(ctx context.Context, s *Session) (time.Duration, bool) {
	_, deadline := ctx.Deadline()
	return api.OrNever(o.timeout), deadline || o.timeout != s.cfg.Timeout
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
		m api.Metrics
	}{} // one allocation
	q := &made.q
	q.session, q.observer, q.timeout = s, s.cfg.QueryObserver, s.cfg.Timeout
	api.SetMetrics(&q.counted, &made.m)
	api.SetRun(&q.query, func(q *Query) api.RowReader { return q.Iter() })
	set, st := api.QueryOf(&q.query)
	st.Text, st.Values = stmt, values
	st.Idempotent, st.AllMetadata = s.cfg.DefaultIdempotence, s.cfg.DisableSkipMetadata
	set.Timestamps, set.Retry, set.Serial = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy, s.cfg.SerialConsistency
	api.SetQueryDefaults(&s.defaults, &q.query)
	return q
}

// QueryWithContext is Query with a context.
func (s *Session) QueryWithContext(ctx context.Context, stmt string, values ...any) *Query {
	q := s.Query(stmt, values...)
	api.SettingsOfQuery(&q.query).Ctx = ctx
	return q
}

// Bind returns a query of stmt that calls b for its values each time it runs.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = b
	return q
}

// Bind replaces the values. It also ends manual paging's position: the query begins at the first page.
func (q *Query) Bind(v ...any) *Query {
	_, st := api.QueryOf(&q.query)
	st.Values, st.PageState = v, nil
	return q
}

// SerialConsistency sets the consistency of the Paxos phase of a conditional statement.
func (q *Query) SerialConsistency(cons Consistency) *Query {
	api.SettingsOfQuery(&q.query).Serial = cons
	return q
}

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { q.observer = observer; return q }

// Release does nothing: the query needs no release, and may be used after it.
func (q *Query) Release() {}

// Attempts returns the number of attempts of all executions of the query so far.
func (q *Query) Attempts() int { return q.attempts(&q.counted) }

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
