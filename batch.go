// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"slices"
	"time"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
	"github.com/vecql/vecql/internal/frame"
)

// Batch: several statements in one request.

// BatchSizeMaximum is the maximum number of statements in a batch, whose count is a [short].
const BatchSizeMaximum = 65535

// A BatchEntry is one statement of a batch.
type BatchEntry struct {
	Stmt       string
	Args       []any
	Idempotent bool // safe to execute twice; a batch is idempotent if all its statements are
	binding    func(StatementMetadata) ([]any, error)
	record     record // the struct that holds the values, if set
}

// A Batch is a list of statements sent in one request. As with a Query, only its setters modify it, and it needs no
// release. The server limits the size of batches (Cassandra: 50 KiB by default); concurrent single requests write many
// rows faster.
type Batch struct {
	Type    cql.BatchType
	Entries []BatchEntry
	session *Session
	options
}

// Batch returns an empty batch.
func (s *Session) Batch(typ cql.BatchType) *Batch {
	return &Batch{Type: typ, session: s, options: s.defaultOptions()}
}

// Query adds a statement.
func (b *Batch) Query(stmt string, args ...any) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, Args: args})
	return b
}

// Bind adds a statement. The batch calls binding for its values each time it runs.
func (b *Batch) Bind(stmt string, binding func(m StatementMetadata) ([]any, error)) *Batch {
	b.Entries = append(b.Entries, BatchEntry{Stmt: stmt, binding: binding})
	return b
}

// Size returns the number of statements.
func (b *Batch) Size() int { return len(b.Entries) }

// Exec runs the batch.
func (b *Batch) Exec(ctx context.Context) error { return b.Iter(ctx).Close() }

// Iter runs the batch and returns the rows of a conditional batch.
func (b *Batch) Iter(ctx context.Context) *Iter {
	it := &Iter{ctx: ctx, session: b.session}
	it.start(nil, b.run(ctx, &it.answer))
	return it
}

// ExecCAS runs a conditional batch and reports whether it was applied. It stores the first row in dest as
// Query.ScanCAS does. The Iter has the other rows and must be closed.
func (b *Batch) ExecCAS(ctx context.Context, dest ...any) (applied bool, it *Iter, err error) {
	it = b.Iter(ctx)
	if applied, err = it.scanApplied(dest); err == nil {
		err = it.err
	}
	return applied, it, err
}

// MapExecCAS is ExecCAS but stores the first row in m by column name.
func (b *Batch) MapExecCAS(ctx context.Context, m map[string]any) (applied bool, it *Iter, err error) {
	it = b.Iter(ctx)
	if applied, err = it.mapScanApplied(m); err == nil {
		err = it.err
	}
	return applied, it, err
}

// run sends the batch and stores the answer in page, which must be zero.
func (b *Batch) run(ctx context.Context, page *answer) error {
	c := b.session.newCall(&b.options)
	defer c.release()
	c.answer = page
	ctx, end := c.within(ctx, b.session.cfg.Timeout)
	defer end()
	err := b.send(ctx, c)
	if c.mustRebind(err) {
		b.session.rebind(c, &b.options)
		err = b.send(ctx, c)
	}
	if err != nil {
		return c.unlessIgnored(err)
	}
	if b.tracer != nil && page.env.Traced {
		b.session.trace(b.tracer, page.env.TracingID)
	}
	b.warn(page)
	return nil
}

// describe implements observed.
func (b *Batch) describe(a *ObservedAttempt) {
	a.Keyspace = b.GetKeyspace()
	for _, e := range b.Entries {
		a.Statements = append(a.Statements, e.Stmt)
		a.Values = append(a.Values, e.Args)
	}
}

// send encodes and sends the batch.
func (b *Batch) send(ctx context.Context, c *call) error {
	if b.policies.observer != nil {
		c.observer = &observation{request: b, observer: b.policies.observer}
	}
	if _, err := b.encode(ctx, c); err != nil {
		return err
	}
	c.req.Began = time.Now()
	return b.session.send(ctx, c)
}

// encode prepares the statements that have values and encodes the batch. It is routed by the first statement with a
// partition key, whose values encode returns; nil means none.
func (b *Batch) encode(ctx context.Context, c *call) (first *bindings, err error) {
	if err := b.configure(c); err != nil {
		return nil, err
	}
	entries, first, err := b.bindEntries(ctx, c)
	if err != nil {
		return nil, err
	}
	if err = c.startBody(b.session.version, frame.OpBatch, &b.options, 128*len(entries)); err == nil {
		c.req.Body.B, err = frame.AppendBatch(c.req.Body.B, b.session.version, b.Type, entries, &c.params)
	}
	if err != nil || first == nil {
		return nil, err
	}
	c.setTable(first.stmt)
	for _, stmt := range c.stmts {
		keyspace, table := stmt.table()
		c.mixed = c.mixed || keyspace != c.keyspace || table != c.table
	}
	if c.token, c.hasToken, err = first.token(c.req.Body.B); err == nil && c.hasToken && b.session.picks() {
		c.keepKey(first)
	}
	return first, err
}

// configure applies the settings that do not depend on the statements.
func (b *Batch) configure(c *call) error {
	if len(b.Entries) > BatchSizeMaximum {
		return errtext.Errorf("%w: %d, the limit is %d", frame.ErrTooManyStmts, len(b.Entries), BatchSizeMaximum)
	}
	if b.policies.fault != nil {
		return b.policies.fault
	}
	c.idempotent, c.batched, c.logged = b.GetIdempotent(), len(b.Entries), b.Type == cql.LoggedBatch
	if len(b.Entries) > 0 {
		c.text = b.Entries[0].Stmt
	}
	return nil
}

// prepareEntry prepares a statement of the batch. The time that it takes is taken from the timeout of the next one.
func (b *Batch) prepareEntry(ctx context.Context, c *call, text string) (*statement, error) {
	began := c.req.Began
	stmt, err := b.session.prepareFor(ctx, c, b.keyspace, text)
	if c.req.Began != began { // the statement was not known
		if timeout := c.timeout(ctx, b.session.cfg.Timeout); timeout > 0 {
			c.req.Timeout = max(timeout-c.req.Began.Sub(began), 1)
		}
	}
	return stmt, err
}

// bindEntries prepares and binds the statements that have values. It returns all statements, and the values of the
// first one that has a partition key.
func (b *Batch) bindEntries(ctx context.Context, c *call) (entries []frame.BatchEntry, first *bindings, err error) {
	timeout := c.req.Timeout
	defer func() { c.req.Timeout = timeout }() // each attempt has the whole timeout
	entries = make([]frame.BatchEntry, len(b.Entries))
	bound := make([]bindings, len(b.Entries))
	for i, e := range b.Entries {
		if len(e.Args) == 0 && e.binding == nil && !e.record.isSet() {
			entries[i].Stmt = e.Stmt
			c.lwt = c.lwt || cqltext.IsConditional(e.Stmt)
			c.mixed = true // the table is unknown
			continue
		}
		stmt, err := b.prepareEntry(ctx, c, e.Stmt)
		if err == nil && e.binding != nil {
			e.Args, err = callBinding(e.binding, stmt, stmt.result.Load())
		}
		switch {
		case err != nil:
		case e.record.isSet():
			err = e.record.bind(&bound[i], stmt)
		default:
			err = bound[i].bind(stmt, e.Args)
		}
		if err != nil {
			return nil, nil, errtext.Errorf("batch statement %d: %w", i, err)
		}
		c.lwt = c.lwt || stmt.lwt
		if !slices.Contains(c.stmts, stmt) {
			c.stmts = append(c.stmts, stmt)
		}
		entries[i].ID, entries[i].Values = stmt.id, &bound[i]
		if first == nil && len(stmt.pkIndexes) > 0 {
			first = &bound[i]
		}
	}
	return entries, first, nil
}
