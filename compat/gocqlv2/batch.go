// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
)

// Batch: several statements in one request.

// A BatchType is logged, unlogged or counter.
type BatchType byte

// The types of batches.
const (
	LoggedBatch   BatchType = 0
	UnloggedBatch BatchType = 1
	CounterBatch  BatchType = 2
)

// BatchSizeMaximum is the maximum number of statements in a batch.
const BatchSizeMaximum = vecql.BatchSizeMaximum

// A BatchEntry is one statement of a batch.
type BatchEntry struct {
	Stmt       string
	Args       []any
	Idempotent bool
	binding    func(q *QueryInfo) ([]any, error)
}

// A Batch is a list of statements sent in one request.
type Batch struct {
	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	session  *Session
	keyspace string
	observer BatchObserver
	options
}

// Batch returns an empty batch.
func (s *Session) Batch(typ BatchType) *Batch {
	return &Batch{
		Type: typ, Cons: s.cfg.Consistency, session: s, keyspace: s.cfg.Keyspace, observer: s.cfg.BatchObserver,
		options: s.options(),
	}
}

// NewBatch returns an empty batch.
//
// Deprecated: use Batch.
func (s *Session) NewBatch(typ BatchType) *Batch { return s.Batch(typ) }

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// Bind adds a statement whose values the function bind returns.
func (b *Batch) Bind(stmt string, bind func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, binding: bind})
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// Trace enables tracing and passes the tracing id to trace.
func (b *Batch) Trace(trace Tracer) *Batch { b.trace = trace; return b }

// Observer sets the observer of the batch.
func (b *Batch) Observer(observer BatchObserver) *Batch { b.observer = observer; return b }

// Keyspace returns the keyspace of the batch.
func (b *Batch) Keyspace() string { return b.keyspace }

// SetKeyspace sets the keyspace of the batch (protocol v5).
func (b *Batch) SetKeyspace(keyspace string) *Batch { b.keyspace = keyspace; return b }

// Consistency sets the consistency.
func (b *Batch) Consistency(cons Consistency) *Batch { b.Cons = cons; return b }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.Cons }

// SetConsistency sets the consistency.
//
// Deprecated: use Consistency.
func (b *Batch) SetConsistency(c Consistency) { b.Cons = c }

// SerialConsistency sets the consistency of the Paxos phase. It panics for another level than Serial and LocalSerial.
func (b *Batch) SerialConsistency(cons Consistency) *Batch {
	b.serialConsistency = serial(cons)
	return b
}

// GetSerialConsistency returns the serial consistency and reports whether one is set.
func (b *Batch) GetSerialConsistency() (Consistency, bool) {
	return b.serialConsistency, b.serialConsistency.IsSerial()
}

// Context returns the context of WithContext.
//
// Deprecated: pass a context to the verbs.
func (b *Batch) Context() context.Context { return orBackground(b.ctx) }

// WithContext returns a copy of b that runs with ctx.
//
// Deprecated: pass a context to the verbs.
func (b *Batch) WithContext(ctx context.Context) *Batch {
	with := *b
	with.ctx = ctx
	return &with
}

// IsIdempotent reports whether all statements are marked idempotent.
func (b *Batch) IsIdempotent() bool {
	for i := range b.Entries {
		if !b.Entries[i].Idempotent {
			return false
		}
	}
	return true
}

// RetryPolicy sets the retry policy, which applies if the batch is idempotent.
func (b *Batch) RetryPolicy(r RetryPolicy) *Batch { b.retry = r; return b }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent.
func (b *Batch) SpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Batch {
	b.speculative = sp
	return b
}

// DefaultTimestamp sets whether the request carries the client's clock.
func (b *Batch) DefaultTimestamp(enable bool) *Batch { b.defaultTimestamp = enable; return b }

// WithTimestamp sets the write time in microseconds.
func (b *Batch) WithTimestamp(timestamp int64) *Batch {
	b.defaultTimestamp, b.timestamp = true, timestamp
	return b
}

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (b *Batch) WithNowInSeconds(now int) *Batch { b.nowInSeconds = &now; return b }
