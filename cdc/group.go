// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/token"
)

// A group of streams in a window: its pages, cut into whole changes, without the rows that are acknowledged.

// readGroup reads the window of a group, and notes that it is done.
func (r *Reader) readGroup(ctx context.Context, g group, fresh bool, f func(delivery) error) error {
	err := r.repeat(ctx, "reading the changes", func() (moved bool, err error) {
		a := attempt{reader: r, known: r.known(g), pass: func(d delivery) error {
			if err := f(d); err != nil {
				return &programError{err}
			}
			moved = true
			return nil
		}}
		err = a.read(ctx, g, fresh)
		return moved, err
	})
	var program *programError
	switch {
	case errors.As(err, &program):
		return program.err
	case err != nil:
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[g.key()] = true
	for _, stream := range g {
		delete(r.positions, string(stream))
	}
	return nil
}

// acknowledge notes rows that the program has, and the last row of each of their streams.
func (r *Reader) acknowledge(rows int64, ends map[string]position) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.positions, ends)
	r.rows += rows
}

// known returns the acknowledged positions of the streams of a group.
func (r *Reader) known(g group) map[string]position {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := map[string]position{}
	for _, stream := range g {
		if p, ok := r.positions[string(stream)]; ok {
			known[string(stream)] = p
		}
	}
	return known
}

// An attempt reads the window of a group from its first row that is not acknowledged.
type attempt struct {
	reader  *Reader
	known   map[string]position // acknowledged before the attempt
	carry   *column.Batch       // the begin of a change whose other rows follow; nil means none
	pass    func(delivery) error
	columns []cql.ColumnInfo // of the rows to pass next
}

// read reads the pages. Changes may have expired unread if a page comes later than the TTL of the log after the begin
// of the window.
func (a *attempt) read(ctx context.Context, g group, fresh bool) error {
	r := a.reader
	q := r.session.Query(r.text, [][]byte(g), cql.MinTimeUUID(a.from(g)), cql.MinTimeUUID(r.window.to)).
		Idempotent(true).RoutingToken(token.CDC(g[0])).PageSize(r.cfg.PageRows)
	if r.cfg.Query != nil {
		r.cfg.Query(q)
	}
	it := q.Iter(ctx)
	defer func() { _ = it.Close() }()
	b, pages := new(column.Batch), 0
	for ; it.NextBatch(b); pages++ {
		err := r.checkExpired(time.Now())
		if err == nil {
			err = a.page(b, it.Columns(), len(b.Source.NextPage) == 0)
		}
		if err != nil {
			return err
		}
		if fresh {
			b = new(column.Batch)
		}
	}
	err := it.Close()
	if err == nil && pages == 0 { // there may have been rows
		err = r.checkExpired(time.Now())
	}
	if err != nil || a.carry == nil {
		return err
	}
	return a.passAll(a.carry)
}

// from returns the begin of the rows to read: the least acknowledged time, if all streams have one.
func (a *attempt) from(g group) time.Time {
	if len(a.known) < len(g) {
		return a.reader.window.from
	}
	least := a.reader.window.to
	for _, p := range a.known {
		if at := milli(p.time.Time()); at.Before(least) {
			least = at
		}
	}
	return least
}

// page passes the new rows of a page to the program, except the last change if its other rows are on the next page.
func (a *attempt) page(b *column.Batch, columns []cql.ColumnInfo, last bool) error {
	b, err := a.fresh(b)
	if err != nil || b.Rows == 0 {
		return err
	}
	if a.carry != nil {
		joined, err := column.Concat(a.carry, b)
		if err != nil { // the table was altered
			if err := a.passAll(a.carry); err != nil {
				return err
			}
			joined = b
		}
		a.carry, b = nil, joined
	}
	a.columns = columns
	if last {
		return a.passAll(b)
	}
	whole, err := wholeChanges(b)
	if err != nil {
		return err
	}
	if whole < b.Rows {
		a.carry = b.Slice(whole, b.Rows).Clone()
	}
	if whole == 0 {
		return nil
	}
	return a.passAll(b.Slice(0, whole))
}

// fresh returns the rows that are not acknowledged.
func (a *attempt) fresh(b *column.Batch) (*column.Batch, error) {
	if len(a.known) == 0 {
		return b, nil
	}
	rows, err := viewOf(b)
	if err != nil {
		return nil, err
	}
	var keep []int32
	for i := range b.Rows {
		if p, ok := a.known[string(rows.stream(i))]; !ok || rows.position(i).compare(p) > 0 {
			keep = append(keep, int32(i))
		}
	}
	if len(keep) == b.Rows {
		return b, nil
	}
	return b.Take(keep)
}

// passAll passes the rows of a batch to the program.
func (a *attempt) passAll(b *column.Batch) error {
	rows, err := viewOf(b)
	if err != nil {
		return err
	}
	ends := map[string]position{}
	for i := range b.Rows {
		if i+1 == b.Rows || !bytes.Equal(rows.stream(i), rows.stream(i+1)) {
			ends[string(rows.stream(i))] = rows.position(i)
		}
	}
	count := int64(b.Rows) // before the program has the batch, which it may keep and change
	return a.pass(delivery{b, a.columns, func() { a.reader.acknowledge(count, ends) }})
}

// wholeChanges returns the number of rows at the start of a page whose changes are on the page.
func wholeChanges(b *column.Batch) (int, error) {
	rows, err := viewOf(b)
	if err != nil {
		return 0, err
	}
	last := b.Rows - 1
	if end := b.Column("cdc$end_of_batch"); end.Err() == nil && end.Value(last) == true {
		return b.Rows, nil
	}
	i := last
	for i > 0 && rows.sameChange(i-1, last) {
		i--
	}
	return i, nil
}

// A view is the key columns of a batch.
type view struct {
	streams column.TextView
	times   []byte
	seqs    []int32
}

func viewOf(b *column.Batch) (view, error) {
	streams, err := b.Column("cdc$stream_id").Text()
	if err != nil {
		return view{}, fmt.Errorf("cdc: read a page: %w", err)
	}
	seqs, err := column.Slice[int32](b.Column("cdc$batch_seq_no"))
	if err != nil {
		return view{}, fmt.Errorf("cdc: read a page: %w", err)
	}
	times := b.Column("cdc$time")
	if err := times.Err(); err != nil {
		return view{}, fmt.Errorf("cdc: read a page: %w", err)
	}
	if times.Type.Kind != column.UUID || len(times.Values) < 16*b.Rows {
		return view{}, fmt.Errorf("cdc: read a page: cdc$time is %v, want uuid", times.Field())
	}
	return view{streams, times.Values, seqs}, nil
}

func (v view) stream(i int) []byte { return v.streams.Bytes(i) }

func (v view) position(i int) position {
	return position{cql.UUID(v.times[16*i : 16*i+16]), v.seqs[i]}
}

// sameChange reports whether two rows are of one change.
func (v view) sameChange(i, j int) bool {
	return bytes.Equal(v.stream(i), v.stream(j)) && v.position(i).sameChange(v.position(j))
}
