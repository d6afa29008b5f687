// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"context"
	"time"

	api "github.com/vecql/vecql/compat/api"
)

// Batch: several statements in one request.

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

// Batch returns an empty batch with the defaults of the session.
func (s *Session) Batch(typ BatchType) *Batch {
	b := &Batch{Type: typ, session: s, observer: s.cfg.BatchObserver}
	b.Cons = api.StartBatch(&b.batch, &s.core)
	return b
}

// BatchWithContext returns a batch with a context.
func (s *Session) BatchWithContext(ctx context.Context, typ BatchType) *Batch {
	b := s.Batch(typ)
	api.SettingsOf(b).Ctx = ctx
	return b
}

// Attempts returns the number of attempts of all executions of the batch so far.
func (b *Batch) Attempts() int { return b.attempts(b.batch.Attempts()) }

// GetCustomPartitioner returns nil: vecql routes by the partitioner of the cluster.
func (b *Batch) GetCustomPartitioner() Partitioner { return nil }

// GetHostID returns what SetHostID set.
func (b *Batch) GetHostID() string { return api.HostOf(b) }

// GetRequestTimeout returns the timeout of an attempt.
func (b *Batch) GetRequestTimeout() time.Duration { return api.TimeoutOf(b, b.session.timeout()) }

// GetSession returns the session.
func (b *Batch) GetSession() *Session { return b.session }

// IsLWT reports whether the batch is conditional, as far as that is known.
func (b *Batch) IsLWT() bool { return b.lwt || b.Cons.IsSerial() }

// SetHostID sends the batch to the node with this id only; "" means any node.
func (b *Batch) SetHostID(hostID string) *Batch { api.SetHost(b, hostID); return b }

// SetKeyspace sets the keyspace of the batch. It needs version 5 of the protocol.
func (b *Batch) SetKeyspace(keyspace string) *Batch { api.SetKeyspace(b, keyspace); return b }

// SetRequestTimeout sets the timeout of an attempt; 0 means none.
func (b *Batch) SetRequestTimeout(timeout time.Duration) *Batch { api.SetTimeout(b, timeout); return b }

// WithNowInSeconds sets the time at which the server evaluates the expiration of cells. It needs version 5 of the
// protocol.
func (b *Batch) WithNowInSeconds(now int) *Batch { api.SetNow(b, now); return b }

// Exec runs the batch.
func (b *Batch) Exec() error { return b.session.ExecuteBatch(b) }
