// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/vecql/vecql/internal/lex"
)

// The parser: recursive descent, one function for each level of precedence.

// A SyntaxError means that a text is not an expression.
type SyntaxError struct {
	Offset int    // of the first byte that does not fit
	Want   string // what was expected there
	Found  string // the text there
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("expr: at offset %d: found %s, want %s", e.Offset, e.Found, e.Want)
}

// maxDepth is the maximum depth of a parsed expression: parentheses and operators within each other. It bounds the
// recursion of all functions on expressions.
const maxDepth = 1000

// Parse returns the expression of a text:
//
//	price * quantity > 100.0 and name ilike 'a%' and not "odd name" in (1, 2, null)
//	case when at >= date '2026-01-01' then extract('month', at, 'Europe/Berlin') else 0 end
//	coalesce(lower(name), 'none') || ':' || cast(id as string)
//	l2(embedding, [0.5, 1.0]) < 0.3 and at + interval '1mo2d' between '2026-01-01' and '2026-02-01'
//
// Operators, from the loosest: or; and; not; comparisons (=, <>, !=, <, <=, >, >=, is [not] null, [not] in, between,
// like, ilike, regexp); +, -, ||; *, /, %; unary minus and plus; a type after ::. Functions have the names of the
// methods of [Expr] with underscores; [Call] has the others. What SQL writes in further ways, such as x::bigint, case x
// when 1, is [not] distinct from, and nullif, becomes an expression of these: docs/sql.md lists it. Keywords and
// function names ignore case. A column is a word, which may contain points, or any name in double quotes. Aggregates,
// such as count(*), count(distinct x) and sum(x), are parsed for statements; [Compile] refuses them. Literals are null,
// true, false, numbers, 'text', x'00ff' for bytes, [1, 2] for vectors, and date, timestamp, interval, uuid or float64
// before a text. The type of a cast is the name of a kind, timestamp(ms) or timestamp(us, utc), or the name that SQL
// has for one, such as bigint: docs/sql.md lists them.
//
// Each ? stands for the next of args: an Expr, or the value of a literal (see [Lit]). Values in args need no quotes.
// The error is a *[SyntaxError].
func Parse(text string, args ...any) (Expr, error) {
	p := newParser(text, 0)
	p.args = args
	e := p.or()
	p.expect(lex.End, "", "an operator or the end")
	if p.used < len(args) {
		p.failAt(len(text), "a ? for each argument", fmt.Sprintf("%d for %d", p.used, len(args)))
	}
	if p.err != nil {
		return Expr{}, p.err
	}
	return e, nil
}

// ParsePrefix parses the longest expression that begins at an offset of a text, and returns the offset of the first
// token after the expression. The parser of a statement uses it: offsets in errors are offsets in the whole text.
//
// statement parses the statements within the expression; nil means that there are none. In [Node], (select ...) is the
// operation "query", x in (select ...) is "in query" of x, and exists (select ...) is "exists". The Value of the node
// is the statement. [Compile] refuses these operations; [Expr.Replace] puts values in their place. An error of
// statement is returned as it is.
func ParsePrefix(text string, offset int, statement StatementParser) (e Expr, end int, err error) {
	p := newParser(text, offset)
	p.statement = statement
	e = p.or()
	if p.err != nil {
		return Expr{}, 0, p.err
	}
	return e, p.Start, nil
}

func newParser(text string, offset int) *parser {
	p := &parser{Lexer: lex.Lexer{Text: text, Pos: offset}}
	p.next()
	return p
}

// A parser has a lexer and the first error. After an error the token is the end of the text, so that rules need no
// checks of those that they call.
type parser struct {
	lex.Lexer
	args   []any // of the question marks
	used   int   // of args
	nested int
	err    error

	statement StatementParser // nil means that there are no statements within expressions
}

// fail records an error at the token.
func (p *parser) fail(want string) {
	if p.err != nil {
		return
	}
	found := strconv.Quote(p.Text[p.Start:p.Pos])
	switch {
	case p.Token == lex.End:
		found = "the end"
	case len(found) > 40:
		found = found[:40] + "..."
	}
	p.failAt(p.Start, want, found)
}

func (p *parser) failAt(offset int, want, found string) {
	if p.err == nil {
		p.err = &SyntaxError{Offset: offset, Want: want, Found: found}
	}
	p.Token, p.Word = lex.End, ""
}

// next reads a token.
func (p *parser) next() {
	if p.err != nil {
		return
	}
	if want := p.Scan(); want != "" {
		p.Token = lex.Sign // not the end
		p.fail(want)
	}
}

// is reports whether the token is this keyword or sign.
func (p *parser) is(token lex.Kind, word string) bool { return p.Token == token && p.Word == word }

// accept consumes the keyword or sign if it is the token.
func (p *parser) accept(token lex.Kind, word string) bool {
	if !p.is(token, word) {
		return false
	}
	p.next()
	return true
}

func (p *parser) sign(word string) bool    { return p.accept(lex.Sign, word) }
func (p *parser) keyword(word string) bool { return p.accept(lex.Keyword, word) }

func (p *parser) expect(token lex.Kind, word, want string) {
	if !p.is(token, word) {
		p.fail(want)
	}
	p.next()
}

// make returns an operation at an offset.
func (p *parser) make(at int, op string, args ...Expr) Expr {
	if p.err != nil {
		return Lit(nil)
	}
	e := call(op, args...)
	e.n.at = at + 1
	if e.n.depth > maxDepth {
		p.failAt(at, fmt.Sprintf("an expression of depth at most %d", maxDepth), "a deeper one")
	}
	return e
}

func (p *parser) literal(at int, value any) Expr {
	e := Lit(value)
	e.n.at = at + 1
	if e.n.err != nil {
		p.failAt(at, "a literal", e.n.err.Error())
	}
	return e
}

// list parses operands between a keyword: a and b and c.
func (p *parser) list(op string, operand func() Expr) Expr {
	at := p.Start
	first := operand()
	if !p.is(lex.Keyword, op) {
		return first
	}
	args := []Expr{first}
	for p.keyword(op) {
		args = append(args, operand())
	}
	return p.make(at, op, args...)
}

func (p *parser) or() Expr  { return p.list(opOr, p.and) }
func (p *parser) and() Expr { return p.list(opAnd, p.not) }

// enter counts a level of nesting, and fails beyond maxDepth.
func (p *parser) enter() {
	if p.nested++; p.nested > maxDepth {
		p.failAt(p.Start, fmt.Sprintf("an expression of depth at most %d", maxDepth), "a deeper one")
	}
}

func (p *parser) not() Expr {
	p.enter()
	defer func() { p.nested-- }()
	if at := p.Start; p.keyword(opNot) {
		return p.make(at, opNot, p.not())
	}
	return p.comparison()
}

// comparison parses an operand, or one comparison.
func (p *parser) comparison() Expr {
	at := p.Start
	e := p.bits()
	for _, op := range []string{opEq, opNe, opLt, opLe, opGt, opGe} {
		if p.sign(op) {
			return p.make(at, op, e, p.bits())
		}
	}
	switch {
	case p.sign("=="):
		return p.make(at, opEq, e, p.bits())
	case p.wordBefore("isnull", anything):
		return p.make(at, opIsNull, e)
	case p.wordBefore("notnull", anything):
		return p.invert(true, p.make(at, opIsNull, e))
	case p.sign("!="):
		return p.make(at, opNe, e, p.bits())
	case p.sign("^@"):
		return p.make(at, "starts_with", e, p.bits())
	case p.sign("~*"):
		return p.make(at, opRegexp, e, p.rewritten(inAnyCase))
	case p.sign("!~*"):
		return p.invert(true, p.make(at, opRegexp, e, p.rewritten(inAnyCase)))
	case p.sign("~"):
		return p.make(at, opRegexp, e, p.bits())
	case p.sign("!~"):
		return p.invert(true, p.make(at, opRegexp, e, p.bits()))
	case p.keyword("is"):
		return p.test(at, e)
	}
	inverted := p.keyword("not")
	switch {
	case p.keyword(opIn):
		args := []Expr{e}
		p.expect(lex.Sign, "(", "(")
		if p.beforeStatement() {
			e = p.within(at, opInQuery, e)
			break
		}
		if !p.is(lex.Sign, ")") {
			args = append(args, p.arguments()...)
		}
		p.expect(lex.Sign, ")", ", or )")
		e = p.make(at, opIn, args...)
	case p.keyword(opBetween):
		symmetric := p.wordBefore("symmetric", p.Operand)
		lo := p.bits()
		p.expect(lex.Keyword, "and", "and")
		hi := p.bits()
		between := p.make(at, opBetween, e, lo, hi)
		if symmetric {
			between = p.make(at, opOr, between, p.make(at, opBetween, e, hi, lo))
		}
		e = between
	case p.keyword(opLike):
		e = p.make(at, opLike, e, p.pattern())
	case p.keyword(opILike):
		e = p.make(at, opILike, e, p.pattern())
	case p.keyword(opRegexp):
		e = p.make(at, opRegexp, e, p.bits())
	case p.wordBefore("similar", func() bool { return p.Token == lex.Word && strings.EqualFold(p.Word, "to") }):
		p.next()
		e = p.make(at, opRegexp, e, p.rewritten(anchored))
	case p.wordBefore("glob", func() bool { return p.Token == lex.Text }):
		e = p.make(at, opRegexp, e, p.rewritten(globbed))
	case inverted && p.keyword("null"):
		e = p.make(at, opIsNull, e)
	case inverted:
		p.fail("in, between, like, ilike or regexp")
	}
	return p.invert(inverted, e)
}

// anything is what may follow a word.
func anything() bool { return true }

func (p *parser) invert(inverted bool, e Expr) Expr {
	if !inverted || e.n == nil {
		return e
	}
	return p.make(e.n.at-1, opNot, e)
}

// bits parses operands with operators of bits between them.
func (p *parser) bits() Expr {
	at := p.Start
	e := p.inverse()
	for {
		switch {
		case p.sign("&"):
			e = p.make(at, "bitand", e, p.inverse())
		case p.sign("|"):
			e = p.make(at, "bitor", e, p.inverse())
		case p.sign("<<"):
			e = p.make(at, "bitshiftleft", e, p.inverse())
		case p.sign(">>"):
			e = p.make(at, "bitshiftright", e, p.inverse())
		default:
			return e
		}
	}
}

// inverse parses a sum, perhaps behind ~, which binds less than the operators of numbers.
func (p *parser) inverse() Expr {
	at := p.Start
	if !p.sign("~") {
		return p.sum()
	}
	p.enter()
	defer func() { p.nested-- }()
	return p.make(at, "bitnot", p.inverse())
}

func (p *parser) sum() Expr {
	at := p.Start
	e := p.product()
	for {
		switch {
		case p.sign(opAdd):
			e = p.make(at, opAdd, e, p.product())
		case p.sign(opSub):
			e = p.make(at, opSub, e, p.product())
		case p.sign("||"):
			e = p.make(at, "concat", e, p.product())
		default:
			return e
		}
	}
}

func (p *parser) product() Expr {
	at := p.Start
	e := p.power()
	for {
		switch {
		case p.sign(opMul):
			e = p.make(at, opMul, e, p.power())
		case p.sign(opDiv), p.sign("//"):
			e = p.make(at, opDiv, e, p.power())
		case p.sign(opMod):
			e = p.make(at, opMod, e, p.power())
		default:
			return e
		}
	}
}

// power parses operands with powers between them, from left to right.
func (p *parser) power() Expr {
	at := p.Start
	e := p.unary()
	for p.sign("**") || p.sign("^") {
		e = p.make(at, "pow", e, p.unary())
	}
	return e
}

func (p *parser) unary() Expr {
	at := p.Start
	plus := p.sign(opAdd)
	switch {
	case !plus && !p.sign(opSub):
		return p.casts(at, p.primary())
	case !plus && p.Token == lex.Number:
		return p.casts(at, p.number(at, "-"))
	}
	p.enter()
	defer func() { p.nested-- }()
	if plus {
		return p.unary()
	}
	return p.make(at, opNeg, p.unary())
}

// number parses the token as a number with a sign.
func (p *parser) number(at int, sign string) Expr {
	text := sign + p.Word
	value, ok := parseNumber(text)
	if !ok {
		p.fail("a number within the range of its type")
	}
	p.next()
	e := p.literal(at, value)
	if f, ok := value.(float64); ok && hasMoreDigits(text, f) {
		e.n.name = text
	}
	return e
}

// hasMoreDigits reports whether a number is another decimal than the float that it is as a literal.
func hasMoreDigits(text string, f float64) bool {
	a, ok := parseAmount(text)
	b, also := (&term{value: f}).amountOf()
	return ok && also && a.rat().Cmp(b.rat()) != 0
}

// parseNumber returns an int64, a uint64, an amount for a larger integer, or a float64 if the text has a point or an
// exponent.
func parseNumber(s string) (any, bool) {
	if strings.ContainsAny(s, ".eE") {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil
	}
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return i, true
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return u, true
	}
	a, ok := parseAmount(s)
	return a, ok
}
