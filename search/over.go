// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/vector"
)

// Exact search of batches from any source.

// ErrSchema means that the columns of a source do not fit the result of a search, or that they changed from one batch
// to the next.
var ErrSchema = errors.New("unsupported columns")

// The columns that Source.Nearest and Source.Batch append to the columns of the source.
const (
	QueryColumn    = "query"    // int32: the number of the query, from 0; of Batch only
	RankColumn     = "rank"     // int32: the place of the row among the hits of its query, from 1
	ScoreColumn    = "score"    // float32: the similarity of CQL servers; a greater one is nearer
	DistanceColumn = "distance" // float32: the distance of package vector; a smaller one is nearer
)

// A Source searches batches, exactly: batches of a Parquet file, of a scan, of a program. It reads the batches once for
// each search, for all queries of Batch, and has in memory at most 4k+64 rows for each query beside the current batch.
//
// Setters do not modify a Source; they return a changed copy. The first error of a setter is returned by the verbs. A
// Source may be used by as many goroutines as its batches may.
type Source struct {
	batches iter.Seq2[*column.Batch, error]
	vectors string
	columns []string // nil means all but the vectors
	filter  []expr.Expr
	metric  vector.Metric
	cutoff
	progress func(rows int64)
	err      error
}

// Over searches batches, all of one schema, by the column of vectors with this name: a Vector column of floats, or a
// Fixed column of blobs of package vector. Rows whose vector is NULL are left out; empty batches and batches without a
// vector are fine. Batches may be valid until the next one only. The metric is vector.Cosine unless Metric sets it.
func Over(batches iter.Seq2[*column.Batch, error], columnName string) *Source {
	return &Source{batches: batches, vectors: columnName, metric: vector.Cosine}
}

func (s *Source) with(change func(*Source) error) *Source {
	out := *s
	out.filter = slices.Clone(s.filter)
	if err := change(&out); out.err == nil {
		out.err = err
	}
	return &out
}

// Where limits the search to the rows for which a condition is true: a text of package expr, with a ? for each of args.
// Conditions of several calls are joined by AND.
func (s *Source) Where(condition string, args ...any) *Source {
	return s.with(func(s *Source) error {
		e, err := expr.Parse(condition, args...)
		if err != nil {
			return errorf("filter: %w", err)
		}
		s.filter = append(s.filter, e)
		return nil
	})
}

// Metric sets the distance by which rows are compared.
func (s *Source) Metric(m vector.Metric) *Source {
	return s.with(func(s *Source) error { s.metric = m; return nil })
}

// MinScore leaves out hits whose score is below a bound, and hits whose score is NaN.
func (s *Source) MinScore(score float32) *Source {
	return s.with(func(s *Source) error { s.minScore = &score; return nil })
}

// MaxDistance leaves out hits whose distance is above a bound, and hits whose distance is NaN.
func (s *Source) MaxDistance(distance float32) *Source {
	return s.with(func(s *Source) error { s.maxDistance = &distance; return nil })
}

// Columns sets the columns of the source that the result has, in this order. By default these are all but the vectors.
func (s *Source) Columns(names ...string) *Source {
	return s.with(func(s *Source) error { s.columns = append([]string{}, names...); return nil })
}

// Progress calls f after each batch with the number of rows that were read, on the goroutine of the search.
func (s *Source) Progress(f func(rows int64)) *Source {
	return s.with(func(s *Source) error { s.progress = f; return nil })
}

// Nearest returns the k rows nearest to a query: the columns of the source, then RankColumn, ScoreColumn and
// DistanceColumn. The nearest comes first, rows at the same distance are in the order of the source, and rows whose
// distance is NaN are the last. The batch is in new memory. There are fewer rows if the source has fewer, or if
// MinScore or MaxDistance left some out. Without a batch in the source its columns are unknown and missing.
//
// The query is checked before a batch is read: a *vector.ElementError, or an error that wraps vector.ErrK, ErrMetric,
// ErrShape or ErrZero. A *vector.DimensionError means that the vectors have another dimension. The error wraps
// ErrSchema if a column of the source has the name of a column that the search appends (choose the others by Columns,
// or rename it), or if a batch has other columns than the first. The other errors come from package expr, from the
// names and types of columns, from the source, and are the cause of ctx, which is checked between batches.
func (s *Source) Nearest(ctx context.Context, query []float32, k int) (*column.Batch, error) {
	f, err := s.search(ctx, [][]float32{query}, k, false)
	if err != nil {
		return nil, err
	}
	return f.withScores(), nil
}

// Batch returns the k rows nearest to each of several queries, from one pass over the batches, as Nearest does. The
// rows of query 0 come first, then the rows of query 1, and so on; QueryColumn, before RankColumn, has the number of
// the query. A row occurs once for each query to which it is near. The queries have the same dimension. Without a query
// no batch is read.
func (s *Source) Batch(ctx context.Context, queries [][]float32, k int) (*column.Batch, error) {
	f, err := s.search(ctx, queries, k, true)
	if err != nil {
		return nil, err
	}
	b := f.withScores()
	at := len(b.Columns) - 3
	b.Columns = slices.Insert(b.Columns, at, column.Of(QueryColumn, f.queries))
	return b, nil
}

// withScores returns the batch with the columns of ranks, scores and distances.
func (f *found) withScores() *column.Batch {
	f.batch.Columns = append(f.batch.Columns, column.Of(RankColumn, f.ranks), column.Of(ScoreColumn, f.scores),
		column.Of(DistanceColumn, f.distances))
	return f.batch
}

// search reads the batches. many means that the result has QueryColumn.
func (s *Source) search(ctx context.Context, queries [][]float32, k int, many bool) (*found, error) {
	if s.err != nil {
		return nil, s.err
	}
	seek, err := newSeeker(queries, k, s.metric)
	if err != nil {
		return nil, err
	}
	seek.cutoff = s.cutoff
	if len(queries) == 0 {
		return seek.found()
	}
	if ctx.Err() != nil {
		return nil, errorf("%w", context.Cause(ctx))
	}
	var w scratch
	first := true
	for b, err := range s.batches {
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return nil, errorf("read the source: %w", err)
		}
		if first {
			err, first = s.prepare(seek, b.Schema(), many), false
		} else {
			err = seek.sameColumns(b)
		}
		if err == nil {
			err = seek.add(ctx, &w, b, seek.read)
		}
		if err != nil {
			return nil, fmt.Errorf("%w%s", err, placeOf(b, seek.read))
		}
		if seek.read += int64(b.Rows); s.progress != nil {
			s.progress(seek.read)
		}
	}
	if ctx.Err() != nil {
		return nil, errorf("%w", context.Cause(ctx))
	}
	return seek.found()
}

// placeOf returns the place of a batch in its source, for errors.
func placeOf(b *column.Batch, rows int64) string {
	if b.Source.File != "" {
		return fmt.Sprintf(" (batch of file %s, from row %d on)", b.Source.File, b.Source.FirstRow)
	}
	return fmt.Sprintf(" (batch from row %d of the source on)", rows)
}

// prepare sets the schema of a search to the one of the first batch.
func (s *Source) prepare(seek *seeker, schema column.Schema, many bool) error {
	if err := seek.setSchema(schema, s.vectors, s.filter); err != nil {
		return err
	}
	if s.columns == nil {
		for i := range schema {
			if i != seek.vectors {
				seek.columns = append(seek.columns, i)
			}
		}
	}
	for _, name := range s.columns {
		i, err := indexOfField(schema, name)
		if err != nil {
			return err
		}
		seek.columns = append(seek.columns, i)
	}
	for _, i := range seek.columns {
		switch name := schema[i].Name; {
		case name == RankColumn, name == ScoreColumn, name == DistanceColumn, many && name == QueryColumn:
			return errorf("%w: the source has a column %s, as the result of the search: choose other columns by Columns, or "+
				"rename it", ErrSchema, name)
		}
	}
	return nil
}

// sameColumns returns an error unless a batch has the columns of the first one.
func (s *seeker) sameColumns(b *column.Batch) error {
	if len(b.Columns) != len(s.schema) {
		return errorf("%w: a batch has %d columns, the first one has %d", ErrSchema, len(b.Columns), len(s.schema))
	}
	for i := range b.Columns {
		if c, f := &b.Columns[i], &s.schema[i]; !isOfField(c, f) {
			return errorf("%w: column %d of a batch is %v, of the first one %v", ErrSchema, i, c.Field(), f)
		}
	}
	return nil
}

// isOfField reports whether a column has the name and type of a field. Vectors have no dimension if all are NULL.
func isOfField(c *column.Column, f *column.Field) bool {
	have, want := c.Type, f.Type
	if have.Kind == column.Vector && (have.Dim == 0 || want.Dim == 0) {
		have.Dim, want.Dim = 0, 0
	}
	if c.Name != f.Name || have != want || len(c.Children) != len(f.Fields) {
		return false
	}
	for i := range c.Children {
		if !isOfField(&c.Children[i], &f.Fields[i]) {
			return false
		}
	}
	return true
}
