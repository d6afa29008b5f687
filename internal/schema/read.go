// SPDX-License-Identifier: Apache-2.0

package schema

import "strings"

// The queries for the system_schema tables, and their rows.

// A Scope is the part of the schema to read: the cluster, a keyspace, or some tables of a keyspace.
type Scope struct {
	Keyspace      string   // empty means all keyspaces
	Tables        []string // tables and views of Keyspace; nil means the keyspace with everything in it
	KeyspacesOnly bool     // leave out everything in keyspaces
}

// A Query reads rows of one system_schema table.
type Query struct {
	Table     string // without the keyspace, e.g. "columns"
	Statement string // CQL without bind markers
	Optional  bool   // a server may lack the table or deny access to it

	add func(*keyspaceRows, Row)
}

// source is one of the system_schema tables.
type source struct {
	table     string
	name      string // the column with the table or view name; empty if rows belong to neither
	optional  bool
	keyspaces bool // read in every scope
	add       func(*keyspaceRows, Row)
}

var sources = []source{
	{table: "keyspaces", keyspaces: true, add: (*keyspaceRows).addKeyspace},
	{table: "types", optional: true, add: (*keyspaceRows).addType},
	{table: "tables", name: "table_name", add: (*keyspaceRows).addTable},
	{table: "columns", name: "table_name", add: (*keyspaceRows).addColumn},
	{table: "views", name: "view_name", optional: true, add: (*keyspaceRows).addView},
	{table: "indexes", name: "table_name", optional: true, add: (*keyspaceRows).addIndex},
	{table: "scylla_tables", name: "table_name", optional: true, add: (*keyspaceRows).addScyllaTable},
	{table: "functions", optional: true, add: (*keyspaceRows).addFunction},
	{table: "aggregates", optional: true, add: (*keyspaceRows).addAggregate},
}

// Queries returns the queries for the scope, in the order in which they should run.
func (s Scope) Queries() []Query {
	queries := make([]Query, 0, len(sources))
	for i := range sources {
		src := &sources[i]
		for _, stmt := range s.statements(src) {
			queries = append(queries, Query{Table: src.table, Statement: stmt, Optional: src.optional, add: src.add})
		}
	}
	return queries
}

// statements returns the statements for the scope's part of a source; nil means none.
func (s Scope) statements(src *source) []string {
	stmt := "SELECT * FROM system_schema." + src.table
	switch {
	case s.KeyspacesOnly && !src.keyspaces:
		return nil
	case s.Keyspace == "":
		return []string{stmt}
	}
	stmt += " WHERE keyspace_name = " + QuoteText(s.Keyspace)
	switch {
	case s.Tables == nil, src.keyspaces:
		return []string{stmt}
	case src.name == "":
		return nil
	}
	stmts := make([]string, len(s.Tables))
	for i, t := range s.Tables {
		stmts[i] = stmt + " AND " + src.name + " = " + QuoteText(t)
	}
	return stmts
}

// QuoteText returns s as a CQL string literal.
func QuoteText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// A Row is a row of a system_schema table: values by column name. The values have the Go types that the driver decodes
// into an any: string, bool, int, float64, cql.UUID, []string, map[string]string, map[string][]byte. A nil value, or
// one of another type, counts as NULL.
type Row = map[string]any

// get returns the value of a column, or the zero value if it is NULL, missing, or of another type.
func get[T any](row Row, column string) T {
	v, _ := row[column].(T)
	return v
}

// A Rows collects the rows of a scope.
type Rows struct {
	scope     Scope
	keyspaces map[string]*keyspaceRows
}

// NewRows returns an empty collection for the rows of scope.
func NewRows(scope Scope) *Rows { return &Rows{scope: scope, keyspaces: map[string]*keyspaceRows{}} }

// Add adds a row returned by q. It keeps row. It ignores a row without a keyspace name.
func (r *Rows) Add(q *Query, row Row) {
	name, ok := row["keyspace_name"].(string)
	if !ok {
		return
	}
	ks := r.keyspaces[name]
	if ks == nil {
		ks = &keyspaceRows{name: name}
		r.keyspaces[name] = ks
	}
	q.add(ks, row)
}

// AddFault adds err to the faults of each keyspace with rows: a query failed, and the keyspaces are built without its
// rows.
func (r *Rows) AddFault(err error) {
	for _, ks := range r.keyspaces {
		ks.fault("", "", err)
	}
}

// Update applies the rows to keyspaces, by name: it replaces the part in the scope, and removes objects without a row.
// It does not modify existing Keyspace values. For a scope of tables, keyspaces must contain the scope's keyspace.
// Update may be called once, because the metadata takes ownership of the rows.
func (r *Rows) Update(keyspaces map[string]*Keyspace) {
	if r.scope.Keyspace == "" {
		clear(keyspaces)
		for name, k := range r.keyspaces {
			if k.keyspace != nil {
				keyspaces[name] = k.build(r.scope.KeyspacesOnly)
			}
		}
		return
	}
	name := r.scope.Keyspace
	switch k := r.keyspaces[name]; {
	case k == nil || k.keyspace == nil:
		delete(keyspaces, name)
	case r.scope.Tables == nil:
		keyspaces[name] = k.build(r.scope.KeyspacesOnly)
	default:
		keyspaces[name] = k.merge(keyspaces[name], r.scope.Tables)
	}
}
