// SPDX-License-Identifier: Apache-2.0

package nullserver

import (
	"encoding/binary"
	"net"
	"strings"
)

// System tables: one node that owns the whole ring, one keyspace, one table with its partition key.

// field is a column of a system table, with its cell in the only row.
type field struct {
	name string
	typ  Type
	cell string
}

// none is an empty collection, or the int 0.
const none = "\x00\x00\x00\x00"

// withRow are the tables with a row.
var withRow = map[string]bool{
	"system.local": true, "system_schema.keyspaces": true, "system_schema.tables": true, "system_schema.columns": true,
}

const hostID = "\x01\x23\x45\x67\x89\xab\x4d\xef\x81\x23\x45\x67\x89\xab\xcd\xef"

// systemTables returns the columns of each system table. Tables of withRow have one row, the others none.
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
			{"keyspace_name", Text, "ks"},
			{"table_name", Text, "vectors"},
			{"comment", Text, ""},
			{"flags", Set(Text), none},
			{"id", UUID, hostID},
			{"extensions", Map(Text, Blob), none},
			{"compaction", options, none},
			{"compression", options, none},
			{"caching", options, none},
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
			{"keyspace_name", Text, "ks"},
			{"table_name", Text, "vectors"},
			{"column_name", Text, "id"},
			{"clustering_order", Text, "none"},
			{"column_name_bytes", Blob, "id"},
			{"kind", Text, "partition_key"},
			{"position", Int, none},
			{"type", Text, "uuid"},
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
	if withRow[table] {
		s.Row = func(dst []byte, _ int) []byte { return append(dst, row...) }
	}
	return s
}
