// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
)

// Batch returns the k rows nearest to each of several queries as one batch, which is the caller's: the columns that T
// reads, and QueryColumn, RankColumn, ScoreColumn and DistanceColumn. Rows are in the order of queries, then ranks. The
// source of the batch has the warnings of the server. It has the errors of All.
func (q *Query[T]) Batch(ctx context.Context, queries [][]float32, k int) (*column.Batch, error) {
	for _, name := range []string{QueryColumn, RankColumn, ScoreColumn, DistanceColumn} {
		if slices.Contains(q.columns, name) {
			return nil, errorf("%w: the table has a column %s, as the batch of hits: leave it out of the row, or "+
				"use Each", ErrSchema, name)
		}
	}
	p, answers, err := q.find(ctx, queries, k)
	if err != nil {
		return nil, err
	}
	var cells []byte
	var marks hitColumns
	b := new(column.Batch)
	for i, f := range answers {
		for j, r := range f.rows {
			cells = append(cells, r.cells...)
			marks.add(i, j, r.score, r.distance)
		}
	}
	if err := codec.NewColumnPlan(p.table.infosOf(q.columns)).Decode(cells, len(marks.ranks), b); err != nil {
		return nil, errorf("rows of %s: %w", p.table.target, err)
	}
	b.Columns = append(b.Columns, marks.columns()...)
	for _, f := range answers {
		b.Source.Warnings = append(b.Source.Warnings, f.warnings...)
	}
	return b, nil
}

// hitColumns are the columns of a batch of hits that the search adds.
type hitColumns struct {
	queries, ranks    []int32
	scores, distances []float32
}

// add adds the hit of a query with a rank from 0.
func (c *hitColumns) add(query, rank int, score, distance float32) {
	c.queries = append(c.queries, int32(query))
	c.ranks = append(c.ranks, int32(rank+1))
	c.scores = append(c.scores, score)
	c.distances = append(c.distances, distance)
}

func (c *hitColumns) columns() []column.Column {
	return []column.Column{
		column.Of(QueryColumn, c.queries), column.Of(RankColumn, c.ranks),
		column.Of(ScoreColumn, c.scores), column.Of(DistanceColumn, c.distances),
	}
}
