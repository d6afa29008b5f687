// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"time"

	"github.com/vecql/vecql"
)

// Queries of v1.7 and the fork. Each execution makes a query of vecql with the options of the moment.

// A QueryInfo describes a prepared statement to a function that binds its values. I is a module's ColumnInfo.
type QueryInfo[I any] struct {
	Id          []byte
	Args        []I
	Rval        []I
	PKeyColumns []int
}

// A Binding returns the values of a prepared statement.
type Binding[I any] = func(q *QueryInfo[I]) ([]any, error)

// AdaptBinding returns b for vecql.
func AdaptBinding[H, I any](b Binding[I], r *Results[H, I]) func(vecql.StatementMetadata) ([]any, error) {
	return func(m vecql.StatementMetadata) ([]any, error) {
		values, err := b(&QueryInfo[I]{
			Id: m.ID, Args: r.Columns(m.BindMarkers), Rval: r.Columns(m.ResultColumns), PKeyColumns: m.PartitionKey,
		})
		return r.bind(values), FromProgram(err)
	}
}

// A QueryV1 is what the queries of both have. A module's Query embeds it as its first field. The parameters are those
// of Query and SessionV1.
type QueryV1[S, R any, C ~uint16, H, I any] struct {
	query[S, R, C]
	counted[H]
	target

	session *SessionV1[R, C, H, I] // nil for a query that no session made
	binding Binding[I]             // returns the values; nil means that the query has them
}

// StartQuery sets the session, the statement and the defaults of a query. m counts its attempts; run executes it.
func StartQuery[S, R any, C ~uint16, H, I any](
	q *QueryV1[S, R, C, H, I], s *SessionV1[R, C, H, I], m *Metrics, run func(*S) RowReader, stmt string, values []any,
) {
	q.session, q.metrics, q.run = s, m, run
	q.st.Text, q.st.Values, q.st.Idempotent, q.st.AllMetadata = stmt, values, s.Idempotent, s.AllMetadata
	q.set.Timestamps, q.set.Retry, q.set.Serial = s.Timestamps, s.Retry, s.Serial
	s.applyTo(&q.st, &q.set.Trace)
}

// BindBy sets the function that returns the values of a query each time it runs.
func BindBy[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I], b Binding[I]) { q.binding = b }

// Bind replaces the values. It also ends manual paging's position: the query begins at the first page.
func (q *QueryV1[S, R, C, H, I]) Bind(v ...any) *S {
	q.st.Values, q.st.PageState = v, nil
	return q.whole()
}

// Release does nothing: the query needs no release, and may be used after it.
func (q *QueryV1[S, R, C, H, I]) Release() {}

// Exec runs a query and discards its rows. r may be nil.
func Exec[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I], r *Execution) error {
	s, err := q.session.started()
	if err != nil {
		return err
	}
	r.countIn(q.metrics)
	began := time.Now()
	var v *vecql.Query // on the stack, as in a program for vecql, and without the memory of an Iter
	if q.binding != nil {
		v = s.Bind(q.st.Text, AdaptBinding(q.binding, q.session.Results))
	} else {
		v = s.Query(q.st.Text, q.session.bind(q.st.Values)...)
	}
	q.configure(v, r)
	info, err := v.ExecInfoContext(q.session.context(q.Context(), q.whole()))
	if err != nil {
		info.Attempts = attemptsOf(err)
	}
	own := r.finish(q.metrics, info.Attempts, time.Since(began)/time.Duration(max(info.Attempts, 1)))
	q.session.warn(q.whole(), info.Host, info.Warnings)
	return q.session.outcome(err, own, q.st.Idempotent)
}

// RunQuery runs a query. it receives its result or its error. r may be nil.
func RunQuery[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I], r *Execution, it *Iter[H, I]) {
	s, err := q.session.started()
	if err != nil {
		it.err = err
		return
	}
	r.countIn(q.metrics)
	of := q.build(s, r).IterContext(q.session.context(q.Context(), q.whole()))
	it.err = r.finish(q.metrics, of.Attempts(), of.Latency())
	SetResult(it, of, q.session.Results, q.st.Idempotent)
	q.session.warnOf(q.whole(), of)
}

// build returns the query of vecql for an execution. r may be nil.
func (q *QueryV1[S, R, C, H, I]) build(s *vecql.Session, r *Execution) *vecql.Query {
	var v *vecql.Query
	if q.binding != nil {
		v = s.Bind(q.st.Text, AdaptBinding(q.binding, q.session.Results))
	} else {
		v = s.Query(q.st.Text, q.session.bind(q.st.Values)...)
	}
	q.configure(v, r)
	return v
}

// configure applies the options of the query to that of vecql. r may be nil.
func (q *QueryV1[S, R, C, H, I]) configure(v *vecql.Query, r *Execution) {
	ConfigureQuery(&q.query, v)
	if q.st.Idempotent {
		v.Idempotent(true)
		if q.set.Spec != nil {
			v.SpeculativeExecutionPolicy(q.set.Spec)
		}
	}
	if timeout, ok := q.timeoutOf(q.set.Ctx, q.session.Timeout); ok {
		v.RequestTimeout(timeout)
	}
	v.HostID(q.hostID).Keyspace(q.keyspace)
	if q.now != nil {
		v.NowInSeconds(int32(*q.now))
	}
	if r != nil && r.observer != nil {
		v.Observer(r.observer)
	}
	if r != nil && r.policy != nil {
		v.RetryPolicy(r.policy)
	}
}

// route returns the route of the query. It prepares the statement unless that has been done.
func (q *QueryV1[S, R, C, H, I]) route() (vecql.RouteInfo, error) {
	if q.binding != nil && len(q.st.Values) == 0 {
		return vecql.RouteInfo{}, nil // the values are unknown
	}
	s, err := q.session.started()
	if err != nil {
		return vecql.RouteInfo{}, err
	}
	r, err := q.build(s, nil).Route(q.Context())
	return r, q.session.Plain(err)
}

// KnownRoute returns the route of a query that was executed or routed before, else the zero value: asking for a
// keyspace or a table sends no request.
func KnownRoute[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I]) vecql.RouteInfo {
	if !q.metrics.Used() {
		return vecql.RouteInfo{}
	}
	r, err := q.route()
	if err != nil {
		return vecql.RouteInfo{}
	}
	return r
}

// GetRoutingKey returns the serialized partition key, nil if it is unknown. It may prepare the statement.
func (q *QueryV1[S, R, C, H, I]) GetRoutingKey() ([]byte, error) {
	if q.st.RoutingKey != nil {
		return q.st.RoutingKey, nil
	}
	r, err := q.route()
	if err == nil {
		q.metrics.Use()
	}
	return r.RoutingKey, err
}

// Keyspace returns the keyspace of the query's table if the query was executed, else that of the query or the session.
func (q *QueryV1[S, R, C, H, I]) Keyspace() string {
	if keyspace := KnownRoute(q).Keyspace; keyspace != "" {
		return keyspace
	}
	if q.keyspace != "" || q.session == nil {
		return q.keyspace
	}
	return q.session.Keyspace
}

// Table returns the table of the query if the query was executed.
func (q *QueryV1[S, R, C, H, I]) Table() string { return KnownRoute(q).Table }

func (q *QueryV1[S, R, C, H, I]) replicas() []*H { return nil }
