// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"runtime"

	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/parquetscan"
)

// This file holds the pipeline: batches from the scan's goroutines, each to a groupby.Worker of its own.

// A query says what is asked of the files.
type query struct {
	keys    []string
	value   string // "" for none
	limit   int    // 0 for all groups
	workers int    // 0 for GOMAXPROCS
}

// run reads and aggregates the files.
func (q query) run(ctx context.Context, files ...string) (_ *answer, err error) {
	ds, err := parquetscan.Open(ctx, parquetscan.Config{}, files...)
	if err != nil {
		return nil, err
	}
	defer ds.Close()
	if q.workers == 0 {
		q.workers = runtime.GOMAXPROCS(0)
	}
	columns := q.keys
	if q.value != "" {
		columns = append(columns[:len(columns):len(columns)], q.value)
	}
	scan, err := ds.Scan(parquetscan.Options{Columns: columns, Workers: q.workers})
	if err != nil {
		return nil, err
	}
	fields := scan.Fields()
	cfg, err := q.config(fields)
	if err != nil {
		return nil, err
	}
	g, err := groupby.New(cfg)
	if err != nil {
		return nil, err
	}
	defer func() { _ = g.Close() }() // does nothing after Finish
	feeders := make([]feeder, q.workers)
	for i := range feeders {
		feeders[i] = newFeeder(g, fields, len(q.keys))
	}
	err = scan.Borrow(ctx, nil, func(worker int, b *parquetscan.Batch) error { return feeders[worker].add(ctx, b) })
	if err != nil {
		return nil, err
	}
	groups, err := g.Finish(ctx)
	if err != nil {
		return nil, err
	}
	return &answer{fields, len(q.keys), groups}, nil
}

// config returns what to group by and what to compute, of columns that are the keys and then the value.
func (q query) config(fields []parquetscan.Field) (groupby.Config, error) {
	cfg := groupby.Config{
		Aggregates: []groupby.Aggregate{groupby.Count()}, Order: groupby.ByAggregate(0, true), Limit: q.limit, Workers: q.workers,
	}
	for i, f := range fields {
		t, err := typeOf(f)
		if err != nil {
			return cfg, err
		}
		if i < len(q.keys) {
			cfg.Keys = append(cfg.Keys, t)
			continue
		}
		if err := summable(f); err != nil {
			return cfg, err
		}
		cfg.Values = []groupby.Type{t}
		cfg.Aggregates = append(cfg.Aggregates, groupby.Sum(0))
	}
	return cfg, nil
}

// A feeder brings the batches of one of the scan's goroutines to the Grouper.
type feeder struct {
	worker *groupby.Worker
	keys   int // the first of columns
	// columns are those of the current batch: the slice is used again.
	columns []groupby.Column
	// dictionaries are those that the columns of the last batch had. A goroutine reads one row group after the other, so that all batches with
	// one dictionary come together.
	dictionaries []dictionary
}

// A dictionary is one of a Parquet column chunk, and the same for groupby.
type dictionary struct {
	from *parquetscan.Dictionary
	to   *groupby.Dictionary
}

func newFeeder(g *groupby.Grouper, fields []parquetscan.Field, keys int) feeder {
	return feeder{g.Worker(), keys, make([]groupby.Column, len(fields)), make([]dictionary, len(fields))}
}

// add adds a batch. It is lent: nobody looks at it after add has returned.
func (f *feeder) add(ctx context.Context, b *parquetscan.Batch) error {
	for i := range b.Columns {
		f.columns[i] = f.column(&b.Columns[i], &f.dictionaries[i])
	}
	return f.worker.Add(ctx, groupby.Batch{Keys: f.columns[:f.keys], Values: f.columns[f.keys:], Start: b.Row})
}

// column returns a view of a column. d is the dictionary that this column had last.
func (f *feeder) column(c *parquetscan.Column, d *dictionary) groupby.Column {
	codes, dict := c.Codes()
	if dict == nil {
		return columnTypes[c.Type.Kind].view(c).WithValidity(c.Validity())
	}
	if d.from != dict { // what groupby finds out about an entry holds for the whole column chunk
		*d = dictionary{dict, groupby.NewDictionary(groupby.Text(dict.Text()))}
	}
	return groupby.Codes(codes, d.to).WithValidity(c.Validity())
}
