// SPDX-License-Identifier: Apache-2.0

package cql

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// cloneKeyspace returns a keyspace with one object of each kind and a value in each field that a clone could share.
func cloneKeyspace() *KeyspaceMetadata {
	text := map[string]string{"k": "v"}
	id := &ColumnMetadata{
		Keyspace: "ks", Table: "t", Name: "id", Kind: ColumnPartitionKey, Type: NativeType(TypeInt),
		Index: ColumnIndexMetadata{Name: "i", Options: map[string]any{"target": "id"}},
	}
	c := &ColumnMetadata{Keyspace: "ks", Table: "t", Name: "c", Kind: ColumnClusteringKey, Type: NewListType(NativeType(TypeInt)), Order: DESC}
	options := TableMetadataOptions{
		CDC: text, Caching: text, Compaction: text, Compression: text, Comment: "x", Extensions: map[string][]byte{"e": {1}, "none": nil},
	}
	columns := map[string]*ColumnMetadata{"id": id, "c": c}
	table := &TableMetadata{
		Keyspace: "ks", Name: "t", PartitionKey: []*ColumnMetadata{id}, ClusteringColumns: []*ColumnMetadata{c}, Columns: columns,
		OrderedColumns: []string{"id", "c"}, Options: options, Flags: []string{"compound"},
	}
	view := &MaterializedViewMetadata{
		Keyspace: "ks", Name: "v", BaseTableName: "t", BaseTable: table, PartitionKey: []*ColumnMetadata{c}, ClusteringColumns: []*ColumnMetadata{id},
		Columns: columns, OrderedColumns: []string{"c", "id"}, TableMetadataOptions: options,
	}
	f := &FunctionMetadata{Keyspace: "ks", Name: "f", ArgumentTypes: []TypeInfo{NativeType(TypeInt)}, ArgumentNames: []string{"x"}}
	return &KeyspaceMetadata{
		Name: "ks", StrategyOptions: map[string]any{"dc1": "3"},
		Tables:            map[string]*TableMetadata{"t": table},
		MaterializedViews: map[string]*MaterializedViewMetadata{"v": view, "lost": {Name: "lost", BaseTableName: "gone"}},
		UserTypes:         map[string]*UserTypeMetadata{"u": {Name: "u", FieldNames: []string{"a"}, FieldTypes: []TypeInfo{NativeType(TypeInt)}}},
		Indexes:           map[string]*IndexMetadata{"i": {Name: "i", Table: "t", Options: text}},
		Functions:         map[string]*FunctionMetadata{"f": f},
		Aggregates:        map[string]*AggregateMetadata{"a": {Name: "a", ArgumentTypes: []TypeInfo{NativeType(TypeInt)}, StateFunc: *f}},
		Faults:            []error{&SchemaError{Keyspace: "ks", Err: errors.New("x")}},
	}
}

// requireApart fails the test if a and b share memory. Types and errors are immutable and may be shared.
func requireApart(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice:
		if a.IsNil() {
			return
		}
		require.NotEqual(t, a.Pointer(), b.Pointer(), path)
	default: // the contents of other kinds are compared below
	}
	switch a.Kind() {
	case reflect.Pointer:
		requireApart(t, path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			requireApart(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		for i := range a.Len() {
			requireApart(t, fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			requireApart(t, fmt.Sprintf("%s[%v]", path, k), a.MapIndex(k), b.MapIndex(k))
		}
	default: // nothing to share
	}
}

func TestKeyspaceMetadataClone(t *testing.T) {
	ks := cloneKeyspace()
	c := ks.Clone()
	require.Equal(t, cloneKeyspace(), c)
	requireApart(t, "ks", reflect.ValueOf(ks), reflect.ValueOf(c))
	table := c.Tables["t"]
	require.Same(t, table, c.MaterializedViews["v"].BaseTable)
	require.Nil(t, c.MaterializedViews["lost"].BaseTable)
	require.Same(t, table.Columns["id"], table.PartitionKey[0])
	require.Same(t, table.Columns["c"], table.ClusteringColumns[0])
	require.Equal(t, &KeyspaceMetadata{Name: "only"}, (&KeyspaceMetadata{Name: "only"}).Clone(), "nil maps stay nil")
}

func TestMetadataCloneOfNil(t *testing.T) {
	require.Nil(t, (*KeyspaceMetadata)(nil).Clone())
	require.Nil(t, (*TableMetadata)(nil).Clone())
	require.Nil(t, (*ColumnMetadata)(nil).Clone())
	require.Nil(t, (*IndexMetadata)(nil).Clone())
	require.Nil(t, (*UserTypeMetadata)(nil).Clone())
	require.Nil(t, (*FunctionMetadata)(nil).Clone())
	require.Nil(t, (*AggregateMetadata)(nil).Clone())
	require.Nil(t, (*MaterializedViewMetadata)(nil).Clone())
}

func TestColumnKindString(t *testing.T) {
	for kind, want := range map[ColumnKind]string{
		-1: "unknown", ColumnUnkownKind: "unknown", ColumnPartitionKey: "partition_key", ColumnClusteringKey: "clustering",
		ColumnRegular: "regular", ColumnCompact: "compact_value", ColumnStatic: "static", ColumnStatic + 1: "unknown",
	} {
		require.Equal(t, want, kind.String())
	}
}

func TestSchemaErrorNamesTheObject(t *testing.T) {
	reason := errors.New("reason")
	for want, err := range map[string]*SchemaError{
		"vecql: schema of ks: reason":     {Keyspace: "ks", Err: reason},
		"vecql: schema of ks.t: reason":   {Keyspace: "ks", Object: "t", Err: reason},
		"vecql: schema of ks.t.c: reason": {Keyspace: "ks", Object: "t", Column: "c", Err: reason},
	} {
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, reason)
	}
}
