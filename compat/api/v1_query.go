// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"unsafe"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
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

// BindBy sets the function that returns the values of a query each time it runs.
func BindBy[R, I any](q Set[R], b Binding[I]) {
	q.settings().Change(func(o *Rare[R]) { o.Binding = b })
}

// BindingOf returns the function that BindBy has set, nil if the query has its values.
func BindingOf[I, R any](o *Rare[R]) Binding[I] {
	b, _ := o.Binding.(Binding[I])
	return b
}

// A QueryV1 is what the queries of both have. A module's Query embeds it as its first field. It has the parameters of
// Query and SessionV1.
type QueryV1[S, R any, C ~uint16, H, I any] struct {
	query[S, R, C]
	counted[H]

	session *SessionV1[R, C, H, I] // nil for a query that no session made
}

// StartQuery sets the session, the statement and the defaults of a query. m counts its attempts; run executes it.
func StartQuery[S, R any, C ~uint16, H, I any](
	q *QueryV1[S, R, C, H, I], s *SessionV1[R, C, H, I], m *Metrics, run func(*S) RowReader, stmt string, values []any,
) {
	q.session, q.metrics, q.run = s, m, run
	q.st.Text, q.st.Idempotent, q.st.Cons = stmt, s.Idempotent, s.begin(&q.set)
	if s.Results == nil { // a session that the program made as a literal
		q.st.Values.Set(values)
	} else {
		q.st.Values.Init(s.Results.Dialect, values)
	}
}

// Bind replaces the values. It also ends manual paging's position: the query begins at the first page.
func (q *QueryV1[S, R, C, H, I]) Bind(v ...any) *S {
	q.st.Values.Set(v)
	if q.set.Rare().PageState != nil {
		q.set.Change(func(o *Rare[R]) { o.PageState = nil })
	}
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
	q.session.beginCounting(r, q.metrics)
	var v *vecql.Query
	if q.set.Rare().Binding != nil {
		v = q.build(s, r)
	} else { // on the stack, as in a program for vecql
		v = s.Query(q.st.Text, BoundBy(&q.st, q.session.Results)...)
		q.configure(v, r)
	}
	info, err := v.ExecInfo(q.session.context(q.Context(), q.whole()))
	if err != nil {
		if HasNoMarkers(err, q.st.Text) {
			return Exec(q.withoutValues(), r)
		}
		info.Attempts, info.Latency = spentOn(err)
		q.unsent(s, r, err)
	}
	own := r.finish(q.metrics, info.Attempts, info.Latency)
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
	q.session.beginCounting(r, q.metrics)
	of := q.build(s, r).Iter(q.session.context(q.Context(), q.whole()))
	if of.Attempts() == 0 {
		err := of.Close()
		if HasNoMarkers(err, q.st.Text) {
			RunQuery(q.withoutValues(), r, it)
			return
		}
		q.unsent(s, r, err)
	}
	it.err = r.finish(q.metrics, of.Attempts(), of.Latency())
	SetResult(it, of, q.session.Results, q.st.Idempotent)
	q.session.warnOf(q.whole(), of)
}

// withoutValues returns a copy of the query without values.
func (q *QueryV1[S, R, C, H, I]) withoutValues() *QueryV1[S, R, C, H, I] {
	c := *q.whole()
	of := (*QueryV1[S, R, C, H, I])(unsafe.Pointer(&c))
	of.st.Values.Set(nil)
	of.set.Change(func(o *Rare[R]) { o.Binding = nil })
	return of
}

// unsent makes the attempts of a query that failed with err before it was sent. r may be nil.
func (q *QueryV1[S, R, C, H, I]) unsent(s *vecql.Session, r *Execution, err error) {
	if !IsUnsent(err) {
		return
	}
	u := Unsent{Err: err, Consistency: cql.Consistency(q.st.Cons), Idempotent: q.st.Idempotent}
	ctx := q.Context()
	q.session.unsent(ctx, s, u, r, q.metrics, q.st.Text, q.whole(), func(a UnsentAttempt) {
		r.observer(ctx, vecql.ObservedAttempt{
			Keyspace: q.session.Keyspace, Statements: []string{q.st.Text}, Start: a.Time, End: a.Time, Host: a.Host, Err: a.Err,
			Attempt: a.Attempt,
		})
	})
}

// build returns the query of vecql for an execution. r may be nil.
func (q *QueryV1[S, R, C, H, I]) build(s *vecql.Session, r *Execution) *vecql.Query {
	var v *vecql.Query
	if b := BindingOf[I](q.set.Rare()); b != nil {
		v = s.Bind(q.st.Text, AdaptBinding(b, q.session.Results))
	} else {
		v = s.Query(q.st.Text, BoundBy(&q.st, q.session.Results)...)
	}
	q.configure(v, r)
	return v
}

// configure applies the options of the query to vecql's query. r may be nil.
func (q *QueryV1[S, R, C, H, I]) configure(v *vecql.Query, r *Execution) {
	ConfigureQuery(&q.query, v)
	o := q.set.Rare()
	if q.st.Idempotent {
		v.Idempotent(true)
		if o.Spec != nil {
			v.SpeculativeExecutionPolicy(o.Spec)
		}
	}
	if timeout, ok := q.set.timeoutOf(q.session.Timeout); ok {
		v.RequestTimeout(timeout)
	}
	v.Keyspace(o.Keyspace)
	if o.Now != nil {
		v.NowInSeconds(int32(*o.Now))
	}
	if r != nil && r.observer != nil {
		v.Observer(r.observer)
	}
	if r != nil && r.policy != nil {
		v.RetryPolicy(r.policy)
	}
}

// route returns the route of the query. It prepares the statement within ctx unless that has been done.
func (q *QueryV1[S, R, C, H, I]) route(ctx context.Context) (vecql.RouteInfo, error) {
	if BindingOf[I](q.set.Rare()) != nil && len(q.Values()) == 0 {
		return vecql.RouteInfo{}, nil // the values are unknown
	}
	s, err := q.session.started()
	if err != nil {
		return vecql.RouteInfo{}, err
	}
	r, err := q.build(s, nil).Route(ctx)
	return r, q.session.Plain(err)
}

// ended is a context that has ended: a verb with it finds what is known, and sends nothing.
var ended = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// IsKnown reports whether the statement of a query was prepared, where the API prepares it.
func IsKnown[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I]) bool {
	s, err := q.session.started()
	if err != nil || !IsPrepared(q.st.Text) {
		return false
	}
	_, err = q.build(s, nil).Route(ended)
	return !HasEnded(err)
}

// KnownRoute returns the route of a query that was executed or routed before, else the zero value: asking for a
// keyspace or a table sends no request, and waits for no PREPARE: its caller may be that PREPARE's retry policy.
func KnownRoute[S, R any, C ~uint16, H, I any](q *QueryV1[S, R, C, H, I]) vecql.RouteInfo {
	if !q.metrics.Used() {
		return vecql.RouteInfo{}
	}
	r, err := q.route(ended)
	if err != nil {
		return vecql.RouteInfo{}
	}
	return r
}

// GetRoutingKey returns the serialized partition key, nil if it is unknown. It may prepare the statement.
func (q *QueryV1[S, R, C, H, I]) GetRoutingKey() ([]byte, error) {
	if key := q.set.Rare().RoutingKey; key != nil {
		return key, nil
	}
	if q.metrics == nil { // a query that the program made as a literal
		return nil, nil
	}
	r, err := q.route(q.Context())
	if err == nil {
		q.metrics.Use()
	}
	return r.RoutingKey, err
}

// Keyspace returns the keyspace of the query's table if the query was executed, else of the query or the session.
func (q *QueryV1[S, R, C, H, I]) Keyspace() string {
	if keyspace := KnownRoute(q).Keyspace; keyspace != "" {
		return keyspace
	}
	if own := q.set.Rare().Keyspace; own != "" || q.session == nil {
		return own
	}
	return q.session.Keyspace
}

// Table returns the table of the query if the query was executed.
func (q *QueryV1[S, R, C, H, I]) Table() string { return KnownRoute(q).Table }

func (q *QueryV1[S, R, C, H, I]) replicas() []*H { return nil }
