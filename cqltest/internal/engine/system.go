// SPDX-License-Identifier: Apache-2.0

package engine

import (
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"strings"
	"time"
)

// Tables of system_schema as in Cassandra 5, and conversion of virtual rows into a store.

const schemaKeyspace = "system_schema"

// addSystem adds the tables that describe the schema.
func (e *Engine) addSystem() {
	add := func(name, columns string, rows func(s *schema) []map[string]any) {
		e.AddVirtual(Virtual{
			Keyspace: schemaKeyspace, Name: name, Columns: columns,
			Rows: func(any) []map[string]any { return nil }, of: rows,
		})
	}
	add("keyspaces", "keyspace_name text p; durable_writes boolean; replication frozen<map<text,text>>", keyspaceRows)
	tables := `keyspace_name text p; table_name text c;
		additional_write_policy text; allow_auto_snapshot boolean; bloom_filter_fp_chance double;
		caching frozen<map<text,text>>; cdc boolean; comment text; compaction frozen<map<text,text>>; compression frozen<map<text,text>>; crc_check_chance double;
		dclocal_read_repair_chance double; default_time_to_live int; extensions frozen<map<text,blob>>; flags frozen<set<text>>; gc_grace_seconds int; id uuid;
		incremental_backups boolean; max_index_interval int; memtable text; memtable_flush_period_in_ms int; min_index_interval int;
		read_repair text; read_repair_chance double; speculative_retry text`
	add("tables", tables, tableRows)
	add("columns", `keyspace_name text p; table_name text c; column_name text c; clustering_order text; column_name_bytes blob; kind text;
		position int; type text`, columnRows)
	add("column_masks", `keyspace_name text p; table_name text c; column_name text c; function_argument_nulls frozen<list<boolean>>;
		function_argument_types frozen<list<text>>; function_argument_values frozen<list<text>>; function_keyspace text; function_name text`,
		nil)
	add("dropped_columns", `keyspace_name text p; table_name text c; column_name text c; dropped_time timestamp; kind text; type text`,
		droppedRows)
	add("types", "keyspace_name text p; type_name text c; field_names frozen<list<text>>; field_types frozen<list<text>>", typeRows)
	add("indexes", "keyspace_name text p; table_name text c; index_name text c; kind text; options frozen<map<text,text>>",
		indexRows)
	add("triggers", "keyspace_name text p; table_name text c; trigger_name text c; options frozen<map<text,text>>", nil)
	add("functions", `keyspace_name text p; function_name text c; argument_types frozen<list<text>> c; argument_names frozen<list<text>>; body text;
		called_on_null_input boolean; language text; return_type text`, nil)
	add("aggregates", `keyspace_name text p; aggregate_name text c; argument_types frozen<list<text>> c; final_func text; initcond text;
		return_type text; state_func text; state_type text`, nil)
	views := strings.Replace(tables, "table_name text c;", "view_name text c;", 1) +
		"; base_table_id uuid; base_table_name text; include_all_columns boolean; where_clause text"
	add("views", strings.Replace(views, "flags frozen<set<text>>; ", "", 1), nil)
	if e.options.Scylla {
		add("scylla_tables", `keyspace_name text p; table_name text c; cdc frozen<map<text,text>>; per_partition_rate_limit frozen<map<text,text>>; version uuid;
			partitioner text`, scyllaTableRows)
		if e.options.has(optionalFrom) {
			e.AddVirtual(Virtual{
				Keyspace: "system", Name: "one_row", Columns: "system$dummy text p",
				Rows: func(any) []map[string]any { return []map[string]any{{"system$dummy": "row"}} }, // ScyllaDB has an empty key
			})
		}
		add("scylla_keyspaces", `keyspace_name text p; storage_options frozen<map<text,text>>; storage_type text; initial_tablets int;
			consistency text`, e.scyllaKeyspaceRows)
		return
	}
	e.addVirtualSchema()
}

// addVirtualSchema adds the tables that describe virtual tables.
func (e *Engine) addVirtualSchema() {
	add := func(name, comment, columns string, rows func(s *schema) []map[string]any) {
		e.AddVirtual(Virtual{
			Keyspace: "system_virtual_schema", Name: name, Comment: comment, Columns: columns,
			Rows: func(any) []map[string]any {
				s := &schema{keyspaces: map[string]*keyspace{}}
				for name, k := range e.schema.Load().keyspaces {
					if virtualKeyspaces[name] {
						s.keyspaces[name] = k
					}
				}
				return rows(s)
			},
		})
	}
	add("keyspaces", "virtual keyspace definitions", "keyspace_name text p", keyspaceRows)
	add("tables", "virtual table definitions", "keyspace_name text p; table_name text c; comment text", tableRows)
	add("columns", "virtual column definitions", `keyspace_name text p; table_name text c; column_name text c;
		clustering_order text; column_name_bytes blob; kind text; position int; type text`, columnRows)
}

// tangible returns the schema without the keyspaces of virtual tables.
func (s *schema) tangible() *schema {
	out := &schema{version: s.version, keyspaces: make(map[string]*keyspace, len(s.keyspaces))}
	for name, k := range s.keyspaces {
		if !virtualKeyspaces[name] {
			out.keyspaces[name] = k
		}
	}
	return out
}

func keyspaceRows(s *schema) []map[string]any {
	var out []map[string]any
	for _, k := range s.keyspaces {
		out = append(out, map[string]any{"keyspace_name": k.name, "durable_writes": k.durable, "replication": k.replication})
	}
	return out
}

// eachTable calls f for each table.
func (s *schema) eachTable(f func(k *keyspace, t *table)) {
	for _, k := range s.keyspaces {
		for t := range k.tables.all() {
			f(k, t)
		}
	}
}

// tableRows returns the rows of system_schema.tables.
func tableRows(s *schema) []map[string]any {
	var out []map[string]any
	s.eachTable(func(_ *keyspace, t *table) {
		flags := []string{"compound"}
		if t.counter {
			flags = []string{"compound", "counter"}
		}
		r := map[string]any{"keyspace_name": t.ks, "table_name": t.name, "id": t.id, "flags": flags}
		for name, v := range t.options.values {
			switch name {
			case "id", "extensions", "cdc": // cdc has a value only where the server has CDC enabled
				continue
			case "allow_auto_snapshot", "incremental_backups":
				if v == true {
					continue
				}
			}
			r[name] = v
		}
		r["extensions"] = int32Bytes(0)
		out = append(out, r)
	})
	return out
}

func scyllaTableRows(s *schema) []map[string]any {
	var out []map[string]any
	s.eachTable(func(_ *keyspace, t *table) {
		r := map[string]any{"keyspace_name": t.ks, "table_name": t.name, "version": t.id}
		if cdc := t.options.captureOptions(); cdc != nil {
			r["cdc"] = cdc
		}
		if limit := t.options.values["per_partition_rate_limit"]; limit != nil {
			r["per_partition_rate_limit"] = limit
		}
		if t.isLog {
			r["partitioner"] = "com.scylladb.dht.CDCPartitioner"
		}
		out = append(out, r)
	})
	return out
}

// scyllaKeyspaceRows returns the rows of system_schema.scylla_keyspaces: the keyspaces with tablets, and the ones with
// the option consistency.
func (e *Engine) scyllaKeyspaceRows(s *schema) []map[string]any {
	var out []map[string]any
	for _, k := range s.keyspaces {
		row := map[string]any{"keyspace_name": k.name}
		if e.options.Tablets && k.usesTablets() {
			row["initial_tablets"] = k.initial
		}
		if k.consistency != "" {
			row["consistency"] = k.consistency
		}
		if len(row) > 1 {
			out = append(out, row)
		}
	}
	return out
}

// columnRows returns the rows of system_schema.columns.
func columnRows(s *schema) []map[string]any {
	var out []map[string]any
	s.eachTable(func(_ *keyspace, t *table) {
		for _, c := range t.all {
			order, position := "none", -1
			if c.isKey() {
				position = c.pos
			}
			if c.kind == Clustering {
				order = map[bool]string{false: "asc", true: "desc"}[c.desc]
			}
			out = append(out, map[string]any{
				"keyspace_name": t.ks, "table_name": t.name, "column_name": c.name, "clustering_order": order,
				"column_name_bytes": []byte(c.name), "kind": c.kind.String(), "position": position, "type": c.typ.String(),
			})
		}
	})
	return out
}

// droppedRows returns the rows of system_schema.dropped_columns.
func droppedRows(s *schema) []map[string]any {
	var out []map[string]any
	s.eachTable(func(_ *keyspace, t *table) {
		for _, d := range t.dropped {
			out = append(out, map[string]any{
				"keyspace_name": t.ks, "table_name": t.name, "column_name": d.name,
				"dropped_time": time.UnixMicro(d.at), "kind": d.kind.String(), "type": d.typ.String(),
			})
		}
	})
	return out
}

// typeRows returns the rows of system_schema.types.
func typeRows(s *schema) []map[string]any {
	var out []map[string]any
	for _, k := range s.keyspaces {
		for _, t := range k.types {
			types := make([]string, len(t.Elems))
			for i, e := range t.Elems {
				types[i] = e.String()
			}
			out = append(out, map[string]any{
				"keyspace_name": k.name, "type_name": t.Name, "field_names": t.Fields,
				"field_types": types,
			})
		}
	}
	return out
}

// indexRows returns the rows of system_schema.indexes.
func indexRows(s *schema) []map[string]any {
	var out []map[string]any
	s.eachTable(func(_ *keyspace, t *table) {
		for _, i := range t.indexes {
			options := map[string]string{"target": i.target}
			for k, v := range i.options {
				options[k] = v
			}
			out = append(out, map[string]any{
				"keyspace_name": t.ks, "table_name": t.name, "index_name": i.name, "kind": i.kind,
				"options": options,
			})
		}
	})
	return out
}

// only returns the part of the schema with the keyspaces (nil means all) and the table of this name ("" means all),
// without the keyspaces of virtual tables. A driver reads the tables of a large schema one by one.
func (s *schema) only(keyspaces [][]byte, name string) *schema {
	all := s.tangible().keyspaces
	if keyspaces != nil {
		part := make(map[string]*keyspace, len(keyspaces))
		for _, name := range keyspaces {
			if k := all[string(name)]; k != nil {
				part[k.name] = k
			}
		}
		all = part
	}
	if name == "" {
		return &schema{keyspaces: all}
	}
	for _, k := range all {
		part := *k
		part.tables = tableMap{}
		if t := k.tables.get(name); t != nil {
			part.tables = part.tables.with(t)
		}
		all[k.name] = &part
	}
	return &schema{keyspaces: all}
}

// virtualRows returns the rows of a virtual table. Of tables that describe the schema it may return only those that the
// query can select.
func (p *selectPlan) virtualRows(x *env, node any, keys [][]byte) []map[string]any {
	v := p.t.virtual
	if v.of == nil {
		return v.Rows(node)
	}
	name := ""
	for _, r := range p.where.ck {
		if r.isEq() && len(r.cols) == 1 && r.cols[0].name == "table_name" {
			if b, err := r.value.eval(x); err == nil && !isUnset(b) {
				name = string(b)
			}
		}
	}
	return v.of(x.e.schema.Load().only(keys, name))
}

// materialize returns a store with the rows of a virtual table.
func (t *table) materialize(rows []map[string]any) (*store, error) {
	s := newStore()
	for _, values := range rows {
		cells := make(map[*column][]byte, len(values))
		for name, v := range values {
			c := t.byName[name]
			if c == nil {
				continue // an option without a column
			}
			b, err := encode(c.typ, v)
			if err != nil {
				return nil, &Error{Code: CodeServer, Message: fmt.Sprintf("%s.%s.%s: %v", t.ks, t.name, name, err)}
			}
			if b != nil {
				cells[c] = b
			}
		}
		parts := make([][]byte, len(t.pk))
		for i, c := range t.pk {
			parts[i] = cells[c]
		}
		key, err := partitionKey(parts)
		if err != nil {
			return nil, err
		}
		clustering := make([][]byte, len(t.ck))
		for i, c := range t.ck {
			if clustering[i] = cells[c]; clustering[i] == nil {
				return nil, &Error{Code: CodeServer, Message: fmt.Sprintf("%s.%s: a row has no %s", t.ks, t.name, c.name)}
			}
		}
		p := s.partition(key, parts)
		r := newRow(clustering)
		r.marker = cell{value: []byte{}, ts: 0}
		for _, c := range t.rest {
			if b := cells[c]; b != nil {
				r.setWhole(c, b)
			}
		}
		p.put(t, r, false)
	}
	return s, nil
}

// setWhole sets a column of a row that is being built.
func (r *row) setWhole(c *column, b []byte) {
	d := r.own(c)
	if !d.complex {
		d.cell = cell{value: b}
		return
	}
	parts, err := splitCollection(c.typ, b)
	if err != nil {
		return
	}
	width := len(c.typ.Elems)
	for i := 0; i+width <= len(parts); i += width {
		e := element{path: parts[i], cell: cell{value: parts[i+width-1]}}
		if c.typ.Kind == KindList {
			e.path = listPath(int64(i))
		}
		d.put(c.typ, e)
	}
}

// encode serializes a Go value; see Virtual.Rows.
func encode(t *Type, v any) ([]byte, error) {
	var b []byte
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []byte:
		b = v
	case string:
		if t.Kind != KindText && t.Kind != KindASCII {
			return t.parseText(v)
		}
		b = []byte(v)
	case bool:
		b = boolBytes(v)
	case int:
		return encodeInt(t, int64(v))
	case int64:
		return encodeInt(t, v)
	case float64:
		return number{f: v, k: 'f'}.to(t)
	case [16]byte:
		b = v[:]
	case netip.Addr:
		b = v.Unmap().AsSlice()
	case time.Time:
		b = int64Bytes(v.UnixMilli())
	case []string:
		parts := make([][]byte, len(v))
		for i, s := range v {
			var err error
			if parts[i], err = encode(t.Elems[0], s); err != nil {
				return nil, err
			}
		}
		if t.Kind == KindSet {
			return joinSorted(t, parts), nil
		}
		b = joinCollection(t, parts)
	case map[string]string:
		if t.Kind != KindMap {
			return nil, fmt.Errorf("a map cannot be stored as %s", t)
		}
		var parts [][]byte
		for key, value := range v {
			k, err := encode(t.Elems[0], key)
			if err != nil {
				return nil, err
			}
			val, err := encode(t.Elems[1], value)
			if err != nil {
				return nil, err
			}
			parts = append(parts, k, val)
		}
		return joinSorted(t, parts), nil
	default:
		return nil, fmt.Errorf("%T cannot be stored as %s", v, t)
	}
	if b == nil {
		return nil, nil
	}
	if err := t.check(b); err != nil {
		return nil, fmt.Errorf("0x%s: %w", hex.EncodeToString(b[:min(len(b), 64)]), err)
	}
	return b, nil
}

// encodeInt returns a Go integer of a virtual row as a value of type t.
func encodeInt(t *Type, v int64) ([]byte, error) {
	switch t.Kind {
	case KindInt:
		if v < math.MinInt32 || v > math.MaxInt32 {
			return nil, fmt.Errorf("%d overflows int", v)
		}
		return int32Bytes(int32(v)), nil
	case KindBigInt, KindTimestamp:
		return int64Bytes(v), nil
	case KindDouble, KindFloat:
		return number{f: float64(v), k: 'f'}.to(t)
	}
	return nil, fmt.Errorf("an int cannot be stored as %s", t)
}
