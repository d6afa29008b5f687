// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"slices"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
)

// GROUP BY, aggregates and HAVING.

// makers return the aggregates of one column.
var makers = map[string]func(name string) groupby.Aggregate{
	"count": groupby.CountOf, "count distinct": groupby.CountDistinct,
	"approx_count_distinct": groupby.ApproxCountDistinct, "sum": groupby.Sum, "avg": groupby.Mean, "min": groupby.Min,
	"max": groupby.Max, "stddev": groupby.StdDev, "stddev_pop": groupby.StdDevPop, "variance": groupby.Variance,
	"variance_pop": groupby.VariancePop, "median": groupby.Median, "median_exact": groupby.MedianExact,
	"any_value": groupby.Any, "first": groupby.First,
	"last": groupby.Last, "mode": groupby.Mode, "array_agg": groupby.ArrayAgg,
}

// quantiles return the aggregates of a column and a share of its values.
var quantiles = map[string]func(name string, q float64) groupby.Aggregate{
	"quantile": groupby.Quantile, "quantile_exact": groupby.QuantileExact, "quantile_disc": groupby.QuantileDisc,
}

// inFloat64 are the aggregates that compute floats in float64. Package groupby does not sum the type float16.
var inFloat64 = map[string]bool{
	"sum": true, "avg": true, "stddev": true, "stddev_pop": true, "variance": true, "variance_pop": true, "median": true,
	"median_exact": true, "quantile": true, "quantile_exact": true, "corr": true, "covar_pop": true, "covar_samp": true,
}

// A grouping collects the keys and the aggregates of a statement.
type grouping struct {
	*planner
	keys       map[string]string // the names of key columns, by the texts of their expressions
	names      []string          // of the columns of the groups: keys, then aggregates
	aggregates []groupby.Aggregate
	known      map[string]expr.Expr // the columns of the aggregates, by their texts
	distinct   *distinctValues      // nil unless an aggregate but count is of distinct values
	order      []aggregateOrder     // of the rows, for aggregates that depend on it
	hasOrdered bool                 // there is such an aggregate
	calls      []groupingCall       // of grouping sets
}

// group adds the groups and HAVING. It returns the orders, and changes the outputs, to expressions on the groups.
func (x *planner) group(orders []expr.Expr) []expr.Expr {
	g := &grouping{planner: x, keys: map[string]string{}, known: map[string]expr.Expr{}}
	g.addKeys()
	by, having := len(g.names), x.aliased(x.s.Having)
	g.findDistinct(append(slices.Clone(orders), having))
	for i := range x.outputs {
		x.outputs[i].expr = g.onGroups(x.outputs[i].expr)
	}
	for i := range orders {
		orders[i] = g.onGroups(orders[i])
	}
	if having != (expr.Expr{}) {
		having = g.onGroups(having)
	}
	g.sortRows()
	if len(g.names) == 0 {
		g.names, g.aggregates = []string{"count(*)"}, []groupby.Aggregate{groupby.Count().As("count(*)")}
	}
	groups := g.grouped
	if x.s.Sets != nil {
		groups = g.united
	}
	x.plan.Pipe, x.columns, x.made = groups(g.names[:by]), g.names, map[string]string{}
	if having != (expr.Expr{}) {
		x.plan.Pipe = x.plan.Pipe.Having("?", x.answered(having))
	}
	return orders
}

// addKeys adds the columns of GROUP BY. An expression on other keys is no key: its value is computed from theirs.
func (g *grouping) addKeys() {
	var keys []expr.Expr
	var columns []string // keys whose equal values are the same in all expressions, unlike -0 and 0
	for _, e := range g.s.GroupBy {
		e = g.key(e)
		keys = append(keys, e)
		if i := g.schema.Index(e.Node().Column); e.Node().Op == "column" && i >= 0 && !g.schema[i].Type.Kind.IsFloat() {
			columns = append(columns, e.Node().Column)
		}
	}
	derived := func(e expr.Expr) bool {
		return e.Node().Op != "column" && !slices.ContainsFunc(e.Columns(), func(name string) bool {
			return !slices.Contains(columns, name)
		})
	}
	all := !slices.ContainsFunc(keys, func(e expr.Expr) bool { return !derived(e) }) // they are constants
	for i, e := range keys {
		text := e.String()
		if _, ok := g.keys[text]; ok || g.s.Sets == nil && derived(e) && (!all || i > 0) {
			continue
		}
		g.keys[text] = g.column(e, g.wanted(text))
		g.names = append(g.names, g.keys[text])
		g.plan.place(g.keys[text], e)
	}
}

// key returns an expression of GROUP BY on the columns of the source.
func (g *grouping) key(e expr.Expr) expr.Expr {
	key, ok := g.position(e)
	if !ok {
		key = g.aliased(e)
	}
	if hasAggregate(key) {
		g.fail(key, "GROUP BY of an aggregate")
	}
	return key
}

// onGroups returns an expression on the columns of the groups.
func (g *grouping) onGroups(e expr.Expr) expr.Expr {
	return e.Replace(func(part expr.Expr) (expr.Expr, bool) {
		n, text := part.Node(), part.String()
		if name, ok := g.keys[text]; ok && n.Op != "literal" { // some operands must be literals: the operands of like
			return expr.Col(name), true
		}
		if n.Aggregate {
			return g.aggregate(part, text), true
		}
		if n.Op == "column" {
			if g.schema.Index(n.Column) < 0 {
				g.column(part, "") // fails
			}
			g.fail(part, "column %q is neither in GROUP BY nor within an aggregate", n.Column)
		}
		return part, false
	})
}

// aggregate returns the column of an aggregate.
func (g *grouping) aggregate(e expr.Expr, text string) expr.Expr {
	if known, ok := g.known[text]; ok {
		return known
	}
	n := e.Node()
	if n.Op == "grouping" {
		g.known[text] = g.groupingOf(e, n)
		return g.known[text]
	}
	for _, a := range n.Args {
		if hasAggregate(a) {
			g.fail(a, "an aggregate within an aggregate")
			return expr.Col(text)
		}
	}
	g.orderBy(e, n)
	name := fresh(g.wanted(text), g.names)
	made, value := g.make(e, n), expr.Col(name)
	if g.distinct != nil {
		made, value = g.overDistinct(e, n, made, value)
	}
	g.known[text], g.names = value, append(g.names, name)
	g.aggregates = append(g.aggregates, made.As(name))
	g.plan.aggregates[name] = n.Offset
	return value
}

// make returns an aggregate, whose arguments become columns.
func (g *grouping) make(e expr.Expr, n expr.Node) groupby.Aggregate {
	argument := func(i int) string {
		arg := n.Args[i]
		if g.asFloat(n.Op, i, arg) {
			arg = arg.Cast(column.Type{Kind: column.Float64})
		}
		name := g.column(arg, arg.String())
		g.plan.place(name, e)
		return name
	}
	switch n.Op {
	case "count":
		if len(n.Args) == 0 || n.Args[0].Node().Op == "literal" && n.Args[0].Node().Value != nil {
			return groupby.Count()
		}
	case "quantile", "quantile_exact", "quantile_disc":
		q, ok := number(n.Args[1].Node())
		if !ok || !(q >= 0 && q <= 1) {
			g.fail(n.Args[1], "want a quantile from 0 to 1 as a literal")
		}
		return quantiles[n.Op](argument(0), q)
	case "arg_min":
		return groupby.ArgMin(argument(1), argument(0))
	case "arg_max":
		return groupby.ArgMax(argument(1), argument(0))
	case "corr", "covar_pop", "covar_samp":
		of := map[string]func(x, y string) groupby.Aggregate{
			"corr": groupby.Corr, "covar_pop": groupby.CovarPop, "covar_samp": groupby.CovarSamp,
		}[n.Op]
		return of(argument(0), argument(1))
	case "string_agg", "string_agg distinct":
		return g.joined(n)
	}
	if of := makers[n.Op]; of != nil {
		return of(argument(0))
	}
	if of := makers[strings.TrimSuffix(n.Op, distinctSuffix)]; of != nil {
		return of(argument(0))
	}
	g.fail(e, "%s: %w", n.Op, ErrUnsupported)
	return groupby.Count()
}

// asFloat reports whether an aggregate takes its argument i as a float64: a float16; and a decimal of more than 18
// digits, but for sums, means, and what has no arithmetic.
func (g *grouping) asFloat(op string, i int, arg expr.Expr) bool {
	p, err := expr.Compile(g.answered(arg), g.schema)
	if err != nil {
		return false
	}
	switch p.Type().Kind {
	case column.Float16:
		return inFloat64[op] || i == 1 // argument 1 is the order of arg_min
	case column.Decimal128:
		return inFloat64[op] && op != "sum" && op != "avg"
	}
	return false
}

// number returns the value of a literal.
func number(n expr.Node) (float64, bool) {
	switch v := n.Value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
