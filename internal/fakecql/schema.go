// SPDX-License-Identifier: Apache-2.0

package fakecql

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The tables of system_schema.

// A Schema responds to statements on system_schema from rows. Hold Mu to change its fields while the cluster serves.
type Schema struct {
	Mu    sync.Mutex
	Rows  map[string][]Row // by table, in the order of the primary key
	Lacks map[string]int32 // error codes of tables that are refused
	Page  int              // page size in rows; 0 means one page
	asked []string
}

// schemaColumns are the columns of the tables of Cassandra 5, and of one table that ScyllaDB adds.
var schemaColumns = map[string][]Column{
	"keyspaces": Columns("keyspace_name text", "durable_writes boolean", "replication map<text, text>"),
	"tables": Columns(
		"keyspace_name text", "table_name text", "id uuid", "flags set<text>", "additional_write_policy text",
		"bloom_filter_fp_chance double", "caching map<text, text>", "cdc boolean", "comment text",
		"compaction map<text, text>", "compression map<text, text>", "crc_check_chance double", "default_time_to_live int",
		"extensions map<text, blob>", "gc_grace_seconds int", "max_index_interval int", "memtable_flush_period_in_ms int",
		"min_index_interval int", "read_repair text", "speculative_retry text",
	),
	"columns": Columns(
		"keyspace_name text", "table_name text", "column_name text", "clustering_order text", "column_name_bytes blob",
		"kind text", "position int", "type text",
	),
	"types": Columns("keyspace_name text", "type_name text", "field_names list<text>", "field_types list<text>"),
	"views": Columns(
		"keyspace_name text", "view_name text", "base_table_id uuid", "base_table_name text", "id uuid",
		"include_all_columns boolean", "where_clause text", "comment text", "gc_grace_seconds int",
	),
	"indexes": Columns("keyspace_name text", "table_name text", "index_name text", "kind text", "options map<text, text>"),
	"functions": Columns(
		"keyspace_name text", "function_name text", "argument_types list<text>", "argument_names list<text>", "body text",
		"called_on_null_input boolean", "language text", "return_type text",
	),
	"aggregates": Columns(
		"keyspace_name text", "aggregate_name text", "argument_types list<text>", "final_func text", "initcond text",
		"return_type text", "state_func text", "state_type text",
	),
	"scylla_tables": Columns("keyspace_name text", "table_name text", "cdc map<text, text>", "partitioner text"),
}

// A Row holds the values of a row by column. Columns left out are NULL.
type Row = map[string]any

// NewSchema returns the schema of a cluster without user tables. ScyllaDB's tables are refused.
func NewSchema() *Schema {
	s := &Schema{Rows: map[string][]Row{}, Lacks: map[string]int32{"scylla_tables": codeInvalid}}
	s.Keyspace("system", "org.apache.cassandra.locator.LocalStrategy", nil)
	s.Table("system", "local", "key text partition_key", "data blob")
	return s
}

// Add appends rows to a table of system_schema.
func (s *Schema) Add(table string, rows ...Row) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	s.Rows[table] = append(s.Rows[table], rows...)
}

// Keyspace adds a keyspace with the replication strategy class.
func (s *Schema) Keyspace(name, class string, options map[string]string) {
	replication := map[string]string{"class": class}
	for k, v := range options {
		replication[k] = v
	}
	s.Add("keyspaces", Row{"keyspace_name": name, "durable_writes": true, "replication": replication})
}

// Table adds a table with columns.
func (s *Schema) Table(keyspace, name string, columns ...string) {
	s.Add("tables", Row{
		"keyspace_name": keyspace, "table_name": name, "id": [16]byte{1, byte(len(name))},
		"flags": []string{"compound"}, "comment": "of " + name,
	})
	s.Columns(keyspace, name, columns...)
}

// Columns adds columns to a table. Each text is a name, a type and, except for regular columns, a kind: "id int
// partition_key", "at int clustering desc", "s int static".
func (s *Schema) Columns(keyspace, table string, columns ...string) {
	positions := map[string]int{}
	for _, c := range columns {
		name, rest, _ := strings.Cut(c, " ")
		kind, order := "regular", "none"
		for _, k := range []string{"partition_key", "clustering", "static"} {
			if t, ok := strings.CutSuffix(rest, " "+k); ok {
				rest, kind = t, k
			}
			if t, ok := strings.CutSuffix(rest, " clustering desc"); ok {
				rest, kind, order = t, "clustering", "desc"
			}
		}
		if kind == "clustering" && order == "none" {
			order = "asc"
		}
		position := -1
		if kind == "partition_key" || kind == "clustering" {
			position = positions[kind]
			positions[kind]++
		}
		s.Add("columns", Row{
			"keyspace_name": keyspace, "table_name": table, "column_name": name, "clustering_order": order, "kind": kind,
			"position": position, "type": rest,
		})
	}
}

// UserType adds a user-defined type. Each field is a name and a type.
func (s *Schema) UserType(keyspace, name string, fields ...string) {
	var names, types []string
	for _, f := range fields {
		n, t, _ := strings.Cut(f, " ")
		names, types = append(names, n), append(types, t)
	}
	s.Add("types", Row{"keyspace_name": keyspace, "type_name": name, "field_names": names, "field_types": types})
}

// Drop removes the rows of a table, view or type, or of the whole keyspace if name is empty.
func (s *Schema) Drop(keyspace, name string) {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	for table, rows := range s.Rows {
		s.Rows[table] = slices.DeleteFunc(rows, func(r Row) bool {
			return r["keyspace_name"] == keyspace &&
				(name == "" || r["table_name"] == name || r["view_name"] == name || r["type_name"] == name)
		})
	}
}

// Reads returns the statements received since the last call of Reads. The pages of one statement count once.
func (s *Schema) Reads() []string {
	s.Mu.Lock()
	defer s.Mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

var schemaStatement = regexp.MustCompile(`^SELECT \* FROM system_schema\.(\w+)(?: WHERE keyspace_name = '((?:[^']|'')*)')?(?: AND (\w+) = '((?:[^']|'')*)')?$`)

// Answer responds to a statement on system_schema, and reports whether the request is one.
func (s *Schema) Answer(r *Request) bool {
	m := schemaStatement.FindStringSubmatch(r.Stmt)
	if r.Op != OpQuery || m == nil {
		return false
	}
	s.Mu.Lock()
	defer s.Mu.Unlock()
	if len(r.State) == 0 {
		s.asked = append(s.asked, r.Stmt)
	}
	if code, ok := s.Lacks[m[1]]; ok {
		r.Fail(code)
		return true
	}
	unquote := func(s string) string { return strings.ReplaceAll(s, "''", "'") }
	res := Rows{Columns: schemaColumns[m[1]]}
	from, _ := strconv.Atoi(string(r.State))
	n := 0
	for i, row := range s.Rows[m[1]] {
		if m[2] != "" && row["keyspace_name"] != unquote(m[2]) || m[3] != "" && row[m[3]] != unquote(m[4]) || i < from {
			continue
		}
		if n++; s.Page > 0 && n > s.Page {
			res.State = strconv.Itoa(i)
			break
		}
		for _, c := range res.Columns {
			if v := row[c.Name]; v == nil {
				res.Cells = append(res.Cells, nil)
			} else {
				res.Cells = append(res.Cells, Cell(c.Type, v))
			}
		}
	}
	r.Rows(res)
	return true
}
