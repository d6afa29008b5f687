// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"strings"

	"github.com/vecql/vecql/internal/lex"
)

// Functions whose arguments SQL's standard separates by words in place of commas.

// isWord reports whether the token is this word, in any case.
func (p *parser) isWord(word string) bool {
	return p.Token == lex.Word && strings.EqualFold(p.Word, word)
}

// behind parses an operand behind a word if the word is the token.
func (p *parser) behind(word string) (operand []Expr) {
	if p.isWord(word) {
		p.next()
		operand = append(operand, p.or())
	}
	return operand
}

// position parses the arguments of position(part in s), which is strpos.
func (p *parser) position(at int) Expr {
	part := p.bits()
	p.expect(lex.Keyword, "in", "in")
	s := p.or()
	p.expect(lex.Sign, ")", "an operator or )")
	return p.make(at, "strpos", s, part)
}

// percentile parses percentile_cont(0.9) within group (order by x), which is quantile_exact, behind the parenthesis.
func (p *parser) percentile(at int) Expr {
	args := p.arguments()
	p.expect(lex.Sign, ")", "an operator or )")
	if !p.wordBefore("within", func() bool { return p.isWord("group") }) {
		p.fail("within group (order by x)")
	}
	p.next()
	p.expect(lex.Sign, "(", "(")
	by, orders := p.ordering()
	if len(args) != 1 || len(by) != 1 {
		p.fail("one fraction, and order by with one expression")
		return Lit(nil)
	}
	p.expect(lex.Sign, ")", "an operator or )")
	if v, ok := numberOf(args[0]); ok && orders[0].Descending {
		args[0] = p.literal(at, 1-v)
	}
	args = []Expr{by[0], args[0]}
	if p.wordBefore("filter", func() bool { return p.is(lex.Sign, "(") }) {
		args = p.filtered(at, "quantile_exact", args)
	}
	return p.make(at, "quantile_exact", args...)
}

// numberOf returns the number that a literal is.
func numberOf(e Expr) (float64, bool) {
	switch v := e.n.value.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// extractArguments parses the arguments of extract: extract(minute from t), or with a text and commas.
func (p *parser) extractArguments() []Expr {
	at, part := p.Start, strings.ToLower(p.Word)
	if p.wordBefore("", func() bool { return p.isWord("from") }) {
		return append([]Expr{p.literal(at, part)}, p.behind("from")...)
	}
	return p.arguments()
}

// trimArguments parses the arguments of trim: trim(leading 'x' from s), without a side or the characters, or with
// commas. It returns the function that trims this side.
func (p *parser) trimArguments() (name string, args []Expr) {
	name = "trim"
	for _, side := range [][2]string{{"both", "trim"}, {"leading", "ltrim"}, {"trailing", "rtrim"}} {
		if p.wordBefore(side[0], func() bool { return p.Operand() || p.isWord("from") }) {
			name = side[1]
			break
		}
	}
	if !p.isWord("from") && !p.is(lex.Sign, ")") {
		args = p.arguments()
	}
	from := p.behind("from")
	if len(from) == 1 && len(args) == 0 && p.sign(",") {
		args = p.arguments()
	}
	return name, append(from, args...)
}

// substringArguments parses the arguments of substring: substring(s from 2 for 3), without one of the two, or with
// commas.
func (p *parser) substringArguments() []Expr {
	if p.is(lex.Sign, ")") {
		return nil
	}
	args := p.arguments()
	at, from, count := p.Start, p.behind("from"), p.behind("for")
	if len(count) > 0 && len(from) == 0 {
		from = []Expr{p.literal(at, 1)}
	}
	return append(append(args, from...), count...)
}
