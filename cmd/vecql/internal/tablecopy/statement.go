// SPDX-License-Identifier: Apache-2.0

package tablecopy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cmd/vecql/internal/clustertable"
	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/schema"
)

// The statements that write rows with times. A row is an INSERT for each pair of a write time and a time to live. An
// INSERT of a collection replaces all its elements, so that elements with other times are added by an UPDATE: the
// INSERT has those with the earliest write time, whose deletion of older elements does not reach the others. A list is
// an UPDATE of its own, see listWriter.

// A kind is what a statement writes.
type kind int

const (
	wholeRow   kind = iota // an INSERT
	someOfThem             // an UPDATE of elements of sets, maps and user-defined types
	wholeList              // an UPDATE of one list
)

// A statement writes some columns of a row.
type statement struct {
	text      string
	kind      kind
	isStatic  bool    // writes partitions: the partition key and static columns
	values    []value // in the order of its batches
	ofColumns []int   // the position in values for each column of the plan, -1 if there is none

	read, readTimes string // of a list: the SELECT of the list, without and with its write times
}

// A value is a bind marker of a statement. Values of an INSERT, and keys, have a whole column. Values of an UPDATE
// have elements: of a set, of a map, or one field of a user-defined type.
type value struct {
	name   string // of the marker
	column int    // of the plan
	field  int    // of the user-defined type, -1 for other values
}

// setStatements makes the statements of a target: the INSERT, and where the table has such columns the statement of
// static columns, and the UPDATEs of elements and of lists.
func (p *Plan) setStatements(t clustertable.Table) {
	p.statements = []statement{p.insert(t, false)}
	if p.statics {
		p.statements = append(p.statements, p.insert(t, true))
	}
	if p.noTimes {
		return
	}
	for _, isStatic := range []bool{false, true} {
		if s := p.updateElements(t, isStatic); len(s.values) > p.keysOf(isStatic) {
			p.statements = append(p.statements, s)
		}
	}
	for i := p.keys; i < len(p.columns); i++ {
		if isList(p.columns[i]) {
			p.statements = append(p.statements, p.updateList(t, i))
		}
	}
}

// isList reports whether a column is a list with a cell for each element.
func isList(c *cql.ColumnMetadata) bool {
	return c.Type.Type() == cql.TypeList && schema.IsMultiCell(c)
}

// keysOf returns the number of columns of the primary key that a statement has.
func (p *Plan) keysOf(isStatic bool) int {
	if isStatic {
		return p.partition
	}
	return p.keys
}

// Statements returns the texts of the statements, in the order of the results of Split.
func (p *Plan) Statements() []string {
	texts := make([]string, len(p.statements))
	for i := range p.statements {
		texts[i] = p.statements[i].text
	}
	return texts
}

// insert returns the INSERT of all columns, or of those that a partition without rows has.
func (p *Plan) insert(t clustertable.Table, isStatic bool) statement {
	s := p.newStatement(wholeRow, isStatic)
	var names, markers []string
	for i, c := range p.columns {
		if !isStatic || !isOfRow(c) {
			s.add(value{c.Name, i, -1})
			name := cqltext.QuoteIdentifier(c.Name)
			names, markers = append(names, name), append(markers, ":"+name)
		}
	}
	s.text = fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", t.CQL(), strings.Join(names, ", "), strings.Join(markers, ", "))
	s.text += p.using()
	return s
}

// isOfRow reports whether a partition without rows does not have a column.
func isOfRow(c *cql.ColumnMetadata) bool {
	return c.Kind != cql.ColumnPartitionKey && c.Kind != cql.ColumnStatic
}

// using returns the clause of the times.
func (p *Plan) using() string {
	if p.noTimes {
		return ""
	}
	return " USING TTL :" + cqltext.QuoteIdentifier(p.ttl) + " AND TIMESTAMP :" + cqltext.QuoteIdentifier(p.writeTime)
}

// updateElements returns the UPDATE of the elements of static columns or of other columns. It has no values besides the
// key if there are no such columns.
func (p *Plan) updateElements(t clustertable.Table, isStatic bool) statement {
	s := p.newStatement(someOfThem, isStatic)
	where := p.where(&s)
	var sets []string
	for _, i := range p.timed {
		c := p.columns[i]
		if (c.Kind == cql.ColumnStatic) != isStatic || !schema.IsMultiCell(c) {
			continue
		}
		name := cqltext.QuoteIdentifier(c.Name)
		switch info := c.Type.(type) {
		case cql.UDTTypeInfo:
			for k, field := range info.Elements {
				v := value{p.unused(c.Name + "." + field.Name), i, k}
				s.add(v)
				sets = append(sets, name+"."+cqltext.QuoteIdentifier(field.Name)+" = :"+cqltext.QuoteIdentifier(v.name))
			}
		case cql.CollectionType:
			if info.Type() != cql.TypeList {
				s.add(value{c.Name, i, -1})
				sets = append(sets, name+" = "+name+" + :"+name)
			}
		}
	}
	s.text = fmt.Sprintf("UPDATE %s%s SET %s WHERE %s", t.CQL(), p.using(), strings.Join(sets, ", "), where)
	return s
}

// updateList returns the UPDATE of column i, a list.
func (p *Plan) updateList(t clustertable.Table, i int) statement {
	s := p.newStatement(wholeList, p.columns[i].Kind == cql.ColumnStatic)
	where := p.where(&s)
	s.add(value{p.columns[i].Name, i, -1})
	name := cqltext.QuoteIdentifier(p.columns[i].Name)
	s.text = fmt.Sprintf("UPDATE %s%s SET %s = :%s WHERE %s", t.CQL(), p.using(), name, name, where)
	s.read = fmt.Sprintf("SELECT %s FROM %s WHERE %s", name, t.CQL(), where)
	s.readTimes = fmt.Sprintf("SELECT %s, WRITETIME(%s) FROM %s WHERE %s", name, name, t.CQL(), where)
	if s.isStatic {
		s.read, s.readTimes = s.read+" LIMIT 1", s.readTimes+" LIMIT 1"
	}
	return s
}

// where adds the key to a statement and returns its condition.
func (p *Plan) where(s *statement) string {
	var terms []string
	for i, c := range p.columns[:p.keysOf(s.isStatic)] {
		s.add(value{c.Name, i, -1})
		name := cqltext.QuoteIdentifier(c.Name)
		terms = append(terms, name+" = :"+name)
	}
	return strings.Join(terms, " AND ")
}

func (p *Plan) newStatement(k kind, isStatic bool) statement {
	return statement{kind: k, isStatic: isStatic, ofColumns: slices.Repeat([]int{-1}, len(p.columns))}
}

// add adds a value. The values of the fields of a column follow each other.
func (s *statement) add(v value) {
	if s.ofColumns[v.column] < 0 {
		s.ofColumns[v.column] = len(s.values)
	}
	s.values = append(s.values, v)
}
