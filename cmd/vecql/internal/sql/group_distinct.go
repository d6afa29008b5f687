// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Aggregates of distinct values, but for count: the rows are grouped by the keys and the value first, then the groups
// by the keys. Other aggregates of the statement are computed in both steps.

// distinctSuffix ends the names of aggregates of distinct values.
const distinctSuffix = " distinct"

// isDistinct reports whether an operation is an aggregate of distinct values that groupby does not have.
func isDistinct(n expr.Node) bool {
	return n.Aggregate && strings.HasSuffix(n.Op, distinctSuffix) && makers[n.Op] == nil && !isJoined(n)
}

// distinctValues are the values that aggregates take once each.
type distinctValues struct {
	of       expr.Expr
	column   string
	partials []groupby.Aggregate // of the first step
}

// findDistinct sets distinct if the outputs, the orders or the condition have such an aggregate.
func (g *grouping) findDistinct(others []expr.Expr) {
	for _, o := range g.outputs {
		others = append(others, o.expr)
	}
	for _, e := range others {
		e.Replace(func(part expr.Expr) (expr.Expr, bool) {
			if n := part.Node(); isDistinct(n) && g.distinct == nil {
				g.distinct = &distinctValues{of: n.Args[0], column: g.column(n.Args[0], n.Args[0].String())}
			}
			return part, false
		})
	}
}

// grouped returns the pipe after the first step, the pipe itself without distinct values.
func (d *distinctValues) grouped(p pipe.Pipe, keys []string) pipe.Pipe {
	if d == nil {
		return p
	}
	if !slices.Contains(keys, d.column) {
		keys = append(slices.Clone(keys), d.column)
	}
	partials := d.partials
	if len(partials) == 0 {
		partials = []groupby.Aggregate{groupby.Count().As(fresh("count(*)", keys))}
	}
	return p.GroupBy(keys...).Aggregate(partials...)
}

// again are the aggregates that take the results of the first step.
var again = map[string]func(name string) groupby.Aggregate{
	"count": groupby.Sum, "sum": groupby.Sum, "min": groupby.Min, "max": groupby.Max, "any_value": groupby.Any,
}

// overDistinct returns the aggregate of the second step, and its value. made is the aggregate of the rows.
func (g *grouping) overDistinct(
	e expr.Expr, n expr.Node, made groupby.Aggregate, value expr.Expr,
) (groupby.Aggregate, expr.Expr) {
	d := g.distinct
	if strings.HasSuffix(n.Op, distinctSuffix) {
		if n.Args[0].String() != d.of.String() {
			g.fail(e, "DISTINCT of %s beside DISTINCT of %s: %w", n.Args[0], d.of, ErrUnsupported)
		}
		return makers[strings.TrimSuffix(n.Op, distinctSuffix)](d.column), value
	}
	second := again[n.Op]
	if second == nil {
		g.fail(e, "%s beside an aggregate of distinct values: %w", n.Op, ErrUnsupported)
		return made, value
	}
	name := fmt.Sprintf("\x00%d", len(d.partials))
	d.partials = append(d.partials, made.As(name))
	if n.Op == "count" { // of no rows 0
		value = expr.Coalesce(value, 0)
	}
	return second(name), value
}
