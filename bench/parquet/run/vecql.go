// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"

	groups "github.com/vecql/vecql/bench/groupby/data"
	grouprun "github.com/vecql/vecql/bench/groupby/run"
	"github.com/vecql/vecql/bench/parquet/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// Answers of vecql: parquetscan reads, groupby groups, with one groupby Worker for each worker of the scan.

func vecql(ctx context.Context, path string, c *data.Case, threads int) (a *Answer, err error) {
	set, err := parquetscan.Open(ctx, path)
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

// scanSum sums the only column of a scan. NULL counts as 0.
func scanSum[T int64 | float64](ctx context.Context, scan *parquetscan.Scan, threads int) (T, error) {
	sums := make([]T, threads)
	err := scan.Borrow(ctx, nil, func(worker int, b *column.Batch) error {
		v, err := column.Slice[T](&b.Columns[0])
		sums[worker] += total(v)
		return err
	})
	return total(sums), err
}

// scanGroups groups by the first column of a scan, and sums the second one if there is one.
func scanGroups(ctx context.Context, scan *parquetscan.Scan, c *data.Case, threads int) (a *Answer, err error) {
	config := groupby.Config{Keys: c.Keys, Order: groupby.Unordered, Workers: threads}
	for i, agg := range c.Aggs {
		switch {
		case agg.Func == "count":
			config.Aggregates = append(config.Aggregates, groupby.Count())
		case agg.Func == "sum" && i == 1:
			config.Aggregates = append(config.Aggregates, groupby.Sum(agg.Column))
		default:
			return nil, unknown(c)
		}
	}
	g, err := config.New()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	workers := make([]*groupby.Worker, threads)
	for i := range workers {
		workers[i] = g.Worker()
	}
	err = scan.Borrow(ctx, nil, func(worker int, b *column.Batch) error { return workers[worker].Add(ctx, b) })
	if err != nil {
		return nil, err
	}
	res, err := grouprun.Finish(ctx, g, config.Order)
	if err != nil {
		return nil, err
	}
	return &Answer{Groups: func() (*groups.Answer, error) { return grouprun.Answer(&c.Case, res) }}, nil
}

// scanVectors copies all rows to their positions in one matrix.
func scanVectors(ctx context.Context, scan *parquetscan.Scan, rows int64, dim int) (*Answer, error) {
	m := &data.Matrix{IDs: make([]int64, rows), Values: make([]float32, rows*int64(dim)), Dim: dim}
	err := scan.Borrow(ctx, nil, func(_ int, b *column.Batch) error {
		ids, err := column.Slice[int64](&b.Columns[0])
		if err != nil {
			return err
		}
		vectors, err := column.MatrixOf[float32](&b.Columns[1])
		if err != nil {
			return err
		}
		if vectors.Dim != dim {
			return fmt.Errorf("column %s is %v, want dimension %d", b.Columns[1].Name, b.Columns[1].Type, dim)
		}
		copy(m.IDs[b.Source.FirstRow:], ids)
		copy(m.Values[b.Source.FirstRow*int64(dim):], vectors.Data)
		return nil
	})
	return &Answer{Vectors: m}, err
}
