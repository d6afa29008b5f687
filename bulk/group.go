// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"

	"github.com/vecql/vecql"
)

// Groups: rows that follow each other are sent together, as an unlogged batch, if they are of one partition, or small
// and with a replica in common. A server applies rows of one partition as one mutation, for a fraction of the work of
// single requests. Rows of several partitions spare the work of a request each.

const (
	defaultBatchRows = 64
	// defaultBatchPartitions is the number above which Cassandra logs a warning for a batch
	// (unlogged_batch_across_partitions_warn_threshold in cassandra.yaml).
	defaultBatchPartitions = 10
	// acrossBytes bounds the values of a batch of several partitions. Larger rows cost more than their requests; Cassandra
	// logs a warning from 5 KiB on (batch_size_warn_threshold).
	acrossBytes = 2 << 10
	// batchBytes bounds the encoded rows of a batch. Servers do not limit batches of one partition by their size; a larger
	// request delays others without being cheaper by row.
	batchBytes = 32 << 10
)

// A group is rows that are encoded and not dispatched yet. The holder of the token in Writer.accepting uses it.
type group struct {
	rows           task // no rows means that the group is empty
	most           int  // rows
	mostPartitions int
	mostBytes      int // of the values
	partitions     int
	last           int64           // token of the last row
	keys           []uint64        // hashes of the primary keys of the rows
	targets        []vecql.Replica // of all rows
	more           []vecql.Replica // of a further row
	seed           maphash.Seed
}

// start makes t the first row of the group, which is empty.
func (g *group) start(t task) {
	g.rows, g.partitions = t, 1
	g.last, _ = t.encoded.Token()
	g.keys = append(g.keys[:0], g.keyOf(&t))
	g.targets = t.encoded.Targets(g.targets[:0])
}

// join adds a row, and reports whether it did: the row follows the others, belongs to them, and has another primary
// key. Rows of a batch share their write time, so that two rows with one key would become a mixture of both.
func (g *group) join(t *task) bool {
	if g.rows.rows == 0 || g.rows.rows >= g.most || g.rows.job != t.job || g.rows.row+g.rows.rows != t.row {
		return false
	}
	token, _ := t.encoded.Token()
	key := g.keyOf(t)
	if !g.fits(t, token) || slices.Contains(g.keys, key) || !g.rows.encoded.Join(t.encoded) {
		return false
	}
	if token != g.last {
		g.partitions++
		g.targets = append(g.targets[:0], g.more...)
	}
	g.last = token
	g.keys = append(g.keys, key)
	g.rows.rows++
	g.rows.size += t.size
	freeEncoded(t.encoded)
	return true
}

// fits reports whether the row and the rows of the group are of one partition, or few and with a replica in common,
// and sets g.more to the targets that all have.
func (g *group) fits(t *task, token int64) bool {
	size := g.rows.size + t.size
	if g.partitions == 1 && token == g.last {
		return size <= g.mostBytes
	}
	if size > min(acrossBytes, g.mostBytes) || token != g.last && g.partitions >= g.mostPartitions {
		return false
	}
	g.more = t.encoded.Targets(g.more[:0])
	g.more = slices.DeleteFunc(g.more, func(of vecql.Replica) bool { return !slices.Contains(g.targets, of) })
	return len(g.more) > 0
}

// keyOf returns a hash of the primary key of a row. Rows whose hashes are equal by chance are not joined.
func (g *group) keyOf(t *task) uint64 {
	token, _ := t.encoded.Token()
	key := uint64(token)
	if t.encoded.Rows() > 0 && !t.job.rows.isStatic(t.row) {
		for _, marker := range t.job.key {
			key = key*31 + maphash.Bytes(g.seed, t.encoded.Value(marker))
		}
	}
	return key
}

// take empties the group and returns its rows.
func (g *group) take() task {
	t := g.rows
	g.rows = task{}
	return t
}

// drop empties the group.
func (g *group) drop() { freeEncoded(g.take().encoded) }

// offerGroup dispatches the rows of the group when the bounds allow.
func (w *Writer) offerGroup(ctx context.Context) error {
	if w.group.rows.rows == 0 {
		return nil
	}
	for {
		if accepted, err := w.offer(w.group.rows); accepted || err != nil {
			if accepted {
				w.group.take()
			}
			return err
		}
		select {
		case <-w.roomWake:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// encode encodes the rows of a task. A row that does not join the others, because the table was altered, fails the
// task, whose rows are then sent one by one.
func (t *task) encode(ctx context.Context) error {
	err := t.job.rows.encode(ctx, t.encoded, t.row)
	if err != nil || t.rows == 1 {
		return err
	}
	next := newEncoded()
	defer freeEncoded(next)
	for i := 1; i < t.rows; i++ {
		if err = t.job.rows.encode(ctx, next, t.row+i); err == nil && !t.encoded.Join(next) {
			err = errSplit
		}
		if err != nil {
			t.encoded.Reset() // all rows of the task, or none
			return err
		}
	}
	return nil
}

// errSplit means that the rows of a batch are not of one statement any more.
var errSplit = errors.New("the rows of a batch do not belong together")

// split queues the rows of a batch that failed for good one by one: the cause may be one of them. err is the failure.
// Callers hold w.mu.
func (w *Writer) split(t task, err error) {
	if w.err != nil {
		w.drop(t, err)
		return
	}
	w.tasks += t.rows - 1
	for i := range t.rows {
		one := t
		one.row, one.rows, one.size, one.encoded = t.row+i, 1, t.size/t.rows, newEncoded()
		if i == 0 {
			one.size += t.size % t.rows
		}
		t.target.push(one)
	}
	freeEncoded(t.encoded)
}

// encodedPool holds the memory of encoded rows.
var encodedPool = sync.Pool{New: func() any { return new(vecql.EncodedRows) }}

func newEncoded() *vecql.EncodedRows {
	return encodedPool.Get().(*vecql.EncodedRows)
}

func freeEncoded(r *vecql.EncodedRows) {
	if r != nil {
		r.Reset()
		encodedPool.Put(r)
	}
}
