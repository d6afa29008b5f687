// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// This file reads the system_schema tables of Cassandra (SchemaKeyspace) and ScyllaDB (docs/dev/system_schema_keyspace.md): of the whole
// cluster, of a keyspace, or of a few tables of one. They are read one after the other; a change in between is told by an event, after
// which what it touched is read again.

// schemaScope is what is read.
type schemaScope struct {
	keyspace      string   // empty: all of them
	tables        []string // of the keyspace, also views; nil: the keyspace with all that is in it
	keyspacesOnly bool     // nothing of what is in keyspaces
}

// schemaSource is one of the tables: for each of its rows add is called.
type schemaSource struct {
	table     string
	name      string // the column that holds the name of a table or view; empty: the rows are not of a table
	mayLack   bool   // a server may not have it, or not show it
	keyspaces bool   // read in any case
	add       func(*keyspaceRows, systemRow)
}

var schemaSources = []schemaSource{
	{table: "keyspaces", keyspaces: true, add: (*keyspaceRows).addKeyspace},
	{table: "types", mayLack: true, add: (*keyspaceRows).addType},
	{table: "tables", name: "table_name", add: (*keyspaceRows).addTable},
	{table: "columns", name: "table_name", add: (*keyspaceRows).addColumn},
	{table: "views", name: "view_name", mayLack: true, add: (*keyspaceRows).addView},
	{table: "indexes", name: "table_name", mayLack: true, add: (*keyspaceRows).addIndex},
	{table: "scylla_tables", name: "table_name", mayLack: true, add: (*keyspaceRows).addScyllaTable},
	{table: "functions", mayLack: true, add: (*keyspaceRows).addFunction},
	{table: "aggregates", mayLack: true, add: (*keyspaceRows).addAggregate},
}

// quoteText returns a CQL string literal that means exactly s.
func quoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// statement returns the statements that read the scope's part of a source, none when it has no part in it.
func (scope *schemaScope) statements(src *schemaSource) []string {
	stmt := "SELECT * FROM system_schema." + src.table
	switch {
	case scope.keyspacesOnly && !src.keyspaces:
		return nil
	case scope.keyspace == "":
		return []string{stmt}
	}
	stmt += " WHERE keyspace_name = " + quoteText(scope.keyspace)
	switch {
	case scope.tables == nil, src.keyspaces:
		return []string{stmt}
	case src.name == "":
		return nil
	}
	stmts := make([]string, len(scope.tables))
	for i, t := range scope.tables {
		stmts[i] = stmt + " AND " + src.name + " = " + quoteText(t)
	}
	return stmts
}

// readSchema reads the rows of the scope, by keyspace.
func readSchema(ctx context.Context, conn *conn, scope schemaScope) (map[string]*keyspaceRows, error) {
	keyspaces := map[string]*keyspaceRows{}
	for i := range schemaSources {
		src := &schemaSources[i]
		for _, stmt := range scope.statements(src) {
			err := systemEach(ctx, conn, stmt, func(row systemRow) {
				name, ok := row["keyspace_name"].(string)
				if !ok {
					return // nothing can be said about it
				}
				ks := keyspaces[name]
				if ks == nil {
					ks = &keyspaceRows{name: name}
					keyspaces[name] = ks
				}
				src.add(ks, row)
			})
			var refused RequestError
			switch {
			case err == nil:
			case src.mayLack && (errors.Is(err, CodeInvalid) || errors.Is(err, CodeConfig)):
				// This server has no such table.
			case src.mayLack && errors.As(err, &refused) && !errors.Is(err, CodeOverloaded) && !errors.Is(err, CodeBootstrapping):
				err = fmt.Errorf("read system_schema.%s: %w", src.table, err)
				for _, ks := range keyspaces {
					ks.fault("", "", err)
				}
			default:
				return nil, fmt.Errorf("read system_schema.%s: %w", src.table, err)
			}
		}
	}
	return keyspaces, nil
}
