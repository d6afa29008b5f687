// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
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

	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	session  *Session // nil for NewBatch
	keyspace string
	observer BatchObserver
}

type batch = api.Options[Batch, RetryPolicy]

// NewBatch returns an empty batch without the defaults of a session.
//
// Deprecated: use Session.NewBatch.
func NewBatch(typ BatchType) *Batch {
	b := &Batch{Type: typ}
	api.SetMetrics(&b.counted, new(api.Metrics))
	return b
}

// NewBatch returns an empty batch with the defaults of the session.
func (s *Session) NewBatch(typ BatchType) *Batch {
	b := NewBatch(typ)
	b.session, b.keyspace, b.observer = s, s.cfg.Keyspace, s.cfg.BatchObserver
	set := api.SettingsOf(&b.batch)
	set.Timestamps, set.Retry = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy
	set.Serial = cql.Consistency(s.cfg.SerialConsistency)
	b.Cons = api.SetBatchDefaults(&s.defaults, &b.batch)
	return b
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
}

// Bind adds a statement. Each execution of the batch calls bind for its values.
func (b *Batch) Bind(stmt string, bind func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, binding: bind})
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// Keyspace returns the keyspace of the session.
func (b *Batch) Keyspace() string { return b.keyspace }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.Cons }

// SetConsistency sets the consistency.
func (b *Batch) SetConsistency(c Consistency) { b.Cons = c }

// SerialConsistency sets the consistency of the Paxos phase of a conditional batch.
func (b *Batch) SerialConsistency(cons SerialConsistency) *Batch {
	api.SettingsOf(&b.batch).Serial = cql.Consistency(cons)
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

// build returns the batch of vecql for an execution on s. r may be nil.
func (b *Batch) build(s *Session, r *execution) *vecql.Batch {
	v := s.vecql.Batch(vecql.BatchType(b.Type))
	for _, e := range b.Entries {
		if e.binding != nil {
			v.Bind(e.Stmt, s.binding(e.binding))
		} else {
			v.Query(e.Stmt, dialect.Bind(e.Args)...)
		}
		v.Entries[len(v.Entries)-1].Idempotent = e.Idempotent
	}
	v.Consistency(cql.Consistency(b.Cons)).CustomPayload(b.CustomPayload)
	api.ConfigureBatch(&b.batch, v)
	set := api.SettingsOf(&b.batch)
	if set.Spec != nil && b.IsIdempotent() {
		v.SpeculativeExecutionPolicy(set.Spec)
	}
	if _, ok := b.Context().Deadline(); ok {
		v.RequestTimeout(s.timeout()) // vecql's own applies to contexts without a deadline only
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
	if _, err := s.started(); err != nil {
		return failedIter(err)
	}
	if api.MetricsOf(&b.counted) == nil { // a Batch that the program made without NewBatch
		api.SetMetrics(&b.counted, new(api.Metrics))
	}
	r := newExecution(b, api.SettingsOf(&b.batch), &b.counted, b.observer != nil)
	of := b.build(s, r).IterContext(s.requestContext(b.Context(), b))
	it := newIter(s, of, r.finish(&b.counted, of.Attempts(), of.Latency()))
	return it
}

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
