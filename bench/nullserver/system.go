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

const hostID = "\x01\x23\x45\x67\x89\xab\x4d\xef\x81\x23\x45\x67\x89\xab\xcd\xef"

// columnTypes are the types of the columns of system tables, by their names in the lists below. A column without a type
// is a text.
var columnTypes = map[string]Type{
	"blob": Blob, "boolean": Boolean, "inet": Inet, "int": Int, "list": List(Text), "map": Map(Text, Text),
	"blobs": Map(Text, Blob), "set": Set(Text), "uuid": UUID, "": Text,
}

// emptyTables are the columns of the system tables that have no rows: a name, and a type after a colon.
var emptyTables = map[string]string{
	"system.peers": `peer:inet data_center host_id:uuid preferred_ip:inet rack release_version rpc_address:inet schema_version:uuid
		tokens:set`,
	"system.peers_v2": `peer:inet peer_port:int data_center host_id:uuid native_address:inet native_port:int preferred_ip:inet
		preferred_port:int rack release_version schema_version:uuid tokens:set`,
	"system_schema.views": `keyspace_name view_name base_table_name base_table_id:uuid id:uuid include_all_columns:boolean
		where_clause`,
	"system_schema.types":   "keyspace_name type_name field_names:list field_types:list",
	"system_schema.indexes": "keyspace_name table_name index_name kind options:map",
	"system_schema.functions": `keyspace_name function_name argument_types:list argument_names:list body
		called_on_null_input:boolean language return_type`,
	"system_schema.aggregates": `keyspace_name aggregate_name argument_types:list final_func initcond return_type state_func
		state_type`,
}

// fieldsOf returns the columns of a list. Those that cells names have that cell.
func fieldsOf(list string, cells map[string]string) (fields []field) {
	for _, column := range strings.Fields(list) {
		name, typ, _ := strings.Cut(column, ":")
		fields = append(fields, field{name, columnTypes[typ], cells[name]})
	}
	return fields
}

// systemTables returns the columns of each system table, with the cells of the only row of those that have one.
func systemTables(addr *net.TCPAddr) map[string][]field {
	ip, port := string(addr.IP.To4()), string(binary.BigEndian.AppendUint32(nil, uint32(addr.Port)))
	replication := "\x00\x00\x00\x02"
	for _, s := range []string{"class", "org.apache.cassandra.locator.SimpleStrategy", "replication_factor", "1"} {
		replication += string(Cell(nil, s))
	}
	tables := map[string][]field{
		"system.local": fieldsOf(`key bootstrapped broadcast_address:inet broadcast_port:int cluster_name cql_version data_center
			host_id:uuid listen_address:inet listen_port:int native_protocol_version partitioner rack release_version
			rpc_address:inet rpc_port:int schema_version:uuid tokens:set`, map[string]string{
			"key": "local", "bootstrapped": "COMPLETED", "broadcast_address": ip, "broadcast_port": port,
			"cluster_name": "null", "cql_version": "3.4.7", "data_center": "dc1", "host_id": hostID, "listen_address": ip,
			"listen_port": port, "native_protocol_version": "5",
			"partitioner": "org.apache.cassandra.dht.Murmur3Partitioner", "rack": "r1", "release_version": "5.0.0",
			"rpc_address": ip, "rpc_port": port, "schema_version": hostID, "tokens": "\x00\x00\x00\x01\x00\x00\x00\x010",
		}),
		"system_schema.keyspaces": fieldsOf("keyspace_name durable_writes:boolean replication:map", map[string]string{
			"keyspace_name": "ks", "durable_writes": "\x01", "replication": replication,
		}),
		"system_schema.tables": fieldsOf(`keyspace_name table_name comment flags:set id:uuid extensions:blobs compaction:map
			compression:map caching:map`, map[string]string{
			"keyspace_name": "ks", "table_name": "vectors", "flags": none, "id": hostID, "extensions": none,
			"compaction": none, "compression": none, "caching": none,
		}),
		"system_schema.columns": fieldsOf(`keyspace_name table_name column_name clustering_order column_name_bytes:blob kind
			position:int type`, map[string]string{
			"keyspace_name": "ks", "table_name": "vectors", "column_name": "id", "clustering_order": "none",
			"column_name_bytes": "id", "kind": "partition_key", "position": none, "type": "uuid",
		}),
	}
	for name, list := range emptyTables {
		tables[name] = fieldsOf(list, nil)
	}
	return tables
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
	if emptyTables[table] == "" {
		s.Row = func(dst []byte, _ int) []byte { return append(dst, row...) }
	}
	return s
}
