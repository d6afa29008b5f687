// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
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

// A lookup is an index that selects rows.
type lookup struct {
	Name  string // of the method or the field
	Index string
	Field field
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
	call := func(function, row string, key []field) string {
		arguments := []string{quote(t.CQL)}
		for _, f := range key {
			arguments = append(arguments, quote(f.Column))
		}
		return fmt.Sprintf("vecql.%s[%s](%s)", function, row, strings.Join(arguments, ", "))
	}
	switch {
	case t.meta.isView:
		return
	case t.meta.isCounter:
		m.addIncrement(t)
	default:
		add("Insert", t.Row, call("InsertInto", t.Row, nil), "writes a row; NULL in a field deletes the value")
		if len(t.Values()) > 0 {
			add("Update", t.Row, call("UpdateWhere", t.Row, t.Key), "writes the columns that are not in the primary key")
		}
		if t.Static != nil {
			add("UpdateStatic", t.Static.Row, call("UpdateWhere", t.Static.Row, t.Partition), "writes the static columns of a partition")
		}
	}
	add("Delete", t.Row, call("DeleteWhere", t.Row, t.Key), "deletes the row of a primary key; other fields do not count")
	if t.HasPartition() {
		add("DeletePartition", t.Row, call("DeleteWhere", t.Row, t.Partition), "deletes all rows of a partition key")
	}
}

// addIncrement adds the statement that adds to the counters of a row. Static counters have no statement.
func (m *maker) addIncrement(t *table) {
	if t.Static != nil {
		m.note("table %s: no statement adds to static counters", t.Title)
	}
	if len(t.Values()) == 0 {
		return
	}
	t.Increment = &increment{Row: m.names.add(t.Row + "Increment"), Fields: slices.Clone(t.Fields)}
	var set []string
	for i := range t.Increment.Fields {
		f := &t.Increment.Fields[i]
		f.Type = f.Plain
		if i >= len(t.Key) {
			name := cqltext.Identifier(f.Column)
			set = append(set, name+" = "+name+" + ?")
		}
	}
	text := "UPDATE " + t.CQL + " SET " + strings.Join(set, ", ") + " WHERE " + where(t.Key)
	t.Statements = append(t.Statements, statement{
		Name: "Increment", Parameter: t.Increment.Row, Text: quote(text), Once: true,
		Doc: "adds to the counters of a row",
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

// addLookups adds the methods for indexes of columns, and the searches for indexes of vectors.
func (m *maker) addLookups(t *table) {
	done := map[string]bool{}
	for _, index := range t.meta.indexes {
		column := indexedColumn(index)
		at := slices.IndexFunc(t.Fields, func(f field) bool { return f.Column == column })
		if at < 0 || done[column] || len(t.Key) == 1 && at == 0 {
			continue
		}
		f := t.Fields[at]
		switch info := f.info.(type) {
		case cql.VectorType:
			if info.SubType.Type() == cql.TypeFloat {
				t.Searches = append(t.Searches, lookup{"Search" + f.Name, title(index.Name), f})
				done[column] = true
			}
		case cql.NativeType:
			t.Lookups = append(t.Lookups, lookup{"By" + f.Name, title(index.Name), f})
			done[column] = true
		}
	}
	byName := func(a, b lookup) int { return cmp.Compare(a.Name, b.Name) }
	slices.SortFunc(t.Searches, byName)
	slices.SortFunc(t.Lookups, byName)
}
