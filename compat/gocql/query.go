// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"unsafe"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Query: a statement with its values and options. query_run.go has its verbs.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query // the first field: see package api
	counted

	session  *Session
	binding  func(q *QueryInfo) ([]any, error) // returns the values; nil means that the query has them
	observer QueryObserver
}

type (
	query   = api.Query[Query, RetryPolicy, Consistency]
	counted = api.Counted[*HostInfo]
)

const _ = -unsafe.Offsetof(Query{}.query) - unsafe.Offsetof(Batch{}.batch) // does not compile unless it is 0

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
	q.session, q.observer = s, s.cfg.QueryObserver
	api.SetMetrics(&q.counted, &made.m)
	api.SetRun(&q.query, func(q *Query) api.RowReader { return q.Iter() })
	set, st := api.QueryOf(&q.query)
	st.Text, st.Values = stmt, values
	st.Idempotent, st.AllMetadata = s.cfg.DefaultIdempotence, s.cfg.DisableSkipMetadata
	set.Timestamps, set.Retry = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy
	set.Serial = cql.Consistency(s.cfg.SerialConsistency)
	api.SetQueryDefaults(&s.defaults, &q.query)
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
func (q *Query) SerialConsistency(cons SerialConsistency) *Query {
	set, _ := api.QueryOf(&q.query)
	set.Serial = cql.Consistency(cons)
	return q
}

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { q.observer = observer; return q }

// Release does nothing: the query needs no release, and may be used after it.
func (q *Query) Release() {}
