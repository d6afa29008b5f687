// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"math"
	"strconv"
)

// Parsing of expressions. The grammar has two similar kinds: terms, which are values (the rule term), and selectors,
// which may name columns (the rule unaliasedSelector).

// place is the kind of an expression.
type place bool

const (
	inTerm     place = false
	inSelector place = true
)

// term parses a term.
func (p *parser) term() Expr { return p.sum(inTerm) }

// terms parses terms separated by commas.
func (p *parser) terms() []Expr { return p.exprs(inTerm) }

func (p *parser) exprs(in place) []Expr { return list(p, func() Expr { return p.sum(in) }) }

// sum parses the rule termAddition or selectionAddition.
func (p *parser) sum(in place) Expr {
	p.enter()
	defer p.leave()
	left := p.product(in)
	for n := 0; p.is("+") || p.is("-"); n++ {
		if in == inTerm && p.is("+") && isColumn(p.peekAt(1)) && !p.isCall(1) {
			break // the column in "list = [1] + list"
		}
		if n == maxDepth {
			p.tooDeep()
			break
		}
		left = &Binary{Op: p.next().word[0], Left: left, Right: p.product(in)}
	}
	return left
}

// product parses the rule termMultiplication or selectionMultiplication.
func (p *parser) product(in place) Expr {
	left := p.unary(in)
	for n := 0; p.is("*") || p.is("/") || p.is("%"); n++ {
		if n == maxDepth {
			p.tooDeep()
			break
		}
		left = &Binary{Op: p.next().word[0], Left: left, Right: p.unary(in)}
	}
	return left
}

// unary parses the rule termGroup or selectionGroup.
func (p *parser) unary(in place) Expr {
	p.enter()
	defer p.leave()
	switch {
	case in == inSelector && p.accept("-"):
		return &Negate{p.unary(in)}
	case p.accept("-"):
		return &Negate{p.primary(in)}
	case in == inSelector:
		return p.modifiers(p.primary(in))
	}
	return p.primary(in)
}

// modifiers parses the rule selectorModifier: fields and elements of a selector.
func (p *parser) modifiers(of Expr) Expr {
	for n := 0; ; n++ {
		if n == maxDepth {
			p.tooDeep()
		}
		switch {
		case p.accept("."):
			of = &Field{Of: of, Name: p.name()}
		case p.accept("["):
			of = &Element{Of: of, Index: p.term()}
			p.expect("]")
		default:
			return of
		}
	}
}

// primary parses the rule simpleTerm or selectionGroupWithoutField.
func (p *parser) primary(in place) Expr {
	p.enter()
	defer p.leave()
	if lit := p.constant(); lit != nil {
		return lit
	}
	switch {
	case p.accept("NULL"):
		return &Literal{Kind: NullLiteral, Text: "NULL"}
	case p.is("?"), p.is(":"):
		return p.marker()
	case p.accept("["):
		l := &ListLiteral{}
		if !p.is("]") {
			l.Elems = p.exprs(in)
		}
		p.expect("]")
		return l
	case p.is("{"):
		return p.braces(in)
	case p.is("("):
		if t := p.typeHint(in); t != nil {
			return &TypeHint{Type: t, Expr: p.primary(in)}
		}
		return &TupleLiteral{Elems: p.tuple(in)}
	case p.is("CAST") && p.isAt(1, "("):
		return p.cast(in)
	case p.isCall(0):
		return p.call(in)
	case in == inSelector && isName(p.peek()):
		return &Column{Name: p.name()}
	case isName(p.peek()):
		p.noViableAt(p.peek(), p.peekAt(1)) // the rule was chosen at the name: it is not a call
		return nil
	}
	p.noViable()
	return nil
}

// tuple parses expressions in parentheses.
func (p *parser) tuple(in place) []Expr {
	p.expect("(")
	elems := p.exprs(in)
	p.expect(")")
	return elems
}

// constant parses a literal other than NULL; nil means that none is next.
func (p *parser) constant() *Literal {
	t := p.peek()
	lit := &Literal{Text: p.value(t)}
	switch t.kind {
	case tokenString:
		lit.Kind = StringLiteral
	case tokenInteger:
		lit.Kind = IntegerLiteral
	case tokenFloat:
		lit.Kind = FloatLiteral
		if v, _ := strconv.ParseFloat(lit.Text, 64); math.IsInf(v, 0) { // Java's Double.toString is not a BigDecimal then
			p.failf("Failed parsing statement: [%s] reason: NumberFormatException Character I is neither a decimal digit number, "+
				"decimal point, nor \"e\" notation exponential mark.", p.text)
			return nil
		}
	case tokenBoolean:
		lit.Kind = BooleanLiteral
	case tokenDuration:
		lit.Kind = DurationLiteral
	case tokenUUID:
		lit.Kind = UUIDLiteral
	case tokenHex:
		lit.Kind = HexLiteral
	case tokenNaN:
		lit.Kind, lit.Text = FloatLiteral, "NaN"
	case tokenInfinity:
		lit.Kind, lit.Text = FloatLiteral, "Infinity"
	case tokenNegInfinity:
		lit.Kind, lit.Text = FloatLiteral, "-Infinity"
	default:
		return nil
	}
	p.next()
	return lit
}

// braces parses a set, map or value of a user-defined type.
func (p *parser) braces(in place) Expr {
	p.expect("{")
	if p.accept("}") {
		return &SetLiteral{}
	}
	if in == inTerm && isName(p.peek()) && p.isAt(1, ":") {
		udt := &UDTLiteral{Fields: list(p, p.fieldValue)}
		p.expect("}")
		return udt
	}
	first := p.sum(in)
	if !p.accept(":") {
		set := &SetLiteral{Elems: []Expr{first}}
		if p.accept(",") {
			set.Elems = append(set.Elems, p.exprs(in)...)
		}
		p.expect("}")
		return set
	}
	m := &MapLiteral{Entries: []MapEntry{{Key: first, Value: p.sum(in)}}}
	for p.accept(",") {
		key := p.sum(in)
		p.expect(":")
		m.Entries = append(m.Entries, MapEntry{Key: key, Value: p.sum(in)})
	}
	p.expect("}")
	return mapOrUDT(m)
}

// mapOrUDT returns m, or a UDTLiteral if all its keys are names.
func mapOrUDT(m *MapLiteral) Expr {
	udt := &UDTLiteral{Fields: make([]FieldValue, 0, len(m.Entries))}
	for _, e := range m.Entries {
		c, ok := e.Key.(*Column)
		if !ok {
			return m
		}
		udt.Fields = append(udt.Fields, FieldValue{Name: c.Name, Value: e.Value})
	}
	return udt
}

func (p *parser) fieldValue() FieldValue {
	name := p.name()
	p.expect(":")
	return FieldValue{Name: name, Value: p.term()}
}

// typeHint parses "(type)" if an expression follows that it can apply to. Before a tuple it accepts nothing and returns
// nil.
func (p *parser) typeHint(in place) *TypeName {
	var t *TypeName
	if !p.try(func() bool {
		p.expect("(")
		t = p.typeName()
		p.expect(")")
		return p.startsPrimary(in)
	}) {
		return nil
	}
	return t
}

// startsPrimary reports whether a primary can start here.
func (p *parser) startsPrimary(in place) bool {
	switch t := p.peek(); t.kind {
	case tokenString, tokenInteger, tokenFloat, tokenBoolean, tokenDuration, tokenUUID, tokenHex, tokenNaN, tokenInfinity,
		tokenNegInfinity:
		return true
	case tokenPunct:
		return t.word == "(" || t.word == "[" || t.word == "{" || t.word == "?" || t.word == ":"
	}
	switch {
	case p.is("NULL"), p.isCall(0), p.are("CAST", "("):
		return true
	case in == inTerm, p.is("AS"), p.are("PER", "PARTITION"), p.isPlain(0, "BYPASS"):
		return false
	}
	return isName(p.peek())
}

// cast parses CAST(expr AS type).
func (p *parser) cast(in place) Expr {
	p.at += 2
	c := &Cast{}
	if in == inTerm {
		c.Expr = p.primary(in)
	} else {
		c.Expr = p.sum(in)
	}
	p.expect("AS")
	t := p.peek()
	if keywords[t.word].class != native {
		p.noViable()
		return nil
	}
	p.next()
	c.Type = &TypeName{Kind: NativeType, Name: p.nameOf(t)}
	p.expect(")")
	return c
}

// isFunction reports whether a token can be the name of a function.
func isFunction(t token) bool {
	switch t.kind {
	case tokenIdent, tokenQuotedName:
		return true
	case tokenKeyword:
		switch t.word {
		case "TOKEN", "COUNT", "WRITETIME", "MAXWRITETIME", "TTL":
			return true
		}
		class := keywords[t.word].class
		return class == basic || class == native
	}
	return false
}

// isCall reports whether the n-th token from here starts a call of a function.
func (p *parser) isCall(n int) bool {
	if p.isAt(n+1, ".") {
		if !isName(p.peekAt(n)) {
			return false
		}
		n += 2
	}
	return isFunction(p.peekAt(n)) && p.isAt(n+1, "(")
}

// call parses a call of a function. Callers have checked isCall.
func (p *parser) call(in place) Expr {
	c := &Call{}
	if p.isAt(1, ".") {
		c.Name.Keyspace = p.name()
		p.expect(".")
	}
	count := p.is("COUNT")
	c.Name.Name = p.nameOf(p.next())
	p.expect("(")
	switch {
	case p.is(")"):
	case in == inSelector && count && p.is("*"):
		p.next()
		c.Star = true
	default:
		c.Args = p.exprs(in)
	}
	p.expect(")")
	return c
}
