// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// This file holds the system_schema tables of the tests' nodes.

// fakeSchema answers statements on system_schema from rows.
type fakeSchema struct {
	mu    sync.Mutex
	rows  map[string][]map[string]any // by table, in the order of the primary key
	lacks map[string]Code             // tables that are refused
	page  int                         // rows in a page; 0: all
	asked []string                    // statements, all pages of one once
}

var schemaText, schemaMap, schemaList = native(TypeVarchar), NewMapType(native(TypeVarchar), native(TypeVarchar)), NewListType(native(TypeVarchar))

// schemaColumns are the columns of the tables, as Cassandra 5 has them.
var schemaColumns = map[string][]ColumnInfo{
	"keyspaces": {col("keyspace_name", schemaText), col("durable_writes", native(TypeBoolean)), col("replication", schemaMap)},
	"tables": {
		col("keyspace_name", schemaText), col("table_name", schemaText), col("id", native(TypeUUID)), col("flags", NewSetType(schemaText)),
		col("additional_write_policy", schemaText), col("bloom_filter_fp_chance", native(TypeDouble)), col("caching", schemaMap),
		col("cdc", native(TypeBoolean)), col("comment", schemaText), col("compaction", schemaMap), col("compression", schemaMap),
		col("crc_check_chance", native(TypeDouble)), col("default_time_to_live", native(TypeInt)),
		col("extensions", NewMapType(schemaText, native(TypeBlob))), col("gc_grace_seconds", native(TypeInt)),
		col("max_index_interval", native(TypeInt)), col("memtable_flush_period_in_ms", native(TypeInt)),
		col("min_index_interval", native(TypeInt)), col("read_repair", schemaText), col("speculative_retry", schemaText),
	},
	"columns": {
		col("keyspace_name", schemaText), col("table_name", schemaText), col("column_name", schemaText), col("clustering_order", schemaText),
		col("column_name_bytes", native(TypeBlob)), col("kind", schemaText), col("position", native(TypeInt)), col("type", schemaText),
	},
	"types": {col("keyspace_name", schemaText), col("type_name", schemaText), col("field_names", schemaList), col("field_types", schemaList)},
	"views": {
		col("keyspace_name", schemaText), col("view_name", schemaText), col("base_table_id", native(TypeUUID)), col("base_table_name", schemaText),
		col("id", native(TypeUUID)), col("include_all_columns", native(TypeBoolean)), col("where_clause", schemaText),
		col("comment", schemaText), col("gc_grace_seconds", native(TypeInt)),
	},
	"indexes": {
		col("keyspace_name", schemaText), col("table_name", schemaText), col("index_name", schemaText), col("kind", schemaText), col("options", schemaMap),
	},
	"functions": {
		col("keyspace_name", schemaText), col("function_name", schemaText), col("argument_types", schemaList), col("argument_names", schemaList),
		col("body", schemaText), col("called_on_null_input", native(TypeBoolean)), col("language", schemaText), col("return_type", schemaText),
	},
	"aggregates": {
		col("keyspace_name", schemaText), col("aggregate_name", schemaText), col("argument_types", schemaList), col("final_func", schemaText),
		col("initcond", schemaText), col("return_type", schemaText), col("state_func", schemaText), col("state_type", schemaText),
	},
	"scylla_tables": {
		col("keyspace_name", schemaText), col("table_name", schemaText), col("cdc", schemaMap), col("partitioner", schemaText),
	},
}

type row = map[string]any

func newFakeSchema() *fakeSchema {
	s := &fakeSchema{rows: map[string][]map[string]any{}, lacks: map[string]Code{"scylla_tables": CodeInvalid}}
	s.keyspace("system", "org.apache.cassandra.locator.LocalStrategy", nil)
	s.table("system", "local", "key text partition_key", "data blob")
	return s
}

func (s *fakeSchema) add(table string, rows ...map[string]any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rows[table] = append(s.rows[table], rows...)
}

func (s *fakeSchema) keyspace(name, class string, options map[string]string) {
	replication := map[string]string{"class": class}
	for k, v := range options {
		replication[k] = v
	}
	s.add("keyspaces", row{"keyspace_name": name, "durable_writes": true, "replication": replication})
}

// table adds a table with columns such as "id int partition_key", where only keys and statics say what they are.
func (s *fakeSchema) table(keyspace, name string, columns ...string) {
	s.add("tables", row{"keyspace_name": keyspace, "table_name": name, "id": UUID{1, byte(len(name))}, "flags": []string{"compound"}, "comment": "of " + name})
	s.columns(keyspace, name, columns...)
}

func (s *fakeSchema) columns(keyspace, table string, columns ...string) {
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
		s.add("columns", row{
			"keyspace_name": keyspace, "table_name": table, "column_name": name, "clustering_order": order, "kind": kind, "position": position, "type": rest,
		})
	}
}

func (s *fakeSchema) userType(keyspace, name string, fields ...string) {
	var names, types []string
	for _, f := range fields {
		n, t, _ := strings.Cut(f, " ")
		names, types = append(names, n), append(types, t)
	}
	s.add("types", row{"keyspace_name": keyspace, "type_name": name, "field_names": names, "field_types": types})
}

// drop removes the rows of a table or type, or of a keyspace when the name is empty.
func (s *fakeSchema) drop(keyspace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for table, rows := range s.rows {
		s.rows[table] = slices.DeleteFunc(rows, func(r map[string]any) bool {
			return r["keyspace_name"] == keyspace && (name == "" || r["table_name"] == name || r["view_name"] == name || r["type_name"] == name)
		})
	}
}

// reads returns the statements since it was called last.
func (s *fakeSchema) reads() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

var schemaStatement = regexp.MustCompile(`^SELECT \* FROM system_schema\.(\w+)(?: WHERE keyspace_name = '((?:[^']|'')*)')?(?: AND (\w+) = '((?:[^']|'')*)')?$`)

// answer answers a statement on system_schema and reports whether it was one.
func (s *fakeSchema) answer(r *fakeRequest) bool {
	m := schemaStatement.FindStringSubmatch(r.stmt)
	if r.op != opQuery || m == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(r.state) == 0 {
		s.asked = append(s.asked, r.stmt)
	}
	if code, ok := s.lacks[m[1]]; ok {
		r.fail(code)
		return true
	}
	unquote := func(s string) string { return strings.ReplaceAll(s, "''", "'") }
	res := fakeResult{columns: schemaColumns[m[1]]}
	from, _ := strconv.Atoi(string(r.state))
	n := 0
	for i, row := range s.rows[m[1]] {
		if m[2] != "" && row["keyspace_name"] != unquote(m[2]) || m[3] != "" && row[m[3]] != unquote(m[4]) || i < from {
			continue
		}
		if n++; s.page > 0 && n > s.page {
			res.state = strconv.Itoa(i)
			break
		}
		for _, c := range res.columns {
			if v := row[c.Name]; v == nil {
				res.cells = append(res.cells, nil)
			} else {
				res.cells = append(res.cells, cellOf(c.TypeInfo, v))
			}
		}
	}
	r.rows(res)
	return true
}
