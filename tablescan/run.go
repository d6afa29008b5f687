// SPDX-License-Identifier: Apache-2.0

package tablescan

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/vecql/vecql"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/background"
)

// Running a scan: workers that take parts from the queue, read their pages, and put back what they did not read.

// The wait before a failed range is read again: exponential backoff.
const (
	firstWait = 100 * time.Millisecond
	longWait  = 5 * time.Second
)

// restartAfter is the number of failures of one page after which an attempt begins again at the position of its part,
// in case that the state of the page is the cause.
const restartAfter = 6

// Run reads the rows that are left and passes them to f in batches of at least one row, on Config.Workers goroutines.
// worker is the number of the goroutine, from 0, so that f can have state for each. The batch is valid until f returns;
// Clone copies it. The rows of a batch are in the order of their tokens. f acknowledges a batch when it returns nil. An
// error or a panic of f ends the scan and is returned; no row is passed to f afterwards by that worker, and the batches
// that other workers have at that time are completed.
//
// The other errors are a *RangeError, the cause of ctx, ErrRunning, and errors that a retry cannot repair, such as a
// dropped table. Run may be called again, and continues after the acknowledged rows.
func (s *Scan) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	return s.run(ctx, func(worker int, b *column.Batch) (err error) {
		defer background.Recover(&err)
		return f(worker, b)
	}, false)
}

// Batches reads the rows that are left and yields them in batches of fresh memory, in any order of ranges. An error of
// Run ends the loop as its last pair, with a nil batch. A batch is acknowledged when the loop goes on to the next one:
// the batch at which the loop is left comes again in the next loop.
func (s *Scan) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	type page struct {
		batch *column.Batch
		acked chan bool
	}
	return func(yield func(*column.Batch, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		pages := make(chan page)
		var err error
		var workers sync.WaitGroup
		ended := make(chan struct{})
		workers.Go(func() {
			defer close(ended)
			err = s.run(ctx, func(_ int, b *column.Batch) error {
				p := page{b, make(chan bool, 1)}
				select {
				case pages <- p:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				if !<-p.acked {
					return errLeft
				}
				return nil
			}, true)
		})
		defer workers.Wait()
		defer cancel()
		pass := func(p page) (more bool) {
			defer func() { p.acked <- more }() // also when the loop panics
			return yield(p.batch, nil)
		}
		for {
			select {
			case p := <-pages:
				if !pass(p) {
					return
				}
			case <-ended:
				if err != nil {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// errLeft means that the loop of Batches was left.
var errLeft = errors.New("the loop was left")

// run is Run. fresh means that each batch has memory of its own.
func (s *Scan) run(ctx context.Context, f func(int, *column.Batch) error, fresh bool) error {
	if !s.begin() {
		return ErrRunning
	}
	defer s.end()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var workers sync.WaitGroup
	for i := range s.cfg.Workers {
		workers.Go(func() {
			r := &reader{scan: s, number: i, f: f, fresh: fresh, page: new(column.Batch)}
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

// end stops the clock and puts the rests of open parts back into the queue.
func (s *Scan) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running = false
	s.elapsed += time.Since(s.began)
	for _, w := range s.open {
		s.queue = append(s.queue, work{Part: w.Part})
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

// A reader is a worker of a scan.
type reader struct {
	scan   *Scan
	number int
	f      func(int, *column.Batch) error
	fresh  bool
	page   *column.Batch // reused unless fresh
}

// readAll reads parts until none is left.
func (r *reader) readAll(ctx context.Context) error {
	for ctx.Err() == nil {
		w, ok := r.scan.take(r.number)
		if !ok {
			return nil
		}
		if err := r.read(ctx, &w); err != nil {
			return err
		}
		r.scan.mu.Lock()
		delete(r.scan.open, r.number)
		r.scan.mu.Unlock()
	}
	return context.Cause(ctx)
}

// An attempt reads a part from its position at the start of the attempt. It survives failures: a failed page is
// requested again by its state, so that the rows of a partition that were read before are dropped once only.
type attempt struct {
	from  Part
	at    cursor
	state vecql.PageToken // of the next page; nil means the first one
	fails int             // of the next page so far
}

func newAttempt(p Part) attempt { return attempt{from: p, at: newCursor(p)} }

// read reads one part. After a failure it requests the page again, and cuts the part if that fails, too.
func (r *reader) read(ctx context.Context, w *work) error {
	a := newAttempt(w.Part)
	for {
		again, err := r.readPages(ctx, w, &a)
		if err == nil || !again {
			return err
		}
		if w.failures++; w.failures > r.scan.cfg.Retries {
			return &RangeError{Part: w.Part, Failures: w.failures, Err: err}
		}
		a.fails++
		if cut := r.scan.failed(r.number, w); cut || !mayRepeat(err) || a.fails == restartAfter {
			a = newAttempt(w.Part)
		}
		wait := background.Exponential(firstWait, longWait, w.failures-1)
		if !background.Sleep(ctx, background.Jitter(wait)) {
			return context.Cause(ctx)
		}
	}
}

// failed counts a failure. If the part failed repeatedly, it puts the upper half at the front of the queue and reports
// true.
func (s *Scan) failed(worker int, w *work) (cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failures++
	if w.failures > 1 {
		s.pages.failed()
		var lower, upper Part
		if lower, upper, cut = w.cut(); cut {
			w.Part = lower
			s.queue = slices.Insert(s.queue, 0, work{Part: upper, failures: w.failures})
		}
	}
	s.open[worker] = *w
	return cut
}

// readPages reads a part page by page until its end or a failure. again means that another attempt may succeed. After
// each page that was passed to the function it advances w.
func (r *reader) readPages(ctx context.Context, w *work, a *attempt) (again bool, err error) {
	for {
		rows := r.scan.pages.next()
		if a.at.skip > 0 && a.fails == 0 { // few large pages reach the new rows sooner
			rows = max(rows, int(min(a.at.skip, int64(r.scan.pages.full()))))
		}
		page, next, err := r.fetch(ctx, a.from, a.state, rows)
		if err != nil {
			// another version of the server may refuse the state of a page that it did not make
			return ctx.Err() == nil && (mayRepeat(err) || a.state != nil), err
		}
		if page.Rows > 0 {
			if err := r.pass(w, &a.at, page); err != nil {
				return false, err
			}
		}
		a.fails = 0
		if a.state = next; len(a.state) == 0 {
			return false, nil
		}
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

// fetch reads the page of a part that begins at state, of at most that many rows. It returns the page and the state of
// the next one.
func (r *reader) fetch(ctx context.Context, p Part, state vecql.PageToken, rows int,
) (*column.Batch, vecql.PageToken, error) {
	s := r.scan
	values := slices.Concat(s.cfg.Values[:s.before], []any{p.Start, p.End}, s.cfg.Values[s.before:])
	q := s.session.Query(s.text, values...).Idempotent(true).RoutingToken(p.End)
	if s.cfg.Query != nil {
		s.cfg.Query(q)
	}
	it := q.PageSize(rows).PageState(state).IterContext(ctx)
	b := r.page
	if r.fresh {
		b = new(column.Batch)
	}
	if !it.NextBatch(b) {
		b = new(column.Batch) // a page without rows
	}
	next := it.PageState()
	if err := it.Close(); err != nil {
		return nil, nil, err
	}
	return b, next, nil
}

// mayRepeat reports whether a request that failed with err may succeed later.
func mayRepeat(err error) bool {
	if errors.Is(err, vecql.ErrSessionClosed) {
		return false
	}
	switch vecql.ErrorClassOf(err) {
	case vecql.ClassOther, vecql.ClassInvalid, vecql.ClassCanceled:
		return false
	}
	return true
}

// pass passes the new rows of a page to the function, without the column of tokens, and then advances w.
func (r *reader) pass(w *work, at *cursor, page *column.Batch) error {
	last := len(page.Columns) - 1
	tokens, err := column.Slice[int64](&page.Columns[last])
	if err != nil {
		return rangeFault(w, err)
	}
	dropped, rest, err := at.pass(tokens)
	if err != nil {
		return rangeFault(w, err)
	}
	size := sizeOf(page.Columns)
	r.scan.pages.read(page.Rows, size)
	if dropped == page.Rows {
		return nil
	}
	batch := &column.Batch{Columns: page.Columns[:last:last], Rows: page.Rows, Source: page.Source}
	if dropped > 0 {
		batch = batch.Slice(dropped, page.Rows)
	}
	if err := r.f(r.number, batch); err != nil {
		return err
	}
	*w = work{Part: rest}
	r.scan.acknowledge(r.number, w, batch.Rows, size)
	return nil
}

// rangeFault adds the range to an error that is not that of a request.
func rangeFault(w *work, err error) error {
	return fmt.Errorf("tablescan: read tokens above %d up to %d: %w", w.Start, w.End, err)
}

// acknowledge stores the position of a worker after a page.
func (s *Scan) acknowledge(worker int, w *work, rows, bytes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[worker] = *w
	s.rows += int64(rows)
	s.bytes += int64(bytes)
}
