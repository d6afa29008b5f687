// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/cql"
)

// Batch: several statements in one request.

// A BatchType is the type of a batch.
type BatchType byte

// The types of a batch.
const (
	LoggedBatch   BatchType = 0
	UnloggedBatch BatchType = 1
	CounterBatch  BatchType = 2
)

// BatchSizeMaximum is the maximum number of statements of a batch.
const BatchSizeMaximum = vecql.BatchSizeMaximum

// A BatchEntry is a statement of a batch.
type BatchEntry struct {
	Stmt       string
	Args       []any
	Idempotent bool
	binding    func(q *QueryInfo) ([]any, error)
}

// A Batch is a list of statements that are sent in one request. Session.ExecuteBatch runs it.
type Batch struct {
	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	options
	session  *Session // nil for NewBatch
	keyspace string
	observer BatchObserver
}

// NewBatch returns an empty batch without the defaults of a session.
//
// Deprecated: use Session.NewBatch.
func NewBatch(typ BatchType) *Batch {
	return &Batch{Type: typ, options: options{metrics: new(metrics)}}
}

// NewBatch returns an empty batch with the defaults of the session.
func (s *Session) NewBatch(typ BatchType) *Batch {
	b := NewBatch(typ)
	b.session, b.keyspace, b.observer = s, s.cfg.Keyspace, s.cfg.BatchObserver
	b.timestamps, b.retry, b.serialCons = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy, s.cfg.SerialConsistency
	s.mu.RLock()
	defer s.mu.RUnlock()
	b.Cons, b.trace = s.cons, s.trace
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
func (b *Batch) SerialConsistency(cons SerialConsistency) *Batch { b.serialCons = cons; return b }

// Context returns the context of the batch.
func (b *Batch) Context() context.Context { return b.context() }

// WithContext returns a copy of the batch with the context. The copy has the same entries.
func (b *Batch) WithContext(ctx context.Context) *Batch {
	c := *b
	c.ctx = ctx
	return &c
}

// Cancel does nothing.
//
// Deprecated: cancel the context.
func (*Batch) Cancel() {}

// Trace enables tracing by the server.
func (b *Batch) Trace(trace Tracer) *Batch { b.trace = trace; return b }

// Observer sets the observer of the batch's attempts.
func (b *Batch) Observer(observer BatchObserver) *Batch { b.observer = observer; return b }

// DefaultTimestamp sets whether the client sets the time of the write.
func (b *Batch) DefaultTimestamp(enable bool) *Batch { b.timestamps = enable; return b }

// WithTimestamp sets the time of the write, in microseconds since the epoch.
func (b *Batch) WithTimestamp(timestamp int64) *Batch {
	b.timestamps, b.timestamp = true, timestamp
	return b
}

// RetryPolicy sets the retry policy; nil means no retries.
func (b *Batch) RetryPolicy(r RetryPolicy) *Batch { b.retry = r; return b }

// SpeculativeExecutionPolicy sets the policy of further executions.
func (b *Batch) SpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Batch {
	b.spec = sp
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
func (b *Batch) Attempts() int { return b.metrics.attempts() }

// AddAttempts adds to the number of attempts on a node.
func (b *Batch) AddAttempts(i int, host *HostInfo) { b.metrics.observe(host, i, 0) }

// Latency returns the mean latency of the attempts in nanoseconds.
func (b *Batch) Latency() int64 { return b.metrics.latency() }

// AddLatency adds to the latency of the attempts on a node, in nanoseconds.
func (b *Batch) AddLatency(l int64, host *HostInfo) { b.metrics.observe(host, 0, l) }

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
	v.Consistency(cql.Consistency(b.Cons)).SerialConsistency(cql.Consistency(b.serialCons)).
		CustomPayload(b.CustomPayload).ServerTimestamps(!b.timestamps)
	if b.timestamps && b.timestamp != 0 {
		v.Timestamp(b.timestamp)
	}
	if b.trace != nil {
		v.Trace(b.trace)
	}
	if b.spec != nil && b.IsIdempotent() {
		v.SpeculativeExecutionPolicy(b.spec)
	}
	if _, ok := b.context().Deadline(); ok {
		v.RequestTimeout(s.timeout()) // vecql's own applies to contexts without a deadline only
	}
	if r != nil && r.observed {
		v.Observer(batchObserver{r, b, s})
	}
	if r != nil && b.retry != nil {
		v.RetryPolicy(r)
	}
	return v
}

// run executes a batch.
func (s *Session) run(b *Batch) *Iter {
	if _, err := s.started(); err != nil {
		return &Iter{err: err}
	}
	if b.metrics == nil { // a Batch that the program made without NewBatch
		b.metrics = new(metrics)
	}
	r := newExecution(b, &b.options, b.observer != nil)
	it := newIter(s, b.build(s, r).IterContext(s.requestContext(b.context(), b)))
	it.err = r.finish(b.metrics, it.it.Attempts(), it.it.Latency())
	return it
}

// ExecuteBatch runs a batch.
func (s *Session) ExecuteBatch(batch *Batch) error { return s.run(batch).Close() }

// ExecuteBatchCAS runs a conditional batch and reports whether it was applied. If it was not, the first row is stored
// in dest, and iter has the others, each with [applied] as its first column.
func (s *Session) ExecuteBatchCAS(batch *Batch, dest ...any) (applied bool, iter *Iter, err error) {
	it := s.run(batch)
	if found := it.scanCAS(&applied, dest); !found {
		return false, nil, it.one(false)
	}
	return applied, it, nil
}

// MapExecuteBatchCAS is ExecuteBatchCAS but stores the first row in dest by column name.
func (s *Session) MapExecuteBatchCAS(batch *Batch, dest map[string]any) (applied bool, iter *Iter, err error) {
	it := s.run(batch)
	applied, found := it.mapScanCAS(dest)
	if !found {
		return false, nil, it.one(false)
	}
	return applied, it, nil
}
