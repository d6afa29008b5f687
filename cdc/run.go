// SPDX-License-Identifier: Apache-2.0

package cdc

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/background"
	"github.com/vecql/vecql/stats"
)

// Running a reader: window after window, the groups of streams of a window on several goroutines.

// The wait before a failed request is repeated: exponential backoff.
const (
	firstWait = 100 * time.Millisecond
	longWait  = 5 * time.Second
)

// Run reads the changes and passes them to f in batches of at least one row, on up to Config.Workers goroutines. worker
// is from 0 to Config.Workers - 1, and of one call of f at a time, so that f can have state for each. The batch is
// valid until f returns; Clone copies it. Batches of one stream come one after the other. f acknowledges a batch when
// it returns nil. An error or a panic of f ends the run and is returned; the batches that other workers have at that
// time are completed.
//
// Run returns nil when all changes before Config.Until are read. The other errors are ErrRunning, ErrDropped,
// ErrCheckpoint, an *ExpiredError, a *ReadError, the cause of ctx, and errors that a retry cannot repair. Run may be
// called again, and continues after the acknowledged changes.
func (r *Reader) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	return r.run(ctx, false, func(worker int, d delivery) error {
		err := called(f, worker, d.Batch)
		if err == nil {
			d.acknowledge()
		}
		return err
	})
}

// called calls f. A panic of f is an error.
func called(f func(worker int, b *column.Batch) error, worker int, b *column.Batch) (err error) {
	defer background.Recover(&err)
	return f(worker, b)
}

// A delivery is a batch on its way to the program.
type delivery struct {
	*column.Batch
	columns     []cql.ColumnInfo // with the CQL types
	acknowledge func()
}

// Batches reads the changes and yields them in batches of fresh memory. An error of Run ends the loop as its last pair,
// with a nil batch. A batch is acknowledged when the loop goes on to the next one: the batch at which the loop is left
// comes again in the next loop. Within the loop Checkpoint has exactly the batches of earlier iterations.
func (r *Reader) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		if err := r.stream(ctx, true, func(d delivery) (more bool) {
			if more = yield(d.Batch, nil); more {
				d.acknowledge()
			}
			return more
		}); err != nil {
			yield(nil, err)
		}
	}
}

// stream runs the reader and passes its batches to pass on the goroutine of the caller, which so acknowledges a batch
// before it gets the next one. It returns nil if pass returned false.
func (r *Reader) stream(ctx context.Context, fresh bool, pass func(delivery) (more bool)) error {
	return background.Stream(ctx, func(ctx context.Context, put func(delivery) error) error {
		return r.run(ctx, fresh, func(_ int, d delivery) error { return put(d) })
	}, pass)
}

// run reads windows until Config.Until or an error, and passes batches to f. fresh means that they are fresh memory.
func (r *Reader) run(ctx context.Context, fresh bool, f func(worker int, d delivery) error) error {
	r.mu.Lock()
	running := r.running
	r.running = true
	r.mu.Unlock()
	if running {
		return ErrRunning
	}
	defer func() {
		r.mu.Lock()
		r.running = false
		r.mu.Unlock()
	}()
	for {
		var wait time.Duration
		var ended bool
		if err := r.repeat(ctx, "reading the streams", func() (moved bool, err error) {
			wait, ended, err = r.plan(ctx)
			return false, err
		}); err != nil || ended {
			return err
		}
		if wait > 0 {
			if !background.Sleep(ctx, wait) {
				return context.Cause(ctx)
			}
			continue
		}
		if err := r.readWindow(ctx, fresh, f); err != nil {
			return err
		}
	}
}

// readWindow reads the groups of the window that are not done, then ends the window.
func (r *Reader) readWindow(ctx context.Context, fresh bool, f func(worker int, d delivery) error) error {
	var left []group
	for _, g := range r.generation.groups {
		if !r.done[g.key()] {
			left = append(left, g)
		}
	}
	workers := make(chan int, r.cfg.Workers)
	for i := range r.cfg.Workers {
		workers <- i
	}
	if err := background.Parallel(ctx, len(left), r.cfg.Workers, func(ctx context.Context, i int) error {
		worker := <-workers
		defer func() { workers <- worker }()
		return r.readGroup(ctx, left[i], fresh, func(d delivery) error { return f(worker, d) })
	}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.window = window{from: r.window.to}
	clear(r.done)
	clear(r.positions)
	return nil
}

// repeat calls f until it succeeds, fails with an error that does not pass, or fails more often than Config.Retries in
// a row. moved means that f has made progress before it failed.
func (r *Reader) repeat(ctx context.Context, doing string, f func() (moved bool, err error)) error {
	for failures := 0; ; {
		moved, err := f()
		if err == nil || ctx.Err() != nil || !mayRepeat(err) {
			return r.explain(ctx, err)
		}
		if failures++; moved {
			failures = 1
		}
		if failures > r.cfg.Retries {
			return &ReadError{Table: r.name(), Doing: doing, Failures: failures, Err: err}
		}
		r.mu.Lock()
		r.failures++
		r.mu.Unlock()
		if !background.Sleep(ctx, background.Jitter(background.Exponential(firstWait, longWait, failures-1))) {
			return context.Cause(ctx)
		}
	}
}

// explain returns the error of a request: the cause of ctx if that has ended, ErrDropped if the log is gone.
func (r *Reader) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, cql.CodeInvalid), errors.Is(err, cql.CodeUnprepared):
		if gone := r.checkLog(ctx); errors.Is(gone, ErrDropped) {
			return gone
		}
	}
	return err
}

// mayRepeat reports whether a request that failed with err may succeed later.
func mayRepeat(err error) bool {
	var program *programError
	switch {
	case errors.Is(err, vecql.ErrSessionClosed), errors.As(err, &program):
		return false
	case errors.Is(err, errNoStreams): // a node that has just joined may list them later
		return true
	}
	switch vecql.ErrorClassOf(err) {
	case stats.ClassOther, stats.ClassInvalid, stats.ClassCanceled:
		return false
	}
	return true
}

// A programError is an error of the program's function.
type programError struct{ err error }

func (e *programError) Error() string { return e.err.Error() }
func (e *programError) Unwrap() error { return e.err }
