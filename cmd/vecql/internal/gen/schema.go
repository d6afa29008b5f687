// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
	"github.com/vecql/vecql/internal/cqltext"
)

// The schema of the generated tests, without options.

// schema returns the statements that create the keyspace, the types and the tables that the tests use, with a table in
// the place of each view.
func (m *maker) schema(made *model) []string {
	keyspace := cqltext.Identifier(m.ks.Name)
	statements := []string{
		"CREATE KEYSPACE " + keyspace + " WITH replication = {'class': 'NetworkTopologyStrategy', 'datacenter1': 1}",
	}
	done := map[string]bool{}
	for _, t := range made.Tables {
		if !t.IsTested {
			continue
		}
		for _, column := range t.meta.ordered {
			statements = m.createTypes(statements, t.meta.columns[column].Type, done)
		}
		name := keyspace + "." + cqltext.Identifier(t.meta.name)
		statements = append(statements, createTable(name, t.meta))
		for _, l := range t.Lookups {
			statements = append(statements, fmt.Sprintf("CREATE INDEX ON %s (%s)", name, l.target))
		}
		for _, l := range t.Searches {
			statements = append(statements, fmt.Sprintf("CREATE CUSTOM INDEX ON %s (%s) USING '%s'", name, l.target, sai))
		}
	}
	return statements
}

// sai is the class of the indexes of vectors.
const sai = "StorageAttachedIndex"

// createTypes appends the statements that create the user-defined types of a type, each once, inner ones first.
func (m *maker) createTypes(statements []string, t cql.TypeInfo, done map[string]bool) []string {
	switch t := t.(type) {
	case cql.CollectionType:
		if t.Type() == cql.TypeMap {
			statements = m.createTypes(statements, t.Key, done)
		}
		return m.createTypes(statements, t.Elem, done)
	case cql.VectorType:
		return m.createTypes(statements, t.SubType, done)
	case cql.TupleTypeInfo, cql.UDTTypeInfo:
		for _, f := range fieldsOf(t) {
			statements = m.createTypes(statements, f.Type, done)
		}
		if udt, ok := t.(cql.UDTTypeInfo); ok && !done[udt.Name] {
			done[udt.Name] = true
			fields := make([]string, len(udt.Elements))
			for i, e := range udt.Elements {
				fields[i] = cqltext.Identifier(e.Name) + " " + typeText(e.Type)
			}
			name := cqltext.Identifier(m.ks.Name) + "." + cqltext.Identifier(udt.Name)
			statements = append(statements, fmt.Sprintf("CREATE TYPE %s (%s)", name, strings.Join(fields, ", ")))
		}
	}
	return statements
}

// typeText returns a type within another one in CQL, frozen.
func typeText(t cql.TypeInfo) string {
	switch t := t.(type) {
	case cql.CollectionType:
		text := t.Type().String() + "<" + typeText(t.Elem) + ">"
		if t.Type() == cql.TypeMap {
			text = "map<" + typeText(t.Key) + ", " + typeText(t.Elem) + ">"
		}
		return "frozen<" + text + ">"
	case cql.VectorType:
		return fmt.Sprintf("vector<%s, %d>", typeText(t.SubType), t.Dimensions)
	case cql.UDTTypeInfo:
		return "frozen<" + cqltext.Identifier(t.Name) + ">"
	case cql.TupleTypeInfo:
		elems := make([]string, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = typeText(e)
		}
		return "frozen<tuple<" + strings.Join(elems, ", ") + ">>"
	}
	return t.String()
}

// createTable returns the statement that creates a table.
func createTable(name string, meta *tableMeta) string {
	var parts []string
	for _, column := range meta.ordered {
		c := meta.columns[column]
		part := cqltext.Identifier(column) + " " + c.Validator
		if c.Kind == cql.ColumnStatic {
			part += " static"
		}
		parts = append(parts, part)
	}
	names := func(key []*cql.ColumnMetadata) (names []string) {
		for _, c := range key {
			names = append(names, cqltext.Identifier(c.Name))
		}
		return names
	}
	key := append([]string{"(" + strings.Join(names(meta.partition), ", ") + ")"}, names(meta.clustering)...)
	parts = append(parts, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
	return fmt.Sprintf("CREATE TABLE %s (\n\t%s\n)", name, strings.Join(parts, ",\n\t"))
}

// isTested reports whether package cqltest can have the table: it has no custom types.
func (m *maker) isTested(t *table) bool {
	return !slices.ContainsFunc(t.meta.ordered, func(column string) bool { return hasCustom(t.meta.columns[column].Type) })
}

// hasCustom reports whether a type has values of a custom class.
func hasCustom(t cql.TypeInfo) bool {
	switch t := t.(type) {
	case cql.CustomType:
		return true
	case cql.CollectionType:
		return hasCustom(t.Elem) || t.Type() == cql.TypeMap && hasCustom(t.Key)
	case cql.VectorType:
		return hasCustom(t.SubType)
	}
	return slices.ContainsFunc(fieldsOf(t), func(f cql.UDTField) bool { return hasCustom(f.Type) })
}
