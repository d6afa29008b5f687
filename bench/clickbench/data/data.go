// SPDX-License-Identifier: Apache-2.0

// Package data makes the tables of the ClickBench queries and of TPC-H's queries 1 and 6 as Parquet files. Equal
// options make equal files.
//
// Table hits has the 105 columns of the original, with the types of its CREATE TABLE. Its rows are random, with the
// distributions that the queries depend on: few large sites and many small ones, URLs with common prefixes, users and
// phrases with long tails, mostly empty phrases, titles in Cyrillic. Rows are sorted by site, day and user.
package data

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/parquetscan"
)

// Options select the data.
type Options struct {
	Rows  int     `json:"rows"`  // of hits
	Scale float64 `json:"scale"` // TPC-H's scale factor: 1 is 6 million rows of lineitem; 0 is no lineitem
	Seed  uint64  `json:"seed"`
	// Workers is the number of goroutines that make batches, and of those that encode row groups, of a gigabyte of memory
	// each. 0 and 1 mean one of each. The files do not depend on it.
	Workers int `json:"-"`
}

// FullRows is the number of rows for which the numbers in the queries are meant: groups of more than 100,000 rows, and
// offsets up to 10,000. Queries on fewer rows use proportionally smaller numbers.
const FullRows = 10_000_000

// minRows is the least number of rows with which the site and the user of the queries have rows.
const minRows = 2_000

// RowGroupRows is the number of rows of a row group.
const RowGroupRows = 1_000_000

// Names of the files in the folder of the data.
const (
	Hits     = "hits.parquet"
	LineItem = "lineitem.parquet"
)

func (o Options) check() error {
	if o.Rows < minRows || o.Rows > 1<<30 {
		return fmt.Errorf("%d rows, want %d to %d", o.Rows, minRows, 1<<30)
	}
	if !(o.Scale >= 0 && o.Scale <= 1000) {
		return fmt.Errorf("scale %v, want 0 to 1000", o.Scale)
	}
	return nil
}

// Open returns the options with which the data in a folder was made.
func Open(dir string) (Options, error) {
	var o Options
	return o, groups.ReadManifest(dir, &o)
}

// Write makes the tables in a folder, at the same time, and the manifest last. It calls progress with the name of each
// file.
func Write(ctx context.Context, dir string, o Options, progress func(what string)) error {
	if err := o.check(); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	progress(Hits)
	g.Go(func() error { return write(ctx, filepath.Join(dir, Hits), o.Workers, newHits(o).batches) })
	if o.Scale > 0 {
		progress(LineItem)
		g.Go(func() error { return write(ctx, filepath.Join(dir, LineItem), o.Workers, newLineItem(o).batches) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return groups.WriteManifest(dir, o)
}

// blockRows is the number of rows of a batch, at least.
const blockRows = 1 << 15

// write writes the batches of a table to a file. Goroutines make batches while others encode them.
func write(ctx context.Context, path string, workers int, batches func(yield func(func() *column.Batch) bool)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made := make(chan chan *column.Batch, max(2, workers)) // in the order of the rows
	go func() {
		defer close(made)
		batches(func(batch func() *column.Batch) bool {
			one := make(chan *column.Batch, 1)
			select {
			case made <- one:
			case <-ctx.Done():
				return false
			}
			if workers < 2 {
				one <- batch()
			} else {
				go func() { one <- batch() }()
			}
			return true
		})
	}()
	return encode(ctx, path, workers, made)
}

func encode(ctx context.Context, path string, workers int, made <-chan chan *column.Batch) error {
	var w *parquetscan.FileWriter
	for one := range made {
		b := <-one
		var err error
		if w == nil {
			o := parquetscan.WriterOptions{RowGroupRows: RowGroupRows, RowGroupBytes: 1 << 40, Workers: workers}
			if w, err = parquetscan.Create(path, b.Schema(), o); err != nil {
				return err
			}
			defer func() { _ = w.Abort() }() // does nothing after Close
		}
		if err = w.Write(b); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.Close()
}

// golden spreads small numbers before groups.Mix.
const golden = 0x9e3779b97f4a7c15

// hash returns a number that depends on a and b.
func hash(a, b uint64) uint64 { return groups.Mix(groups.Mix(a+golden) ^ b*golden) }

// unit returns the upper bits of a hash as a number in [0, 1).
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }

// A choice is a distribution of few values: 256 cells. Eight bits select one.
type choice[T any] [256]T

// choose returns a choice in which value i has weights[i] of 256 cells, and the last value the remaining cells.
func choose[T any](values []T, weights ...int) *choice[T] {
	var c choice[T]
	at := 0
	for i, w := range weights {
		for range w {
			c[at] = values[i]
			at++
		}
	}
	for ; at < len(c); at++ {
		c[at] = values[len(values)-1]
	}
	return &c
}
