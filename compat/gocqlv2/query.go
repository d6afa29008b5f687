// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"
	"unsafe"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Query: a statement with its values and options. query_run.go runs it.

// A Query is a statement with its values and options.
type Query struct {
	query // the first field: see package api
	options

	session  *Session
	binding  func(q *QueryInfo) ([]any, error)
	hostID   string
	observer QueryObserver
}

type query = api.Query[Query, RetryPolicy, Consistency]

const _ = -unsafe.Offsetof(Query{}.query) - unsafe.Offsetof(Batch{}.batch) // does not compile unless it is 0

// options are the options of queries and batches that apply to version 5 of the protocol only.
type options struct {
	keyspace     string
	nowInSeconds *int
}

// set applies the session's options.
func (s *Session) set(o *api.Settings[RetryPolicy]) {
	o.Serial, o.Timestamps = s.cfg.SerialConsistency, s.cfg.DefaultTimestamp
	o.Trace, o.Retry = s.cfg.Tracer, s.cfg.RetryPolicy
}

// Query returns a query with the session's options.
func (s *Session) Query(stmt string, values ...any) *Query {
	q := &Query{session: s, observer: s.cfg.QueryObserver}
	api.SetRun(&q.query, func(q *Query) api.RowReader { return q.Iter() })
	s.set(api.SettingsOf(q))
	st := api.StatementOf(&q.query)
	st.Text, st.Values, st.Cons, st.PageSize = stmt, values, s.cfg.Consistency, s.cfg.PageSize
	st.Prefetch, st.Idempotent = s.cfg.NextPagePrefetch, s.cfg.DefaultIdempotence
	st.AllMetadata = s.cfg.DisableSkipMetadata
	return q
}

// Bind returns a query whose values the function b returns when the statement has been prepared.
func (s *Session) Bind(stmt string, b func(q *QueryInfo) ([]any, error)) *Query {
	q := s.Query(stmt)
	q.binding = b
	return q
}

// Observer sets the observer of the query.
func (q *Query) Observer(observer QueryObserver) *Query { q.observer = observer; return q }

// Keyspace returns the keyspace of the query or the session.
func (q *Query) Keyspace() string {
	if q.keyspace == "" && q.session != nil {
		return q.session.cfg.Keyspace
	}
	return q.keyspace
}

// Bind sets the values.
func (q *Query) Bind(v ...any) *Query {
	api.StatementOf(&q.query).Values = v
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

// SetHostID sends the query only to the node with that HostInfo.HostID.
func (q *Query) SetHostID(hostID string) *Query { q.hostID = hostID; return q }

// GetHostID returns the host id set by SetHostID.
func (q *Query) GetHostID() string { return q.hostID }

// SetKeyspace sets the keyspace of the query (protocol v5).
func (q *Query) SetKeyspace(keyspace string) *Query { q.keyspace = keyspace; return q }

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (q *Query) WithNowInSeconds(now int) *Query { q.nowInSeconds = &now; return q }

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

// build returns the query of vecql.
func (q *Query) build(ctx context.Context) *vecql.Query {
	st := api.StatementOf(&q.query)
	s := q.session
	var d *vecql.Query
	if q.binding != nil {
		d = s.driver.Bind(st.Text, api.AdaptBinding(q.binding, &s.results))
	} else {
		d = s.driver.Query(st.Text, s.bind(st.Values)...)
	}
	q.configure(ctx, d)
	return d
}

// configure applies the options of the query to that of vecql.
func (q *Query) configure(ctx context.Context, d *vecql.Query) {
	s := q.session
	set := api.SettingsOf(q)
	api.ConfigureQuery(&q.query, d)
	d.Idempotent(q.IsIdempotent()).HostID(q.hostID)
	if s.hasOptionsOfV5() {
		if q.keyspace != s.cfg.Keyspace {
			d.Keyspace(q.keyspace)
		}
		if q.nowInSeconds != nil {
			d.NowInSeconds(int32(*q.nowInSeconds))
		}
	}
	if q.IsIdempotent() && set.Retry != nil {
		d.RetryPolicy(retryAdapter{set.Retry})
	}
	if set.Spec != nil && set.Spec.Attempts() > 0 {
		d.SpeculativeExecutionPolicy(set.Spec)
	}
	if q.observer != nil {
		d.Observer(queryObserver{q.observer, q})
	}
	if t := s.timeout(ctx); t > 0 {
		d.RequestTimeout(t)
	}
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}
