// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"fmt"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Schema metadata as v1.7 alone has it.

// Classes of the server, as system tables of Cassandra 2 name them.
const (
	LIST_TYPE = api.MarshalPackage + "ListType"
	SET_TYPE  = api.MarshalPackage + "SetType"
	MAP_TYPE  = api.MarshalPackage + "MapType"
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

// A ColumnIndexMetadata describes the index of a column.
type ColumnIndexMetadata = cql.ColumnIndexMetadata

// A ViewMetadata describes a user-defined type.
//
// Deprecated: use UserTypeMetadata.
type ViewMetadata api.UserType[TypeInfo]

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

// UnmarshalCQL implements Unmarshaler, for the column kind of system_schema.columns.
func (c *ColumnKind) UnmarshalCQL(typ TypeInfo, p []byte) error {
	if typ.Type() != TypeVarchar {
		return UnmarshalError(fmt.Sprintf("gocql: unmarshal a ColumnKind from %v, want varchar", typ))
	}
	return api.DecodeColumnKind(c, string(p))
}

// KeyspaceMetadata returns the metadata of a keyspace. Callers get the same value until the schema changes.
func (s *Session) KeyspaceMetadata(keyspace string) (*KeyspaceMetadata, error) {
	return api.SchemaOf(s.v1(), &s.schema, keyspace, func(k *cql.KeyspaceMetadata) (*KeyspaceMetadata, error) {
		return keyspaceOf(k), nil
	})
}

// Metadata of vecql in this API's shape.

// schemaType returns a type as the API reads it in the tables of the schema: texts are text, not varchar as in results,
// user-defined types and vectors are custom types without a name, and none has a version of the protocol. nil is nil.
func schemaType(t cql.TypeInfo) TypeInfo {
	if t == nil {
		return nil
	}
	native := NativeType{api.NewNative(0, api.Type(t.Type()), "")}
	switch t := t.(type) {
	case cql.CollectionType:
		c := CollectionType{NativeType: native, Elem: schemaType(t.Elem)}
		if t.Type() == cql.TypeMap {
			c.Key = schemaType(t.Key)
		}
		return c
	case cql.TupleTypeInfo:
		return TupleTypeInfo{NativeType: native, Elems: api.Each(t.Elems, schemaType)}
	case cql.NativeType:
		if cql.Type(t) == cql.TypeVarchar {
			native = NativeType{api.NewNative(0, api.Type(cql.TypeText), "")}
		}
		return native
	}
	return NativeType{api.NewNative(0, api.Type(cql.TypeCustom), "")}
}

func keyspaceOf(k *cql.KeyspaceMetadata) *KeyspaceMetadata {
	out := &KeyspaceMetadata{
		Name: k.Name, DurableWrites: k.DurableWrites, StrategyClass: k.StrategyClass, StrategyOptions: k.StrategyOptions,
		Tables: api.ConvertAll(k.Tables, tableOf), Functions: api.ConvertAll(k.Functions, functionOf),
		Aggregates: api.ConvertAll(k.Aggregates, aggregateOf), UserTypes: api.ConvertAll(k.UserTypes, userTypeOf),
	}
	api.AddViews(out.Tables, k, tableOf)
	out.Views = api.ConvertAll(out.UserTypes, func(t *UserTypeMetadata) *ViewMetadata { return (*ViewMetadata)(t) })
	out.MaterializedViews = make(map[string]*MaterializedViewMetadata, len(k.MaterializedViews))
	for name, v := range k.MaterializedViews {
		out.MaterializedViews[name] = viewOf(v, out.Tables[v.BaseTableName])
	}
	return out
}

func columnOf(col *cql.ColumnMetadata) *ColumnMetadata {
	return (*ColumnMetadata)(api.NewColumn[TypeInfo, ColumnKind](col, schemaType(col.Type), col.Index))
}

func viewOf(v *cql.MaterializedViewMetadata, base *TableMetadata) *MaterializedViewMetadata {
	return &MaterializedViewMetadata{
		Keyspace: v.Keyspace, Name: v.Name, BaseTableId: v.BaseTableId, BaseTable: base,
		BloomFilterFpChance: v.BloomFilterFpChance, Caching: v.Caching, Comment: v.Comment, Compaction: v.Compaction,
		Compression: v.Compression, CrcCheckChance: v.CrcCheckChance, DcLocalReadRepairChance: v.DcLocalReadRepairChance,
		DefaultTimeToLive: v.DefaultTimeToLive, GcGraceSeconds: v.GcGraceSeconds, Id: v.Id,
		IncludeAllColumns: v.IncludeAllColumns, MaxIndexInterval: v.MaxIndexInterval,
		MemtableFlushPeriodInMs: v.MemtableFlushPeriodInMs, MinIndexInterval: v.MinIndexInterval,
		ReadRepairChance: v.ReadRepairChance, SpeculativeRetry: v.SpeculativeRetry,
		Extensions: api.ExtensionTexts(v.Extensions),
	}
}
