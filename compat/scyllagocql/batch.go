// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
)

// Batch: several statements in one request.

// A BatchType is the type of a batch.
type BatchType byte

// A BatchEntry is a statement of a batch.
type BatchEntry struct {
	Stmt       string
	Args       []any
	Idempotent bool
	binding    func(q *QueryInfo) ([]any, error)
}

// A Batch is a list of statements that are sent in one request. Session.ExecuteBatch runs it.
type Batch struct {
	batch // the first field: see package api
	counted
	options

	CustomPayload map[string][]byte
	Entries       []BatchEntry
	Cons          Consistency
	Type          BatchType

	session  *Session
	observer BatchObserver
}

type batch = api.Options[Batch, RetryPolicy]

// Batch returns an empty batch with the defaults of the session.
func (s *Session) Batch(typ BatchType) *Batch {
	b := &Batch{Type: typ, session: s, observer: s.cfg.BatchObserver}
	api.SetMetrics(&b.counted, new(api.Metrics))
	set := api.SettingsOf(&b.batch)
	set.Timestamps, set.Retry, set.Serial = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy, s.cfg.SerialConsistency
	b.timeout = s.cfg.Timeout
	b.Cons = api.SetBatchDefaults(&s.defaults, &b.batch)
	return b
}

// NewBatch is Batch.
//
// Deprecated: use Batch.
func (s *Session) NewBatch(typ BatchType) *Batch { return s.Batch(typ) }

// BatchWithContext is Batch with a context.
func (s *Session) BatchWithContext(ctx context.Context, typ BatchType) *Batch {
	b := s.Batch(typ)
	api.SettingsOf(&b.batch).Ctx = ctx
	return b
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// Bind adds a statement. Each execution of the batch calls bind for its values.
func (b *Batch) Bind(stmt string, bind func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, binding: bind})
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// Keyspace returns the keyspace of the batch, else that of the session.
func (b *Batch) Keyspace() string {
	if b.keyspace != "" || b.session == nil {
		return b.keyspace
	}
	return b.session.cfg.Keyspace
}

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.Cons }

// SetConsistency sets the consistency.
func (b *Batch) SetConsistency(c Consistency) { b.Cons = c }

// SerialConsistency sets the consistency of the Paxos phase of a conditional batch.
func (b *Batch) SerialConsistency(cons Consistency) *Batch {
	api.SettingsOf(&b.batch).Serial = cons
	return b
}

// Observer sets the observer of the batch's attempts.
func (b *Batch) Observer(observer BatchObserver) *Batch { b.observer = observer; return b }

// SpeculativeExecutionPolicy sets the policy of further executions.
func (b *Batch) SpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Batch {
	api.SettingsOf(&b.batch).Spec = sp
	return b
}

// IsIdempotent reports whether all statements are marked idempotent.
func (b *Batch) IsIdempotent() bool {
	for _, e := range b.Entries {
		if !e.Idempotent {
			return false
		}
	}
	return true
}

// Attempts returns the number of attempts of all executions of the batch so far.
func (b *Batch) Attempts() int { return b.attempts(&b.counted) }

// GetSession returns the session.
func (b *Batch) GetSession() *Session { return b.session }

// SetHostID sends the batch to the node with this id only; "" means any node.
func (b *Batch) SetHostID(hostID string) *Batch { b.hostID = hostID; return b }

// GetHostID returns what SetHostID set.
func (b *Batch) GetHostID() string { return b.hostID }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (b *Batch) SetRequestTimeout(timeout time.Duration) *Batch { b.timeout = timeout; return b }

// GetRequestTimeout returns the timeout of an attempt.
func (b *Batch) GetRequestTimeout() time.Duration { return b.timeout }

// SetKeyspace sets the keyspace of the batch. It needs version 5 of the protocol.
func (b *Batch) SetKeyspace(keyspace string) *Batch { b.keyspace = keyspace; return b }

// WithNowInSeconds sets the time at which the server evaluates the expiration of cells. It needs version 5 of the
// protocol.
func (b *Batch) WithNowInSeconds(now int) *Batch { b.now = &now; return b }

// build returns the batch of vecql for an execution on a session of vecql. r may be nil.
func (b *Batch) build(s *Session, on *vecql.Session, r *execution) *vecql.Batch {
	v := on.Batch(vecql.BatchType(b.Type))
	for _, e := range b.Entries {
		if e.binding != nil {
			v.Bind(e.Stmt, s.binding(e.binding))
		} else {
			v.Query(e.Stmt, dialect.Bind(e.Args)...)
		}
		v.Entries[len(v.Entries)-1].Idempotent = e.Idempotent
	}
	v.Consistency(b.Cons).CustomPayload(b.CustomPayload)
	api.ConfigureBatch(&b.batch, v)
	set := api.SettingsOf(&b.batch)
	if set.Spec != nil && b.IsIdempotent() {
		v.SpeculativeExecutionPolicy(set.Spec)
	}
	if timeout, ok := b.timeoutFor(b.Context(), s); ok {
		v.RequestTimeout(timeout)
	}
	if b.hostID != "" {
		v.HostID(b.hostID)
	}
	if b.keyspace != "" {
		v.Keyspace(b.keyspace)
	}
	if b.now != nil {
		v.NowInSeconds(int32(*b.now))
	}
	if r != nil && r.Observed {
		v.Observer(batchObserver{r, b, s})
	}
	if r != nil && set.Retry != nil {
		v.RetryPolicy(r)
	}
	return v
}

// run executes a batch.
func (s *Session) run(b *Batch) *Iter {
	on, err := s.started()
	if err != nil {
		return failedIter(err)
	}
	if api.MetricsOf(&b.counted) == nil { // a Batch that the program made without Session.Batch
		api.SetMetrics(&b.counted, new(api.Metrics))
	}
	r := newExecution(b, api.SettingsOf(&b.batch), &b.counted, b.observer != nil)
	of := b.build(s, on, r).IterContext(s.requestContext(b.Context(), b))
	it := newIter(s, of, b.IsIdempotent(), r.finish(&b.counted, of.Attempts(), of.Latency()))
	s.warn(b, of.Host(), of.Warnings())
	return it
}

// Exec runs the batch.
func (b *Batch) Exec() error { return b.session.ExecuteBatch(b) }

// ExecuteBatch runs a batch.
func (s *Session) ExecuteBatch(batch *Batch) error { return s.run(batch).Close() }

// ExecuteBatchCAS runs a conditional batch and reports whether it was applied. If it was not, the first row is stored
// in dest, and iter has the others, each with [applied] as its first column.
func (s *Session) ExecuteBatchCAS(batch *Batch, dest ...any) (applied bool, iter *Iter, err error) {
	it := s.run(batch)
	found := api.ScanCAS(it, &applied, dest)
	return api.Applied(it, applied, found)
}

// MapExecuteBatchCAS is ExecuteBatchCAS but stores the first row in dest by column name.
func (s *Session) MapExecuteBatchCAS(batch *Batch, dest map[string]any) (applied bool, iter *Iter, err error) {
	it := s.run(batch)
	applied, found := api.MapScanCAS(it, dest)
	return api.Applied(it, applied, found)
}
