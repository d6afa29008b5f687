// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	groups "github.com/vecql/vecql/bench/groupby/data"
	grouprun "github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/bench/parquet/data"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// This file answers with vecql: parquetscan reads, groupby groups, with one Worker for each of the scan's.

func vecql(ctx context.Context, path string, c *data.Case, threads int) (a *Answer, err error) {
	set, err := parquetscan.Open(ctx, parquetscan.Config{}, path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, set.Close()) }()
	if c.Query == "count" {
		return of(nil, intColumn(set.NumRows())), nil
	}
	scan, err := set.Scan(parquetscan.Options{Columns: c.Columns(), Workers: threads})
	if err != nil {
		return nil, err
	}
	switch {
	case c.Query == "sum" && c.Aggs[0].Column == "f":
		sum, err := scanSum[float64](ctx, scan, threads)
		return of(nil, floatColumn(sum)), err
	case c.Query == "sum":
		sum, err := scanSum[int64](ctx, scan, threads)
		return of(nil, intColumn(sum)), err
	case c.Query == "groupby":
		return scanGroups(ctx, scan, c, threads)
	case c.Query == "embeddings":
		return scanVectors(ctx, scan, set.NumRows(), c.Vectors.Dim)
	}
	return nil, unknown(c)
}

// scanSum sums the only column of a scan. NULL is 0 there.
func scanSum[T int64 | float64](ctx context.Context, scan *parquetscan.Scan, threads int) (T, error) {
	sums := make([]T, threads)
	err := scan.Borrow(ctx, nil, func(worker int, b *parquetscan.Batch) error {
		v, ok := parquetscan.SliceOf[T](&b.Columns[0])
		if !ok {
			return fmt.Errorf("column %s is %v", b.Columns[0].Name, b.Columns[0].Type)
		}
		sums[worker] += total(v)
		return nil
	})
	return total(sums), err
}

// scanGroups groups by the first column of a scan, and sums the second one if there is one.
func scanGroups(ctx context.Context, scan *parquetscan.Scan, c *data.Case, threads int) (a *Answer, err error) {
	config := groupby.Config{Keys: []groupby.Type{groupby.Int64}, Order: groupby.Unordered, Workers: threads}
	if c.Keys[0] == "s" {
		config.Keys[0] = groupby.String
	}
	for i, agg := range c.Aggs {
		if agg.Func == "count" {
			config.Aggregates = append(config.Aggregates, groupby.Count())
			continue
		}
		if agg.Func != "sum" || i != 1 {
			return nil, unknown(c)
		}
		config.Values = []groupby.Type{groupby.Int64}
		config.Aggregates = append(config.Aggregates, groupby.Sum(0))
	}
	g, err := groupby.New(config)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	workers := make([]groupWorker, threads)
	for i := range workers {
		workers[i].Worker = g.Worker()
	}
	err = scan.Borrow(ctx, nil, func(worker int, b *parquetscan.Batch) error { return workers[worker].add(ctx, b) })
	if err != nil {
		return nil, err
	}
	res, err := g.Finish(ctx)
	if err != nil {
		return nil, err
	}
	return &Answer{Groups: func() (*groups.Answer, error) { return grouprun.Answer(&c.Case, res) }}, nil
}

// A groupWorker adds batches of one of the scan's workers. Batches of a column chunk share a dictionary, which is mapped once.
type groupWorker struct {
	*groupby.Worker
	from *parquetscan.Dictionary
	to   *groupby.Dictionary
}

func (w *groupWorker) add(ctx context.Context, b *parquetscan.Batch) error {
	columns := make([]groupby.Column, len(b.Columns))
	for i := range b.Columns {
		var err error
		if columns[i], err = w.column(&b.Columns[i]); err != nil {
			return err
		}
	}
	return w.Add(ctx, groupby.Batch{Keys: columns[:1], Values: columns[1:], Start: b.Row})
}

// column returns a view of a column.
func (w *groupWorker) column(c *parquetscan.Column) (groupby.Column, error) {
	var column groupby.Column
	switch c.Type.Kind {
	case parquetscan.Int64:
		column = groupby.Values(parquetscan.Values[int64](c))
	case parquetscan.String:
		codes, dictionary := c.Codes()
		if dictionary == nil {
			column = groupby.Text(c.Text())
			break
		}
		if w.from != dictionary {
			w.from, w.to = dictionary, groupby.NewDictionary(groupby.Text(dictionary.Text()))
		}
		column = groupby.Codes(codes, w.to)
	default:
		return column, fmt.Errorf("column %s is %v", c.Name, c.Type)
	}
	return column.WithValidity(c.Validity()), nil
}

// scanVectors copies all rows to where their numbers say.
func scanVectors(ctx context.Context, scan *parquetscan.Scan, rows int64, dim int) (*Answer, error) {
	m := &data.Matrix{IDs: make([]int64, rows), Values: make([]float32, rows*int64(dim)), Dim: dim}
	err := scan.Borrow(ctx, nil, func(_ int, b *parquetscan.Batch) error {
		ids, ok := parquetscan.SliceOf[int64](&b.Columns[0])
		vectors, ok2 := parquetscan.SliceOf[float32](&b.Columns[1])
		if !ok || !ok2 || b.Columns[1].Dim() != dim {
			return fmt.Errorf("columns %v and %v, dimension %d", b.Columns[0].Type, b.Columns[1].Type, b.Columns[1].Dim())
		}
		copy(m.IDs[b.Row:], ids)
		copy(m.Values[b.Row*int64(dim):], vectors)
		return nil
	})
	return &Answer{Vectors: m}, err
}
