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

// Clone returns a copy. The clone of nil is nil.
func (k *KeyspaceMetadata) Clone() *KeyspaceMetadata {
	if k == nil {
		return nil
	}
	c := *k
	c.StrategyOptions = maps.Clone(k.StrategyOptions)
	c.Tables = cloneAll(k.Tables)
	c.Functions = cloneAll(k.Functions)
	c.Aggregates = cloneAll(k.Aggregates)
	c.MaterializedViews = cloneAll(k.MaterializedViews)
	c.UserTypes = cloneAll(k.UserTypes)
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
func (t *TableMetadata) Clone() *TableMetadata {
	if t == nil {
		return nil
	}
	c := *t
	c.KeyAliases, c.ColumnAliases = slices.Clone(t.KeyAliases), slices.Clone(t.ColumnAliases)
	c.PartitionKey, c.ClusteringColumns = cloneColumns(t.PartitionKey), cloneColumns(t.ClusteringColumns)
	c.Columns, c.OrderedColumns = cloneAll(t.Columns), slices.Clone(t.OrderedColumns)
	return &c
}

func cloneColumns(columns []*ColumnMetadata) []*ColumnMetadata {
	out := slices.Clone(columns)
	for i, column := range out {
		out[i] = column.Clone()
	}
	return out
}

// Clone returns a copy. The clone of nil is nil.
func (c *ColumnMetadata) Clone() *ColumnMetadata {
	if c == nil {
		return nil
	}
	out := *c
	return &out
}

// Clone returns a copy. The clone of nil is nil.
func (f *FunctionMetadata) Clone() *FunctionMetadata {
	if f == nil {
		return nil
	}
	c := *f
	c.ArgumentTypes, c.ArgumentNames = slices.Clone(f.ArgumentTypes), slices.Clone(f.ArgumentNames)
	return &c
}

// Clone returns a copy. The clone of nil is nil.
func (a *AggregateMetadata) Clone() *AggregateMetadata {
	if a == nil {
		return nil
	}
	c := *a
	c.ArgumentTypes = slices.Clone(a.ArgumentTypes)
	return &c
}

// Clone returns a copy. The clone of nil is nil.
func (m *MaterializedViewMetadata) Clone() *MaterializedViewMetadata {
	if m == nil {
		return nil
	}
	c := *m
	c.BaseTable = m.BaseTable.Clone()
	c.Caching, c.Compaction = maps.Clone(m.Caching), maps.Clone(m.Compaction)
	c.Compression, c.Extensions = maps.Clone(m.Compression), maps.Clone(m.Extensions)
	return &c
}

// Clone returns a copy. The clone of nil is nil.
func (u *UserTypeMetadata) Clone() *UserTypeMetadata {
	if u == nil {
		return nil
	}
	c := *u
	c.FieldNames, c.FieldTypes = slices.Clone(u.FieldNames), slices.Clone(u.FieldTypes)
	return &c
}
