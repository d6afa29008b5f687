// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"maps"
	"slices"

	"github.com/vecql/vecql"
	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Schema metadata in this API's shape.

// The names of columns of tables that were created through Thrift.
const (
	DEFAULT_KEY_ALIAS    = "key"
	DEFAULT_COLUMN_ALIAS = "column"
	DEFAULT_VALUE_ALIAS  = "value"
)

// Classes of the server, as system tables of Cassandra 2 name them.
const (
	REVERSED_TYPE   = api.MarshalPackage + "ReversedType"
	COMPOSITE_TYPE  = api.MarshalPackage + "CompositeType"
	COLLECTION_TYPE = api.MarshalPackage + "ColumnToCollectionType"
	LIST_TYPE       = api.MarshalPackage + "ListType"
	SET_TYPE        = api.MarshalPackage + "SetType"
	MAP_TYPE        = api.MarshalPackage + "MapType"
)

// A KeyspaceMetadata describes a keyspace. It must not be changed.
type KeyspaceMetadata struct {
	Name            string
	DurableWrites   bool
	StrategyClass   string
	StrategyOptions map[string]any
	Tables          map[string]*TableMetadata
	Functions       map[string]*FunctionMetadata
	Aggregates      map[string]*AggregateMetadata
	// Views are the user-defined types: the name is a mistake that the API keeps.
	//
	// Deprecated: use UserTypes or MaterializedViews.
	Views             map[string]*ViewMetadata
	MaterializedViews map[string]*MaterializedViewMetadata
	UserTypes         map[string]*UserTypeMetadata
}

// A TableMetadata describes a table. The fields from KeyValidator to ValueAlias are empty: servers since Cassandra 3
// have no such columns.
type TableMetadata struct {
	Keyspace          string
	Name              string
	KeyValidator      string
	Comparator        string
	DefaultValidator  string
	KeyAliases        []string
	ColumnAliases     []string
	ValueAlias        string
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	Columns           map[string]*ColumnMetadata
	OrderedColumns    []string
}

// A ColumnMetadata describes a column.
type ColumnMetadata struct {
	Keyspace        string
	Table           string
	Name            string
	ComponentIndex  int
	Kind            ColumnKind
	Validator       string
	Type            TypeInfo
	ClusteringOrder string
	Order           ColumnOrder
	Index           ColumnIndexMetadata
}

// A ColumnIndexMetadata describes the index of a column.
type ColumnIndexMetadata = cql.ColumnIndexMetadata

// A FunctionMetadata describes a user-defined function.
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

// An AggregateMetadata describes a user-defined aggregate.
type AggregateMetadata struct {
	Keyspace      string
	Name          string
	ArgumentTypes []TypeInfo
	FinalFunc     FunctionMetadata
	InitCond      string
	ReturnType    TypeInfo
	StateFunc     FunctionMetadata
	StateType     TypeInfo
}

// A ViewMetadata describes a user-defined type.
//
// Deprecated: use UserTypeMetadata.
type ViewMetadata struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []TypeInfo
}

// A MaterializedViewMetadata describes a materialized view.
type MaterializedViewMetadata struct {
	Keyspace                string
	Name                    string
	BaseTableId             UUID
	BaseTable               *TableMetadata
	BloomFilterFpChance     float64
	Caching                 map[string]string
	Comment                 string
	Compaction              map[string]string
	Compression             map[string]string
	CrcCheckChance          float64
	DcLocalReadRepairChance float64
	DefaultTimeToLive       int
	Extensions              map[string]string
	GcGraceSeconds          int
	Id                      UUID
	IncludeAllColumns       bool
	MaxIndexInterval        int
	MemtableFlushPeriodInMs int
	MinIndexInterval        int
	ReadRepairChance        float64
	SpeculativeRetry        string
}

// A UserTypeMetadata describes a user-defined type.
type UserTypeMetadata struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []TypeInfo
}

// A ColumnOrder is the order of rows by a clustering column.
type ColumnOrder bool

// The orders of a clustering column.
const (
	ASC  ColumnOrder = false
	DESC ColumnOrder = true
)

// A ColumnKind is the role of a column in its table.
type ColumnKind int

// The kinds of columns.
const (
	ColumnUnkownKind ColumnKind = iota
	ColumnPartitionKey
	ColumnClusteringKey
	ColumnRegular
	ColumnCompact
	ColumnStatic
)

// String returns the name of the kind.
func (c ColumnKind) String() string { return api.ColumnKindText(c) }

// UnmarshalCQL implements Unmarshaler, for the column kind of system_schema.columns.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError(fmt.Sprintf("gocql: unmarshal a ColumnKind from %v, want varchar", typ))
	}
	return api.DecodeColumnKind(c, string(p))
}

// KeyspaceMetadata returns the metadata of a keyspace. Callers get the same value until the schema changes.
func (s *Session) KeyspaceMetadata(keyspace string) (*KeyspaceMetadata, error) {
	session, err := s.started()
	if err != nil {
		return nil, err
	}
	k, err := session.KeyspaceMetadata(keyspace)
	if err != nil {
		return nil, plain(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.schema[keyspace]
	if known.of != k {
		known = keyspaceSchema{of: k, converted: (&schemaConverter{s.proto()}).keyspace(k)}
		if s.schema == nil {
			s.schema = make(map[string]keyspaceSchema)
		}
		s.schema[keyspace] = known
	}
	return known.converted, nil
}

// keyspaceSchema is the metadata of a keyspace in both shapes.
type keyspaceSchema struct {
	of        *vecql.KeyspaceMetadata
	converted *KeyspaceMetadata
}

// schemaConverter converts metadata from vecql's shape.
type schemaConverter struct{ proto byte }

func (c *schemaConverter) typ(t cql.TypeInfo) TypeInfo       { return fromCQL(t, c.proto) }
func (c *schemaConverter) types(t []cql.TypeInfo) []TypeInfo { return fromCQLs(t, c.proto) }

// convertAll applies convert to the values of a map.
func convertAll[A, B any](m map[string]*A, convert func(*A) *B) map[string]*B {
	out := make(map[string]*B, len(m))
	for name, v := range m {
		out[name] = convert(v)
	}
	return out
}

func (c *schemaConverter) keyspace(k *cql.KeyspaceMetadata) *KeyspaceMetadata {
	out := &KeyspaceMetadata{
		Name: k.Name, DurableWrites: k.DurableWrites, StrategyClass: k.StrategyClass, StrategyOptions: k.StrategyOptions,
		Tables: convertAll(k.Tables, c.table), Functions: convertAll(k.Functions, c.function),
		Aggregates: convertAll(k.Aggregates, c.aggregate), UserTypes: convertAll(k.UserTypes, c.userType),
	}
	out.Views = convertAll(out.UserTypes, func(t *UserTypeMetadata) *ViewMetadata { return (*ViewMetadata)(t) })
	out.MaterializedViews = make(map[string]*MaterializedViewMetadata, len(k.MaterializedViews))
	for name, v := range k.MaterializedViews {
		out.MaterializedViews[name] = viewOf(v, out.Tables[v.BaseTableName])
	}
	return out
}

func (c *schemaConverter) table(t *cql.TableMetadata) *TableMetadata {
	out := &TableMetadata{
		Keyspace: t.Keyspace, Name: t.Name, Columns: convertAll(t.Columns, c.column),
		OrderedColumns: slices.Sorted(maps.Keys(t.Columns)), // the order of system_schema.columns
	}
	for _, column := range t.PartitionKey {
		out.PartitionKey = append(out.PartitionKey, out.Columns[column.Name])
	}
	for _, column := range t.ClusteringColumns {
		out.ClusteringColumns = append(out.ClusteringColumns, out.Columns[column.Name])
	}
	return out
}

func (c *schemaConverter) column(col *cql.ColumnMetadata) *ColumnMetadata {
	return &ColumnMetadata{
		Keyspace: col.Keyspace, Table: col.Table, Name: col.Name, ComponentIndex: col.ComponentIndex,
		Kind: ColumnKind(col.Kind), Validator: col.Validator, Type: c.typ(col.Type),
		ClusteringOrder: col.ClusteringOrder, Order: ColumnOrder(col.Order), Index: col.Index,
	}
}

func (c *schemaConverter) function(f *cql.FunctionMetadata) *FunctionMetadata {
	return &FunctionMetadata{
		Keyspace: f.Keyspace, Name: f.Name, ArgumentTypes: c.types(f.ArgumentTypes), ArgumentNames: f.ArgumentNames,
		Body: f.Body, CalledOnNullInput: f.CalledOnNullInput, Language: f.Language, ReturnType: c.typ(f.ReturnType),
	}
}

func (c *schemaConverter) aggregate(a *cql.AggregateMetadata) *AggregateMetadata {
	return &AggregateMetadata{
		Keyspace: a.Keyspace, Name: a.Name, ArgumentTypes: c.types(a.ArgumentTypes), FinalFunc: *c.function(&a.FinalFunc),
		InitCond: a.InitCond, ReturnType: c.typ(a.ReturnType), StateFunc: *c.function(&a.StateFunc),
		StateType: c.typ(a.StateType),
	}
}

func (c *schemaConverter) userType(t *cql.UserTypeMetadata) *UserTypeMetadata {
	return &UserTypeMetadata{
		Keyspace: t.Keyspace, Name: t.Name, FieldNames: t.FieldNames, FieldTypes: c.types(t.FieldTypes),
	}
}

func viewOf(v *cql.MaterializedViewMetadata, base *TableMetadata) *MaterializedViewMetadata {
	out := &MaterializedViewMetadata{
		Keyspace: v.Keyspace, Name: v.Name, BaseTableId: v.BaseTableId, BaseTable: base,
		BloomFilterFpChance: v.BloomFilterFpChance, Caching: v.Caching, Comment: v.Comment, Compaction: v.Compaction,
		Compression: v.Compression, CrcCheckChance: v.CrcCheckChance, DcLocalReadRepairChance: v.DcLocalReadRepairChance,
		DefaultTimeToLive: v.DefaultTimeToLive, GcGraceSeconds: v.GcGraceSeconds, Id: v.Id,
		IncludeAllColumns: v.IncludeAllColumns, MaxIndexInterval: v.MaxIndexInterval,
		MemtableFlushPeriodInMs: v.MemtableFlushPeriodInMs, MinIndexInterval: v.MinIndexInterval,
		ReadRepairChance: v.ReadRepairChance, SpeculativeRetry: v.SpeculativeRetry,
		Extensions: make(map[string]string, len(v.Extensions)),
	}
	for name, value := range v.Extensions {
		out.Extensions[name] = string(value)
	}
	return out
}
