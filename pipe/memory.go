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
		if err := b.Check(); err != nil {
			return nil, &Error{Verb: "Batches", Text: fmt.Sprint(i), Err: err}
		}
		same, err := alike(b, s.batches[0])
		if err != nil {
			return nil, &Error{Verb: "Batches", Text: fmt.Sprint(i), Err: err}
		}
		batches[i] = same
	}
	return &openedMemory{batches}, nil
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

type openedMemory struct{ batches []*column.Batch }

func (s *openedMemory) schema() column.Schema          { return s.batches[0].Schema() }
func (s *openedMemory) ordered() bool                  { return true }
func (s *openedMemory) push(all []conjunct) []conjunct { return all }
func (s *openedMemory) close() error                   { return nil }

func (s *openedMemory) scan(p *plan, columns []string) (node, error) {
	batches := make([]*column.Batch, len(s.batches))
	rows := 0
	for i, b := range s.batches {
		batches[i], _ = b.Select(columns...)
		rows += b.Rows
	}
	n := &memoryNode{batches: batches, goroutines: p.workers()}
	n.meter = p.describe("batches: %s in %s, columns %s", counted(rows, "row"), counted(len(batches), "batch"), list(columns))
	return n, nil
}

// workers returns the number of goroutines of a run.
func (p *plan) workers() int {
	if p.config.Workers > 0 {
		return p.config.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// morselRows is the maximum number of rows of a part of a batch in memory.
const morselRows = 16384

// A memoryNode passes batches on in parts, in their order if there is one goroutine.
type memoryNode struct {
	batches    []*column.Batch
	goroutines int
	meter      *meter // nil means none
}

func (n *memoryNode) workers() int { return n.goroutines }

// run shares the batches among the goroutines in morsels.
func (n *memoryNode) run(ctx context.Context, f emit) error {
	type morsel struct{ batch, from, to, first int }
	var morsels []morsel
	first := 0
	for i, b := range n.batches {
		for from := 0; from < b.Rows; from += morselRows {
			morsels = append(morsels, morsel{i, from, min(from+morselRows, b.Rows), first + from})
		}
		first += b.Rows
	}
	var next atomic.Int64
	return parallel(ctx, min(n.goroutines, len(morsels)), func(ctx context.Context, worker int) error {
		for {
			i := int(next.Add(1)) - 1
			if i >= len(morsels) {
				return nil
			}
			if err := context.Cause(ctx); err != nil {
				return err
			}
			m := morsels[i]
			b := n.batches[m.batch].Slice(m.from, m.to)
			b.Source = column.Source{FirstRow: int64(m.first)}
			if n.meter != nil {
				n.meter.rows.Add(int64(b.Rows))
			}
			if err := f(worker, part{b: b}); err != nil {
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
