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

// Keyspace returns the keyspace of the batch.
func (b *Batch) Keyspace() string { return b.keyspace }

// SetKeyspace sets the keyspace of the batch (protocol v5).
func (b *Batch) SetKeyspace(keyspace string) *Batch { b.keyspace = keyspace; return b }

// Consistency sets the consistency.
func (b *Batch) Consistency(cons Consistency) *Batch { b.Cons = cons; return b }

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

// SpeculativeExecutionPolicy sets the policy of speculative execution, which applies if the batch is idempotent.
func (b *Batch) SpeculativeExecutionPolicy(sp SpeculativeExecutionPolicy) *Batch {
	api.SettingsOf(b).Change(func(o *api.Rare[RetryPolicy]) { o.Spec = sp })
	return b
}

// WithNowInSeconds sets the time that the server assumes, in seconds since the epoch (protocol v5).
func (b *Batch) WithNowInSeconds(now int) *Batch { b.nowInSeconds = &now; return b }
