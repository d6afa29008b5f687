// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/codec"
)

// The rows of one Write: a batch or structs, with the statement that is prepared for them.

// A rowSet is the rows of one Write.
type rowSet interface {
	// encode makes row i the only row of r.
	encode(ctx context.Context, r *vecql.EncodedRows, i int) error
	// describe sets the content of a rejected row.
	describe(r *Rejection, i int)
	// isStatic reports whether row i is a partition with static values only, which has another statement.
	isStatic(i int) bool
}

type batchRows struct {
	statement *vecql.RowStatement
	static    *staticRows // nil means that no row is static
	batch     *column.Batch
}

func (r *batchRows) encode(ctx context.Context, to *vecql.EncodedRows, i int) error {
	if r.isStatic(i) {
		return r.static.statement.Encode(ctx, to, r.batch, i)
	}
	return r.statement.Encode(ctx, to, r.batch, i)
}

func (r *batchRows) isStatic(i int) bool { return r.static != nil && r.static.has(r.batch, i) }

func (r *batchRows) describe(to *Rejection, i int) { to.Batch = r.batch.Slice(i, i+1) }

type structRows[T any] struct {
	statement *vecql.Statement[T]
	values    []T
}

func (r *structRows[T]) encode(ctx context.Context, to *vecql.EncodedRows, i int) error {
	return r.statement.Encode(ctx, to, &r.values[i])
}

func (*structRows[T]) isStatic(int) bool { return false }

func (r *structRows[T]) describe(to *Rejection, i int) { to.Value = &r.values[i] }

// Write accepts the rows of a batch. It blocks while the rows that were accepted and are not finished reach
// Options.MaxBytes, or twice as many requests as Options.MaxInFlight are pending. The writer keeps b: it must not
// change until Flush or Close returns. A batch that Query.Batches and parquetscan's Batches yield can be passed as it
// is, a borrowed one as a Clone. Several goroutines may call Write; one at a time proceeds.
//
// The error is the writer's, which has then stopped, or the error of ctx; some rows of b may have been accepted. An
// error of the columns of b leaves the writer as it was.
func (w *Writer) Write(ctx context.Context, b *column.Batch) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	schema := b.Schema()
	if w.rows == nil || !reflect.DeepEqual(w.schema, schema) {
		text, key, err := w.textFor(schema)
		if err != nil {
			return err
		}
		rows, err := w.query(text).NullsUnset(!w.o.WriteNulls).PrepareRows(ctx, schema)
		if err != nil {
			return err
		}
		w.rows, w.schema, w.rowsKey, w.static = rows, schema, key, nil
	}
	if err := w.prepareStatic(ctx, b); err != nil {
		return err
	}
	source, first := b.Source.File, b.Source.FirstRow
	if source == "" && first == 0 && b.Source.HostID == (cql.UUID{}) {
		first = w.next
	}
	if source == "" {
		w.next = max(w.next, first+int64(b.Rows))
	}
	return w.accept(ctx, &job{rows: &batchRows{w.rows, w.static, b}, key: w.rowsKey, source: source, first: first}, b.Rows)
}

// Rows accepts structs, as Writer.Write accepts a batch. The writer keeps values. Each bind marker takes its value
// from the field of its name, see vecql.Prepare. For a writer of Insert, T must have a field for each column of the
// table; with Options.AllowMissing, for each column of the primary key.
func Rows[T any](ctx context.Context, w *Writer, values []T) error {
	if err := w.lock(ctx); err != nil {
		return err
	}
	defer w.unlock()
	statement, ok := w.typed.(*vecql.Statement[T])
	if !ok {
		text, key, err := w.textFor(fieldsOf[T](w))
		if err != nil {
			return err
		}
		if statement, err = vecql.Prepare[T](ctx, w.query(text)); err != nil {
			return err
		}
		w.typed, w.typedKey = statement, key
	}
	first := w.next
	w.next += int64(len(values))
	return w.accept(ctx, &job{rows: &structRows[T]{statement, values}, key: w.typedKey, first: first}, len(values))
}

// accept dispatches n rows of a job that are not done yet.
func (w *Writer) accept(ctx context.Context, j *job, n int) error {
	w.ledger.mu.Lock()
	j.sets = w.ledger.source(j.source)
	w.ledger.mu.Unlock()
	resumed := w.ledger.resumed[j.source]
	if resumed == nil {
		resumed = &rowSets{}
	}
	defer w.group.drop() // after an error
	announce := !w.repeatable && w.o.Checkpoint != ""
	for i := 0; i < n; i++ {
		if v, ok := resumed.done.find(j.first + int64(i)); ok {
			skip := int(min(v[1]-j.first, int64(n))) - i
			w.count.skipped.Add(uint64(skip))
			first := j.first + int64(i)
			w.count.skippedRejected.Add(uint64(resumed.rejected.count(first, first+int64(skip))))
			i += skip - 1
			continue
		}
		if announce && j.first+int64(i) >= j.announced {
			if err := w.announce(ctx, j, i, min(n, i+announcedRows)); err != nil {
				return err
			}
		}
		if resumed.started.has(j.first+int64(i)) && !w.repeatable {
			if err := w.acceptFailed(task{job: j, row: i, rows: 1}, ErrInDoubt); err != nil {
				return err
			}
			continue
		}
		if err := w.acceptRow(ctx, j, i); err != nil {
			return err
		}
	}
	return w.offerGroup(ctx)
}

// announcedRows is the number of rows of a statement that is not idempotent that a checkpoint announces at a time. No
// more rows are in doubt after a crash.
const announcedRows = 64

// announce records durably that the rows i up to but not including end may be sent. It waits until the rows that were
// announced before are finished if there are too many.
func (w *Writer) announce(ctx context.Context, j *job, i, end int) error {
	if w.announced+end-i > announcedRows {
		err := w.offerGroup(ctx)
		if err == nil {
			err = w.drain(ctx)
		}
		if err == nil {
			err = w.errorOf(nil)
		}
		if err != nil {
			return err
		}
		w.announced = 0
	}
	w.announced += end - i
	j.announced = j.first + int64(end)
	if err := w.ledger.start(j.sets, j.first+int64(i), j.announced); err != nil {
		w.fail(err)
		return err
	}
	return nil
}

// acceptRow encodes one row and dispatches it, perhaps with those after it, when rates and bounds allow.
func (w *Writer) acceptRow(ctx context.Context, j *job, i int) error {
	t := task{job: j, row: i, rows: 1, encoded: newEncoded()}
	err := j.rows.encode(ctx, t.encoded, i)
	switch {
	case err == nil, mayPass[vecql.ErrorClassOf(err)]: // the row may be sent later
	case ctx.Err() != nil:
		return ctx.Err()
	default:
		return w.acceptFailed(t, err)
	}
	t.size = t.encoded.Size()
	if err = w.rowRate.take(ctx, 1); err == nil {
		err = w.byteRate.take(ctx, float64(t.size))
	}
	if err == nil && w.group.join(&t) {
		return nil
	}
	if err == nil {
		err = w.offerGroup(ctx)
	}
	if err != nil {
		freeEncoded(t.encoded)
		return err
	}
	w.group.start(t)
	if w.table != nil && w.o.BatchRows > 1 {
		return nil // the next row may join it
	}
	return w.offerGroup(ctx)
}

// acceptFailed accepts a row that was not sent and fails for good.
func (w *Writer) acceptFailed(t task, err error) error {
	w.mu.Lock()
	stopped := w.stopped()
	if stopped == nil {
		w.pending++
		w.tasks++
	}
	w.mu.Unlock()
	if stopped != nil {
		return stopped
	}
	w.reject(&t, err)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(t, err)
	return w.err
}

// fieldsOf returns the columns that T has a field for, of those that the writer of Insert takes, as a schema without
// types.
func fieldsOf[T any](w *Writer) column.Schema {
	if w.table == nil || reflect.TypeFor[T]().Kind() != reflect.Struct {
		return nil
	}
	names := slices.Concat(w.table.OrderedColumns, slices.Sorted(maps.Keys(w.o.Columns)),
		[]string{w.o.TTLColumn, w.o.TimestampColumn})
	var schema column.Schema
	for _, name := range names {
		if _, ok := codec.FieldFor(reflect.TypeFor[T](), name); ok && schema.Index(name) < 0 {
			schema = append(schema, column.Field{Name: name})
		}
	}
	return schema
}
