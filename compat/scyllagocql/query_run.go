// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// The verbs of Query. Each execution makes a query of vecql with the options of the moment.

// Exec runs the query and discards its rows.
func (q *Query) Exec() error {
	_, st := api.QueryOf(&q.query)
	s, err := q.session.started()
	if err != nil {
		return err
	}
	r := newExecution(q, api.SettingsOfQuery(&q.query), &q.counted, q.observer != nil)
	began := time.Now()
	var v *vecql.Query // on the stack, as in a program for vecql, and without the memory of an Iter
	if q.binding != nil {
		v = s.Bind(st.Text, q.session.binding(q.binding))
	} else {
		v = s.Query(st.Text, dialect.Bind(st.Values)...)
	}
	q.configure(v, r)
	info, err := v.ExecInfoContext(q.session.requestContext(q.Context(), q))
	own := api.Finish(r.counts(), &q.counted, began, info, err)
	r.setConsistency()
	if !q.quiet {
		q.session.warn(q, info.Host, info.Warnings)
	}
	return outcome(err, own, q.IsIdempotent())
}

// Iter runs the query. Iter.Close returns its error.
func (q *Query) Iter() *Iter {
	s, err := q.session.started()
	if err != nil {
		return failedIter(err)
	}
	r := newExecution(q, api.SettingsOfQuery(&q.query), &q.counted, q.observer != nil)
	of := q.build(s, r).IterContext(q.session.requestContext(q.Context(), q))
	it := newIter(q.session, of, q.IsIdempotent(), r.finish(&q.counted, of.Attempts(), of.Latency()))
	if !q.quiet {
		q.session.warn(q, of.Host(), of.Warnings())
	}
	return it
}

// build returns the query of vecql for an execution. r may be nil.
func (q *Query) build(s *vecql.Session, r *execution) *vecql.Query {
	_, st := api.QueryOf(&q.query)
	var v *vecql.Query
	if q.binding != nil {
		v = s.Bind(st.Text, q.session.binding(q.binding))
	} else {
		v = s.Query(st.Text, dialect.Bind(st.Values)...)
	}
	q.configure(v, r)
	return v
}

// configure applies the options of the query to that of vecql.
func (q *Query) configure(v *vecql.Query, r *execution) {
	api.ConfigureQuery(&q.query, v)
	set := api.SettingsOfQuery(&q.query)
	if q.IsIdempotent() {
		v.Idempotent(true)
		if set.Spec != nil {
			v.SpeculativeExecutionPolicy(set.Spec)
		}
	}
	if timeout, ok := q.timeoutFor(q.Context(), q.session); ok {
		v.RequestTimeout(timeout)
	}
	if q.hostID != "" {
		v.HostID(q.hostID)
	}
	if q.keyspace != "" {
		v.Keyspace(q.keyspace)
	}
	if q.now != nil {
		v.NowInSeconds(int32(*q.now))
	}
	if r != nil && r.Observed {
		v.Observer(queryObserver{r, q})
	}
	if r != nil && set.Retry != nil {
		v.RetryPolicy(r)
	}
}

// binding adapts a function that returns the values of a statement.
func (s *Session) binding(bind func(q *QueryInfo) ([]any, error)) func(vecql.StatementMetadata) ([]any, error) {
	return func(m vecql.StatementMetadata) ([]any, error) {
		proto := s.proto()
		values, err := bind(&QueryInfo{
			Id: m.ID, Args: fromColumns(m.BindMarkers, proto), Rval: fromColumns(m.ResultColumns, proto),
			PKeyColumns: m.PartitionKey,
		})
		return dialect.Bind(values), api.FromProgram(err)
	}
}

// outcome returns the error of this API for an error of a request. own is the error of the program's retry policy, in
// place of that of the request. A schema change that the nodes do not agree on yet is a success.
func outcome(err, own error, idempotent bool) error {
	switch {
	case err == nil:
		return nil
	case own != nil:
		return own
	case notAgreed(err):
		return nil
	}
	return sentError(err, idempotent)
}

// notAgreed reports whether the error of a schema change means only that the nodes do not agree yet.
func notAgreed(err error) bool { return errors.Is(err, vecql.ErrSchemaAgreement) }
