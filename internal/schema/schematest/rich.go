// SPDX-License-Identifier: Apache-2.0

// Package schematest provides a keyspace for tests: its rows in the system_schema tables, and a check of the metadata
// built from them.
package schematest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/vecql/vecql/cql"
)

// row is a row of a system_schema table.
type row = map[string]any

// Rich returns the rows of a keyspace named ks with one object of each kind, by table of system_schema and in the order
// of its primary key. The rows belong to the caller.
func Rich() map[string][]row {
	return map[string][]row{
		"keyspaces": {{
			"keyspace_name": "ks", "durable_writes": true,
			"replication": map[string]string{"class": "org.apache.cassandra.locator.NetworkTopologyStrategy", "dc1": "3"},
		}},
		// Types are in the order of names: zip is last, and the other types use it.
		"types": {
			userType("Address", []string{"street", "lines", "zip"},
				[]string{"text", `list<frozen<"line item">>`, "frozen<zip>"}),
			userType("line item", []string{"n", "z"}, []string{"int", "frozen<zip>"}),
			userType("zip", []string{"code"}, []string{"text"}),
		},
		"tables": {
			{"keyspace_name": "ks", "table_name": "t", "id": cql.UUID{1, 1}, "flags": []string{"compound"}, "comment": "of t"},
			{"keyspace_name": "ks", "table_name": "t2", "id": cql.UUID{1, 2}, "flags": []string{"compound"}, "comment": "of t2"},
		},
		"columns": {
			column("t", "v", "regular", "none", -1, "vector<float, 3>"),
			column("t", "b", "clustering", "desc", 0, "text"),
			column("t", "home", "regular", "none", -1, `frozen<"Address">`),
			column("t", "a", "partition_key", "none", 0, "uuid"),
			column("t", "Tags", "regular", "none", -1, "set<text>"),
			column("t", "a2", "partition_key", "none", 1, "int"),
			column("t", "c", "clustering", "asc", 1, "timeuuid"),
			column("t", "s", "static", "none", -1, "map<text, frozen<tuple<int, frozen<zip>>>>"),
			column("t", "n", "regular", "none", -1, "counter"),
			column("t2", "id", "partition_key", "none", 0, "int"),
			column("by_b", "b", "partition_key", "none", 0, "text"),
			column("by_b", "a", "clustering", "asc", 0, "uuid"),
		},
		"indexes": {
			index("t_tags", "COMPOSITES", map[string]string{"target": `values("Tags")`}),
			index("t_v", "CUSTOM", map[string]string{"target": "v", "class_name": "sai"}),
		},
		"views": {{
			"keyspace_name": "ks", "view_name": "by_b", "base_table_name": "t", "id": cql.UUID{7},
			"base_table_id": cql.UUID{1, 1}, "include_all_columns": true, "where_clause": "b IS NOT NULL", "comment": "a view",
			"gc_grace_seconds": 60,
		}},
		"functions": {
			{
				"keyspace_name": "ks", "function_name": "f", "argument_types": []string{"int"}, "argument_names": []string{"x"},
				"body": "return x;", "called_on_null_input": true, "language": "java", "return_type": "int",
			},
			{
				"keyspace_name": "ks", "function_name": "f", "argument_types": []string{"int", "frozen<zip>"},
				"argument_names": []string{"x", "z"}, "body": "return x+1;", "language": "java", "return_type": "int",
			},
		},
		"aggregates": {{
			"keyspace_name": "ks", "aggregate_name": "agg", "argument_types": []string{"frozen<zip>"}, "state_func": "f",
			"state_type": "int", "final_func": "f", "initcond": "0", "return_type": "int",
		}},
	}
}

func userType(name string, fields, types []string) row {
	return row{"keyspace_name": "ks", "type_name": name, "field_names": fields, "field_types": types}
}

func column(table, name, kind, order string, position int, typ string) row {
	return row{
		"keyspace_name": "ks", "table_name": table, "column_name": name, "kind": kind, "clustering_order": order,
		"position": position, "type": typ,
	}
}

func index(name, kind string, options map[string]string) row {
	return row{"keyspace_name": "ks", "table_name": "t", "index_name": name, "kind": kind, "options": options}
}

// RequireRich fails the test unless ks describes the keyspace of Rich.
func RequireRich(t testing.TB, ks *cql.KeyspaceMetadata) {
	t.Helper()
	require.Empty(t, ks.Faults)
	require.Equal(t, "ks", ks.Name)
	require.True(t, ks.DurableWrites)
	require.Equal(t, "org.apache.cassandra.locator.NetworkTopologyStrategy", ks.StrategyClass)
	require.Equal(t, map[string]any{"dc1": "3"}, ks.StrategyOptions)
	requireTable(t, ks.Tables["t"])
	requireTypes(t, ks)

	table := ks.Tables["t"]
	require.Equal(t, "t_tags", table.Columns["Tags"].Index.Name)
	require.Equal(t, cql.ColumnIndexMetadata{
		Name: "t_v", Type: "CUSTOM",
		Options: map[string]any{"target": "v", "class_name": "sai"},
	},
		table.Columns["v"].Index)
	require.Equal(t, "t", ks.Indexes["t_v"].Table)

	view := ks.MaterializedViews["by_b"]
	require.Same(t, table, view.BaseTable)
	require.Equal(t, "t", view.BaseTableName)
	require.Equal(t, []any{"a view", 60, true, "b IS NOT NULL", cql.UUID{7}},
		[]any{view.Comment, view.GcGraceSeconds, view.IncludeAllColumns, view.WhereClause, view.Id})
	require.Equal(t, []string{"b", "a"}, view.OrderedColumns)
	require.NotContains(t, ks.Tables, "by_b")

	f, agg, integer := ks.Functions["f"], ks.Aggregates["agg"], cql.NativeType(cql.TypeInt)
	require.Equal(t, []any{"return x;", "java", true, integer},
		[]any{f.Body, f.Language, f.CalledOnNullInput, f.ReturnType})
	require.Equal(t, []cql.TypeInfo{integer, ks.UserTypes["zip"].TypeInfo()},
		ks.Functions["f(int, frozen<zip>)"].ArgumentTypes)
	require.Equal(t, []any{"return x+1;", "return x;", "0", integer},
		[]any{agg.StateFunc.Body, agg.FinalFunc.Body, agg.InitCond, agg.StateType})
}

// requireTable checks the columns of table t of the rich schema, in each form in which the metadata has them.
func requireTable(t testing.TB, table *cql.TableMetadata) {
	t.Helper()
	require.Equal(t, []string{"a", "a2", "b", "c", "s", "Tags", "home", "n", "v"}, table.OrderedColumns)
	require.Len(t, table.Columns, 9)
	require.Equal(t, []*cql.ColumnMetadata{table.Columns["a"], table.Columns["a2"]}, table.PartitionKey)
	require.Equal(t, []*cql.ColumnMetadata{table.Columns["b"], table.Columns["c"]}, table.ClusteringColumns)
	require.Equal(t, cql.UUID{1, 1}, table.Id)
	require.Equal(t, "of t", table.Options.Comment)
	require.Equal(t, []string{"compound"}, table.Flags)
	for _, m := range []struct {
		column   string
		kind     cql.ColumnKind
		position int
		order    cql.ColumnOrder
		typ      string
	}{
		{"a", cql.ColumnPartitionKey, 0, cql.ASC, "uuid"},
		{"a2", cql.ColumnPartitionKey, 1, cql.ASC, "int"},
		{"b", cql.ColumnClusteringKey, 0, cql.DESC, "text"},
		{"c", cql.ColumnClusteringKey, 1, cql.ASC, "timeuuid"},
		{"s", cql.ColumnStatic, -1, cql.ASC, "map<text, tuple<int, ks.zip>>"},
		{"v", cql.ColumnRegular, -1, cql.ASC, "vector<float, 3>"},
		{"home", cql.ColumnRegular, -1, cql.ASC, "ks.Address"},
		{"n", cql.ColumnRegular, -1, cql.ASC, "counter"},
	} {
		c := table.Columns[m.column]
		require.Equal(t, []any{m.kind, m.position, m.order, m.typ, "ks", "t"},
			[]any{c.Kind, c.ComponentIndex, c.Order, c.Type.String(), c.Keyspace, c.Table}, m.column)
	}
	require.Equal(t, cql.VectorType{SubType: cql.NativeType(cql.TypeFloat), Dimensions: 3}, table.Columns["v"].Type)
	require.Equal(t, `frozen<"Address">`, table.Columns["home"].Validator)
}

// requireTypes checks the user-defined types of the rich schema, which contain each other.
func requireTypes(t testing.TB, ks *cql.KeyspaceMetadata) {
	t.Helper()
	text := cql.NativeType(cql.TypeVarchar)
	zip := cql.UDTTypeInfo{Keyspace: "ks", Name: "zip", Elements: []cql.UDTField{{Name: "code", Type: text}}}
	item := cql.UDTTypeInfo{Keyspace: "ks", Name: "line item", Elements: []cql.UDTField{
		{Name: "n", Type: cql.NativeType(cql.TypeInt)}, {Name: "z", Type: zip},
	}}
	address := cql.UDTTypeInfo{Keyspace: "ks", Name: "Address", Elements: []cql.UDTField{
		{Name: "street", Type: text}, {Name: "lines", Type: cql.NewListType(item)}, {Name: "zip", Type: zip},
	}}
	require.Equal(t, address, ks.Tables["t"].Columns["home"].Type)
	require.Equal(t, address, ks.UserTypes["Address"].TypeInfo())
	require.Equal(t, zip, ks.UserTypes["zip"].TypeInfo())
	require.Equal(t, []string{"n", "z"}, ks.UserTypes["line item"].FieldNames)
}
