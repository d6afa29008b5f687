// SPDX-License-Identifier: Apache-2.0

package cql

import "slices"

// Parsing of SELECT and of the WHERE clause.

// selectStatement parses the rule selectStatement.
func (p *parser) selectStatement() Statement {
	p.expect("SELECT")
	st := &Select{JSON: p.selectWord("JSON"), Distinct: p.selectWord("DISTINCT")}
	if !p.accept("*") {
		st.Selectors = list(p, p.selector)
	}
	if st.NoFrom = p.scylla && len(st.Selectors) > 0 && !st.Distinct && p.endsSelectors(); st.NoFrom {
		st.From = Name{Keyspace: "system", Name: "one_row"}
	} else {
		p.expect("FROM")
		st.From = p.tableName()
	}
	if p.accept("WHERE") {
		st.Where = p.where()
	}
	if p.is("GROUP") {
		p.next()
		p.expect("BY")
		st.GroupBy = p.exprs(inSelector)
	}
	if p.accept("ORDER") {
		p.expect("BY")
		st.OrderBy = list(p, p.ordering)
	}
	if p.accept("PER") {
		p.expect("PARTITION", "LIMIT")
		st.PerPartitionLimit = p.intValue()
	}
	if p.accept("LIMIT") {
		st.Limit = p.intValue()
	}
	if p.accept("ALLOW") {
		p.expect("FILTERING")
		st.AllowFiltering = true
	}
	if p.isPlain(0, "BYPASS") && p.isPlain(1, "CACHE") {
		p.at += 2
		st.BypassCache = true
	}
	st.Timeout = p.timeoutClause()
	st.bound = p.since(0)
	return st
}

// endsSelectors reports whether the statement ends here, or goes on with a clause that follows FROM.
func (p *parser) endsSelectors() bool {
	next := p.peek()
	switch next.kind {
	case tokenEOF:
		return true
	case tokenPunct:
		return next.word == ";"
	}
	return slices.ContainsFunc([]string{"WHERE", "GROUP", "ORDER", "PER", "LIMIT", "ALLOW", "USING"}, p.is) ||
		p.isPlain(0, "BYPASS")
}

// selectWord accepts JSON or DISTINCT unless it is the name of a column here.
func (p *parser) selectWord(word string) bool {
	if !p.is(word) {
		return false
	}
	next := p.peekAt(1)
	switch next.kind {
	case tokenPunct:
		switch next.word {
		case ",", ".", "+", "/", "%", ")", ";":
			return false
		}
	case tokenKeyword:
		// "SELECT json AS a FROM t", but "SELECT json as FROM t"
		if next.word == "FROM" || next.word == "AS" && isName(p.peekAt(2)) && !p.isAt(2, "AS") {
			return false
		}
	case tokenEOF:
		return false
	}
	p.next()
	return true
}

// selector parses the rule selector.
func (p *parser) selector() Selector {
	s := Selector{Expr: p.sum(inSelector)}
	if p.accept("AS") {
		s.Alias = p.name()
	}
	return s
}

// ordering parses the rule orderByClause.
func (p *parser) ordering() Ordering {
	o := Ordering{Column: p.column()}
	if p.accept("ANN") {
		p.expect("OF")
		o.ANN = p.term()
	}
	o.Desc = p.direction()
	return o
}

// direction accepts ASC or DESC, and reports whether it was DESC.
func (p *parser) direction() bool {
	if p.accept("DESC") {
		return true
	}
	p.accept("ASC")
	return false
}

// intValue parses a number or marker.
func (p *parser) intValue() Expr {
	if m := p.marker(); m != nil {
		return m
	}
	if p.peek().kind != tokenInteger {
		p.noViable()
		return nil
	}
	return p.constant()
}

// timeoutClause parses USING TIMEOUT; nil means that there is none.
func (p *parser) timeoutClause() Expr {
	if !p.is("USING") || !p.scylla {
		return nil
	}
	p.next()
	if !p.isPlain(0, "TIMEOUT") {
		p.noViable()
		return nil
	}
	return p.timeout()
}

// timeout parses TIMEOUT and its value.
func (p *parser) timeout() Expr {
	p.next()
	if m := p.marker(); m != nil {
		return m
	}
	if p.peek().kind != tokenDuration {
		p.noViable()
		return nil
	}
	return p.constant()
}

// where parses the rule whereClause.
func (p *parser) where() []Relation { return joined(p, "AND", p.relation) }

// relation parses the rule relation.
func (p *parser) relation() Relation {
	p.enter()
	defer p.leave()
	switch {
	case p.is("TOKEN"):
		p.next()
		r := Relation{Token: true, Columns: p.columns()}
		r.Op = p.comparison()
		r.Value = p.term()
		return r
	case p.is("("):
		if isColumn(p.peekAt(1)) && (p.isAt(2, ",") || p.isAt(2, ")")) {
			return p.tupleRelation()
		}
		p.next()
		r := p.relation()
		p.expect(")")
		return r
	}
	r := Relation{Columns: []string{p.column()}}
	switch {
	case p.accept("IN"):
		r.Op = In
		r.Value, r.Values = p.inValues()
	case p.accept("LIKE"):
		r.Op = Like
		r.Value = p.term()
	case p.accept("IS"):
		if r.Op = IsNotNull; p.scylla && p.is("NULL") {
			r.Op = IsNull
		} else {
			p.expect("NOT")
		}
		p.expect("NULL")
	case p.accept("CONTAINS"):
		r.Op = p.contains()
		r.Value = p.term()
	case p.accept("["):
		r.Element = p.term()
		p.expect("]")
		fallthrough
	default:
		r.Op = p.comparison()
		r.Value = p.term()
	}
	return r
}

// tupleRelation parses a relation of columns in parentheses.
func (p *parser) tupleRelation() Relation {
	r := Relation{Tuple: true, Columns: p.columns()}
	if !p.accept("IN") {
		r.Op = p.comparison()
		r.Value = p.tupleValue()
		return r
	}
	r.Op = In
	if m := p.marker(); m != nil {
		r.Value = m
		return r
	}
	p.expect("(")
	if p.accept(")") {
		return r
	}
	markers := !p.is("(") // all or none are markers
	for {
		if markers == p.is("(") {
			p.noViable()
		}
		r.Values = append(r.Values, p.tupleValue())
		if !p.accept(",") {
			break
		}
	}
	p.expect(")")
	return r
}

// tupleValue parses the rule multiColumnValue.
func (p *parser) tupleValue() Expr {
	if m := p.marker(); m != nil {
		return m
	}
	if !p.is("(") {
		p.noViable()
		return nil
	}
	return &TupleLiteral{Elems: p.tuple(inTerm)}
}

// columns parses columns in parentheses.
func (p *parser) columns() []string {
	p.expect("(")
	names := list(p, p.column)
	p.expect(")")
	return names
}

// comparison parses the rule relationType.
func (p *parser) comparison() Operator {
	for op, word := range comparisons {
		if p.accept(word) {
			return Operator(op)
		}
	}
	p.noViable()
	return Eq
}

// comparisons are the operators between two terms, by Operator.
var comparisons = [...]string{Eq: "=", Lt: "<", Lte: "<=", Gt: ">", Gte: ">=", Neq: "!="}

// contains accepts the KEY after CONTAINS.
func (p *parser) contains() Operator {
	if p.accept("KEY") {
		return ContainsKey
	}
	return Contains
}

// inValues parses the rule singleColumnInValues: a marker or a list.
func (p *parser) inValues() (Expr, []Expr) {
	if m := p.marker(); m != nil {
		return m, nil
	}
	p.expect("(")
	if p.accept(")") {
		return nil, nil
	}
	terms := p.terms()
	p.expect(")")
	return nil, terms
}
