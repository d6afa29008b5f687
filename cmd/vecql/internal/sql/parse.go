// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/lex"
)

// The parser of statements: one function for each clause. Package expr parses expressions.

// Parse returns the statement of a text. The error is an *[Error].
func Parse(text string) (*Statement, error) {
	p := newParser(text)
	s := p.statement()
	if p.sign(";") && p.Token != lex.End {
		p.refuse("several statements")
	}
	p.end("the end")
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// A parser has a lexer and the first error. After an error the token is the end of the text, so that rules need no
// checks of those that they call.
type parser struct {
	lex.Lexer
	err    error
	nested int                   // statements within each other
	named  map[string]*Statement // of WITH, by the name in lower case
}

func newParser(text string) *parser {
	p := &parser{Lexer: lex.Lexer{Text: text}}
	p.next()
	return p
}

// stop records the first error.
func (p *parser) stop(err error) {
	if p.err == nil {
		p.err = err
	}
	p.Token, p.Word = lex.End, ""
}

// fail records that the token is not what was expected.
func (p *parser) fail(want string) {
	found := strconv.Quote(p.Text[p.Start:p.Pos])
	if p.Token == lex.End {
		found = "the end"
	}
	if p.err == nil {
		p.stop(refused(p.Text, p.Start, fmt.Errorf("found %s, want %s", found, want)))
	}
}

// refuse records that the token begins what is not supported.
func (p *parser) refuse(what string) {
	p.stop(at(p.Text, p.Start, fmt.Errorf("%s: %w", what, ErrUnsupported)))
}

func (p *parser) next() {
	if p.err != nil {
		return
	}
	if want := p.Scan(); want != "" {
		p.Token = lex.Sign // not the end
		p.fail(want)
	}
}

// word consumes the token if it is this word, in any case.
func (p *parser) word(word string) bool {
	if p.Token != lex.Word && p.Token != lex.Keyword || strings.ToLower(p.Word) != word {
		return false
	}
	p.next()
	return true
}

// before reports whether the token is one of these words, in any case.
func (p *parser) before(words ...string) bool {
	return p.Token == lex.Word && slices.Contains(words, strings.ToLower(p.Word))
}

func (p *parser) isSign(sign string) bool { return p.Token == lex.Sign && p.Word == sign }

// sign consumes the token if it is this sign.
func (p *parser) sign(sign string) bool {
	if !p.isSign(sign) {
		return false
	}
	p.next()
	return true
}

// end expects the end of the text.
func (p *parser) end(want string) {
	if p.Token != lex.End {
		p.fail(want)
	}
}

// statement parses a query, perhaps with DESCRIBE, up to its end or a semicolon.
func (p *parser) statement() *Statement {
	describe := p.word("describe") || p.word("desc")
	if describe && !p.before("select", "from", "with", "values") && !p.isSign("(") {
		s := p.around(p.source())
		s.Describe = true
		return s
	}
	s := p.query()
	s.Describe = describe
	if p.Token != lex.End && !p.isSign(";") {
		p.fail("an operator, a comma, where, group by, having, order by, limit, offset or the end")
	}
	return s
}

// selection parses a SELECT without ORDER BY and what follows.
func (p *parser) selection() *Statement {
	s := &Statement{Text: p.Text, Limit: -1}
	first := p.word("from")
	if first {
		s.From = p.source()
	}
	p.items(s, first)
	switch {
	case !first && p.word("from"):
		s.From = p.source()
	case !p.ends() && !p.before("where", "group", "having", "order", "limit", "offset", "fetch"):
		p.fail("as, a comma or from")
	}
	if err := s.checkNames(); err != nil {
		p.stop(err)
	}
	if p.word("where") {
		s.Where = p.expr()
	}
	if p.word("group") {
		p.by()
		p.groups(s)
	}
	if p.word("having") {
		s.Having = p.expr()
	}
	return s.counted()
}

// items parses SELECT and the columns of the result. After FROM they are all columns if there is no SELECT.
func (p *parser) items(s *Statement, afterFrom bool) {
	if afterFrom && !p.before("select") {
		s.Items = []Item{{All: true}}
		return
	}
	p.verb()
	if s.Distinct = p.word("distinct"); s.Distinct {
		s.DistinctOn = p.distinctOn()
		s.Distinct = s.DistinctOn == nil
	}
	if before := p.Lexer; !s.Distinct && s.DistinctOn == nil && p.word("all") && !p.Begins() { // a column of that name
		p.Lexer = before
	}
	s.Items = list(p, p.item)
}

// ends reports whether the token ends a SELECT.
func (p *parser) ends() bool {
	return p.Token == lex.End || p.isSign(";") || p.isSign(")") || p.before("union", "intersect", "except")
}

// keysOf returns the keys of GROUP BY ALL: the columns of the result without aggregates.
func (p *parser) keysOf(s *Statement) []expr.Expr {
	var keys []expr.Expr
	for i, item := range s.Items {
		switch {
		case item.All:
			p.stop(at(p.Text, item.offset, errAllKeys))
		case !hasAggregate(item.Expr):
			keys = append(keys, expr.Lit(i+1))
		}
	}
	return keys
}

// all consumes ALL if it stands alone: before the end of a SELECT or one of the words.
func (p *parser) all(words ...string) bool {
	if !p.before("all") {
		return false
	}
	before := p.Lexer
	if p.next(); p.ends() || p.before(words...) {
		return true
	}
	p.Lexer = before
	return false
}

// verb parses the first word.
func (p *parser) verb() {
	if p.Token == lex.Word && strings.Contains(statements, " "+strings.ToLower(p.Word)+" ") {
		p.refuse("a statement " + strings.ToUpper(p.Word))
	}
	if !p.word("select") {
		p.fail("select")
	}
}

func (p *parser) by() {
	if !p.word("by") {
		p.fail("by")
	}
}

// list parses elements between commas.
func list[T any](p *parser, element func() T) []T {
	all := []T{element()}
	for p.sign(",") {
		all = append(all, element())
	}
	return all
}

// expr parses an expression.
func (p *parser) expr() expr.Expr {
	if p.Token == lex.Word && lex.IsClause(p.Word) {
		p.fail("an expression; a column of that name needs double quotes")
	}
	if p.err != nil {
		return expr.Lit(nil)
	}
	e, end, err := expr.ParsePrefix(p.Text, p.Start, p.within)
	if err != nil {
		var syntax *expr.SyntaxError
		if errors.As(err, &syntax) {
			err = refused(p.Text, syntax.Offset, fmt.Errorf("found %s, want %s", syntax.Found, syntax.Want))
		}
		p.stop(err)
		return expr.Lit(nil)
	}
	p.Pos = end
	p.next()
	return e
}

func (p *parser) item() Item {
	offset := p.Start
	if p.sign("*") {
		return p.star(Item{All: true, offset: offset})
	}
	if of := p.allOf(); of != "" {
		return p.star(Item{All: true, of: of, offset: offset})
	}
	if p.before("columns") && p.called() {
		return p.matching(offset)
	}
	return Item{Expr: p.expr(), Name: p.alias()}
}

// allOf parses t.* and returns t, "" if the token begins something else.
func (p *parser) allOf() (of string) {
	rest := p.Text[p.Pos:]
	switch {
	case p.Token == lex.Word && strings.HasSuffix(p.Word, ".") && strings.HasPrefix(rest, "*"):
		of = strings.TrimSuffix(p.Word, ".")
	case p.Token == lex.Name && strings.HasPrefix(rest, ".*"):
		of = p.Word
		p.Pos++ // the point
	default:
		return ""
	}
	p.next()
	p.sign("*")
	return of
}

// alias parses AS and a name, or a name alone unless it begins another part of SQL; "" means none.
func (p *parser) alias() string {
	_, other := refusals[strings.ToLower(p.Word)]
	if p.word("as") || p.Token == lex.Name || p.Token == lex.Word && !lex.IsClause(p.Word) && !other {
		return p.name("a name")
	}
	return ""
}

// name parses a word, or a name in quotes.
func (p *parser) name(want string) string {
	name := p.Word
	if p.Token != lex.Name && (p.Token != lex.Word || lex.IsClause(name)) || name == "" {
		p.fail(want)
	}
	p.next()
	return name
}

func (p *parser) order() Order {
	e := p.expr()
	o := p.direction()
	o.Expr = e
	return o
}

// direction parses what follows an expression of ORDER BY.
func (p *parser) direction() (o Order) {
	if !p.word("asc") {
		o.Descending = p.word("desc")
	}
	if p.word("nulls") {
		if o.NullsFirst = p.word("first"); !o.NullsFirst && !p.word("last") {
			p.fail("first or last")
		}
	}
	return o
}

// source parses what follows FROM.
func (p *parser) source() Source {
	var s Source
	switch p.Token {
	case lex.Text:
		s.Files = []string{p.text()}
	case lex.Word, lex.Name:
		if p.Token == lex.Name && strings.ContainsAny(p.Word, "./*-") { // no name of a table
			s.Files = []string{p.Word}
			p.next()
			break
		}
		if p.called() {
			s.Files = p.read()
			break
		}
		s = p.table()
	case lex.Sign:
		if p.sign("(") {
			s.Query = p.query()
			p.close()
			break
		}
		fallthrough
	default:
		p.fail("read('file.parquet'), a text, a table or a statement in parentheses")
	}
	if alias := p.alias(); alias != "" {
		s.Alias, s.Columns = alias, p.columns(s.Columns)
	}
	if p.isSign(",") {
		p.refuse("joins")
	}
	return s
}

// called reports whether the token is a word before a parenthesis.
func (p *parser) called() bool {
	return p.Token == lex.Word && strings.HasPrefix(strings.TrimLeft(p.Text[p.Pos:], " \t\r\n"), "(")
}

// read parses read('file.parquet', ...), also by the names that DuckDB has for it.
func (p *parser) read() []string {
	if !p.before("read", "read_parquet", "read_csv", "read_csv_auto", "read_json", "read_json_auto", "read_ndjson",
		"read_ndjson_auto", "parquet_scan") {
		p.fail("read('file.parquet'), a text or a table")
	}
	p.next()
	p.sign("(")
	files := list(p, p.text)
	if !p.sign(")") {
		p.fail(", or )")
	}
	return files
}

func (p *parser) text() string {
	text := p.Word
	if p.Token != lex.Text {
		p.fail("the name of a file in single quotes")
	}
	p.next()
	return text
}

// table parses the name of a table, perhaps with its keyspace. Unquoted names are in lower case.
func (p *parser) table() Source {
	var parts []string
	for {
		dot := false
		switch {
		case p.Token == lex.Name && p.Word != "":
			parts = append(parts, p.Word)
			if dot = strings.HasPrefix(p.Text[p.Pos:], "."); dot {
				p.Pos++
			}
		case p.Token == lex.Word && !lex.IsClause(p.Word):
			word, points := strings.CutSuffix(p.Word, ".")
			dot = points && strings.HasPrefix(p.Text[p.Pos:], `"`)
			parts = append(parts, strings.Split(strings.ToLower(word), ".")...)
			if points && !dot {
				p.fail("a table")
			}
		default:
			p.fail("a table")
		}
		if len(parts) > 2 || len(parts) == 2 && parts[1] == "" {
			p.fail("a table, or a keyspace and a table")
		}
		p.next()
		if !dot || p.err != nil {
			break
		}
	}
	switch len(parts) {
	case 1:
		if query, ok := p.named[strings.ToLower(parts[0])]; ok {
			return Source{Query: query, Alias: parts[0]}
		}
		return Source{Table: parts[0]}
	case 2:
		return Source{Keyspace: parts[0], Table: parts[1]}
	}
	return Source{}
}
