// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"encoding/binary"
	"net"
	"strings"
)

// System tables: one node that owns the whole ring, one keyspace, no tables.

// field is a column of a system table, with its cell in the only row.
type field struct {
	name string
	typ  Type
	cell string
}

const hostID = "\x01\x23\x45\x67\x89\xab\x4d\xef\x81\x23\x45\x67\x89\xab\xcd\xef"

// systemTables returns the columns of each system table. The first two tables have one row, the others none.
func systemTables(addr *net.TCPAddr) map[string][]field {
	ip, port := string(addr.IP.To4()), string(binary.BigEndian.AppendUint32(nil, uint32(addr.Port)))
	replication := "\x00\x00\x00\x02"
	for _, s := range []string{"class", "org.apache.cassandra.locator.SimpleStrategy", "replication_factor", "1"} {
		replication += string(Cell(nil, s))
	}
	list, options := List(Text), Map(Text, Text)
	return map[string][]field{
		"system.local": {
			{"key", Text, "local"},
			{"bootstrapped", Text, "COMPLETED"},
			{"broadcast_address", Inet, ip},
			{"broadcast_port", Int, port},
			{"cluster_name", Text, "null"},
			{"cql_version", Text, "3.4.7"},
			{"data_center", Text, "dc1"},
			{"host_id", UUID, hostID},
			{"listen_address", Inet, ip},
			{"listen_port", Int, port},
			{"native_protocol_version", Text, "5"},
			{"partitioner", Text, "org.apache.cassandra.dht.Murmur3Partitioner"},
			{"rack", Text, "r1"},
			{"release_version", Text, "5.0.0"},
			{"rpc_address", Inet, ip},
			{"rpc_port", Int, port},
			{"schema_version", UUID, hostID},
			{"tokens", Set(Text), "\x00\x00\x00\x01\x00\x00\x00\x010"},
		},
		"system_schema.keyspaces": {
			{"keyspace_name", Text, "ks"}, {"durable_writes", Boolean, "\x01"}, {"replication", options, replication},
		},
		"system.peers": {
			{"peer", Inet, ""},
			{"data_center", Text, ""},
			{"host_id", UUID, ""},
			{"preferred_ip", Inet, ""},
			{"rack", Text, ""},
			{"release_version", Text, ""},
			{"rpc_address", Inet, ""},
			{"schema_version", UUID, ""},
			{"tokens", Set(Text), ""},
		},
		"system.peers_v2": {
			{"peer", Inet, ""},
			{"peer_port", Int, ""},
			{"data_center", Text, ""},
			{"host_id", UUID, ""},
			{"native_address", Inet, ""},
			{"native_port", Int, ""},
			{"preferred_ip", Inet, ""},
			{"preferred_port", Int, ""},
			{"rack", Text, ""},
			{"release_version", Text, ""},
			{"schema_version", UUID, ""},
			{"tokens", Set(Text), ""},
		},
		"system_schema.tables": {
			{"keyspace_name", Text, ""},
			{"table_name", Text, ""},
			{"comment", Text, ""},
			{"flags", Set(Text), ""},
			{"id", UUID, ""},
			{"extensions", Map(Text, Blob), ""},
			{"compaction", options, ""},
			{"compression", options, ""},
			{"caching", options, ""},
		},
		"system_schema.views": {
			{"keyspace_name", Text, ""},
			{"view_name", Text, ""},
			{"base_table_name", Text, ""},
			{"base_table_id", UUID, ""},
			{"id", UUID, ""},
			{"include_all_columns", Boolean, ""},
			{"where_clause", Text, ""},
		},
		"system_schema.columns": {
			{"keyspace_name", Text, ""},
			{"table_name", Text, ""},
			{"column_name", Text, ""},
			{"clustering_order", Text, ""},
			{"column_name_bytes", Blob, ""},
			{"kind", Text, ""},
			{"position", Int, ""},
			{"type", Text, ""},
		},
		"system_schema.types": {
			{"keyspace_name", Text, ""},
			{"type_name", Text, ""},
			{"field_names", list, ""},
			{"field_types", list, ""},
		},
		"system_schema.indexes": {
			{"keyspace_name", Text, ""},
			{"table_name", Text, ""},
			{"index_name", Text, ""},
			{"kind", Text, ""},
			{"options", options, ""},
		},
		"system_schema.functions": {
			{"keyspace_name", Text, ""},
			{"function_name", Text, ""},
			{"argument_types", list, ""},
			{"argument_names", list, ""},
			{"body", Text, ""},
			{"called_on_null_input", Boolean, ""},
			{"language", Text, ""},
			{"return_type", Text, ""},
		},
		"system_schema.aggregates": {
			{"keyspace_name", Text, ""},
			{"aggregate_name", Text, ""},
			{"argument_types", list, ""},
			{"final_func", Text, ""},
			{"initcond", Text, ""},
			{"return_type", Text, ""},
			{"state_func", Text, ""},
			{"state_type", Text, ""},
		},
	}
}

// systemStatement returns the statement for a SELECT from a system table, nil if there is no such table or column,
// which is an error in Cassandra too.
func systemStatement(tables map[string][]field, text string) *Statement {
	words := strings.Fields(text)
	from := -1
	for i, w := range words {
		if strings.EqualFold(w, "from") {
			from = i
			break
		}
	}
	if from < 1 || from+1 >= len(words) || !strings.EqualFold(words[0], "select") {
		return nil
	}
	table := strings.ToLower(strings.TrimRight(words[from+1], ";"))
	fields, ok := tables[table]
	if !ok {
		return nil
	}
	s := &Statement{Text: text}
	var row []byte
	for _, name := range strings.Split(strings.Join(words[1:from], ""), ",") {
		found := false
		for _, f := range fields {
			if name == "*" || strings.EqualFold(name, f.name) {
				s.Rows = append(s.Rows, Column{f.name, f.typ})
				row = Cell(row, f.cell)
				found = true
			}
		}
		if !found {
			return nil
		}
	}
	for i := range strings.Count(text, "?") { // every bind marker is a name
		s.Bind = append(s.Bind, Column{fields[i].name, Text})
	}
	if table == "system.local" || table == "system_schema.keyspaces" {
		s.Row = func(dst []byte, _ int) []byte { return append(dst, row...) }
	}
	return s
}
