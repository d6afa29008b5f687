// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

//compat:copy scyllagocql

// Batch: several statements in one request.

// A Batch is a list of statements that are sent in one request. Session.ExecuteBatch runs it.
type Batch struct {
	batch // the first field: see package api

	Type          BatchType
	Entries       []BatchEntry
	Cons          Consistency
	CustomPayload map[string][]byte

	observer BatchObserver
}

type batch = api.BatchV1[Batch, RetryPolicy, Consistency, HostInfo, ColumnInfo]

// NewBatch returns an empty batch with the defaults of the session.
func (s *Session) NewBatch(typ BatchType) *Batch {
	b := &Batch{Type: typ, observer: s.cfg.BatchObserver}
	b.Cons = api.StartBatch(&b.batch, &s.core)
	return b
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
}

// SerialConsistency sets the consistency of the Paxos phase of a conditional batch.
func (b *Batch) SerialConsistency(cons SerialConsistency) *Batch {
	api.SettingsOf(b).Serial = cql.Consistency(cons)
	return b
}

// GetRoutingKey returns the serialized partition key of the first statement, nil if it is unknown. It may prepare the
// statement.
func (b *Batch) GetRoutingKey() ([]byte, error) { return api.RoutingKeyOf(&b.batch, b.content()) }

func (b *Batch) content() api.Content[Consistency, ColumnInfo] {
	return api.Content[Consistency, ColumnInfo]{Type: b.Type, Entries: b.Entries, Cons: b.Cons, Payload: b.CustomPayload}
}

// run executes a batch. s may be nil.
func (s *Session) run(b *Batch) *Iter {
	it := &Iter{}
	r := s.newExecution(b, api.SettingsOf(b).Rare().Retry, b.observer != nil)
	api.RunBatch(&b.batch, s.v1(), b.content(), r, &it.iter)
	return it
}

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
