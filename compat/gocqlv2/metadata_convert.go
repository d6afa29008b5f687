// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"maps"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Conversion of vecql's metadata. A nil value of vecql becomes nil.

// keyspace returns the conversion of k.
func (s *Session) keyspace(k *cql.KeyspaceMetadata) (*KeyspaceMetadata, error) {
	return s.keyspaces.Of(k, func(k *cql.KeyspaceMetadata) (*KeyspaceMetadata, error) { return keyspaceOf(k), nil })
}

func keyspaceOf(k *cql.KeyspaceMetadata) *KeyspaceMetadata {
	if k == nil {
		return nil
	}
	out := &KeyspaceMetadata{
		Name: k.Name, DurableWrites: k.DurableWrites, StrategyClass: k.StrategyClass,
		StrategyOptions: maps.Clone(k.StrategyOptions),
		Tables:          api.ConvertAll(k.Tables, tableOf), Functions: api.ConvertAll(k.Functions, functionOf),
		Aggregates: api.ConvertAll(k.Aggregates, aggregateOf), UserTypes: api.ConvertAll(k.UserTypes, userTypeOf),
	}
	api.AddViews(out.Tables, k, tableOf)
	out.MaterializedViews = api.ConvertAll(k.MaterializedViews, viewOf)
	for _, v := range out.MaterializedViews {
		if v.BaseTable != nil {
			v.BaseTable = out.Tables[v.BaseTable.Name]
		}
	}
	return out
}

func columnOf(c *cql.ColumnMetadata) *ColumnMetadata {
	index := ColumnIndexMetadata{Name: c.Index.Name, Type: c.Index.Type, Options: maps.Clone(c.Index.Options)}
	return (*ColumnMetadata)(api.NewColumn[TypeInfo, ColumnKind](c, schemaType(c.Type), index))
}

// schemaType returns a type of a schema, nil for nil. Schemas write text, never varchar.
func schemaType(info cql.TypeInfo) TypeInfo {
	if info == nil {
		return nil
	}
	return asText(fromCQL(info))
}

// asText returns info with TypeText in place of TypeVarchar. It changes info.
func asText(info TypeInfo) TypeInfo {
	switch t := info.(type) {
	case nativeType:
		if t.typ == TypeVarchar {
			return nativeType{TypeText}
		}
	case CollectionType:
		t.Elem = asText(t.Elem)
		if t.Key != nil {
			t.Key = asText(t.Key)
		}
		return t
	case TupleTypeInfo:
		for i, e := range t.Elems {
			t.Elems[i] = asText(e)
		}
	case UDTTypeInfo:
		for i, f := range t.Elements {
			t.Elements[i].Type = asText(f.Type)
		}
	case VectorType:
		t.SubType = asText(t.SubType)
		return t
	}
	return info
}

// viewOf returns a materialized view in the API's shape.
func viewOf(v *cql.MaterializedViewMetadata) *MaterializedViewMetadata {
	if v == nil {
		return nil
	}
	return &MaterializedViewMetadata{
		Keyspace: v.Keyspace, Name: v.Name, AdditionalWritePolicy: v.AdditionalWritePolicy, BaseTableId: v.BaseTableId,
		BaseTable: tableOf(v.BaseTable), BloomFilterFpChance: v.BloomFilterFpChance, Caching: maps.Clone(v.Caching),
		Comment: v.Comment, Compaction: maps.Clone(v.Compaction), Compression: maps.Clone(v.Compression),
		CrcCheckChance: v.CrcCheckChance, DcLocalReadRepairChance: v.DcLocalReadRepairChance,
		DefaultTimeToLive: v.DefaultTimeToLive, Extensions: api.ExtensionTexts(v.Extensions),
		GcGraceSeconds: v.GcGraceSeconds, Id: v.Id, IncludeAllColumns: v.IncludeAllColumns,
		MaxIndexInterval: v.MaxIndexInterval, MemtableFlushPeriodInMs: v.MemtableFlushPeriodInMs,
		MinIndexInterval: v.MinIndexInterval, ReadRepair: v.ReadRepair, ReadRepairChance: v.ReadRepairChance,
		SpeculativeRetry: v.SpeculativeRetry,
	}
}
