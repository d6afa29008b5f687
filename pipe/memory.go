// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/vecql/vecql/column"
)

// Batches in memory, as a source and as the result of groups and sorts.

// memorySource is the argument of Batches.
type memorySource struct{ batches []*column.Batch }

func (s *memorySource) open(context.Context, Config) (opened, error) {
	if len(s.batches) == 0 {
		return nil, &Error{Verb: "Batches", Err: ErrNoSource}
	}
	batches := make([]*column.Batch, len(s.batches))
	for i, b := range s.batches {
		same, err := alike(b, s.batches[0])
		if err != nil {
			return nil, &Error{Verb: "Batches", Text: fmt.Sprint(i), Err: err}
		}
		batches[i] = same
	}
	return &input{rows: &memoryRows{batches: batches}, verb: "Batches"}, nil
}

// alike returns a batch with the columns of another one.
func alike(b, first *column.Batch) (*column.Batch, error) {
	same, err := b.Select(first.Schema().Names()...)
	if err != nil {
		return nil, err
	}
	for i := range same.Columns {
		if err := sameType(&same.Columns[i], &first.Columns[i]); err != nil {
			return nil, err
		}
	}
	return same, nil
}

// sameType returns an error unless the columns have the same type. The dimension of vectors that are all NULL may be
// unknown.
func sameType(c, first *column.Column) error {
	a, b := c.Field(), first.Field()
	if a.Type.Kind == column.Vector && a.Type.Elem == b.Type.Elem && (a.Type.Dim == 0 || b.Type.Dim == 0) {
		return nil
	}
	if a.String() != b.String() {
		return &column.TypeError{Column: c.Name, Type: c.Type, Want: b.Type.String() + " as in the first"}
	}
	return nil
}

// memoryRows are the rows of batches.
type memoryRows struct {
	batches    []*column.Batch
	scanned    []*column.Batch // with the columns that are read
	goroutines int
}

func (r *memoryRows) Schema() column.Schema { return r.batches[0].Schema() }
func (r *memoryRows) Close() error          { return nil }

func (r *memoryRows) NumRows() int64 {
	rows := int64(0)
	for _, b := range r.batches {
		rows += int64(b.Rows)
	}
	return rows
}

func (r *memoryRows) Scan(columns []string, workers int) (line string, goroutines int, err error) {
	r.scanned = make([]*column.Batch, len(r.batches))
	for i, b := range r.batches {
		if r.scanned[i], err = b.Select(columns...); err != nil {
			return "", 0, err
		}
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	r.goroutines = workers
	rows, batches := counted(r.NumRows(), "row"), counted(len(r.batches), "batch")
	return fmt.Sprintf("batches: %s in %s, columns %s", rows, batches, list(columns)), workers, nil
}

func (r *memoryRows) Run(ctx context.Context, f func(worker int, b *column.Batch) error) error {
	if err := r.check(ctx); err != nil {
		return err
	}
	return share(ctx, r.scanned, r.goroutines, f)
}

// check returns an error if a column that is read violates the rules of columns. It reads all offsets and codes.
func (r *memoryRows) check(ctx context.Context) error {
	return parallelEach(ctx, r.goroutines, len(r.scanned), func(_, i int) error {
		if err := r.scanned[i].Check(); err != nil {
			return &Error{Verb: "Batches", Text: fmt.Sprint(i), Err: err}
		}
		return nil
	})
}

// A memoryNode passes batches of the run, which do not change any more, on in parts, in their order.
type memoryNode struct {
	batches []*column.Batch
	meter   *meter // nil means none
}

func (n *memoryNode) workers() int { return 1 }

func (n *memoryNode) run(ctx context.Context, f emit) error {
	return share(ctx, n.batches, 1, func(worker int, b *column.Batch) error {
		if n.meter != nil {
			n.meter.rows.Add(int64(b.Rows))
		}
		return f(worker, part{b: b, kept: true})
	})
}

// morselRows is the maximum number of rows of a part of a batch in memory.
const morselRows = 16384

// share passes batches to f in morsels, on some goroutines.
func share(
	ctx context.Context, batches []*column.Batch, goroutines int, f func(worker int, b *column.Batch) error,
) error {
	type morsel struct{ batch, from, to, first int }
	var morsels []morsel
	first := 0
	for i, b := range batches {
		for from := 0; from < b.Rows; from += morselRows {
			morsels = append(morsels, morsel{i, from, min(from+morselRows, b.Rows), first + from})
		}
		first += b.Rows
	}
	return parallelEach(ctx, goroutines, len(morsels), func(worker, i int) error {
		m := morsels[i]
		b := batches[m.batch].Slice(m.from, m.to)
		b.Source = column.Source{FirstRow: int64(m.first)}
		return f(worker, b)
	})
}

// parallelEach calls f for 0 to n-1 on some goroutines, and returns the first error.
func parallelEach(ctx context.Context, goroutines, n int, f func(worker, i int) error) error {
	var next atomic.Int64
	return parallel(ctx, min(goroutines, n), func(ctx context.Context, worker int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= n {
				return nil
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			if err := f(worker, i); err != nil {
				return err
			}
		}
	})
}

// parallel calls f on n goroutines and returns the first error, which cancels the context of the others.
func parallel(ctx context.Context, n int, f func(ctx context.Context, worker int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for worker := range n {
		group.Go(func() {
			if err := f(ctx, worker); err != nil {
				cancel(err)
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
