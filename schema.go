// SPDX-License-Identifier: Apache-2.0

package vecql

import (
	"fmt"
	"maps"
	"slices"
)

// This file holds what the driver tells of a cluster's schema: keyspaces, tables, columns, types, views, indexes, functions and aggregates,
// as the system_schema tables describe them. schema_read.go reads the tables, schema_build.go makes these of their rows, schema_cache.go keeps
// them.

// KeyspaceMetadata describes a keyspace. It and everything below it is shared and never changes: a caller may keep it, but must not modify
// it. Clone returns a copy that it may. A name is spelled as the server keeps it: lower case unless it was quoted.
type KeyspaceMetadata struct {
	Name          string
	DurableWrites bool
	// StrategyClass is the replication strategy's class as the server tells it, with its package on Cassandra.
	StrategyClass string
	// StrategyOptions are the other entries of the replication map, as strings.
	StrategyOptions map[string]any

	// The objects of the keyspace by name; nil in sessions that read keyspaces only (MetadataCacheMode KeyspaceOnly).
	Tables            map[string]*TableMetadata
	MaterializedViews map[string]*MaterializedViewMetadata
	UserTypes         map[string]*UserTypeMetadata
	Indexes           map[string]*IndexMetadata
	// Functions and Aggregates are by name; of overloaded ones the first is under the name alone and each further one under its signature,
	// e.g. "f(int, text)".
	Functions  map[string]*FunctionMetadata
	Aggregates map[string]*AggregateMetadata

	// Faults say what could not be read, each is a *SchemaError. A type that is not known is a CustomType with the server's text; a row
	// without a name is left out. The other objects are complete.
	Faults []error

	types map[string]UDTTypeInfo // what a column's type may name
	print uint64                 // of the keyspace's own row
}

// SchemaError says which object of a schema could not be read in full.
type SchemaError struct {
	Keyspace string
	Object   string // table, view, type, function, aggregate or index; empty: the keyspace, or a whole kind of objects
	Column   string // or field; empty: the object itself
	Err      error
}

func (e *SchemaError) Error() string {
	name := e.Keyspace
	for _, part := range []string{e.Object, e.Column} {
		if part != "" {
			name += "." + part
		}
	}
	return fmt.Sprintf("vecql: schema of %s: %v", name, e.Err)
}

// Unwrap returns Err.
func (e *SchemaError) Unwrap() error { return e.Err }

// TableMetadata describes a table.
type TableMetadata struct {
	Keyspace string
	Name     string
	Id       UUID
	// PartitionKey and ClusteringColumns are in the order of the primary key.
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	Columns           map[string]*ColumnMetadata
	// OrderedColumns are the names in the order of SELECT *: partition key, clustering columns, static ones, the others.
	OrderedColumns []string
	Options        TableMetadataOptions
	// Flags are Cassandra's: compound, dense, counter, super.
	Flags []string

	print uint64
}

// TableMetadataOptions are the options of a table or a view. One that the server does not have is zero.
type TableMetadataOptions struct {
	AdditionalWritePolicy   string
	BloomFilterFpChance     float64
	CDC                     map[string]string // ScyllaDB; on Cassandra {"enabled": "true"} where it is on
	Caching                 map[string]string
	Comment                 string
	Compaction              map[string]string
	Compression             map[string]string
	CrcCheckChance          float64
	DcLocalReadRepairChance float64
	DefaultTimeToLive       int // seconds
	Extensions              map[string][]byte
	GcGraceSeconds          int
	MaxIndexInterval        int
	MemtableFlushPeriodInMs int
	MinIndexInterval        int
	Partitioner             string // ScyllaDB: of this table, where it is not the cluster's
	ReadRepair              string
	ReadRepairChance        float64
	SpeculativeRetry        string
}

// ColumnKind says what a column is for.
type ColumnKind int

// The kinds of columns.
const (
	ColumnUnkownKind    ColumnKind = iota // gocql's spelling
	ColumnPartitionKey                    // part of the partition key
	ColumnClusteringKey                   // part of the clustering key
	ColumnRegular                         // one value for each row
	ColumnCompact                         // the value of a table WITH COMPACT STORAGE
	ColumnStatic                          // one value for each partition
)

var columnKinds = map[string]ColumnKind{
	"partition_key": ColumnPartitionKey, "clustering": ColumnClusteringKey, "regular": ColumnRegular, "compact_value": ColumnCompact,
	"static": ColumnStatic,
}

// String returns the kind as system_schema.columns names it, or "unknown".
func (k ColumnKind) String() string {
	for name, kind := range columnKinds {
		if kind == k {
			return name
		}
	}
	return "unknown"
}

// ColumnOrder is the order of rows by a clustering column.
type ColumnOrder bool

// The orders.
const (
	ASC  ColumnOrder = false
	DESC ColumnOrder = true
)

// ColumnMetadata describes a column of a table or a view.
type ColumnMetadata struct {
	Keyspace        string
	Table           string
	Name            string
	ComponentIndex  int // position in the partition key or among the clustering columns, from 0; -1 elsewhere
	Kind            ColumnKind
	Validator       string // the type as the server writes it in CQL, with frozen
	Type            TypeInfo
	ClusteringOrder string // "asc", "desc", or "none" for what is no clustering column
	Order           ColumnOrder
	Index           ColumnIndexMetadata // the zero value: none. IndexMetadata tells more, where a column has several.
}

// ColumnIndexMetadata describes a column's index.
type ColumnIndexMetadata struct {
	Name    string
	Type    string // KEYS, COMPOSITES or CUSTOM
	Options map[string]any
}

// IndexMetadata describes a secondary index.
type IndexMetadata struct {
	Keyspace string
	Table    string
	Name     string
	Kind     string            // KEYS, COMPOSITES or CUSTOM
	Options  map[string]string // "target" is what is indexed, "class_name" the implementation of a CUSTOM one

	print uint64
}

// UserTypeMetadata describes a user-defined type. FieldNames and FieldTypes are of equal length.
type UserTypeMetadata struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []TypeInfo

	print uint64
}

// TypeInfo returns the type as columns of it have it.
func (t *UserTypeMetadata) TypeInfo() UDTTypeInfo {
	udt := UDTTypeInfo{Keyspace: t.Keyspace, Name: t.Name, Elements: make([]UDTField, len(t.FieldNames))}
	for i, name := range t.FieldNames {
		udt.Elements[i] = UDTField{Name: name, Type: t.FieldTypes[i]}
	}
	return udt
}

// FunctionMetadata describes a user-defined function. ArgumentTypes and ArgumentNames are of equal length.
type FunctionMetadata struct {
	Keyspace          string
	Name              string
	ArgumentTypes     []TypeInfo
	ArgumentNames     []string
	Body              string
	CalledOnNullInput bool
	Language          string
	ReturnType        TypeInfo

	signature string
	print     uint64
}

// AggregateMetadata describes a user-defined aggregate. Of a function that is not in the keyspace only Keyspace and Name are set; an
// aggregate without a final function has the zero value.
type AggregateMetadata struct {
	Keyspace      string
	Name          string
	ArgumentTypes []TypeInfo
	FinalFunc     FunctionMetadata
	InitCond      string // CQL; empty: NULL
	ReturnType    TypeInfo
	StateFunc     FunctionMetadata
	StateType     TypeInfo

	signature string
	print     uint64
}

// MaterializedViewMetadata describes a materialized view.
type MaterializedViewMetadata struct {
	Keyspace          string
	Name              string
	Id                UUID
	BaseTableId       UUID
	BaseTable         *TableMetadata // nil when it could not be read
	IncludeAllColumns bool
	WhereClause       string
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	Columns           map[string]*ColumnMetadata
	OrderedColumns    []string // as in TableMetadata
	TableMetadataOptions

	baseName string
	print    uint64
}

// Clone returns a copy that shares nothing with k but the TypeInfo values, which are immutable. nil gives nil; so it is for all metadata.
func (k *KeyspaceMetadata) Clone() *KeyspaceMetadata {
	if k == nil {
		return nil
	}
	c := *k
	c.StrategyOptions = maps.Clone(k.StrategyOptions)
	c.Tables = cloneAll(k.Tables)
	c.MaterializedViews = cloneAll(k.MaterializedViews)
	for _, v := range c.MaterializedViews {
		v.BaseTable = c.Tables[v.baseName]
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

// sameColumns returns the columns of those names.
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

// Clone returns a copy, its base table included; see KeyspaceMetadata.Clone.
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
