// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
)

// DISTINCT ON: of the rows with equal keys the first one by ORDER BY.

// distinctOn parses ON (key, ...) behind DISTINCT; nil means that there is none.
func (p *parser) distinctOn() (keys []expr.Expr) {
	if !p.before("on") || !p.called() {
		return nil
	}
	p.next()
	p.sign("(")
	keys = list(p, p.expr)
	if !p.sign(")") {
		p.fail(", or )")
	}
	return keys
}

// firstRows adds the steps of DISTINCT ON. It returns the orders, and changes the outputs, to expressions on its rows.
func (x *planner) firstRows(orders []expr.Expr) []expr.Expr {
	f := firsts{planner: x, known: map[string]expr.Expr{}}
	for _, e := range x.s.DistinctOn {
		key, ok := x.position(e)
		if !ok {
			key = x.aliased(e)
		}
		name := x.column(key, key.String())
		x.plan.place(name, key)
		f.names = append(f.names, name)
	}
	keys := f.names[:len(f.names):len(f.names)]
	by := make([]string, len(orders))
	for i, e := range orders {
		by[i] = x.column(e, e.String())
		orders[i] = f.first(by[i])
	}
	for i, o := range x.outputs {
		x.outputs[i].expr = f.first(x.column(o.expr, o.name))
	}
	x.order(by)
	x.plan.Pipe = x.plan.Pipe.GroupBy(keys...).Aggregate(f.aggregates...)
	x.columns, x.made = f.names, map[string]string{}
	return orders
}

// firsts are the aggregates of the first rows.
type firsts struct {
	*planner
	names      []string // of the columns behind the groups
	aggregates []groupby.Aggregate
	known      map[string]expr.Expr // the values in the first rows, by the column
}

// first returns the value of a column in the first row of a group. The aggregate leaves out NULL, so that another one
// has whether the value is NULL.
func (f *firsts) first(column string) expr.Expr {
	if known, ok := f.known[column]; ok {
		return known
	}
	n := len(f.known)
	value, null := fmt.Sprintf("\x00first%d", n), fmt.Sprintf("\x00null%d", n)
	isNull := f.with(null, expr.Col(column).IsNull())
	f.names = append(f.names, value, null)
	f.aggregates = append(f.aggregates, groupby.First(column).As(value), groupby.First(isNull).As(null))
	f.known[column] = expr.Case(expr.When(expr.Col(null), nil), expr.Else(expr.Col(value)))
	return f.known[column]
}
