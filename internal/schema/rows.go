// SPDX-License-Identifier: Apache-2.0

package schema

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"

	"github.com/vecql/vecql/cql"
)

// The rows of one keyspace. Rows are untrusted: a column may be missing, NULL or of another type, and a row may belong
// to no known object. Errors become faults of the object.

// keyspaceRows collects the rows of one keyspace.
type keyspaceRows struct {
	name     string
	keyspace Row // nil means none
	types    []typeRow
	tables   []*cql.TableMetadata
	views    []*cql.MaterializedViewMetadata
	columns  map[string][]*cql.ColumnMetadata // by table or view
	// by table or view: of all its rows, including the rows of its columns and indexes
	tableFingerprints map[string]uint64
	indexes           []*cql.IndexMetadata
	scylla            map[string]Row // by table
	functions         []functionRow
	aggregates        []aggregateRow
	faults            []error
}

// typeRow is a user-defined type with the types of its fields in CQL.
type typeRow struct {
	meta        *cql.UserTypeMetadata
	types       []string
	fingerprint uint64
}

// functionRow is a function with its types in CQL.
type functionRow struct {
	meta        *cql.FunctionMetadata
	arguments   []string
	returns     string
	fingerprint uint64
}

// aggregateRow is an aggregate with its types in CQL, and the names of its functions.
type aggregateRow struct {
	meta                 *cql.AggregateMetadata
	arguments            []string
	returns, state       string
	stateFunc, finalFunc string
	fingerprint          uint64
}

var errNoName = errors.New("row without a name")

// fault adds a *cql.SchemaError. An empty object means the keyspace, an empty column the object.
func (k *keyspaceRows) fault(object, column string, err error) {
	k.faults = append(k.faults, &cql.SchemaError{Keyspace: k.name, Object: object, Column: column, Err: err})
}

// fingerprintOf returns a hash of a row. Rows with equal fingerprints are considered equal.
func fingerprintOf(row Row) uint64 {
	h := fnv.New64a()
	for _, column := range slices.Sorted(maps.Keys(row)) {
		_, _ = fmt.Fprintf(h, "%s=%v\x00", column, row[column]) // fmt prints maps in the order of their keys
	}
	return h.Sum64()
}

// named returns the name in a column. It adds a fault if the row has none.
func (k *keyspaceRows) named(row Row, column string) (string, bool) {
	name, ok := row[column].(string)
	if !ok {
		k.fault("", "", fmt.Errorf("%w in %s", errNoName, column))
	}
	return name, ok
}

func (k *keyspaceRows) addKeyspace(row Row) { k.keyspace = row }

// addType adds a row of system_schema.types.
func (k *keyspaceRows) addType(row Row) {
	name, ok := k.named(row, "type_name")
	if !ok {
		return
	}
	t := &cql.UserTypeMetadata{Keyspace: k.name, Name: name, FieldNames: get[[]string](row, "field_names")}
	types := get[[]string](row, "field_types")
	if len(types) != len(t.FieldNames) {
		k.fault(name, "", fmt.Errorf("%d names for %d fields", len(t.FieldNames), len(types)))
		return
	}
	k.types = append(k.types, typeRow{t, types, fingerprintOf(row)})
}

func (k *keyspaceRows) addTable(row Row) {
	if name, ok := k.named(row, "table_name"); ok {
		k.tables = append(k.tables, &cql.TableMetadata{
			Keyspace: k.name, Name: name, Id: get[cql.UUID](row, "id"), Flags: get[[]string](row, "flags"),
			Options: tableOptions(row),
		})
		k.addFingerprint(name, row)
	}
}

// addFingerprint adds a row to the fingerprint of a table or view. The sum does not depend on the order of the rows.
func (k *keyspaceRows) addFingerprint(table string, row Row) {
	if k.tableFingerprints == nil {
		k.tableFingerprints = map[string]uint64{}
	}
	k.tableFingerprints[table] += fingerprintOf(row)
}

// tableOptions returns the options of a row of system_schema.tables or views.
func tableOptions(row Row) cql.TableMetadataOptions {
	o := cql.TableMetadataOptions{
		AdditionalWritePolicy: get[string](row, "additional_write_policy"),
		BloomFilterFpChance:   get[float64](row, "bloom_filter_fp_chance"), Caching: get[map[string]string](row, "caching"),
		Comment: get[string](row, "comment"), Compaction: get[map[string]string](row, "compaction"),
		Compression: get[map[string]string](row, "compression"), CrcCheckChance: get[float64](row, "crc_check_chance"),
		DcLocalReadRepairChance: get[float64](row, "dclocal_read_repair_chance"),
		DefaultTimeToLive:       get[int](row, "default_time_to_live"), Extensions: get[map[string][]byte](row, "extensions"),
		GcGraceSeconds: get[int](row, "gc_grace_seconds"), MaxIndexInterval: get[int](row, "max_index_interval"),
		MemtableFlushPeriodInMs: get[int](row, "memtable_flush_period_in_ms"),
		MinIndexInterval:        get[int](row, "min_index_interval"), ReadRepair: get[string](row, "read_repair"),
		ReadRepairChance: get[float64](row, "read_repair_chance"),
		SpeculativeRetry: get[string](row, "speculative_retry"),
	}
	if get[bool](row, "cdc") {
		o.CDC = map[string]string{"enabled": "true"}
	}
	return o
}

func (k *keyspaceRows) addScyllaTable(row Row) {
	if name, ok := k.named(row, "table_name"); ok {
		if k.scylla == nil {
			k.scylla = map[string]Row{}
		}
		k.scylla[name] = row
		k.addFingerprint(name, row)
	}
}

// addColumn adds a row of system_schema.columns. The server has a position for columns of the primary key only.
func (k *keyspaceRows) addColumn(row Row) {
	table, ok := k.named(row, "table_name")
	if !ok {
		return
	}
	name, ok := row["column_name"].(string)
	if !ok {
		k.fault(table, "", fmt.Errorf("%w in column_name", errNoName))
		return
	}
	c := &cql.ColumnMetadata{
		Keyspace: k.name, Table: table, Name: name, ComponentIndex: -1, Kind: columnKind(get[string](row, "kind")),
		Validator: get[string](row, "type"), ClusteringOrder: strings.ToLower(get[string](row, "clustering_order")),
	}
	if p, ok := row["position"].(int); ok && (c.Kind == cql.ColumnPartitionKey || c.Kind == cql.ColumnClusteringKey) {
		c.ComponentIndex = p
	}
	c.Order = c.ClusteringOrder == "desc"
	if k.columns == nil {
		k.columns = map[string][]*cql.ColumnMetadata{}
	}
	k.columns[table] = append(k.columns[table], c)
	k.addFingerprint(table, row)
}

// columnKind returns the kind for its text in system_schema.columns.
func columnKind(text string) cql.ColumnKind {
	for kind := cql.ColumnPartitionKey; kind <= cql.ColumnStatic; kind++ {
		if kind.String() == text {
			return kind
		}
	}
	return cql.ColumnUnkownKind
}

func (k *keyspaceRows) addView(row Row) {
	if name, ok := k.named(row, "view_name"); ok {
		k.views = append(k.views, &cql.MaterializedViewMetadata{
			Keyspace: k.name, Name: name, Id: get[cql.UUID](row, "id"), BaseTableId: get[cql.UUID](row, "base_table_id"),
			IncludeAllColumns: get[bool](row, "include_all_columns"), WhereClause: get[string](row, "where_clause"),
			TableMetadataOptions: tableOptions(row), BaseTableName: get[string](row, "base_table_name"),
		})
	}
}

func (k *keyspaceRows) addIndex(row Row) {
	if name, ok := k.named(row, "index_name"); ok {
		i := &cql.IndexMetadata{
			Keyspace: k.name, Table: get[string](row, "table_name"), Name: name, Kind: get[string](row, "kind"),
			Options: get[map[string]string](row, "options"),
		}
		k.indexes = append(k.indexes, i)
		k.addFingerprint(i.Table, row)
	}
}

// addFunction adds a row of system_schema.functions. The name may be overloaded: a function is identified by name and
// argument types.
func (k *keyspaceRows) addFunction(row Row) {
	name, ok := k.named(row, "function_name")
	if !ok {
		return
	}
	f := functionRow{
		meta: &cql.FunctionMetadata{
			Keyspace: k.name, Name: name, ArgumentNames: get[[]string](row, "argument_names"), Body: get[string](row, "body"),
			CalledOnNullInput: get[bool](row, "called_on_null_input"), Language: get[string](row, "language"),
		},
		arguments: get[[]string](row, "argument_types"), returns: get[string](row, "return_type"),
		fingerprint: fingerprintOf(row),
	}
	if len(f.arguments) != len(f.meta.ArgumentNames) {
		k.fault(name, "", fmt.Errorf("%d names for %d arguments", len(f.meta.ArgumentNames), len(f.arguments)))
		return
	}
	k.functions = append(k.functions, f)
}

func (k *keyspaceRows) addAggregate(row Row) {
	if name, ok := k.named(row, "aggregate_name"); ok {
		k.aggregates = append(k.aggregates, aggregateRow{
			meta:      &cql.AggregateMetadata{Keyspace: k.name, Name: name, InitCond: get[string](row, "initcond")},
			arguments: get[[]string](row, "argument_types"), returns: get[string](row, "return_type"),
			state: get[string](row, "state_type"), stateFunc: get[string](row, "state_func"),
			finalFunc: get[string](row, "final_func"), fingerprint: fingerprintOf(row),
		})
	}
}
