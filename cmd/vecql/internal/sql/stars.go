// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/lex"
)

// Items that are several columns: *, t.*, both with EXCLUDE and REPLACE, and COLUMNS('a.*').

// star parses what follows *.
func (p *parser) star(item Item) Item {
	for {
		switch {
		case item.exclude == nil && p.word("exclude"):
			item.exclude = oneOrMore(p, func() string { return p.name("the name of a column") })
		case item.replace == nil && p.word("replace"):
			item.replace = oneOrMore(p, p.replacement)
		default:
			return item
		}
	}
}

// oneOrMore parses one element, or several in parentheses.
func oneOrMore[T any](p *parser, element func() T) []T {
	if p.isSign("(") {
		return inParentheses(p, element)
	}
	return []T{element()}
}

// replacement parses an expression with the name of the column whose place it takes.
func (p *parser) replacement() Item {
	item := Item{Expr: p.expr(), Name: p.alias()}
	if item.Name == "" {
		p.fail("as and the name of a column")
	}
	return item
}

// matching parses COLUMNS('a.*') and COLUMNS(*).
func (p *parser) matching(offset int) Item {
	item := Item{All: true, offset: offset}
	p.next()
	p.sign("(")
	if !p.sign("*") {
		if p.Token != lex.Text {
			p.fail("* or a regular expression in single quotes")
		}
		pattern, err := regexp.Compile(p.Word)
		if err != nil {
			p.stop(at(p.Text, p.Start, err))
		}
		item.pattern = pattern
		p.next()
	}
	if !p.sign(")") {
		p.fail(")")
	}
	return item
}

// starText returns the text of an item that is several columns.
func (i Item) starText() string {
	if i.pattern != nil {
		return "COLUMNS(" + expr.Lit(i.pattern.String()).String() + ")"
	}
	text := "*"
	if i.of != "" {
		text = lex.Identifier(i.of) + ".*"
	}
	if i.exclude != nil {
		text += " EXCLUDE (" + identifiers(i.exclude) + ")"
	}
	if i.replace != nil {
		text += " REPLACE (" + joined(i.replace) + ")"
	}
	return text
}

// columns returns the columns of the result that an item stands for.
func (i Item) columns(schema column.Schema) (items []Item, err error) {
	excluded, replaced := map[string]bool{}, map[string]expr.Expr{}
	for _, name := range i.exclude {
		found := inAnyCase(name, schema)
		if found == "" {
			return nil, fmt.Errorf("EXCLUDE of %q: no such column", name)
		}
		excluded[found] = true
	}
	for _, r := range i.replace {
		found := inAnyCase(r.Name, schema)
		switch {
		case found == "":
			return nil, fmt.Errorf("REPLACE of %q: no such column", r.Name)
		case excluded[found]:
			return nil, fmt.Errorf("REPLACE of %q: EXCLUDE leaves the column out", r.Name)
		}
		replaced[found] = r.Expr
	}
	for _, f := range schema {
		if excluded[f.Name] || i.pattern != nil && !i.pattern.MatchString(f.Name) {
			continue
		}
		e, ok := replaced[f.Name]
		if !ok {
			e = expr.Col(f.Name)
		}
		items = append(items, Item{Name: f.Name, Expr: e})
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s has no column of: %s", i, strings.Join(schema.Names(), ", "))
	}
	return items, nil
}
