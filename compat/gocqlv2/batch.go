// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
)

// Batch: several statements in one request.

// A Batch is a list of statements sent in one request.
type Batch struct {
	batch // the first field: see package api

	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	session      *Session
	observer     BatchObserver
	keyspace     string
	nowInSeconds *int
}

type batch = api.Options[Batch, RetryPolicy]

// Batch returns an empty batch.
func (s *Session) Batch(typ BatchType) *Batch {
	b := &Batch{Type: typ, Cons: s.cfg.Consistency, session: s, observer: s.cfg.BatchObserver}
	b.keyspace = s.cfg.Keyspace
	s.set(api.SettingsOf(b))
	return b
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
	b.Entries = append(b.Entries, api.BoundEntry(stmt, bind))
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

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
	api.SettingsOf(b).Serial = serial(cons)
	return b
}

// GetSerialConsistency returns the serial consistency and reports whether one is set.
func (b *Batch) GetSerialConsistency() (Consistency, bool) {
	c := api.SettingsOf(b).Serial
	return c, c.IsSerial()
}

// IsIdempotent reports whether all statements are marked idempotent.
func (b *Batch) IsIdempotent() bool { return api.AllIdempotent(b.Entries) }

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent.
func (b *Batch) SpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Batch {
	api.SettingsOf(b).Change(func(o *api.Rare[RetryPolicy]) { o.Spec = sp })
	return b
}

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (b *Batch) WithNowInSeconds(now int) *Batch { b.nowInSeconds = &now; return b }
