// SPDX-License-Identifier: Apache-2.0

package run

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	groups "github.com/vecql/vecql/bench/groupby/data"
	"github.com/vecql/vecql/bench/parquet/data"
)

// Answers of libraries that read row groups: one goroutine per thread takes row groups and aggregates them in its own
// slices or Go maps, and one goroutine merges the results.

// A rowGroup holds columns of a row group, in the requested order, without NULLs. They are valid until the next call
// with the same rowGroup.
type rowGroup struct {
	columns []values
}

// values are one column: integers, floats, vectors, or strings as codes and names.
type values struct {
	ints    []int64
	floats  []float64
	vectors []float32
	codes   []int32
	names   []string
}

// A file is an open file. read is safe for concurrent use.
type file interface {
	rows() []int64 // of each row group
	read(ctx context.Context, group int, into *rowGroup) error
	Close() error
}

// An opener opens a file to read some columns.
type opener func(path string, columns []string) (file, error)

var errNulls = errors.New("unexpected NULLs")

func query(ctx context.Context, open opener, path string, c *data.Case, threads int) (a *Answer, err error) {
	files, err := openAll(open, path, c.Columns())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	switch {
	case c.Query == "count":
		return of(nil, intColumn(files.rows)), nil
	case c.Query == "sum" && c.Aggs[0].Column == "f":
		return files.sumFloats(ctx, threads)
	case c.Query == "sum":
		return files.sumInts(ctx, threads)
	case c.Query == "groupby" && c.Keys[0] == "s":
		return files.groupNames(ctx, threads)
	case c.Query == "groupby":
		return files.groupInts(ctx, threads, len(c.Aggs) > 1)
	case c.Query == "embeddings":
		return files.vectors(ctx, threads, c.Vectors.Dim)
	}
	return nil, unknown(c)
}

type fileSet struct {
	files  []file
	groups []groupAt
	rows   int64
}

// groupAt is a row group: its place in a file, its first row and the number of rows.
type groupAt struct {
	file        file
	index       int
	first, rows int64
}

func openAll(open opener, pattern string, columns []string) (*fileSet, error) {
	paths, err := filepath.Glob(pattern)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("%s: no files match", pattern)
	}
	s := &fileSet{}
	for _, path := range paths {
		f, err := open(path, columns)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.files = append(s.files, f)
		for i, n := range f.rows() {
			s.groups = append(s.groups, groupAt{f, i, s.rows, n})
			s.rows += n
		}
	}
	return s, nil
}

func (s *fileSet) Close() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// each calls fn with every row group, from one goroutine per thread.
func (s *fileSet) each(ctx context.Context, threads int, fn func(worker int, at groupAt, rg *rowGroup) error) error {
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for worker := range threads {
		g.Go(func() error {
			var rg rowGroup
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(s.groups) {
					return nil
				}
				at := s.groups[i]
				if err := at.file.read(ctx, at.index, &rg); err != nil {
					return err
				}
				if err := fn(worker, at, &rg); err != nil {
					return err
				}
			}
			return ctx.Err()
		})
	}
	return g.Wait()
}

// total has four sums, as the engines do, since an addition to one sum would wait for the one before.
func total[T int64 | float64](v []T) T {
	var a, b, c, d T
	for ; len(v) >= 4; v = v[4:] {
		a += v[0]
		b += v[1]
		c += v[2]
		d += v[3]
	}
	for _, x := range v {
		a += x
	}
	return a + b + c + d
}

// sumInts returns the sum of the first column. Each worker has a sum of its own.
func (s *fileSet) sumInts(ctx context.Context, threads int) (*Answer, error) {
	sums := make([]int64, threads)
	err := s.each(ctx, threads, func(worker int, _ groupAt, rg *rowGroup) error {
		sums[worker] += total(rg.columns[0].ints)
		return nil
	})
	return of(nil, intColumn(total(sums))), err
}

// sumFloats is sumInts for doubles.
func (s *fileSet) sumFloats(ctx context.Context, threads int) (*Answer, error) {
	sums := make([]float64, threads)
	err := s.each(ctx, threads, func(worker int, _ groupAt, rg *rowGroup) error {
		sums[worker] += total(rg.columns[0].floats)
		return nil
	})
	return of(nil, floatColumn(total(sums))), err
}

// A grouping is the groups found so far; a map holds their indexes.
type grouping[K comparable] struct {
	places       map[K]int32
	keys         []K
	counts, sums []int64
}

func newGroupings[K comparable](n int) []*grouping[K] {
	all := make([]*grouping[K], n)
	for i := range all {
		all[i] = &grouping[K]{places: map[K]int32{}}
	}
	return all
}

func (g *grouping[K]) place(k K) int32 {
	p, ok := g.places[k]
	if !ok {
		p = int32(len(g.keys))
		g.places[k] = p
		g.keys, g.counts, g.sums = append(g.keys, k), append(g.counts, 0), append(g.sums, 0)
	}
	return p
}

// merged merges all groupings into the first one.
func merged[K comparable](all []*grouping[K]) *grouping[K] {
	for _, g := range all[1:] {
		for i, k := range g.keys {
			p := all[0].place(k)
			all[0].counts[p] += g.counts[i]
			all[0].sums[p] += g.sums[i]
		}
	}
	return all[0]
}

func (s *fileSet) groupInts(ctx context.Context, threads int, sum bool) (*Answer, error) {
	all := newGroupings[int64](threads)
	err := s.each(ctx, threads, func(worker int, _ groupAt, rg *rowGroup) error {
		g := all[worker]
		if !sum {
			for _, k := range rg.columns[0].ints {
				g.counts[g.place(k)]++
			}
			return nil
		}
		v := rg.columns[1].ints
		for i, k := range rg.columns[0].ints {
			p := g.place(k)
			g.counts[p]++
			g.sums[p] += v[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g := merged(all)
	keys, aggs := []*groups.Column{intColumn(g.keys...)}, []*groups.Column{intColumn(g.counts...)}
	if sum {
		aggs = append(aggs, intColumn(g.sums...))
	}
	return of(keys, aggs...), nil
}

func (s *fileSet) groupNames(ctx context.Context, threads int) (*Answer, error) {
	all := newGroupings[string](threads)
	err := s.each(ctx, threads, func(worker int, _ groupAt, rg *rowGroup) error {
		g, names, v := all[worker], &rg.columns[0], rg.columns[1].ints
		places := make([]int32, len(names.names))
		for i, name := range names.names {
			places[i] = g.place(name)
		}
		for i, code := range names.codes {
			p := places[code]
			g.counts[p]++
			g.sums[p] += v[i]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	g := merged(all)
	return &Answer{Groups: func() (*groups.Answer, error) {
		key := &groups.Column{Type: groups.String}
		for _, name := range g.keys {
			key.AppendBytes([]byte(name))
		}
		return &groups.Answer{
			Keys:   []*groups.Column{key},
			Values: []*groups.Column{intColumn(g.counts...), intColumn(g.sums...)},
		}, nil
	}}, nil
}

func (s *fileSet) vectors(ctx context.Context, threads, dim int) (*Answer, error) {
	m := &data.Matrix{IDs: make([]int64, s.rows), Values: make([]float32, s.rows*int64(dim)), Dim: dim}
	err := s.each(ctx, threads, func(_ int, at groupAt, rg *rowGroup) error {
		ids, vectors := rg.columns[0].ints, rg.columns[1].vectors
		if int64(len(ids)) != at.rows || len(vectors) != len(ids)*dim {
			return fmt.Errorf("%d ids and %d elements in %d rows", len(ids), len(vectors), at.rows)
		}
		copy(m.IDs[at.first:], ids)
		copy(m.Values[at.first*int64(dim):], vectors)
		return nil
	})
	return &Answer{Vectors: m}, err
}
