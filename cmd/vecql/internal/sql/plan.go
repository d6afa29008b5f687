// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// The translation of a statement to a pipe: WHERE, groups (group.go), ORDER BY, the columns of the result.

// A Plan is a statement as a pipe.
type Plan struct {
	Pipe pipe.Pipe

	text string
	// The offsets of parts of the statement, by the names of columns that these parts made or read.
	places     map[string]int // keys, columns of DISTINCT, the columns that aggregates read
	aggregates map[string]int
	orders     map[string]int
	inner      []*Plan // of the statements within
}

// Locate returns an error of the pipe with its place in the statement, as an [*Error].
func (p *Plan) Locate(err error) error {
	if place := p.find(err); place != nil {
		return place
	}
	return located(p.text, err)
}

// find returns an error about a column with the place of the part that made or read the column, nil if there is none.
func (p *Plan) find(err error) error {
	var batch *groupby.BatchError
	if errors.As(err, &batch) {
		if offset, ok := p.places[batch.Column]; ok {
			return at(p.text, offset, batch.Err)
		}
	}
	var overflow *groupby.OverflowError
	if errors.As(err, &overflow) {
		if offset, ok := p.aggregates[overflow.Aggregate]; ok {
			return at(p.text, offset, errOverflow)
		}
	}
	var step *pipe.Error
	if errors.As(err, &step) && errors.Is(err, pipe.ErrNoOrder) {
		for name, offset := range p.orders {
			if step.Text == strconv.Quote(name) {
				return at(p.text, offset, step.Err)
			}
		}
	}
	for _, inner := range p.inner {
		if place := inner.find(err); place != nil {
			return place
		}
	}
	return nil
}

// place records the offset of an expression for errors about a column, unless the column has one.
func (p *Plan) place(name string, e expr.Expr) {
	if _, ok := p.places[name]; !ok {
		p.places[name] = e.Node().Offset
	}
}

// plan returns a SELECT on its source.
func (s *Statement) plan(ctx context.Context, o Options, source pipe.Pipe, schema column.Schema) (*Plan, error) {
	s = s.resolved(schema)
	x := &planner{
		ctx: ctx, options: o, s: s, schema: schema, plan: &Plan{Pipe: source, text: s.Text},
		outcomes: map[*Statement]outcome{},
	}
	x.plan.places, x.plan.aggregates, x.plan.orders = map[string]int{}, map[string]int{}, map[string]int{}
	x.columns = schema.Names()
	if s.From.None() { // the one row has a column, which is no column of the statement
		x.schema = nil
	}
	if s.Where != (expr.Expr{}) {
		x.plan.Pipe = x.plan.Pipe.Where("?", x.answered(s.Where))
	}
	grouped := s.isGrouped()
	x.expand(grouped)
	orders := x.orders()
	switch {
	case x.err != nil:
	case grouped && s.DistinctOn != nil:
		x.err = at(s.Text, -1, fmt.Errorf("DISTINCT ON with groups: %w", ErrUnsupported))
	case grouped:
		orders = x.group(orders)
	case s.DistinctOn != nil:
		orders = x.firstRows(orders)
	}
	if x.err == nil {
		x.finish(orders)
	}
	return x.plan, located(s.Text, x.err)
}

// An output is a column of the result.
type output struct {
	name string
	expr expr.Expr // on the columns of the source, or of the groups
	text string    // of the expression on the columns of the source
}

// A planner adds the steps of a statement to a pipe.
type planner struct {
	ctx      context.Context // of the runs of subqueries
	options  Options
	outcomes map[*Statement]outcome // of subqueries

	s       *Statement
	plan    *Plan
	schema  column.Schema // of the source
	columns []string      // of the pipe
	outputs []output
	made    map[string]string // columns with the values of expressions, by their text
	err     error             // the first one
}

// fail records the error of a part of the statement.
func (x *planner) fail(part expr.Expr, format string, args ...any) {
	if x.err == nil {
		x.err = at(x.s.Text, part.Node().Offset, fmt.Errorf(format, args...))
	}
}

// contains reports whether f is true for a part of e.
func contains(e expr.Expr, f func(n expr.Node) bool) bool {
	found := false
	e.Replace(func(part expr.Expr) (expr.Expr, bool) {
		found = found || f(part.Node())
		return part, found
	})
	return found
}

func hasAggregate(e expr.Expr) bool {
	return contains(e, func(n expr.Node) bool { return n.Aggregate })
}

// isGrouped reports whether the rows of the result are groups.
func (s *Statement) isGrouped() bool {
	return len(s.GroupBy) > 0 || s.Sets != nil || s.Having != (expr.Expr{}) ||
		slices.ContainsFunc(s.Items, func(i Item) bool { return hasAggregate(i.Expr) }) ||
		slices.ContainsFunc(s.OrderBy, func(o Order) bool { return hasAggregate(o.Expr) })
}

// expand makes the outputs from the items.
func (x *planner) expand(grouped bool) {
	for _, item := range x.s.Items {
		switch {
		case item.All && grouped:
			x.err = at(x.s.Text, item.offset, errors.New("* cannot be combined with groups: list the columns"))
		case item.All:
			columns, err := item.columns(x.schema)
			if err != nil {
				x.err = cmp.Or(x.err, at(x.s.Text, item.offset, err))
			}
			for _, c := range columns {
				x.output(c.Name, c.Expr)
			}
		case item.Name != "":
			x.output(item.Name, item.Expr)
		default:
			name := item.Expr.String()
			if n := item.Expr.Node(); n.Op == "column" {
				name = n.Column
			}
			x.output(name, item.Expr)
		}
	}
}

func (x *planner) output(name string, e expr.Expr) {
	taken := make([]string, len(x.outputs))
	for i := range x.outputs {
		taken[i] = x.outputs[i].name
	}
	x.outputs = append(x.outputs, output{fresh(name, taken), e, e.String()})
}

// fresh returns the name, with a number if it is taken.
func fresh(name string, taken []string) string {
	unique := name
	for i := 1; slices.Contains(taken, unique); i++ {
		unique = fmt.Sprintf("%s_%d", name, i)
	}
	return unique
}

// named returns the output with this name.
func (x *planner) named(name string) (expr.Expr, bool) {
	for _, o := range x.outputs {
		if o.name == name {
			return o.expr, true
		}
	}
	return expr.Expr{}, false
}

// position returns the output whose position e is. It fails if there is none.
func (x *planner) position(e expr.Expr) (expr.Expr, bool) {
	i, ok := e.Node().Value.(int64)
	if !ok {
		return e, false
	}
	if i < 1 || i > int64(len(x.outputs)) {
		x.fail(e, "position %d is not a column of the result: 1 to %d", i, len(x.outputs))
		return e, true
	}
	return x.outputs[i-1].expr, true
}

// aliased replaces the names of outputs that are no columns of the source.
func (x *planner) aliased(e expr.Expr) expr.Expr {
	return e.Replace(func(part expr.Expr) (expr.Expr, bool) {
		n := part.Node()
		if n.Op != "column" || x.schema.Index(n.Column) >= 0 {
			return part, false
		}
		return x.named(n.Column)
	})
}

// orders returns the expressions of ORDER BY on the columns of the source.
func (x *planner) orders() []expr.Expr {
	list := make([]expr.Expr, len(x.s.OrderBy))
	for i, o := range x.s.OrderBy {
		n := o.Expr.Node()
		if e, ok := x.position(o.Expr); ok {
			list[i] = e
		} else if e, ok := x.named(n.Column); ok && n.Op == "column" {
			list[i] = e
		} else {
			list[i] = x.aliased(o.Expr)
		}
	}
	return list
}

// column returns the name of a column with the values of an expression, which it computes unless there is one. The
// column has the wanted name if that is free.
func (x *planner) column(e expr.Expr, want string) string {
	if n := e.Node(); n.Op == "column" {
		if !slices.Contains(x.columns, n.Column) && x.err == nil {
			_, x.err = expr.Compile(e, x.schema)
		}
		return n.Column
	}
	text := e.String()
	if name, ok := x.made[text]; ok {
		return name
	}
	name := x.with(want, e)
	x.made[text] = name
	return name
}

// with adds a column with the values of an expression.
func (x *planner) with(want string, e expr.Expr) string {
	name := fresh(want, x.columns)
	x.plan.Pipe = x.plan.Pipe.With(name, "?", x.answered(e))
	x.columns = append(x.columns, name)
	if x.made == nil {
		x.made = map[string]string{}
	}
	return name
}

// wanted returns the name of the output with this text, otherwise the text.
func (x *planner) wanted(text string) string {
	for _, o := range x.outputs {
		if o.text == text {
			return o.name
		}
	}
	return text
}

// finish adds the order, the window, and the columns of the result. Without DISTINCT it computes these last, on the
// rows of the window only.
func (x *planner) finish(orders []expr.Expr) {
	if !x.s.Distinct {
		by := make([]string, len(orders))
		for i, e := range orders {
			by[i] = x.column(e, x.wanted(e.String()))
		}
		x.sort(by)
		x.project()
		return
	}
	by := make([]string, len(orders))
	for i, e := range orders {
		k := slices.IndexFunc(x.outputs, func(o output) bool { return o.expr.String() == e.String() })
		if k < 0 {
			x.fail(x.s.OrderBy[i].Expr, "ORDER BY of SELECT DISTINCT: want a column of the result")
			return
		}
		by[i] = x.outputs[k].name
	}
	x.project()
	for _, o := range x.outputs {
		x.plan.place(o.name, o.expr)
	}
	x.plan.Pipe = x.plan.Pipe.Distinct()
	x.sort(by)
}

// sort adds the order and the window.
func (x *planner) sort(by []string) {
	x.order(by)
	if x.s.Offset > 0 {
		x.plan.Pipe = x.plan.Pipe.Offset(x.s.Offset)
	}
	if x.s.Limit >= 0 {
		x.plan.Pipe = x.plan.Pipe.Limit(x.s.Limit)
	}
}

// order adds the order.
func (x *planner) order(by []string) {
	orders := make([]pipe.Order, len(by))
	for i, o := range x.s.OrderBy {
		x.plan.orders[by[i]] = o.Expr.Node().Offset
		orders[i] = pipe.Ascending(by[i])
		if o.Descending {
			orders[i] = pipe.Descending(by[i])
		}
		if o.NullsFirst {
			orders[i] = orders[i].NullsFirst()
		}
	}
	if len(orders) > 0 {
		x.plan.Pipe = x.plan.Pipe.OrderBy(orders...)
	}
}

// project adds the columns of the result with their names.
func (x *planner) project() {
	names, kept := make([]string, len(x.outputs)), make([]string, len(x.outputs))
	for i, o := range x.outputs {
		names[i], kept[i] = o.name, x.column(o.expr, o.name)
		if kept[i] != o.name || slices.Contains(kept[:i], kept[i]) {
			kept[i] = x.with(o.name, expr.Col(kept[i]))
		}
	}
	if !slices.Equal(kept, x.columns) {
		x.plan.Pipe = x.plan.Pipe.Select(kept...)
	}
	if slices.Equal(kept, names) {
		return
	}
	// Names of the result that are names of other columns before.
	x.columns = slices.Clone(kept)
	for i, name := range names {
		if kept[i] != name {
			x.plan.Pipe = x.plan.Pipe.With(name, "?", expr.Col(kept[i]))
		}
	}
	x.plan.Pipe = x.plan.Pipe.Select(names...)
}
