// SPDX-License-Identifier: Apache-2.0

package search

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/vector"
)

// Exact search of batches: what Over and searches of tables have in common.

// A seeker searches batches of one schema for the rows that are nearest to queries. Several goroutines may add batches.
type seeker struct {
	near     *vector.Accumulator
	kept     *keeper
	metric   vector.Metric
	dim      int
	schema   column.Schema // of the batches
	vectors  int           // the column of vectors
	columns  []int         // that are kept
	filter   *expr.Program // nil means all rows
	workers  int           // of a batch
	partRows int           // that are searched at a time, a multiple of 8
	read     int64         // rows
	cutoff
}

// A cutoff leaves out hits that are too far. nil means no bound. A NaN is beyond any bound.
type cutoff struct{ minScore, maxDistance *float32 }

func (c cutoff) leavesOut(score, distance float32) bool {
	return c.minScore != nil && !(score >= *c.minScore) || c.maxDistance != nil && !(distance <= *c.maxDistance)
}

// A scratch is the memory of one goroutine that adds batches.
type scratch struct {
	selection []int32
	near      []vector.Neighbor
	kept      column.Batch
}

// newSeeker returns a seeker without a schema. The errors are the ones of vector.New.
func newSeeker(queries [][]float32, k int, metric vector.Metric) (*seeker, error) {
	s := &seeker{metric: metric, kept: newKeeper(len(queries), k), dim: 1}
	if len(queries) > 0 {
		s.dim = len(queries[0])
	}
	var all []float32
	for i, q := range queries {
		if len(q) != s.dim {
			return nil, errorf("%w", &vector.DimensionError{What: fmt.Sprintf("query %d", i), Got: len(q), Want: s.dim})
		}
		all = append(all, q...)
	}
	var err error
	if s.near, err = vector.New(all, s.dim, k, metric); err != nil {
		return nil, errorf("%w", err)
	}
	// 16 bytes a row and query are the memory of near rows if all rows are
	s.partRows = min(max(1<<20/max(len(queries), 1), 1<<12), 1<<17) &^ 7
	return s, nil
}

// setSchema sets the columns of the batches, and the conditions that a row must satisfy.
func (s *seeker) setSchema(schema column.Schema, vectors string, filter []expr.Expr) (err error) {
	s.schema = schema
	if s.vectors, err = indexOfField(schema, vectors); err != nil || len(filter) == 0 {
		return err
	}
	if s.filter, err = expr.Compile(filter[0].And(filter[1:]...), schema); err != nil {
		return errorf("filter: %w", err)
	}
	return nil
}

// indexOfField returns the position of a column. The error wraps column.ErrNoColumn.
func indexOfField(schema column.Schema, name string) (int, error) {
	i := schema.Index(name)
	if i < 0 {
		return i, errorf("%w", schema.Empty().Column(name).Err())
	}
	return i, nil
}

// pick sets the columns of dst to the kept columns of b.
func (s *seeker) pick(dst, b *column.Batch) {
	dst.Columns, dst.Rows = dst.Columns[:0], b.Rows
	for _, i := range s.columns {
		dst.Columns = append(dst.Columns, b.Columns[i])
	}
}

// add searches a batch, whose row 0 has position first.
func (s *seeker) add(ctx context.Context, w *scratch, b *column.Batch, first int64) error {
	m, err := vector.MatrixOfColumn(&b.Columns[s.vectors])
	if err != nil {
		return errorf("%w", err)
	}
	options := vector.Options{Workers: s.workers}
	if s.filter != nil {
		if w.selection, err = s.filter.Select(b, slices.Grow(w.selection[:0], b.Rows)); err != nil {
			return errorf("filter: %w", err)
		}
	}
	s.pick(&w.kept, b)
	for from, selection := 0, w.selection; from < b.Rows; from += s.partRows {
		part := slicePart(m, from, min(from+s.partRows, b.Rows))
		if s.filter != nil {
			options.Selection, selection = cutSelection(selection, from, s.partRows)
		}
		if w.near, err = s.near.AddNear(ctx, w.near[:0], part, first+int64(from), options); err != nil {
			return errorf("%w", err)
		}
		if err := s.kept.offer(&w.kept, first, w.near); err != nil {
			return errorf("%w", err)
		}
	}
	return nil
}

// slicePart returns rows from to to of a matrix; from is a multiple of 8.
func slicePart(m vector.Matrix, from, to int) vector.Matrix {
	if m.Dim == 0 { // all rows are NULL
		return m
	}
	stride := cmp.Or(m.Stride, m.Format.Size(m.Dim))
	m.Data = m.Data[from*stride : min(to*stride, len(m.Data))]
	if m.Scales != nil {
		m.Scales = m.Scales[from:to]
	}
	if m.Validity != nil {
		m.Validity = m.Validity[from/8:]
	}
	return m
}

// cutSelection returns the selected rows from from on, of a part of so many rows, as numbers in the part, and the rest.
func cutSelection(selection []int32, from, rows int) (part, rest []int32) {
	n, _ := slices.BinarySearch(selection, int32(min(from+rows, math.MaxInt32)))
	for i := range selection[:n] {
		selection[i] -= int32(from)
	}
	return selection[:n], selection[n:]
}

// A found is the answer of a seeker: the hits of query 0, the nearest first, then the hits of query 1, and so on.
type found struct {
	batch     *column.Batch // the kept columns of each hit
	queries   []int32       // the number of the query of each hit
	ranks     []int32       // from 1
	scores    []float32
	distances []float32
	keys      [][]byte // the cells of the primary key, each a [bytes]; of tables only
	outside   []int    // hits that a cutoff left out, by query
	rows      int64    // rows that were read
}

// found returns the nearest rows. No batch may be added afterwards.
func (s *seeker) found() (*found, error) {
	f := &found{rows: s.read, outside: make([]int, len(s.kept.lists))}
	lists, kept, err := s.kept.nearest()
	if err != nil {
		return nil, errorf("%w", err)
	}
	var picks []int32
	for q, list := range lists {
		for i, r := range list {
			score := s.metric.Score(r.distance, s.dim)
			if s.leavesOut(score, r.distance) {
				f.outside[q] = len(list) - i // the others are farther
				break
			}
			f.queries, f.ranks = append(f.queries, int32(q)), append(f.ranks, int32(i+1))
			f.scores, f.distances = append(f.scores, score), append(f.distances, r.distance)
			f.keys = append(f.keys, r.row.key)
			picks = append(picks, int32(r.row.at))
		}
	}
	if kept == nil {
		kept = &column.Batch{}
		s.pick(kept, s.schema.Empty())
	}
	if f.batch, err = kept.Take(picks); err != nil {
		return nil, errorf("%w", err)
	}
	return f, nil
}
