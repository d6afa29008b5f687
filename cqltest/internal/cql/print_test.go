// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"maps"
	"slices"
)

// Statements as CQL, for tests: the text of a parsed tree parses to an equal tree. print_schema_test.go has the
// statements that change the schema.

// statementString returns the text that write writes.
func statementString(write func(w *writer)) string {
	var w writer
	write(&w)
	return w.String()
}

// opt writes words if the condition holds.
func (w *writer) opt(ok bool, words ...string) {
	if ok {
		w.words(words...)
	}
}

// clause writes a word and an expression, unless the expression is nil.
func (w *writer) clause(word string, e Expr) {
	if e != nil {
		w.WriteString(word)
		w.expr(e)
	}
}

// String returns the statement as CQL.
func (s *Select) String() string {
	return statementString(func(w *writer) {
		w.WriteString("SELECT ")
		w.opt(s.JSON, "JSON ")
		w.opt(s.Distinct, "DISTINCT ")
		w.opt(len(s.Selectors) == 0, "*")
		w.list(len(s.Selectors), func(i int) {
			w.expr(s.Selectors[i].Expr)
			w.opt(s.Selectors[i].Alias != "", " AS ", QuoteIdent(s.Selectors[i].Alias))
		})
		w.opt(!s.NoFrom, " FROM ", s.From.String())
		w.where(s.Where)
		if len(s.GroupBy) > 0 {
			w.WriteString(" GROUP BY ")
			w.exprs(s.GroupBy)
		}
		w.opt(len(s.OrderBy) > 0, " ORDER BY ")
		w.list(len(s.OrderBy), func(i int) {
			o := s.OrderBy[i]
			w.WriteString(QuoteIdent(o.Column))
			w.clause(" ANN OF ", o.ANN)
			w.opt(o.Desc, " DESC")
		})
		w.clause(" PER PARTITION LIMIT ", s.PerPartitionLimit)
		w.clause(" LIMIT ", s.Limit)
		w.opt(s.AllowFiltering, " ALLOW FILTERING")
		w.opt(s.BypassCache, " BYPASS CACHE")
		w.clause(" USING TIMEOUT ", s.Timeout)
	})
}

// where writes a WHERE clause.
func (w *writer) where(list []Relation) {
	w.opt(len(list) > 0, " WHERE ")
	w.joined(len(list), " AND ", func(i int) { w.relation(list[i]) })
}

// relation writes a relation of a WHERE clause: of a column, an element, a tuple or token(...).
func (w *writer) relation(r Relation) {
	w.opt(r.Token, "token")
	w.opt(r.Token || r.Tuple, "(")
	w.idents(r.Columns)
	w.opt(r.Token || r.Tuple, ")")
	w.element(r.Element)
	w.comparison(r.Op, r.Value, r.Values)
}

// element writes [e], unless e is nil.
func (w *writer) element(e Expr) {
	if e != nil {
		w.WriteByte('[')
		w.expr(e)
		w.WriteByte(']')
	}
}

// comparison writes an operator and its right side.
func (w *writer) comparison(op Operator, value Expr, values []Expr) {
	w.words(" ", op.String())
	if op == IsNotNull || op == IsNull {
		return
	}
	w.WriteByte(' ')
	if op == In && value == nil {
		w.WriteByte('(')
		w.exprs(values)
		w.WriteByte(')')
		return
	}
	w.expr(value)
}

// String returns the statement as CQL.
func (s *Insert) String() string {
	return statementString(func(w *writer) {
		w.words("INSERT INTO ", s.Table.String(), " ")
		if s.JSON != nil {
			w.WriteString("JSON ")
			w.expr(s.JSON)
			w.opt(s.DefaultUnset, " DEFAULT UNSET")
		} else {
			w.WriteByte('(')
			w.idents(s.Columns)
			w.WriteString(") VALUES (")
			w.exprs(s.Values)
			w.WriteByte(')')
		}
		w.opt(s.IfNotExists, " IF NOT EXISTS")
		w.using(s.Using)
	})
}

// using writes a USING clause. The tree does not store the order of its parts; the indexes of their markers define it.
func (w *writer) using(u Using) {
	type part struct {
		word  string
		value Expr
	}
	var parts []part
	for _, p := range []part{{"TIMESTAMP ", u.Timestamp}, {"TTL ", u.TTL}, {"TIMEOUT ", u.Timeout}} {
		if p.value != nil {
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int { return markerIndex(a.value) - markerIndex(b.value) })
	w.opt(len(parts) > 0, " USING ")
	w.joined(len(parts), " AND ", func(i int) { w.clause(parts[i].word, parts[i].value) })
}

// markerIndex returns the index of a marker, or -1 for any other expression.
func markerIndex(e Expr) int {
	if m, ok := e.(*Marker); ok {
		return m.Index
	}
	return -1
}

// String returns the statement as CQL.
func (s *Update) String() string {
	return statementString(func(w *writer) {
		w.words("UPDATE ", s.Table.String())
		w.using(s.Using)
		w.WriteString(" SET ")
		w.list(len(s.Set), func(i int) { w.assignment(s.Set[i]) })
		w.where(s.Where)
		w.conditions(s.IfExists, s.If)
	})
}

// assignment writes an item of SET. The column follows the value in c = v + c.
func (w *writer) assignment(a Assignment) {
	column := QuoteIdent(a.Column)
	w.WriteString(column)
	switch a.Op {
	case Assign, AssignPrepend:
		w.WriteString(" = ")
	case AssignAdd:
		w.WriteString(" += ")
	case AssignSub:
		w.WriteString(" -= ")
	case AssignElement:
		w.element(a.Key)
		w.WriteString(" = ")
	case AssignField:
		w.words(".", QuoteIdent(a.Field), " = ")
	}
	w.expr(a.Value)
	w.opt(a.Op == AssignPrepend, " + ", column)
}

// conditions writes an IF clause.
func (w *writer) conditions(exists bool, list []Condition) {
	w.opt(exists, " IF EXISTS")
	w.opt(len(list) > 0, " IF ")
	w.joined(len(list), " AND ", func(i int) {
		c := list[i]
		w.WriteString(QuoteIdent(c.Column))
		w.element(c.Element)
		w.opt(c.Field != "", ".", QuoteIdent(c.Field))
		w.comparison(c.Op, c.Value, c.Values)
	})
}

// String returns the statement as CQL.
func (s *Delete) String() string {
	return statementString(func(w *writer) {
		w.WriteString("DELETE ")
		w.list(len(s.Targets), func(i int) {
			t := s.Targets[i]
			w.WriteString(QuoteIdent(t.Column))
			w.element(t.Key)
			w.opt(t.Field != "", ".", QuoteIdent(t.Field))
		})
		w.opt(len(s.Targets) > 0, " ")
		w.words("FROM ", s.Table.String())
		w.using(s.Using)
		w.where(s.Where)
		w.conditions(s.IfExists, s.If)
	})
}

// String returns the statement as CQL.
func (s *Batch) String() string {
	return statementString(func(w *writer) {
		w.words("BEGIN ", [...]string{LoggedBatch: "", UnloggedBatch: "UNLOGGED ", CounterBatch: "COUNTER "}[s.Kind], "BATCH")
		w.using(s.Using)
		for _, st := range s.Statements {
			w.words(" ", fmt.Sprint(st), ";")
		}
		w.WriteString(" APPLY BATCH")
	})
}

// String returns the statement as CQL.
func (s *Truncate) String() string {
	return statementString(func(w *writer) {
		w.words("TRUNCATE TABLE ", s.Table.String())
		w.clause(" USING TIMEOUT ", s.Timeout)
	})
}

// String returns the statement as CQL.
func (s *Use) String() string { return "USE " + QuoteIdent(s.Keyspace) }

// String returns the statement as CQL.
func (s *Unsupported) String() string { return s.Text }

// option writes name = value.
func (w *writer) option(o Option) {
	w.words(QuoteIdent(o.Name), " = ")
	if o.Map == nil {
		w.WriteString(QuoteString(o.Value))
		return
	}
	keys := slices.Sorted(maps.Keys(o.Map))
	w.WriteByte('{')
	w.list(len(keys), func(i int) { w.words(QuoteString(keys[i]), ": ", QuoteString(o.Map[keys[i]])) })
	w.WriteByte('}')
}

// options writes a WITH clause, unless there are no options.
func (w *writer) options(list Options) {
	w.opt(len(list) > 0, " WITH ")
	w.joined(len(list), " AND ", func(i int) { w.option(list[i]) })
}

// String returns the statement as CQL.
func (s *Describe) String() string {
	return statementString(func(w *writer) {
		w.WriteString("DESCRIBE")
		w.opt(s.Full, " FULL")
		w.opt(s.Only, " ONLY")
		w.opt(s.What != "", " ", s.What)
		switch {
		case s.What == "KEYSPACE" && s.Name.Keyspace != "":
			w.words(" ", QuoteIdent(s.Name.Keyspace))
		case s.Name.Name != "":
			w.words(" ", s.Name.String())
		}
		w.opt(s.Internals, " WITH INTERNALS")
	})
}

// String returns the statement as CQL.
func (s *ListRoles) String() string {
	return statementString(func(w *writer) {
		w.WriteString("LIST ROLES")
		w.opt(s.Of != "", " OF ", QuoteIdent(s.Of))
		w.opt(s.NoRecursive, " NORECURSIVE")
	})
}

func (w *writer) idents(names []string) {
	w.list(len(names), func(i int) { w.WriteString(QuoteIdent(names[i])) })
}
