// SPDX-License-Identifier: Apache-2.0

package cql

// Parsing of INSERT, UPDATE, DELETE and BATCH.

// modification parses a statement that is allowed in a batch.
func (p *parser) modification() Statement {
	switch {
	case p.is("INSERT"):
		return p.insert()
	case p.is("UPDATE"):
		return p.update()
	}
	return p.delete()
}

// insert parses the rule insertStatement.
func (p *parser) insert() Statement {
	first := len(p.markers)
	p.expect("INSERT", "INTO")
	st := &Insert{Table: p.tableName()}
	switch {
	case p.is("("):
		st.Columns = p.columns()
		p.expect("VALUES")
		st.Values = p.tuple(inTerm)
	case p.accept("JSON"):
		st.JSON = p.jsonValue()
		if p.accept("DEFAULT") && !p.accept("NULL") {
			p.expect("UNSET")
			st.DefaultUnset = true
		}
	default:
		p.noViable()
	}
	st.IfNotExists = p.ifNotExists()
	st.Using = p.using(true)
	st.bound = p.since(first)
	return st
}

// jsonValue parses the rule jsonValue.
func (p *parser) jsonValue() Expr {
	if m := p.marker(); m != nil {
		return m
	}
	if p.peek().kind != tokenString {
		p.noViable()
		return nil
	}
	return p.constant()
}

// using parses the rule usingClause, or usingClauseDelete if a TTL is not allowed. The last of repeated values counts.
func (p *parser) using(ttl bool) Using {
	var u Using
	if !p.accept("USING") {
		return u
	}
	for {
		switch {
		case p.accept("TIMESTAMP"):
			u.Timestamp = p.intValue()
		case ttl && p.accept("TTL"):
			u.TTL = p.intValue()
		case p.isPlain(0, "TIMEOUT"):
			u.Timeout = p.timeout()
		default:
			if ttl {
				p.noViable()
			} else {
				p.mismatched("K_TIMESTAMP")
			}
			return u
		}
		// Cassandra allows a single item in DELETE.
		if !ttl && !p.scylla || !p.accept("AND") {
			return u
		}
	}
}

// update parses the rule updateStatement.
func (p *parser) update() Statement {
	first := len(p.markers)
	p.expect("UPDATE")
	st := &Update{Table: p.tableName(), Using: p.using(true)}
	p.expect("SET")
	set := map[string]Assignment{} // last assignment by column
	for {
		a := p.assignment()
		if other, ok := set[a.Column]; ok && !compatible(other, a) {
			p.failf("Multiple incompatible setting of column %s", a.Column)
		}
		set[a.Column] = a
		st.Set = append(st.Set, a)
		if !p.accept(",") {
			break
		}
	}
	p.expect("WHERE")
	st.Where = p.where()
	st.IfExists, st.If = p.conditions()
	st.bound = p.since(first)
	return st
}

// compatible reports whether an UPDATE may contain both assignments.
func compatible(a, b Assignment) bool {
	if a.Op == Assign || b.Op == Assign {
		return false
	}
	return a.Op != AssignField || b.Op != AssignField || a.Field != b.Field
}

// assignment parses the rule columnOperation.
func (p *parser) assignment() Assignment {
	a := Assignment{Column: p.column()}
	switch {
	case p.accept("="):
		p.assigned(&a)
		return a
	case p.accept("+="):
		a.Op = AssignAdd
	case p.accept("-="):
		a.Op = AssignSub
	case p.accept("["):
		a.Op = AssignElement
		a.Key = p.term()
		p.expect("]", "=")
	case p.accept("."):
		a.Op = AssignField
		a.Field = p.name()
		p.expect("=")
	default:
		p.noViable()
	}
	a.Value = p.term()
	return a
}

// assigned parses the rule normalColumnOperation: the part after "column =".
func (p *parser) assigned(a *Assignment) {
	if !isColumn(p.peek()) || p.isCall(0) || p.are("CAST", "(") {
		a.Value = p.term()
		if p.accept("+") {
			a.Op = AssignPrepend
			if p.column() != a.Column {
				p.failf("Only expressions of the form X = <value> + X are supported.")
			}
		}
		return
	}
	same := p.column() == a.Column
	sign := "+"
	switch {
	case p.accept("+"):
		a.Op, a.Value = AssignAdd, p.term()
	case p.accept("-"):
		sign = "-"
		a.Op, a.Value = AssignSub, p.term()
	case p.peek().kind == tokenInteger: // the -1 of "c = c -1"
		sign = p.source(p.peek())[:1] + " "
		a.Op, a.Value = AssignAdd, p.constant()
	default:
		p.noViable()
	}
	if !same {
		p.failf("Only expressions of the form X = X %s<value> are supported.", sign)
	}
}

// delete parses the rule deleteStatement.
func (p *parser) delete() Statement {
	first := len(p.markers)
	p.expect("DELETE")
	st := &Delete{}
	if !p.is("FROM") {
		st.Targets = list(p, p.target)
	}
	p.expect("FROM")
	st.Table = p.tableName()
	st.Using = p.using(false)
	p.expect("WHERE")
	st.Where = p.where()
	st.IfExists, st.If = p.conditions()
	st.bound = p.since(first)
	return st
}

// target parses the rule deleteOp.
func (p *parser) target() Target {
	t := Target{Column: p.column()}
	switch {
	case p.accept("["):
		t.Key = p.term()
		p.expect("]")
	case p.accept("."):
		t.Field = p.name()
	}
	return t
}

// conditions parses an IF clause: IF EXISTS, or conditions.
func (p *parser) conditions() (exists bool, conditions []Condition) {
	if !p.accept("IF") {
		return false, nil
	}
	if p.is("EXISTS") && !p.conditionFollows() {
		p.next()
		return true, nil
	}
	return false, joined(p, "AND", p.condition)
}

// conditionFollows reports whether the next token, EXISTS, is a column.
func (p *parser) conditionFollows() bool {
	switch p.peekAt(1).word {
	case "=", "<", "<=", ">", ">=", "!=", "IN", "CONTAINS", "[", ".":
		return true
	}
	return false
}

// condition parses the rule columnCondition.
func (p *parser) condition() Condition {
	c := Condition{Column: p.column()}
	switch {
	case p.accept("CONTAINS"):
		c.Op = p.contains()
		c.Value = p.term()
		return c
	case p.accept("["):
		c.Element = p.term()
		p.expect("]")
	case p.accept("."):
		c.Field = p.name()
	}
	if p.accept("IN") {
		c.Op = In
		c.Value, c.Values = p.inValues()
		return c
	}
	c.Op = p.comparison()
	c.Value = p.term()
	return c
}

// batch parses the rule batchStatement.
func (p *parser) batch() Statement {
	p.expect("BEGIN")
	st := &Batch{}
	switch {
	case p.accept("UNLOGGED"):
		st.Kind = UnloggedBatch
	case p.accept("COUNTER"):
		st.Kind = CounterBatch
	}
	p.expect("BATCH")
	st.Using = p.using(true)
	for p.is("INSERT") || p.is("UPDATE") || p.is("DELETE") {
		st.Statements = append(st.Statements, p.modification())
		p.accept(";")
	}
	p.expect("APPLY", "BATCH")
	st.bound = p.since(0)
	return st
}
