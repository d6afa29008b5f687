// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
)

// Grouper: adds batches and returns the result.

// A Grouper groups and aggregates the batches that are added to it. Its methods may be called by several goroutines.
// Each goroutine may also use a Worker of its own.
//
// The first batch sets the types of the columns; keys, aggregates and order are checked against them then, see
// [BatchError].
type Grouper struct {
	config Config
	names  []string // of the columns that are read
	limits limits

	mu       sync.Mutex
	stages   []*stage // the last one has the current types
	rows     int64    // added by Add
	adding   sync.Mutex
	finished bool
	err      error
	// ended is true if finished is, or err is not nil. Workers read it before each batch, and mu would have them wait for
	// each other.
	ended atomic.Bool
}

// New returns a Grouper that groups by the columns named by; nil means one group of all rows. The error lists all
// problems that can be found without the types of the columns. [Config] has more options.
func New(by []string, aggregates ...Aggregate) (*Grouper, error) {
	return Config{Keys: by, Aggregates: aggregates}.New()
}

// New returns a Grouper. The error lists all problems that can be found without the types of the columns.
func (c Config) New() (*Grouper, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	return &Grouper{config: c, names: c.inputNames(), limits: defaultLimits}, nil
}

// Aggregate groups and aggregates batches: New, Add and Finish in one call.
func (c Config) Aggregate(ctx context.Context, batches ...*column.Batch) (*column.Batch, error) {
	g, err := c.New()
	if err != nil {
		return nil, err
	}
	defer g.Close()
	for _, b := range batches {
		if err := g.Add(ctx, b); err != nil {
			return nil, err
		}
	}
	return g.Finish(ctx)
}

// A Worker adds batches to its Grouper for one goroutine. Workers do not wait for each other. Rows are part of the
// result if their Add returned before Finish was called.
type Worker struct {
	g    *Grouper
	in   *worker         // nil before the first batch
	cols []column.Column // of the current batch
}

// Worker returns a new Worker.
func (g *Grouper) Worker() *Worker { return &Worker{g: g} }

// Add adds a batch. Its rows have the numbers Source.FirstRow and following. The batch is not retained. After a
// *BatchError nothing of the batch was added and the Worker remains usable; after any other error rows may be missing,
// and the Grouper is finished.
func (w *Worker) Add(ctx context.Context, b *column.Batch) error {
	return w.addInput(ctx, b, b.Rows, nil)
}

// addInput adds n rows of a batch: those at the positions rows, or all if rows is nil.
func (w *Worker) addInput(ctx context.Context, b *column.Batch, n int, rows []int32) error {
	if err := w.g.begin(); err != nil {
		return err
	}
	cols, err := inputs(w.g.names, b, w.cols[:0])
	if err != nil {
		return err
	}
	w.cols = cols
	defer clear(cols)
	if w.in == nil || !w.in.plan.takes(cols) {
		s, err := w.g.stageFor(cols)
		if err != nil {
			return err
		}
		if w.in == nil || w.in.plan != s.plan {
			w.in = w.g.worker(s)
		}
	}
	in := input{cols: cols, start: b.Source.FirstRow, n: n, rows: rows}
	step := w.in.plan.morsel
	for i := 0; i < n; i += step {
		if err := ctx.Err(); err != nil {
			return w.g.fail(fmt.Errorf("groupby: add: stopped after %d of %d rows: %w", i, n, err))
		}
		if err := w.in.add(&in, i, min(i+step, n)); err != nil {
			return w.g.fail(err)
		}
	}
	return nil
}

// worker returns a new worker of a stage.
func (g *Grouper) worker(s *stage) *worker {
	w := newWorker(s)
	g.mu.Lock()
	defer g.mu.Unlock()
	s.workers = append(s.workers, w)
	return w
}

// begin returns an error if the Grouper accepts no more rows.
func (g *Grouper) begin() error {
	if !g.ended.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return g.err
	}
	return ErrFinished
}

// fail stores the first error that lost rows, and returns err.
func (g *Grouper) fail(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = fmt.Errorf("%w, after: %w", ErrFinished, err)
		g.ended.Store(true)
	}
	return err
}

// Add adds a batch of any length. The batch is not retained. Columns are found by name; other columns are ignored. They
// follow the rules of [column.Column]; Add checks lengths and codes, but not every offset. Large batches are shared
// among Config.Workers goroutines. Concurrent calls run one after the other, and rows are numbered in the order of the
// calls. After a *BatchError nothing of the batch was added and the Grouper remains usable; after any other error rows
// may be missing, and the Grouper is finished.
func (g *Grouper) Add(ctx context.Context, b *column.Batch) error {
	g.adding.Lock()
	defer g.adding.Unlock()
	if err := g.begin(); err != nil {
		return err
	}
	cols, err := inputs(g.names, b, nil)
	if err != nil {
		return err
	}
	s, err := g.stageFor(cols)
	if err != nil {
		return err
	}
	n, start := b.Rows, g.rows
	g.rows += int64(n)
	step := s.plan.morsel
	morsels := (n + step - 1) / step
	workers := max(1, min(s.plan.Workers, morsels))
	for len(s.own) < workers {
		s.own = append(s.own, g.worker(s))
	}
	in := input{cols: cols, start: start, n: n}
	var next atomic.Int64
	err = parallel(workers, func(k int) error {
		for {
			i := int(next.Add(1)-1) * step
			if i >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("groupby: add: stopped within %d rows: %w", n, err)
			}
			if err := s.own[k].add(&in, i, min(i+step, n)); err != nil {
				next.Store(int64(morsels)) // stops the others
				return err
			}
		}
	})
	if err != nil {
		return g.fail(err)
	}
	return nil
}

// parallel calls f(0) to f(n-1), each in its own goroutine, waits for all, and returns the first error in this order.
func parallel(n int, f func(k int) error) error {
	if n == 1 {
		return f(0)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { errs[k] = f(k) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Finish ends the Grouper and returns the groups in one batch: the keys under their names, in their types, then one
// column per aggregate. The caller owns the memory of the batch. No Worker may be adding. If no batch was added, the
// types are unknown, and the result has no columns.
//
// If a column exceeds 2 GiB of text, Finish fails with an error that wraps column.ErrTooLarge; FinishBatches handles
// such results.
func (g *Grouper) Finish(ctx context.Context) (*column.Batch, error) {
	s, err := g.end()
	if err != nil || s == nil {
		return &column.Batch{}, err
	}
	defer s.store.spill.close()
	var mu sync.Mutex
	var ems []*emitter
	err = s.mergeAll(ctx, func() func(*merger) error {
		em := &emitter{plan: s.plan}
		mu.Lock()
		defer mu.Unlock()
		ems = append(ems, em)
		return em.emit
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	for _, em := range ems[1:] {
		ems[0].pieces = append(ems[0].pieces, em.pieces...)
	}
	b, err := ems[0].batch()
	if errors.Is(err, column.ErrTooLarge) {
		err = fmt.Errorf("%w: use FinishBatches, which returns the result in several batches", err)
	}
	return b, err
}

// aheadPartitions is the number of partitions, of 256, that a worker may be ahead of the loop over FinishBatches.
// Workers that wait for the loop cost a tenth of the time at millions of groups.
const aheadPartitions = 16

// FinishBatches ends the Grouper and returns the groups in batches as they are completed. The order of groups is
// unspecified; Config.Order and Config.Limit are ignored. It is for results that exceed one batch or the memory, and it
// saves the copy into one batch. The caller owns the memory of the batches; several batches may share memory, so that
// keeping one keeps others. An error ends the sequence. Leaving the loop early stops the work.
func (g *Grouper) FinishBatches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		s, err := g.end()
		if err != nil {
			yield(nil, err)
		}
		if err != nil || s == nil {
			return
		}
		defer s.store.spill.close()
		ctx, cancel := context.WithCancel(ctx)
		ahead := aheadPartitions
		if s.store.pace.active() {
			ahead = 1
		}
		made := make(chan []*piece, ahead*s.plan.Workers)
		done := make(chan error, 1)
		go func() {
			done <- s.emitPieces(ctx, made)
			close(made)
		}()
		defer func() { // the goroutines end before the file is closed, even if the loop was left early
			cancel()
			for range made {
			}
		}()
		for pieces := range made {
			for _, p := range pieces {
				if !yield(p.batch(s.plan, p.rows), nil) {
					return
				}
			}
		}
		if err := <-done; err != nil {
			yield(nil, err)
		}
	}
}

// emitPieces sends the groups in pieces, each as soon as it is full.
func (s *stage) emitPieces(ctx context.Context, made chan<- []*piece) error {
	plan := *s.plan
	plan.Order, plan.Limit = Unordered, 0
	send := func(pieces []*piece) error {
		if len(pieces) == 0 {
			return nil
		}
		select {
		case made <- pieces:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var mu sync.Mutex
	var ems []*emitter
	err := s.mergeAll(ctx, func() func(*merger) error {
		em := &emitter{plan: &plan}
		mu.Lock()
		defer mu.Unlock()
		ems = append(ems, em)
		return func(m *merger) error {
			if err := em.emit(m); err != nil {
				return err
			}
			last := len(em.pieces) - 1
			if last <= 0 {
				return nil // the only piece still has room
			}
			full := em.pieces[:last:last]
			em.pieces = slices.Clone(em.pieces[last:])
			return send(full)
		}
	})
	for _, em := range ems {
		if err == nil {
			err = send(em.pieces)
		}
	}
	return err
}

// Close ends a Grouper without a result and removes its temporary file. After Finish it has no effect. It always
// returns nil.
func (g *Grouper) Close() error {
	g.adding.Lock()
	defer g.adding.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.finished {
		g.finish()
		g.closeStages()
	}
	return nil
}

// finish marks the Grouper as finished. The caller holds g.mu.
func (g *Grouper) finish() {
	g.finished = true
	g.ended.Store(true)
}

func (g *Grouper) closeStages() {
	for _, s := range g.stages {
		s.store.spill.close()
	}
	g.stages = nil
}

// end ends the Grouper and returns the stage that has all groups; nil means that no batch was added.
func (g *Grouper) end() (*stage, error) {
	g.adding.Lock() // wait for a running Add
	defer g.adding.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		g.closeStages()
		return nil, g.err
	}
	if g.finished {
		return nil, ErrFinished
	}
	g.finish()
	if len(g.stages) == 0 {
		return nil, nil
	}
	last := len(g.stages) - 1
	s := g.stages[last]
	for _, earlier := range g.stages[:last] {
		if err := earlier.moveTo(s); err != nil {
			g.closeStages()
			return nil, fmt.Errorf("groupby: finish: %w", err)
		}
	}
	g.stages = g.stages[last:]
	return s, nil
}
