// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	api "github.com/vecql/vecql/compat/api"
	"github.com/vecql/vecql/cql"
)

// Reading of the schema. vecql has the tables; the types as the server writes them are read here.

// KeyspaceMetadata returns the metadata of a keyspace. Callers get the same value until the schema changes.
func (s *Session) KeyspaceMetadata(keyspace string) (*KeyspaceMetadata, error) {
	return api.SchemaOf(s.v1(), &s.schema, keyspace, s.readKeyspace)
}

// TableMetadata returns the metadata of a table.
func (s *Session) TableMetadata(keyspace, table string) (*TableMetadata, error) {
	if _, err := s.started(); err != nil {
		return nil, err
	}
	if table == "" && keyspace != "" {
		return nil, ErrNoTable
	}
	k, err := s.KeyspaceMetadata(keyspace)
	if err != nil {
		return nil, err
	}
	if t := k.Tables[table]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("gocql: table %s.%s: %w", keyspace, table, ErrNotFound)
}

// readKeyspace converts a keyspace and reads what vecql does not have.
func (s *Session) readKeyspace(k *cql.KeyspaceMetadata) (*KeyspaceMetadata, error) {
	out := &KeyspaceMetadata{
		Name: k.Name, DurableWrites: k.DurableWrites, StrategyClass: k.StrategyClass, StrategyOptions: k.StrategyOptions,
		Tables: api.ConvertAll(k.Tables, newTable), Indexes: make(map[string]*IndexMetadata, len(k.Indexes)),
		Views: make(map[string]*ViewMetadata, len(k.MaterializedViews)),
	}
	for name, i := range k.Indexes {
		out.Indexes[name] = newIndex(i, k.MaterializedViews[name+"_index"])
	}
	for name, v := range k.MaterializedViews {
		if index, ok := strings.CutSuffix(name, "_index"); !ok || out.Indexes[index] == nil {
			out.Views[name] = newView(v)
		}
	}
	out.Types, out.Functions = map[string]*TypeMetadata{}, map[string]*FunctionMetadata{}
	out.Aggregates = map[string]*AggregateMetadata{}
	var err error
	if len(k.UserTypes) > 0 {
		err = s.readTypes(out)
	}
	if len(k.Functions) > 0 {
		err = errors.Join(err, s.readFunctions(out))
	}
	if len(k.Aggregates) > 0 {
		err = errors.Join(err, s.readAggregates(out))
	}
	if err != nil {
		return nil, err
	}
	s.describe(out)
	return out, nil
}

// describe sets CreateStmts. An old server cannot describe a keyspace.
func (s *Session) describe(k *KeyspaceMetadata) {
	name := `"` + strings.ReplaceAll(k.Name, `"`, `""`) + `"`
	it := s.system("DESCRIBE KEYSPACE " + name + " WITH INTERNALS").Iter()
	var statements []string
	var statement string
	for it.Scan(nil, nil, nil, &statement) {
		if statement != "" {
			statements = append(statements, statement)
		}
	}
	if it.Close() == nil {
		k.CreateStmts = strings.Join(statements, "\n")
	}
}

func (s *Session) readTypes(k *KeyspaceMetadata) error {
	it := s.system("SELECT type_name, field_names, field_types FROM system_schema.types WHERE keyspace_name = ?", k.Name).
		Iter()
	for {
		t := &TypeMetadata{Keyspace: k.Name}
		if !it.Scan(&t.Name, &t.FieldNames, &t.FieldTypes) {
			return it.Close()
		}
		k.Types[t.Name] = t
	}
}

func (s *Session) readFunctions(k *KeyspaceMetadata) error {
	it := s.system("SELECT function_name, argument_types, argument_names, body, called_on_null_input, language, "+
		"return_type FROM system_schema.functions WHERE keyspace_name = ?", k.Name).Iter()
	for {
		f := &FunctionMetadata{Keyspace: k.Name}
		if !it.Scan(&f.Name, &f.ArgumentTypes, &f.ArgumentNames, &f.Body, &f.CalledOnNullInput, &f.Language,
			&f.ReturnType) {
			return it.Close()
		}
		k.Functions[f.Name] = f
	}
}

func (s *Session) readAggregates(k *KeyspaceMetadata) error {
	it := s.system("SELECT aggregate_name, argument_types, final_func, initcond, return_type, state_func, state_type "+
		"FROM system_schema.aggregates WHERE keyspace_name = ?", k.Name).Iter()
	for {
		a := &AggregateMetadata{Keyspace: k.Name}
		if !it.Scan(&a.Name, &a.ArgumentTypes, &a.finalFunc, &a.InitCond, &a.ReturnType, &a.stateFunc, &a.StateType) {
			return it.Close()
		}
		if f := k.Functions[a.finalFunc]; f != nil {
			a.FinalFunc = *f
		}
		if f := k.Functions[a.stateFunc]; f != nil {
			a.StateFunc = *f
		}
		k.Aggregates[a.Name] = a
	}
}

func newTable(t *cql.TableMetadata) *TableMetadata {
	out := &TableMetadata{
		Keyspace: t.Keyspace, Name: t.Name, Columns: api.ConvertAll(t.Columns, newColumn),
		Flags: t.Flags, Options: newOptions(&t.Options), Extensions: newExtensions(&t.Options),
	}
	out.PartitionKey = api.NamedColumns(out.Columns, t.PartitionKey)
	out.ClusteringColumns = api.NamedColumns(out.Columns, t.ClusteringColumns)
	out.OrderedColumns = ordered(out.Columns, out.PartitionKey, out.ClusteringColumns)
	return out
}

// ordered returns the names of columns: the partition key, the clustering columns, the others by name.
func ordered(columns map[string]*ColumnMetadata, keys ...[]*ColumnMetadata) []string {
	var names []string
	for _, c := range slices.Concat(keys...) {
		names = append(names, c.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(columns)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func newView(v *cql.MaterializedViewMetadata) *ViewMetadata {
	out := &ViewMetadata{
		KeyspaceName: v.Keyspace, ViewName: v.Name, ID: v.Id.String(), BaseTableID: v.BaseTableId.String(),
		BaseTableName: v.BaseTableName, WhereClause: v.WhereClause, IncludeAllColumns: v.IncludeAllColumns,
		Columns: api.ConvertAll(v.Columns, newColumn),
		Options: newOptions(&v.TableMetadataOptions), Extensions: newExtensions(&v.TableMetadataOptions),
		DcLocalReadRepairChance: v.DcLocalReadRepairChance, ReadRepairChance: v.ReadRepairChance,
	}
	out.PartitionKey = api.NamedColumns(out.Columns, v.PartitionKey)
	out.ClusteringColumns = api.NamedColumns(out.Columns, v.ClusteringColumns)
	out.OrderedColumns = ordered(out.Columns, out.PartitionKey, out.ClusteringColumns)
	return out
}

// newIndex converts an index. view may be nil.
func newIndex(i *cql.IndexMetadata, view *cql.MaterializedViewMetadata) *IndexMetadata {
	out := &IndexMetadata{
		Name: i.Name, KeyspaceName: i.Keyspace, TableName: i.Table, Kind: i.Kind, Options: i.Options,
		Columns: map[string]*ColumnMetadata{}, PartitionKey: []*ColumnMetadata{}, ClusteringColumns: []*ColumnMetadata{},
	}
	if view != nil {
		v := newView(view)
		out.Columns, out.OrderedColumns = v.Columns, v.OrderedColumns
		out.PartitionKey, out.ClusteringColumns = v.PartitionKey, v.ClusteringColumns
	}
	return out
}

func newColumn(c *cql.ColumnMetadata) *ColumnMetadata {
	return &ColumnMetadata{
		Keyspace: c.Keyspace, Table: c.Table, Name: c.Name, ComponentIndex: c.ComponentIndex, Kind: ColumnKind(c.Kind),
		Type: c.Validator, ClusteringOrder: c.ClusteringOrder, Order: ColumnOrder(c.Order),
	}
}

func newOptions(o *cql.TableMetadataOptions) TableMetadataOptions {
	return TableMetadataOptions{
		Caching: o.Caching, Compaction: o.Compaction, Compression: o.Compression, CDC: o.CDC,
		SpeculativeRetry: o.SpeculativeRetry, Comment: o.Comment, Partitioner: o.Partitioner,
		GcGraceSeconds: o.GcGraceSeconds, MaxIndexInterval: o.MaxIndexInterval,
		MemtableFlushPeriodInMs: o.MemtableFlushPeriodInMs, MinIndexInterval: o.MinIndexInterval,
		BloomFilterFpChance: o.BloomFilterFpChance, DefaultTimeToLive: o.DefaultTimeToLive,
		CrcCheckChance: o.CrcCheckChance,
	}
}

func newExtensions(o *cql.TableMetadataOptions) map[string]any {
	return api.ConvertAll(o.Extensions, func(value []byte) any { return value })
}
