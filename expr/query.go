// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/lex"
)

// Statements within expressions: (select max(x) from t), x in (select ...), exists (select ...). This package parses
// what is around them and prints them. A program of statements runs them first, and replaces these parts by their
// values: [LitAs], [Expr.InSet].

// Operations of statements, which are the values of their nodes.
const (
	opQuery   = "query"
	opInQuery = "in query"
	opExists  = "exists"
)

// A StatementParser parses the statement that begins at an offset of a text, in parentheses within an expression. It
// returns the statement, and the offset of the first token after it.
type StatementParser func(offset int) (s fmt.Stringer, end int, err error)

// beforeStatement reports whether the token begins a statement, not an expression.
func (p *parser) beforeStatement() bool {
	if p.statement == nil || p.err != nil {
		return false
	}
	l := p.Lexer
	if l.Token != lex.Sign || l.Word != "(" {
		return beginsStatement(l)
	}
	if l.Scan(); !beginsStatement(l) {
		return false
	}
	for depth := 1; depth > 0 && l.Token != lex.End; {
		switch {
		case l.Scan() != "":
			return false
		case l.Token == lex.Sign && l.Word == "(":
			depth++
		case l.Token == lex.Sign && l.Word == ")":
			depth--
		}
	}
	l.Scan()
	return l.Token == lex.Sign && l.Word == ")" ||
		l.Token == lex.Word && slices.Contains([]string{"union", "intersect", "except"}, strings.ToLower(l.Word))
}

// beginsStatement reports whether the token of a lexer is the first word of a statement.
func beginsStatement(l lex.Lexer) bool {
	if l.Token != lex.Word {
		return false
	}
	next := func(token lex.Kind, word string) bool { return l.Token == token && l.Word == word }
	switch strings.ToLower(l.Word) {
	case "select", "from":
		return true
	case "values":
		l.Scan()
		return next(lex.Sign, "(")
	case "with":
		l.Scan()
		named := l.Token == lex.Word || l.Token == lex.Name
		l.Scan()
		return named && (next(lex.Keyword, "as") || next(lex.Sign, "("))
	}
	return false
}

// within parses a statement and its closing parenthesis, as an operation.
func (p *parser) within(at int, op string, args ...Expr) Expr {
	s, end, err := p.statement(p.Start)
	if err != nil {
		p.err = err
		p.Token, p.Word = lex.End, ""
		return Lit(nil)
	}
	p.Pos = end
	p.next()
	p.expect(lex.Sign, ")", ")")
	e := p.make(at, op, args...)
	e.n.value = s
	return e
}

// printStatement writes the operation of a statement, or of a set.
func (n *node) printStatement(b *strings.Builder) {
	switch n.op {
	case opExists:
		b.WriteString("exists ")
	case opInQuery, opInSet:
		n.args[0].print(b, levelAdd)
		b.WriteString(" in ")
	}
	fmt.Fprintf(b, "(%v)", n.value)
}
