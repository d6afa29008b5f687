// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"context"
	"fmt"
	"slices"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Plans of set operations, of VALUES, and of statements within others.

// An Opener opens the files or the table of a source, or its one row, and returns its columns.
type Opener func(ctx context.Context, from Source) (pipe.Pipe, column.Schema, error)

// PlanOn returns the statement on the sources that o opens. The error is an *[Error], or an error of Open.
func (s *Statement) PlanOn(ctx context.Context, o Options) (*Plan, error) {
	o.DryRun = o.DryRun || s.Describe
	if s.Set == nil && s.Values == nil {
		return s.planSelect(ctx, o)
	}
	p, err := s.planRows(ctx, o)
	if err != nil || s.OrderBy == nil && s.Limit < 0 && s.Offset == 0 {
		return p, err
	}
	all := *s
	all.Set, all.Values, all.Items, all.From = nil, nil, []Item{{All: true}}, Source{Query: s}
	return all.planAround(ctx, o, p)
}

// planRows returns a set operation or VALUES without what applies to the whole result.
func (s *Statement) planRows(ctx context.Context, o Options) (*Plan, error) {
	if s.Values != nil {
		b, err := s.valuesBatch()
		return &Plan{Pipe: pipe.Batches(b), text: s.Text}, located(s.Text, err)
	}
	return s.Set.plan(ctx, s.Text, o)
}

// planSelect returns a SELECT on its source, which may be a statement.
func (s *Statement) planSelect(ctx context.Context, o Options) (*Plan, error) {
	if s.From.Query != nil {
		inner, err := s.From.Query.PlanOn(ctx, o)
		if err != nil {
			return nil, err
		}
		return s.planAround(ctx, o, inner)
	}
	source, schema, err := o.Open(ctx, s.From)
	if err != nil {
		return nil, err
	}
	return s.plan(ctx, o, source, schema)
}

// planAround returns a SELECT on the rows of another plan.
func (s *Statement) planAround(ctx context.Context, o Options, inner *Plan) (*Plan, error) {
	schema, err := inner.Pipe.Schema(ctx)
	if err != nil {
		return nil, inner.Locate(err)
	}
	names := schema.Names()
	if copy(names, s.From.Columns) < len(s.From.Columns) {
		return nil, at(s.Text, -1, fmt.Errorf("%s has %d columns, and %d names", s.From.Alias, len(names), len(s.From.Columns)))
	}
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return nil, at(s.Text, -1, fmt.Errorf("%s has two columns %q", s.From.Alias, name))
		}
	}
	schema = slices.Clone(schema)
	columns := make([]expr.Expr, len(schema))
	for i := range schema {
		columns[i] = expr.Col(schema[i].Name)
		schema[i].Name = names[i]
	}
	p, err := s.plan(ctx, o, projected(inner.Pipe, columns, names), schema)
	if p != nil {
		p.inner = append(p.inner, inner)
	}
	return p, err
}

// projected returns the pipe with the values of expressions as its columns.
func projected(p pipe.Pipe, columns []expr.Expr, names []string) pipe.Pipe {
	same := true
	for i, e := range columns {
		name, ok := e.Column()
		same = same && ok && name == names[i]
	}
	if same {
		return p.Select(names...)
	}
	others := make([]string, len(names))
	for i, e := range columns {
		others[i] = fmt.Sprintf("\x00column%d", i)
		p = p.With(others[i], "?", e)
	}
	p = p.Select(others...)
	for i, name := range names {
		p = p.With(name, "?", expr.Col(others[i]))
	}
	return p.Select(names...)
}

// plan returns the set operation. The columns have the names of the left statement, and the common types of both.
func (s *Set) plan(ctx context.Context, text string, o Options) (*Plan, error) {
	var plans [2]*Plan
	var schemas [2]column.Schema
	for i, side := range []*Statement{s.Left, s.Right} {
		var err error
		if plans[i], err = side.PlanOn(ctx, o); err != nil {
			return nil, err
		}
		if schemas[i], err = plans[i].Pipe.Schema(ctx); err != nil {
			return nil, plans[i].Locate(err)
		}
	}
	left, right := schemas[0], schemas[1]
	if len(left) != len(right) {
		return nil, at(text, s.offset, fmt.Errorf("%s of %d columns and %d columns", s.Op, len(left), len(right)))
	}
	var sides [2][]expr.Expr
	for k := range left {
		typ, err := commonType(left[k].Type, right[k].Type)
		if err != nil {
			return nil, at(text, s.offset, fmt.Errorf("%s: column %d is %v on the left and %v on the right: cast one of them",
				s.Op, k+1, left[k].Type, right[k].Type))
		}
		for i := range sides {
			e := expr.Col(schemas[i][k].Name)
			if schemas[i][k].Type != typ {
				e = e.Cast(typ)
			}
			sides[i] = append(sides[i], e)
		}
	}
	names := left.Names()
	p := s.combine(projected(plans[0].Pipe, sides[0], names), projected(plans[1].Pipe, sides[1], names), names)
	return &Plan{Pipe: p, text: text, inner: plans[:]}, nil
}

// commonType returns the type with the values of two types.
func commonType(a, b column.Type) (column.Type, error) {
	if a == b {
		return a, nil
	}
	both := column.Schema{{Name: "a", Type: a}, {Name: "b", Type: b}}
	program, err := expr.Compile(expr.Coalesce(expr.Col("a"), expr.Col("b")), both)
	if err != nil {
		return column.Type{}, err
	}
	return program.Type(), nil
}

// combine returns the operation on two pipes with the same columns. The rows of INTERSECT and EXCEPT are grouped with
// the sides that they are on.
func (s *Set) combine(left, right pipe.Pipe, names []string) pipe.Pipe {
	if s.Op == "UNION" {
		union := pipe.Union(left, right)
		if s.All {
			return union
		}
		return union.Distinct()
	}
	const side, least, greatest = "\x00side", "\x00least", "\x00greatest"
	union := pipe.Union(left.With(side, "?", expr.Lit(0)), right.With(side, "?", expr.Lit(1)))
	groups := union.GroupBy(names...).Aggregate(groupby.Min(side).As(least), groupby.Max(side).As(greatest))
	condition := expr.Col(greatest).Eq(0)
	if s.Op == "INTERSECT" {
		condition = expr.Col(least).Lt(expr.Col(greatest))
	}
	return groups.Having("?", condition).Select(names...)
}

// valuesBatch returns the rows of VALUES. The values of a column have one type.
func (s *Statement) valuesBatch() (*column.Batch, error) {
	rows := make([]*column.Batch, len(s.Values))
	for i := range rows {
		rows[i] = &column.Batch{Rows: 1}
	}
	for k := range s.Values[0] {
		cells := make([]any, len(s.Values))
		for i, row := range s.Values {
			cells[i] = row[k]
		}
		common := expr.Coalesce(cells...)
		program, err := expr.Compile(common, nil)
		if err != nil {
			return nil, at(s.Text, s.valuesAt, fmt.Errorf("column %d of VALUES: %w", k+1, err))
		}
		for i, row := range s.Values {
			c, err := constant(row[k])
			if err != nil || c.Type != program.Type() {
				c, err = constant(expr.Case(expr.When(expr.Lit(true), row[k]), expr.Else(common)))
			}
			if err != nil {
				return nil, err
			}
			rows[i].Columns = append(rows[i].Columns, c.As(fmt.Sprintf("col%d", k)))
		}
	}
	return column.Concat(rows...)
}
