// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"strings"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// The verbs that run a query.

// Exec runs a query without rows.
func (q *Query) Exec() error { return q.ExecContext(q.Context()) }

// ExecContext executes the query until ctx ends.
func (q *Query) ExecContext(ctx context.Context) error {
	st := api.StatementOf(&q.query)
	if isUse(st.Text) {
		return ErrUseStmt
	}
	ctx = orBackground(ctx)
	s := q.session
	var d *vecql.Query
	var retry *retryAdapter
	if api.SettingsOf(q).Rare().Binding != nil {
		d, retry = q.build(ctx)
	} else { // on the stack, as in a program for vecql
		d = s.driver.Query(st.Text, api.BoundBy(st, &s.results)...)
		retry = q.configure(ctx, d)
	}
	err := d.Exec(s.picking(ctx, q))
	if err == nil {
		return nil
	}
	if api.HasNoMarkers(err, st.Text) {
		return q.withoutValues().ExecContext(ctx)
	}
	q.unsent(ctx, err, retry)
	return retry.err(plain(err))
}

// withoutValues returns a copy of the query without values.
func (q *Query) withoutValues() *Query {
	c := *q
	c.Bind()
	api.BindBy[RetryPolicy, ColumnInfo](&c, nil)
	return &c
}

// unsent makes the attempts of a query that failed with err before it was sent.
func (q *Query) unsent(ctx context.Context, err error, retry *retryAdapter) {
	if !api.IsUnsent(err) {
		return
	}
	s, st, o := q.session, api.StatementOf(&q.query), api.SettingsOf(q).Rare()
	u := s.newUnsent(ctx, q, err, st.Cons, retry, vecql.RouteInfo{Statement: st.Text})
	if observer, ok := o.Observer.(QueryObserver); ok {
		u.Observe = func(a api.UnsentAttempt) {
			queryObserver{observer, q}.observe(ctx, vecql.ObservedAttempt{
				Statements: []string{st.Text}, Start: a.Time, End: a.Time, Host: a.Host, Metrics: a.Metrics, Err: a.Err,
				Attempt: a.Attempt,
			})
		}
	}
	u.Attempt(ctx)
}

// newUnsent returns a request that failed with err before it was sent. retry may be nil.
func (s *Session) newUnsent(
	ctx context.Context, q statement, err error, c Consistency, retry *retryAdapter, r vecql.RouteInfo,
) *api.Unsent {
	r.Keyspace, r.Idempotent = q.Keyspace(), q.IsIdempotent()
	u := &api.Unsent{Err: err, Next: api.UpHosts(s.driver), Consistency: c, Idempotent: r.Idempotent}
	if s.picker != nil {
		u.Next = s.pick(s.picking(ctx, q), r)
	}
	if retry != nil {
		u.Decide = retry.Decide
	}
	return u
}

// isUse reports whether a statement begins with USE, which would change one connection of many.
func isUse(stmt string) bool { return len(stmt) >= 3 && strings.EqualFold(stmt[:3], "use") }

// Iter runs a query and returns its rows.
func (q *Query) Iter() *Iter { return q.IterContext(q.Context()) }

// IterContext executes the query until ctx ends, and returns its rows.
func (q *Query) IterContext(ctx context.Context) *Iter {
	st := api.StatementOf(&q.query)
	if isUse(st.Text) {
		it := &Iter{keyspace: q.Keyspace()}
		api.SetError(&it.iter, ErrUseStmt)
		return it
	}
	ctx = orBackground(ctx)
	d, retry := q.build(ctx)
	it := d.Iter(q.session.picking(ctx, q))
	if it.Attempts() == 0 {
		err := it.Close()
		if api.HasNoMarkers(err, st.Text) {
			return q.withoutValues().IterContext(ctx)
		}
		q.unsent(ctx, err, retry)
	}
	return q.session.newIter(it, q.Keyspace(), retry)
}

// ScanContext executes the query, as Scan does, until ctx ends.
func (q *Query) ScanContext(ctx context.Context, dest ...any) error {
	it := q.IterContext(ctx)
	return api.CloseOne(it, it.Scan(dest...))
}

// MapScanContext executes the query, as MapScan does, until ctx ends.
func (q *Query) MapScanContext(ctx context.Context, m map[string]any) error {
	it := q.IterContext(ctx)
	return api.CloseOne(it, it.MapScan(m))
}

// ScanCAS runs a lightweight transaction, and reports whether it was applied. The row that prevented it is stored in
// dest.
func (q *Query) ScanCAS(dest ...any) (applied bool, err error) {
	return q.ScanCASContext(q.Context(), dest...)
}

// ScanCASContext executes a conditional query, as ScanCAS does, until ctx ends.
func (q *Query) ScanCASContext(ctx context.Context, dest ...any) (applied bool, err error) {
	q.NoSkipMetadata()
	it := q.IterContext(ctx)
	found := api.ScanCAS(it, &applied, dest)
	return applied, api.CloseOne(it, found)
}

// MapScanCAS is ScanCAS; it stores the row in dest by column name.
func (q *Query) MapScanCAS(dest map[string]any) (applied bool, err error) {
	return q.MapScanCASContext(q.Context(), dest)
}

// MapScanCASContext executes a conditional query, as MapScanCAS does, until ctx ends.
func (q *Query) MapScanCASContext(ctx context.Context, dest map[string]any) (applied bool, err error) {
	q.NoSkipMetadata()
	it := q.IterContext(ctx)
	applied, found := api.MapScanCAS(it, dest)
	return applied, api.CloseOne(it, found)
}
