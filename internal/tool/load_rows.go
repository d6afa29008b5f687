// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/rowfile"
)

// Writing the rows of a load, or only checking them.

// A rowSink takes the rows of a load.
type rowSink interface {
	write(ctx context.Context, b *column.Batch) error
	// finish waits until all rows are written.
	finish(ctx context.Context) error
	// close ends the sink. It waits a moment for requests in flight.
	close() error
	stats() bulk.Stats
}

// loadRows passes the rows of the input to a sink.
func (e *env) loadRows(ctx context.Context, l *load, sink rowSink, in *rowfile.Input) error {
	l.rejects.written = func() uint64 { return sink.stats().Rows }
	stop, err := e.startProgress(func() state { return l.state(in, sink.stats()) })
	if err != nil {
		return errors.Join(err, sink.close())
	}
	defer stop()
	read := uint64(0)
	for b, readErr := range in.Batches(ctx) {
		if err = readErr; err == nil {
			if l.times {
				b = withoutNullTTL(b)
			}
			read += uint64(b.Rows)
			err = sink.write(ctx, b)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = sink.finish(ctx)
	}
	closeErr := sink.close()
	stop()
	switch {
	case l.rejects.err != nil: // without the words of package bulk
		err = l.rejects.err
	case err == nil:
		err = closeErr
	}
	if err != nil && l.o.Checkpoint != "" && !l.dryRun {
		return advise(err, "--resume continues the load")
	}
	if err != nil {
		return err
	}
	st := sink.stats()
	if l.times { // a row has several statements
		st.Rows, st.Skipped = read, 0
	}
	return e.writeSummary(l.summary, l.result(st, len(in.Files())))
}

// A rowWriters writes rows by one or several statements.
type rowWriters struct {
	l       *load
	writers []*bulk.Writer // by statement
}

func newRowWriters(session *vecql.Session, l *load) (*rowWriters, error) {
	w := &rowWriters{l: l}
	for i, s := range l.statements {
		o := l.o
		o.Counters, o.MaxRejected, o.Rejected = l.counters, math.MaxInt, l.rejects.addRow
		if i > 0 && o.Checkpoint != "" {
			o.Checkpoint = fmt.Sprintf("%s.%d", o.Checkpoint, i)
		}
		writer, err := w.open(session, s, o)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.writers = append(w.writers, writer)
	}
	return w, nil
}

// open returns the writer of a statement. That of an INSERT which is made of columns alone joins rows of one partition.
func (w *rowWriters) open(session *vecql.Session, s loadStatement, o bulk.Options) (*bulk.Writer, error) {
	if s.columns == nil {
		return bulk.New(session, s.text, o)
	}
	o.Columns, o.AllowMissing = s.columns, true
	o.TTL, o.TTLColumn, o.TimestampColumn = w.l.ttl, w.l.ttlField, w.l.timestampField
	if w.l.timestamp != 0 {
		o.Query = func(q *vecql.Query) { q.Timestamp(w.l.timestamp) }
	}
	return bulk.Insert(session, s.table, o)
}

func (w *rowWriters) write(ctx context.Context, b *column.Batch) error {
	for i, s := range w.l.statements {
		for _, rows := range s.rowsOf(b) {
			if err := w.writers[i].Write(ctx, rows); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *rowWriters) finish(ctx context.Context) error {
	for _, writer := range w.writers {
		if err := writer.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// closeTimeout bounds the wait for requests in flight after an interrupt.
const closeTimeout = 5 * time.Second

func (w *rowWriters) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	var err error
	for _, writer := range w.writers {
		if closeErr := writer.Close(ctx); err == nil {
			err = closeErr
		}
	}
	return err
}

// stats returns the sums of all writers.
func (w *rowWriters) stats() bulk.Stats {
	var sum bulk.Stats
	for _, writer := range w.writers {
		s := writer.Stats()
		sum.Rows += s.Rows
		sum.Skipped += s.Skipped
		sum.Retries += s.Retries
		sum.Bytes += s.Bytes
		sum.Elapsed = max(sum.Elapsed, s.Elapsed)
		sum.RowsPerSecond += s.RowsPerSecond
		sum.P50, sum.P99 = max(sum.P50, s.P50), max(sum.P99, s.P99)
	}
	return sum
}

// A rowChecker encodes rows and writes none.
type rowChecker struct {
	l       *load
	session *vecql.Session
	began   time.Time
	schema  column.Schema
	rows    []*vecql.RowStatement // for schema, by statement
	encoded vecql.EncodedRows     // reused
	checked atomic.Uint64
}

// write encodes each row by each statement.
func (c *rowChecker) write(ctx context.Context, b *column.Batch) error {
	if s := b.Schema(); !reflect.DeepEqual(s, c.schema) {
		c.schema, c.rows = s, nil
		for _, stmt := range c.l.statements {
			rows, err := c.session.Query(stmt.text).NullsUnset(!c.l.o.WriteNulls).PrepareRows(ctx, s)
			if err != nil {
				return err
			}
			c.rows = append(c.rows, rows)
		}
	}
	for i := range b.Rows {
		err := c.l.checkKey(b, i)
		for _, rows := range c.rows {
			if err == nil {
				err = rows.Encode(ctx, &c.encoded, b, i)
			}
		}
		if err == nil {
			c.checked.Add(1)
			continue
		}
		row := bulk.Rejection{Source: b.Source.File, Index: b.Source.FirstRow + int64(i), Batch: b.Slice(i, i+1), Err: err}
		if err := c.l.rejects.addRow(row); err != nil {
			return err
		}
	}
	return nil
}

// checkKey returns an error for a NULL in the partition key.
func (l *load) checkKey(b *column.Batch, row int) error {
	for _, key := range l.keys {
		if c := b.Column(key); c.Err() == nil && c.Null(row) {
			return fmt.Errorf("%s is NULL, but part of the key", key)
		}
	}
	return nil
}

func (c *rowChecker) finish(context.Context) error { return nil }
func (c *rowChecker) close() error                 { return nil }

func (c *rowChecker) stats() bulk.Stats {
	s := bulk.Stats{Rows: c.checked.Load(), Elapsed: time.Since(c.began)}
	s.RowsPerSecond = float64(s.Rows) / s.Elapsed.Seconds()
	return s
}
