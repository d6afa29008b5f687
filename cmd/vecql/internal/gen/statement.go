// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The statements of a table.

// A statement is a prepared statement of a table.
type statement struct {
	Name, Parameter string // of the field, and the type of its values
	Text            string // an expression of Go
	Once            bool   // not idempotent
	Doc             string
}

// least are the least values of types in CQL.
var least = map[cql.Type]string{
	cql.TypeAscii: "''", cql.TypeText: "''", cql.TypeVarchar: "''", cql.TypeBlob: "0x", cql.TypeBoolean: "false",
	cql.TypeTinyInt: "-128", cql.TypeSmallInt: "-32768", cql.TypeInt: "-2147483648",
	cql.TypeBigInt: "-9223372036854775808", cql.TypeTimestamp: "-9223372036854775808", cql.TypeDate: "'-5877641-06-23'",
	cql.TypeTime: "'00:00:00'", cql.TypeFloat: "-Infinity", cql.TypeDouble: "-Infinity", cql.TypeInet: "'0.0.0.0'",
	cql.TypeUUID: "00000000-0000-0000-0000-000000000000", cql.TypeTimeUUID: "00000000-0000-1000-8080-808080808080",
}

// PartitionCondition returns the condition of the rows of a partition. In a table with static columns it bounds the
// first clustering column: without a bound ScyllaDB returns a row of NULLs for a partition that has static values only
// (issue 10091), also if no static column is selected.
func (t *table) PartitionCondition() string {
	condition := where(t.Partition)
	if t.Static != nil && t.HasRowsAlone() {
		first := t.Key[len(t.Partition)]
		condition += " AND " + cqltext.Identifier(first.Column) + " >= " + least[first.info.Type()]
	}
	return condition
}

// HasRowsAlone reports whether the query of a partition returns nothing for static values without a row.
func (t *table) HasRowsAlone() bool {
	return t.Static == nil || least[t.Key[len(t.Partition)].info.Type()] != ""
}

// addStatements adds the statements that write to a table.
func (m *maker) addStatements(t *table) {
	add := func(name, row, text, doc string) {
		t.Statements = append(t.Statements, statement{Name: name, Parameter: row, Text: text, Doc: doc})
	}
	switch {
	case t.meta.isView:
		return
	case t.meta.isCounter:
		m.addIncrements(t)
	default:
		add("Insert", t.Row, t.call("InsertInto", t.Row, nil), "writes a row; NULL in a field deletes the value")
		if len(t.Values()) > 0 {
			add("Update", t.Row, t.call("UpdateWhere", t.Row, t.Key), "writes the columns that are not in the primary key")
		}
		if t.Static != nil {
			add("UpdateStatic", t.Static.Row, t.call("UpdateWhere", t.Static.Row, t.Partition), "writes the static columns of a partition")
		}
		if matches(m.options.IfNotExists, t.meta.name) {
			text := t.call("InsertInto", t.Row, nil) + ` + " IF NOT EXISTS"`
			t.IfNotExists = &statement{Name: "insertIfNotExists", Parameter: t.Row, Text: text, Once: true}
		}
	}
	add("Delete", t.Row, t.call("DeleteWhere", t.Row, t.Key), "deletes the row of a primary key; other fields do not count")
	if t.HasPartition() {
		add("DeletePartition", t.Row, t.call("DeleteWhere", t.Row, t.Partition), "deletes all rows of a partition key")
	}
}

// call returns the call of a function that makes the text of a statement.
func (t *table) call(function, row string, key []field) string {
	arguments := []string{quote(t.CQL)}
	for _, f := range key {
		arguments = append(arguments, quote(f.Column))
	}
	return fmt.Sprintf("vecql.%s[%s](%s)", function, row, strings.Join(arguments, ", "))
}

// addIncrements adds the statements that add to the counters of a row, and to the static counters of a partition.
func (m *maker) addIncrements(t *table) {
	if len(t.Values()) > 0 {
		t.Increment = &increment{Row: m.names.add(t.Row + "Increment"), Of: "row", Fields: t.Fields}
		m.addIncrement(t, "Increment", t.Increment, t.Key)
	}
	if t.Static != nil {
		t.StaticIncrement = &increment{Row: m.names.add(t.Row + "StaticIncrement"), Of: "partition", Fields: t.Static.Fields}
		m.addIncrement(t, "IncrementStatic", t.StaticIncrement, t.Partition)
	}
}

// addIncrement adds a statement that adds to counters. key are the first fields of the increment.
func (m *maker) addIncrement(t *table, name string, i *increment, key []field) {
	i.Fields = slices.Clone(i.Fields)
	var set []string
	for at := range i.Fields {
		f := &i.Fields[at]
		f.Type = f.Plain
		if at >= len(key) {
			column := cqltext.Identifier(f.Column)
			set = append(set, column+" = "+column+" + ?")
		}
	}
	text := "UPDATE " + t.CQL + " SET " + strings.Join(set, ", ") + " WHERE " + where(key)
	t.Statements = append(t.Statements, statement{
		Name: name, Parameter: i.Row, Text: quote(text), Once: true, Doc: "adds to the counters of a " + i.Of,
	})
}

// where returns the conditions of a primary key or a part of it.
func where(key []field) string {
	conditions := make([]string, len(key))
	for i, f := range key {
		conditions[i] = cqltext.Identifier(f.Column) + " = ?"
	}
	return strings.Join(conditions, " AND ")
}
