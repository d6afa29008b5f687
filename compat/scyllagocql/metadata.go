// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	api "github.com/vecql/vecql/compat/api"
)

// Schema metadata in this API's shape. metadata_read.go reads it.

// A KeyspaceMetadata describes a keyspace.
type KeyspaceMetadata struct {
	StrategyOptions map[string]any
	Tables          map[string]*TableMetadata
	Functions       map[string]*FunctionMetadata
	Aggregates      map[string]*AggregateMetadata
	Types           map[string]*TypeMetadata
	Indexes         map[string]*IndexMetadata
	Views           map[string]*ViewMetadata // materialized views except the views of indexes
	Name            string
	StrategyClass   string
	CreateStmts     string // as the server describes the keyspace; empty if it cannot
	DurableWrites   bool
}

// Clone returns a copy with maps of its own.
func (ks *KeyspaceMetadata) Clone() *KeyspaceMetadata {
	c := *ks
	c.StrategyOptions = maps.Clone(ks.StrategyOptions)
	c.Tables, c.Functions, c.Aggregates = maps.Clone(ks.Tables), maps.Clone(ks.Functions), maps.Clone(ks.Aggregates)
	c.Types, c.Indexes, c.Views = maps.Clone(ks.Types), maps.Clone(ks.Indexes), maps.Clone(ks.Views)
	return &c
}

// ToCQL returns the statements that create the keyspace, as the server describes them.
func (ks *KeyspaceMetadata) ToCQL() (string, error) {
	if ks.CreateStmts == "" {
		return "", errors.New("gocql: the server does not describe the keyspace")
	}
	return ks.CreateStmts, nil
}

// A TableMetadata describes a table.
type TableMetadata struct {
	Columns           map[string]*ColumnMetadata
	Extensions        map[string]any
	Keyspace          string
	Name              string
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
	OrderedColumns    []string // the partition key, the clustering columns, the others by name
	Flags             []string
	Options           TableMetadataOptions
}

// Equals reports whether both are the same.
func (t *TableMetadata) Equals(other *TableMetadata) bool { return equal(t, other) }

// TableMetadataOptions are the options of a table.
type TableMetadataOptions struct {
	Caching                 map[string]string
	Compaction              map[string]string
	Compression             map[string]string
	CDC                     map[string]string
	SpeculativeRetry        string
	Comment                 string
	Version                 string
	Partitioner             string
	GcGraceSeconds          int
	MaxIndexInterval        int
	MemtableFlushPeriodInMs int
	MinIndexInterval        int
	ReadRepairChance        float64
	BloomFilterFpChance     float64
	DefaultTimeToLive       int
	DcLocalReadRepairChance float64
	CrcCheckChance          float64
	InMemory                bool
}

// Equals reports whether both are the same.
func (t *TableMetadataOptions) Equals(other *TableMetadataOptions) bool {
	if t == nil || other == nil {
		return t == other
	}
	a, b := *t, *other
	for _, m := range []struct{ a, b *map[string]string }{
		{&a.Caching, &b.Caching}, {&a.Compaction, &b.Compaction}, {&a.Compression, &b.Compression}, {&a.CDC, &b.CDC},
	} {
		if !maps.Equal(*m.a, *m.b) {
			return false
		}
		*m.a, *m.b = nil, nil // nil and empty are the same
	}
	return reflect.DeepEqual(a, b)
}

// A ColumnMetadata describes a column.
type ColumnMetadata struct {
	Index           ColumnIndexMetadata // empty, as in gocql
	Keyspace        string
	Table           string
	Name            string
	Type            string // as the server writes it: "frozen<list<int>>"
	ClusteringOrder string
	ComponentIndex  int // in the partition key or among the clustering columns, -1 elsewhere
	Kind            ColumnKind
	Order           ColumnOrder
}

// Equals reports whether both are the same.
func (c *ColumnMetadata) Equals(other *ColumnMetadata) bool {
	if c == nil || other == nil {
		return c == other
	}
	a, b := *c, *other
	a.Index, b.Index = ColumnIndexMetadata{}, ColumnIndexMetadata{}
	return c.Index.Equals(&other.Index) && reflect.DeepEqual(a, b)
}

// A ColumnIndexMetadata describes the index of a column.
type ColumnIndexMetadata struct {
	Options map[string]any
	Name    string
	Type    string
}

// Equals reports whether both are the same.
func (c *ColumnIndexMetadata) Equals(other *ColumnIndexMetadata) bool {
	if c == nil || other == nil {
		return c == other
	}
	return c.Name == other.Name && c.Type == other.Type && equalAny(c.Options, other.Options)
}

// equal is TableMetadata.Equals.
func equal(t, other *TableMetadata) bool {
	if t == nil || other == nil {
		return t == other
	}
	return t.Keyspace == other.Keyspace && t.Name == other.Name &&
		slices.EqualFunc(t.PartitionKey, other.PartitionKey, (*ColumnMetadata).Equals) &&
		slices.EqualFunc(t.ClusteringColumns, other.ClusteringColumns, (*ColumnMetadata).Equals) &&
		maps.EqualFunc(t.Columns, other.Columns, (*ColumnMetadata).Equals) &&
		slices.Equal(t.OrderedColumns, other.OrderedColumns) && slices.Equal(t.Flags, other.Flags) &&
		t.Options.Equals(&other.Options) && equalAny(t.Extensions, other.Extensions)
}

func equalAny(a, b map[string]any) bool {
	return maps.EqualFunc(a, b, func(x, y any) bool { return reflect.DeepEqual(x, y) })
}

// A ViewMetadata describes a materialized view.
type ViewMetadata struct {
	Columns                 map[string]*ColumnMetadata
	Extensions              map[string]any
	WhereClause             string
	BaseTableName           string
	ID                      string
	KeyspaceName            string
	BaseTableID             string
	ViewName                string
	OrderedColumns          []string
	PartitionKey            []*ColumnMetadata
	ClusteringColumns       []*ColumnMetadata
	Options                 TableMetadataOptions
	DcLocalReadRepairChance float64
	ReadRepairChance        float64
	IncludeAllColumns       bool
}

// IndexKindCustom is the IndexMetadata.Kind of a custom index.
const IndexKindCustom = "CUSTOM"

// An IndexMetadata describes an index. The columns come from its materialized view, which ScyllaDB has.
type IndexMetadata struct {
	Name              string
	KeyspaceName      string
	TableName         string
	Kind              string
	Options           map[string]string
	Columns           map[string]*ColumnMetadata
	OrderedColumns    []string
	PartitionKey      []*ColumnMetadata
	ClusteringColumns []*ColumnMetadata
}

// A TypeMetadata describes a user-defined type.
type TypeMetadata struct {
	Keyspace   string
	Name       string
	FieldNames []string
	FieldTypes []string
}

// A FunctionMetadata describes a user-defined function.
type FunctionMetadata struct {
	Keyspace          string
	Name              string
	Body              string
	Language          string
	ReturnType        string
	ArgumentTypes     []string
	ArgumentNames     []string
	CalledOnNullInput bool
}

// An AggregateMetadata describes a user-defined aggregate.
type AggregateMetadata struct {
	Keyspace      string
	Name          string
	InitCond      string
	ReturnType    string
	StateType     string
	ArgumentTypes []string
	FinalFunc     FunctionMetadata
	StateFunc     FunctionMetadata

	stateFunc, finalFunc string // names
}

// A ColumnOrder is the order of rows by a clustering column.
type ColumnOrder bool

// The orders of a clustering column. DESC has no type, as in gocql.
const (
	ASC  ColumnOrder = false
	DESC             = true
)

// A Metadata would hold all metadata of a session. No function returns one.
type Metadata struct{}

// UnmarshalCQL implements Unmarshaler, for the column kind of system_schema.columns.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError{msg: fmt.Sprintf("gocql: unmarshal a ColumnKind from %v, want varchar", typ)}
	}
	return api.DecodeColumnKind(c, string(p))
}
