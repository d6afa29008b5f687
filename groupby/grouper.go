// SPDX-License-Identifier: Apache-2.0

package groupby

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
)

// A Grouper groups and aggregates what is added to it. Its methods may be called by several goroutines; so may its Workers, one each.
type Grouper struct {
	plan  *plan
	store *store

	mu       sync.Mutex
	workers  []*Worker // all
	own      []*Worker // those of Add
	merger   *Worker   // that of MergePartial
	rows     int64     // added by Add
	adding   sync.Mutex
	finished bool
	err      error
}

// New returns a Grouper, or an error that says everything that is wrong with the Config.
func New(c Config) (*Grouper, error) {
	p, err := newPlan(c)
	if err != nil {
		return nil, err
	}
	return &Grouper{plan: p, store: &store{plan: p}}, nil
}

// AggregateBatch groups and aggregates one batch: New, Add and Finish.
func AggregateBatch(ctx context.Context, c Config, b Batch) (*Result, error) {
	g, err := New(c)
	if err != nil {
		return nil, err
	}
	if err := g.Add(ctx, b); err != nil {
		return nil, err
	}
	return g.Finish(ctx)
}

// Worker returns a new Worker.
func (g *Grouper) Worker() *Worker {
	w := newWorker(g)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.workers = append(g.workers, w)
	return w
}

// begin returns what keeps rows from being added.
func (g *Grouper) begin() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return g.err
	}
	if g.finished {
		return ErrFinished
	}
	return nil
}

// fail notes the first error that lost rows, and returns err.
func (g *Grouper) fail(err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err == nil {
		g.err = fmt.Errorf("%w, after: %w", ErrFinished, err)
	}
	return err
}

// Add adds a batch of any length. Large ones are shared among Config.Workers goroutines; calls take turns. After a *BatchError, nothing of the batch was
// added and the Grouper can go on; after another error rows may be missing, and it is finished.
func (g *Grouper) Add(ctx context.Context, b Batch) error {
	g.adding.Lock()
	defer g.adding.Unlock()
	if err := g.begin(); err != nil {
		return err
	}
	n, err := g.plan.check(b)
	if err != nil {
		return err
	}
	b.Start = g.rows
	g.rows += int64(n)
	morsels := (n + g.plan.morsel - 1) / g.plan.morsel
	workers := max(1, min(g.plan.Workers, morsels))
	for len(g.own) < workers {
		g.own = append(g.own, g.Worker())
	}
	var next atomic.Int64
	err = parallel(workers, func(k int) error {
		for {
			i := int(next.Add(1)-1) * g.plan.morsel
			if i >= n {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("groupby: some of %d rows added: %w", n, err)
			}
			if err := g.own[k].add(&b, i, min(i+g.plan.morsel, n), n); err != nil {
				next.Store(int64(morsels)) // the others stop
				return err
			}
		}
	})
	if err != nil {
		return g.fail(err)
	}
	return nil
}

// parallel calls f(0) to f(n-1), each in a goroutine, and returns an error of one of them.
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

// Finish returns the result and ends the Grouper. No Worker may be adding.
func (g *Grouper) Finish(ctx context.Context) (*Result, error) {
	workers, err := g.end()
	if err != nil {
		return nil, err
	}
	defer g.store.spill.close()
	var mu sync.Mutex
	var ems []*emitter
	err = g.fold(ctx, workers, func() func(*folder) error {
		em := &emitter{plan: g.plan}
		mu.Lock()
		defer mu.Unlock()
		ems = append(ems, em)
		return em.emit
	})
	if err != nil {
		return nil, err
	}
	for _, em := range ems[1:] {
		ems[0].pieces = append(ems[0].pieces, em.pieces...)
	}
	return ems[0].result()
}

// FinishEach is Finish for results larger than memory: it calls f with one piece of the result after the other, in any order, Config.Order and Limit notwithstanding. f
// is not called by two goroutines at once; the pieces are its own. It returns the first error of f, or what went wrong.
func (g *Grouper) FinishEach(ctx context.Context, f func(Batch) error) error {
	workers, err := g.end()
	if err != nil {
		return err
	}
	defer g.store.spill.close()
	plan := *g.plan
	plan.Order, plan.Limit = Unordered, 0
	var mu sync.Mutex
	return g.fold(ctx, workers, func() func(*folder) error {
		return func(folder *folder) error {
			em := &emitter{plan: &plan}
			if err := em.emit(folder); err != nil {
				return err
			}
			r, err := em.result()
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for b := range r.Batches() {
				if err := f(b); err != nil {
					return err
				}
			}
			return nil
		}
	})
}

// Close gives up a Grouper that is not to be finished: it removes temporary files. After Finish it does nothing.
func (g *Grouper) Close() error {
	if _, err := g.end(); err == nil {
		g.store.spill.close()
	}
	return nil
}

// end ends the Grouper and returns its workers.
func (g *Grouper) end() ([]*Worker, error) {
	g.adding.Lock() // an Add under way is waited for
	defer g.adding.Unlock()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		g.store.spill.close()
		return nil, g.err
	}
	if g.finished {
		return nil, ErrFinished
	}
	g.finished = true
	workers := g.workers
	g.workers, g.own, g.merger = nil, nil, nil
	return workers, nil
}

// fold makes groups of all that the workers have, and gives them to the functions that each goroutine gets from emit.
func (g *Grouper) fold(ctx context.Context, workers []*Worker, emit func() func(*folder) error) error {
	if f, err := g.foldLocal(workers); f != nil || err != nil {
		if err != nil {
			return err
		}
		return emit()(f)
	}
	n := g.plan.Workers
	if err := parallel(len(workers), func(k int) error { return workers[k].finish() }); err != nil {
		return err
	}
	var folders []*folder
	for _, w := range workers {
		folders = append(folders, w.folder())
	}
	for len(folders) < n {
		folders = append(folders, newFolder(g.plan))
	}
	var next atomic.Int64
	return parallel(n, func(k int) error {
		to := emit()
		for {
			p := int(next.Add(1) - 1)
			if p >= partitions {
				return nil
			}
			err := ctx.Err()
			if err == nil {
				err = g.store.take(p, folders[k], to)
			}
			if err != nil {
				next.Store(partitions) // the others stop
				return fmt.Errorf("groupby: finish: %w", err)
			}
		}
	})
}

// foldLocal merges the tables of workers into one and returns it, if they are small and nothing is in the partitions.
func (g *Grouper) foldLocal(workers []*Worker) (*folder, error) {
	groups, largest := 0, 0
	for _, w := range workers {
		if w.mode == modeNew {
			continue
		}
		if w.mode != modeTable {
			return nil, nil
		}
		groups += w.local.groups() - 1
		largest = max(largest, w.local.groups()-1)
	}
	if groups-largest > g.plan.merge || g.store.used.Load() {
		return nil, nil
	}
	var f *folder
	for _, w := range workers {
		switch {
		case w.mode == modeNew || w.local == f:
		case f == nil:
			f = w.local
		default:
			b, err := w.local.block()
			if err != nil {
				return nil, err
			}
			if err := f.fold(b); err != nil {
				return nil, err
			}
		}
	}
	if f == nil {
		f = newFolder(g.plan)
	}
	return f, nil
}
