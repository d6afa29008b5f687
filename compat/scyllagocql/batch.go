// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

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
	CustomPayload map[string][]byte
	Entries       []BatchEntry
	Cons          Consistency
	Type          BatchType

	options
	session  *Session
	observer BatchObserver
}

// Batch returns an empty batch with the defaults of the session.
func (s *Session) Batch(typ BatchType) *Batch {
	b := &Batch{Type: typ, session: s, observer: s.cfg.BatchObserver, options: options{metrics: new(metrics)}}
	b.timestamps, b.retry, b.serialCons = s.cfg.DefaultTimestamp, s.cfg.RetryPolicy, s.cfg.SerialConsistency
	b.timeout = s.cfg.Timeout
	s.mu.RLock()
	defer s.mu.RUnlock()
	b.Cons, b.trace = s.cons, s.trace
	return b
}

// NewBatch is Batch.
//
// Deprecated: use Batch.
func (s *Session) NewBatch(typ BatchType) *Batch { return s.Batch(typ) }

// BatchWithContext is Batch with a context.
func (s *Session) BatchWithContext(ctx context.Context, typ BatchType) *Batch {
	b := s.Batch(typ)
	b.ctx = ctx
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
func (b *Batch) SerialConsistency(cons Consistency) *Batch { b.serialCons = cons; return b }

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

// RetryPolicy sets the retry policy; nil means SimpleRetryPolicy with 3 retries.
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
func (b *Batch) Attempts() int { return b.attempts() }

// AddAttempts adds to the number of attempts on a node.
func (b *Batch) AddAttempts(i int, host *HostInfo) { b.metrics.observe(host, i, 0) }

// Latency returns the mean latency of the attempts in nanoseconds.
func (b *Batch) Latency() int64 { return b.metrics.latency() }

// AddLatency adds to the latency of the attempts on a node, in nanoseconds.
func (b *Batch) AddLatency(l int64, host *HostInfo) { b.metrics.observe(host, 0, l) }

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
	v.RequestTimeout(orNever(b.timeout)) // vecql's own applies to contexts without a deadline only
	if b.hostID != "" {
		v.HostID(b.hostID)
	}
	if b.keyspace != "" {
		v.Keyspace(b.keyspace)
	}
	if b.now != nil {
		v.NowInSeconds(int32(*b.now))
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
	on, err := s.started()
	if err != nil {
		return &Iter{err: err}
	}
	if b.metrics == nil { // a Batch that the program made without Session.Batch
		b.metrics = new(metrics)
	}
	r := newExecution(b, &b.options, b.observer != nil)
	it := newIter(s, b.build(s, on, r).IterContext(s.requestContext(b.context(), b)), b.IsIdempotent())
	r.finish(&b.options, it)
	s.warn(b, it)
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
