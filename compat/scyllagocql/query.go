// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"
	"unsafe"

	api "github.com/vecql/vecql/compat/api"
)

// Query: a statement with its values and options. Package api has what it shares with v1.7.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query // the first field: see package api
	retried

	session *Session
	quiet   bool // warnings are not handled
}

type query = api.QueryV1[Query, RetryPolicy, Consistency, HostInfo, ColumnInfo]

const _ = -unsafe.Offsetof(Query{}.query) - unsafe.Offsetof(Batch{}.batch) // does not compile unless it is 0

// Query returns a query of stmt. values are the values of its bind markers.
func (s *Session) Query(stmt string, values ...any) *Query {
	made := &struct {
		q Query
		m api.Metrics
	}{} // one allocation
	q := &made.q
	q.session = s
	api.StartQuery(&q.query, &s.core, &made.m, func(q *Query) api.RowReader { return q.Iter() }, stmt, values)
	return q
}

// QueryWithContext returns a query with a context.
func (s *Session) QueryWithContext(ctx context.Context, stmt string, values ...any) *Query {
	q := s.Query(stmt, values...)
	api.SettingsOf(q).Ctx = ctx
	return q
}

// Bind returns a query of stmt that calls b for its values each time it runs.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	api.BindBy(q, b)
	return q
}

// SerialConsistency sets the consistency of the Paxos phase of a conditional statement.
func (q *Query) SerialConsistency(cons Consistency) *Query { api.SettingsOf(q).Serial = cons; return q }

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { api.SetObserver(q, observer); return q }

// Attempts returns the number of attempts of all executions of the query so far.
func (q *Query) Attempts() int { return q.attempts(q.query.Attempts()) }

// GetSession returns the session.
func (q *Query) GetSession() *Session { return q.session }

// SetHostID sends the query to the node with this id only; "" means any node.
func (q *Query) SetHostID(hostID string) *Query { api.SetHost(q, hostID); return q }

// GetHostID returns what SetHostID set.
func (q *Query) GetHostID() string { return api.HostOf(q) }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (q *Query) SetRequestTimeout(timeout time.Duration) *Query { api.SetTimeout(q, timeout); return q }

// GetRequestTimeout returns the timeout of an attempt.
func (q *Query) GetRequestTimeout() time.Duration { return api.TimeoutOf(q, q.session.timeout()) }

// SetKeyspace sets the keyspace of the query. It needs version 5 of the protocol.
func (q *Query) SetKeyspace(keyspace string) *Query { api.SetKeyspace(q, keyspace); return q }

// WithNowInSeconds sets the time at which the server evaluates the expiration of cells. It needs version 5 of the
// protocol.
func (q *Query) WithNowInSeconds(now int) *Query { api.SetNow(q, now); return q }

// IsLWT reports whether the query is conditional, as far as that is known: if it was executed, or by its consistency.
func (q *Query) IsLWT() bool {
	return q.lwt || q.GetConsistency().IsSerial() || api.KnownRoute(&q.query).LWT
}

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (q *Query) GetCustomPartitioner() Partitioner { return nil }

func (q *Query) execution() *api.Execution {
	o := api.SettingsOf(q).Rare()
	return q.session.newExecution(q, o.Retry, o.Observer != nil)
}

// Exec runs the query and discards its rows.
func (q *Query) Exec() error { return api.Exec(&q.query, q.execution()) }

// Iter runs the query. Iter.Close returns its error.
func (q *Query) Iter() *Iter {
	it := &Iter{}
	api.RunQuery(&q.query, q.execution(), &it.iter)
	return it
}
