// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"runtime"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// Pipeline: each goroutine of the scan adds its batches to its own groupby.Worker.

// A query has the arguments of the command line.
type query struct {
	keys    []string
	value   string // "" means none
	limit   int    // 0 means all groups
	workers int    // 0 means GOMAXPROCS
}

// run reads and aggregates the files. It returns the keys, the count, and the sum if value is set.
func (q query) run(ctx context.Context, files ...string) (_ *column.Batch, err error) {
	ds, err := parquetscan.Open(ctx, files...)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	if q.workers == 0 {
		q.workers = runtime.GOMAXPROCS(0)
	}
	columns, aggregates := slices.Clone(q.keys), []groupby.Aggregate{groupby.Count()}
	if q.value != "" {
		aggregates = append(aggregates, groupby.Sum(q.value))
		if !slices.Contains(columns, q.value) {
			columns = append(columns, q.value)
		}
	}
	scan, err := ds.Scan(parquetscan.Options{Columns: columns, Workers: q.workers})
	if err != nil {
		return nil, err
	}
	g, err := groupby.Config{
		Keys: q.keys, Aggregates: aggregates, Order: groupby.Descending("count"), Limit: q.limit, Workers: q.workers,
	}.New()
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Close() }() // no effect after Finish
	workers := make([]*groupby.Worker, q.workers)
	for i := range workers {
		workers[i] = g.Worker()
	}
	err = scan.Borrow(ctx, nil, func(worker int, b *column.Batch) error { return workers[worker].Add(ctx, b) })
	if err != nil {
		return nil, err
	}
	return g.Finish(ctx)
}
