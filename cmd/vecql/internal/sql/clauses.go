// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"slices"

	"github.com/vecql/vecql/expr"
)

// Statements from clauses that are texts of their own, as in flags.

// Clauses are the parts of a grouping: keys and aggregates as items ("sum(x) AS s"), conditions, and orders
// ("s DESC"). Empty texts and lists mean none.
type Clauses struct {
	Files          []string
	Where, Having  string
	By, Aggregates []string
	Order          []string
	Limit, Offset  int64 // Limit is -1 for none
}

// Statement returns the SELECT of the clauses: the keys, then the aggregates. An error has the text of its clause.
func (c Clauses) Statement() (*Statement, error) {
	s := &Statement{From: Source{Files: c.Files}, Limit: c.Limit, Offset: c.Offset}
	var err error
	condition := func(text string) (e expr.Expr) {
		if text != "" && err == nil {
			e, err = clause(text, (*parser).expr)
		}
		return e
	}
	s.Where, s.Having = condition(c.Where), condition(c.Having)
	for i, text := range slices.Concat(c.By, c.Aggregates) {
		if err != nil {
			break
		}
		var item Item
		if item, err = clause(text, (*parser).item); err == nil && item.All {
			err = at(text, 0, errAll)
		}
		s.Items = append(s.Items, item)
		if i < len(c.By) {
			s.GroupBy = append(s.GroupBy, expr.Lit(i+1))
		}
	}
	for _, text := range c.Order {
		var o Order
		if err == nil {
			o, err = clause(text, (*parser).order)
		}
		s.OrderBy = append(s.OrderBy, o)
	}
	if err != nil {
		return nil, err
	}
	return Parse(s.String())
}

// clause parses a text that is one part of a statement.
func clause[T any](text string, part func(p *parser) T) (T, error) {
	p := newParser(text)
	v := part(p)
	p.end("an operator or the end")
	return v, p.err
}
