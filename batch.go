// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// This file holds Batch: several statements in one request.

// BatchSizeMaximum is the number of statements a batch may hold: its count is a [short].
const BatchSizeMaximum = 65535

// BatchEntry is one statement of a batch.
type BatchEntry struct {
	Stmt       string
	Args       []any
	Idempotent bool // running it twice does no harm; a batch of such statements only is idempotent
	binding    func(q *QueryInfo) ([]any, error)
}

// Batch is a list of statements that are sent in one request. Like a Query it is changed by its setters only and needs no release.
// The server limits the size of batches (Cassandra 50 KiB by default): many rows are written faster one by one, many at a time.
type Batch struct {
	Type    BatchType
	Entries []BatchEntry
	session *Session
	options
}

// Batch returns an empty batch.
func (s *Session) Batch(typ BatchType) *Batch {
	return &Batch{Type: typ, session: s, options: s.defaultOptions()}
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// Bind adds a statement whose values come from binding, which is called with the prepared statement's description each time the batch runs.
func (b *Batch) Bind(stmt string, binding func(q *QueryInfo) ([]any, error)) {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, binding: binding})
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// Consistency sets the consistency of the request.
func (b *Batch) Consistency(c Consistency) *Batch { b.consistency = c; return b }

// SerialConsistency sets the consistency of a conditional batch's Paxos phase: Serial or LocalSerial.
func (b *Batch) SerialConsistency(c Consistency) *Batch { b.serialConsistency = c; return b }

// Idempotent says that running the batch twice does no harm, so that it may be sent again when its outcome is not known.
func (b *Batch) Idempotent(v bool) *Batch { b.idempotent = v; return b }

// DefaultTimestamp says whether the client's clock is sent with the request.
func (b *Batch) DefaultTimestamp(v bool) *Batch { b.defaultTimestamp = v; return b }

// WithTimestamp sets the write time, in microseconds since the epoch.
func (b *Batch) WithTimestamp(us int64) *Batch { b.timestamp, b.hasTimestamp = us, true; return b }

// WithNowInSeconds sets the server's idea of the current time, in seconds since the epoch (protocol v5).
func (b *Batch) WithNowInSeconds(s int) *Batch {
	b.nowInSeconds, b.hasNowInSeconds = int32(s), true
	return b
}

// SetKeyspace sets the keyspace of this request (protocol v5).
func (b *Batch) SetKeyspace(keyspace string) *Batch { b.keyspace = keyspace; return b }

// SetHostID sends the batch to the node with that HostInfo.HostID only; empty: to any. When there is none it fails with ErrNoConnections.
func (b *Batch) SetHostID(id string) *Batch { b.setHost(id); return b }

// GetHostID returns the id of the node that the request goes to only, empty when none was set.
func (b *Batch) GetHostID() string { return b.host() }

// CustomPayload sets the custom payload of the request.
func (b *Batch) CustomPayload(payload map[string][]byte) *Batch { b.payload = payload; return b }

// Trace asks the server to trace the request and hands the tracing id to t.
func (b *Batch) Trace(t Tracer) *Batch { b.tracer = t; return b }

// GetConsistency returns the consistency.
func (b *Batch) GetConsistency() Consistency { return b.consistency }

// GetSerialConsistency returns the serial consistency; ok is false when none is set and the server's applies.
func (b *Batch) GetSerialConsistency() (c Consistency, ok bool) {
	return b.serialConsistency, b.serialConsistency != 0
}

// IsIdempotent reports whether the batch is marked idempotent, or all its statements are.
func (b *Batch) IsIdempotent() bool {
	return b.idempotent || len(b.Entries) > 0 && !slices.ContainsFunc(b.Entries, func(e BatchEntry) bool { return !e.Idempotent })
}

// ExecContext runs the batch.
func (b *Batch) ExecContext(ctx context.Context) error { return b.IterContext(ctx).Close() }

// Exec is ExecContext without a context.
func (b *Batch) Exec() error { return b.ExecContext(context.Background()) }

// IterContext runs the batch and returns the rows that a conditional batch answers with.
func (b *Batch) IterContext(ctx context.Context) *Iter {
	it := &Iter{ctx: ctx, session: b.session}
	it.start(b.run(ctx))
	return it
}

// Iter is IterContext without a context.
func (b *Batch) Iter() *Iter { return b.IterContext(context.Background()) }

// ExecCASContext runs a conditional batch and reports whether it was applied. The first row is stored in dest as ScanCASContext does;
// the Iter holds the others and must be closed.
func (b *Batch) ExecCASContext(ctx context.Context, dest ...any) (applied bool, it *Iter, err error) {
	it = b.IterContext(ctx)
	if applied, err = it.scanApplied(dest); err == nil {
		err = it.err
	}
	return applied, it, err
}

// ExecCAS is ExecCASContext without a context.
func (b *Batch) ExecCAS(dest ...any) (applied bool, it *Iter, err error) {
	return b.ExecCASContext(context.Background(), dest...)
}

// MapExecCASContext is ExecCASContext with the first row by column name.
func (b *Batch) MapExecCASContext(ctx context.Context, m map[string]any) (applied bool, it *Iter, err error) {
	it = b.IterContext(ctx)
	if applied, err = it.mapScanApplied(m); err == nil {
		err = it.err
	}
	return applied, it, err
}

// MapExecCAS is MapExecCASContext without a context.
func (b *Batch) MapExecCAS(m map[string]any) (applied bool, it *Iter, err error) {
	return b.MapExecCASContext(context.Background(), m)
}

// run prepares the statements that have values, encodes the batch and sends it to a replica of its first statement's partition.
func (b *Batch) run(ctx context.Context) (answer, error) {
	s := b.session
	if len(b.Entries) > BatchSizeMaximum {
		return answer{}, fmt.Errorf("%w: %d, the limit is %d", ErrTooManyStmts, len(b.Entries), BatchSizeMaximum)
	}
	if b.how.fault != nil {
		return answer{}, b.how.fault
	}
	c := s.newCall(&b.options)
	defer c.release()
	c.idempotent, c.several, c.logged = b.IsIdempotent(), len(b.Entries) > 1, b.Type == LoggedBatch
	if b.how.batchObserver != nil {
		c.watch = &observation{batch: b}
	}
	entries := make([]batchEntry, len(b.Entries))
	bound := make([]bindings, len(b.Entries))
	var first *bindings // the first statement that has a partition key
	for i, e := range b.Entries {
		if len(e.Args) == 0 && e.binding == nil {
			entries[i].stmt = e.Stmt
			c.lwt = c.lwt || isConditional(e.Stmt)
			c.mixed = true // nobody knows its table
			continue
		}
		stmt, err := s.prepareFor(ctx, c, b.keyspace, e.Stmt)
		if err == nil && e.binding != nil {
			e.Args, err = callBinding(e.binding, stmt, stmt.result.Load())
		}
		if err == nil {
			err = bound[i].bind(stmt, e.Args)
		}
		if err != nil {
			return answer{}, fmt.Errorf("batch statement %d: %w", i, err)
		}
		c.lwt = c.lwt || stmt.lwt
		if !slices.Contains(c.stmts, stmt) {
			c.stmts = append(c.stmts, stmt)
		}
		entries[i].id, entries[i].values = stmt.id, &bound[i]
		if first == nil && len(stmt.pkIndexes) > 0 {
			first = &bound[i]
		}
	}
	err := c.begin(opBatch, &b.options, 128*len(entries))
	if err == nil {
		c.req.body.b, err = appendBatch(c.req.body.b, s.version, b.Type, entries, &c.params)
	}
	if err != nil {
		return answer{}, err
	}
	if first != nil {
		c.routesBy(first.stmt)
		for _, stmt := range c.stmts {
			keyspace, table := stmt.routing()
			c.mixed = c.mixed || keyspace != c.keyspace || table != c.table
		}
		if c.token, c.hasToken, err = first.token(c.req.body.b); err != nil {
			return answer{}, err
		}
	}
	c.req.began = time.Now()
	if err := s.send(ctx, c); err != nil {
		return answer{}, err
	}
	c.answer.latency = time.Since(c.answer.began)
	if b.tracer != nil && c.answer.env.traced {
		s.trace(b.tracer, c.answer.env.tracingID)
	}
	return c.answer, nil
}
