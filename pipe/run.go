// SPDX-License-Identifier: Apache-2.0

package pipe

import (
	"cmp"
	"context"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/vecql/vecql/column"
)

// Runs: a Pipe's rows as one batch or as several.

// Batch runs the pipe and returns its rows as one batch in memory that the caller owns: the rows of files and batches
// in their order unless OrderBy follows, groups and rows of tables in any order. It has all columns, also if there are
// no rows. The error is an [*Error], wraps column.ErrTooLarge for more than 2 GiB of text in a column, or is the cause
// of ctx.
func (p Pipe) Batch(ctx context.Context) (*column.Batch, error) {
	for {
		b, ragged, err := p.batch(ctx)
		if len(ragged) == 0 {
			return b, err
		}
		p = p.withLists(ragged)
	}
}

// withLists returns the Pipe with further columns of files that are read as lists.
func (p Pipe) withLists(names []string) Pipe {
	p.config.lists = slices.Concat(p.config.lists, names)
	return p
}

// batch is Batch, unless it returns columns for withLists.
func (p Pipe) batch(ctx context.Context) (_ *column.Batch, ragged []string, _ error) {
	pl, err := newPlan(ctx, p.chain, p.config)
	if err != nil {
		return nil, nil, err
	}
	defer pl.end()
	start := time.Now()
	var mu sync.Mutex
	var batches []*column.Batch
	err = pl.root.run(ctx, func(_ int, part part) error {
		b, err := pl.keep(part)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		batches = append(batches, b)
		return nil
	})
	if ragged := pl.ragged(); err != nil || len(ragged) > 0 {
		return nil, ragged, err
	}
	slices.SortStableFunc(batches, func(a, b *column.Batch) int {
		return cmp.Compare(a.Source.FirstRow, b.Source.FirstRow)
	})
	result := pl.schema.Empty()
	if len(batches) > 0 {
		if result, err = concat(batches, p.config.Workers); err != nil {
			return nil, nil, failed("Batch", "", err)
		}
	}
	result.Source = column.Source{}
	pl.report(start)
	return result, nil, nil
}

// keep returns rows of the result in memory that does not change any more.
func (p *plan) keep(rows part) (*column.Batch, error) {
	if rows.kept && rows.rows == nil {
		return rows.b.Select(p.schema.Names()...)
	}
	return p.clone(rows)
}

// concatRows is the number of rows from which several goroutines concatenate columns.
const concatRows = 1 << 17

// concat is column.Concat on several goroutines: GOMAXPROCS if workers is 0.
func concat(batches []*column.Batch, workers int) (*column.Batch, error) {
	rows := 0
	for _, b := range batches {
		rows += b.Rows
	}
	if rows < concatRows {
		return column.Concat(batches...)
	}
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	result := &column.Batch{Columns: make([]column.Column, len(batches[0].Columns)), Rows: rows}
	return result, parallelEach(context.Background(), workers, len(result.Columns), func(_, i int) error {
		one := make([]*column.Batch, len(batches))
		for k, b := range batches {
			one[k] = &column.Batch{Columns: b.Columns[i : i+1], Rows: b.Rows}
		}
		all, err := column.Concat(one...)
		if err == nil {
			result.Columns[i] = all.Columns[0]
		}
		return err
	})
}

// clone returns rows of the result in new memory.
func (p *plan) clone(rows part) (*column.Batch, error) {
	b, err := rows.b.Select(p.schema.Names()...)
	switch {
	case err != nil:
		return nil, err
	case rows.rows != nil:
		return b.Take(rows.rows)
	}
	return b.Clone(), nil
}

// Batches runs the pipe and yields its rows in batches of new memory: in their order if OrderBy is the last verb or
// only Select, With, Limit and Offset follow it, otherwise in any order. If there are no rows, it yields one batch with
// all columns. An error ends the loop as its last pair; see [Pipe.Batch]. When the loop ends, also early, the
// goroutines of the run have ended. If a column of vectors turns out to be one of lists after the first batch (the
// Lists of parquetscan.Options), later batches have lists.
func (p Pipe) Batches(ctx context.Context) iter.Seq2[*column.Batch, error] {
	return func(yield func(*column.Batch, error) bool) {
		p := p
		for {
			ragged := p.batches(ctx, yield)
			if len(ragged) == 0 {
				return
			}
			p = p.withLists(ragged)
		}
	}
}

// batches is Batches, unless it has yielded nothing and returns columns for withLists.
func (p Pipe) batches(ctx context.Context, yield func(*column.Batch, error) bool) (ragged []string) {
	pl, err := newPlan(ctx, p.chain, p.config)
	if err != nil {
		yield(nil, err)
		return nil
	}
	defer pl.end()
	start := time.Now()
	left, any, err := pl.stream(ctx, yield)
	if ragged := pl.ragged(); !any && len(ragged) > 0 {
		return ragged
	}
	if err == nil && !left {
		pl.report(start)
	}
	switch {
	case left:
	case err != nil:
		yield(nil, err)
	case !any:
		yield(pl.schema.Empty(), nil)
	}
	return nil
}

// stream runs the plan and yields its parts. left reports that the loop was left, any that there was a batch.
func (p *plan) stream(ctx context.Context, yield func(*column.Batch, error) bool) (left, any bool, err error) {
	ctx, cancel := context.WithCancel(ctx)
	made := make(chan *column.Batch)
	var failure error // valid when made is closed
	go func() {
		defer close(made)
		failure = p.root.run(ctx, func(_ int, rows part) error {
			b, err := p.clone(rows)
			if err != nil {
				return err
			}
			select {
			case made <- b:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
	}()
	defer func() {
		cancel()
		for range made { // until the goroutines have ended
		}
	}()
	for b := range made {
		any = true
		if !yield(b, nil) {
			return true, any, nil
		}
	}
	return false, any, failure
}

// Explain checks the pipe and returns its plan as text, one line a step: the source with the columns that it reads and
// the conditions that it evaluates, then the other steps. It opens the source and reads no rows.
func (p Pipe) Explain(ctx context.Context) (string, error) {
	pl, err := newPlan(ctx, p.chain, p.config)
	if err != nil {
		return "", err
	}
	defer pl.end()
	return strings.Join(pl.lines, "\n") + "\n", nil
}

// Schema checks the pipe and returns the columns of its result. It opens the source and reads no rows. The dimension of
// a vector is 0 if it depends on the rows.
func (p Pipe) Schema(ctx context.Context) (column.Schema, error) {
	b, err := bind(ctx, p.chain, p.config)
	if err != nil {
		return nil, err
	}
	return slices.Clone(b.schema), b.source.close()
}
