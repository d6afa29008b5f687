// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"testing"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Situations of pipes.

func pipeSituations() []situation {
	run := func(p pipe.Pipe) func(*testing.T) error {
		return func(*testing.T) error {
			_, err := p.Batch(context.Background())
			return err
		}
	}
	items := pipe.Batches(column.NewBatch(column.Of("id", []int64{7}), column.Matrix("v", []float32{1, 2}, 2)))
	return []situation{
		{"pipe.Error", "parse a condition", as[*expr.SyntaxError](), run(items.Where("id >"))},
		{"pipe.Error", "name a column that does not exist", is(column.ErrNoColumn), run(items.Select("id", "price"))},
		{"pipe.Error", "sum a text", as[*pipe.Error](), run(items.With("s", "cast(id as string)").Aggregate(groupby.Sum("s")))},
		{"pipe.Error", "divide by zero in a row", is(expr.ErrDivision), run(items.With("x", "1 / (id - 7)"))},
		{"pipe.ErrNoSource", "run the zero Pipe", is(pipe.ErrNoSource), run(pipe.Pipe{})},
		{"pipe.ErrNoOrder", "order by a vector", is(pipe.ErrNoOrder), run(items.OrderBy(pipe.Ascending("v")))},
	}
}
