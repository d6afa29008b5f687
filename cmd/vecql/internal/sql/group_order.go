// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Aggregates that depend on the order of rows, and their ORDER BY: the rows are sorted before they are grouped.

// An aggregateOrder is an expression of the ORDER BY of an aggregate.
type aggregateOrder struct {
	by        expr.Expr
	direction expr.Order
}

// isJoined reports whether an operation is string_agg.
func isJoined(n expr.Node) bool { return n.Op == "string_agg" || n.Op == "string_agg"+distinctSuffix }

// isOrdered reports whether the result of an aggregate depends on the order of rows. Without an order, mode has any of
// the most frequent values.
func isOrdered(n expr.Node) bool {
	return isJoined(n) || slices.Contains([]string{"first", "last", "arg_min", "arg_max", "array_agg"}, n.Op) ||
		n.Op == "mode" && len(n.Orders) > 0
}

// orderBy records the order of an aggregate. All aggregates of a statement that depend on the order have the same one.
func (g *grouping) orderBy(e expr.Expr, n expr.Node) {
	if !isOrdered(n) {
		return
	}
	order := make([]aggregateOrder, len(n.Orders))
	for i, direction := range n.Orders {
		order[i] = aggregateOrder{n.Args[len(n.Args)-len(n.Orders)+i], direction}
	}
	same := func(a, b aggregateOrder) bool { return a.direction == b.direction && a.by.String() == b.by.String() }
	switch {
	case !g.hasOrdered:
		g.order, g.hasOrdered = order, true
	case !slices.EqualFunc(g.order, order, same):
		g.fail(e, "aggregates with different ORDER BY: %w", ErrUnsupported)
	}
}

// sortRows sorts the rows by the order of the aggregates, if they have one.
func (g *grouping) sortRows() {
	if len(g.order) == 0 || g.err != nil {
		return
	}
	orders := make([]pipe.Order, len(g.order))
	for i, o := range g.order {
		name := g.column(o.by, o.by.String())
		g.plan.orders[name] = o.by.Node().Offset
		orders[i] = pipe.Ascending(name)
		if o.direction.Descending {
			orders[i] = pipe.Descending(name)
		}
		if o.direction.NullsFirst {
			orders[i] = orders[i].NullsFirst()
		}
	}
	g.plan.Pipe = g.plan.Pipe.OrderBy(orders...)
}

// joined returns the aggregate of string_agg. Values that are no texts are cast.
func (g *grouping) joined(n expr.Node) groupby.Aggregate {
	separator, ok := n.Args[1].Node().Value.(string)
	if !ok {
		g.fail(n.Args[1], "the separator of string_agg must be a text literal")
	}
	texts := n.Args[0]
	if p, err := expr.Compile(g.answered(texts), g.schema); err == nil && p.Type().Kind != column.String {
		texts = texts.Cast(column.Type{Kind: column.String})
	}
	name := g.column(texts, texts.String())
	g.plan.place(name, n.Args[0])
	if n.Op == "string_agg" {
		return groupby.StringAgg(name, separator)
	}
	return groupby.StringAggDistinct(name, separator)
}
