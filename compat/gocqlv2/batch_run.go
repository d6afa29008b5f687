// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// The verbs that run a batch.

// Exec runs the batch.
func (b *Batch) Exec() error { return b.ExecContext(b.Context()) }

// ExecContext executes the batch until ctx ends.
func (b *Batch) ExecContext(ctx context.Context) error { return b.IterContext(ctx).Close() }

// Iter runs the batch and returns the rows of a conditional batch.
func (b *Batch) Iter() *Iter { return b.IterContext(b.Context()) }

// IterContext executes the batch until ctx ends, and returns its rows.
func (b *Batch) IterContext(ctx context.Context) *Iter {
	ctx = orBackground(ctx)
	d, retry := b.build(ctx)
	it := d.Iter(b.session.picking(ctx, b))
	if it.Attempts() == 0 {
		b.unsent(ctx, it.Close(), retry)
	}
	return b.session.newIter(it, b.keyspace, retry)
}

// unsent makes the attempts of a batch that failed with err before it was sent.
func (b *Batch) unsent(ctx context.Context, err error, retry *retryAdapter) {
	if !api.IsUnsent(err) {
		return
	}
	u := b.session.newUnsent(ctx, b, err, b.Cons, retry, vecql.RouteInfo{})
	u.Batch = true
	if b.observer != nil {
		u.Observe = func(a api.UnsentAttempt) {
			batchObserver{b.observer, b}.observe(ctx, vecql.ObservedAttempt{
				Statements: api.StatementsOf(b.Entries), Start: a.Time, End: a.Time, Host: a.Host, Metrics: a.Metrics, Err: a.Err,
				Attempt: a.Attempt,
			})
		}
	}
	u.Attempt(ctx)
}

// ExecCAS runs a conditional batch, and reports whether it was applied. The first row is stored in dest; the Iter has
// the others.
func (b *Batch) ExecCAS(dest ...any) (applied bool, iter *Iter, err error) {
	return b.ExecCASContext(b.Context(), dest...)
}

// ExecCASContext executes a conditional batch, as ExecCAS does, until ctx ends.
func (b *Batch) ExecCASContext(ctx context.Context, dest ...any) (applied bool, iter *Iter, err error) {
	return api.ExecCAS(b.IterContext(ctx), dest)
}

// MapExecCAS is ExecCAS; it stores the first row in dest by column name.
func (b *Batch) MapExecCAS(dest map[string]any) (applied bool, iter *Iter, err error) {
	return b.MapExecCASContext(b.Context(), dest)
}

// MapExecCASContext executes a conditional batch, as MapExecCAS does, until ctx ends.
func (b *Batch) MapExecCASContext(ctx context.Context, dest map[string]any) (applied bool, iter *Iter, err error) {
	return api.MapExecCAS(b.IterContext(ctx), dest)
}

// ExecuteBatch runs a batch.
//
// Deprecated: use Batch.Exec.
func (s *Session) ExecuteBatch(batch *Batch) error { return batch.Exec() }

// ExecuteBatchCAS runs a conditional batch.
//
// Deprecated: use Batch.ExecCAS.
func (s *Session) ExecuteBatchCAS(batch *Batch, dest ...any) (applied bool, iter *Iter, err error) {
	return batch.ExecCAS(dest...)
}

// MapExecuteBatchCAS runs a conditional batch.
//
// Deprecated: use Batch.MapExecCAS.
func (s *Session) MapExecuteBatchCAS(batch *Batch, dest map[string]any) (applied bool, iter *Iter, err error) {
	return batch.MapExecCAS(dest)
}

// build returns the batch of vecql, and its retry policy, nil for none.
func (b *Batch) build(ctx context.Context) (*vecql.Batch, *retryAdapter) {
	s := b.session
	d := s.driver.Batch(cql.BatchType(b.Type))
	api.AddEntries(d, b.Entries, &s.results)
	idempotent := len(b.Entries) > 0 && b.IsIdempotent()
	set := api.SettingsOf(b).Rare()
	api.ConfigureBatch(&b.batch, d)
	d.Consistency(b.Cons).CustomPayload(b.CustomPayload)
	if s.hasOptionsOfV5() {
		if b.keyspace != s.cfg.Keyspace {
			d.Keyspace(b.keyspace)
		}
		if b.nowInSeconds != nil {
			d.NowInSeconds(int32(*b.nowInSeconds))
		}
	}
	var retry *retryAdapter
	if idempotent && set.Retry != nil {
		retry = &retryAdapter{policy: set.Retry}
		d.RetryPolicy(retry)
	}
	if set.Spec != nil && set.Spec.Attempts() > 0 {
		d.SpeculativeExecutionPolicy(set.Spec)
	}
	if b.observer != nil {
		d.Observer(batchObserver{b.observer, b}.observe)
	}
	if t := s.timeout(ctx); t > 0 {
		d.RequestTimeout(t)
	}
	return d, retry
}
