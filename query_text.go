// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/vecql/vecql/internal/cqltext"
)

// The text of statements, made from the fields of a struct.

// InsertInto returns the text of an INSERT of all fields of the struct T, for [Prepare]:
//
//	INSERT INTO shop.items (id, name, embedding) VALUES (?, ?, ?)
//
// The columns are the exported fields, including those of embedded structs, named by the tag `cql:"name"`, else by the
// field name in lower case. A field tagged `cql:"-"` is omitted. table is copied unchanged: quote it if it needs
// quotes. InsertInto panics if T is not a struct with exported fields.
func InsertInto[T any](table string) string {
	names := columnNames[T]()
	markers := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(names, ", "), markers)
}

// UpdateWhere returns the text of an UPDATE of all fields of the struct T. key are the columns of the primary key:
//
//	UPDATE shop.items SET name = ?, embedding = ? WHERE id = ?
//
// Columns are named as in [InsertInto]. UpdateWhere panics if T is not a struct, has no field for a column of the key,
// or has only those.
func UpdateWhere[T any](table string, key ...string) string {
	var set, where []string
	for _, column := range key {
		where = append(where, quoteName(column)+" = ?")
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

// SelectFrom returns the text of a SELECT of all fields of the struct T, for [Rows]. A WHERE clause may be appended:
//
//	SELECT id, name, embedding FROM shop.items
//
// Columns are named as in [InsertInto]. SelectFrom panics if T is not a struct with exported fields.
func SelectFrom[T any](table string) string {
	return fmt.Sprintf("SELECT %s FROM %s", strings.Join(columnNames[T](), ", "), table)
}

// columnNames returns the columns of the fields of T, quoted where CQL requires quotes.
func columnNames[T any]() []string {
	t := reflect.TypeFor[T]()
	if t.Kind() != reflect.Struct || !isRowStruct(t) {
		panic(fmt.Sprintf("vecql: %v is not a struct with a field for each column", t))
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		tag := f.Tag.Get("cql")
		switch {
		case !f.IsExported() || tag == "-" || promotedThroughPointer(t, f.Index):
		case f.Anonymous && tag == "": // its fields follow
		case tag != "":
			names = append(names, quoteName(tag))
		default:
			names = append(names, quoteName(strings.ToLower(f.Name)))
		}
	}
	if len(names) == 0 {
		panic(fmt.Sprintf("vecql: %v has no exported field", t))
	}
	return names
}

// promotedThroughPointer reports whether a field is promoted through an embedded pointer. Such fields are neither bound
// nor scanned into.
func promotedThroughPointer(t reflect.Type, index []int) bool {
	for _, i := range index[:len(index)-1] {
		if t.Kind() == reflect.Pointer {
			return true
		}
		t = t.Field(i).Type
	}
	return t.Kind() == reflect.Pointer
}

// quoteName returns the name of a column, quoted unless it is in lower case and not reserved.
func quoteName(name string) string {
	for i, r := range name {
		if r != '_' && (r < 'a' || r > 'z') && (i == 0 || r < '0' || r > '9') || i == 0 && r == '_' {
			return cqltext.QuoteIdentifier(name)
		}
	}
	if name == "" || reservedWords[name] {
		return cqltext.QuoteIdentifier(name)
	}
	return name
}

// reservedWords are the words that are names only in quotes (CQL grammar, Appendix A).
var reservedWords = func() map[string]bool {
	words := map[string]bool{}
	for _, w := range strings.Fields(`add allow alter and any apply asc authorize batch begin by columnfamily create default delete desc
		describe drop entries execute from full grant if in index inet infinity insert into is keyspace limit materialized mbean mbeans
		modify nan norecursive not null of on one or order password per permission permissions primary quorum rename replace revoke schema
		scylla_timeuuid_list_index scylla_counter_shard_list select set table three to token truncate ttl two unlogged unset update use
		using view where with writetime`) {
		words[w] = true
	}
	return words
}()
