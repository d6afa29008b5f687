// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/vecql/vecql/column"
)

// The parser of what has no operator: literals, columns, functions, case and cast.

// primary parses a literal, a column, a function, case, cast, or an expression in parentheses.
func (p *parser) primary() Expr {
	at, word := p.start, p.word
	switch p.token {
	case tokenNumber:
		return p.number(at, "")
	case tokenText:
		p.next()
		return p.literal(at, word)
	case tokenBytes:
		p.next()
		b, err := hex.DecodeString(word)
		if err != nil {
			p.failAt(at, "pairs of hexadecimal digits", strconv.Quote(word))
		}
		return p.literal(at, b)
	case tokenName:
		p.next()
		return p.column(at, word)
	case tokenWord:
		p.next()
		return p.wordly(at, word)
	case tokenKeyword:
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
		e := p.or()
		p.expect(tokenSign, ")", "an operator or )")
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
		p.failAt(at, "an argument for each ?", fmt.Sprintf("%d arguments", len(p.args)))
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
	case p.token == tokenText:
		value, known, err := typedLiteral(lower, p.word)
		switch {
		case !known:
			p.fail("an operator")
		case err != nil:
			p.failAt(p.start, "a text that is a value of "+lower, strconv.Quote(p.word))
		}
		p.next()
		return p.literal(at, value)
	case !p.sign("("):
		return p.column(at, word)
	}
	arity, ok := functions[lower]
	if !ok {
		p.failAt(at, "a function: "+strings.Join(functionNames(), ", "), strconv.Quote(word))
	}
	var args []Expr
	if !p.is(tokenSign, ")") {
		args = p.arguments()
	}
	if p.err == nil && (len(args) < arity.min || len(args) > arity.max) {
		p.failAt(at, fmt.Sprintf("%s with %v", lower, arity), fmt.Sprintf("%d arguments", len(args)))
	}
	p.expect(tokenSign, ")", ", or )")
	return p.make(at, lower, args...)
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
	for p.err == nil && !p.is(tokenSign, "]") {
		e := p.unary()
		switch v := e.n.value.(type) {
		case int64:
			vector = append(vector, float64(v))
		case float64:
			vector = append(vector, v)
		default:
			p.failAt(p.start, "numbers in a vector", strconv.Quote(e.String()))
		}
		if !p.sign(",") {
			break
		}
	}
	p.expect(tokenSign, "]", ", or ]")
	return p.literal(at, vector)
}

func (p *parser) parseCase(at int) Expr {
	var args []Expr
	for p.keyword("when") {
		condition := p.or()
		p.expect(tokenKeyword, "then", "then")
		args = append(args, condition, p.or())
	}
	if len(args) == 0 {
		p.fail("when")
	}
	otherwise := Lit(nil)
	if p.keyword("else") {
		otherwise = p.or()
	}
	p.expect(tokenKeyword, "end", "when, else or end")
	return p.make(at, opCase, append(args, otherwise)...)
}

func (p *parser) parseCast(at int) Expr {
	p.expect(tokenSign, "(", "(")
	e := p.or()
	p.expect(tokenKeyword, "as", "as")
	typ := p.castType()
	p.expect(tokenSign, ")", ")")
	e = p.make(at, opCast, e)
	e.n.typ = typ
	return e
}

// castType parses the type of a cast: a kind, for a timestamp with its unit and utc.
func (p *parser) castType() column.Type {
	var typ column.Type
	for _, k := range castKinds {
		if k.String() == strings.ToLower(p.word) {
			typ.Kind = k
		}
	}
	if typ.Kind == 0 || p.token != tokenWord {
		p.fail(fmt.Sprintf("a type: %v", castKinds))
	}
	p.next()
	if typ.Kind != column.Timestamp {
		return typ
	}
	p.expect(tokenSign, "(", "(")
	for u := column.Millis; u <= column.Nanos; u++ {
		if p.token == tokenWord && strings.ToLower(p.word) == u.String() {
			typ.Unit = u
		}
	}
	if typ.Unit == 0 {
		p.fail("ms, us or ns")
	}
	p.next()
	if p.sign(",") {
		if typ.UTC = p.token == tokenWord && strings.ToLower(p.word) == "utc"; !typ.UTC {
			p.fail("utc")
		}
		p.next()
	}
	p.expect(tokenSign, ")", ", utc or )")
	return typ
}
