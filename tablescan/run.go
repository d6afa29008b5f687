// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"context"
	"errors"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/background"
)

// Running a scan: workers that take parts from the queue, read their pages, and put back what they did not read.

// Run reads the rows that are left and passes them to f in batches of at least one row, on Config.Workers goroutines.
// worker is the number of the goroutine, from 0, so that f can have state for each. The batch is valid until f returns;
// Clone copies it. The rows of a batch are in the order of their tokens, and are of one of the ranges of
// Session.TokenRanges. f acknowledges a batch when it returns nil. An error or a panic of f ends the scan and is
// returned; no row is passed to f afterwards by that worker, and the batches that other workers have at that time are
// completed.
//
// While f has a batch, the next one of its range is requested.
//
// The other errors are a *RangeError, the cause of ctx, ErrRunning, and errors that a retry cannot repair, such as a
// dropped table. Run may be called again, and continues after the acknowledged rows.
func (s *Scan) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	return s.run(ctx, func() page {
		return &batchPage{withTokens: s.cfg.Tokens, cells: s.cfg.Cells, f: func(worker int, b *column.Batch) (err error) {
			defer background.Recover(&err)
			return f(worker, b)
		}}
	})
}

// Batches reads the rows that are left and yields them in batches of fresh memory, in any order of ranges. An error of
// Run ends the loop as its last pair, with a nil batch. A batch is acknowledged when the loop goes on to the next one:
// the batch at which the loop is left comes again in the next loop.
func (s *Scan) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		err := stream(ctx, func(ctx context.Context, f func(*column.Batch) (int, error)) error {
			return s.run(ctx, func() page {
				return &batchPage{fresh: true, withTokens: s.cfg.Tokens, cells: s.cfg.Cells, f: func(_ int, b *column.Batch) error {
					_, err := f(b)
					return err
				}}
			})
		}, func(b *column.Batch) (int, bool) {
			if !yield(b, nil) {
				return 0, false
			}
			return b.Rows, true
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// Rows reads the rows that are left and yields them as values of T, in any order of ranges. T is as in [vecql.Rows].
// Each value is fresh memory. An error of Run ends the loop as its last pair. A row is acknowledged when the loop goes
// on to the next one: the row at which the loop is left comes again in the next loop. Checkpoint has the rows of a page
// when the loop has passed the page, or is left. Config.Tokens has no effect.
func Rows[T any](ctx context.Context, s *Scan) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := stream(ctx, func(ctx context.Context, f func([]T) (int, error)) error {
			return s.run(ctx, func() page { return newRowPage(f) })
		}, func(rows []T) (int, bool) {
			for i, row := range rows {
				if !yield(row, nil) {
					return i, false
				}
			}
			return len(rows), true
		})
		if err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

// ack is the answer to a value: the number of its rows that are acknowledged, and whether the loop goes on.
type ack struct {
	rows int
	more bool
}

// stream runs a scan whose workers pass values to f, and calls pass for each value on the goroutine of the caller,
// until the scan ends, whose error it returns, or pass returns false.
func stream[V any](ctx context.Context, scan func(ctx context.Context, f func(V) (int, error)) error,
	pass func(V) (acked int, more bool),
) error {
	type offer struct {
		value V
		acks  chan ack
	}
	ctx, cancel := context.WithCancel(ctx)
	offers, ended := make(chan offer), make(chan struct{})
	var failed error // of the scan; valid when ended is closed
	var running sync.WaitGroup
	running.Go(func() {
		defer close(ended)
		failed = scan(ctx, func(v V) (int, error) {
			o := offer{v, make(chan ack, 1)}
			select {
			case offers <- o:
			case <-ctx.Done():
				return 0, context.Cause(ctx)
			}
			answer := <-o.acks
			if !answer.more {
				return answer.rows, errLeft
			}
			return answer.rows, nil
		})
	})
	defer running.Wait()
	defer cancel()
	take := func(o offer) (more bool) {
		acked := 0
		defer func() { o.acks <- ack{acked, more} }() // also when the loop panics
		acked, more = pass(o.value)
		return more
	}
	for {
		select {
		case o := <-offers:
			if !take(o) {
				return nil
			}
		case <-ended:
			return failed
		}
	}
}

// errLeft means that the loop of Batches was left.
var errLeft = errors.New("the loop was left")

// run reads the rows that are left into pages, which pass them to the program.
func (s *Scan) run(ctx context.Context, newPage func() page) error {
	if !s.begin() {
		return ErrRunning
	}
	defer s.end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	for i := range s.cfg.Workers {
		workers.Go(func() {
			r := &reader{scan: s, number: i, pages: [2]page{newPage(), newPage()}}
			if err := r.readAll(ctx); err != nil {
				cancel(err)
			}
		})
	}
	workers.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue)+len(s.open) == 0 {
		return nil
	}
	return context.Cause(ctx)
}

func (s *Scan) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return false
	}
	s.running, s.began = true, time.Now()
	return true
}

// end stops the clock and puts the rests of open parts back into the queue, at its front, which keeps the order of an
// ordered scan.
func (s *Scan) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	s.elapsed += time.Since(s.began)
	for _, w := range s.open {
		s.queue = slices.Insert(s.queue, 0, work{Part: w.Part})
	}
	clear(s.open)
}

// take opens the next part for a worker.
func (s *Scan) take(worker int) (w work, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.queue) == 0 {
		return work{}, false
	}
	w = s.queue[0]
	s.queue = s.queue[1:]
	s.open[worker] = w
	return w, true
}

// acknowledge stores the position of a worker after a page.
func (s *Scan) acknowledge(worker int, w *work, rows, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[worker] = *w
	s.rows += int64(rows)
	s.bytes += int64(bytes)
}
