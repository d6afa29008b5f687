// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
	"github.com/vecql/vecql/internal/int128"
	"github.com/vecql/vecql/internal/lex"
)

// The parser of what has no operator: literals, columns, functions, case and cast.

// primary parses a literal, a column, a function, case, cast, or an expression in parentheses.
func (p *parser) primary() Expr {
	at, joined := p.Start, p.qualified()
	word := p.Word
	switch p.Token {
	case lex.Number:
		return p.number(at, "")
	case lex.Text:
		p.next()
		return p.literal(at, word)
	case lex.Bytes:
		p.next()
		b, err := hex.DecodeString(word)
		if err != nil {
			p.failAt(at, "pairs of hexadecimal digits", strconv.Quote(word))
		}
		return p.literal(at, b)
	case lex.Name:
		p.next()
		return p.column(at, word)
	case lex.Word:
		p.next()
		if joined {
			return p.column(at, word)
		}
		return p.wordly(at, word)
	case lex.Keyword:
		for value, literal := range map[string]any{"null": nil, "true": true, "false": false} {
			if p.keyword(value) {
				return p.literal(at, literal)
			}
		}
		switch {
		case p.keyword(opCase):
			return p.parseCase(at)
		case p.keyword(opCast):
			return p.parseCast(at)
		}
	}
	switch {
	case p.sign("("):
		if p.beforeStatement() {
			return p.within(at, opQuery)
		}
		e := p.or()
		p.expect(lex.Sign, ")", "an operator or )")
		return e
	case p.sign("["):
		return p.vector(at)
	case p.sign("?"):
		return p.argument(at)
	}
	p.fail("a column, a literal or a function")
	return Lit(nil)
}

// argument returns the next argument of Parse.
func (p *parser) argument(at int) Expr {
	if p.used == len(p.args) {
		p.failAt(at, "an argument for each ?", arguments(len(p.args)))
		return Lit(nil)
	}
	p.used++
	if e, ok := p.args[p.used-1].(Expr); ok {
		if e.n == nil {
			p.failAt(at, "an expression", "the zero Expr")
			return Lit(nil)
		}
		return e
	}
	return p.literal(at, p.args[p.used-1])
}

func (p *parser) column(at int, name string) Expr {
	e := Col(name)
	e.n.at = at + 1
	return e
}

// wordly parses what begins with a word: a function, a literal with a type, or a column.
func (p *parser) wordly(at int, word string) Expr {
	lower := strings.ToLower(word)
	switch {
	case lower == "interval" && (p.Token == lex.Number || p.Token == lex.Text && isInteger(p.Word)):
		return p.interval(at)
	case p.Token == lex.Text:
		value, known, err := typedLiteral(lower, p.Word)
		typ, castable := castNames[lower]
		switch {
		case !known && castable:
			text := p.Word
			p.next()
			return p.cast(at, opCast, p.literal(at, text), typ)
		case !known:
			p.fail("an operator")
		case err != nil:
			p.failAt(p.Start, "a text that is a value of "+lower, strconv.Quote(p.Word))
		}
		p.next()
		return p.literal(at, value)
	case p.sign("("):
		switch {
		case lower == opTryCast:
			return p.castArguments(at, lower)
		case lower == opExists && p.beforeStatement():
			return p.within(at, opExists)
		}
		return p.function(at, word, lower)
	case lower == "current_date", lower == "current_timestamp":
		return forms[lower].make(p, at, nil)
	}
	return p.column(at, word)
}

// function parses the arguments of a function or an aggregate after the parenthesis.
func (p *parser) function(at int, word, name string) Expr {
	switch {
	case p.err != nil:
		return Lit(nil)
	case name == "position":
		return p.position(at)
	case name == "percentile_cont":
		return p.percentile(at)
	}
	if other, ok := synonyms[name]; ok {
		name = other
	}
	arity, ok := functions[name]
	if !ok {
		arity, ok = aggregates[name]
	}
	form, isForm := forms[name]
	if isForm {
		arity, ok = form.arity, true
	}
	if !ok {
		p.failAt(at, "a function: "+strings.Join(functionNames(), ", "), strconv.Quote(word))
	}
	var args []Expr
	switch {
	case name == opCount && p.sign("*"):
	case isAggregate(name) && p.wordBefore("distinct", func() bool { return !p.is(lex.Sign, ")") }):
		distinct, ok := distincts[name]
		if !ok {
			p.fail("an argument: " + name + " takes no distinct")
		}
		name, args = distinct, p.arguments()
	case isAggregate(name) && p.wordBefore("all", p.Begins):
		args = p.arguments()
	case name == "extract" && p.Token == lex.Word:
		args = p.extractArguments()
	case name == "trim":
		name, args = p.trimArguments()
	case name == "substring":
		args = p.substringArguments()
	case !p.is(lex.Sign, ")"):
		args = p.arguments()
	}
	if p.err == nil && (len(args) < arity.min || len(args) > arity.max) {
		p.failAt(at, fmt.Sprintf("%s with %v", name, arity), arguments(len(args)))
	}
	var by []Expr
	var orders []Order
	if isAggregate(name) {
		by, orders = p.ordering()
	}
	p.expect(lex.Sign, ")", ", or )")
	switch {
	case isForm && p.err == nil:
		return form.make(p, at, args)
	case isAggregate(name) && p.wordBefore("filter", func() bool { return p.is(lex.Sign, "(") }):
		args = p.filtered(at, name, args)
	}
	switch {
	case strings.HasPrefix(name, opStringAgg) && len(args) == 1:
		args = append(args, p.literal(at, ","))
	case name == "any_value" && len(by) > 0:
		name = "first"
	}
	if !slices.Contains(ordered, name) { // the order has no effect
		by, orders = nil, nil
	}
	e := p.make(at, name, append(args, by...)...)
	e.n.orders = orders
	return e
}

// ordering parses what an aggregate is ordered by, behind its arguments.
func (p *parser) ordering() (by []Expr, orders []Order) {
	word := func(want string) bool { return p.Token == lex.Word && strings.EqualFold(p.Word, want) }
	if !p.wordBefore("order", func() bool { return word("by") }) {
		return nil, nil
	}
	for more := true; more; more = p.is(lex.Sign, ",") {
		p.next() // by, or the comma
		by = append(by, p.or())
		o := Order{Descending: word("desc")}
		if o.Descending || word("asc") {
			p.next()
		}
		if word("nulls") {
			p.next()
			if o.NullsFirst = word("first"); !o.NullsFirst && !word("last") {
				p.fail("first or last")
			}
			p.next()
		}
		orders = append(orders, o)
	}
	return by, orders
}

// filtered parses the condition of filter (where condition), and returns arguments that are NULL in other rows. An
// aggregate leaves out NULL.
func (p *parser) filtered(at int, name string, args []Expr) []Expr {
	if name == opArrayAgg {
		p.failAt(at, "an aggregate that leaves out NULL before filter", strconv.Quote(name))
	}
	p.next()
	if p.Token != lex.Word || !strings.EqualFold(p.Word, "where") {
		p.fail("where")
	}
	p.next()
	condition := p.or()
	p.expect(lex.Sign, ")", "an operator or )")
	if len(args) == 0 { // count(*)
		args = []Expr{p.literal(at, 1)}
	}
	kept := slices.Clone(args)
	for i, a := range args {
		if i == 0 || a.n.op != opLiteral {
			kept[i] = p.make(at, opCase, condition, a, Lit(nil))
		}
	}
	return kept
}

// wordBefore consumes a word if what follows holds. Otherwise the word stays the token.
func (p *parser) wordBefore(word string, follows func() bool) bool {
	if p.Token != lex.Word || word != "" && strings.ToLower(p.Word) != word {
		return false
	}
	before := p.Lexer
	if p.next(); p.err == nil && follows() {
		return true
	}
	if p.err == nil {
		p.Lexer = before
	}
	return false
}

func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	return err == nil
}

// interval parses the number and the unit of an interval: '90' day.
func (p *parser) interval(at int) Expr {
	number := p.Word
	p.next()
	d, known, ok := intervalIn(number, p.Word)
	switch {
	case !known:
		p.fail("a unit such as day")
	case !ok:
		p.failAt(at, "an interval within the range of its type", strconv.Quote(p.Text[at:p.Pos]))
	}
	p.next()
	return p.literal(at, d)
}

func (p *parser) arguments() []Expr {
	args := []Expr{p.or()}
	for p.sign(",") {
		args = append(args, p.or())
	}
	return args
}

// vector parses the numbers of a vector after its bracket.
func (p *parser) vector(at int) Expr {
	vector := []float64{}
	for p.err == nil && !p.is(lex.Sign, "]") {
		e := p.unary()
		switch v := e.n.value.(type) {
		case int64:
			vector = append(vector, float64(v))
		case float64:
			vector = append(vector, v)
		default:
			p.failAt(p.Start, "numbers in a vector", strconv.Quote(e.String()))
		}
		if !p.sign(",") {
			break
		}
	}
	p.expect(lex.Sign, "]", ", or ]")
	return p.literal(at, vector)
}

// parseCase parses what follows case. With an operand each condition is that it equals a value.
func (p *parser) parseCase(at int) Expr {
	var args []Expr
	operand, equals := Lit(nil), !p.is(lex.Keyword, "when")
	if equals {
		operand = p.or()
	}
	for p.keyword("when") {
		from := p.Start
		condition := p.or()
		if equals {
			condition = p.make(from, opEq, operand, condition)
		}
		p.expect(lex.Keyword, "then", "then")
		args = append(args, condition, p.or())
	}
	if len(args) == 0 {
		p.fail("when")
	}
	otherwise := Lit(nil)
	if p.keyword("else") {
		otherwise = p.or()
	}
	p.expect(lex.Keyword, "end", "when, else or end")
	return p.make(at, opCase, append(args, otherwise)...)
}

func (p *parser) parseCast(at int) Expr {
	p.expect(lex.Sign, "(", "(")
	return p.castArguments(at, opCast)
}

// castArguments parses what follows the parenthesis of cast or try_cast.
func (p *parser) castArguments(at int, op string) Expr {
	e := p.or()
	p.expect(lex.Keyword, "as", "as")
	typ := p.castType()
	p.expect(lex.Sign, ")", ")")
	return p.cast(at, op, e, typ)
}

func (p *parser) cast(at int, op string, e Expr, typ column.Type) Expr {
	e = p.make(at, op, e)
	e.n.typ = typ
	return e
}

// castType parses the type of a cast: a kind or a name of SQL, for a timestamp perhaps with its unit and utc.
func (p *parser) castType() column.Type {
	name := strings.ToLower(p.Word)
	if slices.Contains(decimalNames, name) && p.Token == lex.Word {
		p.next()
		return p.decimalType(name == column.Decimal128.String())
	}
	typ, ok := castNames[name]
	for _, k := range castKinds {
		if !ok && k.String() == name {
			typ, ok = column.Type{Kind: k}, true
		}
	}
	if !ok || p.Token != lex.Word {
		p.fail(fmt.Sprintf("a type: %v, decimal(18, 2), or a name of SQL such as bigint", castKinds[:len(castKinds)-2]))
	}
	p.next()
	switch {
	case name == column.Timestamp.String() && p.sign("("):
		return p.timestampType()
	case name == column.Timestamp.String():
		typ.UTC = p.zoned()
	case name == "double":
		p.wordBefore("precision", anything)
	}
	return typ
}

// zoned parses with or without time zone.
func (p *parser) zoned() bool {
	for _, word := range []string{"with", "without"} {
		if p.wordBefore(word, func() bool { return p.isWord("time") }) {
			p.next()
			if !p.wordBefore("zone", anything) {
				p.fail("zone")
			}
			return word == "with"
		}
	}
	return false
}

// decimalType parses the digits of a decimal in brackets, and the digits behind the point; without brackets they are 18
// and 3, as in DuckDB. A type of the name decimal128 is wide for all digits.
func (p *parser) decimalType(wide bool) column.Type {
	typ := decimalType(narrowDigits, 3)
	if p.sign("(") {
		typ = decimalType(p.digits(1, int128.MaxDigits), 0)
		if p.sign(",") {
			typ.Scale = p.digits(0, typ.Precision)
		}
		p.expect(lex.Sign, ")", "a comma or )")
	}
	if wide {
		typ.Kind = column.Decimal128
	}
	return typ
}

// digits parses a number of digits.
func (p *parser) digits(least, most int) int {
	n, err := strconv.Atoi(p.Word)
	if p.Token != lex.Number || err != nil || n < least || n > most {
		p.fail(fmt.Sprintf("a number of digits from %d to %d", least, most))
		return least
	}
	p.next()
	return n
}

// timestampType parses the unit of a timestamp and perhaps utc, after the bracket.
func (p *parser) timestampType() column.Type {
	typ := column.Type{Kind: column.Timestamp}
	for u := column.Millis; u <= column.Nanos; u++ {
		if p.Token == lex.Word && strings.ToLower(p.Word) == u.String() {
			typ.Unit = u
		}
	}
	if typ.Unit == 0 {
		p.fail("ms, us or ns")
	}
	p.next()
	if p.sign(",") {
		if typ.UTC = p.Token == lex.Word && strings.ToLower(p.Word) == "utc"; !typ.UTC {
			p.fail("utc")
		}
		p.next()
	}
	p.expect(lex.Sign, ")", ", utc or )")
	return typ
}
