// SPDX-License-Identifier: Apache-2.0

package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"sync/atomic"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/rowfile"
	"github.com/vecql/vecql/cmd/vecql/internal/tablecopy"
	"github.com/vecql/vecql/column"
)

// Writing the rows of a load, or only checking them.

// A rowSink takes the rows of a load: a writer of bulk or tablecopy, or a rowChecker.
type rowSink interface {
	Write(ctx context.Context, b *column.Batch) error
	// Flush waits until all rows are written.
	Flush(ctx context.Context) error
	Close(ctx context.Context) error
	Stats() bulk.Stats
}

// closeTimeout bounds the wait for requests in flight after an interrupt.
const closeTimeout = 5 * time.Second

// closeSink ends a sink.
func closeSink(sink rowSink) error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return sink.Close(ctx)
}

// loadRows passes the rows of the input to a sink.
func (e *env) loadRows(ctx context.Context, l *load, sink rowSink, in *rowfile.Input) error {
	l.rejects.written = func() uint64 { return sink.Stats().Rows }
	stop, err := e.startProgress(func() state { return l.state(in, sink.Stats()) })
	if err != nil {
		return cmp.Or(err, closeSink(sink))
	}
	defer stop()
	read := uint64(0)
	for b, readErr := range in.Batches(ctx) {
		if err = readErr; err == nil {
			read += uint64(b.Rows)
			err = sink.Write(ctx, b)
		}
		if err != nil {
			break
		}
	}
	if err == nil {
		err = sink.Flush(ctx)
	}
	closeErr := closeSink(sink)
	stop()
	st := sink.Stats()
	switch {
	case l.rejects.err != nil: // without the words of package bulk
		err = l.rejects.err
	case err == nil:
		if err = closeErr; err == nil {
			err = l.rejects.checkEnd(read)
		}
	}
	if err != nil {
		switch {
		case errors.Is(err, rowfile.ErrColumns) && !l.refuseExtra:
			err = advise(err, "--map COLUMN=FIELD takes another field, --allow-missing takes NULL")
		case l.o.Checkpoint != "" && !l.dryRun:
			err = advise(err, "--resume continues the load")
		case errors.Is(err, vecql.ErrNoConnections):
			err = advise(err, "a load with --checkpoint continues with --resume")
		}
		l.rejects.print(e.err)
		return err
	}
	if l.times { // a row has several statements
		st.Rows, st.Skipped, st.SkippedRejected = read, 0, 0
	}
	if len(l.mapped) == 0 && l.statement == "" { // otherwise the fields to read are named
		e.reportUnused(in, "; --refuse-extra makes them an error")
	}
	if err := e.writeSummary(l.summary, l.result(st, len(in.Files()))); err != nil {
		return err
	}
	l.rejects.print(e.err)
	return l.rejects.outcome(st)
}

// open returns the writer of the rows.
func (l *load) open(ctx context.Context, session *vecql.Session) (rowSink, error) {
	o, s := l.o, l.statements[0]
	o.Counters, o.MaxRejected, o.Rejected = l.counters, math.MaxInt, l.rejects.addRow
	o.Query = func(q *vecql.Query) {
		if l.consistency.isSet {
			q.Consistency(l.consistency.level)
		}
		if l.timestamp != 0 && s.columns != nil {
			q.Timestamp(l.timestamp)
		}
	}
	switch {
	case l.plan != nil:
		o.Job = s.text + l.input
		return tablecopy.NewWriter(ctx, l.target, l.plan, o)
	case s.columns == nil:
		o.Job = l.input
		return bulk.New(ctx, session, s.text, o)
	}
	// an INSERT that is made of columns alone joins rows of one partition
	o.Job, o.Columns, o.AllowMissing = s.text+l.input, s.columns, true
	o.TTL, o.TTLColumn, o.TimestampColumn = l.ttl, l.ttlField, l.timestampField
	return bulk.Insert(ctx, session, s.table, o)
}

// explained returns an error of open with what to do about it.
func (l *load) explained(err error) error {
	var other *bulk.JobError
	if errors.As(err, &other) {
		return advise(err, "--resume needs the table, the statement and the mapping of the first run")
	}
	return err
}

// A rowChecker encodes rows and writes none.
type rowChecker struct {
	l       *load
	session *vecql.Session
	began   time.Time
	schemas []column.Schema       // of rows, by statement
	rows    []*vecql.RowStatement // by statement
	encoded vecql.EncodedRows     // reused
	checked atomic.Uint64
}

// Write encodes each row.
func (c *rowChecker) Write(ctx context.Context, b *column.Batch) error {
	parts := [][]*column.Batch{{b}}
	if c.l.plan != nil {
		var faults []tablecopy.RowFault
		var err error
		if parts, _, faults, err = c.l.plan.Split(b); err != nil {
			return err
		}
		for _, f := range faults {
			if err := c.reject(b, f.Row, f.Err); err != nil {
				return err
			}
		}
	}
	for i, batches := range parts {
		for _, part := range batches {
			if err := c.check(ctx, i, part); err != nil {
				return err
			}
		}
	}
	return nil
}

// check encodes the rows of a batch by a statement.
func (c *rowChecker) check(ctx context.Context, statement int, b *column.Batch) error {
	if c.rows == nil {
		c.rows, c.schemas = make([]*vecql.RowStatement, len(c.l.statements)), make([]column.Schema, len(c.l.statements))
	}
	if s := b.Schema(); !reflect.DeepEqual(s, c.schemas[statement]) {
		q := c.session.Query(c.l.statements[statement].text).NullsUnset(!c.l.o.WriteNulls)
		rows, err := q.PrepareRows(ctx, s)
		if err != nil {
			return err
		}
		c.rows[statement], c.schemas[statement] = rows, s
	}
	for i := range b.Rows {
		err := c.l.checkKey(b, i)
		if err == nil {
			err = c.rows[statement].Encode(ctx, &c.encoded, b, i)
		}
		if err == nil {
			c.checked.Add(1)
			continue
		}
		if err := c.reject(b, i, err); err != nil {
			return err
		}
	}
	return nil
}

// reject rejects a row of a batch.
func (c *rowChecker) reject(b *column.Batch, row int, err error) error {
	return c.l.rejects.addRow(bulk.Rejection{
		Source: tablecopy.SourceOf(b.Source.File), Index: b.Source.FirstRow + int64(row),
		Batch: tablecopy.Original(b.Slice(row, row+1)), Err: err,
	})
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

// Flush does nothing.
func (c *rowChecker) Flush(context.Context) error { return nil }

// Close does nothing.
func (c *rowChecker) Close(context.Context) error { return nil }

// Stats returns the number of rows.
func (c *rowChecker) Stats() bulk.Stats {
	s := bulk.Stats{Rows: c.checked.Load(), Elapsed: time.Since(c.began)}
	s.RowsPerSecond = float64(s.Rows) / s.Elapsed.Seconds()
	return s
}
