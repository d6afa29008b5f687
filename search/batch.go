// SPDX-License-Identifier: Apache-2.0

package search

import (
	"context"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/codec"
)

// Names of the columns that a batch of hits has after the columns of the rows. A column of the rows with such a name
// comes first, and is the one that Batch.Column returns.
const (
	QueryColumn    = "query"    // int32: the number of the query, from 0
	RankColumn     = "rank"     // int32: the place among the hits of the query, from 1
	ScoreColumn    = "score"    // float32
	DistanceColumn = "distance" // float32
)

// Batch returns the k rows nearest to each of several queries as one batch, which is the caller's: the columns that T
// reads, and QueryColumn, RankColumn, ScoreColumn and DistanceColumn. Rows are in the order of queries, then ranks. The
// source of the batch has the warnings of the server. It has the errors of All.
func (q *Query[T]) Batch(ctx context.Context, queries [][]float32, k int) (*column.Batch, error) {
	p, found, err := q.find(ctx, queries, k)
	if err != nil {
		return nil, err
	}
	var cells []byte
	var marks hitColumns
	b := new(column.Batch)
	for i, f := range found {
		for j, r := range f.rows {
			cells = append(cells, r.cells...)
			marks.add(i, j, r.score, r.distance)
		}
	}
	if err := codec.NewColumnPlan(p.table.infosOf(q.columns)).Decode(cells, len(marks.ranks), b); err != nil {
		return nil, errorf("rows of %s: %w", p.table.target, err)
	}
	b.Columns = append(b.Columns, marks.columns()...)
	for _, f := range found {
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
