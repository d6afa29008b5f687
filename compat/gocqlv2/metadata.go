// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"
	"maps"
	"slices"

	api "github.com/vecql/vecql/compat/api"
)

// Schema metadata in the API's shape. metadata_convert.go makes it of vecql's.

// Names of schema changes, and class names of the server.
const (
	SchemaChangeTypeCreated = "CREATED"
	SchemaChangeTypeUpdated = "UPDATED"
	SchemaChangeTypeDropped = "DROPPED"

	VECTOR_TYPE = "org.apache.cassandra.db.marshal.VectorType"
)

// KeyspaceMetadata describes a keyspace. It is shared: callers must not modify it.
type KeyspaceMetadata struct {
	Name              string
	DurableWrites     bool
	StrategyClass     string
	StrategyOptions   map[string]any
	Tables            map[string]*TableMetadata
	Functions         map[string]*FunctionMetadata
	Aggregates        map[string]*AggregateMetadata
	MaterializedViews map[string]*MaterializedViewMetadata
	UserTypes         map[string]*UserTypeMetadata
}

// MaterializedViewMetadata describes a materialized view.
type MaterializedViewMetadata struct {
	Keyspace                string
	Name                    string
	AdditionalWritePolicy   string
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
	ReadRepair              string
	ReadRepairChance        float64
	SpeculativeRetry        string
}

// ColumnIndexMetadata describes an index of a column.
type ColumnIndexMetadata struct {
	Name    string
	Type    string
	Options map[string]any
}

// UnmarshalCQL stores the kind of a column as system_schema.columns writes it.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError(fmt.Sprintf("cannot unmarshal %v into a ColumnKind", typ))
	}
	return api.DecodeColumnKind(c, string(p))
}

// cloned returns a copy of v whose containers own replaces by copies, nil for nil.
func cloned[T any](v *T, own func(c *T)) *T {
	if v == nil {
		return nil
	}
	c := *v
	own(&c)
	return &c
}

func cloneAll[T interface{ Clone() T }](m map[string]T) map[string]T {
	out := maps.Clone(m)
	for name, v := range out {
		out[name] = v.Clone()
	}
	return out
}

// Clone returns a copy. The clone of nil is nil.
func (k *KeyspaceMetadata) Clone() *KeyspaceMetadata {
	return cloned(k, func(c *KeyspaceMetadata) {
		c.StrategyOptions = maps.Clone(k.StrategyOptions)
		c.Tables, c.Functions, c.Aggregates = cloneAll(k.Tables), cloneAll(k.Functions), cloneAll(k.Aggregates)
		c.MaterializedViews, c.UserTypes = cloneAll(k.MaterializedViews), cloneAll(k.UserTypes)
	})
}

// Clone returns a copy. The clone of nil is nil.
func (t *TableMetadata) Clone() *TableMetadata {
	return cloned(t, func(c *TableMetadata) {
		c.KeyAliases, c.ColumnAliases = slices.Clone(t.KeyAliases), slices.Clone(t.ColumnAliases)
		c.PartitionKey = api.Each(t.PartitionKey, (*ColumnMetadata).Clone)
		c.ClusteringColumns = api.Each(t.ClusteringColumns, (*ColumnMetadata).Clone)
		c.Columns, c.OrderedColumns = cloneAll(t.Columns), slices.Clone(t.OrderedColumns)
	})
}

// Clone returns a copy. The clone of nil is nil.
func (c *ColumnMetadata) Clone() *ColumnMetadata { return cloned(c, func(*ColumnMetadata) {}) }

// Clone returns a copy. The clone of nil is nil.
func (f *FunctionMetadata) Clone() *FunctionMetadata {
	return cloned(f, func(c *FunctionMetadata) {
		c.ArgumentTypes, c.ArgumentNames = slices.Clone(f.ArgumentTypes), slices.Clone(f.ArgumentNames)
	})
}

// Clone returns a copy. The clone of nil is nil.
func (a *AggregateMetadata) Clone() *AggregateMetadata {
	return cloned(a, func(c *AggregateMetadata) { c.ArgumentTypes = slices.Clone(a.ArgumentTypes) })
}

// Clone returns a copy. The clone of nil is nil.
func (m *MaterializedViewMetadata) Clone() *MaterializedViewMetadata {
	return cloned(m, func(c *MaterializedViewMetadata) {
		c.BaseTable = m.BaseTable.Clone()
		c.Caching, c.Compaction = maps.Clone(m.Caching), maps.Clone(m.Compaction)
		c.Compression, c.Extensions = maps.Clone(m.Compression), maps.Clone(m.Extensions)
	})
}

// Clone returns a copy. The clone of nil is nil.
func (u *UserTypeMetadata) Clone() *UserTypeMetadata {
	return cloned(u, func(c *UserTypeMetadata) {
		c.FieldNames, c.FieldTypes = slices.Clone(u.FieldNames), slices.Clone(u.FieldTypes)
	})
}
