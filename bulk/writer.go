// SPDX-License-Identifier: Apache-2.0

package bulk

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
)

// The writer: start, flush, end.

// A Writer writes rows. It is safe for use by any number of goroutines.
type Writer struct {
	session    *vecql.Session
	o          Options
	text       string             // the statement of New
	table      *cql.TableMetadata // of Insert; nil for New
	into       string             // name of the table in CQL, of Insert
	repeatable bool               // a row may be written twice
	ledger     *ledger
	ctx        context.Context // of all requests; ends when the writer is aborted
	cancel     context.CancelFunc
	began      time.Time
	count      counts
	savers     sync.WaitGroup
	saverDone  chan struct{} // closed by Close

	// The fields of this group belong to the holder of the one token in accepting.
	accepting         chan struct{}
	schema            column.Schema // of rows
	rows              *vecql.RowStatement
	rowsKey           []int       // job.key
	static            *staticRows // of rows; nil until a batch has such rows
	typed             any         // the last *vecql.Statement
	typedKey          []int
	group             group
	next              int64 // number of the next row without a source
	announced         int   // rows that were announced since no row was pending
	rowRate, byteRate bucket

	roomWake chan struct{}
	sink     sync.Mutex // held while Options.Rejected runs
	// lastRejected is the last row that Options.Rejected got. Its users hold sink.
	lastRejected Rejection

	mu           sync.Mutex
	err          error // the first one; the writer has stopped
	closed       bool
	targets      map[vecql.Replica]*target
	inFlight     int
	peakInFlight int
	tasks        int // accepted and not finished
	pending      int // their rows
	pendingBytes int64
	peakBytes    int64
	waits        bool // a Write waits for room
	starved      bool // a target waited for the bound of the requests in flight
	delayed      []delayedTask
	retry        *time.Timer
	idle         []*worker
	workers      sync.WaitGroup
	latency      histogram
	drained      chan struct{} // closed when no row is pending; nil means that no call waits
}

// start opens the checkpoint and starts the writer.
func (w *Writer) start(job string) (err error) {
	if w.o.Job != "" {
		job += " " + w.o.Job
	}
	if w.ledger, err = openLedger(w.o.Checkpoint, job); err != nil {
		return err
	}
	if budget := w.session.Stats().Memory.Budget; budget > 0 {
		w.o.MaxBytes = min(w.o.MaxBytes, budget/2)
	}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	w.began, w.saverDone, w.accepting = time.Now(), make(chan struct{}), make(chan struct{}, 1)
	w.roomWake, w.targets = make(chan struct{}, 1), map[vecql.Replica]*target{}
	w.group = group{
		most: w.o.BatchRows, mostPartitions: w.o.BatchPartitions, mostBytes: int(min(w.o.MaxBytes, batchBytes)),
		seed: maphash.MakeSeed(),
	}
	w.rowRate.rate, w.byteRate.rate = w.o.RowsPerSecond, w.o.BytesPerSecond
	w.retry = time.AfterFunc(time.Hour, w.retryDue)
	w.retry.Stop()
	w.accepting <- struct{}{}
	if w.o.Checkpoint != "" {
		w.savers.Go(w.saveRegularly)
	}
	return nil
}

// query returns the query of a statement with the options of the writer.
func (w *Writer) query(text string) *vecql.Query {
	q := w.session.Query(text)
	if w.o.Query != nil {
		w.o.Query(q)
	}
	return q.Idempotent(w.repeatable).RetryPolicy(noRetry{})
}

// noRetry leaves all retries to the writer, whose limits adapt to each failure.
type noRetry struct{}

func (noRetry) Decide(context.Context, vecql.Attempt) vecql.Decision {
	return vecql.Decision{} // ends the request
}

// saveRegularly writes the checkpoint until the writer is closed.
func (w *Writer) saveRegularly() {
	tick := time.NewTicker(w.o.CheckpointEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := w.ledger.save(); err != nil {
				w.fail(err)
			}
		case <-w.saverDone:
			return
		}
	}
}

// lock waits until no other call accepts rows. A call whose context has ended never accepts rows: the numbers of rows
// without a source must not depend on which of two events the select takes.
func (w *Writer) lock(ctx context.Context) error {
	select {
	case <-w.accepting:
	case <-ctx.Done():
		return ctx.Err()
	}
	w.mu.Lock()
	err, closed := w.err, w.closed
	w.mu.Unlock()
	if closed {
		err = ErrClosed
	} else if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		w.unlock()
	}
	return err
}

// stopped returns the error with which the writer refuses a further row of a call. Callers hold w.mu.
func (w *Writer) stopped() error {
	if w.err == nil && w.closed {
		return ErrClosed
	}
	return w.err
}

func (w *Writer) unlock() { w.accepting <- struct{}{} }

// errorOf returns the error of the writer, or err if it has none.
func (w *Writer) errorOf(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return w.err
	}
	return err
}

// Flush waits until no row is pending, and stores the checkpoint: all rows accepted before are then finished. Calls
// of Write meanwhile prolong it. The error is the writer's, or the error of ctx.
func (w *Writer) Flush(ctx context.Context) error {
	if err := w.drain(ctx); err != nil {
		return err
	}
	if err := w.ledger.save(); err != nil {
		w.fail(err)
	}
	return w.errorOf(nil)
}

// drain waits until no row is pending.
func (w *Writer) drain(ctx context.Context) error {
	w.mu.Lock()
	if w.tasks > 0 && w.drained == nil {
		w.drained = make(chan struct{})
	}
	drained := w.drained
	w.mu.Unlock()
	if drained == nil {
		return nil
	}
	select {
	case <-drained:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close flushes and ends the writer. When ctx ends first, Close cancels the requests in flight and returns the error of
// ctx. In any case no goroutine of the writer is left and the checkpoint is stored. A further call returns ErrClosed.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.closed = true
	w.mu.Unlock()
	w.wakeWrite()
	if err := w.drain(ctx); err != nil {
		w.fail(fmt.Errorf("bulk: close: %w", err))
		w.cancel()
		_ = w.drain(context.Background()) // requests in flight end at once
	}
	w.retry.Stop()
	w.mu.Lock()
	for _, k := range w.idle { // all workers
		close(k.tasks)
	}
	w.mu.Unlock()
	w.workers.Wait()
	close(w.saverDone)
	w.savers.Wait()
	w.cancel()
	w.ledger.settle()
	if err := w.ledger.save(); err != nil {
		return w.errorOf(err)
	}
	return w.errorOf(w.endRejected())
}

// Checkpoint returns the rows that are done, also without a file.
func (w *Writer) Checkpoint() Checkpoint { return w.ledger.checkpoint() }
