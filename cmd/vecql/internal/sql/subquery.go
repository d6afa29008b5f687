// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/groupby"
	"github.com/vecql/vecql/pipe"
)

// Subqueries: statements within expressions. Each runs once, while the statement around it is planned, and its value
// becomes a literal or a set of the plan. A subquery has no columns of the statement around it.

// ErrManyRows means that a subquery in the place of a value has more than one row.
var ErrManyRows = errors.New("the subquery has more than one row: LIMIT 1 or an aggregate leaves one")

// A query is a statement within an expression.
type query struct{ *Statement }

// String returns the text of the statement on one line. It begins with a word: what begins with a parenthesis is an
// expression.
func (q query) String() string {
	text := q.text(" ")
	if strings.HasPrefix(text, "(") {
		text = "SELECT * FROM (" + text + ")"
	}
	return text
}

// queriesIn returns the subqueries of an expression.
func queriesIn(e expr.Expr) (list []query) {
	e.Replace(func(part expr.Expr) (expr.Expr, bool) {
		if q, ok := part.Node().Value.(query); ok {
			list = append(list, q)
		}
		return part, false
	})
	return list
}

// within parses a statement within an expression, up to its parenthesis.
func (p *parser) within(offset int) (s fmt.Stringer, end int, err error) {
	inner := *p
	inner.Pos = offset
	inner.next()
	q := query{inner.query()}
	if !inner.isSign(")") {
		inner.fail(wantClose)
	}
	return q, inner.Start, inner.err
}

// plain parses an expression without subqueries, in a clause that needs its value before there are rows.
func (p *parser) plain(clause string) expr.Expr {
	start := p.Start
	e := p.expr()
	if len(queriesIn(e)) > 0 {
		p.stop(at(p.Text, start, fmt.Errorf("subqueries in %s: %w", clause, ErrUnsupported)))
	}
	return e
}

// An outcome is the value of a subquery.
type outcome struct {
	value expr.Expr // a literal; the zero Expr for a set
	set   *expr.Set
	typ   column.Type // that the first operand of IN needs a cast to; the zero Type for none
}

// answered returns an expression on columns of the pipe with the values of its subqueries.
func (x *planner) answered(e expr.Expr) expr.Expr {
	return e.Replace(func(part expr.Expr) (expr.Expr, bool) {
		n := part.Node()
		q, ok := n.Value.(query)
		if !ok || x.err != nil {
			return part, false
		}
		var member expr.Expr
		if n.Op == "in query" {
			member = x.answered(n.Args[0])
		}
		a, known := x.outcomes[q.Statement]
		if !known {
			var err error
			if a, err = x.run(n, q, member); err != nil {
				x.err = x.correlated(err)
				return part, true
			}
			x.outcomes[q.Statement] = a
		}
		if a.typ != (column.Type{}) {
			member = member.Cast(a.typ)
		}
		if a.set != nil {
			return member.InSet(a.set), true
		}
		return a.value, true
	})
}

// run runs a subquery. member is the first operand of IN.
func (x *planner) run(n expr.Node, q query, member expr.Expr) (outcome, error) {
	p, err := q.PlanOn(x.ctx, x.options)
	if err != nil {
		return outcome{}, err
	}
	schema, err := p.Pipe.Schema(x.ctx)
	switch {
	case err != nil:
	case n.Op == "exists":
		return x.exists(p)
	case len(schema) != 1:
		return outcome{}, at(x.s.Text, n.Offset, fmt.Errorf("the subquery has %d columns, want 1", len(schema)))
	case n.Op == "query":
		return x.scalar(p, n, schema[0].Type)
	default:
		return x.members(p, n, schema[0], member)
	}
	return outcome{}, p.Locate(err)
}

// rows returns the first rows of a subquery.
func (x *planner) rows(p *Plan, n int64) (*column.Batch, error) {
	b, err := p.Pipe.Limit(n).Configure(x.options.Config).Batch(x.ctx)
	if err != nil {
		return nil, p.Locate(err)
	}
	return b, nil
}

// exists returns whether a subquery has a row.
func (x *planner) exists(p *Plan) (outcome, error) {
	if x.options.DryRun {
		return outcome{value: unknown(column.Type{Kind: column.Bool})}, nil
	}
	b, err := x.rows(p, 1)
	if err != nil {
		return outcome{}, err
	}
	return outcome{value: expr.LitAs(b.Rows > 0, column.Type{Kind: column.Bool})}, nil
}

// scalar returns the value of the only row of a subquery, NULL without a row.
func (x *planner) scalar(p *Plan, n expr.Node, typ column.Type) (outcome, error) {
	value := unknown(typ)
	if !x.options.DryRun {
		b, err := x.rows(p, 2)
		switch {
		case err != nil:
			return outcome{}, err
		case b.Rows > 1:
			return outcome{}, at(x.s.Text, n.Offset, ErrManyRows)
		case b.Rows == 1:
			value = expr.LitAs(b.Columns[0].Value(0), b.Columns[0].Type)
		default:
			value = expr.LitAs(nil, typ)
		}
	}
	if _, err := expr.Compile(value, nil); err != nil {
		return outcome{}, at(x.s.Text, n.Offset, fmt.Errorf("the subquery has a value of type %v, which cannot stand in an "+
			"expression: %w", typ, errors.Unwrap(err)))
	}
	return outcome{value: value}, nil
}

// unknown returns what stands for the value of a subquery that did not run: NULL, or a vector of zeros.
func unknown(typ column.Type) expr.Expr {
	if typ.Kind == column.Vector {
		return expr.Lit(make([]float64, typ.Dim))
	}
	return expr.LitAs(nil, typ)
}

// members returns the values of a subquery as a set, in the common type of the values and the first operand of IN.
func (x *planner) members(p *Plan, n expr.Node, f column.Field, member expr.Expr) (outcome, error) {
	from, typ, err := x.memberTypes(n, f.Type, member)
	if err != nil {
		return outcome{}, err
	}
	set, err := expr.NewSet(typ)
	switch {
	case err != nil:
		return outcome{}, at(x.s.Text, n.Offset, fmt.Errorf("IN of a subquery of %v, which has no order here", f.Type))
	case x.options.DryRun:
		return outcome{value: unknown(column.Type{Kind: column.Bool})}, nil
	}
	values := projected(p.Pipe, []expr.Expr{expr.Col(f.Name).Cast(typ)}, []string{f.Name}).Distinct()
	if typ == f.Type {
		values = p.Pipe.Distinct()
	}
	config := x.options.Config
	for b, err := range values.Configure(config).Batches(x.ctx) {
		if err == nil {
			err = set.Add(&b.Columns[0])
		}
		if errors.Is(err, groupby.ErrMemoryLimit) || config.MemoryLimit > 0 && set.Size() > config.MemoryLimit {
			return outcome{}, at(x.s.Text, n.Offset, fmt.Errorf("the values of the subquery: %w: %d bytes",
				groupby.ErrMemoryLimit, config.MemoryLimit))
		}
		if err != nil {
			return outcome{}, p.Locate(err)
		}
	}
	if from == typ {
		typ = column.Type{}
	}
	return outcome{set: set, typ: typ}, nil
}

// memberTypes returns the type of the first operand of IN, and its common type with the values of the subquery.
func (x *planner) memberTypes(n expr.Node, values column.Type, member expr.Expr) (from, common column.Type, err error) {
	if m := member.Node(); m.Op == "literal" && m.Value == nil {
		return values, values, nil
	}
	schema, err := x.plan.Pipe.Schema(x.ctx)
	if err != nil {
		return from, common, x.plan.Locate(err)
	}
	program, err := expr.Compile(member, schema)
	if err != nil {
		return from, common, located(x.s.Text, err)
	}
	from = program.Type()
	if common, err = commonType(from, values); err != nil {
		err = at(x.s.Text, n.Offset, fmt.Errorf("%s is %v and the subquery has %v: cast one of them", member, from, values))
	}
	return from, common, err
}

// correlated returns the error of a subquery. It is another one if the subquery names a column of the statement around
// it.
func (x *planner) correlated(err error) error {
	var e *Error
	if !errors.As(err, &e) || !errors.Is(err, column.ErrNoColumn) {
		return err
	}
	part, failed := expr.Parse(e.part)
	name, ok := part.Column()
	if failed != nil || !ok || x.schema.Index(x.s.columnOf(name, x.schema)) < 0 {
		return err
	}
	return at(e.Text, e.Offset, fmt.Errorf("%s is a column of the statement around: correlated subqueries: %w",
		part, ErrUnsupported))
}

// Options are what the plan of a statement needs of a program.
type Options struct {
	// Open opens the sources.
	Open Opener
	// Config has the options of the runs of subqueries, which end before the plan is complete. MemoryLimit bounds each
	// set of values, too.
	Config pipe.Config
	// DryRun is a plan without these runs: the values of subqueries are NULL in it. DESCRIBE has one, too.
	DryRun bool
}
