// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// Query: a statement with its values and options.

// A Query is a statement with its values and options. A setter modifies the query and returns it.
type Query struct {
	query   // the first field: see package api
	session *Session
}

type query = api.QueryV1[Query, RetryPolicy, Consistency, HostInfo, ColumnInfo]

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

// SerialConsistency sets the consistency of the Paxos phase of a conditional statement.
func (q *Query) SerialConsistency(cons SerialConsistency) *Query {
	api.SettingsOf(q).Serial = cql.Consistency(cons)
	return q
}

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

// An Iter reads the rows of a result, in this API's meaning (compat.Rows).
type Iter struct{ iter }

type iter = api.Iter[HostInfo, ColumnInfo]

// Scanner returns a Scanner of the remaining rows, nil for nil.
func (it *Iter) Scanner() Scanner {
	if it == nil {
		return nil
	}
	return it.iter.Scanner()
}
