// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"unsafe"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Query: a statement with its values and options. Package api has what it shares with the fork.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query   // the first field: see package api
	session *Session
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

// Bind returns a query of stmt that calls b for its values each time it runs.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	api.BindBy(q, b)
	return q
}

// SerialConsistency sets the consistency of the Paxos phase of a conditional statement.
func (q *Query) SerialConsistency(cons SerialConsistency) *Query {
	api.SettingsOf(q).Serial = cql.Consistency(cons)
	return q
}

// Observer sets the observer of the query's attempts.
func (q *Query) Observer(observer QueryObserver) *Query { api.SetObserver(q, observer); return q }

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
