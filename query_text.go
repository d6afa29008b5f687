// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/codec"
	"github.com/vecql/vecql/internal/cqltext"
	"github.com/vecql/vecql/internal/errtext"
)

// The text of statements, made from the fields of a struct.

// InsertInto returns the text of an INSERT of all fields of the struct T, for [Prepare]:
//
//	INSERT INTO shop.items (id, name, embedding) VALUES (?, ?, ?)
//
// The columns are the exported fields, including the fields of embedded structs, named by the tag `cql:"name"`, else by
// the field name in lower case. A field tagged `cql:"-"` is omitted. table is the name of a table in CQL, with or
// without a keyspace: items, shop.items, "Shop"."Items". It is copied unchanged: quote it if it needs quotes.
//
// InsertInto panics with a text if T is not a struct with exported fields. It panics with an error that wraps
// [ErrNoTable] if table is not a name, and [cql.ErrConversion] if two fields of T have one column name, or if T embeds
// a struct by a pointer, whose fields cannot be reached.
func InsertInto[T any](table string) string {
	checkTableName(table)
	names := columnNames[T]()
	markers := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), markers)
}

// UpdateWhere returns the text of an UPDATE of all fields of the struct T. key are the columns of the primary key:
//
//	UPDATE shop.items SET name = ?, embedding = ? WHERE id = ?
//
// Columns are named, and T and table are checked, as in [InsertInto]. UpdateWhere panics if T has no field for a column
// of the key, or has only those.
func UpdateWhere[T any](table string, key ...string) string {
	checkTableName(table)
	var set, where []string
	for _, column := range key {
		where = append(where, cqltext.Identifier(column)+" = ?")
	}
	for _, name := range columnNames[T]() {
		if assignment := name + " = ?"; !slices.Contains(where, assignment) {
			set = append(set, assignment)
		}
	}
	if len(set) == 0 || len(where) == 0 || len(set)+len(where) != len(columnNames[T]()) {
		panic(fmt.Sprintf("vecql: UPDATE of %v by %q: the struct needs a field for each column of the key, and further fields", reflect.TypeFor[T](), key))
	}
	return fmt.Sprintf("UPDATE %s SET %s WHERE %s", table, strings.Join(set, ", "), strings.Join(where, " AND "))
}

// DeleteWhere returns the text of a DELETE of the rows that equal a struct T in some columns, such as the columns of
// the primary key:
//
//	DELETE FROM shop.items WHERE id = ?
//
// Columns are named, and T and table are checked, as in [InsertInto]. DeleteWhere panics if T has no field for a
// column, or if key is empty.
func DeleteWhere[T any](table string, key ...string) string {
	checkTableName(table)
	names := columnNames[T]()
	var where []string
	for _, column := range key {
		if name := cqltext.Identifier(column); slices.Contains(names, name) {
			where = append(where, name+" = ?")
		}
	}
	if len(where) == 0 || len(where) != len(key) {
		panic(fmt.Sprintf("vecql: DELETE of %v by %q: the struct needs a field for each column", reflect.TypeFor[T](), key))
	}
	return fmt.Sprintf("DELETE FROM %s WHERE %s", table, strings.Join(where, " AND "))
}

// SelectFrom returns the text of a SELECT of all fields of the struct T, for [Rows]. A WHERE clause may be appended:
//
//	SELECT id, name, embedding FROM shop.items
//
// Columns are named, and T and table are checked, as in [InsertInto].
func SelectFrom[T any](table string) string {
	checkTableName(table)
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(columnNames[T](), ", "), table)
}

// checkTableName panics unless table is the name of a table, so that no other text becomes a part of a statement.
func checkTableName(table string) {
	if !cqltext.IsTable(table) {
		panic(errtext.Errorf("%w: %.100q is not a name in CQL: write keyspace.table, with double quotes where a name needs them",
			ErrNoTable, table))
	}
}

// columnNames returns the columns of the fields of T, quoted where CQL requires quotes.
func columnNames[T any]() []string {
	t := reflect.TypeFor[T]()
	if !codec.IsRowStruct(t) {
		panic(fmt.Sprintf("vecql: %v is not a struct with a field for each column", t))
	}
	fields, err := codec.RowFields(t)
	if err != nil {
		panic(errtext.Errorf("name the columns of a struct: %w", err))
	}
	if len(fields) == 0 {
		panic(fmt.Sprintf("vecql: %v has no exported field", t))
	}
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = cqltext.Identifier(f.Column())
	}
	return names
}
