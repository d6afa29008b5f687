// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/lex"
)

// The parser of queries: SELECT and VALUES, set operations of these, WITH, and what applies to a whole result.

// maxNested is the maximum number of statements within each other.
const maxNested = 50

// errAllKeys means that GROUP BY ALL or ORDER BY ALL has no columns.
var errAllKeys = errors.New("ALL of *: list the columns")

// query parses a query: set operations, ORDER BY and the window, perhaps behind WITH.
func (p *parser) query() *Statement {
	if p.nested++; p.nested > maxNested {
		p.stop(at(p.Text, p.Start, fmt.Errorf("more than %d statements within each other", maxNested)))
		return &Statement{Text: p.Text, Limit: -1}
	}
	before := p.named
	defer func() { p.nested, p.named = p.nested-1, before }()
	if p.word("with") {
		p.with()
	}
	s := p.union()
	if s.OrderBy != nil || s.Limit >= 0 || s.Offset > 0 { // in parentheses, with an end of its own
		if p.before("order", "limit", "offset", "fetch") {
			s = p.around(Source{Query: s})
		}
	}
	if p.word("order") {
		p.by()
		s.OrderBy = p.orders(s)
		for _, o := range s.OrderBy {
			s.count(o.Expr)
		}
	}
	p.window(s)
	if s.selects > mostSelects {
		p.stop(at(p.Text, -1, fmt.Errorf("more than %d SELECTs", mostSelects)))
	}
	return s
}

// around returns the statement with all columns of a source.
func (p *parser) around(from Source) *Statement {
	s := &Statement{Text: p.Text, Limit: -1, Items: []Item{{All: true}}, From: from}
	return s.counted()
}

// with parses the names of WITH.
func (p *parser) with() {
	if p.before("recursive") {
		p.refuse("WITH RECURSIVE")
	}
	named := map[string]*Statement{}
	for name, s := range p.named {
		named[name] = s
	}
	p.named = named
	for more := true; more; more = p.sign(",") {
		name := p.name("a name")
		columns := p.columns(nil)
		if !p.word("as") {
			p.fail("as")
		}
		p.word("not")
		p.word("materialized")
		if !p.sign("(") {
			p.fail("(")
		}
		s := p.query()
		p.close()
		if columns != nil {
			s = p.around(Source{Query: s, Alias: name, Columns: columns})
		}
		named[strings.ToLower(name)] = s
	}
}

// wantClose is what may follow a statement within another one.
const wantClose = "an operator, a comma, where, group by, having, order by, limit, offset or )"

// close expects a closing parenthesis.
func (p *parser) close() {
	if !p.sign(")") {
		p.fail(wantClose)
	}
}

// columns parses the names of columns in parentheses. It returns the names before if there are none.
func (p *parser) columns(before []string) []string {
	if !p.sign("(") {
		return before
	}
	names := list(p, func() string { return p.name("the name of a column") })
	if !p.sign(")") {
		p.fail(", or )")
	}
	return names
}

// union parses UNION and EXCEPT.
func (p *parser) union() *Statement {
	return p.sets(p.intersect, "union", "except")
}

// intersect parses INTERSECT, which binds tighter.
func (p *parser) intersect() *Statement { return p.sets(p.operand, "intersect") }

// sets parses operands with set operations between them.
func (p *parser) sets(operand func() *Statement, words ...string) *Statement {
	s := operand()
	for p.before(words...) && p.err == nil {
		set := &Set{Op: strings.ToUpper(p.Word), Left: s, offset: p.Start}
		p.next()
		if set.All = p.word("all"); !set.All {
			p.word("distinct")
		}
		if set.All && set.Op != "UNION" {
			p.stop(at(p.Text, set.offset, fmt.Errorf("%s ALL: %w", set.Op, ErrUnsupported)))
		}
		if p.before("by") {
			p.refuse(set.Op + " BY NAME")
		}
		set.Right = operand()
		s = (&Statement{Text: p.Text, Limit: -1, Set: set}).counted()
	}
	return s
}

// operand parses SELECT, VALUES, or a query in parentheses.
func (p *parser) operand() *Statement {
	switch {
	case p.sign("("):
		s := p.query()
		p.close()
		return s
	case p.word("values"):
		s := &Statement{Text: p.Text, Limit: -1, valuesAt: p.Start}
		s.Values = list(p, p.row)
		for _, row := range s.Values {
			if len(row) != len(s.Values[0]) {
				p.stop(at(p.Text, s.valuesAt, fmt.Errorf("rows of VALUES with %d and %d values", len(s.Values[0]), len(row))))
			}
		}
		return s.counted()
	}
	return p.selection()
}

// row parses a row of VALUES.
func (p *parser) row() []expr.Expr {
	if !p.sign("(") {
		p.fail("(")
	}
	row := list(p, func() expr.Expr { return p.plain("VALUES") })
	if !p.sign(")") {
		p.fail(", or )")
	}
	return row
}

// orders parses the expressions of ORDER BY. ALL are the columns of the result.
func (p *parser) orders(s *Statement) []Order {
	if !p.all("asc", "desc", "nulls", "limit", "offset", "fetch") {
		return list(p, p.order)
	}
	o := p.direction()
	orders := make([]Order, len(s.Items))
	for i, item := range s.Items {
		if item.All {
			p.stop(at(p.Text, item.offset, errAllKeys))
		}
		orders[i] = o
		orders[i].Expr = expr.Lit(i + 1)
	}
	if len(orders) == 0 {
		p.fail("an expression")
	}
	return orders
}

// window parses limit and offset, in any order, and fetch.
func (p *parser) window(s *Statement) {
	for limited, skipped := false, false; ; {
		switch {
		case !limited && p.word("limit"):
			if limited = true; !p.unlimited() {
				s.Limit = p.count()
			}
		case !skipped && p.word("offset"):
			skipped, s.Offset = true, p.count()
			_ = p.word("rows") || p.word("row")
		case !limited && p.word("fetch"):
			limited, s.Limit = true, p.fetch()
		default:
			return
		}
	}
}

// unlimited parses all and null behind limit.
func (p *parser) unlimited() bool {
	return p.all("offset") || p.Token == lex.Keyword && p.word("null")
}

// fetch parses what follows fetch: first 3 rows only.
func (p *parser) fetch() int64 {
	n := int64(1)
	if !p.word("first") && !p.word("next") {
		p.fail("first or next")
	}
	if !p.before("row", "rows") {
		n = p.count()
	}
	if !p.word("rows") && !p.word("row") {
		p.fail("rows")
	}
	if !p.word("only") {
		p.fail("only")
	}
	return n
}

// count parses a number of rows: an expression without columns.
func (p *parser) count() int64 {
	offset := p.Start
	if p.Token == lex.Word && !p.called() || p.Token == lex.End { // no column has a value here
		p.fail("a number of rows")
	}
	c, err := constant(p.plain("LIMIT and OFFSET"))
	if p.err != nil {
		return 0
	}
	var n int64
	if err == nil {
		var values []int64
		if values, err = column.Slice[int64](&c); err == nil && !c.Null(0) {
			n = values[0]
		}
	}
	switch {
	case err != nil:
		p.stop(located(p.Text, err))
	case c.Null(0) || n < 0:
		p.stop(at(p.Text, offset, fmt.Errorf("the number of rows is %s, want at least 0", c.Format(0, caretWidth))))
	}
	return n
}

// constant returns the value of an expression without columns, in the only row of a column.
func constant(e expr.Expr) (column.Column, error) {
	program, err := expr.Compile(e, nil)
	if err != nil {
		return column.Column{}, err
	}
	return program.Eval(&column.Batch{Rows: 1})
}
