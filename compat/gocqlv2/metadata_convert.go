// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"maps"
	"slices"

	"github.com/vecql/vecql"
)

// Conversion of vecql's metadata. A nil value of vecql becomes nil.

// keyspaceCopy is the last conversion of a keyspace. With it, calls without a change of the schema return one
// pointer.
type keyspaceCopy struct {
	from *vecql.KeyspaceMetadata
	to   *KeyspaceMetadata
}

// keyspace returns the conversion of k.
func (s *Session) keyspace(k *vecql.KeyspaceMetadata) *KeyspaceMetadata {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.keyspaces[k.Name]; c.from == k {
		return c.to
	}
	if s.keyspaces == nil {
		s.keyspaces = map[string]keyspaceCopy{}
	}
	to := keyspaceOf(k)
	s.keyspaces[k.Name] = keyspaceCopy{k, to}
	return to
}

func keyspaceOf(k *vecql.KeyspaceMetadata) *KeyspaceMetadata {
	if k == nil {
		return nil
	}
	out := &KeyspaceMetadata{
		Name: k.Name, DurableWrites: k.DurableWrites, StrategyClass: k.StrategyClass,
		StrategyOptions: maps.Clone(k.StrategyOptions),
		Tables:          convertAll(k.Tables, tableOf), Functions: convertAll(k.Functions, functionOf),
		Aggregates: convertAll(k.Aggregates, aggregateOf), UserTypes: convertAll(k.UserTypes, userTypeOf),
	}
	out.MaterializedViews = convertAll(k.MaterializedViews, viewOf)
	for _, v := range out.MaterializedViews {
		if v.BaseTable != nil {
			v.BaseTable = out.Tables[v.BaseTable.Name]
		}
	}
	return out
}

func convertAll[F, T any](from map[string]F, convert func(F) T) map[string]T {
	out := make(map[string]T, len(from))
	for name, f := range from {
		out[name] = convert(f)
	}
	return out
}

func tableOf(t *vecql.TableMetadata) *TableMetadata {
	if t == nil {
		return nil
	}
	out := &TableMetadata{
		Keyspace: t.Keyspace, Name: t.Name, Columns: convertAll(t.Columns, columnOf),
		OrderedColumns: slices.Sorted(maps.Keys(t.Columns)), // the order of system_schema.columns
	}
	for _, c := range t.PartitionKey {
		out.PartitionKey = append(out.PartitionKey, out.Columns[c.Name])
	}
	for _, c := range t.ClusteringColumns {
		out.ClusteringColumns = append(out.ClusteringColumns, out.Columns[c.Name])
	}
	return out
}

func columnOf(c *vecql.ColumnMetadata) *ColumnMetadata {
	return &ColumnMetadata{
		Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, ComponentIndex: c.ComponentIndex, Kind: ColumnKind(c.Kind),
		Validator: c.Validator, Type: typeOf(c.Type), ClusteringOrder: c.ClusteringOrder, Order: ColumnOrder(c.Order),
		Index: ColumnIndexMetadata{Name: c.Index.Name, Type: c.Index.Type, Options: maps.Clone(c.Index.Options)},
	}
}

func functionOf(f *vecql.FunctionMetadata) *FunctionMetadata {
	if f == nil {
		return nil
	}
	return &FunctionMetadata{
		Keyspace: f.Keyspace, Name: f.Name, ArgumentTypes: typesOf(f.ArgumentTypes),
		ArgumentNames: append([]string(nil), f.ArgumentNames...), Body: f.Body, CalledOnNullInput: f.CalledOnNullInput,
		Language: f.Language, ReturnType: typeOf(f.ReturnType),
	}
}

func aggregateOf(a *vecql.AggregateMetadata) *AggregateMetadata {
	if a == nil {
		return nil
	}
	return &AggregateMetadata{
		Keyspace: a.Keyspace, Name: a.Name, ArgumentTypes: typesOf(a.ArgumentTypes), FinalFunc: *functionOf(&a.FinalFunc),
		InitCond: a.InitCond, ReturnType: typeOf(a.ReturnType), StateFunc: *functionOf(&a.StateFunc),
		StateType: typeOf(a.StateType),
	}
}

// typeOf returns a type of a schema, nil for nil. Schemas write text, never varchar.
func typeOf(info vecql.TypeInfo) TypeInfo {
	if info == nil {
		return nil
	}
	return asText(fromCQL(info))
}

func typesOf(infos []vecql.TypeInfo) []TypeInfo {
	types := make([]TypeInfo, len(infos))
	for i, info := range infos {
		types[i] = typeOf(info)
	}
	return types
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

func userTypeOf(u *vecql.UserTypeMetadata) *UserTypeMetadata {
	if u == nil {
		return nil
	}
	return &UserTypeMetadata{
		Keyspace: u.Keyspace, Name: u.Name, FieldNames: append([]string(nil), u.FieldNames...),
		FieldTypes: typesOf(u.FieldTypes),
	}
}

// viewOf returns a materialized view in the API's shape.
func viewOf(v *vecql.MaterializedViewMetadata) *MaterializedViewMetadata {
	if v == nil {
		return nil
	}
	out := &MaterializedViewMetadata{
		Keyspace: v.Keyspace, Name: v.Name, AdditionalWritePolicy: v.AdditionalWritePolicy, BaseTableId: v.BaseTableId,
		BaseTable: tableOf(v.BaseTable), BloomFilterFpChance: v.BloomFilterFpChance, Caching: maps.Clone(v.Caching),
		Comment: v.Comment, Compaction: maps.Clone(v.Compaction), Compression: maps.Clone(v.Compression),
		CrcCheckChance: v.CrcCheckChance, DcLocalReadRepairChance: v.DcLocalReadRepairChance,
		DefaultTimeToLive: v.DefaultTimeToLive, Extensions: make(map[string]string, len(v.Extensions)),
		GcGraceSeconds: v.GcGraceSeconds, Id: v.Id, IncludeAllColumns: v.IncludeAllColumns,
		MaxIndexInterval: v.MaxIndexInterval, MemtableFlushPeriodInMs: v.MemtableFlushPeriodInMs,
		MinIndexInterval: v.MinIndexInterval, ReadRepair: v.ReadRepair, ReadRepairChance: v.ReadRepairChance,
		SpeculativeRetry: v.SpeculativeRetry,
	}
	for name, value := range v.Extensions {
		out.Extensions[name] = string(value)
	}
	return out
}
