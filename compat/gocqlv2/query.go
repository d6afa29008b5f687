// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Query: a statement with its values and options. query_run.go runs it.

// A Query is a statement with its values and options.
type Query struct {
	query   // the first field: see package api
	session *Session
}

type query = api.Query[Query, RetryPolicy, Consistency]

// set applies the session's options.
func (s *Session) set(o *api.Settings[RetryPolicy]) {
	o.Serial, o.Timestamps, o.Shared = s.cfg.SerialConsistency, s.cfg.DefaultTimestamp, &s.rare
}

// rareOptions returns the options that queries and batches share with their session.
func rareOptions(cfg *ClusterConfig) api.Rare[RetryPolicy] {
	return api.Rare[RetryPolicy]{
		Trace: cfg.Tracer, Retry: cfg.RetryPolicy, Observer: cfg.QueryObserver, PageSize: cfg.PageSize,
		Prefetch: cfg.NextPagePrefetch, AllMetadata: cfg.DisableSkipMetadata,
	}
}

// Query returns a query with the session's options.
func (s *Session) Query(stmt string, values ...any) *Query {
	q := &Query{session: s}
	api.SetRun(&q.query, func(q *Query) api.RowReader { return q.Iter() })
	s.set(api.SettingsOf(q))
	st := api.StatementOf(&q.query)
	st.Text, st.Cons, st.Idempotent = stmt, s.cfg.Consistency, s.cfg.DefaultIdempotence
	st.Values.Init(dialect, values)
	return q
}

// Keyspace returns the keyspace of the query or the session.
func (q *Query) Keyspace() string {
	own := api.SettingsOf(q).Rare().Keyspace
	if own == "" && q.session != nil {
		return q.session.cfg.Keyspace
	}
	return own
}

// Bind sets the values.
func (q *Query) Bind(v ...any) *Query {
	api.StatementOf(&q.query).Values.Set(v)
	return q
}

// SerialConsistency sets the consistency of the Paxos phase. It panics for another level than Serial and LocalSerial.
func (q *Query) SerialConsistency(cons Consistency) *Query {
	api.SettingsOf(q).Serial = serial(cons)
	return q
}

func serial(c Consistency) Consistency {
	if !c.IsSerial() {
		panic("serial consistency can only be SERIAL or LOCAL_SERIAL got " + c.String())
	}
	return c
}

// GetSerialConsistency returns the serial consistency and reports whether one is set.
func (q *Query) GetSerialConsistency() (Consistency, bool) {
	c := api.SettingsOf(q).Serial
	return c, c.IsSerial()
}

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

// build returns the query of vecql, and its retry policy, nil for none.
func (q *Query) build(ctx context.Context) (*vecql.Query, *retryAdapter) {
	st := api.StatementOf(&q.query)
	s := q.session
	var d *vecql.Query
	if b := api.BindingOf[ColumnInfo](api.SettingsOf(q).Rare()); b != nil {
		d = s.driver.Bind(st.Text, api.AdaptBinding(b, &s.results))
	} else {
		d = s.driver.Query(st.Text, api.BoundBy(st, &s.results)...)
	}
	return d, q.configure(ctx, d)
}

// configure applies the options of the query to vecql's query. It returns the retry policy, nil for none.
func (q *Query) configure(ctx context.Context, d *vecql.Query) (retry *retryAdapter) {
	s := q.session
	o := api.SettingsOf(q).Rare()
	api.ConfigureQuery(&q.query, d)
	d.Idempotent(q.IsIdempotent())
	if s.hasOptionsOfV5() {
		if o.Keyspace != s.cfg.Keyspace {
			d.Keyspace(o.Keyspace)
		}
		if o.Now != nil {
			d.NowInSeconds(int32(*o.Now))
		}
	}
	if q.IsIdempotent() && o.Retry != nil {
		retry = &retryAdapter{policy: o.Retry}
		d.RetryPolicy(retry)
	}
	if o.Spec != nil && o.Spec.Attempts() > 0 {
		d.SpeculativeExecutionPolicy(o.Spec)
	}
	if observer, ok := o.Observer.(QueryObserver); ok {
		d.Observer(queryObserver{observer, q}.observe)
	}
	if t := s.timeout(ctx); t > 0 {
		d.RequestTimeout(t)
	}
	return retry
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
