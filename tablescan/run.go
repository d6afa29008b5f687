// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"context"
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
		err := background.Stream(ctx, func(ctx context.Context, put func(*column.Batch) error) error {
			return s.run(ctx, func() page {
				return &batchPage{
					fresh: true, withTokens: s.cfg.Tokens, cells: s.cfg.Cells,
					f: func(_ int, b *column.Batch) error { return put(b) },
				}
			})
		}, func(b *column.Batch) bool { return yield(b, nil) })
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
		type offer struct {
			rows   []T
			passed int
		}
		err := background.Stream(ctx, func(ctx context.Context, put func(*offer) error) error {
			return s.run(ctx, func() page {
				return newRowPage(func(rows []T) (int, error) {
					o := &offer{rows: rows}
					err := put(o)
					return o.passed, err
				})
			})
		}, func(o *offer) bool {
			for _, row := range o.rows {
				if !yield(row, nil) {
					return false
				}
				o.passed++
			}
			return true
		})
		if err != nil {
			var zero T
			yield(zero, err)
		}
	}
}

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
