// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"cmp"
	"context"
	"encoding/binary"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/bulk"
	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/stats"
)

// Lists. A server gives each element of a list that it writes a new position, and the deletion that precedes the
// elements is one microsecond older than they are. A list that is written twice with one write time therefore has each
// element twice. So each list is read first, and is not written if the target has elements of its write time. After a
// write whose outcome is unknown, the list is written with the next microsecond, which deletes the first write.

// maxAhead is the number of microseconds that repeated writes may add to the write time of a list.
const maxAhead = 64

// listsInFlight is the number of lists of a batch that are written at a time.
const listsInFlight = 64

// A listWriter writes the lists of one column. It is safe for use by any number of goroutines.
type listWriter struct {
	session   *vecql.Session
	plan      *Plan
	statement *statement
	o         bulk.Options
	rows      atomic.Uint64
	retries   atomic.Uint64
	began     time.Time

	mu       sync.Mutex
	schema   column.Schema // of the prepared statements
	prepared preparedList
}

// A preparedList is the statements of a listWriter for one schema.
type preparedList struct {
	update, read *vecql.RowStatement
	hasTimes     bool // read returns the write times of the elements
}

func newListWriter(target clustertable.Table, p *Plan, s *statement, o bulk.Options) *listWriter {
	o.RetryFor = cmp.Or(o.RetryFor, 5*time.Minute)
	return &listWriter{session: target.Session, plan: p, statement: s, o: o, began: time.Now()}
}

// Write writes the rows of a batch. They are written when it returns nil.
func (w *listWriter) Write(ctx context.Context, b *column.Batch) error {
	prepared, err := w.prepare(ctx, b.Schema())
	if err != nil {
		return err
	}
	var group errgroup.Group
	group.SetLimit(listsInFlight)
	for _, rows := range w.byKey(b) {
		group.Go(func() error {
			for _, row := range rows {
				if err := w.putRow(ctx, prepared, b, row); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// byKey returns the numbers of the rows of a batch, the rows of one primary key together: each row of a partition has
// its static list, and two writes of one list at a time would double it.
func (w *listWriter) byKey(b *column.Batch) [][]int {
	var all [][]int
	position := map[string]int{}
	for row := range b.Rows {
		var key []byte
		for i := range w.plan.keysOf(w.statement.isStatic) {
			cell := rawCell(&b.Columns[i], row)
			key = append(binary.BigEndian.AppendUint32(key, uint32(len(cell))), cell...)
		}
		at, found := position[string(key)]
		if !found {
			at, all = len(all), append(all, nil)
			position[string(key)] = at
		}
		all[at] = append(all[at], row)
	}
	return all
}

// putRow writes the list of a row, or rejects the row.
func (w *listWriter) putRow(ctx context.Context, p preparedList, b *column.Batch, row int) error {
	one := b.Slice(row, row+1)
	err := w.put(ctx, p, one)
	if err == nil || ctx.Err() != nil || w.o.Rejected == nil {
		return err
	}
	return w.o.Rejected(bulk.Rejection{
		Source: b.Source.File, Index: b.Source.FirstRow + int64(row), Batch: one, Attempts: 1, Err: err,
	})
}

// prepare returns the statements for a schema.
func (w *listWriter) prepare(ctx context.Context, schema column.Schema) (preparedList, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if reflect.DeepEqual(schema, w.schema) {
		return w.prepared, nil
	}
	var p preparedList
	var err error
	if p.update, err = w.query(w.statement.text).PrepareRows(ctx, schema); err != nil {
		return p, err
	}
	p.read, err = w.query(w.statement.readTimes).PrepareRows(ctx, schema)
	if p.hasTimes = err == nil; refused(err) {
		p.read, err = w.query(w.statement.read).PrepareRows(ctx, schema)
	}
	if err == nil {
		w.schema, w.prepared = schema, p
	}
	return p, err
}

func (w *listWriter) query(text string) *vecql.Query {
	q := w.session.Query(text)
	if w.o.Query != nil {
		w.o.Query(q)
	}
	return q.Idempotent(false)
}

// The wait before a failed write is repeated: exponential backoff.
const (
	firstWait = 25 * time.Millisecond
	longWait  = time.Second
)

// put writes the list of a row.
func (w *listWriter) put(ctx context.Context, p preparedList, row *column.Batch) error {
	began, ahead := time.Now(), int64(0)
	for failures := 0; ; failures++ {
		present, err := w.isPresent(ctx, p, row)
		if err == nil && !present {
			err = p.update.ExecRow(ctx, w.later(row, ahead), 0)
			if vecql.MayHaveApplied(err) {
				ahead++
			}
		}
		if err == nil {
			w.rows.Add(1)
			return nil
		}
		switch vecql.ErrorClassOf(err) {
		case stats.ClassInvalid, stats.ClassOther, stats.ClassCanceled:
			return err
		}
		if time.Since(began) > w.o.RetryFor || ahead == maxAhead {
			return err
		}
		w.retries.Add(1)
		if !background.Sleep(ctx, background.Jitter(background.Exponential(firstWait, longWait, failures))) {
			return context.Cause(ctx)
		}
	}
}

// later returns a row with a write time that is some microseconds later.
func (w *listWriter) later(row *column.Batch, ahead int64) *column.Batch {
	if ahead == 0 {
		return row
	}
	out := &column.Batch{Rows: 1, Columns: append([]column.Column(nil), row.Columns...)}
	for i := range out.Columns {
		if out.Columns[i].Name == w.plan.writeTime {
			out.Columns[i] = column.Of(w.plan.writeTime, []int64{w.writeTime(row) + ahead})
		}
	}
	return out
}

// writeTime returns the write time of a row.
func (w *listWriter) writeTime(row *column.Batch) int64 {
	times, err := column.Slice[int64](row.Column(w.plan.writeTime))
	if err != nil || len(times) == 0 {
		return noWrite
	}
	return times[0]
}

// isPresent reports whether the target has elements that a write of this row has written. Without write times it
// compares the lists.
func (w *listWriter) isPresent(ctx context.Context, p preparedList, row *column.Batch) (bool, error) {
	it := p.read.Query(row, 0).Idempotent(true).Iter(ctx)
	var list []byte
	var times []int64
	found := false
	if p.hasTimes {
		cells := make([][]byte, 2)
		if found = it.NextRaw(cells); found && cells[1] != nil {
			if err := vecql.Unmarshal(it.Columns()[1].TypeInfo, cells[1], &times); err != nil {
				_ = it.Close() // the first error is the cause
				return false, err
			}
		}
	} else {
		cells := make([][]byte, 1)
		if found = it.NextRaw(cells); found {
			list = append(list, cells[0]...)
		}
	}
	if err := it.Close(); err != nil || !found {
		return false, err
	}
	if !p.hasTimes {
		last := w.statement.values[len(w.statement.values)-1].name
		return string(list) == string(rawCell(row.Column(last), 0)), nil
	}
	want := w.writeTime(row)
	for _, t := range times {
		if t >= want && t <= want+maxAhead {
			return true, nil
		}
	}
	return false, nil
}

// Flush does nothing: Write waits.
func (w *listWriter) Flush(context.Context) error { return nil }

// Close does nothing.
func (w *listWriter) Close(context.Context) error { return nil }

// Stats returns the numbers of lists and of retries.
func (w *listWriter) Stats() bulk.Stats {
	return bulk.Stats{Rows: w.rows.Load(), Retries: w.retries.Load(), Elapsed: time.Since(w.began)}
}
