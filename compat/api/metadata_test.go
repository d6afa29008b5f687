// SPDX-License-Identifier: Apache-2.0

package gocql

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// The metadata of a module whose types are texts, and whose columns have the kind of an int.

type column = Column[string, int, string]

func typeText(t cql.TypeInfo) string { return t.String() }

func newColumn(c *cql.ColumnMetadata) *column {
	return NewColumn[string, int](c, typeText(c.Type), c.Index.Name)
}

func TestColumnHasAllFields(t *testing.T) {
	require.Equal(t, &column{
		Keyspace: "k", Table: "t", Name: "c", ComponentIndex: 1, Kind: 2, Validator: "frozen<int>", Type: "int", ClusteringOrder: "desc",
		Order: true, Index: "i",
	}, newColumn(&cql.ColumnMetadata{
		Keyspace: "k", Table: "t", Name: "c", ComponentIndex: 1, Kind: cql.ColumnClusteringKey, Validator: "frozen<int>",
		Type: cql.NativeType(cql.TypeInt), ClusteringOrder: "desc", Order: cql.DESC, Index: cql.ColumnIndexMetadata{Name: "i"},
	}))
}

// TestTableHasItsColumnsInTheOrderOfTheirNames: the columns of the key are the same values.
func TestTableHasItsColumnsInTheOrderOfTheirNames(t *testing.T) {
	columns := map[string]*cql.ColumnMetadata{}
	for _, name := range []string{"z", "a", "m"} {
		columns[name] = &cql.ColumnMetadata{Name: name, Type: cql.NativeType(cql.TypeInt)}
	}
	partition, clustering := []*cql.ColumnMetadata{columns["z"]}, []*cql.ColumnMetadata{columns["m"], columns["a"]}
	table := NewTable(&cql.TableMetadata{
		Keyspace: "k", Name: "t", Columns: columns, PartitionKey: partition, ClusteringColumns: clustering, OrderedColumns: []string{"z", "m", "a"},
	}, newColumn)
	want := &Table[column]{Keyspace: "k", Name: "t", Columns: table.Columns, OrderedColumns: []string{"a", "m", "z"}}
	want.PartitionKey = []*column{table.Columns["z"]}
	want.ClusteringColumns = []*column{table.Columns["m"], table.Columns["a"]}
	require.Equal(t, want, table)
	require.Equal(t, "z", table.PartitionKey[0].Name)
	require.True(t, table.PartitionKey[0] == table.Columns["z"])
	require.Nil(t, NewTable(nil, newColumn))

	tables := map[string]*Table[column]{"t": table}
	AddViews(tables, &cql.KeyspaceMetadata{MaterializedViews: map[string]*cql.MaterializedViewMetadata{
		"v": {Keyspace: "k", Name: "v", Columns: columns, PartitionKey: partition, ClusteringColumns: clustering},
	}}, func(t *cql.TableMetadata) *Table[column] { return NewTable(t, newColumn) })
	want.Name = "v"
	require.Equal(t, want, tables["v"])
	require.Len(t, tables, 2)
}

func TestFunctionsTypesAndAggregatesHaveAllFields(t *testing.T) {
	number, text := cql.NativeType(cql.TypeInt), cql.NativeType(cql.TypeText)
	f := &cql.FunctionMetadata{
		Keyspace: "k", Name: "f", ArgumentTypes: []cql.TypeInfo{number}, ArgumentNames: []string{"a"}, Body: "return a;",
		CalledOnNullInput: true, Language: "java", ReturnType: text,
	}
	function := func(f *cql.FunctionMetadata) *Function[string] { return NewFunction(f, typeText) }
	want := &Function[string]{"k", "f", []string{"int"}, []string{"a"}, "return a;", true, "java", "text"}
	require.Equal(t, want, function(f))
	require.Nil(t, function(nil))

	final := *f
	final.Name = "final"
	a := &cql.AggregateMetadata{
		Keyspace: "k", Name: "a", ArgumentTypes: []cql.TypeInfo{text}, FinalFunc: final, InitCond: "0", ReturnType: text, StateFunc: *f,
		StateType: number,
	}
	wantFinal := *want
	wantFinal.Name = "final"
	require.Equal(t, &Aggregate[string, Function[string]]{"k", "a", []string{"text"}, wantFinal, "0", "text", *want, "int"},
		NewAggregate(a, typeText, function))
	require.Nil(t, NewAggregate(nil, typeText, function))

	u := &cql.UserTypeMetadata{Keyspace: "k", Name: "u", FieldNames: []string{"a", "b"}, FieldTypes: []cql.TypeInfo{number, text}}
	require.Equal(t, &UserType[string]{"k", "u", []string{"a", "b"}, []string{"int", "text"}}, NewUserType(u, typeText))
	require.Nil(t, NewUserType(nil, typeText))
	require.Equal(t, map[string]string{"e": "\x01text"}, ExtensionTexts(map[string][]byte{"e": []byte("\x01text")}))
}

func TestMetadataOfAKeyspaceIsConvertedOnce(t *testing.T) {
	var keyspaces Keyspaces[string]
	converted := 0
	convert := func(k *cql.KeyspaceMetadata) (*string, error) {
		converted++
		return &k.Name, nil
	}
	shop, other := &cql.KeyspaceMetadata{Name: "shop"}, &cql.KeyspaceMetadata{Name: "other"}
	first, err := keyspaces.Of(shop, convert)
	require.NoError(t, err)
	_, err = keyspaces.Of(other, convert)
	require.NoError(t, err)
	again, err := keyspaces.Of(shop, convert)
	require.NoError(t, err)
	require.True(t, first == again)
	require.Equal(t, 2, converted)

	changed := &cql.KeyspaceMetadata{Name: "shop"}
	failure := errors.New("no connection")
	none, err := keyspaces.Of(changed, func(*cql.KeyspaceMetadata) (*string, error) { return nil, failure })
	require.Equal(t, failure, err)
	require.Nil(t, none)
	next, err := keyspaces.Of(changed, convert)
	require.NoError(t, err)
	require.False(t, next == first)
	same, err := keyspaces.Of(changed, convert)
	require.NoError(t, err)
	require.True(t, next == same)

	// of two conversions at once the first to end counts
	late, err := keyspaces.Of(&cql.KeyspaceMetadata{Name: "new"}, func(k *cql.KeyspaceMetadata) (*string, error) {
		_, err := keyspaces.Of(k, convert)
		require.NoError(t, err)
		return new(string), nil
	})
	require.NoError(t, err)
	require.Equal(t, "new", *late)
}

func TestKindsOfColumnsHaveNames(t *testing.T) {
	for kind, want := range map[int]string{
		-1: "unknown_column_-1", 0: "unknown_column_0", 1: "partition_key", 2: "clustering_key", 3: "regular", 4: "compact", 5: "static",
		6: "unknown_column_6",
	} {
		require.Equal(t, want, ColumnKindText(kind))
	}
	for text, want := range map[string]int{
		"partition_key": 1, "clustering": 2, "clustering_key": 2, "regular": 3, "compact_value": 4, "static": 5,
	} {
		kind := 0
		require.NoError(t, DecodeColumnKind(&kind, text))
		require.Equal(t, want, kind)
	}
	for _, text := range []string{"compact", "", "other"} {
		kind := 7
		require.ErrorContains(t, DecodeColumnKind(&kind, text), "unknown kind of column")
		require.Equal(t, 7, kind)
	}
}
