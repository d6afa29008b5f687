// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"fmt"
	"maps"
	"slices"
)

// Schema metadata: keyspaces, tables, columns, types, views, indexes, functions and aggregates, as described by the
// system_schema tables of Cassandra (SchemaKeyspace) and ScyllaDB (docs/dev/system_schema_keyspace.md).

// A KeyspaceMetadata describes a keyspace. A session returns the same value to all callers. It never changes; a caller
// may keep it but must not modify it or anything it points to. Clone returns a copy that the caller owns. Names are
// spelled as the server stores them: in lower case unless they were quoted.
type KeyspaceMetadata struct {
	Name          string
	DurableWrites bool
	// StrategyClass is the class of the replication strategy as the server writes it. Cassandra writes it with its Java
	// package.
	StrategyClass string
	// StrategyOptions are the other entries of the replication map. All values are strings. A list of racks of ScyllaDB
	// is an entry for each rack: "dc1:0", "dc1:1".
	StrategyOptions map[string]any

	// The objects of the keyspace by name. The maps are nil in a session that reads keyspaces only (MetadataKeyspaces).
	Tables            map[string]*TableMetadata
	MaterializedViews map[string]*MaterializedViewMetadata
	UserTypes         map[string]*UserTypeMetadata
	Indexes           map[string]*IndexMetadata
	// Functions and Aggregates are keyed by name. Of several functions with one name, the first is under that name,
	// each further one under its signature, e.g. "f(int, text)".
	Functions  map[string]*FunctionMetadata
	Aggregates map[string]*AggregateMetadata

	// Faults lists the objects that could not be read. Each element is a *SchemaError. A type that could not be parsed
	// becomes a CustomType with the server's text, and a row without a name is left out. All other objects are
	// complete.
	Faults []error
}

// A SchemaError means that an object of a schema could not be read in full.
type SchemaError struct {
	Keyspace string
	Object   string // table, view, type, function, aggregate or index; empty for the keyspace or a whole kind of objects
	Column   string // column or field; empty for the object itself
	Err      error
}

func (e *SchemaError) Error() string {
	name := e.Keyspace
	for _, part := range []string{e.Object, e.Column} {
		if part != "" {
			name += "." + part
		}
	}
	return fmt.Sprintf("vecql: schema of %s: %s", name, unprefixed(e.Err))
}

// Unwrap returns Err.
func (e *SchemaError) Unwrap() error { return e.Err }

// A TableMetadata describes a table.
type TableMetadata struct {
	Keyspace string
	Name     string
	Id       UUID
	// PartitionKey and ClusteringColumns are in the order of the primary key, and point to the values of Columns.
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	Columns           map[string]*ColumnMetadata
	// OrderedColumns are the names of the columns in the order of SELECT *: partition key, clustering columns, static
	// columns, the others.
	OrderedColumns []string
	Options        TableMetadataOptions
	// Flags are the flags of system_schema.tables: compound, dense, counter, super.
	Flags []string
}

// A TableMetadataOptions holds the options of a table or a view. An option that the server does not support has the
// zero value.
type TableMetadataOptions struct {
	AdditionalWritePolicy string
	BloomFilterFpChance   float64
	// ScyllaDB's options; {"enabled": "true"} on Cassandra where CDC is on, else nil
	CDC                     map[string]string
	Caching                 map[string]string
	Comment                 string
	Compaction              map[string]string
	Compression             map[string]string
	CrcCheckChance          float64
	DcLocalReadRepairChance float64
	DefaultTimeToLive       int // seconds
	Extensions              map[string][]byte
	GcGraceSeconds          int // seconds
	MaxIndexInterval        int
	MemtableFlushPeriodInMs int // milliseconds
	MinIndexInterval        int
	Partitioner             string // ScyllaDB; empty means the cluster's partitioner
	ReadRepair              string
	ReadRepairChance        float64
	SpeculativeRetry        string
}

// A ColumnKind is the role of a column in its table.
type ColumnKind int

// The kinds of columns.
const (
	ColumnUnkownKind    ColumnKind = iota // a kind unknown to the driver; the spelling is gocql's
	ColumnPartitionKey                    // part of the partition key
	ColumnClusteringKey                   // part of the clustering key
	ColumnRegular                         // one value for each row
	ColumnCompact                         // the value of a table WITH COMPACT STORAGE
	ColumnStatic                          // one value for each partition
)

var columnKinds = [...]string{
	ColumnUnkownKind: "unknown", ColumnPartitionKey: "partition_key", ColumnClusteringKey: "clustering",
	ColumnRegular: "regular", ColumnCompact: "compact_value", ColumnStatic: "static",
}

// String returns the kind as system_schema.columns writes it, or "unknown".
func (k ColumnKind) String() string {
	if k < 0 || int(k) >= len(columnKinds) {
		k = ColumnUnkownKind
	}
	return columnKinds[k]
}

// A ColumnOrder is the order of rows by a clustering column.
type ColumnOrder bool

// The orders of a clustering column.
const (
	ASC  ColumnOrder = false
	DESC ColumnOrder = true
)

// A ColumnMetadata describes a column of a table or a view.
type ColumnMetadata struct {
	Keyspace        string
	Table           string // table or view
	Name            string
	ComponentIndex  int // position in the partition key or among the clustering columns, from 0; -1 for other columns
	Kind            ColumnKind
	Validator       string // the type as the server writes it in CQL, with frozen
	Type            TypeInfo
	ClusteringOrder string // "asc" or "desc"; "none" for other columns
	Order           ColumnOrder
	// the zero value means none; KeyspaceMetadata.Indexes lists all indexes of a column
	Index ColumnIndexMetadata
}

// A ColumnIndexMetadata describes an index of a column.
type ColumnIndexMetadata struct {
	Name    string
	Type    string // KEYS, COMPOSITES or CUSTOM
	Options map[string]any
}

// An IndexMetadata describes a secondary index.
type IndexMetadata struct {
	Keyspace string
	Table    string
	Name     string
	Kind     string // KEYS, COMPOSITES or CUSTOM
	// "target" is the indexed column, a function of it, or JSON that has it (ScyllaDB). "class_name" is the class of a
	// CUSTOM index
	Options map[string]string
}

// A UserTypeMetadata describes a user-defined type. FieldNames and FieldTypes have the same length.
type UserTypeMetadata struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []TypeInfo
}

// TypeInfo returns t as the type of columns.
func (t *UserTypeMetadata) TypeInfo() UDTTypeInfo {
	udt := UDTTypeInfo{Keyspace: t.Keyspace, Name: t.Name, Elements: make([]UDTField, len(t.FieldNames))}
	for i, name := range t.FieldNames {
		udt.Elements[i] = UDTField{Name: name, Type: t.FieldTypes[i]}
	}
	return udt
}

// A FunctionMetadata describes a user-defined function. ArgumentTypes and ArgumentNames have the same length.
type FunctionMetadata struct {
	Keyspace          string
	Name              string
	ArgumentTypes     []TypeInfo
	ArgumentNames     []string
	Body              string
	CalledOnNullInput bool
	Language          string
	ReturnType        TypeInfo
}

// An AggregateMetadata describes a user-defined aggregate. A StateFunc or FinalFunc from outside the keyspace has only
// Keyspace and Name. The zero FinalFunc means none.
type AggregateMetadata struct {
	Keyspace      string
	Name          string
	ArgumentTypes []TypeInfo
	FinalFunc     FunctionMetadata
	InitCond      string // a CQL literal; empty means NULL
	ReturnType    TypeInfo
	StateFunc     FunctionMetadata
	StateType     TypeInfo
}

// A MaterializedViewMetadata describes a materialized view.
type MaterializedViewMetadata struct {
	Keyspace          string
	Name              string
	Id                UUID
	BaseTableId       UUID
	BaseTableName     string         // in the same keyspace
	BaseTable         *TableMetadata // nil when the keyspace has no such table
	IncludeAllColumns bool
	WhereClause       string // CQL
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	Columns           map[string]*ColumnMetadata
	OrderedColumns    []string // as in TableMetadata
	TableMetadataOptions
}

// Clone returns a copy that shares only the TypeInfo values and the Faults with k; these are immutable. The clone of
// nil is nil. Both hold for the Clone methods of all metadata.
func (k *KeyspaceMetadata) Clone() *KeyspaceMetadata {
	if k == nil {
		return nil
	}
	c := *k
	c.StrategyOptions = maps.Clone(k.StrategyOptions)
	c.Tables = cloneAll(k.Tables)
	c.MaterializedViews = cloneAll(k.MaterializedViews)
	for _, v := range c.MaterializedViews {
		if v.BaseTable != nil {
			v.BaseTable = c.Tables[v.BaseTable.Name]
		}
	}
	c.UserTypes = cloneAll(k.UserTypes)
	c.Indexes = cloneAll(k.Indexes)
	c.Functions = cloneAll(k.Functions)
	c.Aggregates = cloneAll(k.Aggregates)
	c.Faults = slices.Clone(k.Faults)
	return &c
}

// cloneAll clones the values of a map.
func cloneAll[T interface{ Clone() T }](m map[string]T) map[string]T {
	if m == nil {
		return nil
	}
	c := make(map[string]T, len(m))
	for name, v := range m {
		c[name] = v.Clone()
	}
	return c
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (t *TableMetadata) Clone() *TableMetadata {
	if t == nil {
		return nil
	}
	c := *t
	c.Columns = cloneAll(t.Columns)
	c.PartitionKey = sameColumns(c.Columns, t.PartitionKey)
	c.ClusteringColumns = sameColumns(c.Columns, t.ClusteringColumns)
	c.OrderedColumns = slices.Clone(t.OrderedColumns)
	c.Options = t.Options.clone()
	c.Flags = slices.Clone(t.Flags)
	return &c
}

// sameColumns returns the columns with the names of the given ones.
func sameColumns(columns map[string]*ColumnMetadata, of []*ColumnMetadata) []*ColumnMetadata {
	if of == nil {
		return nil
	}
	same := make([]*ColumnMetadata, len(of))
	for i, c := range of {
		same[i] = columns[c.Name]
	}
	return same
}

// clone returns a copy that shares no map and no slice with o.
func (o TableMetadataOptions) clone() TableMetadataOptions {
	o.CDC, o.Caching = maps.Clone(o.CDC), maps.Clone(o.Caching)
	o.Compaction, o.Compression = maps.Clone(o.Compaction), maps.Clone(o.Compression)
	if o.Extensions != nil {
		extensions := make(map[string][]byte, len(o.Extensions))
		for k, v := range o.Extensions {
			extensions[k] = slices.Clone(v)
		}
		o.Extensions = extensions
	}
	return o
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (c *ColumnMetadata) Clone() *ColumnMetadata {
	if c == nil {
		return nil
	}
	clone := *c
	clone.Index.Options = maps.Clone(c.Index.Options)
	return &clone
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (i *IndexMetadata) Clone() *IndexMetadata {
	if i == nil {
		return nil
	}
	c := *i
	c.Options = maps.Clone(i.Options)
	return &c
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (t *UserTypeMetadata) Clone() *UserTypeMetadata {
	if t == nil {
		return nil
	}
	c := *t
	c.FieldNames, c.FieldTypes = slices.Clone(t.FieldNames), slices.Clone(t.FieldTypes)
	return &c
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (f *FunctionMetadata) Clone() *FunctionMetadata {
	if f == nil {
		return nil
	}
	c := *f
	c.ArgumentTypes, c.ArgumentNames = slices.Clone(f.ArgumentTypes), slices.Clone(f.ArgumentNames)
	return &c
}

// Clone returns a copy; see KeyspaceMetadata.Clone.
func (a *AggregateMetadata) Clone() *AggregateMetadata {
	if a == nil {
		return nil
	}
	c := *a
	c.ArgumentTypes = slices.Clone(a.ArgumentTypes)
	c.FinalFunc, c.StateFunc = *a.FinalFunc.Clone(), *a.StateFunc.Clone()
	return &c
}

// Clone returns a copy with a copy of its base table; see KeyspaceMetadata.Clone.
func (v *MaterializedViewMetadata) Clone() *MaterializedViewMetadata {
	if v == nil {
		return nil
	}
	c := *v
	c.BaseTable = v.BaseTable.Clone()
	c.Columns = cloneAll(v.Columns)
	c.PartitionKey = sameColumns(c.Columns, v.PartitionKey)
	c.ClusteringColumns = sameColumns(c.Columns, v.ClusteringColumns)
	c.OrderedColumns = slices.Clone(v.OrderedColumns)
	c.TableMetadataOptions = v.TableMetadataOptions.clone()
	return &c
}
