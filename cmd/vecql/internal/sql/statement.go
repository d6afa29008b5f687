// SPDX-License-Identifier: Apache-2.0

package sql

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/vecql/vecql/expr"
	"github.com/vecql/vecql/internal/lex"
)

// Statements, and their text.

// A Statement is a SELECT, a set operation, or VALUES. Set operations and VALUES have Describe, OrderBy, Limit and
// Offset, and no other fields.
type Statement struct {
	Set      *Set          // nil unless it is a set operation
	Values   [][]expr.Expr // the rows of VALUES; nil unless it is one
	Text     string        // that it was parsed from, which offsets of expressions refer to
	Describe bool          // the columns of the result, not its rows
	Distinct bool
	// DistinctOn are the keys of DISTINCT ON; nil means none.
	DistinctOn []expr.Expr
	Items      []Item
	From       Source
	Where      expr.Expr // the zero Expr if there is none
	GroupBy    []expr.Expr
	Sets       []keySet  // of GROUPING SETS, whose keys are GroupBy; nil means one set of all keys
	Having     expr.Expr // the zero Expr if there is none
	OrderBy    []Order
	Limit      int64 // -1 means none
	Offset     int64

	valuesAt int // the offset of the first row of VALUES
	selects  int // within it, and itself
}

// mostSelects is the maximum number of SELECTs in a statement, each name of WITH counted where it is read.
const mostSelects = 500

// counted returns the statement with the number of its SELECTs, from the numbers of the statements within.
func (s *Statement) counted() *Statement {
	switch {
	case s.Set != nil:
		s.selects = s.Set.Left.selects + s.Set.Right.selects
	case s.From.Query != nil:
		s.selects = 1 + s.From.Query.selects
	default:
		s.selects = 1
	}
	s.count(s.parts()...)
	return s
}

// parts returns the expressions of a SELECT, but for ORDER BY.
func (s *Statement) parts() []expr.Expr {
	parts := append(slices.Concat(s.GroupBy, s.DistinctOn), s.Where, s.Having)
	for _, item := range s.Items {
		parts = append(parts, item.Expr)
		for _, r := range item.replace {
			parts = append(parts, r.Expr)
		}
	}
	return parts
}

// count adds the SELECTs of the subqueries of expressions.
func (s *Statement) count(parts ...expr.Expr) {
	for _, e := range parts {
		for _, q := range queriesIn(e) {
			s.selects += q.selects
		}
	}
}

// A Set is a set operation of two statements with the same number of columns.
type Set struct {
	Op          string // UNION, INTERSECT or EXCEPT
	All         bool   // rows are not distinct
	Left, Right *Statement
	offset      int
}

// An Item is a column of the result, or columns of the source.
type Item struct {
	All  bool // *, or COLUMNS
	Expr expr.Expr
	Name string // of AS; "" means none

	of      string         // t of t.*; "" means none
	pattern *regexp.Regexp // of COLUMNS; nil means all columns
	exclude []string
	replace []Item
	offset  int // of *
}

// A Source is a list of files, a table, or a statement, or, without any, one row.
type Source struct {
	Files           []string   // paths and patterns
	Keyspace, Table string     // "" means none
	Query           *Statement // nil means none
	Alias           string     // "" means none
	Columns         []string   // names of the columns, the first ones, behind the alias
}

// An Order is an expression to order by.
type Order struct {
	Expr       expr.Expr
	Descending bool
	NullsFirst bool
}

// String returns the text of the statement, a clause on each line. [Parse] of it returns the same statement.
func (s *Statement) String() string { return s.text("\n") }

// text returns the text with a separator between the clauses.
func (s *Statement) text(line string) string {
	var b strings.Builder
	if s.Describe {
		b.WriteString("DESCRIBE ")
	}
	switch {
	case s.Set != nil:
		s.Set.write(&b, line)
	case s.Values != nil:
		b.WriteString("VALUES ")
		for i, row := range s.Values {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("(" + joined(row) + ")")
		}
	default:
		s.writeSelect(&b, line)
	}
	if len(s.OrderBy) > 0 {
		fmt.Fprintf(&b, "%sORDER BY %s", line, joined(s.OrderBy))
	}
	if s.Limit >= 0 {
		fmt.Fprintf(&b, "%sLIMIT %d", line, s.Limit)
	}
	if s.Offset > 0 {
		fmt.Fprintf(&b, "%sOFFSET %d", line, s.Offset)
	}
	return b.String()
}

// writeSelect writes a SELECT without ORDER BY and what follows.
func (s *Statement) writeSelect(b *strings.Builder, line string) {
	b.WriteString("SELECT ")
	switch {
	case s.Distinct:
		b.WriteString("DISTINCT ")
	case s.DistinctOn != nil:
		b.WriteString("DISTINCT ON (" + joined(s.DistinctOn) + ") ")
	}
	b.WriteString(joined(s.Items))
	if !s.From.None() {
		fmt.Fprintf(b, "%sFROM %s", line, s.From.text(line))
	}
	if s.From.Alias != "" {
		b.WriteString(" AS " + lex.Identifier(s.From.Alias))
	}
	if len(s.From.Columns) > 0 {
		b.WriteString("(" + identifiers(s.From.Columns) + ")")
	}
	if s.Where != (expr.Expr{}) {
		fmt.Fprintf(b, "%sWHERE %v", line, s.Where)
	}
	switch {
	case s.Sets != nil:
		fmt.Fprintf(b, "%sGROUP BY GROUPING SETS (%s)", line, joined(s.Sets))
	case len(s.GroupBy) > 0:
		fmt.Fprintf(b, "%sGROUP BY %s", line, joined(s.GroupBy))
	}
	if s.Having != (expr.Expr{}) {
		fmt.Fprintf(b, "%sHAVING %v", line, s.Having)
	}
}

// write writes the operation, with operands in parentheses that are no plain SELECT.
func (s *Set) write(b *strings.Builder, line string) {
	operand := func(o *Statement) string {
		if o.Set == nil && o.OrderBy == nil && o.Limit < 0 && o.Offset == 0 {
			return o.text(line)
		}
		return "(" + o.text(line) + ")"
	}
	all := ""
	if s.All {
		all = " ALL"
	}
	b.WriteString(operand(s.Left) + line + s.Op + all + line + operand(s.Right))
}

func identifiers(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = lex.Identifier(name)
	}
	return strings.Join(quoted, ", ")
}

func joined[T fmt.Stringer](list []T) string {
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i] = v.String()
	}
	return strings.Join(texts, ", ")
}

// String returns the text of the item.
func (i Item) String() string {
	switch {
	case i.All:
		return i.starText()
	case i.Name == "":
		return i.Expr.String()
	}
	return i.Expr.String() + " AS " + lex.Identifier(i.Name)
}

// text returns the text of the source.
func (s Source) text(line string) string {
	if s.Query != nil {
		return "(" + s.Query.text(line) + ")"
	}
	if s.Table == "" {
		quoted := make([]string, len(s.Files))
		for i, file := range s.Files {
			quoted[i] = expr.Lit(file).String()
		}
		return "read(" + strings.Join(quoted, ", ") + ")"
	}
	return s.Name()
}

// Name returns the name of the table, with its keyspace if there is one, as in CQL.
func (s Source) Name() string {
	if s.Keyspace == "" {
		return tableName(s.Table)
	}
	return tableName(s.Keyspace) + "." + tableName(s.Table)
}

// tableName returns a part of the name of a table, in quotes unless it is in lower case.
func tableName(name string) string {
	quoted := lex.Identifier(name)
	if quoted == name && (name != strings.ToLower(name) || strings.Contains(name, ".")) {
		return `"` + name + `"`
	}
	return quoted
}

// String returns the text of the order.
func (o Order) String() string {
	text := o.Expr.String()
	if o.Descending {
		text += " DESC"
	}
	if o.NullsFirst {
		text += " NULLS FIRST"
	}
	return text
}
