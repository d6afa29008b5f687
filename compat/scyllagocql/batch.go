// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Batch: several statements in one request. Package api has what it shares with v1.7.

// A Batch is a list of statements that are sent in one request. Session.ExecuteBatch runs it.
type Batch struct {
	batch // the first field: see package api
	retried

	CustomPayload map[string][]byte
	Entries       []BatchEntry
	Cons          Consistency
	Type          BatchType

	session  *Session
	observer BatchObserver
}

type batch = api.BatchV1[Batch, RetryPolicy, Consistency, HostInfo, ColumnInfo]

// Batch returns an empty batch with the defaults of the session.
func (s *Session) Batch(typ BatchType) *Batch {
	b := &Batch{Type: typ, session: s, observer: s.cfg.BatchObserver}
	b.Cons = api.StartBatch(&b.batch, &s.core)
	return b
}

// NewBatch is Batch.
//
// Deprecated: use Batch.
func (s *Session) NewBatch(typ BatchType) *Batch { return s.Batch(typ) }

// BatchWithContext returns a batch with a context.
func (s *Session) BatchWithContext(ctx context.Context, typ BatchType) *Batch {
	b := s.Batch(typ)
	api.SettingsOf(b).Ctx = ctx
	return b
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// Bind adds a statement. Each execution of the batch calls bind for its values.
func (b *Batch) Bind(stmt string, bind func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, api.BoundEntry(stmt, bind))
}

// Attempts returns the number of attempts of all executions of the batch so far.
func (b *Batch) Attempts() int { return b.attempts(b.batch.Attempts()) }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.Cons }

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (b *Batch) GetCustomPartitioner() Partitioner { return nil }

// GetHostID returns what SetHostID set.
func (b *Batch) GetHostID() string { return api.HostOf(b) }

// GetRequestTimeout returns the timeout of an attempt.
func (b *Batch) GetRequestTimeout() time.Duration { return api.TimeoutOf(b, b.session.timeout()) }

// GetRoutingKey returns the serialized partition key of the first statement, nil if it is unknown. It may prepare the
// statement.
func (b *Batch) GetRoutingKey() ([]byte, error) { return api.RoutingKeyOf(&b.batch, b.content()) }

// GetSession returns the session.
func (b *Batch) GetSession() *Session { return b.session }

// IsIdempotent reports whether all statements are marked idempotent.
func (b *Batch) IsIdempotent() bool { return api.AllIdempotent(b.Entries) }

// IsLWT reports whether the batch is conditional, as far as that is known.
func (b *Batch) IsLWT() bool { return b.lwt || b.Cons.IsSerial() }

// Observer sets the observer of the batch's attempts.
func (b *Batch) Observer(observer BatchObserver) *Batch { b.observer = observer; return b }

// SerialConsistency sets the consistency of the Paxos phase of a conditional batch.
func (b *Batch) SerialConsistency(cons Consistency) *Batch { api.SettingsOf(b).Serial = cons; return b }

// SetConsistency sets the consistency.
func (b *Batch) SetConsistency(c Consistency) { b.Cons = c }

// SetHostID sends the batch to the node with this id only; "" means any node.
func (b *Batch) SetHostID(hostID string) *Batch { api.SetHost(b, hostID); return b }

// SetKeyspace sets the keyspace of the batch. It needs version 5 of the protocol.
func (b *Batch) SetKeyspace(keyspace string) *Batch { api.SetKeyspace(b, keyspace); return b }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (b *Batch) SetRequestTimeout(timeout time.Duration) *Batch { api.SetTimeout(b, timeout); return b }

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// WithNowInSeconds sets the time at which the server evaluates the expiration of cells. It needs version 5 of the
// protocol.
func (b *Batch) WithNowInSeconds(now int) *Batch { api.SetNow(b, now); return b }

func (b *Batch) content() (c api.Content[Consistency, ColumnInfo]) {
	c.Type, c.Entries, c.Cons, c.Payload = b.Type, b.Entries, b.Cons, b.CustomPayload
	return c
}

// run executes a batch. s may be nil.
func (s *Session) run(b *Batch) *Iter {
	it := &Iter{}
	r := s.newExecution(b, api.SettingsOf(b).Rare().Retry, b.observer != nil)
	api.RunBatch(&b.batch, s.v1(), b.content(), r, &it.iter)
	return it
}

// Exec runs the batch.
func (b *Batch) Exec() error { return b.session.ExecuteBatch(b) }

// ExecuteBatch runs a batch.
func (s *Session) ExecuteBatch(batch *Batch) error { return s.run(batch).Close() }

// ExecuteBatchCAS runs a conditional batch and reports whether it was applied. If it was not, the first row is stored
// in dest, and iter has the others, each with [applied] as its first column.
func (s *Session) ExecuteBatchCAS(batch *Batch, dest ...any) (applied bool, iter *Iter, err error) {
	return api.ExecCAS(s.run(batch), dest)
}

// MapExecuteBatchCAS is ExecuteBatchCAS but stores the first row in dest by column name.
func (s *Session) MapExecuteBatchCAS(batch *Batch, dest map[string]any) (applied bool, iter *Iter, err error) {
	return api.MapExecCAS(s.run(batch), dest)
}
